/* softmax(q k' scale) v in heads, and its gradient, in chunks whose scores fit a workspace of bounded size: several examples,
 * or heads of one, or queries of one head. The gradient makes the probabilities P once more; with D what dropout leaves of them:
 *     dv += D' dy    dP = dy v'    dS = D dP - P sum(D dP)    dq = scale dS k    dk += scale dS' q */
#include "engine/cuda/ops/attention.h"

#include "engine/backend/dropout.h"
#include "engine/cuda/ops/rows.h"
#include "engine/cuda/product.h"
#include "engine/cuda/replay.h"

#define CAUSAL_BLOCKS 4  /* which make 5/8 of the scores; ever more would come near half */
#define CAUSAL_LEAST 256 /* queries, below which a product is too small to be cut */

struct chunk { /* rows, heads and queries from `first_...` on */
    int64_t rows, heads, queries, first_row, first_head, first_query;
    int64_t seen; /* keys that any of the queries sees */
};

struct attention {
    const struct mgb_cuda_use *use;
    const struct mgb_launch *launch;
    const struct mgb_gpu_values *later; /* for dropout */
    int64_t queries, keys, size, value_size, heads, part, value_part;
    bool back, drops;
    const float *q, *k, *v, *dy;
    float *y, *dq, *dk, *dv; /* gradients not wanted NULL */
    const char *mask;
};

int64_t mgb_cuda_attention_block(int64_t queries, bool causal)
{
    int64_t block = (queries + CAUSAL_BLOCKS - 1) / CAUSAL_BLOCKS;
    if (block < CAUSAL_LEAST)
        block = CAUSAL_LEAST;
    return causal && block < queries ? block : queries;
}

/* The largest chunk whose scores (twice that for the gradient) fit `limit` bytes; at least those of one query. */
static struct chunk chunk_make(const struct mgb_cuda_use *use, int64_t limit)
{
    int64_t queries = mgb_cuda_attention_block(use->in[0].shape.dim[0], use->a.attention.causal);
    int64_t keys = use->in[1].shape.dim[0];
    int64_t heads = use->a.attention.heads, squares = use->kind == MGB_OP_ATTENTION ? 1 : 2;
    int64_t lines = limit / (squares * keys * (int64_t)sizeof(float));
    struct chunk chunk = {.rows = 1, .heads = 1, .queries = lines < 1 ? 1 : lines};
    if (lines < queries)
        return chunk;
    chunk.queries = queries;
    chunk.heads = lines / queries < heads ? lines / queries : heads;
    if (lines >= heads * queries)
        chunk.rows = lines / (heads * queries) < use->rows ? lines / (heads * queries) : use->rows;
    return chunk;
}

static enum mgb_status attention_facts(struct mgb_operator_facts *facts,
                                       const struct mgb_cuda_use *use)
{
    struct chunk chunk = chunk_make(use, MGB_CUDA_ATTENTION_BYTES);
    int64_t squares = use->kind == MGB_OP_ATTENTION ? 1 : 2;
    facts->workspace_bytes = squares * chunk.rows * chunk.heads * chunk.queries *
                             use->in[1].shape.dim[0] * (int64_t)sizeof(float);
    return MGB_OK;
}

static struct attention attention_make(const struct mgb_cuda_use *use,
                                       const struct mgb_launch *launch)
{
    bool back = use->kind == MGB_OP_ATTENTION_GRAD;
    int mask = back ? 4 : 3;
    struct attention t = {.use = use,
                          .launch = launch,
                          .queries = use->in[0].shape.dim[0],
                          .keys = use->in[1].shape.dim[0],
                          .size = use->in[0].shape.dim[1],
                          .value_size = use->in[2].shape.dim[1],
                          .heads = use->a.attention.heads,
                          .back = back,
                          .drops = use->training && use->a.attention.dropout > 0,
                          .q = launch->inputs[0],
                          .k = launch->inputs[1],
                          .v = launch->inputs[2],
                          .dy = back ? launch->inputs[3] : NULL,
                          .y = back ? NULL : launch->outputs[0],
                          .dq = back ? launch->outputs[0] : NULL,
                          .dk = back && use->out[1].wanted ? launch->outputs[1] : NULL,
                          .dv = back && use->out[2].wanted ? launch->outputs[2] : NULL,
                          .mask = use->input_count > mask ? launch->inputs[mask] : NULL};
    t.part = t.size / t.heads;
    t.value_part = t.value_size / t.heads;
    return t;
}

/* A matrix of every row and head of a chunk. */
struct pile {
    const float *data;
    int64_t ld, row,
        head; /* elements from one row of a matrix, one row of the batch, one head to the next */
    bool transposed;
};

/* Of an operand [rows, positions, size], from position `first` on. */
static struct pile operand_pile(const struct attention *t, const struct chunk *chunk,
                                const float *data, int64_t positions, int64_t size, int64_t first)
{
    int64_t part = size / t->heads;
    return (struct pile){.data = data + (chunk->first_row * positions + first) * size +
                                 chunk->first_head * part,
                         .ld = size,
                         .row = positions * size,
                         .head = part};
}

