/* Depthwise convolution: every channel by itself, so there is no product of matrices in it. */
#include "engine/cuda/ops/conv2d_host.h"

#include "engine/cuda/ops/channels_host.h"

/* The sums of the weight's gradient are cut as sums by channel are. */
static struct mgb_cuda_channels chunks_of(const struct mgb_cuda_conv *plan)
{
    return mgb_cuda_channels_make(plan->rows * plan->pixels, plan->groups * plan->filters);
}

int64_t mgb_cuda_depthwise_bytes(const struct mgb_cuda_use *use, const struct mgb_cuda_conv *plan)
{
    struct mgb_cuda_channels c = chunks_of(plan);
    return use->kind == MGB_OP_CONV2D_GRAD_W ? mgb_cuda_channels_bytes(&c, (int)plan->cells) : 0;
}

static enum mgb_status grad_w_start(struct mgb_queue *queue, const struct mgb_cuda_conv *plan,
                                    const struct mgb_launch *launch)
{
    struct mgb_cuda_channels c = chunks_of(plan);
    struct mgb_gpu_depthwise_grad_w_args args = {.sums = launch->workspace,
                                                 .x = launch->inputs[0],
                                                 .dy = launch->inputs[1],
                                                 .positions = c.positions,
                                                 .chunk = c.chunk,
                                                 .channels = (int)plan->groups,
                                                 .filters = (int)c.channels,
                                                 .tile = c.tile,
                                                 .tiles = c.tiles,
                                                 .window = plan->window};
    struct mgb_gpu_channel_finish_args end = {.sums = args.sums,
                                              .chunks = c.chunks,
                                              .channels = plan->cells * c.channels,
                                              .to = {launch->outputs[0]}};
    MGB_TRY(mgb_cuda_start(queue, (const void *)mgb_gpu_depthwise_grad_w,
                           (unsigned)(c.chunks * plan->cells * c.tiles), 256, &args));
    return mgb_cuda_start(queue, (const void *)mgb_gpu_column_finish,
                          (unsigned)((end.channels + 63) / 64), 64, &end);
}

enum mgb_status mgb_cuda_depthwise_start(struct mgb_queue *queue, const struct mgb_cuda_use *use,
                                         const struct mgb_cuda_conv *plan,
                                         const struct mgb_launch *launch)
{
    if (use->kind == MGB_OP_CONV2D_GRAD_W)
        return grad_w_start(queue, plan, launch);
    bool forward = use->kind == MGB_OP_CONV2D;
    struct mgb_gpu_depthwise_args args = {
        .to = launch->outputs[0],
        .from = launch->inputs[0],
        .w = launch->inputs[1],
        .bias = forward && use->input_count > 2 ? launch->inputs[2] : NULL,
        .images = plan->rows,
        .channels = (int)plan->groups,
        .filters = (int)(plan->groups * plan->filters),
        .wide = plan->filters == 1 && plan->groups % 4 == 0,
        .activation = (int)use->a.conv2d.activation,
        .window = plan->window};
    const int *size = forward ? plan->window.out : plan->window.in;
    int64_t length =
        (int64_t)size[1] * (forward ? args.filters : args.channels) / (args.wide ? 4 : 1);
    const void *kernel =
        forward ? (const void *)mgb_gpu_depthwise : (const void *)mgb_gpu_depthwise_grad_x;
    return mgb_cuda_start_rows(queue, kernel, plan->rows * size[0], length, &args);
}
