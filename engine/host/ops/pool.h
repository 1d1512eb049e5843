/* Geometry of pooling windows, shared by max and average. Kernels run row by row over [outer][pixel][inner] and treat the
 * inner channels alike, so they take every layout as it is; filled-up channels stay 0. */
#ifndef MGB_HOST_OPS_POOL_H
#define MGB_HOST_OPS_POOL_H

#include "engine/host/ops/ops.h"

struct mgb_pool2d {
    int64_t outer, inner;
    int64_t in[2], out[2]; /* height and width of x and y */
    int64_t size[2], stride[2], dilation[2], before[2];
};

struct mgb_pool2d mgb_host_pool2d_make(const struct mgb_kernel *kernel, int layout);
/* Window cells [*begin, *end) along `axis` that lie inside x, for output position `at`. */
static inline void mgb_pool2d_cells(const struct mgb_pool2d *pool, int axis, int64_t at,
                                    int64_t *begin, int64_t *end)
{
    int64_t first = at * pool->stride[axis] - pool->before[axis], step = pool->dilation[axis];
    int64_t inside = pool->in[axis] - first; /* first + cell * step < in */
    int64_t most = inside <= 0 ? 0 : (inside + step - 1) / step;
    *begin = first < 0 ? (-first + step - 1) / step : 0;
    *end = pool->size[axis] < most ? pool->size[axis] : most;
}

/* Output positions [*begin, *end) whose window may cover input position `at`. */
static inline void mgb_pool2d_windows(const struct mgb_pool2d *pool, int axis, int64_t at,
                                      int64_t *begin, int64_t *end)
{
    int64_t place = at + pool->before[axis], stride = pool->stride[axis];
    int64_t reach = (pool->size[axis] - 1) * pool->dilation[axis], last = place / stride + 1;
    *begin = place <= reach ? 0 : (place - reach + stride - 1) / stride;
    *end = last < pool->out[axis] ? last : pool->out[axis];
}

/* The cell of input position `at` in the window of output position `position`, or -1 where dilation passes over it. */
static inline int64_t mgb_pool2d_cell(const struct mgb_pool2d *pool, int axis, int64_t at,
                                      int64_t position)
{
    int64_t offset = at + pool->before[axis] - position * pool->stride[axis];
    if (pool->dilation[axis] == 1)
        return offset;
    return offset % pool->dilation[axis] == 0 ? offset / pool->dilation[axis] : -1;
}

/* The layout to work in and the copy of input `input` in it if it has another: sets part and output facts. */
void mgb_pool2d_plan(struct mgb_kernel *kernel, int layout);
const float *mgb_pool2d_input(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                              int layout);
float *mgb_pool2d_output(struct mgb_kernel *kernel, const struct mgb_launch *launch);
void mgb_pool2d_finish(struct mgb_kernel *kernel, const struct mgb_launch *launch, int layout);

#endif
