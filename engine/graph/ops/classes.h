/* What works on scores for classes and labels that name one: cross-entropy and accuracy. */
#ifndef MGB_GRAPH_OPS_CLASSES_H
#define MGB_GRAPH_OPS_CLASSES_H

#include "engine/graph/op.h"

/* Logits [..., classes] f32 and label [...] i32. */
enum mgb_status mgb_classes_make(struct mgb_graph *graph, int *out, enum mgb_op_kind kind,
                                 const char *name, int logits, int label);

#endif
