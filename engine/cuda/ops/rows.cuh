/* The device side of rows.h: which row a thread works on, and sums and maxima over its row. All threads of a row get the same
 * bits: halves are added crosswise in a warp, warps in order. */
#ifndef MGB_CUDA_OPS_ROWS_CUH
#define MGB_CUDA_OPS_ROWS_CUH

#include "engine/cuda/ops/transformer.h"
#include <stdint.h>

struct row_place {
    int64_t row;
    int lane, step; /* elements lane, lane + step, ... of the row are this thread's */
    int wide;
};

static __device__ __forceinline__ struct row_place row_find(int64_t width)
{
    struct row_place place;
    place.wide = width > MGB_GPU_ROW_LONG;
    place.row = place.wide ? (int64_t)blockIdx.x
                           : ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    place.lane = place.wide ? (int)threadIdx.x : (int)threadIdx.x % 32;
    place.step = place.wide ? MGB_GPU_ROW_BLOCK : 32;
    return place;
}

static __device__ __forceinline__ float row_total(struct row_place place, float value)
{
    __shared__ float parts[MGB_GPU_ROW_BLOCK / 32];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    if (!place.wide)
        return value;
    __syncthreads(); /* the sum before has been read */
    if (place.lane % 32 == 0)
        parts[place.lane / 32] = value;
    __syncthreads();
    value = parts[0];
    for (int warp = 1; warp < MGB_GPU_ROW_BLOCK / 32; warp++)
        value += parts[warp];
    return value;
}

/* The largest; a NaN counts as small. */
static __device__ __forceinline__ float row_largest(struct row_place place, float value)
{
    __shared__ float parts[MGB_GPU_ROW_BLOCK / 32];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, lanes));
    if (!place.wide)
        return value;
    __syncthreads();
    if (place.lane % 32 == 0)
        parts[place.lane / 32] = value;
    __syncthreads();
    value = parts[0];
    for (int warp = 1; warp < MGB_GPU_ROW_BLOCK / 32; warp++)
        value = fmaxf(value, parts[warp]);
    return value;
}

#endif
