/* What attention and its gradient share: operands in heads, blocks of queries, and the rows of probabilities of a block. */
#ifndef MGB_HOST_OPS_ATTENTION_H
#define MGB_HOST_OPS_ATTENTION_H

#include "engine/host/ops/products.h"

#define MGB_ATTENTION_BLOCK 64 /* queries: their scores stay in a core's cache */

struct mgb_attention_work {
    const float *q, *k, *v, *dy;
    float *y, *dq, *dk, *dv; /* gradient: those not wanted NULL, y not there */
    const void *mask;        /* NULL: all keys are seen */
    enum mgb_type mask_type;
    int64_t queries, keys, size, value_size; /* sizes of all heads together */
    int heads;
    bool causal, drops;
    float scale;
    struct mgb_host_mask drop;
    float *scratch; /* one part a member of the team */
    int64_t part;   /* elements of a part */
};

/* Plain operands and scratch for every member of the team, with `squares` blocks of queries x keys each. */
void mgb_attention_plan(struct mgb_kernel *kernel, int squares);
struct mgb_attention_work mgb_attention_begin(struct mgb_kernel *kernel,
                                              const struct mgb_launch *launch);

/* One head of one row. */
struct mgb_attention_head {
    const struct mgb_attention_work *work;
    int64_t row, head;
    float *keep;      /* by key: 1 seen, 0 not; NULL: all are */
    float *square[3]; /* blocks in the scratch, `keys` elements a line */
    float *inverse;   /* by query of a block: 1 / sum of its exponentials, 0: it sees no key */
};
struct mgb_attention_head mgb_attention_head_make(const struct mgb_attention_work *work, int thread,
                                                  int64_t row, int64_t head);
/* Of an operand [rows, positions, size]: this head's matrix from position `first` on. */
struct mgb_matrix mgb_attention_matrix(const struct mgb_attention_head *h, const float *operand,
                                       int64_t positions, int64_t size, int64_t first);

/* A block of queries and the keys that any of them may see. */
struct mgb_attention_block {
    int64_t first, count, keys;
};
struct mgb_attention_block mgb_attention_block_make(const struct mgb_attention_work *work,
                                                    int64_t number);
/* square[0] = exp(scores - largest), 0 for keys not seen; `inverse` is what makes them probabilities. */
enum mgb_status mgb_attention_exps(const struct mgb_attention_head *h,
                                   struct mgb_attention_block block);
/* `to` = `from` with the dropped probabilities 0 and the others scaled; they may be the same. */
void mgb_attention_drop(const struct mgb_attention_head *h, struct mgb_attention_block block,
                        float *to, const float *from);

#endif
