/* The axes of an example in another order. Where the last axis stays, elements are copied as they come; else square tiles of
 * the axis that was last and the one that becomes it, by way of shared memory, so that both sides are touched in whole lines. */
#include "engine/cuda/ops/transformer.h"

#define TILE 32

struct outer_place {
    int64_t from, to;
};

/* Where the axes beside the last and `but` of number `index` begin. */
static __device__ __forceinline__ struct outer_place outer_find(const struct mgb_gpu_transpose_args *a,
                                                                int64_t index, int but)
{
    struct outer_place place;
    int64_t rest = index % a->outer;
    place.from = place.to = index / a->outer * a->count;
    for (int i = a->rank - 2; i >= 0; i--) {
        if (i == but)
            continue;
        place.from += rest % a->dim[i] * a->from[i];
        place.to += rest % a->dim[i] * a->to[i];
        rest /= a->dim[i];
    }
    return place;
}

MGB_CUDA_KERNEL(mgb_gpu_transpose_stretch, struct mgb_gpu_transpose_args)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x, last = a.dim[a.rank - 1];
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.all; i += stride)
        a.y[i] = a.x[outer_find(&a, i / last, -1).from + i % last];
}

/* A block of 256 threads a tile: eight lines of 32 elements at once. */
MGB_CUDA_KERNEL(mgb_gpu_transpose_tile, struct mgb_gpu_transpose_args)
{
    __shared__ float tile[TILE][TILE + 1];
    int lane = (int)threadIdx.x % TILE, line = (int)threadIdx.x / TILE;
    int64_t tiles = a.bands * a.columns, number = (int64_t)blockIdx.x % tiles;
    struct outer_place place = outer_find(&a, (int64_t)blockIdx.x / tiles, a.was_last);
    int64_t high = a.dim[a.was_last], last = a.dim[a.rank - 1];
    int64_t i = number / a.columns * TILE, j = number % a.columns * TILE;
    for (int k = line; k < TILE; k += 8)
        if (i + lane < high && j + k < last)
            tile[k][lane] = a.x[place.from + i + lane + (j + k) * a.from[a.rank - 1]];
    __syncthreads();
    for (int k = line; k < TILE; k += 8)
        if (i + k < high && j + lane < last)
            a.y[place.to + (i + k) * a.to[a.was_last] + j + lane] = tile[lane][k];
}
