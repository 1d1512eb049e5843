/* A variable as a tensor that has a value for each example: the same for all. Made where a variable is joined to what is
 * computed, as the class token of an image transformer is. Its gradient is the sum over the rows. */
#include "engine/graph/ops/expand.h"

enum mgb_status mgb_expand_make(struct mgb_graph *graph, int *out, const char *name, int variable)
{
    struct mgb_op_call call;
    struct mgb_shape shape;
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_EXPAND, name));
    MGB_TRY(mgb_op_take_variable(&call, "operand", variable, &shape));
    return mgb_op_end(&call, out, &shape, MGB_F32);
}

static enum mgb_status expand_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                            int dy)
{
    return mgb_gradient_of_dy(gradient, &node, MGB_OP_SUM_TO, NULL, dy);
}

const struct mgb_op_rules mgb_op_rules_EXPAND = {.differentiate = expand_differentiate};
