/* Reshape and flatten: a view of the input, since everything is plain here. */
#include "engine/cuda/kernel.h"
#include "engine/cuda/queue.h"

static enum mgb_status reshape_facts(struct mgb_operator_facts *facts,
                                     const struct mgb_cuda_use *use)
{
    (void)use;
    facts->alias = 0;
    return MGB_OK;
}

/* Only when the plan could not make it a view. */
static enum mgb_status reshape_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                     const struct mgb_launch *launch)
{
    if (launch->outputs[0] == launch->inputs[0])
        return MGB_OK;
    return mgb_cuda_copy(queue, launch->outputs[0], launch->inputs[0], kernel->facts.out_bytes[0]);
}

const struct mgb_cuda_op mgb_cuda_reshape = {.facts = reshape_facts, .start = reshape_start};
