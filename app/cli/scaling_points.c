/* See scaling_points.h. */
#include "app/cli/scaling_points.h"
#include "app/cli/asking.h"
#include "db/load.h"
#include <stdlib.h>
#include <string.h>

/* ?1 the model, or NULL; ?2 a JSON array of segments, or NULL: then of each configuration the newest run counts, with its
 * repetitions: runs of a sweep of the same name with the same settings, of each repetition the newest. A GPU's figures do
 * not depend on CPU threads (`team`). */
static const char points_sql[] =
    "WITH asked AS ("
    " SELECT s.*, m.name AS model, m.options, coalesce(r.data, '') AS data, h.name AS machine,"
    "        r.backend, r.simulated, t.median_ns, t.steady, t.ci95_low_ns, t.ci95_high_ns,"
    "        " MGB_CLI_WRONG_SQL " AS wrong,"
    "        CASE r.backend WHEN 'host' THEN coalesce(s.threads, 0) ELSE 0 END AS team,"
    "        m.name || ' ' || m.options || ' ' || coalesce(r.data, '') || ' ' || r.machine_id || ' "
    "' ||"
    "        r.backend || r.simulated || ' ' || coalesce(s.precision, '') || ' ' ||"
    "        coalesce(s.optimizer, '') || ' ' || coalesce(s.recompute, '') AS family,"
    "        settings AS variation,"
    "        (SELECT w.name || ' ' || p.settings_digest FROM sweep_point AS p"
    "           JOIN sweep AS w ON w.id = p.sweep_id WHERE p.run_id = r.id"
    "          ORDER BY p.sweep_id DESC LIMIT 1) AS cell,"
    "        (SELECT repeat FROM sweep_point WHERE run_id = r.id ORDER BY sweep_id DESC LIMIT 1)"
    "          AS repetition"
    "   FROM (SELECT *, json_array(strategy, weights_at, join_at, loss_at, sum_at, update_at, "
    "relocation,"
    "           allreduce, bucket_mib, overlap, wire_type, staged, stale, peer_access, pinned, "
    "graph, bn,"
    "           hosts) AS settings FROM segment) AS s"
    "   JOIN run AS r ON r.id = s.run_id JOIN model AS m ON m.id = r.model_id"
    "   JOIN machine AS h ON h.id = r.machine_id LEFT JOIN segment_stat AS t ON t.segment_id = s.id"
    "  WHERE (?1 IS NULL OR m.name = ?1)"
    "    AND (?2 IS NOT NULL OR NOT EXISTS (SELECT 1 FROM tag WHERE run_id = r.id AND name = "
    "'verify'))"
    "    AND (?2 IS NULL OR s.id IN (SELECT value FROM json_each(?2)))"
    "    AND ((s.outcome = 'ok' AND t.median_ns > 0) OR s.outcome = 'oom')"
    "    AND s.gpus >= 1 AND s.global_batch >= 1),"
    " aged AS (SELECT *, row_number() OVER kind AS age, first_value(cell) OVER kind AS newest_cell,"
    "                 row_number() OVER (PARTITION BY family, variation, team, gpus, global_batch,"
    "                     cell, repetition ORDER BY started_ms DESC, id DESC) AS cell_age FROM "
    "asked"
    "         WINDOW kind AS (PARTITION BY family, variation, team, gpus, global_batch"
    "                         ORDER BY started_ms DESC, id DESC))"
    " SELECT family, variation, strategy, weights_at, join_at, sum_at,"
    "        coalesce(nullif(wire_type, 'f32'), ''), backend, model, machine, simulated,"
    "        gpus, global_batch, avg(median_ns), count(*), min(coalesce(steady, 1)) = 0,"
    "        max(coalesce(oversubscribed, 0)), max(outcome = 'oom'), max(run_id),"
    "        max((SELECT sum(x.examples) FROM segment AS g JOIN step AS x ON x.segment_id = g.id"
    "              WHERE g.run_id = aged.run_id AND x.epoch = 0"
    "                AND (aged.stop_reason = 'epochs' OR EXISTS (SELECT 1 FROM segment AS e JOIN "
    "step AS y"
    "                     ON y.segment_id = e.id WHERE e.run_id = aged.run_id AND y.epoch > 0)))),"
    "        team, options, data, optimizer, precision, recompute,"
    "        min(ci95_low_ns), max(ci95_high_ns), group_concat(id, ','), max(wrong)"
    "  FROM aged WHERE ?2 IS NOT NULL OR age = 1 OR (cell = newest_cell AND cell_age = 1)"
    " GROUP BY family, variation, team, gpus, global_batch"
    " ORDER BY family, strategy = 'independent', variation, team, gpus, global_batch";

