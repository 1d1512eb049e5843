/* Gradients of batch normalisation: the sums over the batch (dbeta, dgamma), and dx, which takes them. Each reads x and dy
 * once; relu's mask is computed again from x, which is cheaper than reading y. With n values a channel:
 *   dx = gamma rstd (dz - dbeta / n - (x - mean) rstd dgamma / n)       (Ioffe and Szegedy 2015, section 3)
 * and where the statistics are the moving ones only dx = gamma rstd dz. */
#include "engine/host/ops/batch_norm.h"

#include "engine/host/simd.h"
#include <string.h>

enum { DY, X, MEAN, VARIANCE, AFTER_SUMS = 6 }; /* inputs */

struct sums_work {
    const float *dy, *x, *mean, *slope, *shift; /* coefficients by channel, filled up */
    int64_t inner;
    bool relu;
};

/* Several positions a pass: their sums are loaded and stored once, and still added one after the other. */
#define PASS 4
MGB_SIMD static void sums_linear(const struct sums_work *w, int64_t k, int64_t at,
                                 int64_t positions, double *first, double *second)
{
    const float *x = w->x + at, *dy = w->dy + at, *mean = w->mean + k;
    int64_t inner = w->inner;
    for (; positions >= PASS; positions -= PASS, x += PASS * inner, dy += PASS * inner) {
        MGB_EACH
        for (int64_t i = 0; i < inner; i++) {
            double one = first[i], two = second[i];
            for (int q = 0; q < PASS; q++) {
                double dz = (double)dy[q * inner + i];
                one += dz * (double)(x[q * inner + i] - mean[i]);
                two += dz;
            }
            first[i] = one;
            second[i] = two;
        }
    }
    for (; positions > 0; positions--, x += inner, dy += inner) {
        MGB_EACH
        for (int64_t i = 0; i < inner; i++) {
            double dz = (double)dy[i];
            first[i] += dz * (double)(x[i] - mean[i]);
            second[i] += dz;
        }
    }
}

MGB_SIMD static void sums_relu(const struct sums_work *w, int64_t k, int64_t at, int64_t positions,
                               double *first, double *second)
{
    const float *x = w->x + at, *dy = w->dy + at, *mean = w->mean + k, *slope = w->slope + k,
                *shift = w->shift + k;
    int64_t inner = w->inner;
    for (; positions >= PASS; positions -= PASS, x += PASS * inner, dy += PASS * inner) {
        MGB_EACH
        for (int64_t i = 0; i < inner; i++) {
            double one = first[i], two = second[i];
            for (int q = 0; q < PASS; q++) {
                float d = x[q * inner + i] - mean[i], g = dy[q * inner + i];
                double dz = (double)(d * slope[i] + shift[i] > 0 ? g : 0.0f);
                one += dz * (double)d;
                two += dz;
            }
            first[i] = one;
            second[i] = two;
        }
    }
    for (; positions > 0; positions--, x += inner, dy += inner) {
        MGB_EACH
        for (int64_t i = 0; i < inner; i++) {
            float d = x[i] - mean[i], g = dy[i];
            double dz = (double)(d * slope[i] + shift[i] > 0 ? g : 0.0f);
            first[i] += dz * (double)d;
            second[i] += dz;
        }
    }
}

/* A block of 16 channels: sums and coefficients stay in registers. */
#define TILE 16
MGB_SIMD static void sums_tile(const struct sums_work *w, int64_t k, int64_t at, int64_t positions,
                               double *restrict first, double *restrict second)
{
    const float *restrict x = w->x + at, *restrict dy = w->dy + at;
    float mean[TILE], slope[TILE], shift[TILE];
    double one[TILE], two[TILE];
    memcpy(mean, w->mean + k, sizeof mean);
    memcpy(slope, w->slope + k, sizeof slope);
    memcpy(shift, w->shift + k, sizeof shift);
    memcpy(one, first, sizeof one);
    memcpy(two, second, sizeof two);
    bool relu = w->relu;
    for (int64_t p = 0; p < positions; p++, x += TILE, dy += TILE)
        for (int i = 0; i < TILE; i++) {
            float d = x[i] - mean[i], g = dy[i];
            double dz = (double)(!relu || d * slope[i] + shift[i] > 0 ? g : 0.0f);
            one[i] += dz * (double)d;
            two[i] += dz;
        }
    memcpy(first, one, sizeof one);
    memcpy(second, two, sizeof two);
}

