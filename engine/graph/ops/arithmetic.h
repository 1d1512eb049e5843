/* Operators of two operands whose shapes fit each other as in numpy. */
#ifndef MGB_GRAPH_OPS_ARITHMETIC_H
#define MGB_GRAPH_OPS_ARITHMETIC_H

#include "engine/graph/op.h"

/* Is it the read of a variable? False for what is no tensor. */
bool mgb_tensor_is_variable(const struct mgb_graph *graph, int tensor);
/* `word` is the kind that messages name. One of a and b may be the read of a variable. */
enum mgb_status mgb_arithmetic_make(struct mgb_graph *graph, int *out, enum mgb_op_kind kind,
                                    enum mgb_op_kind word, const char *name, int a, int b);

#endif
