/* The gradient of attention, a head of a row at a time. The probabilities P of a block of queries are made once more; then, with D = P where
 * dropout keeps, scaled:
 *     dv += D' dy    dP = dy v'    dS = D dP - P sum(D dP)    dq = scale dS k    dk += scale dS' q
 * Blocks are added in order, so the bits do not depend on the team. */
#include "engine/host/ops/attention.h"

#include "engine/host/ops/exps.h"
#include <string.h>

/* dS of one row over its dP. */
MGB_SIMD static void row_scores(float *dp, const float *p, const float *kept, int64_t keys)
{
    float sum = mgb_row_dot(kept, dp, keys);
    MGB_EACH
    for (int64_t j = 0; j < keys; j++)
        dp[j] = kept[j] * dp[j] - p[j] * sum;
}

MGB_SIMD static void row_scale(float *p, float factor, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        p[i] = p[i] * factor;
}

static float *head_of(const struct mgb_attention_head *h, float *operand, int64_t positions,
                      int64_t size, int64_t first)
{
    return operand + (h->row * positions + first) * size + h->head * (size / h->work->heads);
}

/* P in square[0], D where `kept` points, dS in square[1]. */
static enum mgb_status scores_make(const struct mgb_attention_head *h,
                                   struct mgb_attention_block block, float *kept)
{
    const struct mgb_attention_work *work = h->work;
    struct mgb_matrix dy =
        mgb_attention_matrix(h, work->dy, work->queries, work->value_size, block.first);
    struct mgb_matrix v = mgb_attention_matrix(h, work->v, work->keys, work->value_size, 0);
    struct mgb_product product = {
        .m = block.count, .n = block.keys, .k = work->value_size / work->heads, .alpha = 1};
    MGB_TRY(mgb_attention_exps(h, block));
    for (int64_t i = 0; i < block.count; i++)
        row_scale(h->square[0] + i * work->keys, h->inverse[i], block.keys);
    if (work->drops)
        mgb_attention_drop(h, block, kept, h->square[0]);
    v.transposed = true;
    MGB_TRY(mgb_dnnl_product(h->square[1], work->keys, dy, v, product));
    for (int64_t i = 0; i < block.count; i++)
        row_scores(h->square[1] + i * work->keys, h->square[0] + i * work->keys,
                   kept + i * work->keys, block.keys);
    return MGB_OK;
}

static enum mgb_status block_run(const struct mgb_attention_head *h,
                                 struct mgb_attention_block block)
{
    const struct mgb_attention_work *work = h->work;
    int64_t size = work->size / work->heads, value_size = work->value_size / work->heads;
    float *kept = work->drops ? h->square[2] : h->square[0];
    MGB_TRY(scores_make(h, block, kept));
    struct mgb_matrix ds = {.at = h->square[1], .row = work->keys};
    struct mgb_product up = {.m = block.keys, .n = size, .k = block.count, .beta = 1};
    up.alpha = work->scale;
    if (work->dq)
        MGB_TRY(mgb_dnnl_product(
            head_of(h, work->dq, work->queries, work->size, block.first), work->size, ds,
            mgb_attention_matrix(h, work->k, work->keys, work->size, 0),
            (struct mgb_product){
                .m = block.count, .n = size, .k = block.keys, .alpha = work->scale}));
    ds.transposed = true;
    if (work->dk)
        MGB_TRY(mgb_dnnl_product(
            head_of(h, work->dk, work->keys, work->size, 0), work->size, ds,
            mgb_attention_matrix(h, work->q, work->queries, work->size, block.first), up));
    if (!work->dv)
        return MGB_OK;
    struct mgb_matrix d = {.at = kept, .row = work->keys, .transposed = true};
    up.n = value_size;
    up.alpha = 1;
    return mgb_dnnl_product(
        head_of(h, work->dv, work->keys, work->value_size, 0), work->value_size, d,
        mgb_attention_matrix(h, work->dy, work->queries, work->value_size, block.first), up);
}

static void head_clear(const struct mgb_attention_head *h, float *operand, int64_t size)
{
    if (!operand)
        return;
    for (int64_t j = 0; j < h->work->keys; j++)
        memset(head_of(h, operand, h->work->keys, size, j), 0,
               sizeof(float) * (size_t)(size / h->work->heads));
}

static enum mgb_status heads_run(void *context, int thread, int64_t begin, int64_t end)
{
    const struct mgb_attention_work *work = context;
    for (int64_t item = begin; item < end; item++) {
        struct mgb_attention_head h =
            mgb_attention_head_make(work, thread, item / work->heads, item % work->heads);
        head_clear(&h, work->dk, work->size);
        head_clear(&h, work->dv, work->value_size);
        for (int64_t number = 0; number * MGB_ATTENTION_BLOCK < work->queries; number++)
            MGB_TRY(block_run(&h, mgb_attention_block_make(work, number)));
    }
    return MGB_OK;
}

static enum mgb_status attention_grad_make(struct mgb_kernel *kernel)
{
    mgb_attention_plan(kernel, kernel->use.training ? 3 : 2); /* training: something is dropped */
    return MGB_OK;
}

static enum mgb_status attention_grad_run(struct mgb_kernel *kernel,
                                          const struct mgb_launch *launch)
{
    struct mgb_attention_work work = mgb_attention_begin(kernel, launch);
    work.dy = mgb_flat_input(kernel, launch, 3);
    work.dq = launch->outputs[0];
    work.dk = kernel->use.out[1].wanted ? launch->outputs[1] : NULL;
    work.dv = kernel->use.out[2].wanted ? launch->outputs[2] : NULL;
    return mgb_products_run(kernel, kernel->use.rows * work.heads, heads_run, &work);
}

const struct mgb_host_op mgb_host_attention_grad = {.make = attention_grad_make,
                                                    .run = attention_grad_run};
