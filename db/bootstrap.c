/* Circular block bootstrap of the median; see bootstrap.h. */
#include "db/bootstrap.h"

#include "db/block.h"
#include "db/blocksum.h"
#include "db/draw.h"
#include "db/order.h"
#include "db/student.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A segment's steps as a resample needs them. */
struct sample {
    size_t count;
    double *sorted;   /* ascending */
    uint32_t *rank;   /* of each step, in the order of steps: its place in `sorted` */
    uint32_t *copies; /* how often each rank was drawn */
};

struct place {
    int64_t ns;
    uint32_t step;
};

static int place_compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? 1 : -1;
    return (x->step > y->step) - (x->step < y->step);
}

static void sample_done(struct sample *sample)
{
    free(sample->sorted);
    free(sample->rank);
    free(sample->copies);
}

static enum mgb_status sample_init(struct sample *out, const int64_t *wall_ns, size_t count)
{
    struct place *places = calloc(count, sizeof *places);
    *out = (struct sample){.count = count,
                           .sorted = calloc(count, sizeof *out->sorted),
                           .rank = calloc(count, sizeof *out->rank),
                           .copies = calloc(count, sizeof *out->copies)};
    if (!places || !out->sorted || !out->rank || !out->copies) {
        free(places);
        sample_done(out);
        return mgb_fail(MGB_NO_MEMORY, "no memory to resample %zu steps", count);
    }
    for (size_t i = 0; i < count; i++)
        places[i] = (struct place){wall_ns[i], (uint32_t)i};
    qsort(places, count, sizeof *places, place_compare);
    for (size_t i = 0; i < count; i++) {
        out->sorted[i] = (double)places[i].ns;
        out->rank[places[i].step] = (uint32_t)i;
    }
    free(places);
    return MGB_OK;
}

/* The block for the median, chosen on the signs of (step - median): to first order the median is a function of their mean
 * (Bahadur 1966), and heavy tails do not hide their correlation. */
static enum mgb_status block_choose(size_t *out, const struct sample *sample)
{
    size_t n = sample->count;
    double automatic, median = mgb_order_median(sample->sorted, n);
    double *signs = calloc(n, sizeof *signs);
    if (!signs)
        return mgb_fail(MGB_NO_MEMORY, "no memory to correlate %zu steps", n);
    for (size_t i = 0; i < n; i++) {
        double ns = sample->sorted[sample->rank[i]];
        signs[i] = (ns > median) - (ns < median);
    }
    enum mgb_status status = mgb_block_automatic(&automatic, signs, n);
    free(signs);
    *out = mgb_block_widen(automatic, n);
    return status;
}

/* The median of one resample: blocks that begin anywhere and go round the end, until there are `count` steps. */
static double resample_median(struct sample *sample, size_t block, uint64_t seed, uint64_t stream,
                              uint64_t *counter)
{
    size_t n = sample->count, drawn = 0;
    memset(sample->copies, 0, n * sizeof *sample->copies);
    while (drawn < n) {
        size_t at = mgb_draw_below(mgb_draw_at(seed, stream, (*counter)++), (uint32_t)n);
        for (size_t i = 0; i < block && drawn < n; i++, drawn++) {
            sample->copies[sample->rank[at]]++;
            at = at + 1 < n ? at + 1 : 0;
        }
    }
    size_t below = 0, i = 0;
    while ((below += sample->copies[i]) <= (n - 1) / 2)
        i++;
    double low = sample->sorted[i];
    while (below <= n / 2)
        below += sample->copies[++i];
    return low + (sample->sorted[i] - low) / 2;
}

/* Standard error from the spread of the resampled medians; blocks are few, and one degree of freedom of theirs is lost. */
static void error_set(struct mgb_interval *out, const double *medians)
{
    double blocks = fmax(2, (double)out->count / (double)out->block), mean = 0, square = 0;
    for (size_t i = 0; i < out->resamples; i++)
        mean += (medians[i] - mean) / (double)(i + 1);
    for (size_t i = 0; i < out->resamples; i++)
        square += (medians[i] - mean) * (medians[i] - mean);
    out->freedom = blocks - 1;
    out->error_ns = sqrt(blocks / (blocks - 1) * square / (double)(out->resamples - 1));
}

