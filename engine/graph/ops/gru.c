/* Gated recurrent units (Cho et al. 2014); gates in the order of Keras: z, r, h (PyTorch: r, z, n). h = z h' + (1 - z) hh, with
 * hh = tanh(x W + r (h' U + b)) when reset_after (cuDNN, PyTorch, Keras 2), else tanh(x W + (r h') U + b). */
#include "engine/graph/ops/recurrent.h"

enum mgb_status mgb_op_gru(struct mgb_graph *graph, int *out, const char *name, int x,
                           const struct mgb_recurrent *recurrent)
{
    struct mgb_recurrent r = *recurrent;
    r.cell = false;
    r.c0 = -1;
    return mgb_recurrent_make(graph, out, MGB_OP_GRU, name, x, &r);
}

static enum mgb_status gru_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                         int dy)
{
    return mgb_recurrent_differentiate(gradient, &node, dy, MGB_OP_GRU_GRAD, 3,
                                       node.a.recurrent.reset_after);
}

static double gru_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return mgb_recurrent_flops(graph, node, 3);
}

static double gru_grad_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return mgb_recurrent_grad_flops(graph, node, 3);
}

const struct mgb_op_rules mgb_op_rules_GRU = {
    .differentiate = gru_differentiate, .flops = gru_flops, .text = mgb_recurrent_text};
const struct mgb_op_rules mgb_op_rules_GRU_GRAD = {.flops = gru_grad_flops,
                                                   .text = mgb_recurrent_text};
