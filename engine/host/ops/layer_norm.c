/* Layer normalisation and its gradients, position by position. A row stays in the nearest cache: forward reads x and writes
 * y, dx reads x and dy and writes dx, the gradients of gamma and beta read x and dy once more. Sums in double, of a row in
 * LANES interleaved parts, over positions as those of a batch norm's channels: no team changes a bit. */
#include "engine/host/ops/batch_norm.h"

#include "engine/base/parallel.h"
#include "engine/host/simd.h"
#include <math.h>

#define LANES 16
#define GRAIN 16384 /* elements */

struct layer_work {
    float *to, *mean, *rstd; /* mean, rstd: made by forward where wanted */
    const float *x, *dy, *means, *rstds, *gamma, *beta; /* gamma, beta: NULL where there is none */
    int64_t width;
    float epsilon;
};

static double lanes_total(const double *lane)
{
    double total = 0;
    for (int j = 0; j < LANES; j++)
        total += lane[j];
    return total;
}

MGB_SIMD static double row_sum(const float *x, int64_t width)
{
    double lane[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= width; i += LANES)
        for (int j = 0; j < LANES; j++)
            lane[j] += (double)x[i + j];
    for (int j = 0; i + j < width; j++)
        lane[j] += (double)x[i + j];
    return lanes_total(lane);
}

MGB_SIMD static double row_spread(const float *x, int64_t width, double mean)
{
    double lane[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= width; i += LANES)
        for (int j = 0; j < LANES; j++) {
            double d = (double)x[i + j] - mean;
            lane[j] += d * d;
        }
    for (int j = 0; i + j < width; j++) {
        double d = (double)x[i + j] - mean;
        lane[j] += d * d;
    }
    return lanes_total(lane);
}

MGB_SIMD static void row_normalise(float *y, const float *x, int64_t width, float mean, float rstd)
{
    MGB_EACH
    for (int64_t i = 0; i < width; i++)
        y[i] = (x[i] - mean) * rstd;
}

MGB_SIMD static void row_scale(float *y, const float *gamma, int64_t width)
{
    MGB_EACH
    for (int64_t i = 0; i < width; i++)
        y[i] *= gamma[i];
}

MGB_SIMD static void row_shift(float *y, const float *beta, int64_t width)
{
    MGB_EACH
    for (int64_t i = 0; i < width; i++)
        y[i] += beta[i];
}

static void forward_rows(void *context, long long begin, long long end)
{
    const struct layer_work *w = context;
    for (long long row = begin; row < end; row++) {
        const float *x = w->x + row * w->width;
        float *y = w->to + row * w->width;
        double mean = row_sum(x, w->width) / (double)w->width;
        double variance = row_spread(x, w->width, mean) / (double)w->width;
        float rstd = (float)(1.0 / sqrt(variance + (double)w->epsilon));
        if (w->mean)
            w->mean[row] = (float)mean;
        if (w->rstd)
            w->rstd[row] = rstd;
        row_normalise(y, x, w->width, (float)mean, rstd);
        if (w->gamma)
            row_scale(y, w->gamma, w->width);
        if (w->beta)
            row_shift(y, w->beta, w->width);
    }
}

/* sums[0] of g = gamma dy, sums[1] of g (x - mean). */
MGB_SIMD static void row_products(const float *dy, const float *x, const float *gamma, float mean,
                                  int64_t width, double sums[2])
{
    double one[LANES] = {0}, two[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= width; i += LANES)
        for (int j = 0; j < LANES; j++) {
            double g = (double)(dy[i + j] * gamma[i + j]);
            one[j] += g;
            two[j] += g * (double)(x[i + j] - mean);
        }
    for (int j = 0; i + j < width; j++) {
        double g = (double)(dy[i + j] * gamma[i + j]);
        one[j] += g;
        two[j] += g * (double)(x[i + j] - mean);
    }
    sums[0] = lanes_total(one);
    sums[1] = lanes_total(two);
}

MGB_SIMD static void row_grad(float *dx, const float *dy, const float *x, const float *gamma,
                              int64_t width, float mean, float rstd, float tilt, float lift)
{
    MGB_EACH
    for (int64_t i = 0; i < width; i++)
        dx[i] = (dy[i] * gamma[i]) * rstd - ((x[i] - mean) * tilt + lift);
}

/* dx = rstd (g - mean(g) - xhat mean(g xhat)), xhat = (x - mean) rstd. */
static void grad_rows(void *context, long long begin, long long end)
{
    const struct layer_work *w = context;
    double n = (double)w->width, sums[2];
    for (long long row = begin; row < end; row++) {
        const float *x = w->x + row * w->width, *dy = w->dy + row * w->width;
        float mean = w->means[row];
        double rstd = (double)w->rstds[row];
        row_products(dy, x, w->gamma, mean, w->width, sums);
        float lift = (float)(rstd * sums[0] / n), tilt = (float)(rstd * rstd * rstd * sums[1] / n);
        row_grad(w->to + row * w->width, dy, x, w->gamma, w->width, mean, (float)rstd, tilt, lift);
    }
}

