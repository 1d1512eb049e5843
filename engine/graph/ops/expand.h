/* A variable joined to tensors that have rows. */
#ifndef MGB_GRAPH_OPS_EXPAND_H
#define MGB_GRAPH_OPS_EXPAND_H

#include "engine/graph/op.h"

enum mgb_status mgb_expand_make(struct mgb_graph *graph, int *out, const char *name, int variable);

#endif
