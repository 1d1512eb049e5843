/* How many rows have their largest logit (the first of equal ones) at the label; the mean over positions of a row. */
#include "engine/cuda/kernel.h"
#include "engine/cuda/queue.h"

#define WARPS 4 /* rows a block */

static enum mgb_status accuracy_facts(struct mgb_operator_facts *facts,
                                      const struct mgb_cuda_use *use)
{
    facts->workspace_bytes = use->in[1].count * (int64_t)sizeof(double);
    return mgb_cuda_labels_check(use);
}

static enum mgb_status accuracy_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                      const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    int64_t rows = use->in[1].count;
    struct mgb_gpu_right_args args = {.logits = launch->inputs[0],
                                      .labels = launch->inputs[1],
                                      .right = launch->workspace,
                                      .rows = rows,
                                      .classes = use->in[0].count / rows};
    MGB_TRY(mgb_cuda_start(queue, (const void *)mgb_gpu_right,
                           (unsigned)((rows + WARPS - 1) / WARPS), WARPS * 32, &args));
    return mgb_cuda_row_sum(queue, launch->outputs[0], args.right, rows, use->in[1].positions);
}

const struct mgb_cuda_op mgb_cuda_accuracy = {.facts = accuracy_facts, .start = accuracy_start};
