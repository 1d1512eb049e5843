/* Small nets whose losses and gradients PyTorch stored (tests/golden/layers, made by tests/golden/make_layers_*.py). */
#ifndef MGB_TESTS_GOLDEN_NET_H
#define MGB_TESTS_GOLDEN_NET_H

#include <mgb/model.h>

struct golden_net {
    struct mgb_graph *graph;
    int variables[32], variable_count;
    float scale[32];
};

struct golden_net golden_net_make(const char *name);
/* A variable whose values are golden_formula with salt 100 + its number; returns its read. */
int golden_net_variable(struct golden_net *net, const char *name, const struct mgb_shape *shape,
                        float scale);
int golden_net_input(struct golden_net *net, const char *name, const struct mgb_shape *shape,
                     enum mgb_type type);
/* Kernel, bias (of scale 0: none) and the operator. */
int golden_net_dense(struct golden_net *net, int x, int units, float scale, float bias,
                     enum mgb_activation activation);
/* Cross-entropy against an input "label" of that shape; finishes the graph. */
void golden_net_classify(struct golden_net *net, int logits, const struct mgb_shape *label);

/* Loss and gradients of a first step of SGD and the losses after one and two, against layers/NAME.txt to 1e-4 of the largest element, on one
 * device and on as many towers as `gpus` says, by each strategy that sums gradients. Prints the largest error. Frees the net. */
void golden_net_check(struct golden_net *net, const char *name, float lr, const void *const *data,
                      int rows, int gpus);

#endif
