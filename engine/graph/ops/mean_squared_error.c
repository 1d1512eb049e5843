/* The sum over rows of the mean over elements of (prediction - target)^2. */
#include "engine/graph/op.h"

enum mgb_status mgb_op_mean_squared_error(struct mgb_graph *graph, int *out, const char *name,
                                          int prediction, int target)
{
    struct mgb_op_call call;
    struct mgb_shape one, two;
    char text_one[96], text_two[96];
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_MSE, name));
    MGB_TRY(mgb_op_take(&call, "prediction", prediction, MGB_F32, &one));
    MGB_TRY(mgb_op_take(&call, "target", target, MGB_F32, &two));
    if (!mgb_shape_equal(&one, &two))
        return mgb_op_fail(&call, "prediction %s and target %s have different shapes",
                           mgb_shape_format(text_one, sizeof text_one, &one),
                           mgb_shape_format(text_two, sizeof text_two, &two));
    return mgb_op_end(&call, out, &(struct mgb_shape){0}, MGB_F32);
}

static enum mgb_status mse_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                         int dy)
{
    (void)dy;
    if (mgb_gradient_needs(gradient, node.inputs[1]))
        return mgb_fail(MGB_INVALID,
                        "mean_squared_error '%s': its target depends on trainable variables; give "
                        "what is trained as the prediction and data as the target",
                        node.name);
    const struct mgb_gradient_request request = {.kind = MGB_OP_MSE_GRAD,
                                                 .of = node.name,
                                                 .suffix = "grad",
                                                 .a = node.a,
                                                 .inputs = {node.inputs[0], node.inputs[1]},
                                                 .input_count = 2,
                                                 .like = {node.inputs[0]},
                                                 .like_count = 1};
    return mgb_gradient_simple(gradient, &request, node.inputs[0]);
}

static double mse_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return 3.0 * (double)mgb_shape_count(&graph->tensors[node->inputs[0]].shape);
}

static double mse_grad_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return 2.0 * (double)mgb_shape_count(&graph->tensors[node->inputs[0]].shape);
}

static void mse_grad_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_text_add(text, " weight=%.9g", (double)node->a.loss.weight);
}

const struct mgb_op_rules mgb_op_rules_MSE = {
    .head = true, .loss = true, .differentiate = mse_differentiate, .flops = mse_flops};
const struct mgb_op_rules mgb_op_rules_MSE_GRAD = {.flops = mse_grad_flops, .text = mse_grad_text};
