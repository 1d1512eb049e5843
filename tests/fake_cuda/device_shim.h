/* What nvcc provides to a .cu file, for a C compiler: gcc -x c -include this. The kernels' common subset of C11 and
 * CUDA C++ is one argument struct a kernel, static __shared__ arrays, block barriers, warp shuffles and ballots, and
 * atomics of integers (those of floats give a sum that depends on the order, and do not compile here).
 *
 * A kernel is defined with MGB_CUDA_KERNEL(name, struct args) { ... a.n ... }: under nvcc an extern "C" __global__
 * function, here also an entry in the fake's table of kernels, which nvcc's own start-up code makes in a real one. */
#ifndef FAKE_DEVICE_SHIM_H
#define FAKE_DEVICE_SHIM_H

#include "tests/fake_cuda/device_runtime.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* unroll */

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __constant__
#undef __launch_bounds__
#undef __forceinline__
#undef __noinline__
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
/* A block runs on one thread of the process, so this is the block's. */
#define __shared__ static _Thread_local
#define threadIdx (fake_indices.thread)
#define blockIdx (fake_indices.block)
#define blockDim (fake_indices.block_size)
#define gridDim (fake_indices.grid_size)
#define warpSize 32
#define __syncthreads() fake_barrier()
#define __threadfence() ((void)0) /* blocks of a grid run one after the other */
#define __threadfence_block() ((void)0)

#include "tests/fake_cuda/device_atomic.h"
#include "tests/fake_cuda/device_math.h"
#include "tests/fake_cuda/device_warp.h"

#define MGB_CUDA_KERNEL(name, type)                                                                \
    void name(type a);                                                                             \
    static void name##_call(const void *argument)                                                  \
    {                                                                                              \
        name(*(const type *)argument);                                                             \
    }                                                                                              \
    __attribute__((constructor)) static void name##_add(void)                                      \
    {                                                                                              \
        fake_kernel_add((const void *)name, #name, name##_call, sizeof(type));                     \
    }                                                                                              \
    void name(type a)

#endif
