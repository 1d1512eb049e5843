/* Maximum over windows, and its gradient. The index of the winning cell (the first of equal ones) is kept for the
 * gradient in a byte: the graph refuses windows of more than 256 cells. The gradient gathers, pixel by pixel over the
 * windows that cover it, in their order: no two threads write the same pixel. */
#include "engine/host/ops/pool.h"

#include "engine/base/parallel.h"
#include "engine/host/simd.h"

#define LANES MGB_POOL_LANES

struct max_work {
    struct mgb_pool2d pool;
    const float *from;
    float *to;
    uint8_t *index; /* NULL: not wanted */
};

struct cells {
    int64_t begin[2], end[2];
};

/* The winner in 32 bits, as wide as what it is chosen with: one vector width serves both. */
static inline void cell_lanes(const struct max_work *work, const float *x, struct cells cells, int64_t lanes, float *best,
                              int32_t *winner)
{
    const struct mgb_pool2d *p = &work->pool;
    for (int64_t j = 0; j < lanes; j++) {
        best[j] = -__builtin_inff();
        winner[j] = (int32_t)(cells.begin[0] * p->size[1] + cells.begin[1]);
    }
    for (int64_t ky = cells.begin[0]; ky < cells.end[0]; ky++)
        for (int64_t kx = cells.begin[1]; kx < cells.end[1]; kx++) {
            const float *in = x + (ky * p->dilation[0] * p->in[1] + kx * p->dilation[1]) * p->inner;
            int32_t cell = (int32_t)(ky * p->size[1] + kx);
            for (int64_t j = 0; j < lanes; j++) {
                bool more = (in[j] > best[j]) | (in[j] != in[j]); /* NaN wins, so that it is seen */
                best[j] = more ? in[j] : best[j];
                winner[j] = more ? cell : winner[j];
            }
        }
}

static inline void max_pixel(const struct max_work *work, const float *x, struct cells cells, int64_t at)
{
    for (int64_t c = 0; c < work->pool.inner; c += LANES) {
        float best[LANES];
        int32_t winner[LANES];
        int64_t left = work->pool.inner - c;
        if (left >= LANES) { /* written out so that the width is a constant */
            cell_lanes(work, x + c, cells, LANES, best, winner);
            for (int64_t j = 0; j < LANES; j++)
                work->to[at + c + j] = best[j];
            for (int64_t j = 0; work->index && j < LANES; j++)
                work->index[at + c + j] = (uint8_t)winner[j];
        } else {
            cell_lanes(work, x + c, cells, left, best, winner);
            for (int64_t j = 0; j < left; j++)
                work->to[at + c + j] = best[j];
            for (int64_t j = 0; work->index && j < left; j++)
                work->index[at + c + j] = (uint8_t)winner[j];
        }
    }
}

/* Rows [begin, end) of all outer images of y. */
MGB_SIMD static void max_rows(const struct max_work *work, int64_t begin, int64_t end)
{
    const struct mgb_pool2d *p = &work->pool;
    for (int64_t row = begin; row < end; row++) {
        int64_t image = row / p->out[0], y = row % p->out[0];
        struct cells cells;
        mgb_pool2d_cells(p, 0, y, &cells.begin[0], &cells.end[0]);
        for (int64_t x = 0; x < p->out[1]; x++) {
            mgb_pool2d_cells(p, 1, x, &cells.begin[1], &cells.end[1]);
            int64_t top = y * p->stride[0] - p->before[0], left = x * p->stride[1] - p->before[1];
            const float *first = work->from + ((image * p->in[0] + top) * p->in[1] + left) * p->inner;
            max_pixel(work, first, cells, (row * p->out[1] + x) * p->inner);
        }
    }
}

static void max_range(void *context, long long begin, long long end)
{
    max_rows(context, begin, end);
}

static inline void won_lanes(float *sum, const struct max_work *work, int64_t at, int32_t cell, int64_t lanes)
{
    for (int64_t j = 0; j < lanes; j++)
        sum[j] += work->index[at + j] == cell ? work->from[at + j] : 0.0f;
}

