/* How many rows have their largest logit (the first of equal ones) at the label; the mean over positions where a row has
 * several. Whole numbers until the division, so exact. */
#include "engine/host/ops/ops.h"

struct accuracy_work {
    const float *logits;
    const int32_t *labels;
    int64_t classes;
};

static double right_rows(const void *context, int64_t begin, int64_t end)
{
    const struct accuracy_work *work = context;
    int64_t right = 0;
    for (int64_t row = begin; row < end; row++) {
        const float *x = work->logits + row * work->classes;
        int64_t best = 0;
        for (int64_t i = 1; i < work->classes; i++)
            if (x[i] > x[best])
                best = i;
        right += best == work->labels[row];
    }
    return (double)right;
}

static enum mgb_status accuracy_make(struct mgb_kernel *kernel)
{
    if (kernel->use.in[1].type != MGB_I32)
        return mgb_fail(MGB_UNSUPPORTED, "labels are %s; a CPU device takes class numbers as i32",
                        mgb_type_name(kernel->use.in[1].type));
    mgb_plain_plan(kernel);
    return MGB_OK;
}

static enum mgb_status accuracy_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    int64_t rows = kernel->use.in[1].count;
    struct accuracy_work work = {.labels = launch->inputs[1],
                                 .classes = kernel->use.in[0].count / rows};
    work.logits = mgb_flat_input(kernel, launch, 0);
    double right = mgb_rows_sum(rows, work.classes, right_rows, &work);
    *(float *)launch->outputs[0] =
        (float)(right / (double)mgb_shape_count(&kernel->use.in[1].shape));
    return MGB_OK;
}

const struct mgb_host_op mgb_host_accuracy = {.make = accuracy_make, .run = accuracy_run};
