/* Figures of the segment in force, from the steps that the session keeps: as db/stats.h has them of a finished one. */
#include "app/session/rows.h"

#include "db/order.h"
#include "db/outlier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double ms(double ns)
{
    return ns / 1e6;
}

static size_t fixed_warmup(const struct script_session *session)
{
    size_t warmup = (size_t)session->warmup, count = session->series.count;
    return warmup < count ? warmup : count;
}

static int64_t clock_resolution_ns(void)
{
    struct timespec t = {0};
    clock_getres(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* What all steps together say. Memory that cannot be had leaves figures unknown. */
static void judge(struct script_session *session)
{
    const struct session_series *series = &session->series;
    struct mgb_steady found = mgb_steady_find(series->wall_ns, series->count);
    struct session_judgement *j = &session->judged;
    *j = (struct session_judgement){.steps = series->count, .noise = (double)NAN, .outliers = -1};
    j->warmup = session->automatic ? found.warmup_steps : fixed_warmup(session);
    j->steady = -1;
    if (session->automatic)
        j->steady = found.answer == MGB_STEADY;
    else if (found.answer != MGB_STEADY_SHORT)
        j->steady = found.answer == MGB_STEADY && found.warmup_steps <= j->warmup;
    j->not_steady = j->steady == 0 ? mgb_steadiness_text(found.answer) : NULL;
    const int64_t *timed = series->wall_ns + j->warmup;
    size_t count = series->count - j->warmup;
    if (count == 0)
        return;
    if (mgb_bootstrap_median(&j->interval, timed, count, 0, 0) == MGB_OK && j->interval.block > 0)
        j->noise = (j->interval.high_ns - j->interval.low_ns) / 2 / j->interval.median_ns;
    struct mgb_outliers outliers;
    if (mgb_outliers_find(&outliers, NULL, timed, count, clock_resolution_ns()) != MGB_OK)
        return;
    j->outliers_far =
        (int64_t)(outliers.counts[MGB_OUTLIER_FAR_LOW] + outliers.counts[MGB_OUTLIER_FAR_HIGH]);
    j->outliers = j->outliers_far + (int64_t)(outliers.counts[MGB_OUTLIER_MILD_LOW] +
                                              outliers.counts[MGB_OUTLIER_MILD_HIGH]);
}

/* Of the timed steps, from `warmup` on. */
static void times_fill(struct script_figures *out, const struct session_series *series,
                       size_t warmup)
{
    size_t n = series->count - warmup;
    double *sorted = n > 0 ? malloc(n * sizeof *sorted) : NULL;
    int64_t timed_ns = 0, rows = 0;
    out->steps = (int64_t)n;
    if (!sorted)
        return;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (double)series->wall_ns[warmup + i];
        timed_ns += series->wall_ns[warmup + i];
        rows += series->rows[warmup + i];
    }
    mgb_order_sort(sorted, n);
    size_t last = series->count - 1;
    int64_t whole_ns =
        series->start_ns[last] + series->wall_ns[last] - series->start_ns[warmup];
    out->median_ms = ms(floor(mgb_order_median(sorted, n)));
    out->p95_ms = ms(sorted[(95 * n + 99) / 100 - 1]); /* nearest rank */
    out->mean_ms = ms((double)((timed_ns + (int64_t)n / 2) / (int64_t)n));
    out->examples_per_s = timed_ns ? (double)rows / ((double)timed_ns / 1e9) : (double)NAN;
    out->worst_ratio = sorted[n - 1] / out->median_ms / 1e6;
    out->unaccounted_ms = ms((double)(whole_ns - timed_ns));
    out->unaccounted_share = whole_ns ? (double)(whole_ns - timed_ns) / (double)whole_ns : 0;
    if (warmup > 0)
        out->first_ratio = (double)series->wall_ns[0] / 1e6 / out->median_ms;
    free(sorted);
}

static void judgement_fill(struct script_figures *out, const struct session_judgement *j)
{
    out->noise = j->noise;
    out->steady = j->steady;
    out->not_steady = j->not_steady;
    out->outliers = j->outliers;
    out->outliers_far = j->outliers_far;
    if (j->interval.block > 0) {
        out->ci95_low_ms = ms(floor(j->interval.low_ns));
        out->ci95_high_ms = ms(ceil(j->interval.high_ns));
    }
}

void mgb_session_figures(struct script_figures *out, struct script_session *session, bool exact)
{
    const struct session_series *series = &session->series;
    size_t seen = session->judged.steps;
    const double unknown = (double)NAN;
    if (series->count > 0 && (exact ? seen != series->count : series->count >= seen + seen / 16))
        judge(session);
    *out = (struct script_figures){
        .run_id = session->run_id,
        .segment_id = session->segment_id,
        .warmup_steps = (int64_t)session->judged.warmup,
        .median_ms = unknown,
        .p95_ms = unknown,
        .mean_ms = unknown,
        .ci95_low_ms = unknown,
        .ci95_high_ms = unknown,
        .examples_per_s = unknown,
        .worst_ratio = unknown,
        .unaccounted_ms = unknown,
        .unaccounted_share = unknown,
        .first_ratio = unknown,
        .noise = unknown,
        .steady = -1,
        .outliers = -1,
        .first_phase = mgb_session_series_grown(series),
        .stop_reason = session->goal.reason,
        .target_noise = session->goal.target_noise,
        .max_time_ms = ms((double)session->goal.max_time_ns),
        .ring_waits = mgb_session_ring_waits(session),
        .loss = session->loss,
        .metric_count = session->metric_count,
        .outcome =
            session->outcome == MGB_OUTCOME_RUNNING ? "ok" : mgb_outcome_name(session->outcome),
    };
    if (!session->automatic)
        out->warmup_steps = (int64_t)fixed_warmup(session);
    if (series->count > 0) {
        judgement_fill(out, &session->judged);
        times_fill(out, series, (size_t)out->warmup_steps);
    }
    memcpy(out->metrics, session->metrics, sizeof out->metrics);
    out->log_complete =
        mgb_hub_log_complete(session->hub, out->log_message, sizeof out->log_message);
}