struct windows {
    int64_t begin[2], end[2];
};

static inline void grad_lanes(const struct max_work *work, int64_t image, int64_t y, int64_t x, struct windows windows,
                              int64_t channel, int64_t lanes)
{
    const struct mgb_pool2d *p = &work->pool;
    float sum[LANES] = {0};
    for (int64_t wy = windows.begin[0]; wy < windows.end[0]; wy++)
        for (int64_t wx = windows.begin[1]; wx < windows.end[1]; wx++) {
            int64_t ky = mgb_pool2d_cell(p, 0, y, wy), kx = mgb_pool2d_cell(p, 1, x, wx);
            if (ky < 0 || kx < 0)
                continue;
            int64_t at = ((image * p->out[0] + wy) * p->out[1] + wx) * p->inner + channel;
            won_lanes(sum, work, at, (int32_t)(ky * p->size[1] + kx), lanes);
        }
    float *to = work->to + ((image * p->in[0] + y) * p->in[1] + x) * p->inner + channel;
    for (int64_t j = 0; j < lanes; j++)
        to[j] = sum[j];
}

/* Rows [begin, end) of all outer images of x. */
MGB_SIMD static void max_grad_rows(const struct max_work *work, int64_t begin, int64_t end)
{
    const struct mgb_pool2d *p = &work->pool;
    for (int64_t row = begin; row < end; row++) {
        int64_t image = row / p->in[0], y = row % p->in[0];
        struct windows windows;
        mgb_pool2d_windows(p, 0, y, &windows.begin[0], &windows.end[0]);
        for (int64_t x = 0; x < p->in[1]; x++) {
            mgb_pool2d_windows(p, 1, x, &windows.begin[1], &windows.end[1]);
            int64_t channel = 0;
            for (; channel + LANES <= p->inner; channel += LANES)
                grad_lanes(work, image, y, x, windows, channel, LANES);
            if (channel < p->inner)
                grad_lanes(work, image, y, x, windows, channel, p->inner - channel);
        }
    }
}

static void max_grad_range(void *context, long long begin, long long end)
{
    max_grad_rows(context, begin, end);
}

static enum mgb_status max_make(struct mgb_kernel *kernel)
{
    int layout = kernel->use.in[0].layout;
    mgb_pool2d_plan(kernel, layout);
    if (kernel->use.out[1].wanted) {
        kernel->facts.out_layout[1] = layout;
        kernel->facts.out_bytes[1] = mgb_layout_count(mgb_host_image(&kernel->use.out[0], kernel->use.rows), layout);
    }
    return MGB_OK;
}

static enum mgb_status max_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    int layout = kernel->use.in[0].layout;
    struct max_work work = {.pool = mgb_host_pool2d_make(kernel, layout)};
    work.from = launch->inputs[0];
    work.to = mgb_pool2d_output(kernel, launch);
    work.index = kernel->use.out[1].wanted ? launch->outputs[1] : NULL;
    mgb_parallel_for(work.pool.outer * work.pool.out[0], 1, max_range, &work);
    mgb_pool2d_finish(kernel, launch, layout);
    return MGB_OK;
}

static enum mgb_status max_grad_make(struct mgb_kernel *kernel)
{
    mgb_pool2d_plan(kernel, kernel->use.in[1].layout);
    return MGB_OK;
}

static enum mgb_status max_grad_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    int layout = kernel->use.in[1].layout;
    struct max_work work = {.pool = mgb_host_pool2d_make(kernel, layout)};
    work.from = mgb_pool2d_input(kernel, launch, layout);
    work.to = mgb_pool2d_output(kernel, launch);
    work.index = launch->inputs[1];
    mgb_parallel_for(work.pool.outer * work.pool.in[0], 1, max_grad_range, &work);
    mgb_pool2d_finish(kernel, launch, layout);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_max_pool2d = {.make = max_make, .run = max_run};
const struct mgb_host_op mgb_host_max_pool2d_grad = {.make = max_grad_make, .run = max_grad_run};
