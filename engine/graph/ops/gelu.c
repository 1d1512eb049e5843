/* gelu(x) = x Phi(x), exactly or in the tanh form (D. Hendrycks, K. Gimpel, arXiv 1606.08415, section 2). Its gradient needs what it was
 * computed from, so it is no activation that a layer could fuse. */
#include "engine/graph/op.h"

enum mgb_status mgb_op_gelu(struct mgb_graph *graph, int *out, const char *name, int x,
                            bool approximate)
{
    struct mgb_op_call call;
    struct mgb_shape shape;
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_GELU, name));
    MGB_TRY(mgb_op_take(&call, "input", x, MGB_F32, &shape));
    call.a.gelu.approximate = approximate;
    return mgb_op_end(&call, out, &shape, MGB_F32);
}

static enum mgb_status gelu_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                          int dy)
{
    const struct mgb_gradient_request request = {.kind = MGB_OP_GELU_GRAD,
                                                 .of = node.name,
                                                 .suffix = "grad",
                                                 .a = node.a,
                                                 .inputs = {node.inputs[0], dy},
                                                 .input_count = 2,
                                                 .like = {node.inputs[0]},
                                                 .like_count = 1};
    return mgb_gradient_simple(gradient, &request, node.inputs[0]);
}

/* As other activations: one an element. */
static double gelu_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return (double)mgb_shape_count(&graph->tensors[node->outputs[0]].shape);
}

static void gelu_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_text_add(text, node->a.gelu.approximate ? " tanh" : " exact");
}

const struct mgb_op_rules mgb_op_rules_GELU = {
    .differentiate = gelu_differentiate, .flops = gelu_flops, .text = gelu_text, .in_place = 1 + 0};
const struct mgb_op_rules mgb_op_rules_GELU_GRAD = {
    .flops = gelu_flops, .text = gelu_text, .in_place = 1 + 1};
