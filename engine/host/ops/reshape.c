/* Another shape for the same elements: a view of a plain input, a reordered copy of any other. */
#include "engine/host/ops/ops.h"

static enum mgb_status reshape_make(struct mgb_kernel *kernel)
{
    if (kernel->use.in[0].layout == MGB_LAYOUT_PLAIN)
        kernel->facts.alias = 0;
    return MGB_OK;
}

static enum mgb_status reshape_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    const struct mgb_host_tensor *x = &kernel->use.in[0];
    mgb_layout_convert(launch->outputs[0], MGB_LAYOUT_PLAIN, launch->inputs[0], x->layout,
                       mgb_host_image(x, kernel->use.rows));
    return MGB_OK;
}

const struct mgb_host_op mgb_host_reshape = {.make = reshape_make, .run = reshape_run};