struct taking {
    struct mgb_scaled_list *out;
    int capacity;
};

static double real_of(const struct mgb_value *value)
{
    return value->kind == MGB_VALUE_REAL ? value->real : (double)mgb_value_int(value);
}

#define COPY(to, value) snprintf(to, sizeof(to), "%s", mgb_value_text(value))

static void label_write(struct mgb_scaled *p, const struct mgb_value *v)
{
    mgb_cli_place_write(p->label, sizeof p->label, mgb_value_text(&v[2]), mgb_value_text(&v[3]),
                        mgb_value_text(&v[4]), mgb_value_text(&v[5]));
    size_t used = strlen(p->label);
    if (*mgb_value_text(&v[6]))
        snprintf(p->label + used, sizeof p->label - used, " %.8s", mgb_value_text(&v[6]));
}

static enum mgb_status point_take(void *context, const struct mgb_value *v, int count)
{
    struct taking *t = context;
    struct mgb_scaled_list *out = t->out;
    (void)count;
    if (out->count == t->capacity) {
        int capacity = t->capacity ? 2 * t->capacity : 32;
        struct mgb_scaled *grown = realloc(out->at, (size_t)capacity * sizeof *grown);
        if (!grown)
            return mgb_fail(MGB_NO_MEMORY, "scaling: memory is exhausted");
        out->at = grown;
        t->capacity = capacity;
    }
    struct mgb_scaled *p = &out->at[out->count++];
    *p = (struct mgb_scaled){
        .simulated = mgb_value_int(&v[10]) != 0,
        .independent = strcmp(mgb_value_text(&v[2]), "independent") == 0,
        .point = {mgb_value_int(&v[11]), mgb_value_int(&v[12]), real_of(&v[13])},
        .repetitions = mgb_value_int(&v[14]),
        .not_steady = mgb_value_int(&v[15]) != 0,
        .oversubscribed = mgb_value_int(&v[16]) != 0,
        .oom = mgb_value_int(&v[17]) != 0,
        .run = mgb_value_int(&v[18]),
        .epoch_examples = mgb_value_int(&v[19]),
        .threads = mgb_value_int(&v[20]),
        .wrong = mgb_value_int(&v[29]),
        .low_ns = real_of(&v[26]),
        .high_ns = real_of(&v[27])};
    if (p->point.step_ns > 0)
        p->examples_per_s = (double)p->point.global_batch * 1e9 / p->point.step_ns;
    COPY(p->group, &v[0]);
    COPY(p->variation, &v[1]);
    COPY(p->strategy, &v[2]);
    COPY(p->backend, &v[7]);
    COPY(p->model, &v[8]);
    COPY(p->machine, &v[9]);
    COPY(p->kind[MGB_SCALED_OPTIONS], &v[21]);
    COPY(p->kind[MGB_SCALED_DATA], &v[22]);
    COPY(p->kind[MGB_SCALED_OPTIMIZER], &v[23]);
    COPY(p->kind[MGB_SCALED_PRECISION], &v[24]);
    COPY(p->kind[MGB_SCALED_RECOMPUTE], &v[25]);
    COPY(p->segments, &v[28]);
    if (strlen(p->segments) == sizeof p->segments - 1) /* the last may be cut */
        *strrchr(p->segments, ',') = '\0';
    label_write(p, v);
    return MGB_OK;
}

