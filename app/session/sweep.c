/* Points of a sweep: found again by the digest of everything that makes them the same. */
#include "app/session/private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum mgb_status sweep_id(struct mgb_hub *hub, int64_t *id, const struct script_point *point)
{
    for (struct mgb_hub_sweep *sweep = hub->sweeps; sweep; sweep = sweep->next)
        if (strcmp(sweep->name, point->sweep) == 0) {
            *id = sweep->id;
            return MGB_OK;
        }
    struct mgb_hub_sweep *sweep = calloc(1, sizeof *sweep);
    char *name = strdup(point->sweep);
    if (!sweep || !name) {
        free(sweep);
        free(name);
        return mgb_fail(MGB_NO_MEMORY, "sweep '%s': memory is exhausted", point->sweep);
    }
    *sweep = (struct mgb_hub_sweep){.name = name, .next = hub->sweeps};
    hub->sweeps = sweep;
    struct mgb_record_sweep row = {.name = point->sweep,
                                   .script = hub->options.script,
                                   .script_digest = hub->options.script_digest,
                                   .settings = point->sweep_settings};
    MGB_TRY(mgb_recorder_begin_sweep(&sweep->id, hub->recorder, &row));
    *id = sweep->id;
    return MGB_OK;
}

enum mgb_status mgb_hub_sweep_point(struct mgb_hub *hub, int64_t run,
                                    const struct script_point *point)
{
    int64_t sweep = 0;
    MGB_TRY(sweep_id(hub, &sweep, point));
    if (!sweep)
        return MGB_OK;
    struct mgb_record_sweep_point row = {.sweep = sweep,
                                         .run = run,
                                         .point = point->point,
                                         .repeat = point->repeat,
                                         .position = point->position,
                                         .settings = point->settings,
                                         .settings_digest = point->digest};
    return mgb_recorder_put_sweep_point(hub->recorder, &row);
}

enum mgb_status mgb_hub_sweep_finish(void *context, const char *name)
{
    struct mgb_hub *hub = context;
    for (struct mgb_hub_sweep *sweep = hub->sweeps; sweep; sweep = sweep->next)
        if (strcmp(sweep->name, name) == 0 && sweep->id)
            return mgb_recorder_finish_sweep(hub->recorder, sweep->id);
    return MGB_OK;
}

struct found_row {
    bool found;
    struct script_figures *out;
};

static double real_of(const struct mgb_value *value)
{
    return value->kind == MGB_VALUE_REAL  ? value->real
           : value->kind == MGB_VALUE_INT ? (double)value->integer
                                          : (double)NAN;
}

static const char *outcome_word(const char *text)
{
    for (int o = MGB_OUTCOME_RUNNING; o <= MGB_OUTCOME_TIMEOUT; o++)
        if (strcmp(mgb_outcome_name((enum mgb_outcome)o), text) == 0)
            return mgb_outcome_name((enum mgb_outcome)o);
    return "error";
}

static enum mgb_status keep_found(void *context, const struct mgb_value *v, int count)
{
    struct found_row *row = context;
    (void)count;
    row->found = true;
    *row->out = (struct script_figures){
        .run_id = v[0].integer,
        .segment_id = v[1].integer,
        .steps = v[2].kind == MGB_VALUE_INT ? v[2].integer : 0,
        .median_ms = real_of(&v[3]),
        .p95_ms = real_of(&v[4]),
        .mean_ms = real_of(&v[5]),
        .ci95_low_ms = real_of(&v[6]),
        .ci95_high_ms = real_of(&v[7]),
        .examples_per_s = real_of(&v[8]),
        .loss = real_of(&v[9]),
        .outcome = outcome_word(v[10].kind == MGB_VALUE_TEXT ? v[10].text : "error"),
        .log_complete = true,
    };
    return MGB_OK;
}

enum mgb_status mgb_hub_sweep_find(void *context, bool *found, struct script_figures *out,
                                   const struct script_point *point)
{
    static const char sql[] =
        "SELECT v.run_id, v.segment_id, v.steps, v.step_ms_median, v.step_ms_p95, v.step_ms_mean,"
        "       v.step_ms_ci95_low, v.step_ms_ci95_high, v.examples_per_s, v.loss_last, r.outcome"
        "  FROM sweep_point AS p JOIN sweep AS s ON s.id = p.sweep_id"
        "  JOIN run AS r ON r.id = p.run_id JOIN run_summary AS v ON v.run_id = p.run_id"
        " WHERE s.name = ? AND p.settings_digest = ? AND p.repeat = CAST(? AS INTEGER)"
        "   AND (r.outcome IN ('ok', 'oom') OR (r.outcome IN ('crashed', 'timeout') AND ? = '1'))"
        " ORDER BY p.run_id DESC, v.segment_id DESC LIMIT 1";
    struct mgb_hub *hub = context;
    struct mgb_reader *reader;
    *found = false;
    if (!hub->options.database || (!hub->recorder && mgb_hub_reader(hub, &reader) == MGB_MISSING))
        return MGB_OK;
    MGB_TRY(mgb_hub_reader(hub, &reader));
    char repeat[24];
    snprintf(repeat, sizeof repeat, "%lld", (long long)point->repeat);
    const char *texts[] = {point->sweep, point->digest, repeat,
                           hub->options.after_crash ? "1" : "0"};
    struct mgb_value parameters[4];
    for (int i = 0; i < 4; i++)
        parameters[i] =
            (struct mgb_value){.kind = MGB_VALUE_TEXT, .text = texts[i], .size = strlen(texts[i])};
    struct found_row row = {false, out};
    struct mgb_query_sink sink = {&row, NULL, keep_found};
    MGB_TRY(mgb_query_run(reader, sql, parameters, 4, &sink));
    *found = row.found;
    return MGB_OK;
}
