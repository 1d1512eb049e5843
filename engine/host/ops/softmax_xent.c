/* Softmax cross-entropy on class numbers: the sum over rows of the mean over positions of -log softmax(x)[label], and its
 * gradient (softmax(x) - onehot(label)) * scale / positions. */
#include "engine/host/ops/ops.h"

#include "engine/base/parallel.h"
#include "engine/host/ops/exps.h"
#include <math.h>

struct xent_work {
    const float *logits;
    const int32_t *labels;
    float *gradient;
    int64_t classes;
    float scale;
};

MGB_SIMD static double xent_rows(const struct xent_work *work, int64_t begin, int64_t end)
{
    double sum = 0;
    for (int64_t row = begin; row < end; row++) {
        const float *x = work->logits + row * work->classes;
        float max = mgb_row_max(x, work->classes);
        sum += log((double)mgb_row_exp(NULL, x, work->classes, max)) + (double)max -
               (double)x[work->labels[row]];
    }
    return sum;
}

static double xent_sum(const void *context, int64_t begin, int64_t end)
{
    return xent_rows(context, begin, end);
}

MGB_SIMD static void xent_grad_rows(const struct xent_work *work, int64_t begin, int64_t end)
{
    for (int64_t row = begin; row < end; row++) {
        const float *x = work->logits + row * work->classes;
        float *dx = work->gradient + row * work->classes;
        float inverse = 1.0f / mgb_row_exp(dx, x, work->classes, mgb_row_max(x, work->classes));
        float right = dx[work->labels[row]] * inverse - 1.0f;
        MGB_EACH
        for (int64_t i = 0; i < work->classes; i++)
            dx[i] = dx[i] * inverse * work->scale;
        dx[work->labels[row]] = right * work->scale;
    }
}

static void xent_grad_range(void *context, long long begin, long long end)
{
    xent_grad_rows(context, begin, end);
}

static int64_t position_count(const struct mgb_kernel *kernel)
{
    return mgb_shape_count(&kernel->use.in[1].shape);
}

static enum mgb_status xent_make(struct mgb_kernel *kernel)
{
    if (kernel->use.in[1].type != MGB_I32)
        return mgb_fail(MGB_UNSUPPORTED, "labels are %s; a CPU device takes class numbers as i32",
                        mgb_type_name(kernel->use.in[1].type));
    mgb_plain_plan(kernel);
    return MGB_OK;
}

static enum mgb_status xent_grad_make(struct mgb_kernel *kernel)
{
    MGB_TRY(xent_make(kernel));
    kernel->facts.in_place = mgb_flat_direct(kernel, 0) ? 0 : -1;
    return MGB_OK;
}

static enum mgb_status xent_begin(struct xent_work *out, struct mgb_kernel *kernel,
                                  const struct mgb_launch *launch)
{
    int64_t rows = kernel->use.in[1].count;
    *out =
        (struct xent_work){.labels = launch->inputs[1], .classes = kernel->use.in[0].count / rows};
    for (int64_t i = 0; i < rows; i++)
        if (out->labels[i] < 0 || out->labels[i] >= out->classes)
            return mgb_fail(
                MGB_INVALID,
                "label %d of row %lld is not a class number from 0 to %lld; check the data",
                (int)out->labels[i], (long long)(launch->first_row + i / position_count(kernel)),
                (long long)out->classes - 1);
    out->logits = mgb_flat_input(kernel, launch, 0);
    return MGB_OK;
}

static enum mgb_status xent_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct xent_work work;
    MGB_TRY(xent_begin(&work, kernel, launch));
    double sum = mgb_rows_sum(kernel->use.in[1].count, work.classes, xent_sum, &work);
    *(float *)launch->outputs[0] = (float)(sum / (double)position_count(kernel));
    return MGB_OK;
}

static enum mgb_status xent_grad_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct xent_work work;
    MGB_TRY(xent_begin(&work, kernel, launch));
    work.gradient = launch->outputs[0];
    work.scale = launch->scale / (float)position_count(kernel);
    mgb_parallel_for(kernel->use.in[1].count, mgb_rows_grain(work.classes), xent_grad_range, &work);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_softmax_xent = {.make = xent_make, .run = xent_run};
const struct mgb_host_op mgb_host_softmax_xent_grad = {.make = xent_grad_make,
                                                       .run = xent_grad_run};
