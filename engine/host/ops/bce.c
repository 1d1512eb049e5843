/* Binary cross-entropy of logits: the sum over rows of the mean over elements of max(z, 0) - t z + log(1 + exp(-|z|)),
 * which never overflows, and its gradient (sigmoid(z) - t) scale / n. */
#include "engine/host/ops/ops.h"

#include "engine/base/parallel.h"
#include "engine/host/simd.h"
#include "engine/host/vmath.h"
#include <math.h>

#define GRAIN 8192 /* elements */

struct bce_work {
    const float *logits, *target;
    float *gradient;
    int64_t elements; /* of a row */
    float scale;
};

static double bce_sum(const void *context, int64_t begin, int64_t end)
{
    const struct bce_work *work = context;
    double sum = 0;
    for (int64_t i = begin * work->elements; i < end * work->elements; i++) {
        double z = (double)work->logits[i], t = (double)work->target[i];
        sum += (z > 0 ? z : 0) - t * z + log1p(exp(-fabs(z)));
    }
    return sum;
}

MGB_SIMD static void bce_grad_elements(float *dz, const float *z, const float *t, int64_t count,
                                       float scale)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        dz[i] = (mgb_sigmoid(z[i]) - t[i]) * scale;
}

static void bce_grad_range(void *context, long long begin, long long end)
{
    struct bce_work *work = context;
    bce_grad_elements(work->gradient + begin, work->logits + begin, work->target + begin,
                      end - begin, work->scale);
}

static enum mgb_status bce_make(struct mgb_kernel *kernel)
{
    mgb_plain_plan(kernel);
    return MGB_OK;
}

static enum mgb_status bce_grad_make(struct mgb_kernel *kernel)
{
    mgb_plain_plan(kernel);
    kernel->facts.in_place = mgb_flat_direct(kernel, 0) ? 0 : -1;
    return MGB_OK;
}

static struct bce_work bce_begin(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct bce_work work = {.elements = mgb_shape_count(&kernel->use.in[0].shape)};
    work.logits = mgb_flat_input(kernel, launch, 0);
    work.target = mgb_flat_input(kernel, launch, 1);
    return work;
}

static enum mgb_status bce_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct bce_work work = bce_begin(kernel, launch);
    double sum =
        mgb_rows_sum(kernel->use.in[0].count / work.elements, work.elements, bce_sum, &work);
    *(float *)launch->outputs[0] = (float)(sum / (double)work.elements);
    return MGB_OK;
}

static enum mgb_status bce_grad_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct bce_work work = bce_begin(kernel, launch);
    work.gradient = launch->outputs[0];
    work.scale = launch->scale / (float)work.elements;
    mgb_parallel_for(kernel->use.in[0].count, GRAIN, bce_grad_range, &work);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_bce = {.make = bce_make, .run = bce_run};
const struct mgb_host_op mgb_host_bce_grad = {.make = bce_grad_make, .run = bce_grad_run};
