/* Zeros around an axis, and a part of an axis: each is the gradient of the other. */
#include "engine/graph/ops/arithmetic.h"
#include "engine/graph/ops/axis.h"
#include "engine/graph/ops/expand.h"

#define MOST ((int64_t)1 << 24) /* zeros on one side */

enum mgb_status mgb_op_pad(struct mgb_graph *graph, int *out, const char *name, int x, int axis,
                           const int64_t zeros[2])
{
    struct mgb_op_call call;
    struct mgb_shape shape;
    int inner;
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_PAD, name));
    MGB_TRY(mgb_op_take(&call, "input", x, MGB_F32, &shape));
    MGB_TRY(mgb_axis_resolve(&call, &inner, axis, &shape));
    if (zeros[0] < 0 || zeros[1] < 0 || zeros[0] > MOST || zeros[1] > MOST)
        return mgb_op_fail(&call, "%lld zeros before and %lld after; give 0 to %lld",
                           (long long)zeros[0], (long long)zeros[1], (long long)MOST);
    shape.dim[inner] += zeros[0] + zeros[1];
    call.a.pad.axis = inner;
    call.a.pad.before = zeros[0];
    call.a.pad.after = zeros[1];
    return mgb_op_end(&call, out, &shape, MGB_F32);
}

enum mgb_status mgb_op_slice(struct mgb_graph *graph, int *out, const char *name, int x, int axis,
                             int64_t begin, int64_t count)
{
    struct mgb_op_call call;
    struct mgb_shape shape;
    int inner;
    char text[96], wanted[48] = "";
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_SLICE, name));
    if (mgb_tensor_is_variable(graph, x)) {
        char variable[160];
        mgb_format(variable, sizeof variable, "%s_variable", name);
        MGB_TRY(mgb_expand_make(graph, &x, variable, x));
    }
    enum mgb_type type = mgb_tensor_type(graph, x); /* positions of labels may be cut out, too */
    MGB_TRY(mgb_op_take(&call, "input", x, type, &shape));
    MGB_TRY(mgb_axis_resolve(&call, &inner, axis, &shape));
    int64_t length = shape.dim[inner];
    int64_t first = begin < 0 ? begin + length : begin, most = length - first;
    if (count != -1)
        mgb_format(wanted, sizeof wanted, ", count %lld", (long long)count);
    if (first < 0 || most < 1 || count < -1 || count == 0 || count > most)
        return mgb_op_fail(&call, "begin %lld%s of axis %d of %s, which has %lld", (long long)begin,
                           wanted, inner + 1, mgb_shape_format(text, sizeof text, &shape),
                           (long long)length);
    call.a.slice.axis = inner;
    call.a.slice.begin = first;
    call.a.slice.count = shape.dim[inner] = count == -1 ? most : count;
    return mgb_op_end(&call, out, &shape, type);
}

static enum mgb_status pad_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                         int dy)
{
    const struct mgb_shape *x = &mgb_gradient_graph(gradient)->tensors[node.inputs[0]].shape;
    int axis = node.a.pad.axis;
    const union mgb_attributes a = {.slice = {axis, node.a.pad.before, x->dim[axis]}};
    return mgb_gradient_of_dy(gradient, &node, MGB_OP_SLICE, &a, dy);
}

static enum mgb_status slice_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                           int dy)
{
    const struct mgb_shape *x = &mgb_gradient_graph(gradient)->tensors[node.inputs[0]].shape;
    int axis = node.a.slice.axis;
    int64_t before = node.a.slice.begin, after = x->dim[axis] - before - node.a.slice.count;
    const union mgb_attributes a = {.pad = {axis, before, after}};
    return mgb_gradient_of_dy(gradient, &node, MGB_OP_PAD, &a, dy);
}

static void pad_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_text_add(text, " axis=%d before=%lld after=%lld", node->a.pad.axis + 1,
                 (long long)node->a.pad.before, (long long)node->a.pad.after);
}

static void slice_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_text_add(text, " axis=%d begin=%lld count=%lld", node->a.slice.axis + 1,
                 (long long)node->a.slice.begin, (long long)node->a.slice.count);
}

const struct mgb_op_rules mgb_op_rules_PAD = {.differentiate = pad_differentiate, .text = pad_text};
const struct mgb_op_rules mgb_op_rules_SLICE = {.differentiate = slice_differentiate,
                                                .text = slice_text};
