/* Operators, which make tensors of a graph from others. All return MGB_INVALID with a message naming the operator when shapes or
 * options do not fit; `name` is its name in the current scope. Weights and biases are tensors that read a variable
 * (mgb_graph_read); -1: none. */
#ifndef MGB_OP_H
#define MGB_OP_H

#include <mgb/model.h>

/* The names of all kinds of operators as a graph's text has them, by number from 0; NULL behind the last. */
const char *mgb_op_kind_name(int number);

enum mgb_status mgb_op_dense(struct mgb_graph *graph, int *out, const char *name, int x, int weight,
                             int bias, enum mgb_activation activation);
/* The same with a weight of units x inputs, as the table of an embedding lies. */
enum mgb_status mgb_op_dense_tied(struct mgb_graph *graph, int *out, const char *name, int x,
                                  int weight, int bias, enum mgb_activation activation);
enum mgb_status mgb_op_conv2d(struct mgb_graph *graph, int *out, const char *name, int x,
                              int weight, int bias, const struct mgb_window *window,
                              enum mgb_activation activation);
enum mgb_status mgb_op_max_pool2d(struct mgb_graph *graph, int *out, const char *name, int x,
                                  const struct mgb_window *window);
enum mgb_status mgb_op_avg_pool2d(struct mgb_graph *graph, int *out, const char *name, int x,
                                  const struct mgb_window *window);
/* The same where padding counts as zeros. */
enum mgb_status mgb_op_avg_pool2d_padded(struct mgb_graph *graph, int *out, const char *name, int x,
                                         const struct mgb_window *window);
enum mgb_status mgb_op_activation(struct mgb_graph *graph, int *out, const char *name, int x,
                                  enum mgb_activation activation);
enum mgb_status mgb_op_reshape(struct mgb_graph *graph, int *out, const char *name, int x,
                               const struct mgb_shape *shape); /* per-example; one -1 is inferred */
enum mgb_status mgb_op_flatten(struct mgb_graph *graph, int *out, const char *name, int x);
enum mgb_status mgb_op_dropout(struct mgb_graph *graph, int *out, const char *name, int x,
                               float rate);
enum mgb_status mgb_op_add(struct mgb_graph *graph, int *out, const char *name, int a, int b);
/* `axis` counts the batch as 0; -1 is the last axis. */
enum mgb_status mgb_op_concat(struct mgb_graph *graph, int *out, const char *name, const int *x,
                              int count, int axis);
/* Sequences. ids: i32 row numbers of the table [vocabulary, units], any shape; one axis more comes out. */
enum mgb_status mgb_op_embedding(struct mgb_graph *graph, int *out, const char *name, int ids,
                                 int table);
/* x: i32 [positions], or f32 [positions, width]; out: f32 [positions], 0 where all numbers are `value`, else 1. */
enum mgb_status mgb_op_mask(struct mgb_graph *graph, int *out, const char *name, int x,
                            float value);
/* Kernel [width, gates x units], recurrent kernel [units, gates x units], bias [gates x units], of gru with reset_after
 * [2, gates x units]. Start from mgb_recurrent_init. */
struct mgb_recurrent {
    int kernel, recurrent, bias;
    int mask;   /* f32 or i32 [positions]: where it is 0 the state is carried through; -1: none */
    int h0, c0; /* initial state [units]; gru has no c0; -1: zeros */
    bool
        sequences; /* out: [positions, units], the state after each position; else [units], after the last taken */
    bool cell;    /* lstm: [positions + 1, units], the last cell state in the last row */
    bool reverse; /* takes the last position first; what comes out stays at its position */
    bool
        reset_after; /* gru: the reset gate is applied after the product with the recurrent kernel */
};
/* No operand, nothing set. */
struct mgb_recurrent mgb_recurrent_init(void);
/* x: f32 [positions, width]. */
enum mgb_status mgb_op_lstm(struct mgb_graph *graph, int *out, const char *name, int x,
                            const struct mgb_recurrent *recurrent);
enum mgb_status mgb_op_gru(struct mgb_graph *graph, int *out, const char *name, int x,
                           const struct mgb_recurrent *recurrent);
/* Arithmetic. Counted from the last axis, two axes are equal or one of them is 1 or missing: that operand is repeated. One
 * operand may be the read of a variable, which is repeated for every example. (mgb_op_add, too.) */
