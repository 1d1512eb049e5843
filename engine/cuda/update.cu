/* Optimizer updates. The formulas and their sources are in mgb/optimizer.h; operation for operation as on CPU devices
 * (compiled without contraction), so bits agree. After a fault of the step the weights stay as they were. */
#include "engine/cuda/kernels.h"

#include <stddef.h>

#define FOR_EACH(i)                                                                                                    \
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.count; i += (int64_t)gridDim.x * blockDim.x)

static __device__ __forceinline__ float clip_get(const struct mgb_gpu_update_args *a)
{
    return a->clip != NULL ? *a->clip : 1.0f;
}

MGB_CUDA_KERNEL(mgb_gpu_sgd, struct mgb_gpu_update_args)
{
    float clip = clip_get(&a);
    if (MGB_CUDA_PEEK(&a.fault->code) != MGB_CUDA_FAULT_NONE)
        return;
    FOR_EACH(i)
    {
        float step = a.lr * (a.gradient[i] * clip);
        if (a.slot0 == NULL) {
            a.weight[i] -= step;
            continue;
        }
        float v = a.momentum * a.slot0[i] - step;
        a.slot0[i] = v;
        a.weight[i] += a.nesterov ? a.momentum * v - step : v;
    }
}

MGB_CUDA_KERNEL(mgb_gpu_rmsprop, struct mgb_gpu_update_args)
{
    float clip = clip_get(&a);
    if (MGB_CUDA_PEEK(&a.fault->code) != MGB_CUDA_FAULT_NONE)
        return;
    FOR_EACH(i)
    {
        float g = a.gradient[i] * clip;
        float square = a.rho * a.slot0[i] + (1.0f - a.rho) * (g * g);
        a.slot0[i] = square;
        a.weight[i] -= a.lr * g / (sqrtf(square) + a.epsilon);
    }
}

MGB_CUDA_KERNEL(mgb_gpu_adagrad, struct mgb_gpu_update_args)
{
    float clip = clip_get(&a);
    if (MGB_CUDA_PEEK(&a.fault->code) != MGB_CUDA_FAULT_NONE)
        return;
    FOR_EACH(i)
    {
        float g = a.gradient[i] * clip;
        float square = a.slot0[i] + g * g;
        a.slot0[i] = square;
        a.weight[i] -= a.lr * g / (sqrtf(square) + a.epsilon);
    }
}

MGB_CUDA_KERNEL(mgb_gpu_adadelta, struct mgb_gpu_update_args)
{
    float clip = clip_get(&a);
    if (MGB_CUDA_PEEK(&a.fault->code) != MGB_CUDA_FAULT_NONE)
        return;
    FOR_EACH(i)
    {
        float g = a.gradient[i] * clip;
        float square = a.rho * a.slot0[i] + (1.0f - a.rho) * (g * g);
        float u = g * sqrtf(a.slot1[i] + a.epsilon) / sqrtf(square + a.epsilon);
        a.slot0[i] = square;
        a.weight[i] -= a.lr * u;
        a.slot1[i] = a.rho * a.slot1[i] + (1.0f - a.rho) * (u * u);
    }
}

MGB_CUDA_KERNEL(mgb_gpu_adam, struct mgb_gpu_update_args)
{
    float clip = clip_get(&a);
    if (MGB_CUDA_PEEK(&a.fault->code) != MGB_CUDA_FAULT_NONE)
        return;
    FOR_EACH(i)
    {
        float g = a.gradient[i] * clip;
        float m = a.beta1 * a.slot0[i] + (1.0f - a.beta1) * g;
        float v = a.beta2 * a.slot1[i] + (1.0f - a.beta2) * (g * g);
        a.slot0[i] = m;
        a.slot1[i] = v;
        a.weight[i] -= a.lr * m / (sqrtf(v) + a.epsilon);
    }
}
