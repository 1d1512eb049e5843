/* Average over windows, cells outside x not counted, and its gradient, gathered as in max_pool2d.c. */
#include "engine/host/ops/pool.h"

#include "engine/base/parallel.h"
#include "engine/host/simd.h"

#define LANES MGB_POOL_LANES

struct avg_work {
    struct mgb_pool2d pool;
    const float *from;
    float *to;
};

struct ranges {
    int64_t begin[2], end[2];
};

static inline void avg_lanes(const struct avg_work *work, const float *x, float *y, struct ranges cells, int64_t lanes)
{
    const struct mgb_pool2d *p = &work->pool;
    float sum[LANES] = {0};
    for (int64_t ky = cells.begin[0]; ky < cells.end[0]; ky++)
        for (int64_t kx = cells.begin[1]; kx < cells.end[1]; kx++) {
            const float *in = x + (ky * p->dilation[0] * p->in[1] + kx * p->dilation[1]) * p->inner;
            for (int64_t j = 0; j < lanes; j++)
                sum[j] += in[j];
        }
    float count = (float)((cells.end[0] - cells.begin[0]) * (cells.end[1] - cells.begin[1]));
    for (int64_t j = 0; j < lanes; j++)
        y[j] = sum[j] / count;
}

MGB_SIMD static void avg_rows(const struct avg_work *work, int64_t begin, int64_t end)
{
    const struct mgb_pool2d *p = &work->pool;
    for (int64_t row = begin; row < end; row++) {
        int64_t image = row / p->out[0], y = row % p->out[0];
        struct ranges cells;
        mgb_pool2d_cells(p, 0, y, &cells.begin[0], &cells.end[0]);
        for (int64_t x = 0; x < p->out[1]; x++) {
            mgb_pool2d_cells(p, 1, x, &cells.begin[1], &cells.end[1]);
            int64_t top = y * p->stride[0] - p->before[0], left = x * p->stride[1] - p->before[1];
            const float *from = work->from + ((image * p->in[0] + top) * p->in[1] + left) * p->inner;
            float *to = work->to + (row * p->out[1] + x) * p->inner;
            int64_t c = 0;
            for (; c + LANES <= p->inner; c += LANES)
                avg_lanes(work, from + c, to + c, cells, LANES);
            if (c < p->inner)
                avg_lanes(work, from + c, to + c, cells, p->inner - c);
        }
    }
}

static void avg_range(void *context, long long begin, long long end)
{
    avg_rows(context, begin, end);
}

static inline void avg_grad_lanes(const struct avg_work *work, const int64_t at[3], struct ranges windows, int64_t channel,
                                  int64_t lanes)
{
    const struct mgb_pool2d *p = &work->pool;
    float sum[LANES] = {0};
    for (int64_t wy = windows.begin[0]; wy < windows.end[0]; wy++)
        for (int64_t wx = windows.begin[1]; wx < windows.end[1]; wx++) {
            if (mgb_pool2d_cell(p, 0, at[1], wy) < 0 || mgb_pool2d_cell(p, 1, at[2], wx) < 0)
                continue;
            struct ranges cells;
            mgb_pool2d_cells(p, 0, wy, &cells.begin[0], &cells.end[0]);
            mgb_pool2d_cells(p, 1, wx, &cells.begin[1], &cells.end[1]);
            float count = (float)((cells.end[0] - cells.begin[0]) * (cells.end[1] - cells.begin[1]));
            const float *dy = work->from + ((at[0] * p->out[0] + wy) * p->out[1] + wx) * p->inner + channel;
            for (int64_t j = 0; j < lanes; j++)
                sum[j] += dy[j] / count;
        }
    float *to = work->to + ((at[0] * p->in[0] + at[1]) * p->in[1] + at[2]) * p->inner + channel;
    for (int64_t j = 0; j < lanes; j++)
        to[j] = sum[j];
}

MGB_SIMD static void avg_grad_rows(const struct avg_work *work, int64_t begin, int64_t end)
{
    const struct mgb_pool2d *p = &work->pool;
    for (int64_t row = begin; row < end; row++) {
        int64_t at[3] = {row / p->in[0], row % p->in[0], 0}; /* image, y, x */
        struct ranges windows;
        mgb_pool2d_windows(p, 0, at[1], &windows.begin[0], &windows.end[0]);
        for (; at[2] < p->in[1]; at[2]++) {
            mgb_pool2d_windows(p, 1, at[2], &windows.begin[1], &windows.end[1]);
            int64_t channel = 0;
            for (; channel + LANES <= p->inner; channel += LANES)
                avg_grad_lanes(work, at, windows, channel, LANES);
            if (channel < p->inner)
                avg_grad_lanes(work, at, windows, channel, p->inner - channel);
        }
    }
}

static void avg_grad_range(void *context, long long begin, long long end)
{
    avg_grad_rows(context, begin, end);
}

static enum mgb_status avg_make(struct mgb_kernel *kernel)
{
    mgb_pool2d_plan(kernel, kernel->use.in[0].layout);
    return MGB_OK;
}

static enum mgb_status avg_pass(struct mgb_kernel *kernel, const struct mgb_launch *launch, mgb_range_function *f,
                                bool gradient)
{
    int layout = kernel->use.in[0].layout;
    struct avg_work work = {.pool = mgb_host_pool2d_make(kernel, layout)};
    work.from = launch->inputs[0];
    work.to = mgb_pool2d_output(kernel, launch);
    int64_t height = gradient ? work.pool.in[0] : work.pool.out[0];
    mgb_parallel_for(work.pool.outer * height, 1, f, &work);
    mgb_pool2d_finish(kernel, launch, layout);
    return MGB_OK;
}

static enum mgb_status avg_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    return avg_pass(kernel, launch, avg_range, false);
}

static enum mgb_status avg_grad_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    return avg_pass(kernel, launch, avg_grad_range, true);
}

const struct mgb_host_op mgb_host_avg_pool2d = {.make = avg_make, .run = avg_run};
const struct mgb_host_op mgb_host_avg_pool2d_grad = {.make = avg_make, .run = avg_grad_run};
