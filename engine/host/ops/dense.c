/* y = f(x w + b) and its gradients: a matrix product through oneDNN on plain operands. x may have positions: all
 * dimensions but the last count as rows. The weights are [in, out], or [out, in] where they are a tied table. */
#include "engine/host/ops/ops.h"

#include "engine/host/dnnl_shim.h"

static enum mgb_status dense_prepare(struct mgb_kernel *kernel, struct mgb_dnnl_dense *dense)
{
    struct mgb_dnnl *primitive;
    struct mgb_dnnl_needs needs;
    mgb_plain_plan(kernel);
    MGB_TRY(mgb_dnnl_dense_make(&primitive, &needs, dense));
    kernel->state = primitive;
    kernel->part[MGB_PART_SCRATCH] = mgb_host_take_workspace(kernel, needs.scratch_bytes);
    return MGB_OK;
}

/* Forward and dx, whose second input is the weights. */
static struct mgb_dnnl_dense dense_describe(const struct mgb_kernel *kernel,
                                            enum mgb_dnnl_pass pass)
{
    const struct mgb_shape *weights = &kernel->use.in[1].shape;
    bool transposed = kernel->use.a.dense.transposed;
    return (struct mgb_dnnl_dense){.pass = pass,
                                   .in = weights->dim[transposed ? 1 : 0],
                                   .out = weights->dim[transposed ? 0 : 1],
                                   .transposed = transposed};
}

static enum mgb_status dense_make(struct mgb_kernel *kernel)
{
    struct mgb_dnnl_dense dense = dense_describe(kernel, MGB_DNNL_FORWARD);
    dense.rows = kernel->use.in[0].count / dense.in;
    dense.bias = kernel->use.input_count > 2;
    dense.activation = kernel->use.a.dense.activation;
    return dense_prepare(kernel, &dense);
}

static enum mgb_status dense_grad_x_make(struct mgb_kernel *kernel)
{
    struct mgb_dnnl_dense dense = dense_describe(kernel, MGB_DNNL_DATA);
    dense.rows = kernel->use.in[0].count / dense.out;
    return dense_prepare(kernel, &dense);
}

static enum mgb_status dense_grad_w_make(struct mgb_kernel *kernel)
{
    const struct mgb_shape *x = &kernel->use.in[0].shape, *dy = &kernel->use.in[1].shape;
    struct mgb_dnnl_dense dense = {.pass = MGB_DNNL_WEIGHTS,
                                   .in = x->dim[x->rank - 1],
                                   .out = dy->dim[dy->rank - 1],
                                   .transposed = kernel->use.a.dense.transposed};
    dense.rows = kernel->use.in[0].count / dense.in;
    dense.bias = kernel->use.out[1].wanted;
    if (!kernel->use.out[0].wanted)
        kernel->part[MGB_PART_WEIGHTS] = mgb_host_take_workspace(kernel, 4 * dense.in * dense.out);
    return dense_prepare(kernel, &dense);
}

static enum mgb_status dense_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct mgb_dnnl_operands operands = {.scratch = mgb_part(kernel, launch, MGB_PART_SCRATCH)};
    operands.x = (void *)mgb_flat_input(kernel, launch, 0);
    operands.weights = launch->inputs[1];
    operands.bias = kernel->use.input_count > 2 ? launch->inputs[2] : NULL;
    operands.y = launch->outputs[0];
    MGB_TRY(mgb_dnnl_run(kernel->state, &operands));
    enum mgb_activation activation = kernel->use.a.dense.activation;
    if (!mgb_dnnl_fuses(activation))
        mgb_activate(launch->outputs[0], launch->outputs[0], kernel->use.out[0].count, activation);
    return MGB_OK;
}

static enum mgb_status dense_grad_x_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct mgb_dnnl_operands operands = {.scratch = mgb_part(kernel, launch, MGB_PART_SCRATCH)};
    operands.y = (void *)mgb_flat_input(kernel, launch, 0);
    operands.weights = launch->inputs[1];
    operands.x = launch->outputs[0];
    return mgb_dnnl_run(kernel->state, &operands);
}

static enum mgb_status dense_grad_w_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct mgb_dnnl_operands operands = {.scratch = mgb_part(kernel, launch, MGB_PART_SCRATCH)};
    operands.x = (void *)mgb_flat_input(kernel, launch, 0);
    operands.y = (void *)mgb_flat_input(kernel, launch, 1);
    operands.weights =
        kernel->use.out[0].wanted ? launch->outputs[0] : mgb_part(kernel, launch, MGB_PART_WEIGHTS);
    operands.bias = kernel->use.out[1].wanted ? launch->outputs[1] : NULL;
    return mgb_dnnl_run(kernel->state, &operands);
}

static void dense_done(struct mgb_kernel *kernel)
{
    mgb_dnnl_free(kernel->state);
}

const struct mgb_host_op mgb_host_dense = {
    .make = dense_make, .run = dense_run, .done = dense_done};
const struct mgb_host_op mgb_host_dense_grad_x = {
    .make = dense_grad_x_make, .run = dense_grad_x_run, .done = dense_done};
const struct mgb_host_op mgb_host_dense_grad_w = {
    .make = dense_grad_w_make, .run = dense_grad_w_run, .done = dense_done};
