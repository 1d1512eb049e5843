/* What stored segments say of a placement that might be pressed; see judged_private.h. */
#include "app/session/workbench/judged_private.h"

#include "app/session/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SEGMENTS = 5, FIXED_VALUES = 5, STAND_IN_VALUES = 7, MOST_COLUMNS = 24 };

/* Names go into the question as they are, so that only these are taken. */
static const struct {
    const char *name;
    bool boolean;
} known_columns[] = {{"strategy", false},
                     {"gpus", false},
                     {"gpu_list", false},
                     {"batch_mode", false},
                     {"batch_per_gpu", false},
                     {"global_batch", false},
                     {"tower_rows", false},
                     {"cpu_relocation", true},
                     {"cpu_merge", true},
                     {"weights_at", false},
                     {"join_at", false},
                     {"loss_at", false},
                     {"sum_at", false},
                     {"update_at", false},
                     {"relocation", false},
                     {"allreduce", false},
                     {"bucket_mib", false},
                     {"overlap", true},
                     {"wire_type", false},
                     {"staged", true},
                     {"stale", true},
                     {"peer_access", false},
                     {"pinned", false},
                     {"graph", false},
                     {"bn", false},
                     {"precision", false},
                     {"recompute", false},
                     {"logical", true},
                     {"gpu_memory_bytes", false},
                     {"threads", false},
                     {"hosts", false},
                     {"optimizer", false}};

