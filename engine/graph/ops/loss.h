/* What losses have in common: they take two operands, and only the first is trained towards the second. */
#ifndef MGB_GRAPH_OPS_LOSS_H
#define MGB_GRAPH_OPS_LOSS_H

#include "engine/graph/op.h"

struct mgb_loss_pair {
    enum mgb_op_kind kind;
    const char *first, *second, *second_role; /* "prediction", "target"; the role is for messages */
};
/* A loss of two f32 operands of equal shapes. */
enum mgb_status mgb_loss_make(struct mgb_graph *graph, int *out, const struct mgb_loss_pair *pair,
                              const char *name, int first, int second);
/* MGB_INVALID when something that is trained leads to the second operand. */
enum mgb_status mgb_loss_check_target(struct mgb_gradient *gradient, const struct mgb_node *node,
                                      const struct mgb_loss_pair *pair);
/* The gradient of the first operand by one node that reads both. */
enum mgb_status mgb_loss_differentiate(struct mgb_gradient *gradient, const struct mgb_node *node,
                                       enum mgb_op_kind kind);
void mgb_loss_grad_text(struct mgb_text *text, const struct mgb_node *node);

#endif
