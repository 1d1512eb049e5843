/* softmax and log_softmax over the last axis, and their gradients; in place where the plan allows. */
#include "engine/cuda/kernel.h"
#include "engine/cuda/ops/rows.h"

static enum mgb_status softmax_facts(struct mgb_operator_facts *facts,
                                     const struct mgb_cuda_use *use)
{
    facts->in_place = use->kind == MGB_OP_SOFTMAX ? 0 : 1; /* the gradient may overwrite dy */
    return MGB_OK;
}

static enum mgb_status softmax_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                     const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    bool back = use->kind == MGB_OP_SOFTMAX_GRAD;
    struct mgb_gpu_softmax_args args = {.to = launch->outputs[0],
                                        .x = launch->inputs[0],
                                        .dy = back ? launch->inputs[1] : NULL,
                                        .rows = use->in[0].count / use->in[0].last,
                                        .width = use->in[0].last,
                                        .log = use->a.softmax.log};
    return mgb_cuda_rows_start(
        queue, back ? (const void *)mgb_gpu_softmax_grad : (const void *)mgb_gpu_softmax, args.rows,
        args.width, &args);
}

const struct mgb_cuda_op mgb_cuda_softmax = {.facts = softmax_facts, .start = softmax_start};
