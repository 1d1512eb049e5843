/* How a sum is shared out: by its shape alone, so that the bits are those of every other GPU. */
#include "engine/cuda/ops/spread.h"

#include "engine/cuda/queue.h"

#define BLOCK 256          /* threads */
#define ENOUGH_BLOCKS 1024 /* more than this and a result's items are not split */
#define SPLIT_ITEMS 512    /* at least */

void mgb_cuda_axes_add(struct mgb_gpu_axes *axes, int64_t dim, int64_t stride)
{
    if (dim == 1)
        return;
    axes->dim[axes->count] = dim;
    axes->stride[axes->count++] = stride;
}

static int64_t axes_items(const struct mgb_gpu_axes *axes)
{
    int64_t items = 1;
    for (int i = 0; i < axes->count; i++)
        items *= axes->dim[i];
    return items;
}

static int64_t tiles_of(const struct mgb_gpu_fold_args *args)
{
    int64_t each = args->lines ? 8 : 32;
    return (args->outputs + each - 1) / each;
}

void mgb_cuda_fold_plan(struct mgb_gpu_fold_args *args)
{
    args->outputs = axes_items(&args->kept);
    args->items = axes_items(&args->folded);
    if (args->folded.count == 0) { /* nothing to add up: one item */
        args->folded.dim[0] = 1;
        args->folded.count = 1;
    }
    args->lines = args->kept.count == 0 || args->kept.stride[args->kept.count - 1] != 1;
    int64_t tiles = tiles_of(args), most = ENOUGH_BLOCKS / tiles,
            splits = args->items / SPLIT_ITEMS;
    splits = splits < most ? splits : most;
    args->splits = splits < 1 ? 1 : splits;
    args->split_items = (args->items + args->splits - 1) / args->splits;
}

int64_t mgb_cuda_fold_bytes(const struct mgb_gpu_fold_args *args)
{
    return args->splits > 1 ? args->splits * args->outputs * (int64_t)sizeof(double) : 0;
}

unsigned mgb_cuda_fold_blocks(const struct mgb_gpu_fold_args *args)
{
    return (unsigned)tiles_of(args);
}

enum mgb_status mgb_cuda_start_fold(struct mgb_queue *queue, struct mgb_gpu_fold_args *args,
                                    void *workspace)
{
    args->parts = args->splits > 1 ? workspace : NULL;
    MGB_TRY(mgb_cuda_start(queue, (const void *)mgb_gpu_fold,
                           mgb_cuda_fold_blocks(args) * (unsigned)args->splits, BLOCK, args));
    if (args->splits == 1)
        return MGB_OK;
    return mgb_cuda_start(queue, (const void *)mgb_gpu_fold_end,
                          mgb_cuda_blocks(args->outputs, BLOCK), BLOCK, args);
}
