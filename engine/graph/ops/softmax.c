/* softmax and log_softmax over the last axis. The gradient needs the result only. */
#include "engine/graph/op.h"

enum mgb_status mgb_op_softmax(struct mgb_graph *graph, int *out, const char *name, int x, bool log)
{
    struct mgb_op_call call;
    struct mgb_shape shape;
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_SOFTMAX, name));
    MGB_TRY(mgb_op_take(&call, "input", x, MGB_F32, &shape));
    if (shape.rank < 1)
        return mgb_op_fail(&call, "its input is one number an example, it takes at least one axis");
    call.a.softmax.log = log;
    return mgb_op_end(&call, out, &shape, MGB_F32);
}

static enum mgb_status softmax_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                             int dy)
{
    const struct mgb_gradient_request request = {.kind = MGB_OP_SOFTMAX_GRAD,
                                                 .of = node.name,
                                                 .suffix = "grad",
                                                 .a = node.a,
                                                 .inputs = {node.outputs[0], dy},
                                                 .input_count = 2,
                                                 .like = {node.inputs[0]},
                                                 .like_count = 1};
    return mgb_gradient_simple(gradient, &request, node.inputs[0]);
}

/* As activations: one an element. */
static double softmax_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return (double)mgb_shape_count(&graph->tensors[node->outputs[0]].shape);
}

static void softmax_text(struct mgb_text *text, const struct mgb_node *node)
{
    if (node->a.softmax.log)
        mgb_text_add(text, " log");
}

const struct mgb_op_rules mgb_op_rules_SOFTMAX = {.differentiate = softmax_differentiate,
                                                  .flops = softmax_flops,
                                                  .text = softmax_text,
                                                  .in_place = 1 + 0};
const struct mgb_op_rules mgb_op_rules_SOFTMAX_GRAD = {
    .flops = softmax_flops, .text = softmax_text, .in_place = 1 + 1};
