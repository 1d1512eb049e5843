/* gelu, exact and in its tanh form, and the gradient from what it was computed from, element by element on the layout of the input. */
#include "engine/host/ops/ops.h"

#include "engine/base/parallel.h"
#include "engine/host/simd.h"
#include "engine/host/vmath.h"

#define GRAIN 8192 /* elements: a thread gets at least this many */
#define ROOT_HALF 0.70710678118654752f
#define ROOT_2_PI 0.79788456080286536f /* sqrt(2 / pi) */
#define DENSITY_0 0.39894228040143268f /* 1 / sqrt(2 pi) */
#define CUBIC 0.044715f

struct gelu_work {
    float *to;
    const float *x, *dy;
};

MGB_SIMD static void exact_forward(float *y, const float *x, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        y[i] = 0.5f * x[i] * (1.0f + mgb_erf(x[i] * ROOT_HALF));
}

MGB_SIMD static void tanh_forward(float *y, const float *x, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++) {
        float in = x[i];
        y[i] = 0.5f * in * (1.0f + mgb_tanh(ROOT_2_PI * (in + CUBIC * in * in * in)));
    }
}

MGB_SIMD static void exact_backward(float *dx, const float *x, const float *dy, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++) {
        float in = x[i], below = 0.5f * (1.0f + mgb_erf(in * ROOT_HALF));
        dx[i] = dy[i] * (below + in * (DENSITY_0 * mgb_exp(-0.5f * in * in)));
    }
}

MGB_SIMD static void tanh_backward(float *dx, const float *x, const float *dy, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++) {
        float in = x[i], t = mgb_tanh(ROOT_2_PI * (in + CUBIC * in * in * in));
        float inner = ROOT_2_PI * (1.0f + 3.0f * CUBIC * in * in);
        dx[i] = dy[i] * (0.5f * (1.0f + t) + 0.5f * in * (1.0f - t * t) * inner);
    }
}

static void exact_range(void *context, long long begin, long long end)
{
    struct gelu_work *work = context;
    if (work->dy)
        exact_backward(work->to + begin, work->x + begin, work->dy + begin, end - begin);
    else
        exact_forward(work->to + begin, work->x + begin, end - begin);
}

static void tanh_range(void *context, long long begin, long long end)
{
    struct gelu_work *work = context;
    if (work->dy)
        tanh_backward(work->to + begin, work->x + begin, work->dy + begin, end - begin);
    else
        tanh_forward(work->to + begin, work->x + begin, end - begin);
}

static enum mgb_status gelu_make(struct mgb_kernel *kernel)
{
    int over = kernel->use.kind == MGB_OP_GELU ? 0 : 1; /* the gradient overwrites dy */
    mgb_flat_plan(kernel, true, over);
    return MGB_OK;
}

static enum mgb_status gelu_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    bool back = kernel->use.kind == MGB_OP_GELU_GRAD;
    struct gelu_work work = {.to = launch->outputs[0],
                             .x = mgb_flat_input(kernel, launch, 0),
                             .dy = back ? mgb_flat_input(kernel, launch, 1) : NULL};
    mgb_parallel_for(mgb_flat_count(kernel), GRAIN,
                     kernel->use.a.gelu.approximate ? tanh_range : exact_range, &work);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_gelu = {.make = gelu_make, .run = gelu_run};
const struct mgb_host_op mgb_host_gelu_grad = {.make = gelu_make, .run = gelu_run};
