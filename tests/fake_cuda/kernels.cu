/* Kernels of the fake runtime's own tests; like all kernels in the common subset of C11 and CUDA C++. */
#include "tests/fake_cuda/kernels.h"

MGB_CUDA_KERNEL(fill, struct fill_args)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.n; i += stride)
        a.y[i] = a.value;
}

MGB_CUDA_KERNEL(axpy, struct axpy_args)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.n; i += stride)
        a.y[i] = fmaf(a.a, a.x[i], a.y[i]);
}

MGB_CUDA_KERNEL(row_sum, struct row_sum_args)
{
    __shared__ float parts[32];
    float sum = 0.0f;
    for (int c = (int)threadIdx.x; c < a.columns; c += (int)blockDim.x)
        sum += a.x[(size_t)blockIdx.x * (size_t)a.columns + (size_t)c];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    float total = 0.0f;
    for (unsigned warp = 0; warp < blockDim.x / 32; warp++)
        total += parts[warp];
    a.y[blockIdx.x] = total;
}

MGB_CUDA_KERNEL(index_all, struct index_args)
{
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned i = block * blockDim.x * blockDim.y * blockDim.z + thread;
    a.y[i] = (float)i;
}

MGB_CUDA_KERNEL(reverse, struct reverse_args)
{
    __shared__ float held[1024];
    float *y = a.y + (size_t)blockIdx.x * blockDim.x;
    held[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
}

MGB_CUDA_KERNEL(reverse_without_barrier, struct reverse_args)
{
    __shared__ float held[1024];
    float *y = a.y + (size_t)blockIdx.x * blockDim.x;
    held[threadIdx.x] = y[threadIdx.x];
    y[threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
}

/* The kernel a real device would hang in: one lane of a warp waits for another that has returned. */
MGB_CUDA_KERNEL(lonely, struct lonely_args)
{
    if (threadIdx.x == 1)
        return;
    a.y[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1.0f, 1);
}
