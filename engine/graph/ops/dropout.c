/* Dropout. The mask comes from a counter keyed by seed, step, layer and example, so the gradient is
 * the same operator with the same key. */
#include "engine/graph/op.h"

enum mgb_status mgb_op_dropout(struct mgb_graph *graph, int *out, const char *name, int x,
                               float rate)
{
    struct mgb_op_call call;
    struct mgb_shape shape;
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_DROPOUT, name));
    MGB_TRY(mgb_op_take(&call, "input", x, MGB_F32, &shape));
    if (!(rate >= 0 && rate < 1))
        return mgb_op_fail(&call,
                           "a rate of %g; it is the share that is dropped, from 0 to below 1",
                           (double)rate);
    call.a.dropout.rate = rate;
    call.a.dropout.key = graph->builder->dropout_count;
    MGB_TRY(mgb_op_end(&call, out, &shape, MGB_F32));
    graph->builder->dropout_count++;
    return MGB_OK;
}

static enum mgb_status dropout_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                             int dy)
{
    return mgb_gradient_of_dy(gradient, &node, MGB_OP_DROPOUT, &node.a, dy);
}

static double dropout_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return (double)mgb_shape_count(&graph->tensors[node->outputs[0]].shape);
}

static void dropout_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_text_add(text, " rate=%.9g key=%d", (double)node->a.dropout.rate, node->a.dropout.key);
}

const struct mgb_op_rules mgb_op_rules_DROPOUT = {.differentiate = dropout_differentiate,
                                                  .flops = dropout_flops,
                                                  .text = dropout_text,
                                                  .in_place = 1 + 0,
                                                  .alias_untrained = 1 + 0};
