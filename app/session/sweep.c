/* Points of a sweep: found again by the digest of everything that makes them the same. */
#include "app/session/rows.h"
#include "db/select.h"
#include <mgb/preview.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Its entry among the hub's, one for each definition; made when there is none, NULL: memory is exhausted. */
static struct mgb_hub_sweep *sweep_entry(struct mgb_hub *hub, const struct script_point *point)
{
    for (struct mgb_hub_sweep *sweep = hub->sweeps; sweep; sweep = sweep->next)
        if (strcmp(sweep->name, point->sweep) == 0 &&
            strcmp(sweep->settings, point->sweep_settings) == 0)
            return sweep;
    struct mgb_hub_sweep *sweep = calloc(1, sizeof *sweep);
    char *name = strdup(point->sweep), *settings = strdup(point->sweep_settings);
    if (!sweep || !name || !settings) {
        free(sweep);
        free(name);
        free(settings);
        return NULL;
    }
    *sweep = (struct mgb_hub_sweep){.name = name, .settings = settings, .next = hub->sweeps};
    hub->sweeps = sweep;
    return sweep;
}

static enum mgb_status sweep_id(struct mgb_hub *hub, int64_t *id, const struct script_point *point)
{
    struct mgb_hub_sweep *sweep = sweep_entry(hub, point);
    if (!sweep)
        return mgb_fail(MGB_NO_MEMORY, "sweep '%s': memory is exhausted", point->sweep);
    struct mgb_record_sweep row = {.name = point->sweep,
                                   .script = hub->options.script,
                                   .script_digest = hub->options.script_digest,
                                   .settings = point->sweep_settings};
    if (point->order_seed >= 0)
        row.order_seed = MGB_KNOWN_INT(point->order_seed);
    if (!sweep->id) /* not begun, or not stored then */
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
    const double unknown = (double)NAN;
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
        .noise = unknown,
        .steady = -1, /* what was judged of the steps, Lua reads where it is stored */
        .outliers = -1,
        .worst_ratio = unknown,
        .unaccounted_ms = unknown,
        .unaccounted_share = unknown,
        .first_ratio = unknown,
        .log_complete = true,
    };
    return MGB_OK;
}

const char *mgb_hub_backend(struct mgb_hub *hub, const char *asked)
{
    struct mgb_topology topology;
    if (!asked || strcmp(asked, "auto") != 0)
        return asked;
    if (!hub->automatic &&
        mgb_preview_devices(&topology, &hub->automatic, NULL, 0, "auto") == MGB_OK)
        mgb_topology_done(&topology);
    return hub->automatic;
}

/* A point is found by what it is, on a machine of the same kind. A diverged run is as done as one that ended well: it would
 * diverge again. */
static const char find_sql[] =
    "SELECT v.run_id, v.segment_id, v.steps, v.step_ms_median, v.step_ms_p95, v.step_ms_mean,"
    "       v.step_ms_ci95_low, v.step_ms_ci95_high, v.examples_per_s, v.loss_last, r.outcome"
    "  FROM sweep_point AS p JOIN sweep AS s ON s.id = p.sweep_id"
    "  JOIN run AS r ON r.id = p.run_id JOIN run_summary AS v ON v.run_id = p.run_id"
    "  JOIN machine AS m ON m.id = r.machine_id"
    " WHERE s.name = ?1 AND p.settings_digest = ?2 AND p.repeat = ?3"
    "   AND (r.outcome IN ('ok', 'oom')"
    "        OR (r.outcome = 'error' AND r.message LIKE 'loss is not finite%')"
    "        OR (r.outcome IN ('crashed', 'timeout') AND ?4 AND r.started_ms >= ?5))"
    "   AND NOT EXISTS (SELECT 1 FROM segment AS g JOIN segment_stat AS t ON t.segment_id = g.id"
    "                    WHERE g.run_id = r.id AND t.replicas_agree = 0)"
    "   AND r.log_complete IS NOT 0 AND (NOT ?6 OR r.started_ms >= ?5)"
    "   AND (?7 IS NULL OR r.backend IN (?7, 'auto'))"
    "   AND (r.simulated OR (m.cpu IS ?8 AND m.threads IS ?9))"
    " ORDER BY p.run_id DESC, v.segment_id DESC LIMIT 1";