static struct pile turned(struct pile pile)
{
    pile.transposed = true;
    return pile;
}

/* Scores of a chunk, or what has their place. */
static struct pile square_pile(const struct attention *t, const struct chunk *chunk, int number)
{
    int64_t head = chunk->queries * t->keys, row = chunk->heads * head;
    return (struct pile){.data = (const float *)t->launch->workspace + number * chunk->rows * row,
                         .ld = t->keys,
                         .row = row,
                         .head = head};
}

static struct mgb_cuda_matrix pile_matrix(const struct pile *pile, int64_t outer, bool by_row)
{
    return (struct mgb_cuda_matrix){.data = pile->data + outer * (by_row ? pile->head : pile->row),
                                    .ld = pile->ld,
                                    .stride = by_row ? pile->row : pile->head,
                                    .transposed = pile->transposed};
}

/* c = alpha a b + beta c for every row and head: a batch over the more numerous of both, once for each of the other. */
static enum mgb_status piles_multiply(struct mgb_queue *queue, const struct chunk *chunk,
                                      struct pile a, struct pile b, struct pile c,
                                      struct mgb_cuda_product product)
{
    bool by_row = chunk->rows > chunk->heads;
    int64_t outer = by_row ? chunk->heads : chunk->rows;
    product.batch = by_row ? chunk->rows : chunk->heads;
    for (int64_t i = 0; i < outer; i++) {
        struct mgb_cuda_matrix to = pile_matrix(&c, i, by_row);
        product.a = pile_matrix(&a, i, by_row);
        product.b = pile_matrix(&b, i, by_row);
        product.c = (float *)to.data;
        product.ldc = to.ld;
        product.stride_c = to.stride;
        MGB_TRY(mgb_cuda_multiply(queue, &product));
    }
    return MGB_OK;
}

static struct mgb_gpu_attention_args lines_args(const struct attention *t,
                                                const struct chunk *chunk)
{
    const struct mgb_attention_attributes *a = &t->use->a.attention;
    int mask = t->back ? 4 : 3;
    int64_t row = t->launch->first_row + chunk->first_row;
    struct mgb_gpu_attention_args args = {
        .p = (float *)square_pile(t, chunk, 0).data,
        .mask = t->mask ? t->mask + chunk->first_row * t->keys * 4 : NULL,
        .mask_whole = t->mask && t->use->in[mask].type == MGB_I32,
        .lines = chunk->rows * chunk->heads * chunk->queries,
        .keys = t->keys,
        .seen = chunk->seen,
        .queries = chunk->queries,
        .heads = chunk->heads,
        .first_query = chunk->first_query,
        .first_line = (row * t->heads + chunk->first_head) * t->queries + chunk->first_query,
        .lines_row = t->heads * t->queries,
        .all_queries = t->queries,
        .causal = a->causal};
    if (t->drops) {
        args.seed = t->launch->values->seed;
        args.step = t->launch->values->step;
        args.later = t->later;
        args.key = a->key;
        args.threshold = mgb_dropout_threshold(a->dropout);
        args.kept = 1.0f / (1.0f - a->dropout);
    }
    return args;
}

/* P in the first square; D there too, or in the second where P is still wanted. */
static enum mgb_status probabilities_make(struct mgb_queue *queue, const struct attention *t,
                                          const struct chunk *chunk)
{
    struct mgb_gpu_attention_args args = lines_args(t, chunk);
    struct pile q = operand_pile(t, chunk, t->q, t->queries, t->size, chunk->first_query);
    struct pile k = operand_pile(t, chunk, t->k, t->keys, t->size, 0);
    MGB_TRY(piles_multiply(queue, chunk, q, turned(k), square_pile(t, chunk, 0),
                           (struct mgb_cuda_product){.m = chunk->queries,
                                                     .n = chunk->seen,
                                                     .k = t->part,
                                                     .alpha = t->use->a.attention.scale}));
    if (t->drops && (!t->back || t->dv))
        args.d = (float *)square_pile(t, chunk, t->back ? 1 : 0).data;
    return mgb_cuda_rows_start(queue, (const void *)mgb_gpu_attention_softmax, args.lines,
                               args.keys, &args);
}

static enum mgb_status chunk_forward(struct mgb_queue *queue, const struct attention *t,
                                     const struct chunk *chunk)
{
    MGB_TRY(probabilities_make(queue, t, chunk));
    return piles_multiply(
        queue, chunk, square_pile(t, chunk, 0),
        operand_pile(t, chunk, t->v, t->keys, t->value_size, 0),
        operand_pile(t, chunk, t->y, t->queries, t->value_size, chunk->first_query),
        (struct mgb_cuda_product){.m = chunk->queries, .n = t->value_part, .k = chunk->seen});
}

