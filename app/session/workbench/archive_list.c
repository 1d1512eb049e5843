/* A list of runs from the database: the lines are chosen and sorted first, and only theirs is looked up; no table of steps is
 * read but for lines that have no stored figures. See archive_private.h. */
#include "app/session/workbench/archive_private.h"

#include "app/session/workbench/pool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FROM                                                                                       \
    " FROM run AS r CROSS JOIN model AS m ON m.id = r.model_id"                                    \
    " CROSS JOIN machine AS h ON h.id = r.machine_id LEFT JOIN segment AS s ON s.run_id = r.id"    \
    " LEFT JOIN segment_stat AS t ON t.segment_id = s.id"

/* The baseline whose ratio is shown: the newest of the same model, options, backend and machine, as mgbench runs takes it. */
#define HELD                                                                                       \
    "WITH each AS MATERIALIZED (SELECT b.set_ms, r.machine_id, r.backend, s.global_batch, m.name," \
    "   m.options, coalesce((SELECT avg(u.median_ns) FROM baseline_segment AS x JOIN "             \
    "segment_stat "                                                                                \
    "   AS u ON u.segment_id = x.segment_id WHERE x.name = b.name), t.median_ns) AS median_ns"     \
    "  FROM baseline AS b JOIN segment AS s ON s.id = b.segment_id JOIN run AS r ON r.id = "       \
    "  s.run_id JOIN model AS m ON m.id = r.model_id JOIN segment_stat AS t ON t.segment_id = "    \
    "s.id),"                                                                                       \
    " held AS MATERIALIZED (SELECT *, max(set_ms) FROM each GROUP BY name, options, backend, "     \
    "machine_id),"

enum {
    RUN,
    SEGMENT,
    NUMBER,
    STARTED,
    MODEL,
    BACKEND,
    OUTCOME,
    PLACEMENT,
    TAGS,
    BASELINE,
    SIMULATED,
    GPUS,
    BATCH,
    STEPS,
    PEAK,
    STEP_MS,
    LOW_MS,
    HIGH_MS,
    RATE,
    RATIO,
    SETTINGS,
    RECIPE,
    NOTES,
};

/* Options as asked, a blank before each. */
#define ASKED(name) " || coalesce(' " name "=' || s.asked_" name ", '')"
#define SWITCHED(name)                                                                             \
    " || CASE s.asked_" name " WHEN 1 THEN ' " name "=true' WHEN 0 THEN ' " name                   \
    "=false' ELSE '' END"
/* clang-format off */
#define ASKED_ALL \
    "ltrim(coalesce(' gpus=' || replace(replace(s.asked_gpu_list, '\"', ''), '/gpu:', '')," \
    "  ' gpus=' || s.asked_gpus, '') || coalesce(' batch=' || s.asked_batch_per_gpu, '')" \
    "  || coalesce(' gpu_memory=' || s.asked_gpu_memory_bytes, '')" \
    ASKED("global_batch") SWITCHED("cpu_relocation") SWITCHED("cpu_merge") ASKED("strategy") \
    ASKED("like") ASKED("weights_at") ASKED("merge_at") ASKED("join_at") ASKED("loss_at") \
    ASKED("sum_at") ASKED("update_at") ASKED("relocation") ASKED("allreduce") ASKED("bucket_mib") \
    SWITCHED("overlap") ASKED("wire_type") SWITCHED("staged") SWITCHED("stale") ASKED("peer_access") \
    ASKED("pinned") ASKED("bn") ASKED("precision") ASKED("recompute") ASKED("graph") \
    SWITCHED("logical") ASKED("threads") ASKED("hosts") ")"
/* clang-format on */

/* "resnet depth=152"; NULL for options that cannot be said that way. */
#define RECIPE_SQL                                                                                 \
    "CASE WHEN NOT json_valid(m.options) OR instr(m.name, ' ') THEN NULL"                          \
    " WHEN EXISTS (SELECT 1 FROM json_each(m.options) WHERE type IN ('object', 'array', 'null')"   \
    "  OR value GLOB '*[ \"]*') THEN NULL ELSE m.name || coalesce((SELECT group_concat(' ' || "    \
    "key "                                                                                         \
    " || '=' || CASE WHEN type IN ('true', 'false') THEN type ELSE value END, '')"                 \
    "  FROM json_each(m.options)), '') END"

