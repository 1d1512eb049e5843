/* Axes as callers count them. */
#include "engine/graph/ops/axis.h"

enum mgb_status mgb_axis_resolve(const struct mgb_op_call *call, int *out, int axis,
                                 const struct mgb_shape *shape)
{
    char text[96];
    if (axis == 0)
        return mgb_op_fail(call, "axis 0 is the batch; what is done to it would mix examples");
    if (shape->rank == 0)
        return mgb_op_fail(call, "axis %d of an input that is one number an example", axis);
    if (axis < -shape->rank || axis > shape->rank)
        return mgb_op_fail(call,
                           "axis %d of input %s; the batch is axis 0, so it has 1 to %d, or -1 to "
                           "-%d from the last back",
                           axis, mgb_shape_format(text, sizeof text, shape), shape->rank,
                           shape->rank);
    *out = axis > 0 ? axis - 1 : shape->rank + axis;
    return MGB_OK;
}
