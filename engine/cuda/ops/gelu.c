/* gelu and its gradient, element by element; in place where the plan allows. */
#include "engine/cuda/kernel.h"
#include "engine/cuda/ops/transformer.h"
#include "engine/cuda/queue.h"

static enum mgb_status gelu_facts(struct mgb_operator_facts *facts, const struct mgb_cuda_use *use)
{
    facts->in_place = use->kind == MGB_OP_GELU ? 0 : 1; /* the gradient may overwrite dy */
    return MGB_OK;
}

static enum mgb_status gelu_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                  const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    struct mgb_gpu_gelu_args args = {.to = launch->outputs[0],
                                     .x = launch->inputs[0],
                                     .dy = use->kind == MGB_OP_GELU_GRAD ? launch->inputs[1] : NULL,
                                     .count = use->out[0].count,
                                     .approximate = use->a.gelu.approximate};
    return mgb_cuda_start(queue, (const void *)mgb_gpu_gelu,
                          mgb_cuda_blocks((args.count + 3) / 4, 256), 256, &args);
}

const struct mgb_cuda_op mgb_cuda_gelu = {.facts = gelu_facts, .start = gelu_start};
