/* Verdicts on two sides of repetitions; see compare.h. */
#include "db/compare.h"

#include "db/bootstrap.h"
#include "db/draw.h"
#include "db/holm.h"
#include "db/order.h"
#include "db/rank_test.h"
#include "db/resample.h"
#include "db/student.h"

#include <math.h>
#include <stdlib.h>

static bool series_timed(const struct mgb_series *series)
{
    for (size_t i = 0; i < series->count; i++)
        if (series->wall_ns[i] <= 0)
            return false;
    return series->count > 0;
}

static enum mgb_reason side_refuse(const struct mgb_side *side)
{
    enum mgb_reason reason = side->count > 0 ? MGB_REASON_NONE : MGB_REASON_NO_STEPS;
    for (size_t i = 0; i < side->count; i++) {
        if (!series_timed(&side->repetitions[i]))
            return MGB_REASON_NO_STEPS;
        if (!side->repetitions[i].steady)
            reason = MGB_REASON_NOT_STEADY;
    }
    return reason;
}

/* Interval of a location, on logarithms as that of the ratio: a time is positive, and one wild repetition of a few must
 * not push the low end below 0. Davison and Hinkley, Bootstrap Methods and their Application (1997), 5.2.2. */
static void location_bound(struct mgb_location *location, const struct mgb_resample *side,
                           double *scratch, size_t resamples)
{
    for (size_t i = 0; i < resamples; i++)
        scratch[i] = log(side->draws[i]);
    *location = side->location;
    double centre = log(location->ns);
    mgb_resample_interval(&location->low_ns, &location->high_ns, centre, scratch, resamples,
                          side->variance / (location->ns * location->ns), side->freedom);
    location->low_ns = location->ns * exp(location->low_ns - centre);
    location->high_ns = location->ns * exp(location->high_ns - centre);
}

/* Degrees of freedom of a sum of two variances: Welch, Biometrika 34 (1947). */
static double freedom_get(double a, double b, double freedom_a, double freedom_b)
{
    if (!(a + b > 0))
        return freedom_a + freedom_b;
    return (a + b) * (a + b) / (a * a / freedom_a + b * b / freedom_b);
}

/* Where repetitions of a side differ by more than a tenth, one wild one may be most of their mean, which then says little
 * of the others: the interval is made to hold that of the geometric means too, on which one repetition, however wild, is
 * no evidence. */
static void ratio_widen(struct mgb_comparison *out, const struct mgb_resample *a,
                        const struct mgb_resample *b)
{
    double spread = fmax(a->log_variance * (double)a->location.repetitions,
                         b->log_variance * (double)b->location.repetitions);
    if (spread < 0.1 * 0.1)
        return;
    double freedom = freedom_get(a->log_variance, b->log_variance, a->freedom, b->freedom);
    double reach = sqrt(a->log_variance + b->log_variance) * mgb_student_quantile(0.025, freedom);
    out->low = fmin(out->low, b->log_mean - a->log_mean - reach);
    out->high = fmax(out->high, b->log_mean - a->log_mean + reach);
}

/* Interval of the ratio, on logarithms so that A against B is the mirror of B against A. */
static void ratio_bound(struct mgb_comparison *out, const struct mgb_resample *a,
                        const struct mgb_resample *b, double *scratch)
{
    double share_a = a->variance / (a->location.ns * a->location.ns);
    double share_b = b->variance / (b->location.ns * b->location.ns);
    double centre = log(b->location.ns / a->location.ns);
    out->freedom = freedom_get(share_a, share_b, a->freedom, b->freedom);
    for (size_t i = 0; i < out->resamples; i++)
        scratch[i] = log(b->draws[i] / a->draws[i]);
    mgb_resample_interval(&out->low, &out->high, centre, scratch, out->resamples, share_a + share_b,
                          out->freedom);
    ratio_widen(out, a, b);
    out->ratio = exp(centre);
    out->low = exp(out->low);
    out->high = exp(out->high);
}