static void sums_add(const void *context, int64_t block, int64_t at, int64_t positions,
                     double *first, double *second)
{
    const struct sums_work *work = context;
    int64_t k = block * work->inner;
    if (work->inner == TILE)
        sums_tile(work, k, at, positions, first, second);
    else if (work->relu)
        sums_relu(work, k, at, positions, first, second);
    else
        sums_linear(work, k, at, positions, first, second);
}

static enum mgb_status sums_make(struct mgb_kernel *kernel)
{
    int layout = kernel->use.in[X].layout;
    struct mgb_channels c = mgb_channels_make(&kernel->use.in[X], kernel->use.rows, layout);
    mgb_channels_plan(kernel, 2, layout);
    kernel->part[MGB_PART_SCRATCH] = mgb_host_take_workspace(kernel, mgb_channels_bytes(&c));
    kernel->part[MGB_PART_OUTPUT] = mgb_host_take_workspace(kernel, 3 * 4 * c.filled);
    return MGB_OK;
}

static enum mgb_status sums_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    int layout = kernel->use.in[X].layout;
    struct mgb_channels c = mgb_channels_make(&kernel->use.in[X], kernel->use.rows, layout);
    float *mean = mgb_part(kernel, launch, MGB_PART_OUTPUT), *slope = mean + c.filled,
          *shift = slope + c.filled, *dgamma = launch->outputs[0], *dbeta = launch->outputs[1];
    double *sums = mgb_part(kernel, launch, MGB_PART_SCRATCH);
    memset(mean, 0, 3 * sizeof *mean * (size_t)c.filled);
    for (int64_t i = 0; i < c.channels; i++) {
        struct mgb_norm_line line = mgb_norm_line_at(kernel, launch, MEAN, VARIANCE + 1, i);
        mean[i] = line.mean;
        slope[i] = line.slope;
        shift[i] = line.shift;
    }
    struct sums_work work = {.dy = mgb_channels_input(kernel, launch, DY, layout),
                             .x = mgb_channels_input(kernel, launch, X, layout),
                             .mean = mean,
                             .slope = slope,
                             .shift = shift,
                             .inner = c.inner,
                             .relu = kernel->use.a.norm.activation == MGB_RELU};
    mgb_channels_sum(&c, sums_add, &work, sums);
    for (int64_t i = 0; i < c.channels; i++) {
        struct mgb_norm_line line = mgb_norm_line_at(kernel, launch, MEAN, VARIANCE + 1, i);
        dgamma[i] = (float)(sums[i] * (double)line.rstd);
        dbeta[i] = (float)sums[c.filled + i];
    }
    for (int k = 0; k < 2; k++) /* once more for dx */
        if (launch->outputs[2 + k])
            memcpy(launch->outputs[2 + k], launch->outputs[k], sizeof(float) * (size_t)c.channels);
    return MGB_OK;
}

struct grad_work {
    float *dx;
    const float *dy, *x, *mean, *slope, *shift, *tilt, *lift;
};

MGB_SIMD static void grad_linear(const struct grad_work *w, int64_t at, int64_t k, int64_t count)
{
    float *dx = w->dx + at;
    const float *dy = w->dy + at, *x = w->x + at, *mean = w->mean + k, *slope = w->slope + k,
                *tilt = w->tilt + k, *lift = w->lift + k;
    MGB_EACH
    for (int64_t i = 0; i < count; i++)
        dx[i] = dy[i] * slope[i] + ((x[i] - mean[i]) * tilt[i] + lift[i]);
}

