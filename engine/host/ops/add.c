/* y = a + b, element by element. */
#include "engine/host/ops/ops.h"

#include "engine/base/parallel.h"
#include "engine/host/simd.h"

#define GRAIN 16384 /* elements */

struct add_work {
    float *y;
    const float *a, *b;
};

MGB_SIMD static void add_elements(float *y, const float *a, const float *b, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        y[i] = a[i] + b[i];
}

static void add_range(void *context, long long begin, long long end)
{
    struct add_work *work = context;
    add_elements(work->y + begin, work->a + begin, work->b + begin, end - begin);
}

static enum mgb_status add_make(struct mgb_kernel *kernel)
{
    mgb_flat_plan(kernel, true, 0);
    return MGB_OK;
}

static enum mgb_status add_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct add_work work = {.y = launch->outputs[0]};
    work.a = mgb_flat_input(kernel, launch, 0);
    work.b = mgb_flat_input(kernel, launch, 1);
    mgb_parallel_for(mgb_flat_count(kernel), GRAIN, add_range, &work);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_add = {.make = add_make, .run = add_run};
