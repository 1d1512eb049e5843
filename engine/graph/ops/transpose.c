/* The axes of an example in another order; the batch stays first. The gradient is the inverse order. */
#include "engine/graph/op.h"

#include <string.h>

enum mgb_status mgb_op_transpose(struct mgb_graph *graph, int *out, const char *name, int x,
                                 const int *axes, int count)
{
    struct mgb_op_call call;
    struct mgb_shape from, to = {0};
    char text[96];
    bool taken[MGB_MAX_RANK] = {false};
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_TRANSPOSE, name));
    MGB_TRY(mgb_op_take(&call, "input", x, MGB_F32, &from));
    if (count != from.rank)
        return mgb_op_fail(&call, "%d axes given, its input %s has %d beside the batch", count,
                           mgb_shape_format(text, sizeof text, &from), from.rank);
    to.rank = from.rank;
    for (int i = 0; i < count; i++) {
        int axis = axes[i] - 1;
        if (axes[i] == 0)
            return mgb_op_fail(&call, "axis 0 is the batch, which stays first");
        if (axis < 0 || axis >= count || taken[axis])
            return mgb_op_fail(&call, "axes are 1 to %d in some order, each once; %d is %s", count,
                               axes[i], axis < 0 || axis >= count ? "none of them" : "there twice");
        taken[axis] = true;
        call.a.transpose.axes[i] = axis;
        to.dim[i] = from.dim[axis];
    }
    return mgb_op_end(&call, out, &to, MGB_F32);
}

static enum mgb_status transpose_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                               int dy)
{
    int rank = mgb_gradient_graph(gradient)->tensors[node.outputs[0]].shape.rank;
    union mgb_attributes a;
    memset(&a, 0, sizeof a);
    for (int i = 0; i < rank; i++)
        a.transpose.axes[node.a.transpose.axes[i]] = i;
    return mgb_gradient_of_dy(gradient, &node, MGB_OP_TRANSPOSE, &a, dy);
}

/* Behind the last axis there are zeros: the axes end where the largest is. */
static void transpose_text(struct mgb_text *text, const struct mgb_node *node)
{
    int last = 0;
    for (int i = 0; i < MGB_MAX_RANK; i++)
        last = node->a.transpose.axes[i] > last ? node->a.transpose.axes[i] : last;
    mgb_text_add(text, " axes=");
    for (int i = 0; i <= last; i++)
        mgb_text_add(text, "%s%d", i > 0 ? "," : "", node->a.transpose.axes[i] + 1);
}

const struct mgb_op_rules mgb_op_rules_TRANSPOSE = {.differentiate = transpose_differentiate,
                                                    .text = transpose_text};
