/* The axes of an example in another order. */
#include "engine/cuda/kernel.h"
#include "engine/cuda/ops/transformer.h"
#include "engine/cuda/ops/transpose.h"
#include "engine/cuda/queue.h"

#define TILE 32

_Static_assert(MGB_MAX_RANK == 6, "transformer.h has this many axes");

static void axes_measure(struct mgb_gpu_transpose_args *args, const struct mgb_cuda_use *use)
{
    const struct mgb_shape *x = &use->in[0].shape, *y = &use->out[0].shape;
    int64_t in_x[MGB_MAX_RANK], in_y = 1, step = 1;
    args->rank = y->rank;
    for (int i = x->rank - 1; i >= 0; i--) {
        in_x[i] = step;
        step *= x->dim[i];
    }
    args->count = step;
    for (int i = y->rank - 1; i >= 0; i--) {
        int axis = use->a.transpose.axes[i];
        args->dim[i] = y->dim[i];
        args->from[i] = in_x[axis];
        args->to[i] = in_y;
        in_y *= y->dim[i];
        if (axis == y->rank - 1)
            args->was_last = i;
    }
}

/* Where the last axis goes elsewhere. */
static enum mgb_status tiles_start(struct mgb_queue *queue, struct mgb_gpu_transpose_args *args)
{
    int64_t last = args->dim[args->rank - 1], high = args->dim[args->was_last];
    args->outer = args->count / last / high;
    args->bands = (high + TILE - 1) / TILE;
    args->columns = (last + TILE - 1) / TILE;
    int64_t tiles = args->all / args->count * args->outer * args->bands * args->columns;
    return mgb_cuda_start(queue, (const void *)mgb_gpu_transpose_tile, (unsigned)tiles, 256, args);
}

static enum mgb_status transpose_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                       const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    struct mgb_gpu_transpose_args args = {
        .y = launch->outputs[0], .x = launch->inputs[0], .all = use->out[0].count};
    if (use->out[0].shape.rank == 0)
        return mgb_cuda_copy(queue, args.y, args.x, kernel->facts.out_bytes[0]);
    axes_measure(&args, use);
    if (args.was_last != args.rank - 1)
        return tiles_start(queue, &args);
    args.outer = args.count / args.dim[args.rank - 1];
    return mgb_cuda_start(queue, (const void *)mgb_gpu_transpose_stretch,
                          mgb_cuda_blocks(args.all, 256), 256, &args);
}

enum mgb_status mgb_cuda_transpose_matrix(struct mgb_queue *queue, float *to, const float *from,
                                          int64_t rows, int64_t columns)
{
    struct mgb_gpu_transpose_args args = {.y = to,
                                          .x = from,
                                          .dim = {columns, rows},
                                          .from = {1, columns},
                                          .to = {rows, 1},
                                          .count = rows * columns,
                                          .all = rows * columns,
                                          .rank = 2,
                                          .was_last = 0};
    return tiles_start(queue, &args);
}

const struct mgb_cuda_op mgb_cuda_transpose = {.start = transpose_start};
