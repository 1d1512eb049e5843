/* The penalty on weights: strength * (sum of the squares of variables), the same for every row, and its gradient. */
#include "engine/cuda/ops/losses.h"

#include "engine/cuda/ops/spread.h"
#include "engine/cuda/queue.h"

_Static_assert(MGB_GPU_SQUARES >= MGB_MAX_INPUTS, "a table has room for all operands");

static int64_t pieces_of(int64_t count)
{
    return (count + MGB_GPU_SQUARES_PIECE - 1) / MGB_GPU_SQUARES_PIECE;
}

static enum mgb_status squares_facts(struct mgb_operator_facts *facts,
                                     const struct mgb_cuda_use *use)
{
    int64_t pieces = 0;
    for (int i = 0; i < use->input_count; i++)
        pieces += pieces_of(use->in[i].count);
    if (pieces > INT32_MAX)
        return mgb_fail(MGB_UNSUPPORTED, "variables of %lld parts of %d are beyond a launch",
                        (long long)pieces, MGB_GPU_SQUARES_PIECE);
    facts->workspace_bytes = pieces * (int64_t)sizeof(double);
    return MGB_OK;
}

static enum mgb_status squares_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                     const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    struct mgb_gpu_squares_args args = {.pieces = launch->workspace,
                                        .to = launch->outputs[0],
                                        .rows = use->rows,
                                        .strength = use->a.squares.strength};
    int64_t pieces = 0;
    for (; args.items < use->input_count; args.items++) {
        args.x[args.items] = launch->inputs[args.items];
        args.count[args.items] = use->in[args.items].count;
        pieces += pieces_of(use->in[args.items].count);
        args.end[args.items] = (int32_t)pieces;
    }
    MGB_TRY(
        mgb_cuda_start(queue, (const void *)mgb_gpu_squares_pieces, (unsigned)pieces, 256, &args));
    return mgb_cuda_start(queue, (const void *)mgb_gpu_squares, 1, 256, &args);
}

static enum mgb_status grad_facts(struct mgb_operator_facts *facts, const struct mgb_cuda_use *use)
{
    (void)use;
    facts->workspace_bytes = sizeof(float);
    return MGB_OK;
}

static enum mgb_status grad_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                  const struct mgb_launch *launch)
{
    struct mgb_gpu_rows_scale_args scale = {.to = launch->workspace,
                                            .dy = launch->inputs[1],
                                            .rows = kernel->use.rows,
                                            .strength = kernel->use.a.squares.strength};
    struct mgb_gpu_elements_args args = {.y = launch->outputs[0],
                                         .a = launch->inputs[0],
                                         .count = kernel->use.out[0].count,
                                         .what = MGB_GPU_SCALE,
                                         .scale = launch->workspace};
    MGB_TRY(mgb_cuda_start(queue, (const void *)mgb_gpu_rows_scale, 1, 256, &scale));
    return mgb_cuda_start_elements(queue, &args);
}

const struct mgb_cuda_op mgb_cuda_squares = {.facts = squares_facts, .start = squares_start};
const struct mgb_cuda_op mgb_cuda_squares_grad = {.facts = grad_facts, .start = grad_start};
