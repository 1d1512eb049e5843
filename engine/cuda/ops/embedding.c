/* Rows of a table by number, and the gradient as a whole table or as the rows that are used (kinds.h: packed). No two
 * threads add to the same number: the uses are sorted first (K. E. Batcher, AFIPS 1968), which no order of threads changes. */
#include "engine/cuda/kernel.h"
#include "engine/cuda/ops/embedding.h"
#include "engine/cuda/queue.h"

#define LOCAL 1024 /* keys that a block sorts at once, as embedding.cu has it */
#define THREADS 128

static struct mgb_gpu_ids ids_make(const struct mgb_queue *queue, const struct mgb_cuda_use *use,
                                   const struct mgb_launch *launch, int64_t vocabulary)
{
    return (struct mgb_gpu_ids){.ids = launch->inputs[0],
                                .count = use->in[0].count,
                                .vocabulary = vocabulary,
                                .first_row = launch->first_row,
                                .positions = use->in[0].positions,
                                .name = launch->name,
                                .fault = queue->cuda->fault};
}

static enum mgb_status embedding_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                       const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    struct mgb_gpu_embedding_args args = {.ids =
                                              ids_make(queue, use, launch, use->in[1].shape.dim[0]),
                                          .y = launch->outputs[0],
                                          .table = launch->inputs[1],
                                          .units = use->in[1].shape.dim[1]};
    int64_t threads = use->out[0].count / (args.units % 4 == 0 ? 4 : 1);
    return mgb_cuda_start(queue, (const void *)mgb_gpu_embedding, mgb_cuda_blocks(threads, 256),
                          256, &args);
}

/* A power of two, so that a bitonic sort takes it. */
static int64_t keys_size(int64_t uses)
{
    int64_t size = 64;
    while (size < uses)
        size *= 2;
    return size;
}

static enum mgb_status embedding_grad_facts(struct mgb_operator_facts *facts,
                                            const struct mgb_cuda_use *use)
{
    int64_t uses = use->in[0].count;
    facts->workspace_bytes = keys_size(uses) * (int64_t)sizeof(uint64_t);
    if (use->kind == MGB_OP_EMBEDDING_ROWS)
        facts->workspace_bytes += uses * (int64_t)sizeof(int32_t);
    return MGB_OK;
}

static enum mgb_status local_sort(struct mgb_queue *queue, struct mgb_gpu_use_sort_args *args)
{
    int64_t block = args->size < LOCAL ? args->size : LOCAL;
    return mgb_cuda_start(queue, (const void *)mgb_gpu_use_sort_local,
                          (unsigned)(args->size / block), (unsigned)(block / 2), args);
}

/* Passes at distances of a block and more on all keys, the rest of each span within blocks. */
static enum mgb_status keys_sort(struct mgb_queue *queue, uint64_t *keys, int64_t size)
{
    struct mgb_gpu_use_sort_args args = {
        .keys = keys, .size = size, .span = size < LOCAL ? size : LOCAL};
    MGB_TRY(local_sort(queue, &args));
    for (args.span = 2 * LOCAL; args.span <= size; args.span *= 2) {
        for (args.distance = args.span / 2; args.distance >= LOCAL; args.distance /= 2)
            MGB_TRY(mgb_cuda_start(queue, (const void *)mgb_gpu_use_sort,
                                   mgb_cuda_blocks(size / 2, 256), 256, &args));
        MGB_TRY(local_sort(queue, &args));
    }
    return MGB_OK;
}

/* Sorted keys of all uses in the workspace. */
static enum mgb_status keys_make(struct mgb_queue *queue, const struct mgb_cuda_use *use,
                                 const struct mgb_launch *launch, int64_t vocabulary)
{
    struct mgb_gpu_use_keys_args args = {.ids = ids_make(queue, use, launch, vocabulary),
                                         .keys = launch->workspace,
                                         .size = keys_size(use->in[0].count)};
    MGB_TRY(mgb_cuda_start(queue, (const void *)mgb_gpu_use_keys, mgb_cuda_blocks(args.size, 256),
                           256, &args));
    return keys_sort(queue, args.keys, args.size);
}

static enum mgb_status sums_start(struct mgb_queue *queue, struct mgb_gpu_use_sums_args *args)
{
    return mgb_cuda_start(queue, (const void *)mgb_gpu_use_sums, (unsigned)args->count, THREADS,
                          args);
}

static enum mgb_status table_clear(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                   const struct mgb_launch *launch)
{
    MGB_CUDA_TRY(queue->cuda, cudaMemsetAsync(launch->outputs[0], 0,
                                              (size_t)kernel->facts.out_bytes[0], queue->stream));
    return MGB_OK;
}

static enum mgb_status embedding_grad_start(struct mgb_queue *queue,
                                            const struct mgb_kernel *kernel,
                                            const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    const struct mgb_shape *table = &use->out[0].shape;
    struct mgb_gpu_use_sums_args args = {.to = launch->outputs[0],
                                         .dy = launch->inputs[1],
                                         .keys = launch->workspace,
                                         .count = use->in[0].count,
                                         .units = table->dim[1]};
    MGB_TRY(table_clear(queue, kernel, launch));
    MGB_TRY(keys_make(queue, use, launch, table->dim[0]));
    return sums_start(queue, &args);
}

static enum mgb_status embedding_rows_start(struct mgb_queue *queue,
                                            const struct mgb_kernel *kernel,
                                            const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    int64_t uses = use->in[0].count;
    uint64_t *keys = launch->workspace;
    struct mgb_gpu_use_slots_args slots = {.keys = keys,
                                           .slots = (int32_t *)(void *)(keys + keys_size(uses)),
                                           .numbers = launch->outputs[0],
                                           .count = uses};
    struct mgb_gpu_use_sums_args sums = {.to = (float *)launch->outputs[0] + uses,
                                         .dy = launch->inputs[1],
                                         .keys = keys,
                                         .slots = slots.slots,
                                         .count = uses,
                                         .units = use->out[0].count / uses - 1};
    MGB_TRY(keys_make(queue, use, launch, use->a.packed.vocabulary));
    MGB_TRY(mgb_cuda_start(queue, (const void *)mgb_gpu_use_slots, 1, 256, &slots));
    return sums_start(queue, &sums);
}

static enum mgb_status embedding_unpack_start(struct mgb_queue *queue,
                                              const struct mgb_kernel *kernel,
                                              const struct mgb_launch *launch)
{
    const struct mgb_cuda_use *use = &kernel->use;
    const struct mgb_shape *table = &use->out[0].shape;
    struct mgb_gpu_unpack_args args = {.table = launch->outputs[0],
                                       .packed = launch->inputs[0],
                                       .count = use->in[0].count / (1 + table->dim[1]),
                                       .units = table->dim[1],
                                       .vocabulary = table->dim[0]};
    MGB_TRY(table_clear(queue, kernel, launch));
    return mgb_cuda_start(queue, (const void *)mgb_gpu_unpack, (unsigned)args.count, THREADS,
                          &args);
}

const struct mgb_cuda_op mgb_cuda_embedding = {.start = embedding_start};
const struct mgb_cuda_op mgb_cuda_embedding_grad = {.facts = embedding_grad_facts,
                                                    .start = embedding_grad_start};
const struct mgb_cuda_op mgb_cuda_embedding_rows = {.facts = embedding_grad_facts,
                                                    .start = embedding_rows_start};
const struct mgb_cuda_op mgb_cuda_embedding_unpack = {.start = embedding_unpack_start};
