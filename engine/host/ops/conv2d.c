/* y = f(conv(x, w) + b) and its gradients through oneDNN, which chooses the layouts. Whatever is asked of the output, the
 * arithmetic runs in the chosen layout and is reordered afterwards, so that a placement that wants plain outputs gets the
 * same numbers. */
#include "engine/host/ops/ops.h"

#include "engine/base/memory.h"
#include "engine/host/dnnl_shim.h"

struct conv_state {
    struct mgb_dnnl *primitive;
    int in_layout[2], out_layout; /* what the primitive works on; weights plain */
    struct mgb_image out_image;
};

static struct mgb_dnnl_conv conv_describe(const struct mgb_kernel *kernel, enum mgb_dnnl_pass pass)
{
    const struct mgb_conv2d_attributes *a = &kernel->use.a.conv2d;
    struct mgb_dnnl_conv conv = {
        .pass = pass,
        .rows = kernel->use.rows,
        .groups = a->window.groups < 1 ? 1 : a->window.groups,
        .height = a->x.dim[0],
        .width = a->x.dim[1],
        .in = a->x.dim[2],
        .out_height = a->y.dim[0],
        .out_width = a->y.dim[1],
        .out = a->y.dim[2],
    };
    for (int i = 0; i < 2; i++) {
        conv.kernel[i] = a->window.size[i];
        conv.stride[i] = a->window.stride[i];
        conv.dilation[i] = a->window.dilation[i] < 1 ? 1 : a->window.dilation[i];
        conv.pad_before[i] = a->pad_before[i];
        conv.pad_after[i] = a->pad_after[i];
    }
    return conv;
}

/* Makes the primitive and room for its scratch and for inputs that arrive in another layout. `x` and `y` say which inputs
 * those are, -1: the output. */
static enum mgb_status conv_prepare(struct mgb_kernel *kernel, const struct mgb_dnnl_conv *conv,
                                    int x, int y)
{
    struct conv_state *state = mgb_alloc(sizeof *state);
    struct mgb_dnnl_needs needs;
    if (!state)
        return mgb_fail(MGB_NO_MEMORY, "no memory to prepare a convolution");
    kernel->state = state;
    MGB_TRY(mgb_dnnl_conv_make(&state->primitive, &needs, conv));
    kernel->part[MGB_PART_SCRATCH] = mgb_host_take_workspace(kernel, needs.scratch_bytes);
    state->out_layout = x < 0 ? needs.x_layout : needs.y_layout;
    if (x >= 0)
        state->in_layout[x] = needs.x_layout;
    if (y >= 0)
        state->in_layout[y] = needs.y_layout;
    for (int i = 0; i < 2; i++) {
        const struct mgb_host_tensor *in = &kernel->use.in[i];
        kernel->part[i] = -1;
        if ((i != x && i != y) || in->layout == state->in_layout[i])
            continue;
        struct mgb_image image = mgb_host_image(in, kernel->use.rows);
        kernel->part[i] =
            mgb_host_take_workspace(kernel, 4 * mgb_layout_count(image, state->in_layout[i]));
    }
    return MGB_OK;
}

/* The output in the primitive's layout, or plain when it must be or when f(0) != 0 would spoil filled-up channels. */
static void output_plan(struct mgb_kernel *kernel)
{
    struct conv_state *state = kernel->state;
    state->out_image = mgb_host_image(&kernel->use.out[0], kernel->use.rows);
    int64_t bytes = 4 * mgb_layout_count(state->out_image, state->out_layout);
    bool sigmoid =
        kernel->use.kind == MGB_OP_CONV2D && kernel->use.a.conv2d.activation == MGB_SIGMOID;
    bool plain =
        kernel->use.plain[0] || (sigmoid && mgb_layout_padded(state->out_image, state->out_layout));
    kernel->part[MGB_PART_OUTPUT] = -1;
    if (plain && state->out_layout != MGB_LAYOUT_PLAIN) {
        kernel->part[MGB_PART_OUTPUT] = mgb_host_take_workspace(kernel, bytes);
    } else {
        kernel->facts.out_layout[0] = state->out_layout;
        kernel->facts.out_bytes[0] = bytes;
    }
}

static enum mgb_status conv_make(struct mgb_kernel *kernel)
{
    struct mgb_dnnl_conv conv = conv_describe(kernel, MGB_DNNL_FORWARD);
    conv.bias = kernel->use.input_count > 2;
    conv.activation = kernel->use.a.conv2d.activation;
    MGB_TRY(conv_prepare(kernel, &conv, 0, -1));
    output_plan(kernel);
    return MGB_OK;
}

