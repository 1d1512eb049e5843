/* What cuBLAS leaves to do for dense: bias and activation over the product, and the gradient of the bias. */
#include "engine/cuda/kernels.h"

#include "engine/cuda/ops/activation.cuh"
#include "engine/cuda/vector.cuh"
#include <stddef.h>

static __device__ __forceinline__ void bias_part(const struct mgb_gpu_bias_args *a, int64_t i, int wide)
{
    struct quad y = quad_load(a->y + i, wide), b = quad_all(0.0f);
    if (a->b != NULL)
        b = quad_load(a->b + (a->count <= INT32_MAX ? (uint32_t)i % (uint32_t)a->columns : i % a->columns), wide);
    for (int k = 0; k < QUAD_WIDTH(wide); k++)
        y.v[k] = activation_apply(a->b != NULL ? y.v[k] + b.v[k] : y.v[k], a->activation);
    quad_store(a->y + i, y, wide);
}

MGB_CUDA_KERNEL(mgb_gpu_bias, struct mgb_gpu_bias_args)
{
    EACH_QUAD(bias_part, &a, a.count, quad_fits(a.y) && (a.b == NULL || (a.columns % 4 == 0 && quad_fits(a.b))));
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