static int column_find(const char *name)
{
    for (size_t i = 0; i < sizeof known_columns / sizeof *known_columns; i++)
        if (strcmp(known_columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* ?1 the segment in force, ?2 model, ?3 backend ("": as it), ?4 how many. Goes backwards through the runs of its model, by
 * their index, and ends with the newest that fit. */
static const char head_sql[] =
    "SELECT s.run_id, s.id FROM segment AS k CROSS JOIN run AS o ON o.id = k.run_id"
    "  CROSS JOIN model AS m ON m.id = o.model_id CROSS JOIN run AS r ON r.model_id = o.model_id"
    "  CROSS JOIN segment AS s ON s.run_id = r.id"
    " WHERE k.id = ?1 AND ?2 IN ('', m.name) AND ?3 IN ('', o.backend)"
    "   AND r.backend = o.backend AND +r.machine_id = o.machine_id AND r.simulated = o.simulated"
    "   AND coalesce(r.data, '') = coalesce(o.data, '') AND s.id <> k.id"
    "   AND s.optimizer IS k.optimizer AND s.outcome IN ('ok', 'running', 'interrupted')";
/* What is evidence: no verification, and as many timed steps as view scaling wants. What runs, or was never judged, is not
 * unsteady. */
#define EVIDENCE                                                                                   \
    "   AND NOT EXISTS (SELECT 1 FROM tag WHERE run_id = r.id AND name = 'verify')"                \
    "   AND (SELECT count(*) FROM (SELECT 1 FROM step WHERE segment_id = s.id AND warmup = 0"      \
    "        LIMIT 10)) = 10"
#define STEADY "coalesce((SELECT steady FROM segment_stat WHERE segment_id = s.id), 1)"
/* ?5: unsteady ones, too. */
static const char tail_sql[] =
    EVIDENCE " AND (?5 OR " STEADY ") ORDER BY r.id DESC, s.id DESC LIMIT ?4";

struct found {
    struct mgb_selected at[MOST_SEGMENTS];
    struct mgb_selection selection;
};

static enum mgb_status found_take(void *context, const struct mgb_value *v, int count)
{
    struct found *found = context;
    (void)count;
    if (found->selection.count < MOST_SEGMENTS)
        found->at[found->selection.count++] = (struct mgb_selected){
            .run = mgb_value_int(&v[0]), .segment = mgb_value_int(&v[1]), .point = -1};
    return MGB_OK;
}

static struct mgb_value value_get(const char *text, bool boolean)
{
    if (boolean && strcmp(text, "true") == 0)
        return mgb_value_of_int(1);
    if (boolean && strcmp(text, "false") == 0)
        return mgb_value_of_int(0);
    return mgb_value_of_text(*text ? text : NULL);
}

/* Adds " AND s.NAME IS ?" for each column. A column's affinity makes a number of a text that is compared with it. */
static enum mgb_status columns_add(char *sql, size_t size, struct mgb_value *values, int first,
                                   const struct mgb_lookup *lookup)
{
    size_t used = strlen(sql);
    for (int i = 0; i < lookup->column_count && i < MOST_COLUMNS; i++) {
        int column = column_find(lookup->columns[i][0]);
        if (column < 0)
            return mgb_fail(MGB_INVALID, "looking up a placement: no column '%.40s' tells it",
                            lookup->columns[i][0]);
        used += (size_t)snprintf(sql + used, size - used, " AND s.%s IS ?%d",
                                 known_columns[column].name, first + i + 1);
        values[first + i] = value_get(lookup->columns[i][1], known_columns[column].boolean);
    }
    return MGB_OK;
}

static enum mgb_status segments_find(struct found *out, struct mgb_reader *reader, int64_t now,
                                     const struct mgb_lookup *lookup, bool unsteady)
{
    char sql[sizeof head_sql + sizeof tail_sql + MOST_COLUMNS * 40];
    struct mgb_value values[FIXED_VALUES + MOST_COLUMNS] = {
        mgb_value_of_int(now), mgb_value_of_text(lookup->model), mgb_value_of_text(lookup->backend),
        mgb_value_of_int(MOST_SEGMENTS), mgb_value_of_int(unsteady)};
    struct mgb_query_sink sink = {.context = out, .row = found_take};
    strcpy(sql, head_sql);
    out->selection = (struct mgb_selection){.segments = out->at};
    MGB_TRY(columns_add(sql, sizeof sql, values, FIXED_VALUES, lookup));
    strcat(sql, tail_sql);
    return mgb_query_run(reader, sql, values, FIXED_VALUES + lookup->column_count, &sink);
}

static const char stand_in_sql[] =
    "SELECT r.id, s.id FROM model AS m CROSS JOIN run AS r ON r.model_id = m.id"
    "  CROSS JOIN segment AS s ON s.run_id = r.id"
    " WHERE m.name = ?1 AND m.options = ?2 AND m.graph_digest = ?3 AND r.backend = ?4"
    "   AND +r.machine_id = (SELECT id FROM machine WHERE key = ?5) AND r.simulated = 0"
    "   AND coalesce(r.data, '') = ?6 AND s.optimizer IS ?7 AND s.outcome IN ('ok', 'interrupted')";

static const char stand_in_tail_sql[] =
    EVIDENCE " ORDER BY " STEADY " DESC, r.id DESC, s.id DESC LIMIT 1";

enum mgb_status mgb_judged_stand_in(int64_t *segment, int64_t *run, struct mgb_reader *reader,
                                    const struct mgb_stand_in *of)
{
    char sql[sizeof stand_in_sql + sizeof stand_in_tail_sql + MOST_COLUMNS * 40];
    struct found found = {.selection = {.segments = found.at}};
    struct mgb_query_sink sink = {.context = &found, .row = found_take};
    struct mgb_value values[STAND_IN_VALUES + MOST_COLUMNS] = {
        mgb_value_of_text(of->at.model), mgb_value_of_text(of->options),
        mgb_value_of_text(of->digest),   mgb_value_of_text(of->at.backend),
        mgb_value_of_text(of->machine),  mgb_value_of_text(of->data),
        mgb_value_of_text(of->optimizer)};
    *segment = *run = 0;
    strcpy(sql, stand_in_sql);
    MGB_TRY(columns_add(sql, sizeof sql, values, STAND_IN_VALUES, &of->at));
    strcat(sql, stand_in_tail_sql);
    MGB_TRY(mgb_query_run(reader, sql, values, STAND_IN_VALUES + of->at.column_count, &sink));
    if (found.selection.count > 0) {
        *run = found.at[0].run;
        *segment = found.at[0].segment;
    }
    return MGB_OK;
}

enum mgb_status mgb_judged_look_up(struct mgb_looked_up *out, struct mgb_reader *reader,
                                   int64_t now, const struct mgb_lookup *lookup)
{
    struct found found;
    struct mgb_selected force = {.segment = now, .point = -1};
    const struct mgb_selection in_force = {&force, 1};
    struct mgb_judgement judgement;
    struct mgb_judge_options options = {.single_enough = true, .per_example = true};
    *out = (struct mgb_looked_up){
        .id = lookup->id, .ratio = (double)NAN, .low = (double)NAN, .high = (double)NAN};
    if (now == 0)
        return MGB_OK;
    MGB_TRY(segments_find(&found, reader, now, lookup, false));
    if (found.selection.count == 0)
        MGB_TRY(segments_find(&found, reader, now, lookup, true));
    out->segments = (int64_t)found.selection.count;
    if (out->segments == 0)
        return MGB_OK;
    MGB_TRY(mgb_judge(&judgement, reader, &in_force, &found.selection, &options));
    const struct mgb_comparison *c = &judgement.comparison;
    if (!(c->ratio > 0))
        return MGB_OK;
    out->ratio = c->ratio;
    if (c->reason != MGB_REASON_FEW_STEPS) {
        out->low = c->low;
        out->high = c->high;
    }
    snprintf(out->verdict, sizeof out->verdict, "%s", mgb_verdict_name(c->verdict));
    return MGB_OK;
}
