/* Activations and their gradients, element by element. */
#include "engine/cuda/kernels.h"

#include "engine/cuda/ops/activation.cuh"

MGB_CUDA_KERNEL(mgb_gpu_activate, struct mgb_gpu_activate_args)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.count; i += stride)
        a.y[i] = activation_apply(a.x[i], a.activation);
}

MGB_CUDA_KERNEL(mgb_gpu_activate_grad, struct mgb_gpu_activate_grad_args)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.count; i += stride)
        a.dx[i] = activation_slope(a.y[i], a.dy[i], a.activation);
}
