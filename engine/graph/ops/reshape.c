/* Another shape for the same elements of an example; flatten is the shape of one axis. Nothing is
 * computed. */
#include "engine/graph/op.h"

static enum mgb_status reshape_infer(const struct mgb_op_call *call, const struct mgb_shape *from,
                                     struct mgb_shape *to)
{
    char one[96], two[96];
    int64_t known = 1, count = mgb_shape_count(from);
    int open = -1;
    struct mgb_shape asked = *to;
    if (to->rank < 0 || to->rank > MGB_MAX_RANK)
        return mgb_op_fail(call, "a shape has 0 to %d axes, not %d", MGB_MAX_RANK, to->rank);
    for (int i = 0; i < to->rank; i++) {
        if (to->dim[i] == -1 && open >= 0)
            return mgb_op_fail(call, "only one axis can be -1");
        if (to->dim[i] == -1)
            open = i;
        else if (to->dim[i] < 1 || to->dim[i] > count)
            return mgb_op_fail(call, "axis %d of %s cannot hold the %lld elements of %s", i,
                               mgb_shape_format(one, sizeof one, &asked), (long long)count,
                               mgb_shape_format(two, sizeof two, from));
        else
            known = known > count / to->dim[i] ? count + 1 : known * to->dim[i]; /* no overflow */
    }
    if (open >= 0 && count % known == 0)
        to->dim[open] = count / known;
    if (open >= 0 ? count % known != 0 : known != count)
        return mgb_op_fail(call, "the %lld elements of %s do not make %s", (long long)count,
                           mgb_shape_format(two, sizeof two, from),
                           mgb_shape_format(one, sizeof one, &asked));
    return MGB_OK;
}

enum mgb_status mgb_op_reshape(struct mgb_graph *graph, int *out, const char *name, int x,
                               const struct mgb_shape *shape)
{
    struct mgb_op_call call;
    struct mgb_shape from, to = *shape;
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_RESHAPE, name));
    enum mgb_type type = mgb_tensor_type(graph, x); /* any: labels may be reshaped too */
    MGB_TRY(mgb_op_take(&call, "input", x, type, &from));
    MGB_TRY(reshape_infer(&call, &from, &to));
    return mgb_op_end(&call, out, &to, type);
}

enum mgb_status mgb_op_flatten(struct mgb_graph *graph, int *out, const char *name, int x)
{
    return mgb_op_reshape(graph, out, name, x, &(struct mgb_shape){1, {-1}});
}

static enum mgb_status reshape_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                             int dy)
{
    return mgb_gradient_of_dy(gradient, &node, MGB_OP_RESHAPE, NULL, dy);
}

const struct mgb_op_rules mgb_op_rules_RESHAPE = {.differentiate = reshape_differentiate,
                                                  .alias = 1 + 0};
