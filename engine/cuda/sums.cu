/* Sums of gradients, norms and clipping. Orders and pieces are those of backend.h, so bits are those of CPU devices. */
#include "engine/cuda/many.h"

#include "engine/cuda/many.cuh"
#include "engine/cuda/vector.cuh"
#include <stddef.h>

static __device__ __forceinline__ void sum_part(const struct mgb_gpu_sum_args *a, int64_t i, int wide)
{
    struct quad sum = quad_load(a->from[0] + i, wide);
    for (int s = 1; s < a->sources; s++) {
        struct quad more = quad_load(a->from[s] + i, wide);
        for (int k = 0; k < QUAD_WIDTH(wide); k++)
            sum.v[k] += more.v[k];
    }
    quad_store(a->to + i, sum, wide);
}

MGB_CUDA_KERNEL(mgb_gpu_sum, struct mgb_gpu_sum_args)
{
    int wide = quad_fits(a.to);
    for (int s = 0; s < a.sources; s++)
        wide = wide && quad_fits(a.from[s]);
    EACH_QUAD(sum_part, &a, a.count, wide);
}

#define HELD 16 /* fours that are on their way at a time */

/* Squares added in order: nobody helps a thread with its piece, so it must not wait for each number. */
static __device__ __forceinline__ double squares_add(const float *x, int64_t count)
{
    struct quad held[HELD];
    double sum = 0.0;
    int64_t i = 0;
    for (; quad_fits(x) && i + 4 * HELD <= count; i += 4 * HELD) {
        for (int h = 0; h < HELD; h++)
            held[h] = quad_load(x + i + 4 * h, 1);
        for (int h = 0; h < HELD; h++)
            for (int k = 0; k < 4; k++)
                sum += (double)held[h].v[k] * (double)held[h].v[k];
    }
    for (; i < count; i++)
        sum += (double)x[i] * (double)x[i];
    return sum;
}

MGB_CUDA_KERNEL(mgb_gpu_norm_pieces, struct mgb_gpu_norm_args)
{
    int64_t piece = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (piece >= a.end[a.items - 1])
        return;
    int owner = piece_owner(a.end, a.items, (int32_t)piece);
    int64_t first = (piece - (owner > 0 ? a.end[owner - 1] : 0)) * MGB_GPU_NORM_PIECE;
    int64_t left = a.count[owner] - first;
    a.pieces[piece] = squares_add(a.x[owner] + first, left < MGB_GPU_NORM_PIECE ? left : MGB_GPU_NORM_PIECE);
}

MGB_CUDA_KERNEL(mgb_gpu_norm, struct mgb_gpu_norm_args)
{
    __shared__ double pieces[256];
    int item = (int)blockIdx.x;
    int32_t begin = item > 0 ? a.end[item - 1] : 0, end = a.end[item];
    double total = item == 0 && a.carried != NULL ? *a.carried : 0.0;
    for (int32_t first = begin; first < end; first += 256) {
        int32_t count = end - first < 256 ? end - first : 256;
        if ((int32_t)threadIdx.x < count)
            pieces[threadIdx.x] = a.pieces[first + (int32_t)threadIdx.x];
        __syncthreads();
        if (threadIdx.x == 0)
            total = in_order_add(total, pieces, count);
        __syncthreads();
    }
    if (threadIdx.x != 0)
        return;
    if (item == a.items - 1 && a.carry != NULL)
        *a.carry = total;
    else
        a.to[item] = (float)total;
}

MGB_CUDA_KERNEL(mgb_gpu_clip, struct mgb_gpu_clip_args)
{
    __shared__ double values[256];
    double sum = a.first ? 0.0 : *a.carry;
    for (int item = 0; item < a.items; item++)
        for (int64_t first = 0; first < a.count[item]; first += 256) {
            int count = a.count[item] - first < 256 ? (int)(a.count[item] - first) : 256;
            if ((int)threadIdx.x < count)
                values[threadIdx.x] = (double)a.from[item][first + threadIdx.x];
            __syncthreads();
            if (threadIdx.x == 0)
                sum = in_order_add(sum, values, count);
            __syncthreads();
        }
    if (threadIdx.x != 0)
        return;
    *a.carry = sum;
    if (!a.last)
        return;
    double scale = a.scale > 0.0f ? (double)a.scale : 1.0;
    double factor = (double)a.norm * scale / sqrt(sum);
    *a.to = (factor < 1.0 ? (float)factor : 1.0f) / (float)scale;
    if (a.scale > 0.0f && !(sum <= 1.7e308))
        *a.to = -1.0f;
}
