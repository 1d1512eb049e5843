/* Average over windows, cells outside x counted or not, and its gradient, gathered as in max_pool2d.c. */
#include "engine/host/ops/pool.h"

#include "engine/base/parallel.h"
#include "engine/host/lanes.h"
#include "engine/host/simd.h"

struct avg_work {
    struct mgb_pool2d pool;
    const float *from;
    float *to;
};

struct ranges {
    int64_t begin[2], end[2];
};

MGB_LANES_INLINE struct mgb_lanes lanes_divide(struct mgb_lanes x, float by)
{
    return (struct mgb_lanes){x.a / by, x.b / by};
}

MGB_LANES_INLINE float cell_count(const struct mgb_pool2d *p, const struct ranges *cells)
{
    if (p->count_padding)
        return (float)(p->size[0] * p->size[1]);
    return (float)((cells->end[0] - cells->begin[0]) * (cells->end[1] - cells->begin[1]));
}

MGB_LANES_INLINE void avg_lanes(const struct avg_work *work, const float *x, float *y,
                                const struct ranges *cells)
{
    const struct mgb_pool2d *p = &work->pool;
    struct mgb_lanes sum = {{0}, {0}};
    for (int64_t ky = cells->begin[0]; ky < cells->end[0]; ky++)
        for (int64_t kx = cells->begin[1]; kx < cells->end[1]; kx++)
            sum = mgb_lanes_add(sum, mgb_lanes_load(x + (ky * p->in[1] + kx) * p->inner));
    mgb_lanes_store(y, lanes_divide(sum, cell_count(p, cells)));
}

/* The same for one channel. */
static void avg_one(const struct avg_work *work, const float *x, float *y,
                    const struct ranges *cells)
{
    const struct mgb_pool2d *p = &work->pool;
    float sum = 0;
    for (int64_t ky = cells->begin[0]; ky < cells->end[0]; ky++)
        for (int64_t kx = cells->begin[1]; kx < cells->end[1]; kx++)
            sum += x[(ky * p->in[1] + kx) * p->inner];
    *y = sum / cell_count(p, cells);
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
            const float *from =
                work->from + ((image * p->in[0] + top) * p->in[1] + left) * p->inner;
            float *to = work->to + (row * p->out[1] + x) * p->inner;
            int64_t c = 0;
            for (; c + MGB_LANES <= p->inner; c += MGB_LANES)
                avg_lanes(work, from + c, to + c, &cells);
            for (; c < p->inner; c++)
                avg_one(work, from + c, to + c, &cells);
        }
    }
}

static void avg_range(void *context, long long begin, long long end)
{
    avg_rows(context, begin, end);
}

/* One pixel of x: gathers from the windows that cover it. */
struct pixel {
    int64_t image, y, x;
    struct ranges windows;
};

/* Where window (wy, wx) lies in dy and how many cells it has. */
MGB_LANES_INLINE float window_find(const struct mgb_pool2d *p, const struct pixel *pixel,
                                   int64_t wy, int64_t wx, int64_t *at)
{
    struct ranges cells;
    mgb_pool2d_cells(p, 0, wy, &cells.begin[0], &cells.end[0]);
    mgb_pool2d_cells(p, 1, wx, &cells.begin[1], &cells.end[1]);
    *at = ((pixel->image * p->out[0] + wy) * p->out[1] + wx) * p->inner;
    return cell_count(p, &cells);
}

MGB_LANES_INLINE void grad_lanes(const struct avg_work *work, const struct pixel *pixel, float *to,
                                 int64_t channel)
{
    struct mgb_lanes sum = {{0}, {0}};
    for (int64_t wy = pixel->windows.begin[0]; wy < pixel->windows.end[0]; wy++)
        for (int64_t wx = pixel->windows.begin[1]; wx < pixel->windows.end[1]; wx++) {
            int64_t at;
            float count = window_find(&work->pool, pixel, wy, wx, &at);
            struct mgb_lanes dy = mgb_lanes_load(work->from + at + channel);
            sum = mgb_lanes_add(sum, lanes_divide(dy, count));
        }
    mgb_lanes_store(to + channel, sum);
}

static void grad_one(const struct avg_work *work, const struct pixel *pixel, float *to,
                     int64_t channel)
{
    float sum = 0;
    for (int64_t wy = pixel->windows.begin[0]; wy < pixel->windows.end[0]; wy++)
        for (int64_t wx = pixel->windows.begin[1]; wx < pixel->windows.end[1]; wx++) {
            int64_t at;
            float count = window_find(&work->pool, pixel, wy, wx, &at);
            sum += work->from[at + channel] / count;
        }
    to[channel] = sum;
}

MGB_SIMD static void avg_grad_rows(const struct avg_work *work, int64_t begin, int64_t end)
{
    const struct mgb_pool2d *p = &work->pool;
    for (int64_t row = begin; row < end; row++) {
        struct pixel pixel = {.image = row / p->in[0], .y = row % p->in[0]};
        mgb_pool2d_windows(p, 0, pixel.y, &pixel.windows.begin[0], &pixel.windows.end[0]);
        for (; pixel.x < p->in[1]; pixel.x++) {
            float *to = work->to + (row * p->in[1] + pixel.x) * p->inner;
            int64_t channel = 0;
            mgb_pool2d_windows(p, 1, pixel.x, &pixel.windows.begin[1], &pixel.windows.end[1]);
            for (; channel + MGB_LANES <= p->inner; channel += MGB_LANES)
                grad_lanes(work, &pixel, to, channel);
            for (; channel < p->inner; channel++)
                grad_one(work, &pixel, to, channel);
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

static enum mgb_status avg_pass(struct mgb_kernel *kernel, const struct mgb_launch *launch,
                                mgb_range_function *f, bool gradient)
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
