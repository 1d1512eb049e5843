/* The sum of two tensors of one shape; autograd uses it where a tensor has several readers. One of them may be a variable,
 * which is added to every example: an operator of its own, since its gradient is a sum over the rows. */
#include "engine/graph/op.h"

static bool is_variable(const struct mgb_graph *graph, int tensor)
{
    return tensor >= 0 && tensor < graph->tensor_count && !graph->tensors[tensor].batched &&
           graph->nodes[graph->tensors[tensor].node].kind == MGB_OP_READ;
}

static enum mgb_status shapes_differ(const struct mgb_op_call *call, const struct mgb_shape *one,
                                     const struct mgb_shape *two)
{
    char text_one[96], text_two[96];
    return mgb_op_fail(call, "%s and %s have different shapes",
                       mgb_shape_format(text_one, sizeof text_one, one),
                       mgb_shape_format(text_two, sizeof text_two, two));
}

static enum mgb_status add_value(struct mgb_graph *graph, int *out, const char *name, int x, int v)
{
    struct mgb_op_call call;
    struct mgb_shape one, two;
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_ADD_VALUE, name));
    MGB_TRY(mgb_op_take(&call, "input", x, MGB_F32, &one));
    MGB_TRY(mgb_op_take_variable(&call, "variable", v, &two));
    if (!mgb_shape_equal(&one, &two))
        return shapes_differ(&call, &one, &two);
    return mgb_op_end(&call, out, &one, MGB_F32);
}

enum mgb_status mgb_op_add(struct mgb_graph *graph, int *out, const char *name, int a, int b)
{
    struct mgb_op_call call;
    struct mgb_shape one, two;
    if (is_variable(graph, a) && !is_variable(graph, b))
        return add_value(graph, out, name, b, a);
    if (is_variable(graph, b) && !is_variable(graph, a))
        return add_value(graph, out, name, a, b);
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_ADD, name));
    MGB_TRY(mgb_op_take(&call, "first input", a, MGB_F32, &one));
    MGB_TRY(mgb_op_take(&call, "second input", b, MGB_F32, &two));
    if (!mgb_shape_equal(&one, &two))
        return shapes_differ(&call, &one, &two);
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
