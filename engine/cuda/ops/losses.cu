/* Losses as sums over rows, and the penalty on weights. Every sum is of what each thread has, in the order of threads. */
#include "engine/cuda/ops/losses.h"

#include "engine/cuda/many.cuh"

static __device__ __forceinline__ double loss_of(const struct mgb_gpu_loss_args *g, int64_t i)
{
    double a = (double)g->a[i], b = g->what == MGB_GPU_TOTAL ? 0.0 : (double)g->b[i];
    if (g->what == MGB_GPU_MSE)
        return (a - b) * (a - b);
    if (g->what == MGB_GPU_BCE)
        return (a > 0.0 ? a : 0.0) - b * a + log1p(exp(-fabs(a)));
    return a;
}

MGB_CUDA_KERNEL(mgb_gpu_loss_rows, struct mgb_gpu_loss_args)
{
    __shared__ double sums[256];
    int lane = (int)threadIdx.x % a.lanes;
    int64_t row = (int64_t)blockIdx.x * (256 / a.lanes) + (int)threadIdx.x / a.lanes;
    double sum = 0.0;
    if (row < a.count)
        for (int64_t i = lane; i < a.elements; i += a.lanes)
            sum += loss_of(&a, row * a.elements + i);
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (row < a.count && lane == 0)
        a.rows[row] = in_order_add(0.0, sums + threadIdx.x, a.lanes);
}

/* What all threads of a block have, added up, for thread 0. */
static __device__ __forceinline__ double block_add(double mine, double *sums)
{
    sums[threadIdx.x] = mine;
    __syncthreads();
    return threadIdx.x == 0 ? in_order_add(0.0, sums, 256) : 0.0;
}

MGB_CUDA_KERNEL(mgb_gpu_squares_pieces, struct mgb_gpu_squares_args)
{
    __shared__ double sums[256];
    int owner = piece_owner(a.end, a.items, (int32_t)blockIdx.x);
    int64_t first = (int64_t)((int32_t)blockIdx.x - (owner > 0 ? a.end[owner - 1] : 0)) * MGB_GPU_SQUARES_PIECE;
    int64_t left = a.count[owner] - first, count = left < MGB_GPU_SQUARES_PIECE ? left : MGB_GPU_SQUARES_PIECE;
    const float *x = a.x[owner] + first;
    double sum = 0.0;
    for (int64_t i = threadIdx.x; i < count; i += 256)
        sum += (double)x[i] * (double)x[i];
    sum = block_add(sum, sums);
    if (threadIdx.x == 0)
        a.pieces[blockIdx.x] = sum;
}

MGB_CUDA_KERNEL(mgb_gpu_squares, struct mgb_gpu_squares_args)
{
    __shared__ double sums[256];
    __shared__ double all[1];
    double sum = 0.0;
    for (int64_t i = threadIdx.x; i < a.end[a.items - 1]; i += 256)
        sum += a.pieces[i];
    sum = block_add(sum, sums);
    if (threadIdx.x == 0)
        all[0] = sum * (double)a.strength;
    __syncthreads();
    for (int64_t row = threadIdx.x; row < a.rows; row += 256)
        a.to[row] = (float)all[0];
}

MGB_CUDA_KERNEL(mgb_gpu_rows_scale, struct mgb_gpu_rows_scale_args)
{
    __shared__ double sums[256];
    double sum = 0.0;
    for (int64_t i = threadIdx.x; i < a.rows; i += 256)
        sum += (double)a.dy[i];
    sum = block_add(sum, sums);
    if (threadIdx.x == 0)
        *a.to = (float)(2.0 * sum * (double)a.strength);
}
