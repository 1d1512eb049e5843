/* factor * x + shift, |x| and its gradient. */
#include "engine/cuda/ops/spread.h"

static enum mgb_status affine_facts(struct mgb_operator_facts *facts,
                                    const struct mgb_cuda_use *use)
{
    facts->in_place = use->kind == MGB_OP_ABS_GRAD ? 1 : 0; /* dy, of which nobody is in need */
    return MGB_OK;
}

static enum mgb_status affine_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                    const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    struct mgb_gpu_elements_args args = {.y = launch->outputs[0],
                                         .a = launch->inputs[0],
                                         .b = use->input_count > 1 ? launch->inputs[1] : NULL,
                                         .count = use->out[0].count,
                                         .what = use->kind == MGB_OP_ABS        ? MGB_GPU_ABS
                                                 : use->kind == MGB_OP_ABS_GRAD ? MGB_GPU_ABS_GRAD
                                                                                : MGB_GPU_AFFINE};
    if (use->kind == MGB_OP_AFFINE) {
        args.factor = use->a.affine.factor;
        args.shift = use->a.affine.shift;
    }
    return mgb_cuda_start_elements(queue, &args);
}

const struct mgb_cuda_op mgb_cuda_affine = {.facts = affine_facts, .start = affine_start};
