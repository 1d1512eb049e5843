/* Maximum over windows, and its gradient. The index of the winning cell (the first of equal ones) is kept for the
 * gradient in a byte: the graph refuses windows of more than 256 cells. The gradient gathers, pixel by pixel over the
 * windows that cover it, in their order: no two threads write the same pixel. */
#include "engine/host/ops/pool.h"

#include "engine/base/parallel.h"
#include "engine/host/lanes.h"
#include "engine/host/simd.h"
#include <string.h>

struct max_work {
    struct mgb_pool2d pool;
    const float *from;
    float *to;
    uint8_t *index; /* NULL: not wanted */
};

struct cells {
    int64_t begin[2], end[2];
};

/* x points at where cell (0, 0) would lie; cells outside x are never touched. */
MGB_LANES_INLINE void cell_at(const struct mgb_pool2d *p, const float **at, const float *x,
                              int64_t ky, int64_t kx)
{
    *at = x + (ky * p->in[1] + kx) * p->inner;
}

/* Eight channels, or sixteen when `two` (a constant, so that the windows are walked once). NaN wins, so that it is seen;
 * of equal ones the first. */
MGB_LANES_INLINE void max_lanes(const struct max_work *work, const struct mgb_pool2d *p,
                                const float *x, const struct cells *cells, int64_t at, bool two)
{
    const float *from;
    cell_at(p, &from, x, cells->begin[0], cells->begin[1]);
    struct mgb_lanes best = mgb_lanes_load(from),
                     more = two ? mgb_lanes_load(from + MGB_LANES) : best;
    struct mgb_winners winner =
        mgb_winners_all((int32_t)(cells->begin[0] * p->size[1] + cells->begin[1]));
    struct mgb_winners other = winner;
    for (int64_t ky = cells->begin[0]; ky < cells->end[0]; ky++)
        for (int64_t kx = cells->begin[1]; kx < cells->end[1]; kx++) {
            int32_t cell = (int32_t)(ky * p->size[1] + kx);
            cell_at(p, &from, x, ky, kx);
            mgb_lanes_max(&best, &winner, from, cell);
            if (two)
                mgb_lanes_max(&more, &other, from + MGB_LANES, cell);
        }
    mgb_lanes_store(work->to + at, best);
    if (two)
        mgb_lanes_store(work->to + at + MGB_LANES, more);
    if (work->index)
        mgb_winners_store(work->index + at, winner);
    if (work->index && two)
        mgb_winners_store(work->index + at + MGB_LANES, other);
}

/* The same for one channel. */
static void max_one(const struct max_work *work, const float *x, const struct cells *cells,
                    int64_t at)
{
    const struct mgb_pool2d *p = &work->pool;
    const float *from;
    int64_t winner = cells->begin[0] * p->size[1] + cells->begin[1];
    cell_at(p, &from, x, cells->begin[0], cells->begin[1]);
    float best = *from;
    for (int64_t ky = cells->begin[0]; ky < cells->end[0]; ky++)
        for (int64_t kx = cells->begin[1]; kx < cells->end[1]; kx++) {
            cell_at(p, &from, x, ky, kx);
            if (*from > best || *from != *from) {
                best = *from;
                winner = ky * p->size[1] + kx;
            }
        }
    work->to[at] = best;
    if (work->index)
        work->index[at] = (uint8_t)winner;
}

/* All channels of one window. */
MGB_LANES_INLINE void max_window(const struct max_work *work, const struct mgb_pool2d *p,
                                 const float *first, const struct cells *cells, int64_t at)
{
    int64_t channel = 0;
    for (; channel + 2 * MGB_LANES <= p->inner; channel += 2 * MGB_LANES)
        max_lanes(work, p, first + channel, cells, at + channel, true);
    for (; channel + MGB_LANES <= p->inner; channel += MGB_LANES)
        max_lanes(work, p, first + channel, cells, at + channel, false);
    for (; channel < p->inner; channel++)
        max_one(work, first + channel, cells, at + channel);
}

/* Windows of 2x2 that lie inside x and side by side, the common ones: with sizes that the compiler knows, the
 * gradient takes less than half the time. */
