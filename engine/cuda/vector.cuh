/* Sixteen bytes a thread over long arrays: a kernel gives what it does to the elements from `i` on, four when `wide`, else
 * one, as a function, and EACH_QUAD calls it by fours where all addresses allow and by one for the rest. */
#ifndef MGB_CUDA_VECTOR_CUH
#define MGB_CUDA_VECTOR_CUH

#include "engine/cuda/ops/quad.cuh"
#include <stdint.h>

#define QUAD_WIDTH(wide) ((wide) ? 4 : 1)

static __device__ __forceinline__ int quad_fits(const void *address)
{
    return ((uintptr_t)address & 15) == 0; /* NULL too */
}

/* part(argument, i, wide) over all i below `count`, shared out among all threads of the grid. */
#define EACH_QUAD(part, argument, count, wide)                                                                         \
    do {                                                                                                               \
        int64_t stride_ = (int64_t)gridDim.x * blockDim.x;                                                             \
        int64_t first_ = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;                                               \
        int64_t fours_ = (wide) ? (count) / 4 : 0;                                                                     \
        for (int64_t i_ = first_; i_ < fours_; i_ += stride_)                                                          \
            part(argument, 4 * i_, 1);                                                                                 \
        for (int64_t i_ = 4 * fours_ + first_; i_ < (count); i_ += stride_)                                            \
            part(argument, i_, 0);                                                                                     \
    } while (0)

#endif
