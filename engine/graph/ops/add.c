/* The sum of two tensors of one shape; autograd uses it where a tensor has several readers. */
#include "engine/graph/op.h"

enum mgb_status mgb_op_add(struct mgb_graph *graph, int *out, const char *name, int a, int b)
{
    struct mgb_op_call call;
    struct mgb_shape one, two;
    char text_one[96], text_two[96];
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_ADD, name));
    MGB_TRY(mgb_op_take(&call, "first input", a, MGB_F32, &one));
    MGB_TRY(mgb_op_take(&call, "second input", b, MGB_F32, &two));
    if (!mgb_shape_equal(&one, &two))
        return mgb_op_fail(&call, "%s and %s have different shapes",
                           mgb_shape_format(text_one, sizeof text_one, &one),
                           mgb_shape_format(text_two, sizeof text_two, &two));
    return mgb_op_end(&call, out, &one, MGB_F32);
}

static enum mgb_status add_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                         int dy)
{
    MGB_TRY(mgb_gradient_add(gradient, node.inputs[0], dy));
    return mgb_gradient_add(gradient, node.inputs[1], dy);
}

static double add_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return (double)mgb_shape_count(&graph->tensors[node->outputs[0]].shape);
}

const struct mgb_op_rules mgb_op_rules_ADD = {
    .differentiate = add_differentiate, .flops = add_flops, .in_place = 1 + 0};