/* dS in the second square. */
static enum mgb_status scores_grad(struct mgb_queue *queue, const struct attention *t,
                                   const struct chunk *chunk, struct pile dy)
{
    struct mgb_gpu_attention_args args = lines_args(t, chunk);
    struct pile v = operand_pile(t, chunk, t->v, t->keys, t->value_size, 0);
    MGB_TRY(piles_multiply(
        queue, chunk, dy, turned(v), square_pile(t, chunk, 1),
        (struct mgb_cuda_product){.m = chunk->queries, .n = chunk->seen, .k = t->value_part}));
    args.scores = (float *)square_pile(t, chunk, 1).data;
    return mgb_cuda_rows_start(queue, (const void *)mgb_gpu_attention_scores, args.lines, args.keys,
                               &args);
}

static enum mgb_status chunk_backward(struct mgb_queue *queue, const struct attention *t,
                                      const struct chunk *chunk)
{
    int64_t at = chunk->first_query;
    bool first = at + chunk->queries == t->queries; /* the last queries come first */
    struct pile dy = operand_pile(t, chunk, t->dy, t->queries, t->value_size, at);
    struct pile d = square_pile(t, chunk, t->drops ? 1 : 0), ds = square_pile(t, chunk, 1);
    struct mgb_cuda_product up = {
        .m = chunk->seen, .n = t->value_part, .k = chunk->queries, .beta = first ? 0 : 1};
    MGB_TRY(probabilities_make(queue, t, chunk));
    if (t->dv)
        MGB_TRY(piles_multiply(queue, chunk, turned(d), dy,
                               operand_pile(t, chunk, t->dv, t->keys, t->value_size, 0), up));
    MGB_TRY(scores_grad(queue, t, chunk, dy));
    MGB_TRY(piles_multiply(queue, chunk, ds, operand_pile(t, chunk, t->k, t->keys, t->size, 0),
                           operand_pile(t, chunk, t->dq, t->queries, t->size, at),
                           (struct mgb_cuda_product){.m = chunk->queries,
                                                     .n = t->part,
                                                     .k = chunk->seen,
                                                     .alpha = t->use->a.attention.scale}));
    up.n = t->part;
    up.alpha = t->use->a.attention.scale;
    if (!t->dk)
        return MGB_OK;
    return piles_multiply(queue, chunk, turned(ds),
                          operand_pile(t, chunk, t->q, t->queries, t->size, at),
                          operand_pile(t, chunk, t->dk, t->keys, t->size, 0), up);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Chunks of queries of some rows and heads, from the last, which see all keys also where attention is causal, to the first. */
static enum mgb_status queries_run(struct mgb_queue *queue, const struct attention *t,
                                   struct chunk chunk)
{
    int64_t block = chunk.queries;
    for (int64_t at = (t->queries - 1) / block * block; at >= 0; at -= block) {
        chunk.first_query = at;
        chunk.queries = least(block, t->queries - at);
        chunk.seen = t->use->a.attention.causal ? at + chunk.queries : t->keys;
        MGB_TRY(t->back ? chunk_backward(queue, t, &chunk) : chunk_forward(queue, t, &chunk));
    }
    return MGB_OK;
}

enum mgb_status mgb_cuda_attention_run(struct mgb_queue *queue, const struct mgb_cuda_use *use,
                                       const struct mgb_launch *launch, int64_t limit)
{
    struct attention t = attention_make(use, launch);
    struct chunk most = chunk_make(use, limit), chunk = most;
    if (t.drops)
        MGB_TRY(mgb_cuda_values_later(&t.later, queue, launch->values, NULL));
    for (chunk.first_row = 0; chunk.first_row < use->rows; chunk.first_row += most.rows)
        for (chunk.first_head = 0; chunk.first_head < t.heads; chunk.first_head += most.heads) {
            chunk.rows = least(most.rows, use->rows - chunk.first_row);
            chunk.heads = least(most.heads, t.heads - chunk.first_head);
            MGB_TRY(queries_run(queue, &t, chunk));
        }
    return MGB_OK;
}

/* Two operands of a size of queries or keys, or scores and one of those. */
static int64_t attention_narrow(const struct mgb_cuda_use *use)
{
    struct chunk chunk = chunk_make(use, MGB_CUDA_ATTENTION_BYTES);
    int64_t batch = chunk.rows > chunk.heads ? chunk.rows : chunk.heads;
    int64_t keys = use->in[1].shape.dim[0], heads = use->a.attention.heads;
    int64_t part = use->in[0].shape.dim[1] / heads, value = use->in[2].shape.dim[1] / heads;
    int64_t most = part > value ? part : value;
    int64_t inner = mgb_cuda_narrow_bytes(batch, chunk.queries, most) +
                    mgb_cuda_narrow_bytes(batch, keys, most);
    int64_t longer = chunk.queries > keys ? chunk.queries : keys;
    int64_t outer = mgb_cuda_narrow_bytes(batch, chunk.queries, keys) +
                    mgb_cuda_narrow_bytes(batch, longer, most);
    return inner > outer ? inner : outer;
}

static enum mgb_status attention_start(struct mgb_queue *queue, const struct mgb_kernel *kernel,
                                       const struct mgb_launch *launch)
{
    return mgb_cuda_attention_run(queue, &kernel->use, launch, MGB_CUDA_ATTENTION_BYTES);
}

const struct mgb_cuda_op mgb_cuda_attention = {
    .facts = attention_facts, .start = attention_start, .narrow = attention_narrow};
