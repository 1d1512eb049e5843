/* Softmax cross-entropy, a warp a row, and the sum over rows in fixed chunks of 64, chunks in order, as on CPU devices. */
#include "engine/cuda/kernels.h"

#include "engine/cuda/many.cuh"

#define WHOLE_WARP 0xffffffffu
#define CHUNK 64

static __device__ __forceinline__ float row_max(const float *x, int64_t classes, int lane)
{
    float most = x[0];
    for (int64_t i = lane; i < classes; i += 32)
        most = x[i] > most ? x[i] : most;
    for (int lanes = 16; lanes > 0; lanes /= 2)
        most = fmaxf(most, __shfl_xor_sync(WHOLE_WARP, most, lanes));
    return most;
}

static __device__ __forceinline__ float row_exp_sum(const float *x, int64_t classes, float most, int lane)
{
    float sum = 0.0f;
    for (int64_t i = lane; i < classes; i += 32)
        sum += expf(x[i] - most);
    for (int lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(WHOLE_WARP, sum, lanes);
    return sum;
}

/* The row's label, or 0 with a note of what was wrong. */
static __device__ __forceinline__ int64_t label_take(const struct mgb_gpu_xent_args *a, int64_t row, int lane)
{
    int label = a->labels[row];
    if (label >= 0 && label < a->classes)
        return label;
    if (lane == 0 && MGB_CUDA_CLAIM(&a->fault->code, MGB_CUDA_FAULT_LABEL)) {
        a->fault->label = label;
        a->fault->row = a->first_row + row / a->positions;
        a->fault->classes = a->classes;
    }
    return 0;
}

MGB_CUDA_KERNEL(mgb_gpu_xent, struct mgb_gpu_xent_args)
{
    int lane = (int)threadIdx.x % 32;
    int64_t row = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= a.rows)
        return;
    const float *x = a.logits + row * a.classes;
    float most = row_max(x, a.classes, lane);
    float sum = row_exp_sum(x, a.classes, most, lane);
    int64_t label = label_take(&a, row, lane);
    if (lane == 0)
        a.losses[row] = log((double)sum) + (double)most - (double)x[label];
}

/* In place too: a lane reads and writes the same elements, and all have read before any writes. */
MGB_CUDA_KERNEL(mgb_gpu_xent_grad, struct mgb_gpu_xent_args)
{
    int lane = (int)threadIdx.x % 32;
    int64_t row = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= a.rows)
        return;
    const float *x = a.logits + row * a.classes;
    float *dx = a.gradient + row * a.classes;
    float most = row_max(x, a.classes, lane);
    float inverse = 1.0f / row_exp_sum(x, a.classes, most, lane);
    int64_t label = label_take(&a, row, lane);
    for (int64_t i = lane; i < a.classes; i += 32) {
        float share = expf(x[i] - most) * inverse;
        dx[i] = (i == label ? share - 1.0f : share) * a.scale;
    }
}

MGB_CUDA_KERNEL(mgb_gpu_row_sum, struct mgb_gpu_row_sum_args)
{
    __shared__ double chunks[256];
    double total = 0.0;
    for (int64_t first = 0; first < a.count; first += (int64_t)CHUNK * 256) {
        int64_t begin = first + (int64_t)threadIdx.x * CHUNK;
        double sum = 0.0;
        for (int64_t i = begin; i < begin + CHUNK && i < a.count; i++)
            sum += a.rows[i];
        chunks[threadIdx.x] = sum;
        __syncthreads();
        int64_t left = (a.count - first + CHUNK - 1) / CHUNK;
        if (threadIdx.x == 0)
            total = in_order_add(total, chunks, left < 256 ? (int)left : 256);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *a.to = (float)(total / (double)a.divisor);
}