enum mgb_status mgb_op_sub(struct mgb_graph *graph, int *out, const char *name, int a, int b);
enum mgb_status mgb_op_mul(struct mgb_graph *graph, int *out, const char *name, int a, int b);
enum mgb_status mgb_op_div(struct mgb_graph *graph, int *out, const char *name, int a, int b);
enum mgb_status mgb_op_affine(struct mgb_graph *graph, int *out, const char *name, int x,
                              float factor, float shift); /* factor * x + shift */
enum mgb_status mgb_op_abs(struct mgb_graph *graph, int *out, const char *name, int x);
/* `axis` as for concat, any negative one from the last back. `keep`: the axis stays, of size 1. Of equal maxima the first
 * gets the gradient. */
enum mgb_status mgb_op_sum(struct mgb_graph *graph, int *out, const char *name, int x, int axis,
                           bool keep);
enum mgb_status mgb_op_mean(struct mgb_graph *graph, int *out, const char *name, int x, int axis,
                            bool keep);
enum mgb_status mgb_op_max(struct mgb_graph *graph, int *out, const char *name, int x, int axis,
                           bool keep);
/* zeros[0] before and zeros[1] after the axis. */
enum mgb_status mgb_op_pad(struct mgb_graph *graph, int *out, const char *name, int x, int axis,
                           const int64_t zeros[2]);
/* `count` positions from `begin` on (negative: from the end); count -1: the rest. */
enum mgb_status mgb_op_slice(struct mgb_graph *graph, int *out, const char *name, int x, int axis,
                             int64_t begin, int64_t count);
/* Normalisation. gamma, beta and the moving statistics are tensors that read a variable of shape [channels]; gamma and
 * beta may be -1. The moving ones become states: no optimizer touches them, every step moves them. */
struct mgb_batch_norm_options {
    int gamma, beta, moving_mean, moving_variance;
    float momentum, epsilon;
    enum mgb_activation activation; /* linear or relu */
};
enum mgb_status mgb_op_batch_norm(struct mgb_graph *graph, int *out, const char *name, int x,
                                  const struct mgb_batch_norm_options *options);
enum mgb_status mgb_op_layer_norm(struct mgb_graph *graph, int *out, const char *name, int x,
                                  int gamma, int beta, float epsilon);
/* Losses and metrics: `out` is a scalar, the sum over the rows it was given; engine code divides by the rows. */
enum mgb_status mgb_op_softmax_cross_entropy(struct mgb_graph *graph, int *out, const char *name,
                                             int logits, int label);
enum mgb_status mgb_op_mean_squared_error(struct mgb_graph *graph, int *out, const char *name,
                                          int prediction, int target);
/* Of logits and targets from 0 to 1 of the same shape. */
enum mgb_status mgb_op_binary_cross_entropy(struct mgb_graph *graph, int *out, const char *name,
                                            int logits, int target);
/* strength * (sum of the squares of the variables read), once a step, however many towers there are. */
enum mgb_status mgb_op_l2(struct mgb_graph *graph, int *out, const char *name, const int *variables,
                          int count, float strength);
enum mgb_status mgb_op_accuracy(struct mgb_graph *graph, int *out, const char *name, int logits,
                                int label);

/* Scaled dot-product attention, a head at a time: softmax(q k' scale) v. query [Tq, D], key [Tk, D], value [Tk, E] -> [Tq, E];
 * mask [Tk], f32 or i32 (-1: none): keys whose number is 0 are not seen. A query that sees no key gives zeros. */
struct mgb_attention {
    int heads;     /* D and E are cut into so many equal parts */
    bool causal;   /* query i sees keys 0 to i */
    float scale;   /* 0: 1 / sqrt(D / heads) */
    float dropout; /* share of the probabilities that training drops */
};
enum mgb_status mgb_op_attention(struct mgb_graph *graph, int *out, const char *name, int query,
                                 int key, int value, int mask, const struct mgb_attention *options);
/* [.., m, k] x [.., k, n] -> [.., m, n], each operand's last two axes swapped first where asked. */
enum mgb_status mgb_op_matmul(struct mgb_graph *graph, int *out, const char *name, int a, int b,
                              bool transpose_a, bool transpose_b);
/* Axis i + 1 of the result is axis axes[i] of x, all axes counting the batch as 0. */
enum mgb_status mgb_op_transpose(struct mgb_graph *graph, int *out, const char *name, int x,
                                 const int *axes, int count);
/* Over the last axis. */
enum mgb_status mgb_op_softmax(struct mgb_graph *graph, int *out, const char *name, int x,
                               bool log);
/* x Phi(x), or its tanh form. */
enum mgb_status mgb_op_gelu(struct mgb_graph *graph, int *out, const char *name, int x,
                            bool approximate);

#endif
