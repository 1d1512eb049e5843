/* softmax and log_softmax over the last axis, and their gradients from the result, row by row: dx = y (dy - sum(y dy)), and
 * dx = dy - exp(y) sum(dy) for the logarithm. */
#include "engine/host/ops/ops.h"

#include "engine/base/parallel.h"
#include "engine/host/ops/exps.h"
#include <math.h>

struct softmax_work {
    float *to;
    const float *from, *dy;
    int64_t width;
};

MGB_SIMD static void softmax_rows(const struct softmax_work *work, int64_t begin, int64_t end)
{
    for (int64_t row = begin; row < end; row++) {
        const float *x = work->from + row * work->width;
        float *y = work->to + row * work->width;
        float inverse = 1.0f / mgb_row_exp(y, x, work->width, mgb_row_max(x, work->width));
        MGB_EACH
        for (int64_t i = 0; i < work->width; i++)
            y[i] = y[i] * inverse;
    }
}

MGB_SIMD static void log_softmax_rows(const struct softmax_work *work, int64_t begin, int64_t end)
{
    for (int64_t row = begin; row < end; row++) {
        const float *x = work->from + row * work->width;
        float *y = work->to + row * work->width;
        float max = mgb_row_max(x, work->width);
        float sum = (float)log((double)mgb_row_exp(NULL, x, work->width, max));
        MGB_EACH
        for (int64_t i = 0; i < work->width; i++)
            y[i] = x[i] - max - sum;
    }
}

MGB_SIMD static void softmax_grad_rows(const struct softmax_work *work, int64_t begin, int64_t end)
{
    for (int64_t row = begin; row < end; row++) {
        const float *y = work->from + row * work->width, *dy = work->dy + row * work->width;
        float *dx = work->to + row * work->width;
        float dot = mgb_row_dot(y, dy, work->width);
        MGB_EACH
        for (int64_t i = 0; i < work->width; i++)
            dx[i] = y[i] * (dy[i] - dot);
    }
}

MGB_SIMD static void log_softmax_grad_rows(const struct softmax_work *work, int64_t begin,
                                           int64_t end)
{
    for (int64_t row = begin; row < end; row++) {
        const float *y = work->from + row * work->width, *dy = work->dy + row * work->width;
        float *dx = work->to + row * work->width;
        float sum = mgb_row_sum(dy, work->width);
        MGB_EACH
        for (int64_t i = 0; i < work->width; i++)
            dx[i] = dy[i] - mgb_exp(y[i]) * sum;
    }
}

static void softmax_range(void *context, long long begin, long long end)
{
    softmax_rows(context, begin, end);
}

static void log_softmax_range(void *context, long long begin, long long end)
{
    log_softmax_rows(context, begin, end);
}

static void softmax_grad_range(void *context, long long begin, long long end)
{
    softmax_grad_rows(context, begin, end);
}

static void log_softmax_grad_range(void *context, long long begin, long long end)
{
    log_softmax_grad_rows(context, begin, end);
}

static enum mgb_status softmax_make(struct mgb_kernel *kernel)
{
    int over = kernel->use.kind == MGB_OP_SOFTMAX ? 0 : 1; /* the gradient overwrites dy */
    mgb_plain_plan(kernel);
    kernel->facts.in_place = mgb_flat_direct(kernel, over) ? over : -1;
    return MGB_OK;
}

static enum mgb_status softmax_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    bool back = kernel->use.kind == MGB_OP_SOFTMAX_GRAD, log = kernel->use.a.softmax.log;
    const struct mgb_host_tensor *x = &kernel->use.in[0];
    struct softmax_work work = {.to = launch->outputs[0],
                                .from = mgb_flat_input(kernel, launch, 0),
                                .dy = back ? mgb_flat_input(kernel, launch, 1) : NULL,
                                .width = x->shape.dim[x->shape.rank - 1]};
    mgb_range_function *f = back  ? log ? log_softmax_grad_range : softmax_grad_range
                            : log ? log_softmax_range
                                  : softmax_range;
    mgb_parallel_for(x->count / work.width, mgb_rows_grain(work.width), f, &work);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_softmax = {.make = softmax_make, .run = softmax_run};
const struct mgb_host_op mgb_host_softmax_grad = {.make = softmax_make, .run = softmax_run};
