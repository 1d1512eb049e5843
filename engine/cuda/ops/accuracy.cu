/* The first largest logit of a row against its label, a warp a row. */
#include "engine/cuda/kernels.h"

#define WHOLE_WARP 0xffffffffu

/* Class numbers travel between lanes as floats, exact below 2^24. */
MGB_CUDA_KERNEL(mgb_gpu_right, struct mgb_gpu_right_args)
{
    int lane = (int)threadIdx.x % 32;
    int64_t row = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= a.rows)
        return;
    const float *x = a.logits + row * a.classes;
    int64_t best = lane < a.classes ? lane : 0;
    for (int64_t i = lane; i < a.classes; i += 32)
        if (x[i] > x[best])
            best = i;
    float most = x[best];
    float where = (float)best;
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        float other = __shfl_xor_sync(WHOLE_WARP, most, lanes);
        float there = __shfl_xor_sync(WHOLE_WARP, where, lanes);
        if (other > most || (other == most && there < where)) {
            most = other;
            where = there;
        }
    }
    if (lane == 0)
        a.right[row] = (int64_t)where == a.labels[row] ? 1.0 : 0.0;
}