static bool pairs(const struct mgb_pool2d *p)
{
    bool pairs = true;
    for (int i = 0; i < 2; i++)
        pairs = pairs && p->size[i] == 2 && p->stride[i] == 2 && p->before[i] == 0 &&
                2 * p->out[i] <= p->in[i];
    return pairs;
}

MGB_SIMD static void max_pair_rows(const struct max_work *given, int64_t begin, int64_t end)
{
    struct max_work own = *given,
                    *work = &own; /* which no store can change: it stays in registers */
    static const struct cells all = {{0, 0}, {2, 2}};
    struct mgb_pool2d p = work->pool;
    p.size[0] = p.size[1] = 2;
    for (int64_t row = begin; row < end; row++) {
        int64_t image = row / p.out[0], y = row % p.out[0];
        const float *line = work->from + (image * p.in[0] + 2 * y) * p.in[1] * p.inner;
        for (int64_t x = 0; x < p.out[1]; x++)
            max_window(work, &p, line + 2 * x * p.inner, &all, (row * p.out[1] + x) * p.inner);
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
            const float *first =
                work->from + ((image * p->in[0] + top) * p->in[1] + left) * p->inner;
            max_window(work, p, first, &cells, (row * p->out[1] + x) * p->inner);
        }
    }
}

static void max_range(void *context, long long begin, long long end)
{
    struct max_work *work = context;
    if (pairs(&work->pool))
        max_pair_rows(work, begin, end);
    else
        max_rows(work, begin, end);
}

struct windows {
    int64_t begin[2], end[2];
};

/* A window over a pixel. */
struct cover {
    const struct mgb_pool2d *pool;
    const struct windows *windows;
    int64_t image, y, x, wy, wx;
    int64_t at;   /* of the window's first channel in dy */
    int32_t cell; /* the pixel's cell in it */
};

MGB_LANES_INLINE void cover_place(struct cover *c)
{
    const struct mgb_pool2d *p = c->pool;
    int64_t ky = c->y + p->before[0] - c->wy * p->stride[0];
    int64_t kx = c->x + p->before[1] - c->wx * p->stride[1];
    c->cell = (int32_t)(ky * p->size[1] + kx);
    c->at = ((c->image * p->out[0] + c->wy) * p->out[1] + c->wx) * p->inner;
}

MGB_LANES_INLINE struct mgb_lanes won_lanes(const struct max_work *work, int64_t at, int32_t cell)
{
    return mgb_lanes_where(mgb_lanes_load(work->from + at), mgb_winners_load(work->index + at),
                           cell);
}

MGB_LANES_INLINE void grad_lanes(const struct max_work *work, struct cover c, int64_t channel,
                                 bool two)
{
    const struct mgb_pool2d *p = c.pool;
    float *to = work->to + ((c.image * p->in[0] + c.y) * p->in[1] + c.x) * p->inner + channel;
    struct mgb_lanes sum = {{0}, {0}}, more = {{0}, {0}};
    for (c.wy = c.windows->begin[0]; c.wy < c.windows->end[0]; c.wy++)
        for (c.wx = c.windows->begin[1]; c.wx < c.windows->end[1]; c.wx++) {
            cover_place(&c);
            sum = mgb_lanes_add(sum, won_lanes(work, c.at + channel, c.cell));
            if (two)
                more = mgb_lanes_add(more, won_lanes(work, c.at + channel + MGB_LANES, c.cell));
        }
    mgb_lanes_store(to, sum);
    if (two)
        mgb_lanes_store(to + MGB_LANES, more);
}

static void grad_one(const struct max_work *work, struct cover c, int64_t channel)
{
    const struct mgb_pool2d *p = c.pool;
    float sum = 0;
    for (c.wy = c.windows->begin[0]; c.wy < c.windows->end[0]; c.wy++)
        for (c.wx = c.windows->begin[1]; c.wx < c.windows->end[1]; c.wx++) {
            cover_place(&c);
            sum += work->index[c.at + channel] == c.cell ? work->from[c.at + channel] : 0.0f;
        }
    work->to[((c.image * p->in[0] + c.y) * p->in[1] + c.x) * p->inner + channel] = sum;
}

