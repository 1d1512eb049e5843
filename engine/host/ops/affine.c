/* factor * x + shift, |x| and its gradient, over whatever layout arrives. */
#include "engine/host/ops/ops.h"

#include "engine/base/parallel.h"
#include "engine/host/simd.h"

#define GRAIN 16384 /* elements */

struct affine_work {
    float *y;
    const float *x, *dy;
    float factor, shift;
};

MGB_SIMD static void affine_elements(float *y, const float *x, int64_t count, float factor,
                                     float shift)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        y[i] = factor * x[i] + shift;
}

MGB_SIMD static void abs_elements(float *y, const float *x, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        y[i] = __builtin_fabsf(x[i]);
}

MGB_SIMD static void abs_grad_elements(float *dx, const float *x, const float *dy, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        dx[i] = x[i] > 0 ? dy[i] : x[i] < 0 ? -dy[i] : 0;
}

static void affine_range(void *context, long long begin, long long end)
{
    struct affine_work *work = context;
    affine_elements(work->y + begin, work->x + begin, end - begin, work->factor, work->shift);
}

static void abs_range(void *context, long long begin, long long end)
{
    struct affine_work *work = context;
    abs_elements(work->y + begin, work->x + begin, end - begin);
}

static void abs_grad_range(void *context, long long begin, long long end)
{
    struct affine_work *work = context;
    abs_grad_elements(work->y + begin, work->x + begin, work->dy + begin, end - begin);
}

static enum mgb_status affine_make(struct mgb_kernel *kernel)
{
    bool zero_stays = kernel->use.kind != MGB_OP_AFFINE || kernel->use.a.affine.shift == 0;
    int over = kernel->use.kind == MGB_OP_ABS_GRAD ? 1 : 0; /* dy, of which nobody is in need */
    mgb_flat_plan(kernel, zero_stays, over);
    return MGB_OK;
}

static enum mgb_status affine_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct affine_work work = {.y = launch->outputs[0],
                               .x = mgb_flat_input(kernel, launch, 0),
                               .factor = kernel->use.a.affine.factor,
                               .shift = kernel->use.a.affine.shift};
    mgb_parallel_for(mgb_flat_count(kernel), GRAIN, affine_range, &work);
    return MGB_OK;
}

static enum mgb_status abs_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct affine_work work = {.y = launch->outputs[0], .x = mgb_flat_input(kernel, launch, 0)};
    mgb_parallel_for(mgb_flat_count(kernel), GRAIN, abs_range, &work);
    return MGB_OK;
}

static enum mgb_status abs_grad_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct affine_work work = {.y = launch->outputs[0],
                               .x = mgb_flat_input(kernel, launch, 0),
                               .dy = mgb_flat_input(kernel, launch, 1)};
    mgb_parallel_for(mgb_flat_count(kernel), GRAIN, abs_grad_range, &work);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_affine = {.make = affine_make, .run = affine_run};
const struct mgb_host_op mgb_host_abs = {.make = affine_make, .run = abs_run};
const struct mgb_host_op mgb_host_abs_grad = {.make = affine_make, .run = abs_grad_run};