static int64_t width_of(const struct mgb_host_tensor *tensor)
{
    return tensor->shape.dim[tensor->shape.rank - 1];
}

static enum mgb_status layer_make(struct mgb_kernel *kernel)
{
    mgb_plain_plan(kernel);
    kernel->facts.in_place = mgb_flat_direct(kernel, 0) ? 0 : -1;
    return MGB_OK;
}

static enum mgb_status layer_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    const struct mgb_host_use *use = &kernel->use;
    struct layer_work work = {.to = launch->outputs[0],
                              .mean = use->out[1].wanted ? launch->outputs[1] : NULL,
                              .rstd = use->out[2].wanted ? launch->outputs[2] : NULL,
                              .x = mgb_flat_input(kernel, launch, 0),
                              .width = width_of(&use->in[0]),
                              .epsilon = use->a.norm.epsilon};
    int next = 1;
    if (use->a.norm.scale)
        work.gamma = mgb_flat_input(kernel, launch, next++);
    if (use->a.norm.center)
        work.beta = mgb_flat_input(kernel, launch, next);
    mgb_parallel_for(use->in[0].count / work.width, GRAIN / work.width + 1, forward_rows, &work);
    return MGB_OK;
}

/* Without a gamma a row of ones stands for it. */
static enum mgb_status grad_x_make(struct mgb_kernel *kernel)
{
    MGB_TRY(layer_make(kernel));
    kernel->part[MGB_PART_SCRATCH] =
        kernel->use.a.norm.scale
            ? -1
            : mgb_host_take_workspace(kernel, 4 * width_of(&kernel->use.in[1]));
    return MGB_OK;
}

static enum mgb_status grad_x_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct layer_work work = {.to = launch->outputs[0],
                              .dy = mgb_flat_input(kernel, launch, 0),
                              .x = mgb_flat_input(kernel, launch, 1),
                              .means = mgb_flat_input(kernel, launch, 2),
                              .rstds = mgb_flat_input(kernel, launch, 3),
                              .width = width_of(&kernel->use.in[1])};
    float *ones = kernel->use.a.norm.scale ? NULL : mgb_part(kernel, launch, MGB_PART_SCRATCH);
    for (int64_t i = 0; ones && i < work.width; i++)
        ones[i] = 1;
    work.gamma = ones ? ones : mgb_flat_input(kernel, launch, 4);
    mgb_parallel_for(kernel->use.in[1].count / work.width, GRAIN / work.width + 1, grad_rows,
                     &work);
    return MGB_OK;
}

MGB_SIMD static void row_add(const float *dy, const float *x, float mean, float rstd, int64_t width,
                             double *first, double *second)
{
    MGB_EACH
    for (int64_t i = 0; i < width; i++) {
        double g = (double)dy[i];
        first[i] += g * (double)((x[i] - mean) * rstd);
        second[i] += g;
    }
}

static void positions_add(const void *context, int64_t block, int64_t at, int64_t positions,
                          double *first, double *second)
{
    const struct layer_work *w = context;
    (void)block;
    for (int64_t p = 0, row = at / w->width; p < positions; p++, row++)
        row_add(w->dy + row * w->width, w->x + row * w->width, w->means[row], w->rstds[row],
                w->width, first, second);
}

static struct mgb_channels plain_channels(const struct mgb_kernel *kernel)
{
    return mgb_channels_make(&kernel->use.in[1], kernel->use.rows, MGB_LAYOUT_PLAIN);
}

static enum mgb_status grad_w_make(struct mgb_kernel *kernel)
{
    struct mgb_channels c = plain_channels(kernel);
    mgb_plain_plan(kernel);
    kernel->part[MGB_PART_SCRATCH] = mgb_host_take_workspace(kernel, mgb_channels_bytes(&c));
    return MGB_OK;
}

static enum mgb_status grad_w_run(struct mgb_kernel *kernel, const struct mgb_launch *launch)
{
    struct mgb_channels c = plain_channels(kernel);
    struct layer_work work = {.dy = mgb_flat_input(kernel, launch, 0),
                              .x = mgb_flat_input(kernel, launch, 1),
                              .means = mgb_flat_input(kernel, launch, 2),
                              .rstds = mgb_flat_input(kernel, launch, 3),
                              .width = c.channels};
    double *sums = mgb_part(kernel, launch, MGB_PART_SCRATCH);
    float *dgamma = launch->outputs[0], *dbeta = launch->outputs[1];
    mgb_channels_sum(&c, positions_add, &work, sums);
    for (int64_t i = 0; i < c.channels; i++) {
        dgamma[i] = (float)sums[i];
        dbeta[i] = (float)sums[c.filled + i];
    }
    return MGB_OK;
}

const struct mgb_host_op mgb_host_layer_norm = {.make = layer_make, .run = layer_run};
const struct mgb_host_op mgb_host_layer_norm_grad_x = {.make = grad_x_make, .run = grad_x_run};
const struct mgb_host_op mgb_host_layer_norm_grad_w = {.make = grad_w_make, .run = grad_w_run};
