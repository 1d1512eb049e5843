/* What nvcc provides to a .cu file, for a C compiler: gcc -x c -include this. The kernels' common subset of C11 and
 * CUDA C++ is one argument struct a kernel, static __shared__ arrays, block barriers and warp shuffles of floats.
 *
 * A kernel is defined with MGB_CUDA_KERNEL(name, struct args) { ... a.n ... }: under nvcc an extern "C" __global__
 * function, here also an entry in the fake's table of kernels, which nvcc's own start-up code makes in a real one. */
#ifndef FAKE_DEVICE_SHIM_H
#define FAKE_DEVICE_SHIM_H

#include "tests/fake_cuda/device_runtime.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stddef.h>

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#undef __launch_bounds__
#undef __forceinline__
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
/* A block runs on one thread of the process, so this is the block's. */
#define __shared__ static _Thread_local
#define threadIdx (fake_indices.thread)
#define blockIdx (fake_indices.block)
#define blockDim (fake_indices.block_size)
#define gridDim (fake_indices.grid_size)
#define __syncthreads() fake_barrier()
#define __syncwarp() fake_warp_barrier(0xffffffffu)
#define __shfl_xor_sync(mask, value, lanes) fake_shuffle_xor(mask, value, lanes)
#define __shfl_down_sync(mask, value, lanes) fake_shuffle_down(mask, value, lanes)
#define __shfl_sync(mask, value, lane) fake_shuffle_from(mask, value, lane)

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
