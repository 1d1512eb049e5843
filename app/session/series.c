/* See series.h. */
#include "app/session/series.h"

#include <stdlib.h>

void mgb_session_series_done(struct session_series *series)
{
    free(series->wall_ns);
    free(series->start_ns);
    free(series->rows);
    *series = (struct session_series){0};
}

static bool grow(int64_t **list, size_t capacity)
{
    int64_t *more = realloc(*list, capacity * sizeof **list);
    if (more)
        *list = more;
    return more != NULL;
}

static bool series_reserve(struct session_series *series)
{
    if (series->count < series->capacity)
        return true;
    size_t capacity = series->capacity ? 2 * series->capacity : 256;
    if (!grow(&series->wall_ns, capacity) || !grow(&series->start_ns, capacity) ||
        !grow(&series->rows, capacity))
        return false;
    series->capacity = capacity;
    return true;
}

void mgb_session_series_add(struct session_series *series, const struct mgb_step_result *result,
                            bool warmup)
{
    int64_t *sums = warmup ? series->first_ns : series->timed_ns;
    for (int i = 0; i < result->device_count && (!warmup || series->count == 0); i++)
        for (int p = 0; p < MGB_PHASE_COUNT; p++)
            sums[p] += result->devices[i].exposed[p];
    series->timed_steps += !warmup;
    series->cut = series->cut || !series_reserve(series);
    if (series->cut)
        return;
    series->wall_ns[series->count] = result->wall_ns;
    series->start_ns[series->count] = result->start_ns;
    series->rows[series->count++] = result->rows;
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
