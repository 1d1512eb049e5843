/* y = x / (1 - rate) where the mask keeps an element, else 0; the gradient is the same operator on dy. On evaluation the
 * input passes through. */
#include "engine/cuda/ops/dropout.h"

#include "engine/backend/dropout.h"
#include "engine/cuda/kernel.h"
#include "engine/cuda/queue.h"
#include "engine/cuda/replay.h"

static bool passes(const struct mgb_cuda_use *use)
{
    return !use->training || use->a.dropout.rate == 0;
}

static enum mgb_status dropout_facts(struct mgb_operator_facts *facts,
                                     const struct mgb_cuda_use *use)
{
    if (passes(use))
        facts->alias = 0;
    else
        facts->in_place = 0;
    return MGB_OK;
}

static enum mgb_status dropout_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                     const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    float rate = use->a.dropout.rate;
    if (passes(use))
        return launch->outputs[0] == launch->inputs[0]
                   ? MGB_OK
                   : mgb_cuda_copy(queue, launch->outputs[0], launch->inputs[0],
                                   kernel->facts.out_bytes[0]);
    struct mgb_gpu_dropout_args args = {.to = launch->outputs[0],
                                        .from = launch->inputs[0],
                                        .count = use->out[0].count,
                                        .first =
                                            (uint64_t)(launch->first_row * use->out[0].positions),
                                        .seed = launch->values->seed,
                                        .step = launch->values->step,
                                        .key = use->a.dropout.key,
                                        .threshold = mgb_dropout_threshold(rate),
                                        .scale = 1.0f / (1.0f - rate)};
    MGB_TRY(mgb_cuda_values_later(&args.later, queue, launch->values, NULL));
    return mgb_cuda_start(queue, (const void *)mgb_gpu_dropout,
                          mgb_cuda_blocks((args.count + 6) / 4, 256), 256, &args);
}

const struct mgb_cuda_op mgb_cuda_dropout = {.facts = dropout_facts, .start = dropout_start};
