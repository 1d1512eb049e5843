/* Activations and their gradients, element by element. */
#include "engine/cuda/kernels.h"

#include "engine/cuda/ops/activation.cuh"
#include "engine/cuda/vector.cuh"

static __device__ __forceinline__ void activate_part(const struct mgb_gpu_activate_args *a, int64_t i, int wide)
{
    struct quad x = quad_load(a->x + i, wide);
    for (int k = 0; k < QUAD_WIDTH(wide); k++)
        x.v[k] = activation_apply(x.v[k], a->activation);
    quad_store(a->y + i, x, wide);
}

MGB_CUDA_KERNEL(mgb_gpu_activate, struct mgb_gpu_activate_args)
{
    EACH_QUAD(activate_part, &a, a.count, quad_fits(a.x) && quad_fits(a.y));
}

static __device__ __forceinline__ void activate_grad_part(const struct mgb_gpu_activate_grad_args *a, int64_t i,
                                                          int wide)
{
    struct quad y = quad_load(a->y + i, wide), dy = quad_load(a->dy + i, wide);
    for (int k = 0; k < QUAD_WIDTH(wide); k++)
        dy.v[k] = activation_slope(y.v[k], dy.v[k], a->activation);
    quad_store(a->dx + i, dy, wide);
}

MGB_CUDA_KERNEL(mgb_gpu_activate_grad, struct mgb_gpu_activate_grad_args)
{
    EACH_QUAD(activate_grad_part, &a, a.count, quad_fits(a.y) && quad_fits(a.dy) && quad_fits(a.dx));
}
