/* Figures of the segment in force, from the steps that the session keeps: as db/stats.h has them of a finished one. */
#include "app/session/rows.h"

#include <math.h>
#include <string.h>

enum { SOME_STEPS = 1000, MANY_STEPS = 100000 };

static double ms(double ns)
{
    return ns / 1e6;
}

static double known_ms(struct mgb_maybe_int ns)
{
    return ns.known ? ms((double)ns.value) : (double)NAN;
}

/* Of an even count: mean of the middle two. */
static double median_ns(const struct session_ranks *ranks)
{
    double low = (double)mgb_session_ranks_get(ranks, (ranks->count - 1) / 2);
    double high = (double)mgb_session_ranks_get(ranks, ranks->count / 2);
    return floor(low + (high - low) / 2);
}

/* Of the timed steps, from `warmup` on. */
static void times_fill(struct script_figures *out, struct session_series *series, size_t warmup)
{
    const struct mgb_stats *stats = &series->stats;
    size_t n = stats->count - warmup;
    out->steps = (int64_t)n;
    const struct session_timed *timed = n > 0 ? mgb_session_series_order(series, warmup) : NULL;
    if (!timed)
        return;
    size_t last = stats->count - 1, p95 = (95 * n + 99) / 100 - 1; /* nearest rank */
    int64_t whole_ns = stats->start_ns[last] + stats->wall_ns[last] - stats->start_ns[warmup];
    out->median_ms = ms(median_ns(&timed->wall_ns));
    out->p95_ms = ms((double)mgb_session_ranks_get(&timed->wall_ns, p95));
    out->mean_ms = ms((double)((timed->sum_ns + (int64_t)n / 2) / (int64_t)n));
    out->examples_per_s =
        timed->sum_ns ? (double)timed->examples / ((double)timed->sum_ns / 1e9) : (double)NAN;
    out->worst_ratio = (double)mgb_session_ranks_get(&timed->wall_ns, n - 1) / out->median_ms / 1e6;
    out->unaccounted_ms = ms((double)(whole_ns - timed->sum_ns));
    out->unaccounted_share = whole_ns ? (double)(whole_ns - timed->sum_ns) / (double)whole_ns : 0;
    if (warmup > 0)
        out->first_ratio = (double)stats->wall_ns[0] / 1e6 / out->median_ms;
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

/* Judging takes longer the more steps there are, and whoever steps waits for it: of many it is done less often. */
static bool judgement_is_due(const struct session_judgement *judged, size_t steps, bool exact)
{
    size_t share = judged->steps < SOME_STEPS ? 16 : judged->steps < MANY_STEPS ? 4 : 1;
    return exact ? judged->steps != steps : steps >= judged->steps + judged->steps / share;
}

static void judgement_renew(struct script_session *session, bool exact)
{
    const struct mgb_stats *stats = &session->series.stats;
    struct session_judgement *judged = &session->judged;
    if (stats->count == 0 || !judgement_is_due(judged, stats->count, exact))
        return;
    judged->steps = stats->count;
    (void)mgb_stats_boil(&judged->stat, stats); /* without memory: less is known */
}

void mgb_session_figures(struct script_figures *out, struct script_session *session, bool exact)
{
    const struct session_series *series = &session->series;
    judgement_renew(session, exact);
    size_t warmup =
        session->automatic ? (size_t)session->judged.stat.warmup_steps : series->stats.flagged;
    *out = mgb_script_figures_unknown();
    out->run_id = session->run_id;
    out->segment_id = session->segment_id;
    out->warmup_steps = (int64_t)warmup;
    out->first_phase = mgb_session_series_grown(series);
    out->stop_reason = session->goal.reason;
    out->target_noise = session->goal.target_noise;
    out->max_time_ms = ms((double)session->goal.max_time_ns);
    out->ring_waits = mgb_session_ring_waits(session);
    out->loss = session->loss;
    out->metric_count = session->metric_count;
    if (session->outcome != MGB_OUTCOME_RUNNING)
        out->outcome = mgb_outcome_name(session->outcome);
    if (series->stats.count > 0) {
        judgement_fill(out, &session->judged.stat);
        times_fill(out, &session->series, warmup);
    }
    memcpy(out->metrics, session->metrics, sizeof out->metrics);
    out->log_complete =
        mgb_hub_log_complete(session->hub, out->log_message, sizeof out->log_message);
}
