/* Steps of segments for comparing; see load.h. */
#include "db/load.h"

#include "db/stats.h"
#include "db/steady.h"
#include <math.h>
#include <stdlib.h>

struct loader {
    struct mgb_loaded_side *out;
    size_t used, capacity; /* of out->wall_ns */
    bool per_example;
    bool found; /* the segment is there */
    bool steady;
    bool
        by_rule; /* it still runs, and its warm-up is found by the rule: the steps' flags are set at its end */
};

static enum mgb_status judgement_keep(void *context, const struct mgb_value *v, int count)
{
    struct loader *l = context;
    (void)count;
    l->found = true;
    l->steady = v[0].kind != MGB_VALUE_INT || v[0].integer != 0;
    l->by_rule = v[1].integer != 0;
    return MGB_OK;
}

static enum mgb_status step_keep(void *context, const struct mgb_value *v, int count)
{
    struct loader *l = context;
    (void)count;
    if (l->used == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 1024;
        int64_t *grown = realloc(l->out->wall_ns, capacity * sizeof *grown);
        if (!grown)
            return mgb_fail(MGB_NO_MEMORY, "no memory for the times of %zu steps", capacity);
        l->out->wall_ns = grown;
        l->capacity = capacity;
    }
    int64_t time = mgb_stats_bound(v[0].integer), examples = v[1].integer;
    if (l->per_example) {
        double each = examples > 0 ? (double)time * 1000 / (double)examples + 0.5 : 0;
        time = (int64_t)fmin(fmax(each, -9e18), 9e18);
    }
    l->out->wall_ns[l->used++] = time;
    return MGB_OK;
}

/* Steps of a segment that are warm-up so far, by the rule. */
static enum mgb_status warmup_find(size_t *out, struct loader *l, struct mgb_reader *reader,
                                   struct mgb_value id, const struct mgb_query_sink *steps)
{
    size_t first = l->used;
    bool per_example = l->per_example;
    l->per_example = false;
    enum mgb_status status = mgb_query_run(
        reader, "SELECT wall_ns, examples FROM step WHERE segment_id = ? ORDER BY step", &id, 1,
        steps);
    l->per_example = per_example;
    if (status == MGB_OK && l->used > first)
        *out = mgb_steady_find(l->out->wall_ns + first, l->used - first).warmup_steps;
    l->used = first;
    return status;
}

static enum mgb_status segment_load(struct loader *l, struct mgb_reader *reader, int64_t segment,
                                    struct mgb_series *series)
{
    struct mgb_value values[] = {mgb_value_of_int(segment), {0}, {0}};
    struct mgb_query_sink judgement = {.context = l, .row = judgement_keep};
    struct mgb_query_sink steps = {.context = l, .row = step_keep};
    size_t first = l->used, warmup = 0;
    l->found = false;
    MGB_TRY(mgb_query_run(reader,
                          "SELECT t.steady, t.segment_id IS NULL AND s.warmup_rule IS 'auto'"
                          "  FROM segment AS s LEFT JOIN segment_stat AS t ON t.segment_id = s.id"
                          " WHERE s.id = ?",
                          values, 1, &judgement));
    if (!l->found)
        return mgb_fail(MGB_MISSING, "there is no segment %lld", (long long)segment);
    if (l->by_rule)
        MGB_TRY(warmup_find(&warmup, l, reader, values[0], &steps));
    values[1] = mgb_value_of_int(l->by_rule);
    values[2] = mgb_value_of_int((int64_t)warmup);
    MGB_TRY(mgb_query_run(reader,
                          "SELECT wall_ns, examples FROM step WHERE segment_id = ?1"
                          " AND (warmup = 0 OR ?2) ORDER BY step LIMIT -1 OFFSET ?3",
                          values, 3, &steps));
    *series = (struct mgb_series){.count = l->used - first, .steady = l->steady};
    return MGB_OK;
}

static enum mgb_status side_load(struct mgb_loaded_side *out, struct mgb_reader *reader,
                                 const int64_t *segments, int count, bool per_example)
{
    *out = (struct mgb_loaded_side){0};
    struct loader l = {.out = out, .per_example = per_example};
    enum mgb_status status = MGB_OK;
    out->series = calloc((size_t)count + 1, sizeof *out->series);
    if (!out->series)
        status = mgb_fail(MGB_NO_MEMORY, "no memory for the steps of %d segments", count);
    for (int i = 0; status == MGB_OK && i < count; i++)
        status = segment_load(&l, reader, segments[i], &out->series[i]);
    if (status != MGB_OK) {
        mgb_side_done(out);
        return status;
    }
    size_t at = 0; /* the times have their final place only now */
    for (int i = 0; i < count; i++) {
        out->series[i].wall_ns = out->wall_ns ? out->wall_ns + at : NULL;
        at += out->series[i].count;
    }
    out->side = (struct mgb_side){out->series, (size_t)count};
    return MGB_OK;
}

enum mgb_status mgb_side_load(struct mgb_loaded_side *out, struct mgb_reader *reader,
                              const int64_t *segments, int count)
{
    return side_load(out, reader, segments, count, false);
}

enum mgb_status mgb_side_load_per_example(struct mgb_loaded_side *out, struct mgb_reader *reader,
                                          const int64_t *segments, int count)
{
    return side_load(out, reader, segments, count, true);
}

void mgb_side_done(struct mgb_loaded_side *side)
{
    free(side->series);
    free(side->wall_ns);
    *side = (struct mgb_loaded_side){0};
}