static const char shown_sql[] =
    " SELECT l.run, l.segment, (SELECT count(*) FROM segment WHERE run_id = l.run AND id <= "
    "l.segment),"
    "  " ARCHIVE_STARTED ", m.name, r.backend, l.outcome, " ARCHIVE_PLACE ","
    "  (SELECT group_concat(name, ' ') FROM tag WHERE run_id = r.id),"
    "  (SELECT group_concat(name, ' ') FROM baseline_segment WHERE segment_id = s.id),"
    "  r.simulated, s.gpus, s.batch_per_gpu, t.timed_steps, " ARCHIVE_PEAK(
        "gpu") ","
               "  t.median_ns / 1e6, t.ci95_low_ns / 1e6, t.ci95_high_ns / 1e6, " ARCHIVE_RATE ","
               "  1.0 * t.median_ns / s.global_batch * b.global_batch / b.median_ns,"
               "  " ASKED_ALL ", " RECIPE_SQL ","
               "  (SELECT group_concat(text, ' | ') FROM note WHERE run_id = r.id)"
               "  FROM line AS l CROSS JOIN run AS r ON r.id = l.run CROSS JOIN model AS m ON m.id "
               "= "
               "r.model_id"
               "  LEFT JOIN segment AS s ON s.id = l.segment LEFT JOIN segment_stat AS t ON "
               "t.segment_id = "
               "s.id"
               "  LEFT JOIN held AS b ON b.name = m.name AND b.options = m.options AND b.backend = "
               "r.backend"
               "   AND b.machine_id = r.machine_id ORDER BY l.place";

/* What is not known comes last, either way round. */
static const char *const sort_keys[MGB_LIST_COLUMN_COUNT] = {
    [MGB_LIST_RUN] = NULL,
    [MGB_LIST_STARTED] = "coalesce(s.started_ms, r.started_ms)",
    [MGB_LIST_MODEL] = "m.name COLLATE NOCASE",
    [MGB_LIST_BACKEND] = "r.backend",
    [MGB_LIST_OUTCOME] = ARCHIVE_OUTCOME,
    [MGB_LIST_STEP_MS] = "t.median_ns",
    [MGB_LIST_RATE] = ARCHIVE_RATE,
    [MGB_LIST_MEMORY] = ARCHIVE_PEAK("gpu"),
    [MGB_LIST_GPUS] = "s.gpus",
    [MGB_LIST_BATCH] = "s.batch_per_gpu",
};

static void free_list(void *part)
{
    struct mgb_list *list = part;
    struct mgb_bench_pool pool = {.newest = list->memory};
    mgb_bench_pool_done(&pool);
    free(list->rows);
    free(list);
}

struct mgb_list *mgb_archive_list_make(const struct mgb_list_request *request)
{
    struct mgb_list *list = calloc(1, sizeof *list);
    if (!list)
        return NULL;
    atomic_init(&list->shared.holders, 1);
    list->shared.free = free_list;
    list->first = request->first;
    list->sort = request->sort;
    list->ascending = request->ascending;
    snprintf(list->filter, sizeof list->filter, "%s", request->filter ? request->filter : "");
    return list;
}

struct filling {
    struct mgb_list *list;
    struct mgb_bench_pool pool;
    int most;
};

static int64_t count_of(const struct mgb_value *value)
{
    return value->kind == MGB_VALUE_INT ? value->integer : -1;
}

static double real_of(const struct mgb_value *value)
{
    return value->kind == MGB_VALUE_REAL  ? value->real
           : value->kind == MGB_VALUE_INT ? (double)value->integer
                                          : (double)NAN;
}

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "listing runs: memory is exhausted");
}

