/* Batch statistics, the normalisation and the tower's share of the moving statistics. Forward reads x twice and writes y
 * once. Sums are taken of distances from the first value of each channel, so that a large mean costs no digits. */
#include "engine/host/ops/batch_norm.h"

#include "engine/host/simd.h"
#include <string.h>

struct stats_work {
    const float *x;
    const float *origin; /* by channel, filled up */
    int64_t inner;
};

/* Several positions a pass: their sums are loaded and stored once, and still added one after the other. */
#define PASS 4
MGB_SIMD static void stats_wide(const float *x, const float *origin, int64_t inner,
                                int64_t positions, double *first, double *second)
{
    for (; positions >= PASS; positions -= PASS, x += PASS * inner) {
        MGB_EACH
        for (int64_t i = 0; i < inner; i++) {
            double from = (double)origin[i], one = first[i], two = second[i];
            for (int k = 0; k < PASS; k++) {
                double d = (double)x[k * inner + i] - from;
                one += d;
                two += d * d;
            }
            first[i] = one;
            second[i] = two;
        }
    }
    for (; positions > 0; positions--, x += inner) {
        MGB_EACH
        for (int64_t i = 0; i < inner; i++) {
            double d = (double)x[i] - (double)origin[i];
            first[i] += d;
            second[i] += d * d;
        }
    }
}

/* One block of 16 channels: its sums stay in registers. */
#define TILE 16
typedef float float8 __attribute__((vector_size(32)));
typedef double double8 __attribute__((vector_size(64)));

MGB_SIMD static void stats_tile(const float *x, const float *origin, int64_t positions,
                                double *first, double *second)
{
    double8 from[2], one[2], two[2];
    float8 in[2];
    memcpy(in, origin, sizeof in);
    memcpy(one, first, sizeof one);
    memcpy(two, second, sizeof two);
    for (int h = 0; h < 2; h++)
        from[h] = __builtin_convertvector(in[h], double8);
    for (int64_t p = 0; p < positions; p++, x += TILE) {
        memcpy(in, x, sizeof in);
        for (int h = 0; h < 2; h++) {
            double8 d = __builtin_convertvector(in[h], double8) - from[h];
            one[h] += d;
            two[h] += d * d;
        }
    }
    memcpy(first, one, sizeof one);
    memcpy(second, two, sizeof two);
}

static void stats_add(const void *context, int64_t block, int64_t at, int64_t positions,
                      double *first, double *second)
{
    const struct stats_work *work = context;
    const float *origin = work->origin + block * work->inner;
    if (work->inner == TILE)
        stats_tile(work->x + at, origin, positions, first, second);
    else
        stats_wide(work->x + at, origin, work->inner, positions, first, second);
}

static enum mgb_status stats_make(struct mgb_kernel *kernel)
{
    struct mgb_channels c =
        mgb_channels_make(&kernel->use.in[0], kernel->use.rows, kernel->use.in[0].layout);
    if (!kernel->use.training) {
        kernel->facts.alias = 1;
        return MGB_OK;
    }
    mgb_channels_plan(kernel, 0, MGB_LAYOUT_PLAIN);
    kernel->part[MGB_PART_SCRATCH] = mgb_host_take_workspace(kernel, mgb_channels_bytes(&c));
    kernel->part[MGB_PART_OUTPUT] = mgb_host_take_workspace(kernel, 4 * c.filled);
    return MGB_OK;
}

static enum mgb_status stats_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct mgb_channels c =
        mgb_channels_make(&kernel->use.in[0], kernel->use.rows, kernel->use.in[0].layout);
    const float *x = launch->inputs[0];
    float *origin = mgb_part(kernel, launch, MGB_PART_OUTPUT);
    float *mean = launch->outputs[0], *variance = launch->outputs[1];
    for (int64_t i = 0; i < c.filled; i++)
        origin[i] = x[i / c.inner * c.pixels * c.inner + i % c.inner];
    struct stats_work work = {x, origin, c.inner};
    double *sums = mgb_part(kernel, launch, MGB_PART_SCRATCH), n = (double)(c.rows * c.pixels);
    mgb_channels_sum(&c, stats_add, &work, sums);
    for (int64_t i = 0; i < c.channels; i++) {
        double away = sums[i] / n, spread = sums[c.filled + i] / n - away * away;
        mean[i] = (float)((double)origin[i] + away);
        variance[i] = spread < 0 ? 0.0f : (float)spread;
    }
    return MGB_OK;
}