MGB_SIMD static void grad_relu(const struct grad_work *w, int64_t at, int64_t k, int64_t count)
{
    float *dx = w->dx + at;
    const float *dy = w->dy + at, *x = w->x + at, *mean = w->mean + k, *slope = w->slope + k,
                *shift = w->shift + k, *tilt = w->tilt + k, *lift = w->lift + k;
    MGB_EACH
    for (int64_t i = 0; i < count; i++) {
        float d = x[i] - mean[i], g = dy[i];
        float dz = d * slope[i] + shift[i] > 0 ? g : 0.0f;
        dx[i] = dz * slope[i] + (d * tilt[i] + lift[i]);
    }
}

static void linear_each(const void *context, int64_t at, int64_t k, int64_t count)
{
    grad_linear(context, at, k, count);
}

static void relu_each(const void *context, int64_t at, int64_t k, int64_t count)
{
    grad_relu(context, at, k, count);
}

static enum mgb_status grad_make(struct mgb_kernel *kernel)
{
    int layout = kernel->use.plain[0] ? MGB_LAYOUT_PLAIN : kernel->use.in[X].layout;
    struct mgb_channels c = mgb_channels_make(&kernel->use.in[X], kernel->use.rows, layout);
    mgb_channels_plan(kernel, 2, layout);
    kernel->part[MGB_PART_SCRATCH] =
        mgb_host_take_workspace(kernel, 5 * 4 * c.blocks * mgb_channels_stretch(&c).length);
    kernel->facts.out_layout[0] = layout;
    kernel->facts.out_bytes[0] = 4 * c.rows * c.pixels * c.filled;
    kernel->facts.in_place = kernel->part[DY] < 0 ? DY : -1;
    return MGB_OK;
}

/* n counts what the statistics were taken of: launch->scale is the share of it that this tower has. */
static void coefficients_fill(const struct mgb_kernel *kernel, const struct mgb_launch *launch,
                              const struct mgb_channels *c, float *to)
{
    const float *dgamma = launch->inputs[VARIANCE + 1], *dbeta = launch->inputs[VARIANCE + 2];
    struct mgb_stretch stretch = mgb_channels_stretch(c);
    int64_t length = c->blocks * stretch.length;
    double share = kernel->use.training ? (double)launch->scale / (double)(c->rows * c->pixels) : 0;
    memset(to, 0, 5 * sizeof *to * (size_t)length);
    for (int64_t i = 0; i < c->channels; i++) {
        struct mgb_norm_line line = mgb_norm_line_at(kernel, launch, MEAN, AFTER_SUMS, i);
        double slope = (double)line.slope;
        float tilt = (float)(-slope * (double)line.rstd * (double)dgamma[i] * share);
        float lift = (float)(-slope * (double)dbeta[i] * share);
        for (int64_t r = 0; r < stretch.repeats; r++) {
            float *at = to + i / c->inner * stretch.length + r * c->inner + i % c->inner;
            at[0] = line.mean;
            at[length] = line.slope;
            at[2 * length] = line.shift;
            at[3 * length] = tilt;
            at[4 * length] = lift;
        }
    }
}

static enum mgb_status grad_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    int layout = kernel->facts.out_layout[0];
    struct mgb_channels c = mgb_channels_make(&kernel->use.in[X], kernel->use.rows, layout);
    int64_t length = c.blocks * mgb_channels_stretch(&c).length;
    float *k = mgb_part(kernel, launch, MGB_PART_SCRATCH);
    coefficients_fill(kernel, launch, &c, k);
    struct grad_work work = {.dx = launch->outputs[0],
                             .dy = mgb_channels_input(kernel, launch, DY, layout),
                             .x = mgb_channels_input(kernel, launch, X, layout),
                             .mean = k,
                             .slope = k + length,
                             .shift = k + 2 * length,
                             .tilt = k + 3 * length,
                             .lift = k + 4 * length};
    bool relu = kernel->use.a.norm.activation == MGB_RELU;
    mgb_channels_each(&c, relu ? relu_each : linear_each, &work);
    return MGB_OK;
}

const struct mgb_host_op mgb_host_batch_norm_sums = {.make = sums_make, .run = sums_run};
const struct mgb_host_op mgb_host_batch_norm_grad = {.make = grad_make, .run = grad_run};