static enum mgb_status row_take(void *context, const struct mgb_value *v, int count)
{
    struct filling *f = context;
    (void)count;
    if (f->list->count == f->most)
        return MGB_OK;
    struct mgb_list_row *row = &f->list->rows[f->list->count++];
    *row = (struct mgb_list_row){.run = mgb_value_int(&v[RUN]),
                                 .segment = mgb_value_int(&v[SEGMENT]),
                                 .number = (int)mgb_value_int(&v[NUMBER]),
                                 .simulated = mgb_value_int(&v[SIMULATED]) != 0,
                                 .gpus = count_of(&v[GPUS]),
                                 .batch_per_gpu = count_of(&v[BATCH]),
                                 .steps = count_of(&v[STEPS]),
                                 .peak_bytes = count_of(&v[PEAK]),
                                 .step_ms = real_of(&v[STEP_MS]),
                                 .low_ms = real_of(&v[LOW_MS]),
                                 .high_ms = real_of(&v[HIGH_MS]),
                                 .rate = real_of(&v[RATE]),
                                 .ratio = real_of(&v[RATIO])};
    const char **texts[] = {&row->started,  &row->model,     &row->backend,
                            &row->outcome,  &row->placement, &row->tags,
                            &row->baseline, &row->settings,  &row->notes};
    static const int places[] = {STARTED, MODEL,    BACKEND,  OUTCOME, PLACEMENT,
                                 TAGS,    BASELINE, SETTINGS, NOTES};
    for (int i = 0; i < 9; i++)
        *texts[i] = mgb_bench_pool_text(&f->pool, mgb_value_text(&v[places[i]]));
    if (v[RECIPE].kind == MGB_VALUE_TEXT)
        row->recipe = mgb_bench_pool_text(&f->pool, mgb_value_text(&v[RECIPE]));
    return f->pool.failed ? no_memory() : MGB_OK;
}

static enum mgb_status number_write(FILE *out, long long number)
{
    return fprintf(out, "%s%lld", ftell(out) > 1 ? "," : "", number) < 0 ? no_memory() : MGB_OK;
}

static enum mgb_status id_write(void *context, const struct mgb_value *v, int count)
{
    (void)count;
    return number_write(context, v[0].integer);
}

static enum mgb_status state_write(FILE *out, struct mgb_reader *reader, const char *runs)
{
    const char *at = runs;
    while (*at == ',' || *at == '[') {
        char *end;
        long long run = strtoll(at + 1, &end, 10);
        enum mgb_outcome state;
        if (end == at + 1)
            break;
        at = end;
        enum mgb_status status = mgb_db_run_state(&state, reader, run);
        if (status == MGB_MISSING)
            continue; /* deleted meanwhile */
        MGB_TRY(status);
        if (state == MGB_OUTCOME_CRASHED)
            MGB_TRY(number_write(out, run));
    }
    return MGB_OK;
}

/* Closes a text in memory, NULL being none; one that could not grow says so to who writes. */
static enum mgb_status text_end(FILE *text, bool written, enum mgb_status status)
{
    bool whole = !text || (fclose(text) == 0 && written);
    return whole || status != MGB_OK ? status : no_memory();
}

/* Of the newest runs that say they run, those whose process is gone, as a JSON array to be freed. */
static enum mgb_status crashed_find(char **out, struct mgb_reader *reader)
{
    char *runs = NULL, *crashed = NULL;
    size_t size;
    FILE *ids = open_memstream(&runs, &size), *dead = open_memstream(&crashed, &size);
    enum mgb_status status = ids && dead ? MGB_OK : no_memory();
    struct mgb_query_sink sink = {.context = ids, .row = id_write};
    if (status == MGB_OK) {
        fputc('[', ids);
        fputc('[', dead);
        status = mgb_query_run(reader,
                               "SELECT id FROM run WHERE outcome = 'running' ORDER BY id DESC "
                               "LIMIT 1000",
                               NULL, 0, &sink);
    }
    status = text_end(ids, true, status);
    if (status == MGB_OK)
        status = state_write(dead, reader, runs);
    bool ended = !dead || fputc(']', dead) == ']';
    status = text_end(dead, ended, status);
    free(runs);
    *out = crashed;
    if (status != MGB_OK) {
        free(crashed);
        *out = NULL;
    }
    return status;
}

static bool order_write(FILE *sql, const struct mgb_list_request *request)
{
    const char *key = sort_keys[request->sort], *way = request->ascending ? "" : " DESC";
    if (!key)
        return fprintf(sql, " ORDER BY r.id%s, s.id%s", way, way) >= 0;
    return fprintf(sql, " ORDER BY (%s) IS NULL, %s%s, r.id DESC, s.id DESC", key, key, way) >= 0;
}

