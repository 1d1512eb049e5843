/* What lstm and gru share: operands, shapes, gradients. Private to engine/graph. */
#ifndef MGB_GRAPH_OPS_RECURRENT_H
#define MGB_GRAPH_OPS_RECURRENT_H

#include "engine/graph/op.h"

/* `gates`: of the state's width each, in kernel and recurrent kernel; 4 with a cell beside the state, else 3. */
enum mgb_status mgb_recurrent_make(struct mgb_graph *graph, int *out, enum mgb_op_kind kind,
                                   const char *name, int x, const struct mgb_recurrent *r);
/* Values kept for the gradient: `gates` numbers of the state's width a position, one more (the cell, or what the reset gate
 * multiplies) when `second`; and all states when the output has only the last. Then the gradient itself. */
enum mgb_status mgb_recurrent_differentiate(struct mgb_gradient *gradient,
                                            const struct mgb_node *node, int dy,
                                            enum mgb_op_kind kind, int gates, bool second);
double mgb_recurrent_flops(const struct mgb_graph *graph, const struct mgb_node *node, int gates);
double mgb_recurrent_grad_flops(const struct mgb_graph *graph, const struct mgb_node *node,
                                int gates);
void mgb_recurrent_text(struct mgb_text *text, const struct mgb_node *node);

#endif
