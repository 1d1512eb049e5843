/* Sum, mean and maximum over one axis, and their gradients. Of equal maxima the first counts; NaN wins, so that it is seen. */
#include "engine/cuda/ops/spread.h"

#include "engine/cuda/queue.h"

/* The axis in the tensor that has it, and what lies before and behind. */
struct axis {
    int64_t outer, count, inner;
};

static struct axis axis_of(const struct mgb_cuda_use *use, const struct mgb_cuda_tensor *whole)
{
    int axis = use->a.reduce.axis;
    struct axis found = {.count = whole->shape.dim[axis], .inner = 1};
    for (int i = axis + 1; i < whole->shape.rank; i++)
        found.inner *= whole->shape.dim[i];
    found.outer = whole->count / found.count / found.inner;
    return found;
}

static struct mgb_gpu_fold_args fold_of(const struct mgb_cuda_use *use)
{
    struct axis axis = axis_of(use, &use->in[0]);
    struct mgb_gpu_fold_args args = {.divisor =
                                         use->kind == MGB_OP_MEAN ? (double)axis.count : 1.0};
    mgb_cuda_axes_add(&args.kept, axis.outer, axis.count * axis.inner);
    mgb_cuda_axes_add(&args.kept, axis.inner, 1);
    mgb_cuda_axes_add(&args.folded, axis.count, axis.inner);
    mgb_cuda_fold_plan(&args);
    return args;
}

static enum mgb_status sum_facts(struct mgb_operator_facts *facts, const struct mgb_cuda_use *use)
{
    struct mgb_gpu_fold_args args = fold_of(use);
    facts->workspace_bytes = mgb_cuda_fold_bytes(&args);
    return MGB_OK;
}

static enum mgb_status sum_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                 const struct mgb_launch *launch)
{
    struct mgb_gpu_fold_args args = fold_of(&kernel->use);
    args.to = launch->outputs[0];
    args.from = launch->inputs[0];
    return mgb_cuda_start_fold(queue, &args, launch->workspace);
}

static enum mgb_status max_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                 const struct mgb_launch *launch)
{
    struct mgb_gpu_fold_args args = fold_of(&kernel->use);
    args.to = launch->outputs[0];
    args.from = launch->inputs[0];
    args.index = kernel->use.out[1].wanted ? launch->outputs[1] : NULL;
    args.splits = 1; /* the place of a maximum would have to travel with it */
    args.split_items = args.items;
    return mgb_cuda_start(queue, (const void *)mgb_gpu_fold_max, mgb_cuda_fold_blocks(&args), 256,
                          &args);
}

/* Gradient of a sum or mean: dy repeated along the axis. */
static enum mgb_status spread_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                    const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    struct axis axis = axis_of(use, &use->out[0]);
    struct mgb_gpu_spread_args args = {.y = launch->outputs[0],
                                       .a = launch->inputs[0],
                                       .count = use->out[0].count,
                                       .spread = {.axes = 3,
                                                  .dim = {axis.outer, axis.count, axis.inner},
                                                  .stride = {{axis.inner, 0, 1}}},
                                       .what = MGB_GPU_SCALE,
                                       .factor = use->a.reduce.factor};
    if (axis.inner == 1)
        args.spread.axes = 2;
    return mgb_cuda_start_spread(queue, &args);
}

static enum mgb_status max_grad_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                      const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    struct axis axis = axis_of(use, &use->out[0]);
    struct mgb_gpu_pick_args args = {.dx = launch->outputs[0],
                                     .dy = launch->inputs[0],
                                     .index = launch->inputs[1],
                                     .elements = use->out[0].count,
                                     .count = axis.count,
                                     .inner = axis.inner};
    return mgb_cuda_start_quads(queue, (const void *)mgb_gpu_pick, args.elements, &args);
}

const struct mgb_cuda_op mgb_cuda_sum = {.facts = sum_facts, .start = sum_start};
const struct mgb_cuda_op mgb_cuda_max = {.start = max_start};
const struct mgb_cuda_op mgb_cuda_spread_grad = {.start = spread_start};
const struct mgb_cuda_op mgb_cuda_max_grad = {.start = max_grad_start};