/* Of several repetitions the location that comparing gives one side: the same mean of medians, and its interval. */
static enum mgb_status point_locate(struct mgb_scaled *p, struct mgb_reader *reader)
{
    struct mgb_loaded_side side;
    struct mgb_comparison result;
    struct mgb_compare_options options = {.floor = MGB_COMPARE_FLOOR};
    int64_t segments[64];
    int count = 0;
    for (char *at = p->segments; *at && count < 64; at += *at == ',')
        segments[count++] = strtoll(at, &at, 10);
    MGB_TRY(mgb_side_load(&side, reader, segments, count));
    enum mgb_status status = mgb_compare(&result, &side.side, &side.side, &options);
    mgb_side_done(&side);
    if (status == MGB_OK && result.a.ns > 0) {
        p->low_ns = result.a.low_ns;
        p->high_ns = result.a.high_ns;
    }
    return status;
}

static enum mgb_status points_locate(struct mgb_scaled_list *list, struct mgb_reader *reader)
{
    for (int i = 0; i < list->count; i++)
        if (list->at[i].repetitions > 1 && !list->at[i].oom)
            MGB_TRY(point_locate(&list->at[i], reader));
    return MGB_OK;
}

/* An epoch is the data's: points that ended before one learn of it from others. */
static void epochs_share(struct mgb_scaled_list *list)
{
    for (int i = 0; i < list->count; i++)
        for (int k = 0; k < list->count && !list->at[i].epoch_examples; k++)
            if (strcmp(list->at[k].group, list->at[i].group) == 0)
                list->at[i].epoch_examples = list->at[k].epoch_examples;
}

static char *segments_json(const struct mgb_selection *segments)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (size_t i = 0; i < segments->count; i++)
        fprintf(out, "%c%lld", i ? ',' : '[', (long long)segments->segments[i].segment);
    fputc(']', out);
    return fclose(out) == 0 ? text : NULL;
}

enum mgb_status mgb_scaled_load(struct mgb_scaled_list *out, struct mgb_reader *reader,
                                const char *model, const struct mgb_selection *segments)
{
    struct taking t = {.out = out};
    struct mgb_query_sink sink = {.context = &t, .row = point_take};
    char *json = segments ? segments_json(segments) : NULL;
    *out = (struct mgb_scaled_list){0};
    if (segments && !json)
        return mgb_fail(MGB_NO_MEMORY, "scaling: memory is exhausted");
    struct mgb_value values[] = {mgb_value_of_text(model), mgb_value_of_text(json)};
    enum mgb_status status = mgb_query_run(reader, points_sql, values, 2, &sink);
    free(json);
    if (status == MGB_OK)
        status = points_locate(out, reader);
    if (status == MGB_OK)
        epochs_share(out);
    else
        mgb_scaled_free(out);
    return status;
}

void mgb_scaled_free(struct mgb_scaled_list *list)
{
    free(list->at);
    *list = (struct mgb_scaled_list){0};
}

/* How well a baseline suits: the same threads first, or the speed-up is of threads too; then the same strategy, then the
 * same placement. View scaling goes by the same. */
static int suits(const struct mgb_scaled *p, const struct mgb_scaled *of)
{
    return 4 * (p->threads == of->threads) + 2 * (strcmp(p->strategy, of->strategy) == 0) +
           (strcmp(p->variation, of->variation) == 0);
}

const struct mgb_scaled *mgb_scaled_find(const struct mgb_scaled_list *list,
                                         const struct mgb_scaled *of, int64_t gpus,
                                         int64_t global_batch)
{
    const struct mgb_scaled *found = NULL;
    for (int i = 0; i < list->count; i++) {
        const struct mgb_scaled *p = &list->at[i];
        if (p->point.gpus != gpus || p->point.global_batch != global_batch || p->oom ||
            strcmp(p->group, of->group) != 0)
            continue;
        int more = found ? suits(p, of) - suits(found, of) : 1;
        if (more > 0 || (more == 0 && p->run > found->run))
            found = p;
    }
    return found;
}

const struct mgb_scaled *mgb_scaled_find_independent(const struct mgb_scaled_list *list,
                                                     const struct mgb_scaled *of)
{
    const struct mgb_scaled *found = NULL;
    for (int i = 0; i < list->count && !of->independent; i++) {
        const struct mgb_scaled *p = &list->at[i];
        if (p->independent && !p->oom && p->point.gpus == of->point.gpus &&
            p->point.global_batch == of->point.global_batch && p->threads == of->threads &&
            strcmp(p->group, of->group) == 0 && (!found || p->run > found->run))
            found = p;
    }
    return found;
}
