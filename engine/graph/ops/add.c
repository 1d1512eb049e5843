/* The sum of two tensors of one shape; autograd uses it where a tensor has several readers. One of them may be a variable,
 * which is added to every example: an operator of its own, since its gradient is a sum over the rows. Operands of different
 * shapes are a matter of arithmetic.c. */
#include "engine/graph/ops/arithmetic.h"

static bool same_shape(const struct mgb_graph *graph, int a, int b)
{
    return mgb_shape_equal(mgb_tensor_shape(graph, a), mgb_tensor_shape(graph, b));
}

static enum mgb_status add_value(struct mgb_graph *graph, int *out, const char *name, int x, int v)
{
    struct mgb_op_call call;
    struct mgb_shape one, two;
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_ADD_VALUE, name));
    MGB_TRY(mgb_op_take(&call, "input", x, MGB_F32, &one));
    MGB_TRY(mgb_op_take_variable(&call, "variable", v, &two));
    return mgb_op_end(&call, out, &one, MGB_F32);
}

enum mgb_status mgb_op_add(struct mgb_graph *graph, int *out, const char *name, int a, int b)
{
    struct mgb_op_call call;
    struct mgb_shape one, two;
    bool first = mgb_tensor_is_variable(graph, a), second = mgb_tensor_is_variable(graph, b);
    if ((first && second) || !same_shape(graph, a, b))
        return mgb_arithmetic_make(graph, out, MGB_OP_ADD_WIDE, MGB_OP_ADD, name, a, b);
    if (first || second)
        return add_value(graph, out, name, first ? b : a, first ? a : b);
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_ADD, name));
    MGB_TRY(mgb_op_take(&call, "first input", a, MGB_F32, &one));
    MGB_TRY(mgb_op_take(&call, "second input", b, MGB_F32, &two));
    return mgb_op_end(&call, out, &one, MGB_F32);
}

static enum mgb_status add_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                         int dy)
{
    MGB_TRY(mgb_gradient_add(gradient, node.inputs[0], dy));
    return mgb_gradient_add(gradient, node.inputs[1], dy);
}

static enum mgb_status add_value_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                               int dy)
{
    const struct mgb_gradient_request request = {.kind = MGB_OP_ADD_VALUE_GRAD,
                                                 .of = node.name,
                                                 .suffix = "grad_v",
                                                 .inputs = {dy},
                                                 .input_count = 1,
                                                 .like = {node.inputs[1]},
                                                 .like_count = 1};
    MGB_TRY(mgb_gradient_add(gradient, node.inputs[0], dy));
    return mgb_gradient_simple(gradient, &request, node.inputs[1]);
}

static double add_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return (double)mgb_shape_count(&graph->tensors[node->outputs[0]].shape);
}

const struct mgb_op_rules mgb_op_rules_ADD = {
    .differentiate = add_differentiate, .flops = add_flops, .in_place = 1 + 0};
const struct mgb_op_rules mgb_op_rules_ADD_VALUE = {.differentiate = add_value_differentiate,
                                                    .flops = add_flops};
const struct mgb_op_rules mgb_op_rules_ADD_VALUE_GRAD = {.flops = add_flops};