struct norm_work {
    float *y;
    const float *x, *mean, *slope, *shift; /* coefficients: a stretch for each block */
};

MGB_SIMD static void norm_linear(float *y, const float *x, const float *mean, const float *slope,
                                 const float *shift, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        y[i] = (x[i] - mean[i]) * slope[i] + shift[i];
}

MGB_SIMD static void norm_relu(float *y, const float *x, const float *mean, const float *slope,
                               const float *shift, int64_t count)
{
    MGB_EACH
    for (int64_t i = 0; i < count; i++) {
        float z = (x[i] - mean[i]) * slope[i] + shift[i];
        y[i] = z > 0 ? z : 0;
    }
}

static void linear_each(const void *context, int64_t at, int64_t k, int64_t count)
{
    const struct norm_work *work = context;
    norm_linear(work->y + at, work->x + at, work->mean + k, work->slope + k, work->shift + k,
                count);
}

static void relu_each(const void *context, int64_t at, int64_t k, int64_t count)
{
    const struct norm_work *work = context;
    norm_relu(work->y + at, work->x + at, work->mean + k, work->slope + k, work->shift + k, count);
}

static enum mgb_status norm_make(struct mgb_kernel *kernel)
{
    int layout = kernel->use.plain[0] ? MGB_LAYOUT_PLAIN : kernel->use.in[0].layout;
    struct mgb_channels c = mgb_channels_make(&kernel->use.in[0], kernel->use.rows, layout);
    mgb_channels_plan(kernel, 1, layout);
    kernel->part[MGB_PART_SCRATCH] =
        mgb_host_take_workspace(kernel, 3 * 4 * c.blocks * mgb_channels_stretch(&c).length);
    kernel->facts.out_layout[0] = layout;
    kernel->facts.out_bytes[0] = 4 * c.rows * c.pixels * c.filled;
    kernel->facts.in_place = kernel->part[0] < 0 ? 0 : -1;
    return MGB_OK;
}

static enum mgb_status norm_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    int layout = kernel->facts.out_layout[0];
    struct mgb_channels c = mgb_channels_make(&kernel->use.in[0], kernel->use.rows, layout);
    struct mgb_stretch stretch = mgb_channels_stretch(&c);
    float *mean = mgb_part(kernel, launch, MGB_PART_SCRATCH),
          *slope = mean + c.blocks * stretch.length, *shift = slope + c.blocks * stretch.length;
    for (int64_t i = 0; i < c.filled; i++) {
        struct mgb_norm_line line = {0, 0, 0, 0}; /* what fills up a block stays 0 */
        if (i < c.channels)
            line = mgb_norm_line_at(kernel, launch, 1, 3, i);
        for (int64_t r = 0; r < stretch.repeats; r++) {
            int64_t at = i / c.inner * stretch.length + r * c.inner + i % c.inner;
            mean[at] = line.mean;
            slope[at] = line.slope;
            shift[at] = line.shift;
        }
    }
    struct norm_work work = {.y = launch->outputs[0],
                             .x = mgb_channels_input(kernel, launch, 0, layout),
                             .mean = mean,
                             .slope = slope,
                             .shift = shift};
    bool relu = kernel->use.a.norm.activation == MGB_RELU;
    mgb_channels_each(&c, relu ? relu_each : linear_each, &work);
    return MGB_OK;
}

static enum mgb_status moving_make(struct mgb_kernel *kernel)
{
    (void)kernel;
    return MGB_OK;
}

/* The mean over the uses of a layer, times the share that the planner gives the tower. */
static enum mgb_status moving_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    int uses = kernel->use.input_count / 2;
    for (int k = 0; k < 2; k++) {
        float *out = launch->outputs[k];
        for (int64_t i = 0; out && i < kernel->use.in[k].count; i++) {
            double sum = 0;
            for (int use = 0; use < uses; use++)
                sum += (double)((const float *)launch->inputs[2 * use + k])[i];
            out[i] = (float)(sum * (double)launch->scale / uses);
        }
    }
    return MGB_OK;
}

const struct mgb_host_op mgb_host_batch_stats = {.make = stats_make, .run = stats_run};
const struct mgb_host_op mgb_host_batch_norm = {.make = norm_make, .run = norm_run};
const struct mgb_host_op mgb_host_batch_moving = {.make = moving_make, .run = moving_run};
