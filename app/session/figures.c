/* Figures of the segment in force, from the steps that the session keeps: as db/stats.h has them of a finished one. */
#include "app/session/rows.h"

#include "db/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double ms(double ns)
{
    return ns / 1e6;
}

static double known_ms(struct mgb_maybe_int ns)
{
    return ns.known ? ms((double)ns.value) : (double)NAN;
}

/* Of the timed steps, from `warmup` on. */
static void times_fill(struct script_figures *out, const struct mgb_stats *stats, size_t warmup)
{
    size_t n = stats->count - warmup;
    double *sorted = n > 0 ? malloc(n * sizeof *sorted) : NULL;
    int64_t timed_ns = 0, rows = 0;
    out->steps = (int64_t)n;
    if (!sorted)
        return;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (double)stats->wall_ns[warmup + i];
        timed_ns += stats->wall_ns[warmup + i];
        rows += stats->examples[warmup + i];
    }
    mgb_order_sort(sorted, n);
    size_t last = stats->count - 1;
    int64_t whole_ns = stats->start_ns[last] + stats->wall_ns[last] - stats->start_ns[warmup];
    out->median_ms = ms(floor(mgb_order_median(sorted, n)));
    out->p95_ms = ms(sorted[(95 * n + 99) / 100 - 1]); /* nearest rank */
    out->mean_ms = ms((double)((timed_ns + (int64_t)n / 2) / (int64_t)n));
    out->examples_per_s = timed_ns ? (double)rows / ((double)timed_ns / 1e9) : (double)NAN;
    out->worst_ratio = sorted[n - 1] / out->median_ms / 1e6;
    out->unaccounted_ms = ms((double)(whole_ns - timed_ns));
    out->unaccounted_share = whole_ns ? (double)(whole_ns - timed_ns) / (double)whole_ns : 0;
    if (warmup > 0)
        out->first_ratio = (double)stats->wall_ns[0] / 1e6 / out->median_ms;
    free(sorted);
}

/* What all steps together say. */
static void judgement_fill(struct script_figures *out, const struct mgb_record_segment_stat *stat)
{
    const struct mgb_maybe_int mild = stat->outliers_mild, far = stat->outliers_far;
    out->ci95_low_ms = known_ms(stat->ci95_low_ns);
    out->ci95_high_ms = known_ms(stat->ci95_high_ns);
    out->noise = stat->noise.known ? stat->noise.value : (double)NAN;
    out->steady = stat->steady.known ? (int)stat->steady.value : -1;
    out->not_steady = stat->not_steady;
    out->outliers = mild.known && far.known ? mild.value + far.value : -1;
    out->outliers_far = far.known ? far.value : -1;
}

static void judgement_renew(struct script_session *session, bool exact)
{
    const struct mgb_stats *stats = &session->series.stats;
    struct session_judgement *judged = &session->judged;
    if (stats->count == 0 ||
        (exact ? judged->steps == stats->count : stats->count < judged->steps + judged->steps / 16))
        return;
    judged->steps = stats->count;
    (void)mgb_stats_boil(&judged->stat, stats); /* without memory: less is known */
}

void mgb_session_figures(struct script_figures *out, struct script_session *session, bool exact)
{
    const struct session_series *series = &session->series;
    const double unknown = (double)NAN;
    judgement_renew(session, exact);
    size_t warmup =
        session->automatic ? (size_t)session->judged.stat.warmup_steps : series->stats.flagged;
    *out = (struct script_figures){
        .run_id = session->run_id,
        .segment_id = session->segment_id,
        .warmup_steps = (int64_t)warmup,
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
    if (series->stats.count > 0) {
        judgement_fill(out, &session->judged.stat);
        times_fill(out, &series->stats, warmup);
    }
    memcpy(out->metrics, session->metrics, sizeof out->metrics);
    out->log_complete =
        mgb_hub_log_complete(session->hub, out->log_message, sizeof out->log_message);
}
