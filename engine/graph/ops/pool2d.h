/* What maximum and average pooling have in common. */
#ifndef MGB_GRAPH_OPS_POOL2D_H
#define MGB_GRAPH_OPS_POOL2D_H

#include "engine/graph/op.h"

enum mgb_status mgb_pool2d_make(struct mgb_graph *graph, int *out, enum mgb_op_kind kind,
                                const char *name, int x, const struct mgb_window *window,
                                bool count_padding);
double mgb_pool2d_flops(const struct mgb_graph *graph, const struct mgb_node *node);
void mgb_pool2d_text(struct mgb_text *text, const struct mgb_node *node);

#endif
