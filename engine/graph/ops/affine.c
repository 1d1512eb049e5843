/* Element by element with one operand: factor * x + shift, and |x|, whose gradient at 0 is 0. */
#include "engine/graph/op.h"

#include <math.h>

enum mgb_status mgb_op_affine(struct mgb_graph *graph, int *out, const char *name, int x,
                              float factor, float shift)
{
    struct mgb_op_call call;
    struct mgb_shape shape;
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_AFFINE, name));
    MGB_TRY(mgb_op_take(&call, "input", x, MGB_F32, &shape));
    if (!isfinite(factor) || !isfinite(shift))
        return mgb_op_fail(&call, "%g x + %g: its numbers must be finite in f32", (double)factor,
                           (double)shift);
    call.a.affine.factor = factor;
    call.a.affine.shift = shift;
    return mgb_op_end(&call, out, &shape, MGB_F32);
}

enum mgb_status mgb_op_abs(struct mgb_graph *graph, int *out, const char *name, int x)
{
    struct mgb_op_call call;
    struct mgb_shape shape;
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_ABS, name));
    MGB_TRY(mgb_op_take(&call, "input", x, MGB_F32, &shape));
    return mgb_op_end(&call, out, &shape, MGB_F32);
}

static enum mgb_status affine_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                            int dy)
{
    if (node.a.affine.factor == 1)
        return mgb_gradient_add(gradient, node.inputs[0], dy);
    node.a.affine.shift = 0;
    return mgb_gradient_of_dy(gradient, &node, MGB_OP_AFFINE, &node.a, dy);
}

static enum mgb_status abs_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                         int dy)
{
    const struct mgb_gradient_request request = {.kind = MGB_OP_ABS_GRAD,
                                                 .of = node.name,
                                                 .suffix = "grad",
                                                 .inputs = {node.inputs[0], dy},
                                                 .input_count = 2,
                                                 .like = {node.inputs[0]},
                                                 .like_count = 1};
    return mgb_gradient_simple(gradient, &request, node.inputs[0]);
}

static double elements_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return (double)mgb_shape_count(&graph->tensors[node->outputs[0]].shape);
}

static double affine_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return 2 * elements_flops(graph, node);
}

static void affine_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_text_add(text, " factor=%.9g shift=%.9g", (double)node->a.affine.factor,
                 (double)node->a.affine.shift);
}

const struct mgb_op_rules mgb_op_rules_AFFINE = {.differentiate = affine_differentiate,
                                                 .flops = affine_flops,
                                                 .text = affine_text,
                                                 .in_place = 1 + 0};
const struct mgb_op_rules mgb_op_rules_ABS = {
    .differentiate = abs_differentiate, .flops = elements_flops, .in_place = 1 + 0};
const struct mgb_op_rules mgb_op_rules_ABS_GRAD = {.flops = elements_flops, .in_place = 1 + 1};
