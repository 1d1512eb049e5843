/* Maximum and average over windows, and their gradients, which gather over the windows that cover an element. The index of
 * a maximum is its cell, a byte each, in the order of y. */
#include "engine/cuda/ops/pool2d.h"
#include "engine/cuda/ops/vision.h"

static struct mgb_gpu_pool2d_args pool_args(const struct mgb_kernel *kernel,
                                            const struct mgb_launch *launch)
{
    const struct mgb_pool2d_attributes *a = &kernel->use.a.pool2d;
    int channels = (int)a->x.dim[2];
    return (struct mgb_gpu_pool2d_args){
        .to = launch->outputs[0],
        .from = launch->inputs[0],
        .images = kernel->use.rows,
        .channels = channels,
        .wide = channels % 4 == 0,
        .count_padding = a->count_padding,
        .window = mgb_cuda_window(&a->window, a->pad_before, &a->x, &a->y)};
}

static enum mgb_status pool_rows(struct mgb_queue *queue, const void *kernel,
                                 struct mgb_gpu_pool2d_args *args, const int size[2])
{
    int64_t length = (int64_t)size[1] * args->channels / (args->wide ? 4 : 1);
    return mgb_cuda_start_rows(queue, kernel, args->images * size[0], length, args);
}

static enum mgb_status max_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                 const struct mgb_launch *launch)
{
    struct mgb_gpu_pool2d_args args = pool_args(kernel, launch);
    args.index = kernel->use.out[1].wanted ? launch->outputs[1] : NULL;
    return pool_rows(queue, (const void *)mgb_gpu_max_pool2d, &args, args.window.out);
}

static enum mgb_status max_grad_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                      const struct mgb_launch *launch)
{
    struct mgb_gpu_pool2d_args args = pool_args(kernel, launch);
    args.index = launch->inputs[1];
    return pool_rows(queue, (const void *)mgb_gpu_max_pool2d_grad, &args, args.window.in);
}

static enum mgb_status avg_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                 const struct mgb_launch *launch)
{
    struct mgb_gpu_pool2d_args args = pool_args(kernel, launch);
    return pool_rows(queue, (const void *)mgb_gpu_avg_pool2d, &args, args.window.out);
}

static enum mgb_status avg_grad_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                      const struct mgb_launch *launch)
{
    struct mgb_gpu_pool2d_args args = pool_args(kernel, launch);
    return pool_rows(queue, (const void *)mgb_gpu_avg_pool2d_grad, &args, args.window.in);
}

const struct mgb_cuda_op mgb_cuda_max_pool2d = {.start = max_start};
const struct mgb_cuda_op mgb_cuda_max_pool2d_grad = {.start = max_grad_start};
const struct mgb_cuda_op mgb_cuda_avg_pool2d = {.start = avg_start};
const struct mgb_cuda_op mgb_cuda_avg_pool2d_grad = {.start = avg_grad_start};