/* Rows [begin, end) of all outer images of x. */
MGB_SIMD static void max_grad_rows(const struct max_work *work, int64_t begin, int64_t end)
{
    const struct mgb_pool2d *p = &work->pool;
    for (int64_t row = begin; row < end; row++) {
        struct windows windows = {{0, 0}, {0, 0}};
        struct cover cover = {
            .pool = p, .windows = &windows, .image = row / p->in[0], .y = row % p->in[0]};
        mgb_pool2d_windows(p, 0, cover.y, &windows.begin[0], &windows.end[0]);
        for (cover.x = 0; cover.x < p->in[1]; cover.x++) {
            int64_t channel = 0;
            mgb_pool2d_windows(p, 1, cover.x, &windows.begin[1], &windows.end[1]);
            for (; channel + 2 * MGB_LANES <= p->inner; channel += 2 * MGB_LANES)
                grad_lanes(work, cover, channel, true);
            for (; channel + MGB_LANES <= p->inner; channel += MGB_LANES)
                grad_lanes(work, cover, channel, false);
            for (; channel < p->inner; channel++)
                grad_one(work, cover, channel);
        }
    }
}

/* The gradient at the two pixels of a row that window `at` covers, the first of them cell `cell`. The sums begin with 0 as
 * those of overlapping windows do. */
MGB_LANES_INLINE void pair_lanes(const struct max_work *work, int64_t at, float *to, int32_t cell)
{
    struct mgb_lanes zero = {{0}, {0}}, dy = mgb_lanes_load(work->from + at);
    struct mgb_winners winner = mgb_winners_load(work->index + at);
    mgb_lanes_store(to, mgb_lanes_add(zero, mgb_lanes_where(dy, winner, cell)));
    mgb_lanes_store(to + work->pool.inner,
                    mgb_lanes_add(zero, mgb_lanes_where(dy, winner, cell + 1)));
}

MGB_LANES_INLINE void pair_one(const struct max_work *work, int64_t at, float *to, int32_t cell)
{
    to[0] = 0.0f + (work->index[at] == cell ? work->from[at] : 0.0f);
    to[work->pool.inner] = 0.0f + (work->index[at] == cell + 1 ? work->from[at] : 0.0f);
}

/* Rows [begin, end) of all outer images of x, under windows of pairs. */
MGB_SIMD static void max_grad_pair_rows(const struct max_work *work, int64_t begin, int64_t end)
{
    const struct mgb_pool2d *p = &work->pool;
    int64_t inner = p->inner;
    for (int64_t row = begin; row < end; row++) {
        int64_t image = row / p->in[0], y = row % p->in[0], x = 0;
        float *line = work->to + row * p->in[1] * inner;
        for (; x < p->out[1] && y / 2 < p->out[0]; x++) {
            int64_t at = ((image * p->out[0] + y / 2) * p->out[1] + x) * inner, channel = 0;
            int32_t cell = (int32_t)(y % 2 * 2);
            for (; channel + MGB_LANES <= inner; channel += MGB_LANES)
                pair_lanes(work, at + channel, line + 2 * x * inner + channel, cell);
            for (; channel < inner; channel++)
                pair_one(work, at + channel, line + 2 * x * inner + channel, cell);
        }
        memset(line + 2 * x * inner, 0, sizeof(float) * (size_t)((p->in[1] - 2 * x) * inner));
    }
}

static void max_grad_range(void *context, long long begin, long long end)
{
    struct max_work *work = context;
    if (pairs(&work->pool))
        max_grad_pair_rows(work, begin, end);
    else
        max_grad_rows(work, begin, end);
}

/* That of the input, unless the index must be plain. */
static int max_layout(const struct mgb_kernel *kernel)
{
    return kernel->use.plain[1] ? MGB_LAYOUT_PLAIN : kernel->use.in[0].layout;
}

static enum mgb_status max_make(struct mgb_kernel *kernel)
{
    int layout = max_layout(kernel);
    mgb_pool2d_plan(kernel, layout);
    if (kernel->use.out[1].wanted) {
        kernel->facts.out_layout[1] = layout;
        kernel->facts.out_bytes[1] =
            mgb_layout_count(mgb_host_image(&kernel->use.out[0], kernel->use.rows), layout);
    }
    return MGB_OK;
}

static enum mgb_status max_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    int layout = max_layout(kernel);
    struct max_work work = {.pool = mgb_host_pool2d_make(kernel, layout)};
    work.from = mgb_pool2d_input(kernel, launch, layout);
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