static double end_get(double median, double percentile, double widen)
{
    if (median <= 0 || percentile <= 0) /* steps that took no time have no logarithm */
        return fmax(0, median + widen * (percentile - median));
    return median * exp(widen * log(percentile / median));
}

/* Distances of the resampled percentiles from the median, widened: t and the lost degree of freedom stand in for the
 * normal that percentiles imply. Hesterberg, The American Statistician 69 (2015), "expanded percentile interval", done on
 * the distances, since 2000 resamples have no tails beyond 0.001; and on logarithms, since a time is positive (Davison
 * and Hinkley 1997, 5.2.2). Sorts the medians. */
static void interval_set(struct mgb_interval *out, double *medians)
{
    size_t count = out->resamples;
    double widen = sqrt((out->freedom + 1) / out->freedom) *
                   mgb_student_quantile(0.025, out->freedom) / 1.959963984540054;
    mgb_order_sort(medians, count);
    double low = mgb_order_percentile(medians, count, 0.025);
    double high = mgb_order_percentile(medians, count, 0.975);
    out->low_ns = end_get(out->median_ns, fmin(low, out->median_ns), widen);
    out->high_ns = end_get(out->median_ns, fmax(high, out->median_ns), widen);
}

static enum mgb_status sample_draw(struct mgb_interval *out, double *medians, struct sample *sample,
                                   uint64_t stream)
{
    uint64_t counter = 0;
    out->median_ns = mgb_order_median(sample->sorted, sample->count);
    out->low_ns = out->high_ns = out->median_ns;
    if (sample->count >= MGB_BOOTSTRAP_MIN_STEPS)
        MGB_TRY(block_choose(&out->block, sample));
    if (out->block > 0 && sample->count > MGB_BOOTSTRAP_DIRECT) {
        struct mgb_ranked ranked = {sample->sorted, sample->rank, sample->count};
        MGB_TRY(
            mgb_blocksum_medians(medians, out->resamples, &ranked, out->block, out->seed, stream));
    } else {
        for (size_t i = 0; i < out->resamples; i++)
            medians[i] = out->block == 0
                             ? out->median_ns
                             : resample_median(sample, out->block, out->seed, stream, &counter);
    }
    if (out->block > 0)
        error_set(out, medians);
    return MGB_OK;
}

const char *mgb_bootstrap_method(size_t count)
{
    if (count < MGB_BOOTSTRAP_MIN_STEPS)
        return NULL;
    return count > MGB_BOOTSTRAP_DIRECT ? MGB_BOOTSTRAP_METHOD_MANY : MGB_BOOTSTRAP_METHOD;
}

enum mgb_status mgb_bootstrap_draw(struct mgb_interval *out, double *medians,
                                   const int64_t *wall_ns, size_t count, size_t resamples,
                                   uint64_t seed, uint64_t stream)
{
    struct sample sample;
    *out = (struct mgb_interval){.count = count, .resamples = resamples, .seed = seed};
    if (count == 0 || count > INT32_MAX || resamples < 2)
        return mgb_fail(MGB_INVALID,
                        "a median of %zu steps with %zu resamples has no interval: give at least "
                        "one step and two resamples",
                        count, resamples);
    MGB_TRY(sample_init(&sample, wall_ns, count));
    enum mgb_status status = sample_draw(out, medians, &sample, stream);
    sample_done(&sample);
    return status;
}

enum mgb_status mgb_bootstrap_median(struct mgb_interval *out, const int64_t *wall_ns, size_t count,
                                     size_t resamples, uint64_t seed)
{
    resamples = resamples ? resamples : MGB_BOOTSTRAP_RESAMPLES;
    *out = (struct mgb_interval){0};
    double *medians = calloc(resamples, sizeof *medians);
    if (!medians)
        return mgb_fail(MGB_NO_MEMORY, "no memory for %zu resamples", resamples);
    enum mgb_status status =
        mgb_bootstrap_draw(out, medians, wall_ns, count, resamples, seed ? seed : MGB_DRAW_SEED, 0);
    if (status == MGB_OK && out->block > 0)
        interval_set(out, medians);
    free(medians);
    return status;
}
