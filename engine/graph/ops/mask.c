/* Which positions of a sequence count: 1 where a number differs from `value`, or, in a sequence of vectors, where any of its
 * numbers does (as Keras' compute_mask). Nothing flows back. */
#include "engine/graph/op.h"

#include <math.h>

enum mgb_status mgb_op_mask(struct mgb_graph *graph, int *out, const char *name, int x, float value)
{
    struct mgb_op_call call;
    struct mgb_shape shape;
    struct mgb_tensor scratch;
    char text[96];
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_MASK, name));
    const struct mgb_tensor *found = mgb_graph_find_tensor(graph, x, &scratch);
    bool ids = found && found->type == MGB_I32;
    MGB_TRY(mgb_op_take(&call, "input", x, ids ? MGB_I32 : MGB_F32, &shape));
    if (shape.rank != (ids ? 1 : 2))
        return mgb_op_fail(&call,
                           "its input is %s, it takes positions (i32) or positions x width (f32)",
                           shape.rank == 0 ? "one number an example"
                                           : mgb_shape_format(text, sizeof text, &shape));
    if (!isfinite(value))
        return mgb_op_fail(&call, "a value of %g; padding is a finite number", (double)value);
    call.a.mask.value = value;
    shape = (struct mgb_shape){1, {shape.dim[0]}};
    return mgb_op_end(&call, out, &shape, MGB_F32);
}

static void mask_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_text_add(text, " value=%.9g", (double)node->a.mask.value);
}

/* No gradient leads anywhere: what asks for one gets none. */
static enum mgb_status mask_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                          int dy)
{
    (void)gradient;
    (void)node;
    (void)dy;
    return MGB_OK;
}

static double mask_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return (double)mgb_shape_count(&graph->tensors[node->inputs[0]].shape);
}

const struct mgb_op_rules mgb_op_rules_MASK = {
    .differentiate = mask_differentiate, .flops = mask_flops, .text = mask_text};
