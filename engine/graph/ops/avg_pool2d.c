/* The mean of each window. Padding does not count, as in Keras, or counts as zeros, as in PyTorch. */
#include "engine/graph/ops/pool2d.h"

enum mgb_status mgb_op_avg_pool2d(struct mgb_graph *graph, int *out, const char *name, int x,
                                  const struct mgb_window *window)
{
    return mgb_pool2d_make(graph, out, MGB_OP_AVG_POOL2D, name, x, window, false);
}

enum mgb_status mgb_op_avg_pool2d_padded(struct mgb_graph *graph, int *out, const char *name, int x,
                                         const struct mgb_window *window)
{
    return mgb_pool2d_make(graph, out, MGB_OP_AVG_POOL2D, name, x, window, true);
}

static enum mgb_status avg_pool2d_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                                int dy)
{
    return mgb_gradient_of_dy(gradient, &node, MGB_OP_AVG_POOL2D_GRAD, &node.a, dy);
}

const struct mgb_op_rules mgb_op_rules_AVG_POOL2D = {
    .differentiate = avg_pool2d_differentiate, .flops = mgb_pool2d_flops, .text = mgb_pool2d_text};
const struct mgb_op_rules mgb_op_rules_AVG_POOL2D_GRAD = {.flops = mgb_pool2d_flops,
                                                          .text = mgb_pool2d_text};
