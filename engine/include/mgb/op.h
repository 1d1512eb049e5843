/* Operators, which make tensors of a graph from others. All return MGB_INVALID with a message naming the operator when shapes or
 * options do not fit; `name` is its name in the current scope. Weights and biases are tensors that read a variable
 * (mgb_graph_read); -1: none. */
#ifndef MGB_OP_H
#define MGB_OP_H

#include <mgb/model.h>

enum mgb_status mgb_op_dense(struct mgb_graph *graph, int *out, const char *name, int x, int weight,
                             int bias, enum mgb_activation activation);
enum mgb_status mgb_op_conv2d(struct mgb_graph *graph, int *out, const char *name, int x,
                              int weight, int bias, const struct mgb_window *window,
                              enum mgb_activation activation);
enum mgb_status mgb_op_max_pool2d(struct mgb_graph *graph, int *out, const char *name, int x,
                                  const struct mgb_window *window);
enum mgb_status mgb_op_avg_pool2d(struct mgb_graph *graph, int *out, const char *name, int x,
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
/* Losses and metrics: `out` is a scalar, the sum over the rows it was given; engine code divides by the rows. */
enum mgb_status mgb_op_softmax_cross_entropy(struct mgb_graph *graph, int *out, const char *name,
                                             int logits, int label);
enum mgb_status mgb_op_mean_squared_error(struct mgb_graph *graph, int *out, const char *name,
                                          int prediction, int target);
enum mgb_status mgb_op_accuracy(struct mgb_graph *graph, int *out, const char *name, int logits,
                                int label);

#endif