struct question {
    struct mgb_archive_filter filter;
    struct mgb_value values[ARCHIVE_FIXED + ARCHIVE_WORDS];
    char *crashed;
};

static enum mgb_status lines_ask(struct filling *f, struct mgb_reader *reader,
                                 const struct question *q, const struct mgb_list_request *request)
{
    char *sql = NULL;
    size_t size;
    struct mgb_query_sink sink = {.context = f, .row = row_take};
    FILE *text = open_memstream(&sql, &size);
    if (!text)
        return no_memory();
    bool written =
        fputs(HELD " line AS MATERIALIZED (SELECT row_number() OVER () AS place, * FROM (SELECT "
                   "r.id AS run, s.id AS segment, " ARCHIVE_OUTCOME " AS outcome" FROM " WHERE ",
              text) >= 0 &&
        fputs(q->filter.where, text) >= 0 && order_write(text, request) &&
        fputs(" LIMIT ?2 OFFSET ?3))", text) >= 0 && fputs(shown_sql, text) >= 0;
    enum mgb_status status = text_end(text, written, MGB_OK);
    if (status == MGB_OK)
        status = mgb_query_run(reader, sql, q->values, ARCHIVE_FIXED + q->filter.count, &sink);
    free(sql);
    return status;
}

static enum mgb_status count_take(void *context, const struct mgb_value *v, int count)
{
    (void)count;
    *(int64_t *)context = mgb_value_int(&v[0]);
    return MGB_OK;
}

static enum mgb_status total_ask(struct mgb_list *list, struct mgb_reader *reader,
                                 const struct question *q, int most)
{
    char *sql = NULL;
    struct mgb_query_sink sink = {.context = &list->total, .row = count_take};
    list->total = list->first + list->count;
    if (list->count < most && (list->count > 0 || list->first == 0))
        return MGB_OK;
    if (strcmp(q->filter.where, ARCHIVE_PLAIN) == 0)
        return mgb_query_run(
            reader,
            "SELECT (SELECT count(*) FROM segment) - (SELECT count(*) FROM segment WHERE run_id "
            "IN " ARCHIVE_CHECKS ") + (SELECT count(*) FROM run AS r WHERE NOT EXISTS (SELECT 1 "
            "FROM segment WHERE run_id = r.id) AND r.id NOT IN " ARCHIVE_CHECKS ")",
            NULL, 0, &sink);
    /* Parameters keep their numbers: the two that only a page has are asked for what is always so. */
    if (asprintf(&sql, "SELECT count(*)" FROM " WHERE ?1 IS ?1 AND ?2 IS ?2 AND ?3 IS ?3 AND %s",
                 q->filter.where) < 0)
        return no_memory();
    enum mgb_status status =
        mgb_query_run(reader, sql, q->values, ARCHIVE_FIXED + q->filter.count, &sink);
    free(sql);
    return status;
}

enum mgb_status mgb_archive_list_fill(struct mgb_list *out, struct mgb_reader *reader,
                                      const struct mgb_list_request *request)
{
    struct question q = {.crashed = NULL};
    struct filling f = {.list = out};
    MGB_TRY(mgb_archive_filter_make(&q.filter, request->filter ? request->filter : ""));
    f.most = request->most < 1 ? 1 : request->most > ARCHIVE_MOST ? ARCHIVE_MOST : request->most;
    out->rows = calloc((size_t)f.most, sizeof *out->rows);
    enum mgb_status status = out->rows ? crashed_find(&q.crashed, reader) : no_memory();
    if (status == MGB_OK) {
        q.values[0] = mgb_value_of_text(q.crashed);
        q.values[1] = mgb_value_of_int(f.most);
        q.values[2] = mgb_value_of_int(request->first);
        memcpy(q.values + ARCHIVE_FIXED, q.filter.values, sizeof q.filter.values);
        status = lines_ask(&f, reader, &q, request);
    }
    out->memory = f.pool.newest;
    if (status == MGB_OK)
        status = total_ask(out, reader, &q, f.most);
    if (status == MGB_OK)
        status = mgb_archive_live_fill(out, reader);
    free(q.crashed);
    mgb_archive_filter_done(&q.filter);
    return status;
}
