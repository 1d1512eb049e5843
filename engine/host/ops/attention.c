/* softmax(q k' scale) v in heads: a block of queries of a head at a time, its scores in cache between the two products. */
#include "engine/host/ops/attention.h"

#include "engine/host/simd.h"

MGB_SIMD static void row_scale(float *y, float factor, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        y[i] = y[i] * factor;
}

static enum mgb_status block_run(const struct mgb_attention_head *h,
                                 struct mgb_attention_block block)
{
    const struct mgb_attention_work *work = h->work;
    int64_t size = work->value_size / work->heads;
    MGB_TRY(mgb_attention_exps(h, block));
    if (work->drops)
        mgb_attention_drop(h, block, h->square[0], h->square[0]);
    int64_t at = (h->row * work->queries + block.first) * work->value_size + h->head * size;
    struct mgb_matrix v = mgb_attention_matrix(h, work->v, work->keys, work->value_size, 0);
    struct mgb_matrix p = {.at = h->square[0], .row = work->keys};
    MGB_TRY(mgb_dnnl_product(
        work->y + at, work->value_size, p, v,
        (struct mgb_product){.m = block.count, .n = size, .k = block.keys, .alpha = 1}));
    for (int64_t i = 0; i < block.count; i++)
        row_scale(work->y + at + i * work->value_size, h->inverse[i], size);
    return MGB_OK;
}

static int64_t block_count(const struct mgb_attention_work *work)
{
    return (work->queries + MGB_ATTENTION_BLOCK - 1) / MGB_ATTENTION_BLOCK;
}

static enum mgb_status items_run(void *context, int thread, int64_t begin, int64_t end)
{
    const struct mgb_attention_work *work = context;
    int64_t blocks = block_count(work);
    struct mgb_attention_head h = {0};
    for (int64_t item = begin; item < end; item++) {
        int64_t head = item / blocks;
        if (item == begin || item % blocks == 0)
            h = mgb_attention_head_make(work, thread, head / work->heads, head % work->heads);
        MGB_TRY(block_run(&h, mgb_attention_block_make(work, item % blocks)));
    }
    return MGB_OK;
}

static enum mgb_status attention_make(struct mgb_kernel *kernel)
{
    mgb_attention_plan(kernel, 1);
    return MGB_OK;
}

static enum mgb_status attention_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct mgb_attention_work work = mgb_attention_begin(kernel, launch);
    work.y = launch->outputs[0];
    return mgb_products_run(kernel, kernel->use.rows * work.heads * block_count(&work), items_run,
                            &work);
}

const struct mgb_host_op mgb_host_attention = {.make = attention_make, .run = attention_run};
