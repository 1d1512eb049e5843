/* See series.h. */
#include "app/session/series.h"

void mgb_session_series_begin(struct session_series *series, bool automatic)
{
    mgb_session_series_done(series);
    series->cut = mgb_stats_init(&series->stats, 256) != MGB_OK;
    series->stats.auto_warmup = automatic;
}

void mgb_session_series_done(struct session_series *series)
{
    mgb_session_ranks_clear(&series->timed.wall_ns);
    mgb_stats_done(&series->stats);
    *series = (struct session_series){0};
}

void mgb_session_series_add(struct session_series *series, const struct mgb_record_step *row,
                            const struct mgb_step_result *result)
{
    int64_t *sums = row->warmup ? series->first_ns : series->timed_ns;
    bool counts = !row->warmup || series->stats.count == 0;
    for (int i = 0; i < result->device_count && counts; i++)
        for (int p = 0; p < MGB_PHASE_COUNT; p++)
            sums[p] += result->devices[i].exposed[p];
    series->timed_steps += !row->warmup;
    series->cut = series->cut || mgb_stats_add(&series->stats, row) != MGB_OK;
}

static void timed_begin(struct session_timed *timed, size_t begin)
{
    mgb_session_ranks_clear(&timed->wall_ns);
    *timed = (struct session_timed){.begin = begin, .end = begin};
}

const struct session_timed *mgb_session_series_order(struct session_series *series, size_t warmup)
{
    const struct mgb_stats *stats = &series->stats;
    struct session_timed *timed = &series->timed;
    if (timed->begin != warmup)
        timed_begin(timed, warmup);
    for (; timed->end < stats->count; timed->end++) {
        if (!mgb_session_ranks_add(&timed->wall_ns, stats->wall_ns[timed->end])) {
            timed_begin(timed, warmup);
            return NULL;
        }
        timed->sum_ns += stats->wall_ns[timed->end];
        timed->examples += stats->examples[timed->end];
    }
    return timed;
}

const char *mgb_session_series_grown(const struct session_series *series)
{
    int64_t most = 0;
    const char *name = NULL;
    for (int p = 0; p < MGB_PHASE_COUNT && series->timed_steps > 0; p++) {
        int64_t grown = series->first_ns[p] - series->timed_ns[p] / series->timed_steps;
        if (p != MGB_PHASE_WAIT && grown > most) { /* waiting is for something else that grew */
            most = grown;
            name = mgb_phase_name((enum mgb_phase)p);
        }
    }
    return name;
}
