/* Whether any number of a position differs from the value of padding. */
#include "engine/cuda/ops/sequence.h"

MGB_CUDA_KERNEL(mgb_gpu_mask, struct mgb_gpu_mask_args)
{
    int lane = (int)threadIdx.x % 32;
    int64_t position = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (position >= a.positions)
        return;
    const float *real = (const float *)a.x + position * a.width;
    const int32_t *whole = (const int32_t *)a.x + position * a.width;
    int differs = 0;
    for (int64_t i = lane; i < a.width; i += 32)
        differs |= a.whole ? (double)whole[i] != (double)a.value : real[i] != a.value;
    differs = __any_sync(0xffffffffu, differs);
    if (lane == 0)
        a.y[position] = differs ? 1.0f : 0.0f;
}
