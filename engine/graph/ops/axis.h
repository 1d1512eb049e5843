/* Axes as callers count them: the batch is 0, the axes of an example 1, 2, ..., negative ones from the last back. */
#ifndef MGB_GRAPH_OPS_AXIS_H
#define MGB_GRAPH_OPS_AXIS_H

#include "engine/graph/op.h"

/* The axis in the shape of an example, from 0. MGB_INVALID for the batch and for axes that `shape` does not have. */
enum mgb_status mgb_axis_resolve(const struct mgb_op_call *call, int *out, int axis,
                                 const struct mgb_shape *shape);

#endif
