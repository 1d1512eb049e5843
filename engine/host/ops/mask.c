/* Which positions count: 1 where a number, or any number of a position, differs from the value of padding. */
#include "engine/host/ops/ops.h"

static enum mgb_status mask_make(struct mgb_kernel *kernel)
{
    mgb_plain_plan(kernel);
    return MGB_OK;
}

static enum mgb_status mask_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    const struct mgb_host_tensor *x = &kernel->use.in[0];
    int64_t positions = kernel->use.out[0].count, width = x->count / positions;
    float value = kernel->use.a.mask.value, *y = launch->outputs[0];
    const int32_t *ids = launch->inputs[0];
    if (x->type == MGB_I32) {
        for (int64_t i = 0; i < positions; i++)
            y[i] = (double)ids[i] != (double)value ? 1.0f : 0.0f;
        return MGB_OK;
    }
    const float *from = mgb_flat_input(kernel, launch, 0);
    for (int64_t i = 0; i < positions; i++) {
        bool differs = false;
        for (int64_t k = 0; k < width && !differs; k++)
            differs = from[i * width + k] != value;
        y[i] = differs ? 1.0f : 0.0f;
    }
    return MGB_OK;
}

const struct mgb_host_op mgb_host_mask = {.make = mask_make, .run = mask_run};
