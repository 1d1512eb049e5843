/* gelu, exact and in its tanh form, and the gradient from what it was computed from. */
#include "engine/cuda/ops/transformer.h"

#include "engine/cuda/ops/quad.cuh"
#include <stddef.h>

#define ROOT_HALF 0.70710678118654752f
#define ROOT_2_PI 0.79788456080286536f /* sqrt(2 / pi) */
#define DENSITY_0 0.39894228040143268f /* 1 / sqrt(2 pi) */
#define CUBIC 0.044715f

static __device__ __forceinline__ float gelu_of(float x, int approximate)
{
    if (approximate)
        return 0.5f * x * (1.0f + tanhf(ROOT_2_PI * (x + CUBIC * x * x * x)));
    return 0.5f * x * (1.0f + erff(x * ROOT_HALF));
}

static __device__ __forceinline__ float gelu_slope(float x, int approximate)
{
    if (!approximate)
        return 0.5f * (1.0f + erff(x * ROOT_HALF)) + x * (DENSITY_0 * expf(-0.5f * x * x));
    float t = tanhf(ROOT_2_PI * (x + CUBIC * x * x * x));
    float inner = ROOT_2_PI * (1.0f + 3.0f * CUBIC * x * x);
    return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * inner;
}

static __device__ __forceinline__ float gelu_element(const struct mgb_gpu_gelu_args *a, float x,
                                                     float dy)
{
    return a->dy != NULL ? dy * gelu_slope(x, a->approximate) : gelu_of(x, a->approximate);
}

MGB_CUDA_KERNEL(mgb_gpu_gelu, struct mgb_gpu_gelu_args)
{
    int64_t stride = (int64_t)gridDim.x * blockDim.x, quads = a.count / 4;
    int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int64_t i = thread; i < quads + a.count % 4; i += stride) {
        int wide = i < quads;
        int64_t at = wide ? 4 * i : 3 * quads + i;
        struct quad x = quad_load(a.x + at, wide);
        struct quad dy = a.dy != NULL ? quad_load(a.dy + at, wide) : x;
        for (int k = 0; k < 4; k++)
            x.v[k] = gelu_element(&a, x.v[k], dy.v[k]);
        quad_store(a.to + at, x, wide);
    }
}
