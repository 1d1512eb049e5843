/* Hierarchical resampling of one side; see resample.h. */
#include "db/resample.h"

#include "db/bootstrap.h"
#include "db/draw.h"
#include "db/order.h"
#include "db/student.h"

#include <math.h>
#include <stdlib.h>

void mgb_resample_done(struct mgb_resample *resample)
{
    free(resample->medians);
    free(resample->draws);
    *resample = (struct mgb_resample){0};
}

static double mean_get(const double *values, size_t count)
{
    double mean = 0;
    for (size_t i = 0; i < count; i++)
        mean += (values[i] - mean) / (double)(i + 1);
    return mean;
}

/* Unbiased, of at least two values. */
static double variance_get(const double *values, size_t count)
{
    double mean = mean_get(values, count), square = 0;
    for (size_t i = 0; i < count; i++)
        square += (values[i] - mean) * (values[i] - mean);
    return square / (double)(count - 1);
}

static bool steps_differ(const struct mgb_series *series)
{
    for (size_t i = 1; i < series->count; i++)
        if (series->wall_ns[i] != series->wall_ns[0])
            return true;
    return false;
}

/* The variance of the location: that of the repetitions' medians, which holds both the spread between repetitions and the
 * noise of their steps, over their number. Few repetitions may by chance agree better than their own steps allow: the
 * noise of the steps is the least it can be, and is then known by all blocks and not by so few repetitions. */
static void variance_set(struct mgb_resample *out, double within, double within_freedom)
{
    size_t count = out->location.repetitions;
    double between = count < 2 ? 0 : variance_get(out->medians, count);
    out->variance = fmax(between, within) / (double)count;
    out->freedom = between > within ? (double)(count - 1) : fmax(1, within_freedom);
}

/* The same on logarithms, for repetitions that differ by factors. */
static void logarithms_set(struct mgb_resample *out)
{
    size_t count = out->location.repetitions;
    double mean = 0, square = 0;
    for (size_t i = 0; i < count; i++)
        mean += log(out->medians[i]) / (double)count;
    for (size_t i = 0; i < count; i++)
        square += (log(out->medians[i]) - mean) * (log(out->medians[i]) - mean);
    double between = count < 2 ? 0 : square / (double)(count - 1) / (double)count;
    out->log_mean = mean;
    out->log_variance = fmax(between, out->variance / (out->location.ns * out->location.ns));
}

/* Resampled medians of each repetition into `pools`, a row each. */
static enum mgb_status repetitions_draw(struct mgb_resample *out, double *pools,
                                        const struct mgb_side *side, size_t resamples,
                                        uint64_t seed, uint64_t stream)
{
    double within = 0, freedom = 0;
    out->location = (struct mgb_location){side->count, side->repetitions[0].count, 0, 0, 0};
    for (size_t i = 0; i < side->count; i++) {
        const struct mgb_series *series = &side->repetitions[i];
        struct mgb_interval interval;
        MGB_TRY(mgb_bootstrap_draw(&interval, pools + i * resamples, series->wall_ns, series->count,
                                   resamples, seed, (stream << 32) + i + 1));
        out->medians[i] = interval.median_ns;
        within += interval.error_ns * interval.error_ns / (double)side->count;
        freedom += interval.freedom;
        if (series->count < out->location.steps)
            out->location.steps = series->count;
        out->few_steps = side->count == 1 && interval.block == 0 && steps_differ(series);
    }
    out->location.ns = mean_get(out->medians, side->count);
    variance_set(out, within, freedom);
    logarithms_set(out);
    return MGB_OK;
}

/* Repetitions first; the blocks within each were drawn before, one of its resamples stands for them. */
static void locations_draw(struct mgb_resample *out, const double *pools, size_t resamples,
                           uint64_t seed, uint64_t stream)
{
    size_t count = out->location.repetitions;
    for (size_t i = 0; i < resamples; i++) {
        double sum = 0;
        for (size_t k = 0; k < count; k++) {
            uint64_t bits = mgb_draw_at(seed, stream << 32, i * count + k);
            uint32_t repetition = mgb_draw_below(bits, (uint32_t)count);
            uint32_t draw = mgb_draw_below(bits << 32, (uint32_t)resamples);
            sum += pools[repetition * resamples + draw];
        }
        out->draws[i] = sum / (double)count;
    }
}

enum mgb_status mgb_resample_init(struct mgb_resample *out, const struct mgb_side *side,
                                  size_t resamples, uint64_t seed, uint64_t stream)
{
    *out = (struct mgb_resample){.medians = calloc(side->count, sizeof *out->medians),
                                 .draws = calloc(resamples, sizeof *out->draws)};
    double *pools = calloc(side->count * resamples, sizeof *pools);
    enum mgb_status status = MGB_OK;
    if (!out->medians || !out->draws || !pools)
        status = mgb_fail(MGB_NO_MEMORY, "no memory for %zu resamples of %zu repetitions",
                          resamples, side->count);
    else
        status = repetitions_draw(out, pools, side, resamples, seed, stream);
    if (status == MGB_OK)
        locations_draw(out, pools, resamples, seed, stream);
    free(pools);
    if (status != MGB_OK)
        mgb_resample_done(out);
    return status;
}

void mgb_resample_interval(double *low, double *high, double centre, double *draws, size_t count,
                           double variance, double freedom)
{
    double spread = sqrt(variance_get(draws, count));
    double wide = sqrt(variance) * mgb_student_quantile(0.025, freedom) / 1.959963984540054;
    double stretch = spread > 0 ? wide / spread : 0;
    mgb_order_sort(draws, count);
    *low = centre - stretch * fmax(0, centre - mgb_order_percentile(draws, count, 0.025));
    *high = centre + stretch * fmax(0, mgb_order_percentile(draws, count, 0.975) - centre);
}
