/* The kinds of operators and their attributes: the words in which graph, planner and backends speak of a node. */
#ifndef MGB_GRAPH_KINDS_H
#define MGB_GRAPH_KINDS_H

#include <mgb/model.h>

/* Every operator: enum value, name in text form. Gradient operators are like any other. */
#define MGB_OPS(X)                                                                                 \
    X(INPUT, "input")                                                                              \
    X(READ, "read")                       /* of a variable */                                      \
    X(DENSE, "dense")                     /* x, w, [b] -> y */                                     \
    X(DENSE_GRAD_X, "dense_grad_x")       /* dy, w -> dx */                                        \
    X(DENSE_GRAD_W, "dense_grad_w")       /* x, dy -> dw, [db] */                                  \
    X(CONV2D, "conv2d")                   /* x, w, [b] -> y */                                     \
    X(CONV2D_GRAD_X, "conv2d_grad_x")     /* dy, w -> dx */                                        \
    X(CONV2D_GRAD_W, "conv2d_grad_w")     /* x, dy -> dw, [db] */                                  \
    X(MAX_POOL2D, "max_pool2d")           /* x -> y, index (u8, size from the facts) */            \
    X(MAX_POOL2D_GRAD, "max_pool2d_grad") /* dy, index -> dx */                                    \
    X(AVG_POOL2D, "avg_pool2d")           /* x -> y */                                             \
    X(AVG_POOL2D_GRAD, "avg_pool2d_grad") /* dy -> dx */                                           \
    X(ACTIVATION, "activation")           /* x -> y */                                             \
    X(ACTIVATION_GRAD, "activation_grad") /* y, dy -> dx */                                        \
    X(RESHAPE, "reshape")                 /* x -> y; flatten and their gradients too */            \
    X(DROPOUT, "dropout")                 /* x -> y; its own gradient: dy -> dx, same key */       \
    X(ADD, "add")                         /* a, b -> y; also sums gradients at a fan-out */        \
    X(ADD_VALUE, "add_value")             /* x, v -> y: a variable to every example */             \
    X(ADD_VALUE_GRAD, "add_value_grad")   /* dy -> dv: the sum over the rows */                    \
    X(CONCAT, "concat")                   /* x... -> y */                                          \
    X(SLICE, "slice")                     /* x -> y; gradient of concat and pad */                 \
    /* sequences */                                                                                \
    X(EMBEDDING, "embedding")               /* ids, table -> y */                                  \
    X(EMBEDDING_GRAD, "embedding_grad")     /* ids, dy -> dtable */                                \
    X(EMBEDDING_ROWS, "embedding_rows")     /* ids, dy -> packed: dtable as the rows it touches */ \
    X(EMBEDDING_UNPACK, "embedding_unpack") /* packed -> dtable, bit for bit as embedding_grad */  \
    X(MASK, "mask")                         /* x -> y: 1 where a position counts, else 0 */        \
    X(LSTM, "lstm")                         /* x, w, u, [b, mask, h, c] -> y, [kept...] */         \
    X(LSTM_GRAD, "lstm_grad") /* dy, x, w, u, [..], kept -> dx, dw, du, db, dh, dc */              \
    X(GRU, "gru")             /* x, w, u, [b, mask, h] -> y, [kept...] */                          \
    X(GRU_GRAD, "gru_grad")   /* dy, x, w, u, [..], kept -> dx, dw, du, db, dh */                  \
    /* losses and metrics */                                                                       \
    X(SOFTMAX_XENT, "softmax_cross_entropy")           /* logits, label -> sum of losses */        \
    X(SOFTMAX_XENT_GRAD, "softmax_cross_entropy_grad") /* logits, label -> dlogits */              \
    X(MSE, "mean_squared_error")           /* p, t -> sum over rows of the mean over elements */   \
    X(MSE_GRAD, "mean_squared_error_grad") /* p, t -> dp */                                        \
    X(ACCURACY, "accuracy")                /* logits, label -> number right (positions: mean) */   \
    /* attention, products of matrices */                                                          \
    X(ATTENTION, "attention")           /* q, k, v, [mask] -> y */                                 \
    X(ATTENTION_GRAD, "attention_grad") /* q, k, v, dy, [mask] -> dq, dk, dv */                    \
    X(MATMUL, "matmul")                 /* a, b -> y; its gradients too */                         \
    X(TRANSPOSE, "transpose")           /* x -> y; its gradient too */                             \
    X(SOFTMAX, "softmax")               /* x -> y, over the last axis */                           \
    X(SOFTMAX_GRAD, "softmax_grad")     /* y, dy -> dx */                                          \
    X(GELU, "gelu")                     /* x -> y */                                               \
    X(GELU_GRAD, "gelu_grad")           /* x, dy -> dx */                                          \
    /* Arithmetic, reductions and what goes with them. */                                          \
    X(ADD_WIDE, "add_wide")        /* a, b -> y: one of them repeated, as in numpy */              \
    X(SUB, "sub")                  /* a, b -> y: one perhaps repeated */                           \
    X(MUL, "mul")                  /* a, b -> y: one perhaps repeated */                           \
    X(DIV, "div")                  /* a, b -> y: one perhaps repeated */                           \
    X(SUM_TO, "sum_to")            /* dy -> da: the sum over the repetitions */                    \
    X(EXPAND, "expand")            /* v -> y: a variable for every example */                      \
    X(AFFINE, "affine")            /* x -> factor x + shift */                                     \
    X(ABS, "abs")                  /* x -> y */                                                    \
    X(ABS_GRAD, "abs_grad")        /* x, dy -> dx */                                               \
    X(PAD, "pad")                  /* x -> y: zeros around an axis; gradient of slice */           \
    X(SUM, "sum")                  /* x -> y, over an axis */                                      \
    X(MEAN, "mean")                /* x -> y, over an axis */                                      \
    X(MAX, "max")                  /* x -> y, index (i32), over an axis */                         \
    X(SPREAD, "spread")            /* dy -> dx: gradient of sum and mean */                        \
    X(MAX_GRAD, "max_grad")        /* dy, index -> dx */                                           \
    X(BCE, "binary_cross_entropy") /* logits, t -> sum over rows of the mean over elements */      \
    X(BCE_GRAD, "binary_cross_entropy_grad") /* logits, t -> dlogits */                            \
    X(SQUARES, "squares")           /* variables -> y: strength * sum of squares, for every row */ \
    X(SQUARES_GRAD, "squares_grad") /* v, dy -> dv */                                              \
    X(TOTAL, "total")               /* x -> sum over rows of the mean over elements */             \
    X(TOTAL_GRAD, "total_grad")     /* x -> dx */                                                  \
    /* Normalisation. */                                                                           \
    X(BATCH_STATS, "batch_stats")             /* x, moving mean, variance -> mean, variance */     \
    X(BATCH_NORM, "batch_norm")               /* x, mean, variance, [gamma], [beta] -> y */        \
    X(BATCH_NORM_SUMS, "batch_norm_sums")     /* dy, then as batch_norm -> dgamma, dbeta, twice */ \
    X(BATCH_NORM_GRAD, "batch_norm_grad")     /* dy, x, mean, variance, sums, ... -> dx */         \
    X(BATCH_MOVING, "batch_moving")           /* mean, variance, ... -> their shares */            \
    X(LAYER_NORM, "layer_norm")               /* x, [gamma], [beta] -> y, mean, rstd */            \
    X(LAYER_NORM_GRAD_X, "layer_norm_grad_x") /* dy, x, mean, rstd, [gamma] -> dx */               \
    X(LAYER_NORM_GRAD_W, "layer_norm_grad_w") /* dy, x, mean, rstd -> dgamma, dbeta */