static enum mgb_status conv_grad_x_make(struct mgb_kernel *kernel)
{
    struct mgb_dnnl_conv conv = conv_describe(kernel, MGB_DNNL_DATA);
    MGB_TRY(conv_prepare(kernel, &conv, -1, 0));
    output_plan(kernel);
    return MGB_OK;
}

static enum mgb_status conv_grad_w_make(struct mgb_kernel *kernel)
{
    struct mgb_dnnl_conv conv = conv_describe(kernel, MGB_DNNL_WEIGHTS);
    conv.bias = kernel->use.out[1].wanted;
    MGB_TRY(conv_prepare(kernel, &conv, 0, 1));
    if (!kernel->use.out[0].wanted) {
        int64_t count = conv.kernel[0] * conv.kernel[1] * (conv.in / conv.groups) * conv.out;
        kernel->part[MGB_PART_WEIGHTS] = mgb_host_take_workspace(kernel, 4 * count);
    }
    return MGB_OK;
}

static void *input_get(struct mgb_kernel *kernel, const struct mgb_launch *launch, int i)
{
    if (kernel->part[i] < 0)
        return launch->inputs[i];
    struct conv_state *state = kernel->state;
    const struct mgb_host_tensor *in = &kernel->use.in[i];
    float *copy = mgb_part(kernel, launch, i);
    mgb_layout_convert(copy, state->in_layout[i], launch->inputs[i], in->layout,
                       mgb_host_image(in, kernel->use.rows));
    return copy;
}

static void *output_get(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    return kernel->part[MGB_PART_OUTPUT] < 0 ? launch->outputs[0]
                                             : mgb_part(kernel, launch, MGB_PART_OUTPUT);
}

static void output_finish(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                          enum mgb_activation activation)
{
    struct conv_state *state = kernel->state;
    if (kernel->part[MGB_PART_OUTPUT] >= 0)
        mgb_layout_convert(launch->outputs[0], MGB_LAYOUT_PLAIN,
                           mgb_part(kernel, launch, MGB_PART_OUTPUT), state->out_layout,
                           state->out_image);
    if (!mgb_dnnl_fuses(activation))
        mgb_activate(launch->outputs[0], launch->outputs[0],
                     mgb_layout_count(state->out_image, kernel->facts.out_layout[0]), activation);
}

static enum mgb_status conv_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct conv_state *state = kernel->state;
    struct mgb_dnnl_operands operands = {.scratch = mgb_part(kernel, launch, MGB_PART_SCRATCH)};
    operands.x = input_get(kernel, launch, 0);
    operands.weights = launch->inputs[1];
    operands.bias = kernel->use.input_count > 2 ? launch->inputs[2] : NULL;
    operands.y = output_get(kernel, launch);
    MGB_TRY(mgb_dnnl_run(state->primitive, &operands));
    output_finish(kernel, launch, kernel->use.a.conv2d.activation);
    return MGB_OK;
}

static enum mgb_status conv_grad_x_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct conv_state *state = kernel->state;
    struct mgb_dnnl_operands operands = {.scratch = mgb_part(kernel, launch, MGB_PART_SCRATCH)};
    operands.y = input_get(kernel, launch, 0);
    operands.weights = launch->inputs[1];
    operands.x = output_get(kernel, launch);
    MGB_TRY(mgb_dnnl_run(state->primitive, &operands));
    output_finish(kernel, launch, MGB_LINEAR);
    return MGB_OK;
}

static enum mgb_status conv_grad_w_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct conv_state *state = kernel->state;
    struct mgb_dnnl_operands operands = {.scratch = mgb_part(kernel, launch, MGB_PART_SCRATCH)};
    operands.x = input_get(kernel, launch, 0);
    operands.y = input_get(kernel, launch, 1);
    operands.weights =
        kernel->use.out[0].wanted ? launch->outputs[0] : mgb_part(kernel, launch, MGB_PART_WEIGHTS);
    operands.bias = kernel->use.out[1].wanted ? launch->outputs[1] : NULL;
    return mgb_dnnl_run(state->primitive, &operands);
}

static void conv_done(struct mgb_kernel *kernel)
{
    struct conv_state *state = kernel->state;
    if (state)
        mgb_dnnl_free(state->primitive);
    mgb_release(state);
}

const struct mgb_host_op mgb_host_conv2d = {.make = conv_make, .run = conv_run, .done = conv_done};
const struct mgb_host_op mgb_host_conv2d_grad_x = {
    .make = conv_grad_x_make, .run = conv_grad_x_run, .done = conv_done};
const struct mgb_host_op mgb_host_conv2d_grad_w = {
    .make = conv_grad_w_make, .run = conv_grad_w_run, .done = conv_done};