/* The verdict if the interval's ends, as distances of logarithms from the ratio, were these. */
static enum mgb_verdict verdict_get(double centre, double below, double above, double edge)
{
    if (centre + above < -edge)
        return MGB_VERDICT_FASTER;
    if (centre - below > edge)
        return MGB_VERDICT_SLOWER;
    if (centre - below >= -edge && centre + above <= edge)
        return MGB_VERDICT_SAME;
    return MGB_VERDICT_UNDECIDED;
}

/* Two-sided p of reaching as far as `gap` where the 95 % interval reaches `reach`. */
static double gap_p(double gap, double reach, double freedom)
{
    if (reach <= 0)
        return gap > 0 ? 0 : 1;
    return 2 * mgb_student_above(gap / reach * mgb_student_quantile(0.025, freedom), freedom);
}

/* Below 0.05 exactly where the interval decides. Within the floor: the worse of two one-sided tests (Schuirmann,
 * Journal of Pharmacokinetics and Biopharmaceutics 15, 1987). */
static double claim_p(double centre, double below, double above, double edge, double freedom)
{
    if (centre > edge)
        return gap_p(centre - edge, below, freedom);
    if (centre < -edge)
        return gap_p(-edge - centre, above, freedom);
    return fmax(gap_p(edge - centre, above, freedom), gap_p(centre + edge, below, freedom));
}

/* Whether `count` repetitions a side would decide: the interval shrinks as 1 / sqrt(repetitions) and t with it; the ratio
 * and the spread are taken to stay as they are. */
static bool repetitions_settle(const struct mgb_comparison *cell, size_t count, double share)
{
    double now = (double)(cell->a.repetitions < cell->b.repetitions ? cell->a.repetitions
                                                                    : cell->b.repetitions);
    double then = cell->freedom * ((double)count - 1) / (now - 1), centre = log(cell->ratio);
    double shrink = sqrt(now / (double)count) * mgb_student_quantile(share, then) /
                    mgb_student_quantile(0.025, cell->freedom);
    return verdict_get(centre, shrink * (centre - log(cell->low)),
                       shrink * (log(cell->high) - centre),
                       log1p(cell->floor)) != MGB_VERDICT_UNDECIDED;
}

/* `share`: of each tail, 0.025 for one comparison, less for one of many. */
static size_t repetitions_needed(const struct mgb_comparison *cell, double share)
{
    size_t now =
        cell->a.repetitions < cell->b.repetitions ? cell->a.repetitions : cell->b.repetitions;
    size_t low = now, high = MGB_COMPARE_MOST;
    if (now >= high || !repetitions_settle(cell, high, share))
        return 0;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (repetitions_settle(cell, middle, share))
            high = middle;
        else
            low = middle;
    }
    return high - now;
}

static void verdict_set(struct mgb_comparison *out, bool few_steps, bool single_enough)
{
    bool single = out->a.repetitions < 2 || out->b.repetitions < 2;
    if (few_steps || (single && !single_enough)) {
        out->reason = few_steps ? MGB_REASON_FEW_STEPS : MGB_REASON_SINGLE;
        out->more_repetitions = MGB_COMPARE_REPETITIONS - 1;
        return;
    }
    double centre = log(out->ratio), edge = log1p(out->floor);
    double below = centre - log(out->low), above = log(out->high) - centre;
    out->verdict = verdict_get(centre, below, above, edge);
    out->p = out->p_adjusted = claim_p(centre, below, above, edge, out->freedom);
    if (out->verdict != MGB_VERDICT_UNDECIDED)
        return;
    out->more_repetitions = single ? 0 : repetitions_needed(out, 0.025);
    out->reason = single || out->more_repetitions > 0 ? MGB_REASON_WIDE : MGB_REASON_EDGE;
}

