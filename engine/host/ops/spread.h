/* How operands lie under a larger tensor over which they are repeated: strides of 0 where they are. All plain. */
#ifndef MGB_HOST_OPS_SPREAD_H
#define MGB_HOST_OPS_SPREAD_H

#include "engine/host/kernel.h"

#define MGB_SPREAD_AXES (MGB_MAX_RANK + 1)
#define MGB_SPREAD_OPERANDS 2

/* Axes of the larger tensor, the rows first; neighbours that all operands see alike are one. In elements. */
struct mgb_spread {
    int axes, operands;
    int64_t dim[MGB_SPREAD_AXES];
    int64_t stride[MGB_SPREAD_OPERANDS][MGB_SPREAD_AXES];
};

struct mgb_spread mgb_spread_make(const struct mgb_host_tensor *whole, int64_t rows,
                                  const struct mgb_host_tensor *const *operands, int count);
/* Where the `stretch`-th stretch along the last axis begins in each operand. */
void mgb_spread_find(const struct mgb_spread *spread, int64_t stretch,
                     int64_t offset[MGB_SPREAD_OPERANDS]);

#endif
