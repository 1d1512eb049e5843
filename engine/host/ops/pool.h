/* Geometry of pooling windows, shared by max and average. Kernels run row by row over [outer][pixel][inner] and treat the
 * inner channels alike, so they take every layout as it is; filled-up channels stay 0. */
#ifndef MGB_HOST_OPS_POOL_H
#define MGB_HOST_OPS_POOL_H

#include "engine/host/ops/ops.h"

#define MGB_POOL_LANES 16

struct mgb_pool2d {
    int64_t outer, inner;
    int64_t in[2], out[2]; /* height and width of x and y */
    int64_t size[2], stride[2], dilation[2], before[2];
};

struct mgb_pool2d mgb_host_pool2d_make(const struct mgb_kernel *kernel, int layout);
/* Window cells [*begin, *end) along `axis` that lie inside x, for output position `at`. */
void mgb_pool2d_cells(const struct mgb_pool2d *pool, int axis, int64_t at, int64_t *begin, int64_t *end);
/* Output positions [*begin, *end) whose window may cover input position `at`; the cell is
 * (at + before - position * stride) / dilation where that is a whole number below size. */
void mgb_pool2d_windows(const struct mgb_pool2d *pool, int axis, int64_t at, int64_t *begin, int64_t *end);
/* The cell of that window, or -1. */
int64_t mgb_pool2d_cell(const struct mgb_pool2d *pool, int axis, int64_t at, int64_t position);
/* The layout to work in and the copy of input `input` in it if it has another: sets part and output facts. */
void mgb_pool2d_plan(struct mgb_kernel *kernel, int layout);
const float *mgb_pool2d_input(struct mgb_kernel *kernel, const struct mgb_launch *launch, int layout);
float *mgb_pool2d_output(struct mgb_kernel *kernel, const struct mgb_launch *launch);
void mgb_pool2d_finish(struct mgb_kernel *kernel, const struct mgb_launch *launch, int layout);

#endif
