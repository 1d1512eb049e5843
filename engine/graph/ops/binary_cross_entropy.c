/* Sigmoid and cross-entropy in one: the sum over rows of the mean over elements of log(1 + exp(z)) - t z, for logits z
 * and targets t, usually from 0 to 1. */
#include "engine/graph/op.h"

enum mgb_status mgb_op_binary_cross_entropy(struct mgb_graph *graph, int *out, const char *name,
                                            int logits, int target)
{
    struct mgb_op_call call;
    struct mgb_shape one, two;
    char text_one[96], text_two[96];
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_BCE, name));
    MGB_TRY(mgb_op_take(&call, "logits", logits, MGB_F32, &one));
    MGB_TRY(mgb_op_take(&call, "target (f32, from 0 to 1)", target, MGB_F32, &two));
    if (!mgb_shape_equal(&one, &two))
        return mgb_op_fail(&call, "logits %s and target %s have different shapes",
                           mgb_shape_format(text_one, sizeof text_one, &one),
                           mgb_shape_format(text_two, sizeof text_two, &two));
    return mgb_op_end(&call, out, &(struct mgb_shape){0}, MGB_F32);
}

static enum mgb_status bce_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                         int dy)
{
    (void)dy;
    if (mgb_gradient_needs(gradient, node.inputs[1]))
        return mgb_fail(MGB_INVALID,
                        "binary_cross_entropy '%s': its target depends on trainable variables; "
                        "give what is trained as the logits and data as the target",
                        node.name);
    const struct mgb_gradient_request request = {.kind = MGB_OP_BCE_GRAD,
                                                 .of = node.name,
                                                 .suffix = "grad",
                                                 .a = node.a,
                                                 .inputs = {node.inputs[0], node.inputs[1]},
                                                 .input_count = 2,
                                                 .like = {node.inputs[0]},
                                                 .like_count = 1};
    return mgb_gradient_simple(gradient, &request, node.inputs[0]);
}

/* An exponential, a logarithm, a product and a sum an element. */
static double bce_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return 4.0 * (double)mgb_shape_count(&graph->tensors[node->inputs[0]].shape);
}

static void bce_grad_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_text_add(text, " weight=%.9g", (double)node->a.loss.weight);
}

const struct mgb_op_rules mgb_op_rules_BCE = {
    .head = true, .loss = true, .differentiate = bce_differentiate, .flops = bce_flops};
const struct mgb_op_rules mgb_op_rules_BCE_GRAD = {.flops = bce_flops, .text = bce_grad_text};