enum mgb_op_kind {
#define X(op, name) MGB_OP_##op,
    MGB_OPS(X)
#undef X
        MGB_OP_COUNT
};

union mgb_attributes {
    struct mgb_conv2d_attributes { /* also its gradients */
        struct mgb_window window;
        int pad_before[2], pad_after[2]; /* resolved from the padding rule */
        enum mgb_activation activation;  /* forward only: applied to y; LINEAR on gradients */
        struct mgb_shape x, y;           /* per-example shapes, needed by the gradients */
    } conv2d;
    struct mgb_pool2d_attributes { /* also gradients */
        struct mgb_window window;
        int pad_before[2], pad_after[2];
        bool count_padding; /* average: divide by all cells of the window, those outside too */
        struct mgb_shape x, y;
    } pool2d;
    struct {
        enum mgb_activation activation; /* dense: forward only */
        int transposed; /* dense and its gradients: the weight is units x inputs, a tied table */
    } dense, activation;
    struct mgb_attention_attributes { /* also its gradient */
        int heads, causal;
        float scale, dropout;
        int key; /* as dropout's */
    } attention;
    struct {
        int transpose_a, transpose_b;
    } matmul;
    struct {
        int axes[MGB_MAX_RANK]; /* axis i of y is axis axes[i] of x, in per-example shapes */
    } transpose;
    struct {
        int log; /* log_softmax */
    } softmax;
    struct {
        int approximate; /* the tanh form */
    } gelu;
    struct {
        float rate; /* dropped share, 0 <= rate < 1; kept values are scaled by 1 / (1 - rate) */
        int key;    /* number of the dropout layer, part of the mask's counter */
    } dropout;
    struct mgb_recurrent_attributes { /* lstm and gru, also their gradients */
        int64_t steps, in, units;     /* positions, numbers a position, width of the state */
        bool sequences;               /* y is the state after every position, else after the last */
        bool cell;                    /* lstm: y has one row more, the last cell state */
        bool reverse;                 /* from the last position to the first */
        bool bias, mask, state;       /* which operands are there */
        bool reset_after;             /* gru */
    } recurrent;
    /* embedding_rows. `packed` has 1 + units numbers a position and is one block over all rows of the batch: first a word a
     * position, the numbers (i32) of the rows of the table that are used, ascending, each once, then -1; behind them as many
     * rows of `units` f32, in the same order: each 0 + its first use + its second ... Rows whose number is -1 may hold
     * anything and are not read. */
    struct {
        int64_t vocabulary; /* rows of the table */
    } packed;
    struct {
        float value; /* what padding is */
    } mask;
    struct {
        int axis; /* in the per-example shape */
        int64_t begin, count;
    } slice; /* concat uses axis only */
    struct {
        float factor, shift;
    } affine;
    struct {
        int axis; /* in the per-example shape */
        int64_t before, after;
    } pad;
    struct {
        int axis;     /* in the per-example shape */
        float factor; /* of a gradient: what it is multiplied by */
    } reduce;
    struct {
        float strength;
    } squares;
    struct {
        float weight; /* of this loss in the total; a gradient is scaled by weight / global rows */
    } loss;
    struct { /* batch_norm, layer_norm and their gradients */
        float epsilon;
        enum mgb_activation activation; /* batch_norm: linear or relu, applied to y */
        int scale, center;              /* there is a gamma, a beta */
    } norm;
    int variable; /* READ: the variable of tower 0 */
    int input;    /* INPUT: its number */
};

#endif
