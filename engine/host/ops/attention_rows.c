/* The parts of attention.h: scores of a block by one product, then exponentials row by row while they are in cache. */
#include "engine/host/ops/attention.h"

#include "engine/host/ops/exps.h"
#include <string.h>

#define UNSEEN -3e38f /* the score of a key that is not seen */

static int64_t round_up(int64_t elements)
{
    return (elements + 15) / 16 * 16;
}

void mgb_attention_plan(struct mgb_kernel *kernel, int squares)
{
    int64_t keys = kernel->use.in[1].shape.dim[0];
    mgb_plain_plan(kernel);
    int64_t part =
        squares * MGB_ATTENTION_BLOCK * keys + round_up(keys) + round_up(MGB_ATTENTION_BLOCK);
    kernel->part[MGB_PART_COUNT] = part;
    kernel->part[MGB_PART_SCRATCH] =
        mgb_host_take_workspace(kernel, 4 * part * kernel->use.threads);
}

struct mgb_attention_work mgb_attention_begin(struct mgb_kernel *kernel,
                                              const struct mgb_launch *launch)
{
    const struct mgb_host_use *use = &kernel->use;
    const struct mgb_attention_attributes *a = &use->a.attention;
    struct mgb_attention_work work = {.q = mgb_flat_input(kernel, launch, 0),
                                      .k = mgb_flat_input(kernel, launch, 1),
                                      .v = mgb_flat_input(kernel, launch, 2),
                                      .queries = use->in[0].shape.dim[0],
                                      .keys = use->in[1].shape.dim[0],
                                      .size = use->in[0].shape.dim[1],
                                      .value_size = use->in[2].shape.dim[1],
                                      .heads = a->heads,
                                      .causal = a->causal,
                                      .scale = a->scale,
                                      .scratch = mgb_part(kernel, launch, MGB_PART_SCRATCH),
                                      .part = kernel->part[MGB_PART_COUNT]};
    int mask = use->kind == MGB_OP_ATTENTION ? 3 : 4;
    if (use->input_count > mask) {
        work.mask = mgb_flat_input(kernel, launch, mask);
        work.mask_type = use->in[mask].type;
    }
    work.drops = use->training; /* set only where there is a rate */
    if (work.drops)
        work.drop =
            mgb_host_mask_make(launch, a->dropout, a->key, a->heads * work.queries * work.keys);
    return work;
}

static void keep_read(float *keep, const struct mgb_attention_work *work, int64_t row)
{
    for (int64_t j = 0; j < work->keys; j++) {
        int64_t at = row * work->keys + j;
        bool seen = work->mask_type == MGB_I32 ? ((const int32_t *)work->mask)[at] != 0
                                               : ((const float *)work->mask)[at] != 0;
        keep[j] = seen ? 1.0f : 0.0f;
    }
}

struct mgb_attention_head mgb_attention_head_make(const struct mgb_attention_work *work, int thread,
                                                  int64_t row, int64_t head)
{
    float *scratch = work->scratch + work->part * thread;
    struct mgb_attention_head h = {.work = work, .row = row, .head = head, .inverse = scratch};
    scratch += round_up(MGB_ATTENTION_BLOCK);
    if (work->mask) {
        h.keep = scratch;
        keep_read(h.keep, work, row);
    }
    scratch += round_up(work->keys);
    for (int i = 0; i < 3; i++) /* those that were not planned are not used */
        h.square[i] = scratch + i * MGB_ATTENTION_BLOCK * work->keys;
    return h;
}

struct mgb_matrix mgb_attention_matrix(const struct mgb_attention_head *h, const float *operand,
                                       int64_t positions, int64_t size, int64_t first)
{
    return (struct mgb_matrix){.at = operand + (h->row * positions + first) * size +
                                     h->head * (size / h->work->heads),
                               .row = size};
}

struct mgb_attention_block mgb_attention_block_make(const struct mgb_attention_work *work,
                                                    int64_t number)
{
    struct mgb_attention_block block = {
        .first = number * MGB_ATTENTION_BLOCK, .count = MGB_ATTENTION_BLOCK, .keys = work->keys};
    if (work->queries - block.first < block.count)
        block.count = work->queries - block.first;
    if (work->causal)
        block.keys = block.first + block.count;
    return block;
}

/* One row of scores to exponentials; `seen` of the `keys` may be seen. */
MGB_SIMD static float row_exps(float *x, const float *keep, int64_t seen, int64_t keys)
{
    if (keep)
        for (int64_t j = 0; j < seen; j++)
            x[j] = keep[j] != 0 ? x[j] : UNSEEN;
    float max = mgb_row_max(x, seen), sum = 0;
    if (max > UNSEEN)
        sum = mgb_row_exp(x, x, seen, max);
    else
        memset(x, 0, sizeof(float) * (size_t)seen);
    if (keep) /* exp leaves a trace of what is not seen */
        for (int64_t j = 0; j < seen; j++)
            x[j] = x[j] * keep[j];
    memset(x + seen, 0, sizeof(float) * (size_t)(keys - seen));
    return max > UNSEEN ? 1.0f / sum : max != max ? max : 0.0f;
}

enum mgb_status mgb_attention_exps(const struct mgb_attention_head *h,
                                   struct mgb_attention_block block)
{
    const struct mgb_attention_work *work = h->work;
    struct mgb_matrix q = mgb_attention_matrix(h, work->q, work->queries, work->size, block.first);
    struct mgb_matrix k = mgb_attention_matrix(h, work->k, work->keys, work->size, 0);
    struct mgb_product product = {
        .m = block.count, .n = block.keys, .k = work->size / work->heads, .alpha = work->scale};
    k.transposed = true;
    MGB_TRY(mgb_dnnl_product(h->square[0], work->keys, q, k, product));
    for (int64_t i = 0; i < block.count; i++) {
        int64_t seen = work->causal ? block.first + i + 1 : block.keys;
        h->inverse[i] = row_exps(h->square[0] + i * work->keys, h->keep, seen, block.keys);
    }
    return MGB_OK;
}

void mgb_attention_drop(const struct mgb_attention_head *h, struct mgb_attention_block block,
                        float *to, const float *from)
{
    const struct mgb_attention_work *work = h->work;
    int64_t line = (h->row * work->heads + h->head) * work->queries + block.first;
    for (int64_t i = 0; i < block.count; i++) {
        int64_t seen = work->causal ? block.first + i + 1 : block.keys, at = i * work->keys;
        mgb_host_mask_apply(&work->drop, to + at, from + at, (uint64_t)((line + i) * work->keys),
                            seen);
        memset(to + at + seen, 0, sizeof(float) * (size_t)(block.keys - seen));
    }
}
