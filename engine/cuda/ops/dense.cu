/* What cuBLAS leaves to do for dense: bias and activation over the product, and the gradient of the bias. */
#include "engine/cuda/kernels.h"

#include "engine/cuda/ops/activation.cuh"
#include <stddef.h>

MGB_CUDA_KERNEL(mgb_gpu_bias, struct mgb_gpu_bias_args)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.count; i += stride) {
        float x = a.b != NULL ? a.y[i] + a.b[i % a.columns] : a.y[i];
        a.y[i] = activation_apply(x, a.activation);
    }
}

/* Eight threads a column take rows in turn; their sums are added in order, so the result never varies. */
MGB_CUDA_KERNEL(mgb_gpu_column_sum, struct mgb_gpu_column_sum_args)
{
    __shared__ float parts[8][32];
    int lane = (int)threadIdx.x % 32;
    int part = (int)threadIdx.x / 32;
    int64_t column = (int64_t)blockIdx.x * 32 + lane;
    float sum = 0.0f;
    if (column < a.columns)
        for (int64_t row = part; row < a.rows; row += 8)
            sum += a.x[row * a.columns + column];
    parts[part][lane] = sum;
    __syncthreads();
    if (part != 0 || column >= a.columns)
        return;
    for (int i = 1; i < 8; i++)
        sum += parts[i][lane];
    a.to[column] = sum;
}