static enum mgb_status found_read(struct mgb_hub *hub, struct mgb_reader *reader,
                                  struct found_row *row, const struct script_point *point)
{
    char cpu[96];
    int64_t threads;
    mgb_session_machine_kind(cpu, sizeof cpu, &threads);
    const struct mgb_value parameters[] = {mgb_value_of_text(point->sweep),
                                           mgb_value_of_text(point->digest),
                                           mgb_value_of_int(point->repeat),
                                           mgb_value_of_int(hub->options.after_crash),
                                           mgb_value_of_int(hub->options.started_ms),
                                           mgb_value_of_int(point->own),
                                           mgb_value_of_text(mgb_hub_backend(hub, point->backend)),
                                           mgb_value_of_text(cpu),
                                           mgb_value_of_int(threads)};
    struct mgb_query_sink sink = {row, NULL, keep_found};
    return mgb_query_run(reader, find_sql, parameters, 9, &sink);
}

/* A file of an older version is brought forward by whoever writes to it, and a run is about to: now, so that its points are
 * found. False: it is not older, or cannot be; whoever writes next tells why. */
static bool schema_raise(struct mgb_hub *hub)
{
    struct mgb_store *store;
    if (mgb_store_open(&store, hub->options.database, NULL) != MGB_OK)
        return false;
    mgb_store_close(store);
    return true;
}

static enum mgb_status keep_there(void *context, const struct mgb_value *v, int count)
{
    bool *there = context;
    (void)count;
    *there = v[0].integer != 0;
    return MGB_OK;
}

/* Whether the run is entered as this point of the sweep as it is defined now. */
static enum mgb_status point_there(bool *there, struct mgb_reader *reader,
                                   const struct script_point *point, int64_t run)
{
    static const char sql[] =
        "SELECT EXISTS (SELECT 1 FROM sweep_point AS p JOIN sweep AS w ON w.id = p.sweep_id"
        "  WHERE p.run_id = ?1 AND p.point = ?2 AND p.repeat = ?3 AND w.name = ?4"
        "    AND " MGB_SELECT_DEFINITION " = (SELECT " MGB_SELECT_DEFINITION
        " FROM (SELECT ?5 AS settings) AS w))";
    const struct mgb_value parameters[] = {
        mgb_value_of_int(run), mgb_value_of_int(point->point), mgb_value_of_int(point->repeat),
        mgb_value_of_text(point->sweep), mgb_value_of_text(point->sweep_settings)};
    struct mgb_query_sink sink = {there, NULL, keep_there};
    return mgb_query_run(reader, sql, parameters, 5, &sink);
}

/* A cell that was done under another grid belongs to this one too. Where the file cannot be written nothing is lost but
 * that: the figures are there, and it is not tried again. */
static void point_enter(struct mgb_hub *hub, struct mgb_reader *reader,
                        const struct script_point *point, int64_t run)
{
    bool there = true;
    struct mgb_recorder *recorder;
    if (point->dry || hub->enter_refused || point_there(&there, reader, point, run) != MGB_OK ||
        there)
        return;
    if (mgb_hub_recorder(hub, &recorder) != MGB_OK ||
        mgb_hub_sweep_point(hub, run, point) != MGB_OK)
        hub->enter_refused = true;
}

enum mgb_status mgb_hub_sweep_find(void *context, bool *found, struct script_figures *out,
                                   const struct script_point *point)
{
    struct mgb_hub *hub = context;
    struct mgb_reader *reader;
    *found = false;
    if (!hub->options.database)
        return MGB_OK;
    enum mgb_status status = mgb_hub_reader(hub, &reader);
    if (status == MGB_UNSUPPORTED && !hub->recorder && !point->dry && schema_raise(hub))
        status = mgb_hub_reader(hub, &reader);
    if (!hub->recorder && (status == MGB_MISSING || (status == MGB_UNSUPPORTED && point->dry)))
        return MGB_OK;
    MGB_TRY(status);
    struct found_row row = {false, out};
    MGB_TRY(found_read(hub, reader, &row, point));
    *found = row.found;
    if (row.found)
        point_enter(hub, reader, point, out->run_id);
    return MGB_OK;
}
