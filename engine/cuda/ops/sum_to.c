/* Gradients of operands that were repeated: the sum of dy over the repetitions, over the rows alone for a variable that is
 * added to every one. */
#include "engine/cuda/ops/spread.h"

static struct mgb_gpu_fold_args fold_of(const struct mgb_cuda_use *use)
{
    struct mgb_gpu_fold_args args = {.divisor = 1.0};
    struct mgb_gpu_spread spread =
        mgb_cuda_spread(&use->in[0], use->rows, &use->in[0], &use->out[0]);
    for (int axis = 0; axis < spread.axes; axis++)
        mgb_cuda_axes_add(spread.stride[1][axis] != 0 ? &args.kept : &args.folded, spread.dim[axis],
                          spread.stride[0][axis]);
    mgb_cuda_fold_plan(&args);
    return args;
}

static enum mgb_status sum_to_facts(struct mgb_operator_facts *facts,
                                    const struct mgb_cuda_use *use)
{
    struct mgb_gpu_fold_args args = fold_of(use);
    facts->workspace_bytes = mgb_cuda_fold_bytes(&args);
    return MGB_OK;
}

static enum mgb_status sum_to_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                    const struct mgb_launch *launch)
{
    struct mgb_gpu_fold_args args = fold_of(&kernel->use);
    args.to = launch->outputs[0];
    args.from = launch->inputs[0];
    return mgb_cuda_start_fold(queue, &args, launch->workspace);
}

const struct mgb_cuda_op mgb_cuda_sum_to = {.facts = sum_to_facts, .start = sum_to_start};
