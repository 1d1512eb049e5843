/* Layers for tests, made the way the script bindings make them: variables in a scope of the layer's
 * name, then the operator beside that scope. Every function fails the running test when the engine
 * refuses. */
#ifndef MGB_TESTS_MODEL_H
#define MGB_TESTS_MODEL_H

#include <mgb/model.h>

#define SHAPE(rank, ...) (&(struct mgb_shape){(rank), {__VA_ARGS__}})
#define SCALAR (&(struct mgb_shape){0})

struct mgb_graph *model_make(const char *name);
int model_input(struct mgb_graph *graph, const char *name, const struct mgb_shape *shape);
int model_label(struct mgb_graph *graph, const char *name);
/* A variable and its read. */
int model_weight(struct mgb_graph *graph, const char *name, const struct mgb_shape *shape);

struct model_layer {
    int kernel, bias; /* variables; bias -1: none */
};
struct model_layer model_dense_layer(struct mgb_graph *graph, const char *name, int in, int units);
int model_dense_use(struct mgb_graph *graph, const char *name, int x, struct model_layer layer,
                    enum mgb_activation activation);
int model_dense(struct mgb_graph *graph, const char *name, int x, int units,
                enum mgb_activation activation);
struct mgb_window model_window(int size, int stride, enum mgb_padding padding);
int model_conv2d(struct mgb_graph *graph, const char *name, int x, int filters,
                 const struct mgb_window *window, enum mgb_activation activation);
int model_max_pool2d(struct mgb_graph *graph, int x, int size);
/* Batch norm over the last axis with its four variables, Keras defaults; layer norm with gamma and beta. */
int model_batch_norm(struct mgb_graph *graph, const char *name, int x,
                     enum mgb_activation activation);
int model_layer_norm(struct mgb_graph *graph, const char *name, int x);
int model_flatten(struct mgb_graph *graph, int x);
int model_dropout(struct mgb_graph *graph, int x, float rate);

/* Output "logits", cross-entropy against `label`, accuracy, finish. */
void model_classify(struct mgb_graph *graph, int logits, int label);

/* The ready models: mnist_cnn of lua-api.md, and an MLP (inputs "image" of 12 and "label"; dense 8
 * relu, dense 3). */
struct mgb_graph *model_mnist_cnn(void);
struct mgb_graph *model_mlp(void);

#endif
