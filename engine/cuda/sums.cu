/* Sums of gradients, norms and clipping. Orders and chunks are those of backend.h, so bits are those of CPU devices. */
#include "engine/cuda/kernels.h"

#define CHUNK 4096

MGB_CUDA_KERNEL(mgb_gpu_sum, struct mgb_gpu_sum_args)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.count; i += stride) {
        float sum = a.from[0][i];
        for (int k = 1; k < a.sources; k++)
            sum += a.from[k][i];
        a.to[i] = sum;
    }
}

MGB_CUDA_KERNEL(mgb_gpu_norm, struct mgb_gpu_norm_args)
{
    __shared__ double chunks[256];
    double total = 0.0;
    for (int64_t first = 0; first < a.count; first += (int64_t)CHUNK * 256) {
        int64_t begin = first + (int64_t)threadIdx.x * CHUNK;
        double sum = 0.0;
        for (int64_t i = begin; i < begin + CHUNK && i < a.count; i++)
            sum += (double)a.x[i] * (double)a.x[i];
        chunks[threadIdx.x] = sum;
        __syncthreads();
        if (threadIdx.x == 0)
            for (int t = 0; t < 256; t++)
                total += chunks[t];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *a.to = (float)total;
}

MGB_CUDA_KERNEL(mgb_gpu_clip, struct mgb_gpu_clip_args)
{
    double sum = a.first ? 0.0 : *a.carry;
    for (int64_t i = 0; i < a.count; i++)
        sum += (double)a.from[i];
    *a.carry = sum;
    if (!a.last)
        return;
    double factor = (double)a.clip_norm / sqrt(sum);
    *a.to = factor < 1.0 ? (float)factor : 1.0f;
}
