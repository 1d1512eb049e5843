/* Sum, mean and maximum over one axis of an example. Where a maximum lay is a second output, made only when there is a
 * gradient to take; of equal ones it is the first. */
#include "engine/graph/ops/axis.h"

#include <string.h>

static enum mgb_status reduce_make(struct mgb_graph *graph, int *out, enum mgb_op_kind kind,
                                   const char *name, int x, int axis, bool keep)
{
    struct mgb_op_call call;
    struct mgb_shape in, shape = {0};
    int inner;
    MGB_TRY(mgb_op_begin(&call, graph, kind, name));
    MGB_TRY(mgb_op_take(&call, "input", x, MGB_F32, &in));
    MGB_TRY(mgb_axis_resolve(&call, &inner, axis, &in));
    for (int i = 0; i < in.rank; i++)
        if (i != inner)
            shape.dim[shape.rank++] = in.dim[i];
        else if (keep)
            shape.dim[shape.rank++] = 1;
    call.a.reduce.axis = inner;
    call.a.reduce.factor = kind == MGB_OP_MEAN ? 1.0f / (float)in.dim[inner] : 1;
    return mgb_op_end(&call, out, &shape, MGB_F32);
}

enum mgb_status mgb_op_sum(struct mgb_graph *graph, int *out, const char *name, int x, int axis,
                           bool keep)
{
    return reduce_make(graph, out, MGB_OP_SUM, name, x, axis, keep);
}

enum mgb_status mgb_op_mean(struct mgb_graph *graph, int *out, const char *name, int x, int axis,
                            bool keep)
{
    return reduce_make(graph, out, MGB_OP_MEAN, name, x, axis, keep);
}

enum mgb_status mgb_op_max(struct mgb_graph *graph, int *out, const char *name, int x, int axis,
                           bool keep)
{
    return reduce_make(graph, out, MGB_OP_MAX, name, x, axis, keep);
}

static enum mgb_status sum_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                         int dy)
{
    return mgb_gradient_of_dy(gradient, &node, MGB_OP_SPREAD, &node.a, dy);
}

static enum mgb_status max_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                         int dy)
{
    struct mgb_graph *graph = mgb_gradient_graph(gradient);
    int self = graph->tensors[node.outputs[0]].node;
    struct mgb_tensor index = graph->tensors[node.outputs[0]];
    if (!mgb_gradient_needs(gradient, node.inputs[0]))
        return MGB_OK;
    index.type = MGB_I32;
    MGB_TRY(mgb_graph_add_output(graph, self, 1, &index));
    const struct mgb_gradient_request request = {.kind = MGB_OP_MAX_GRAD,
                                                 .of = node.name,
                                                 .suffix = "grad",
                                                 .a = node.a,
                                                 .inputs = {dy, graph->nodes[self].outputs[1]},
                                                 .input_count = 2,
                                                 .like = {node.inputs[0]},
                                                 .like_count = 1};
    return mgb_gradient_simple(gradient, &request, node.inputs[0]);
}

static double reduce_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return (double)mgb_shape_count(&graph->tensors[node->inputs[0]].shape);
}

static double spread_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return (double)mgb_shape_count(&graph->tensors[node->outputs[0]].shape);
}

static void reduce_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_text_add(text, " axis=%d", node->a.reduce.axis + 1);
    if (node->kind == MGB_OP_SPREAD)
        mgb_text_add(text, " factor=%.9g", (double)node->a.reduce.factor);
}

const struct mgb_op_rules mgb_op_rules_SUM = {
    .differentiate = sum_differentiate, .flops = reduce_flops, .text = reduce_text};
const struct mgb_op_rules mgb_op_rules_MEAN = {
    .differentiate = sum_differentiate, .flops = reduce_flops, .text = reduce_text};
const struct mgb_op_rules mgb_op_rules_MAX = {
    .differentiate = max_differentiate, .flops = reduce_flops, .text = reduce_text};
const struct mgb_op_rules mgb_op_rules_SPREAD = {.flops = spread_flops, .text = reduce_text};
const struct mgb_op_rules mgb_op_rules_MAX_GRAD = {.flops = spread_flops, .text = reduce_text};