static enum mgb_status sides_compare(struct mgb_comparison *out, const struct mgb_resample *a,
                                     const struct mgb_resample *b, bool single_enough)
{
    struct mgb_rank_test rank;
    double *scratch = calloc(out->resamples, sizeof *scratch);
    if (!scratch)
        return mgb_fail(MGB_NO_MEMORY, "no memory to compare %zu resamples", out->resamples);
    location_bound(&out->a, a, scratch, out->resamples);
    location_bound(&out->b, b, scratch, out->resamples);
    ratio_bound(out, a, b, scratch);
    free(scratch);
    MGB_TRY(mgb_rank_test_run(&rank, a->medians, a->location.repetitions, b->medians,
                              b->location.repetitions));
    out->rank_p = rank.p;
    out->rank_p_smallest = rank.smallest;
    verdict_set(out, a->few_steps || b->few_steps, single_enough);
    return MGB_OK;
}

enum mgb_status mgb_compare(struct mgb_comparison *out, const struct mgb_side *a,
                            const struct mgb_side *b, const struct mgb_compare_options *options)
{
    struct mgb_resample first = {0}, second = {0};
    size_t resamples = options->resamples ? options->resamples : MGB_BOOTSTRAP_RESAMPLES;
    *out = (struct mgb_comparison){.floor = options->floor,
                                   .p = (double)NAN,
                                   .p_adjusted = (double)NAN,
                                   .rank_p = 1,
                                   .rank_p_smallest = 1,
                                   .resamples = resamples,
                                   .seed = options->seed ? options->seed : MGB_DRAW_SEED};
    enum mgb_reason wrong_a = side_refuse(a), wrong_b = side_refuse(b);
    if (wrong_a == MGB_REASON_NO_STEPS || wrong_b == MGB_REASON_NO_STEPS) {
        out->verdict = MGB_VERDICT_REFUSED;
        out->reason = MGB_REASON_NO_STEPS;
        return MGB_OK;
    }
    enum mgb_status status = mgb_resample_init(&first, a, resamples, out->seed, 1);
    if (status == MGB_OK)
        status = mgb_resample_init(&second, b, resamples, out->seed, 2);
    if (status == MGB_OK)
        status = sides_compare(out, &first, &second, options->single_enough);
    mgb_resample_done(&first);
    mgb_resample_done(&second);
    if (wrong_a != MGB_REASON_NONE || wrong_b != MGB_REASON_NONE) {
        out->verdict = MGB_VERDICT_REFUSED;
        out->reason = MGB_REASON_NOT_STEADY;
        out->p = out->p_adjusted = (double)NAN;
        out->more_repetitions = 0;
    }
    return status;
}

/* What would settle a cell that is undecided by itself: as one of many, more. */
static void undecided_correct(struct mgb_comparison *cell, size_t tested)
{
    if (cell->reason != MGB_REASON_WIDE || cell->a.repetitions < 2 || cell->b.repetitions < 2)
        return;
    cell->more_repetitions = repetitions_needed(cell, 0.025 / (double)tested);
    if (cell->more_repetitions == 0)
        cell->reason = MGB_REASON_EDGE;
}

enum mgb_status mgb_compare_correct(struct mgb_comparison *cells, size_t count)
{
    size_t tested = 0;
    double *p = calloc(count ? count : 1, sizeof *p);
    if (!p)
        return mgb_fail(MGB_NO_MEMORY, "no memory to correct %zu comparisons", count);
    for (size_t i = 0; i < count; i++) {
        p[i] = cells[i].p;
        tested += !isnan(p[i]);
    }
    enum mgb_status status = mgb_holm_adjust(p, p, count);
    for (size_t i = 0; status == MGB_OK && i < count; i++) {
        struct mgb_comparison *cell = &cells[i];
        cell->p_adjusted = p[i];
        if (!isnan(p[i]) && cell->verdict == MGB_VERDICT_UNDECIDED)
            undecided_correct(cell, tested);
        if (isnan(p[i]) || p[i] <= 0.05 || cell->verdict == MGB_VERDICT_UNDECIDED)
            continue;
        cell->verdict = MGB_VERDICT_UNDECIDED;
        cell->reason = MGB_REASON_MANY_CELLS;
        if (cell->a.repetitions > 1 && cell->b.repetitions > 1)
            cell->more_repetitions = repetitions_needed(cell, 0.025 / (double)tested);
    }
    free(p);
    return status;
}
