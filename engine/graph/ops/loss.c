/* See loss.h. */
#include "engine/graph/ops/loss.h"

enum mgb_status mgb_loss_make(struct mgb_graph *graph, int *out, const struct mgb_loss_pair *pair,
                              const char *name, int first, int second)
{
    struct mgb_op_call call;
    struct mgb_shape one, two;
    char text_one[96], text_two[96];
    MGB_TRY(mgb_op_begin(&call, graph, pair->kind, name));
    MGB_TRY(mgb_op_take(&call, pair->first, first, MGB_F32, &one));
    MGB_TRY(mgb_op_take(&call, pair->second_role, second, MGB_F32, &two));
    if (!mgb_shape_equal(&one, &two))
        return mgb_op_fail(&call, "%s %s and %s %s have different shapes", pair->first,
                           mgb_shape_format(text_one, sizeof text_one, &one), pair->second,
                           mgb_shape_format(text_two, sizeof text_two, &two));
    return mgb_op_end(&call, out, &(struct mgb_shape){0}, MGB_F32);
}

enum mgb_status mgb_loss_check_target(struct mgb_gradient *gradient, const struct mgb_node *node,
                                      const struct mgb_loss_pair *pair)
{
    if (!mgb_gradient_needs(gradient, node->inputs[1]))
        return MGB_OK;
    return mgb_fail(MGB_INVALID,
                    "%s '%s': its %s depends on trainable variables; give what is trained as the "
                    "%s and data as the %s",
                    mgb_op_name(node->kind), node->name, pair->second, pair->first, pair->second);
}

enum mgb_status mgb_loss_differentiate(struct mgb_gradient *gradient, const struct mgb_node *node,
                                       enum mgb_op_kind kind)
{
    const struct mgb_gradient_request request = {.kind = kind,
                                                 .of = node->name,
                                                 .suffix = "grad",
                                                 .a = node->a,
                                                 .inputs = {node->inputs[0], node->inputs[1]},
                                                 .input_count = 2,
                                                 .like = {node->inputs[0]},
                                                 .like_count = 1};
    return mgb_gradient_simple(gradient, &request, node->inputs[0]);
}

void mgb_loss_grad_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_text_add(text, " weight=%.9g", (double)node->a.loss.weight);
}
