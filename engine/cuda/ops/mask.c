/* Which positions count: 1 where a number, or any number of a position, differs from the value of padding. */
#include "engine/cuda/kernel.h"
#include "engine/cuda/ops/sequence.h"
#include "engine/cuda/queue.h"

#define WARPS 4 /* positions a block */

static enum mgb_status mask_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                  const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    struct mgb_gpu_mask_args args = {.y = launch->outputs[0],
                                     .x = launch->inputs[0],
                                     .positions = use->out[0].count,
                                     .width = use->in[0].count / use->out[0].count,
                                     .value = use->a.mask.value,
                                     .whole = use->in[0].type == MGB_I32};
    return mgb_cuda_start(queue, (const void *)mgb_gpu_mask,
                          (unsigned)((args.positions + WARPS - 1) / WARPS), WARPS * 32, &args);
}

const struct mgb_cuda_op mgb_cuda_mask = {.start = mask_start};
