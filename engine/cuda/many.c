/* Work on many tensors in a few launches: tables of as many as an argument holds. Backend.h says in which order sums go, so
 * a norm whose pieces do not fit the queue's scratch goes on where the launch before ended. */
#include "engine/cuda/many.h"

#include "engine/cuda/queue.h"
#include "engine/cuda/replay.h"

_Static_assert(sizeof(struct mgb_gpu_update_args) <= 4096, "CUDA takes no longer argument");
_Static_assert(sizeof(struct mgb_gpu_norm_args) <= 4096, "CUDA takes no longer argument");
_Static_assert(sizeof(struct mgb_gpu_clip_args) <= 4096, "CUDA takes no longer argument");

static int64_t pieces_of(int64_t count, int64_t piece)
{
    return (count + piece - 1) / piece;
}

static const void *update_kernel(const struct mgb_update *update)
{
    if (update->momentum)
        return (const void *)mgb_gpu_move;
    switch (update->optimizer->kind) {
    case MGB_SGD:
        return (const void *)mgb_gpu_sgd;
    case MGB_RMSPROP:
        return (const void *)mgb_gpu_rmsprop;
    case MGB_ADAGRAD:
        return (const void *)mgb_gpu_adagrad;
    case MGB_ADADELTA:
        return (const void *)mgb_gpu_adadelta;
    case MGB_ADAM:
        return (const void *)mgb_gpu_adam;
    }
    return NULL;
}

static struct mgb_gpu_update_args update_args(const struct mgb_queue *queue,
                                              const struct mgb_update *update)
{
    const struct mgb_optimizer *o = update->optimizer;
    return (struct mgb_gpu_update_args){.clip = update->clip,
                                        .fault = queue->cuda->fault,
                                        .lr = mgb_cuda_rate(o, update->values),
                                        .momentum =
                                            update->momentum ? *update->momentum : o->momentum,
                                        .rho = o->rho,
                                        .beta1 = o->beta1,
                                        .beta2 = o->beta2,
                                        .epsilon = o->epsilon,
                                        .nesterov = o->nesterov};
}

enum mgb_status mgb_cuda_many_update(struct mgb_queue *queue, const struct mgb_update *update)
{
    struct mgb_gpu_update_args args = update_args(queue, update);
    int64_t pieces = 0;
    if (!update->momentum)
        MGB_TRY(mgb_cuda_values_later(&args.later, queue, update->values, update->optimizer));
    for (int k = 0; k < update->item_count; k++) {
        const struct mgb_update_item *item = &update->items[k];
        pieces += pieces_of(item->count, MGB_GPU_UPDATE_PIECE);
        if (pieces > INT32_MAX)
            return mgb_fail(MGB_UNSUPPORTED,
                            "an update of %lld elements is beyond a launch; use smaller variables",
                            (long long)item->count);
        args.item[args.items] = (struct mgb_gpu_update_item){
            item->weight, item->gradient, item->slots[0], item->slots[1], item->count};
        args.end[args.items++] = (int32_t)pieces;
        if (args.items < MGB_GPU_UPDATES && k + 1 < update->item_count)
            continue;
        if (pieces > 0)
            MGB_TRY(mgb_cuda_start(queue, update_kernel(update), (unsigned)pieces, 256, &args));
        args.items = 0;
        pieces = 0;
    }
    return MGB_OK;
}

/* The scratch of a queue: where clipping keeps its sum, two places for norms that go on, then the sums of pieces. */
#define CLIP_SUM 0
#define CARRIES 1
#define FIRST_PIECE 3

static enum mgb_status norm_start(struct mgb_queue *queue, struct mgb_gpu_norm_args *args)
{
    int32_t pieces = args->end[args->items - 1];
    if (pieces > 0)
        MGB_TRY(mgb_cuda_start(queue, (const void *)mgb_gpu_norm_pieces,
                               (unsigned)((pieces + 31) / 32), 32, args));
    MGB_TRY(mgb_cuda_start(queue, (const void *)mgb_gpu_norm, (unsigned)args->items, 256, args));
    args->to += args->carry ? args->items - 1 : args->items;
    args->carried = args->carry;
    args->carry = NULL;
    args->items = 0;
    return MGB_OK;
}

/* Adds what the scratch still has room for of a tensor from `x` on; returns how many elements. */
static int64_t norm_add(struct mgb_gpu_norm_args *args, const float *x, int64_t count)
{
    int32_t before = args->items > 0 ? args->end[args->items - 1] : 0;
    int64_t room = (int64_t)(MGB_CUDA_SCRATCH - FIRST_PIECE - before) * MGB_GPU_NORM_PIECE;
    int64_t now = count < room ? count : room;
    args->x[args->items] = x;
    args->count[args->items] = now;
    args->end[args->items++] = before + (int32_t)pieces_of(now, MGB_GPU_NORM_PIECE);
    return now;
}

enum mgb_status mgb_cuda_many_norm(struct mgb_queue *queue, float *to, const float *const *sources,
                                   const int64_t *counts, int source_count)
{
    struct mgb_gpu_norm_args args = {.to = to, .pieces = queue->scratch + FIRST_PIECE};
    int carries = 0;
    for (int k = 0; k < source_count; k++) {
        int64_t done = norm_add(&args, sources[k], counts[k]);
        while (done < counts[k]) {
            args.carry = queue->scratch + CARRIES + carries++ % 2;
            MGB_TRY(norm_start(queue, &args));
            done += norm_add(&args, sources[k] + done, counts[k] - done);
        }
        if (args.items == MGB_GPU_NORMS)
            MGB_TRY(norm_start(queue, &args));
    }
    return args.items > 0 ? norm_start(queue, &args) : MGB_OK;
}

enum mgb_status mgb_cuda_many_clip(struct mgb_queue *queue, float *to, const float *const *sources,
                                   const int64_t *counts, int source_count, struct mgb_clip clip)
{
    for (int k = 0; k < source_count; k += MGB_GPU_CLIPS) {
        struct mgb_gpu_clip_args args = {.to = to,
                                         .carry = queue->scratch + CLIP_SUM,
                                         .norm = clip.norm,
                                         .scale = clip.scale,
                                         .first = k == 0,
                                         .last = k + MGB_GPU_CLIPS >= source_count};
        while (args.items < MGB_GPU_CLIPS && k + args.items < source_count) {
            args.from[args.items] = sources[k + args.items];
            args.count[args.items] = counts[k + args.items];
            args.items++;
        }
        MGB_TRY(mgb_cuda_start(queue, (const void *)mgb_gpu_clip, 1, 256, &args));
    }
    return MGB_OK;
}
