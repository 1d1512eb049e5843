/* dense: y = f(x w + b) and its gradients by cuBLAS. A tied weight is [out, in]. */
#include "engine/cuda/ops/spread.h"
#include "engine/cuda/product.h"
#include "engine/cuda/queue.h"

static enum mgb_status dense_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                   const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    int64_t in = use->in[0].last, out = use->out[0].last, rows = use->in[0].count / in;
    bool tied = use->a.dense.transposed;
    struct mgb_gpu_bias_args args = {.y = launch->outputs[0],
                                     .b = use->input_count > 2 ? launch->inputs[2] : NULL,
                                     .count = use->out[0].count,
                                     .columns = out,
                                     .activation = (int)use->a.dense.activation};
    struct mgb_cuda_product product = {
        .a = {.data = launch->inputs[0], .ld = in},
        .b = {.data = launch->inputs[1], .ld = tied ? in : out, .transposed = tied},
        .c = args.y,
        .ldc = out,
        .m = rows,
        .n = out,
        .k = in};
    MGB_TRY(mgb_cuda_multiply(queue, &product));
    if (!args.b && use->a.dense.activation == MGB_LINEAR)
        return MGB_OK;
    return mgb_cuda_start_quads(queue, (const void *)mgb_gpu_bias, args.count, &args);
}

static enum mgb_status dense_grad_x_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                          const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    int64_t out = use->in[0].last, in = use->out[0].last, rows = use->in[0].count / out;
    bool tied = use->a.dense.transposed;
    struct mgb_cuda_product product = {
        .a = {.data = launch->inputs[0], .ld = out},
        .b = {.data = launch->inputs[1], .ld = tied ? in : out, .transposed = !tied},
        .c = launch->outputs[0],
        .ldc = in,
        .m = rows,
        .n = in,
        .k = out};
    return mgb_cuda_multiply(queue, &product);
}

/* Of the first two operands, which are those of the product, each as lines of its last axis. */
static int64_t dense_narrow(const struct mgb_cuda_use *use)
{
    int64_t bytes = 0;
    for (int i = 0; i < 2; i++)
        bytes += mgb_cuda_narrow_bytes(1, use->in[i].count / use->in[i].last, use->in[i].last);
    return bytes;
}

/* The gradient of the bias: dy summed over its rows. */
static struct mgb_gpu_fold_args columns_of(const struct mgb_cuda_use *use)
{
    struct mgb_gpu_fold_args args = {.divisor = 1.0};
    mgb_cuda_axes_add(&args.kept, use->in[1].last, 1);
    mgb_cuda_axes_add(&args.folded, use->in[1].count / use->in[1].last, use->in[1].last);
    mgb_cuda_fold_plan(&args);
    return args;
}

static enum mgb_status dense_grad_w_facts(struct mgb_operator_facts *facts,
                                          const struct mgb_cuda_use *use)
{
    struct mgb_gpu_fold_args args = columns_of(use);
    facts->workspace_bytes = use->out[1].wanted ? mgb_cuda_fold_bytes(&args) : 0;
    return MGB_OK;
}

static enum mgb_status dense_grad_w_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                          const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    int64_t in = use->in[0].last, out = use->in[1].last, rows = use->in[0].count / in;
    const float *x = launch->inputs[0], *dy = launch->inputs[1];
    bool tied = use->a.dense.transposed;
    struct mgb_cuda_product product = {
        .a = {.data = tied ? dy : x, .ld = tied ? out : in, .transposed = true},
        .b = {.data = tied ? x : dy, .ld = tied ? in : out},
        .c = launch->outputs[0],
        .ldc = tied ? in : out,
        .m = tied ? out : in,
        .n = tied ? in : out,
        .k = rows};
    MGB_TRY(mgb_cuda_multiply(queue, &product));
    if (!launch->outputs[1])
        return MGB_OK;
    struct mgb_gpu_fold_args args = columns_of(use);
    args.to = launch->outputs[1];
    args.from = dy;
    return mgb_cuda_start_fold(queue, &args, launch->workspace);
}

const struct mgb_cuda_op mgb_cuda_dense = {.start = dense_start, .narrow = dense_narrow};
const struct mgb_cuda_op mgb_cuda_dense_grad_x = {.start = dense_grad_x_start,
                                                  .narrow = dense_narrow};
const struct mgb_cuda_op mgb_cuda_dense_grad_w = {
    .facts = dense_grad_w_facts, .start = dense_grad_w_start, .narrow = dense_narrow};
