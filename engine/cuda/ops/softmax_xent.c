/* Softmax cross-entropy on class numbers: the sum over rows of the mean over positions of -log softmax(x)[label], and its
 * gradient (softmax(x) - onehot(label)) * scale / positions. */
#include "engine/cuda/kernel.h"
#include "engine/cuda/queue.h"

#define WARPS 4 /* rows a block */

enum mgb_status mgb_cuda_labels_check(const struct mgb_cuda_use *use)
{
    if (use->in[1].type != MGB_I32)
        return mgb_fail(MGB_UNSUPPORTED, "labels are %s; a GPU takes class numbers as i32",
                        mgb_type_name(use->in[1].type));
    return MGB_OK;
}

enum mgb_status mgb_cuda_row_sum(struct mgb_queue *queue, float *to, const double *rows,
                                 int64_t count, int64_t divisor)
{
    struct mgb_gpu_row_sum_args args = {.to = to, .rows = rows, .count = count, .divisor = divisor};
    return mgb_cuda_start(queue, (const void *)mgb_gpu_row_sum, 1, 256, &args);
}

static enum mgb_status xent_facts(struct mgb_operator_facts *facts, const struct mgb_cuda_use *use)
{
    facts->workspace_bytes = use->in[1].count * (int64_t)sizeof(double);
    return mgb_cuda_labels_check(use);
}

static enum mgb_status xent_grad_facts(struct mgb_operator_facts *facts,
                                       const struct mgb_cuda_use *use)
{
    facts->in_place = 0;
    return mgb_cuda_labels_check(use);
}

static struct mgb_gpu_xent_args xent_args(const struct mgb_queue *queue,
                                          const struct mgb_kernel *kernel,
                                          const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    int64_t rows = use->in[1].count;
    return (struct mgb_gpu_xent_args){.logits = launch->inputs[0],
                                      .labels = launch->inputs[1],
                                      .rows = rows,
                                      .classes = use->in[0].count / rows,
                                      .first_row = launch->first_row,
                                      .positions = use->in[1].positions,
                                      .scale = launch->scale / (float)use->in[1].positions,
                                      .fault = queue->cuda->fault};
}

static enum mgb_status xent_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                  const struct mgb_launch *launch)
{
    struct mgb_gpu_xent_args args = xent_args(queue, kernel, launch);
    args.losses = launch->workspace;
    MGB_TRY(mgb_cuda_start(queue, (const void *)mgb_gpu_xent,
                           (unsigned)((args.rows + WARPS - 1) / WARPS), WARPS * 32, &args));
    return mgb_cuda_row_sum(queue, launch->outputs[0], args.losses, args.rows, args.positions);
}

static enum mgb_status xent_grad_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                       const struct mgb_launch *launch)
{
    struct mgb_gpu_xent_args args = xent_args(queue, kernel, launch);
    args.gradient = launch->outputs[0];
    return mgb_cuda_start(queue, (const void *)mgb_gpu_xent_grad,
                          (unsigned)((args.rows + WARPS - 1) / WARPS), WARPS * 32, &args);
}

const struct mgb_cuda_op mgb_cuda_softmax_xent = {.facts = xent_facts, .start = xent_start};
const struct mgb_cuda_op mgb_cuda_softmax_xent_grad = {.facts = xent_grad_facts,
                                                       .start = xent_grad_start};
