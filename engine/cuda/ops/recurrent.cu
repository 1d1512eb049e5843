/* The state before every position, as a matrix for the gradient of a recurrent kernel. */
#include "engine/cuda/ops/recurrent.cuh"

MGB_CUDA_KERNEL(mgb_gpu_previous, struct mgb_gpu_previous_args)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x, count = a.rows * a.steps * a.units;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        int64_t unit = i % a.units, at = i / a.units, row = at / a.steps;
        int64_t before = at % a.steps + (a.reverse ? 1 : -1);
        if (before < 0 || before >= a.steps)
            a.to[i] = or_zero(a.h0, row * a.units + unit);
        else
            a.to[i] = a.h[row * a.h_stride + before * a.units + unit];
    }
}
