/* Sum, difference, product and quotient of two operands that fit each other as in numpy, a variable added to every row, and
 * a variable for every row. */
#include "engine/cuda/ops/spread.h"

static int element_of(enum mgb_op_kind kind)
{
    return kind == MGB_OP_SUB      ? MGB_GPU_SUB
           : kind == MGB_OP_MUL    ? MGB_GPU_MUL
           : kind == MGB_OP_DIV    ? MGB_GPU_DIV
           : kind == MGB_OP_EXPAND ? MGB_GPU_SCALE
                                   : MGB_GPU_ADD;
}

static bool alike(const struct mgb_cuda_use *use, int input)
{
    return use->in[input].batched && use->in[input].count == use->out[0].count;
}

static enum mgb_status arithmetic_facts(struct mgb_operator_facts *facts,
                                        const struct mgb_cuda_use *use)
{
    if (alike(use, 0))
        facts->in_place = 0;
    return MGB_OK;
}

static enum mgb_status spread_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                    const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    bool two = use->input_count > 1;
    struct mgb_gpu_spread_args args = {
        .y = launch->outputs[0],
        .a = launch->inputs[0],
        .b = two ? launch->inputs[1] : NULL,
        .count = use->out[0].count,
        .spread = mgb_cuda_spread(&use->out[0], use->rows, &use->in[0], &use->in[two ? 1 : 0]),
        .what = element_of(use->kind),
        .factor = 1.0f};
    return mgb_cuda_start_spread(queue, &args);
}

static enum mgb_status arithmetic_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                        const struct mgb_launch *launch)
{
    if (!alike(&kernel->use, 0) || !alike(&kernel->use, 1))
        return spread_start(queue, kernel, launch);
    struct mgb_gpu_elements_args args = {.y = launch->outputs[0],
                                         .a = launch->inputs[0],
                                         .b = launch->inputs[1],
                                         .count = kernel->use.out[0].count,
                                         .what = element_of(kernel->use.kind)};
    return mgb_cuda_start_elements(queue, &args);
}

const struct mgb_cuda_op mgb_cuda_arithmetic = {.facts = arithmetic_facts,
                                                .start = arithmetic_start};
const struct mgb_cuda_op mgb_cuda_repeat = {.start = spread_start};
