/* Tensors side by side along an axis, and its gradient: the slice that came from each. */
#include "engine/graph/ops/arithmetic.h"
#include "engine/graph/ops/expand.h"

static enum mgb_status concat_take(struct mgb_op_call *call, int tensor, int index, int axis,
                                   struct mgb_shape *sum)
{
    struct mgb_shape shape;
    char role[32], one[96], two[96];
    mgb_format(role, sizeof role, "input %d", index + 1);
    MGB_TRY(mgb_op_take(call, role, tensor, MGB_F32, &shape));
    if (index == 0) {
        *sum = shape;
        return MGB_OK;
    }
    bool fits = shape.rank == sum->rank;
    for (int i = 0; fits && i < shape.rank; i++)
        fits = i == axis || shape.dim[i] == sum->dim[i];
    if (!fits)
        return mgb_op_fail(call, "input %d is %s, which does not fit %s along axis %d", index + 1,
                           mgb_shape_format(one, sizeof one, &shape),
                           mgb_shape_format(two, sizeof two, sum), axis + 1);
    sum->dim[axis] += shape.dim[axis];
    return MGB_OK;
}

/* Variables get a value for every example first, so that they can be joined to what is computed. */
static enum mgb_status variables_expand(const struct mgb_op_call *call, int *to, const int *x,
                                        int count)
{
    char name[160];
    int variables = 0;
    for (int i = 0; i < count; i++)
        variables += mgb_tensor_is_variable(call->graph, x[i]);
    if (variables == count)
        return mgb_op_fail(call,
                           "all inputs are variables; one must have a value for each example");
    mgb_format(name, sizeof name, "%s_variable", call->name);
    for (int i = 0; i < count; i++)
        if (mgb_tensor_is_variable(call->graph, x[i]))
            MGB_TRY(mgb_expand_make(call->graph, &to[i], name, x[i]));
        else
            to[i] = x[i];
    return MGB_OK;
}

enum mgb_status mgb_op_concat(struct mgb_graph *graph, int *out, const char *name, const int *x,
                              int count, int axis)
{
    struct mgb_op_call call;
    struct mgb_shape sum = {0};
    int from[MGB_MAX_INPUTS];
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_CONCAT, name));
    if (count < 1 || count > MGB_MAX_INPUTS)
        return mgb_op_fail(&call, "%d inputs; it takes 1 to %d", count, MGB_MAX_INPUTS);
    if (axis == 0)
        return mgb_op_fail(&call, "axis 0 is the batch; joining along it would mix examples");
    MGB_TRY(variables_expand(&call, from, x, count));
    MGB_TRY(concat_take(&call, from[0], 0, -1, &sum));
    int rank = sum.rank;
    if (axis < -1 || axis > rank || rank == 0)
        return mgb_op_fail(&call, "axis %d of an input with %d axes (the batch is axis 0)", axis,
                           rank + 1);
    int inner = axis == -1 ? rank - 1 : axis - 1; /* in the shape of an example */
    for (int i = 1; i < count; i++)
        MGB_TRY(concat_take(&call, from[i], i, inner, &sum));
    call.a.slice.axis = inner;
    return mgb_op_end(&call, out, &sum, MGB_F32);
}

static enum mgb_status concat_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                            int dy)
{
    const struct mgb_graph *graph = mgb_gradient_graph(gradient);
    int axis = node.a.slice.axis;
    int64_t begin = 0;
    for (int i = 0; i < node.input_count; i++) {
        int64_t count = graph->tensors[node.inputs[i]].shape.dim[axis];
        char suffix[32];
        mgb_format(suffix, sizeof suffix, "grad_%d", i);
        const struct mgb_gradient_request request = {.kind = MGB_OP_SLICE,
                                                     .of = node.name,
                                                     .suffix = suffix,
                                                     .a.slice = {axis, begin, count},
                                                     .inputs = {dy},
                                                     .input_count = 1,
                                                     .like = {node.inputs[i]},
                                                     .like_count = 1};
        MGB_TRY(mgb_gradient_simple(gradient, &request, node.inputs[i]));
        begin += count;
    }
    return MGB_OK;
}

static void concat_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_text_add(text, " axis=%d", node->a.slice.axis + 1);
}

const struct mgb_op_rules mgb_op_rules_CONCAT = {.differentiate = concat_differentiate,
                                                 .text = concat_text};
