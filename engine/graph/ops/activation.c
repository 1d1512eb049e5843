/* relu, relu6, tanh and sigmoid, element by element. Their gradients need the result only, never what it
 * was computed from. */
#include "engine/graph/op.h"

const char *mgb_activation_name(enum mgb_activation activation)
{
    switch (activation) {
    case MGB_LINEAR:
        return "linear";
    case MGB_RELU:
        return "relu";
    case MGB_TANH:
        return "tanh";
    case MGB_SIGMOID:
        return "sigmoid";
    case MGB_RELU6:
        return "relu6";
    }
    return NULL;
}

enum mgb_status mgb_op_check_activation(const struct mgb_op_call *call,
                                        enum mgb_activation activation)
{
    if (mgb_activation_name(activation))
        return MGB_OK;
    return mgb_op_fail(call, "no activation has number %d", (int)activation);
}

enum mgb_status mgb_op_activation(struct mgb_graph *graph, int *out, const char *name, int x,
                                  enum mgb_activation activation)
{
    struct mgb_op_call call;
    struct mgb_shape shape;
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_ACTIVATION, name));
    MGB_TRY(mgb_op_check_activation(&call, activation));
    MGB_TRY(mgb_op_take(&call, "input", x, MGB_F32, &shape));
    call.a.activation.activation = activation;
    return mgb_op_end(&call, out, &shape, MGB_F32);
}

static enum mgb_status activation_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                                int dy)
{
    int dz;
    if (!mgb_gradient_needs(gradient, node.inputs[0]))
        return MGB_OK;
    MGB_TRY(
        mgb_gradient_through_activation(gradient, &dz, &node, node.a.activation.activation, dy));
    return mgb_gradient_add(gradient, node.inputs[0], dz);
}

static double activation_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return (double)mgb_shape_count(&graph->tensors[node->outputs[0]].shape);
}

static void activation_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_text_add(text, " %s", mgb_activation_name(node->a.activation.activation));
}

const struct mgb_op_rules mgb_op_rules_ACTIVATION = {.differentiate = activation_differentiate,
                                                     .flops = activation_flops,
                                                     .text = activation_text,
                                                     .in_place = 1 + 0};
const struct mgb_op_rules mgb_op_rules_ACTIVATION_GRAD = {
    .flops = activation_flops, .text = activation_text, .in_place = 1 + 1};
