/* Geometry of pooling windows, shared by max and average. Kernels run row by row over [outer][pixel][inner] and treat the
 * inner channels alike, so they take every layout as it is; filled-up channels stay 0. */
#ifndef MGB_HOST_OPS_POOL_H
#define MGB_HOST_OPS_POOL_H

#include "engine/host/ops/ops.h"

struct mgb_pool2d {
    int64_t outer, inner;
    int64_t in[2], out[2];                 /* height and width of x and y */
    int64_t size[2], stride[2], before[2]; /* the graph refuses dilated pools */
    bool count_padding;
};

struct mgb_pool2d mgb_host_pool2d_make(const struct mgb_kernel *kernel, int layout);
/* Window cells [*begin, *end) along `axis` that lie inside x, for output position `at`. */
static inline void mgb_pool2d_cells(const struct mgb_pool2d *pool, int axis, int64_t at,
                                    int64_t *begin, int64_t *end)
{
    int64_t first = at * pool->stride[axis] - pool->before[axis];
    int64_t inside = pool->in[axis] - first;
    *begin = first < 0 ? -first : 0;
    *end = pool->size[axis] < inside ? pool->size[axis] : inside;
}

/* Moves [*begin, *end) on to the output positions whose window covers input position `at`, from those of a position
 * before it (0, 0 to begin with). The cell in window w is at + before - w * stride. */
static inline void mgb_pool2d_windows(const struct mgb_pool2d *pool, int axis, int64_t at,
                                      int64_t *begin, int64_t *end)
{
    int64_t place = at + pool->before[axis], stride = pool->stride[axis];
    while (*begin * stride + pool->size[axis] <= place)
        ++*begin;
    while (*end < pool->out[axis] && *end * stride <= place)
        ++*end;
}

/* The layout to work in and the copy of input `input` in it if it has another: sets part and output facts. */
void mgb_pool2d_plan(struct mgb_kernel *kernel, int layout);
const float *mgb_pool2d_input(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                              int layout);
float *mgb_pool2d_output(struct mgb_kernel *kernel, const struct mgb_launch *launch);
void mgb_pool2d_finish(struct mgb_kernel *kernel, const struct mgb_launch *launch, int layout);

#endif
