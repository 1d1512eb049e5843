/* Long short-term memory (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000); gates in the order of
 * Keras and PyTorch: i, f, g (the candidate), o. c = f c' + i g, h = o tanh(c). */
#include "engine/graph/ops/recurrent.h"

enum mgb_status mgb_op_lstm(struct mgb_graph *graph, int *out, const char *name, int x,
                            const struct mgb_recurrent *recurrent)
{
    struct mgb_recurrent r = *recurrent;
    r.reset_after = false;
    return mgb_recurrent_make(graph, out, MGB_OP_LSTM, name, x, &r);
}

static enum mgb_status lstm_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                          int dy)
{
    return mgb_recurrent_differentiate(gradient, &node, dy, MGB_OP_LSTM_GRAD, 4, true);
}

static double lstm_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return mgb_recurrent_flops(graph, node, 4);
}

static double lstm_grad_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return mgb_recurrent_grad_flops(graph, node, 4);
}

const struct mgb_op_rules mgb_op_rules_LSTM = {
    .differentiate = lstm_differentiate, .flops = lstm_flops, .text = mgb_recurrent_text};
const struct mgb_op_rules mgb_op_rules_LSTM_GRAD = {.flops = lstm_grad_flops,
                                                    .text = mgb_recurrent_text};
