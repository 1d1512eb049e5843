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

/* Every exchange of a warp once; lane 5 tells what it got. */
MGB_CUDA_KERNEL(warp_all, struct warp_args)
{
    int lane = (int)threadIdx.x;
    int up = __shfl_up_sync(0xffffffffu, lane, 2u);
    unsigned down = __shfl_down_sync(0xffffffffu, (unsigned)lane, 30u);
    double first = __shfl_sync(0xffffffffu, 0.5 + lane, 7);
    long long across = __shfl_xor_sync(0xffffffffu, 1ll << (lane + 20), 1);
    unsigned odd = __ballot_sync(0xffffffffu, lane % 2);
    int any = __any_sync(0xffffffffu, lane == 31);
    int all = __all_sync(0xffffffffu, lane < 31);
    atomicAdd(a.counter, lane);
    atomicMax(a.counter + 1, lane * 3 % 32);
    if (lane != 5)
        return;
    float4 *y = (float4 *)a.y;
    y[0] = make_float4((float)up, (float)down, (float)first, (float)(across >> 20));
    y[1] = make_float4((float)__popc(odd), (float)any, (float)all, (float)atomicCAS(a.counter + 2, 0, 9));
}

/* The lower half of the warp exchanges once more than the upper one, then all together: each gets its partner's newest. */
MGB_CUDA_KERNEL(warp_halves, struct warp_args)
{
    int lane = (int)threadIdx.x;
    int value = lane;
    if (lane < 16)
        value = __shfl_xor_sync(0x0000ffffu, value, 1);
    int across = __shfl_xor_sync(0xffffffffu, value, 16);
    float outside = lane < 16 ? __shfl_xor_sync(0x0000ffffu, 1.0f, 16) : 0.0f;
    if (lane == 4 || lane == 20)
        a.y[lane == 20] = (float)across;
    if (lane == 4)
        a.y[2] = outside;
}
