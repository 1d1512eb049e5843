/* Element-wise operators, operands alike or repeated. */
#include "engine/cuda/ops/elements.h"

#include "engine/cuda/ops/index.cuh"
#include "engine/cuda/vector.cuh"
#include <stddef.h>

static __device__ __forceinline__ float element_of(int what, float a, float b, float factor, float shift)
{
    switch (what) {
    case MGB_GPU_ADD:
        return a + b;
    case MGB_GPU_SUB:
        return a - b;
    case MGB_GPU_MUL:
        return a * b;
    case MGB_GPU_DIV:
        return a / b;
    case MGB_GPU_AFFINE:
        return factor * a + shift;
    case MGB_GPU_SCALE:
        return factor * a;
    case MGB_GPU_ABS:
        return fabsf(a);
    case MGB_GPU_ABS_GRAD:
        return a > 0.0f ? b : a < 0.0f ? -b : 0.0f;
    case MGB_GPU_DIFFER:
        return (a - b) * factor;
    case MGB_GPU_BCE_GRAD:
        return (1.0f / (1.0f + expf(-a)) - b) * factor;
    }
    return factor;
}

static __device__ __forceinline__ void elements_part(const struct mgb_gpu_elements_args *g, int64_t i, int wide)
{
    struct quad a = g->a != NULL ? quad_load(g->a + i, wide) : quad_all(0.0f);
    struct quad b = g->b != NULL ? quad_load(g->b + i, wide) : quad_all(0.0f), y = quad_all(0.0f);
    for (int k = 0; k < QUAD_WIDTH(wide); k++)
        y.v[k] = element_of(g->what, a.v[k], b.v[k], g->factor, g->shift);
    quad_store(g->y + i, y, wide);
}

MGB_CUDA_KERNEL(mgb_gpu_elements, struct mgb_gpu_elements_args)
{
    struct mgb_gpu_elements_args g = a; /* the name `a` is the argument's */
    if (g.scale != NULL)
        g.factor = *g.scale;
    EACH_QUAD(elements_part, &g, g.count, quad_fits(g.y) && quad_fits(g.a) && quad_fits(g.b));
}

/* Of the operand from `at` on; `step` along the last axis is 1 or 0. */
static __device__ __forceinline__ struct quad operand_load(const float *at, int64_t step, int wide)
{
    return step != 0 ? quad_load(at, wide) : quad_all(*at);
}

static __device__ __forceinline__ void spread_part(const struct mgb_gpu_spread_args *g, int64_t i, int wide)
{
    const struct mgb_gpu_spread *s = &g->spread;
    int last = s->axes - 1, small = g->count <= INT32_MAX;
    struct quad a = operand_load(g->a + axes_offset(s->dim, s->stride[0], s->axes, i, small), s->stride[0][last], wide);
    struct quad b = quad_all(0.0f), y = quad_all(0.0f);
    if (g->b != NULL)
        b = operand_load(g->b + axes_offset(s->dim, s->stride[1], s->axes, i, small), s->stride[1][last], wide);
    for (int k = 0; k < QUAD_WIDTH(wide); k++)
        y.v[k] = element_of(g->what, a.v[k], b.v[k], g->factor, 0.0f);
    quad_store(g->y + i, y, wide);
}

MGB_CUDA_KERNEL(mgb_gpu_spread_over, struct mgb_gpu_spread_args)
{
    EACH_QUAD(spread_part, &a, a.count, a.wide);
}
