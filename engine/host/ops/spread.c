/* Strides of operands that are repeated. */
#include "engine/host/ops/spread.h"

/* Strides of one operand over the axes of the whole: rows, then those of an example, aligned at the last. */
static void strides_fill(int64_t stride[MGB_SPREAD_AXES], const struct mgb_host_tensor *operand,
                         int rank)
{
    int64_t step = 1;
    for (int back = 1; back <= rank; back++) {
        int64_t dim =
            back <= operand->shape.rank ? operand->shape.dim[operand->shape.rank - back] : 1;
        stride[rank + 1 - back] = dim == 1 ? 0 : step;
        step *= dim;
    }
    stride[0] = operand->batched ? step : 0;
}

static bool alike(const struct mgb_spread *spread, int outer, int inner)
{
    bool same = true;
    for (int i = 0; i < spread->operands; i++)
        same = same && spread->stride[i][outer] == spread->stride[i][inner] * spread->dim[inner];
    return same;
}

static void axis_copy(struct mgb_spread *spread, int to, int from)
{
    for (int i = 0; i < spread->operands; i++)
        spread->stride[i][to] = spread->stride[i][from];
}

struct mgb_spread mgb_spread_make(const struct mgb_host_tensor *whole, int64_t rows,
                                  const struct mgb_host_tensor *const *operands, int count)
{
    struct mgb_spread spread = {.axes = 1, .operands = count};
    int rank = whole->shape.rank;
    int64_t dim[MGB_SPREAD_AXES] = {rows};
    for (int i = 0; i < count; i++)
        strides_fill(spread.stride[i], operands[i], rank);
    for (int i = 0; i < rank; i++)
        dim[i + 1] = whole->shape.dim[i];
    spread.dim[0] = dim[0];
    for (int axis = 1; axis <= rank; axis++) {
        int last = spread.axes - 1;
        if (dim[axis] == 1)
            continue;
        spread.dim[spread.axes] = dim[axis];
        axis_copy(&spread, spread.axes, axis);
        if (spread.dim[last] == 1 || alike(&spread, last, spread.axes)) {
            spread.dim[last] *= dim[axis];
            axis_copy(&spread, last, axis);
        } else {
            spread.axes++;
        }
    }
    return spread;
}

void mgb_spread_find(const struct mgb_spread *spread, int64_t stretch,
                     int64_t offset[MGB_SPREAD_OPERANDS])
{
    for (int i = 0; i < spread->operands; i++)
        offset[i] = 0;
    for (int axis = spread->axes - 2; axis >= 0; axis--) {
        int64_t place = stretch % spread->dim[axis];
        stretch /= spread->dim[axis];
        for (int i = 0; i < spread->operands; i++)
            offset[i] += place * spread->stride[i][axis];
    }
}
