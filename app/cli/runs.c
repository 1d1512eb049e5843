/* mgbench runs: what was run, newest first, a line each. */
#include "app/cli/asking.h"
#include "app/cli/commands.h"
#include "app/script/terminal.h"
#include "db/select.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <mgb/text.h>

enum { SHOWN_AT_FIRST = 25 };

static const struct mgb_flag flags[] = {
    {"--last", "N", "how many lines, the newest; all: every one (default: 25)", false},
    {"--model", "NAME", "of this model only", false},
    {"--tag", "NAME", "with this tag only", false},
    {"--sweep", "NAME", "points of this sweep only", false},
    {"--outcome", "running|ok|oom|error|interrupted|crashed|timeout", "with this outcome only",
     false},
    {"--baseline", "NAME",
     "show ratios to this baseline (default: the newest one of the same model, machine "
     "and backend)",
     false},
    {"--all", NULL, "those of mgbench selftest and of verifications, too", false},
    {"--all-segments", NULL, "a line for every segment of a run", false},
    {NULL, NULL, NULL, false}};

static const struct mgb_example examples[] = {
    {"mgbench runs --last 5", "the newest five"},
    {"mgbench runs --model mlp --outcome ok", "those of a model that went well"},
    {"mgbench runs --sweep placement --last all --csv", "every point of a sweep, for a program"},
    {NULL, NULL}};

/* Columns of the question, and their names for programs; those without are for the list itself. */
enum {
    RUN,
    SEGMENT_ID,
    SEGMENT,
    STARTED_MS,
    STARTED,
    MODEL,
    OPTIONS,
    BACKEND,
    SIMULATED,
    MACHINE,
    STRATEGY,
    GPUS,
    BATCH,
    GLOBAL_BATCH,
    WEIGHTS_AT,
    JOIN_AT,
    SUM_AT,
    STEP_MS,
    LOW_MS,
    HIGH_MS,
    RATE,
    STEPS,
    STEADY,
    OVERSUBSCRIBED,
    LOG_COMPLETE,
    THROTTLED,
    DUPLICATES,
    REPLICAS,
    OUTCOME,
    TAGS,
    BASELINE,
    BASELINE_RUN,
    BASELINE_MS,
    RATIO,
    COLUMNS
};
static const char *const column_names[COLUMNS] = {"run",
                                                  "segment_id",
                                                  "segment",
                                                  "started_ms",
                                                  "started",
                                                  "model",
                                                  "options",
                                                  "backend",
                                                  "simulated",
                                                  "machine",
                                                  "strategy",
                                                  "gpus",
                                                  "batch_per_gpu",
                                                  "global_batch",
                                                  "weights_at",
                                                  "join_at",
                                                  "sum_at",
                                                  "step_ms",
                                                  "step_ms_low",
                                                  "step_ms_high",
                                                  "examples_per_s",
                                                  "steps",
                                                  "steady",
                                                  "oversubscribed",
                                                  "log_complete",
                                                  "throttled",
                                                  "duplicates",
                                                  "replicas_agree",
                                                  "outcome",
                                                  "tags",
                                                  "baseline",
                                                  "baseline_run",
                                                  "baseline_ms",
                                                  "ratio"};

/* ?1 model, ?2 tag, ?3 sweep, ?4 outcome, ?5 baseline, ?6 lines (-1: all), ?7 selftest's and verifications, too. A run that says
 * "running" may have crashed: it is looked at before its outcome decides. The lines are chosen first, so that only theirs
 * is looked up. */
#define RUNS_SQL(segments, outcome)                                                                \
    "WITH held AS MATERIALIZED (SELECT b.name, b.set_ms, s.run_id, m.name AS model, m.options, "   \
    "r.machine_id,"                                                                                \
    "        r.backend, s.global_batch, coalesce((SELECT avg(u.median_ns) FROM baseline_segment "  \
    "        AS x JOIN segment_stat AS u ON u.segment_id = x.segment_id WHERE x.name = b.name),"   \
    "        t.median_ns) AS median_ns FROM baseline AS b"                                         \
    "        JOIN segment AS s ON s.id = b.segment_id JOIN run AS r ON r.id = s.run_id"            \
    "        JOIN model AS m ON m.id = r.model_id JOIN segment_stat AS t ON t.segment_id = s.id"   \
    "       WHERE ?5 IS NULL OR b.name = ?5),"                                                     \
    " held_newest AS MATERIALIZED (SELECT *, max(set_ms) FROM held GROUP BY model, options, "      \
    "backend,"                                                                                     \
    "        machine_id),"                                                                         \
    " line AS (SELECT r.id AS run, s.id AS segment, " outcome " AS outcome"                        \
    "            FROM run AS r JOIN model AS m ON m.id = r.model_id " segments                     \
    "           WHERE (?1 IS NULL OR m.name = ?1)"                                                 \
    "             AND (?2 IS NULL OR EXISTS (SELECT 1 FROM tag WHERE run_id = r.id AND name = "    \
    "?2))"                                                                                         \
    "             AND (?3 IS NULL OR EXISTS (SELECT 1 FROM sweep_point AS p JOIN sweep AS w"       \
    "                  ON w.id = p.sweep_id WHERE p.run_id = r.id AND w.name = ?3))"               \
    "             AND (?7 OR NOT EXISTS (SELECT 1 FROM tag WHERE run_id = r.id AND name IN "       \
    "('selftest', 'verify')))"                                                                     \
    "             AND (?4 IS NULL OR r.outcome = 'running' OR " outcome " = ?4)"                   \
    "           ORDER BY r.started_ms DESC, r.id DESC, s.id DESC LIMIT ?6)"                        \
    " SELECT r.id, s.id, (SELECT count(*) FROM segment WHERE run_id = r.id AND id <= s.id),"       \
    "        r.started_ms, strftime('%Y-%m-%dT%H:%M:%SZ', r.started_ms / 1000, 'unixepoch'),"      \
    "        m.name, m.options, r.backend, r.simulated, c.name, s.strategy, s.gpus,"               \
    "        s.batch_per_gpu, s.global_batch, s.weights_at, s.join_at, s.sum_at, t.median_ns / "   \
    "1e6,"                                                                                         \
    "        t.ci95_low_ns / 1e6, t.ci95_high_ns / 1e6, s.global_batch * 1e9 / "                   \
    "nullif(t.median_ns, 0),"                                                                      \
    "        t.timed_steps, t.steady, s.oversubscribed, r.log_complete,"                           \
    "        EXISTS (SELECT 1 FROM sample WHERE segment_id = s.id AND throttle <> ''),"            \
    "        (SELECT count(*) FROM duplicate WHERE segment_id = s.id AND variable <> twin),"       \
    "        t.replicas_agree, l.outcome,"                                                         \
    "        (SELECT group_concat(name, ' ') FROM tag WHERE run_id = r.id), h.name, h.run_id,"     \
    "        h.median_ns / 1e6, 1.0 * t.median_ns / s.global_batch * h.global_batch / h.median_ns" \
    "  FROM line AS l JOIN run AS r ON r.id = l.run JOIN model AS m ON m.id = r.model_id"          \
    "  JOIN machine AS c ON c.id = r.machine_id LEFT JOIN segment AS s ON s.id = l.segment"        \
    "  LEFT JOIN segment_stat AS t ON t.segment_id = l.segment"                                    \
    "  LEFT JOIN held_newest AS h ON h.model = m.name AND h.options = m.options"                   \
    "   AND h.backend = r.backend AND (?5 IS NOT NULL OR h.machine_id = r.machine_id)"             \
    " ORDER BY r.started_ms DESC, r.id DESC, s.id DESC"

static const char chosen_sql[] = RUNS_SQL(
    "LEFT JOIN segment AS s ON s.id = (SELECT g.id FROM segment AS g LEFT JOIN segment_stat AS u"
    " ON u.segment_id = g.id WHERE g.run_id = r.id ORDER BY u.timed_steps > 0 DESC, g.id DESC "
    "LIMIT 1)",
    "r.outcome");
static const char all_sql[] =
    RUNS_SQL("LEFT JOIN segment AS s ON s.run_id = r.id", "coalesce(s.outcome, r.outcome)");

struct listing {
    const struct mgb_invocation *in;
    struct mgb_reader *reader;
    struct mgb_table *table;
    const char *outcome;   /* wanted; NULL: any */
    long long most, shown; /* most 0: all */
    bool with_ratio, with_tags, all_segments;
    char used[8][96]; /* lines that tell which baselines the ratios are to */
    int used_count;
};

static bool is_true(const struct mgb_value *value)
{
    return value->kind == MGB_VALUE_INT && value->integer != 0;
}

static bool is_false(const struct mgb_value *value)
{
    return value->kind == MGB_VALUE_INT && value->integer == 0;
}

/* Short, so that a line fits on a screen: the hour of today, the day of this year, or year and month. */
static void when_write(char *out, size_t size, int64_t ms)
{
    time_t at = (time_t)(ms / 1000), now = time(NULL);
    struct tm then, today;
    localtime_r(&at, &then);
    localtime_r(&now, &today);
    const char *format = then.tm_year != today.tm_year   ? "%Y-%m"
                         : then.tm_yday != today.tm_yday ? "%m-%d"
                                                         : "%H:%M";
    strftime(out, size, format, &then);
}

static void outcome_write(char *out, size_t size, const struct mgb_value *v, const char *outcome)
{
    snprintf(out, size, "%s%s%s%s%s%s%s", outcome, is_false(&v[STEADY]) ? ", unsteady" : "",
             is_true(&v[OVERSUBSCRIBED]) ? ", crowded" : "",
             is_true(&v[THROTTLED]) ? ", throttled" : "",
             is_true(&v[DUPLICATES]) ? ", duplicates" : "",
             is_false(&v[REPLICAS]) ? ", replicas differ" : "",
             is_false(&v[LOG_COMPLETE]) ? ", log gaps" : "");
}

static void baseline_note(struct listing *l, const struct mgb_value *v)
{
    char line[96], ms[40];
    if (v[RATIO].kind != MGB_VALUE_REAL)
        return;
    snprintf(line, sizeof line, "%.*s (run %lld: %s ms a step)",
             mgb_text_fit(mgb_value_text(&v[BASELINE]), 40), mgb_value_text(&v[BASELINE]),
             (long long)v[BASELINE_RUN].integer, mgb_format_figure(ms, v[BASELINE_MS].real));
    for (int i = 0; i < l->used_count; i++)
        if (strcmp(l->used[i], line) == 0)
            return;
    if (l->used_count < 8)
        strcpy(l->used[l->used_count++], line);
}

static void line_add(struct listing *l, const struct mgb_value *v, const char *outcome)
{
    char text[96];
    snprintf(text, sizeof text, l->all_segments && v[SEGMENT_ID].integer ? "%lld.%lld" : "%lld",
             (long long)v[RUN].integer, (long long)v[SEGMENT].integer);
    mgb_table_add_figure(l->table, text);
    when_write(text, sizeof text, v[STARTED_MS].integer);
    mgb_table_add_text(l->table, text);
    snprintf(text, sizeof text, "%.*s", mgb_text_fit(mgb_value_text(&v[MODEL]), 12),
             mgb_value_text(&v[MODEL]));
    mgb_table_add_text(l->table, text);
    mgb_table_add_text(l->table, mgb_value_text(&v[BACKEND]));
    snprintf(text, sizeof text, v[GPUS].kind == MGB_VALUE_INT ? "%lldx%lld" : "-",
             (long long)v[GPUS].integer, (long long)v[BATCH].integer);
    mgb_table_add_figure(l->table, text);
    mgb_cli_place_write(text, sizeof text, mgb_value_text(&v[STRATEGY]),
                        mgb_value_text(&v[WEIGHTS_AT]), mgb_value_text(&v[JOIN_AT]),
                        mgb_value_text(&v[SUM_AT]));
    mgb_table_add_text(l->table, text);
    mgb_cli_value_add(l->table, &v[STEP_MS]);
    mgb_cli_value_add(l->table, &v[RATE]);
    if (l->with_ratio)
        mgb_cli_value_add(l->table, &v[RATIO]);
    outcome_write(text, sizeof text, v, outcome);
    mgb_table_add_text(l->table, text);
    if (l->with_tags)
        mgb_cli_value_add(l->table, &v[TAGS]);
    baseline_note(l, v);
}

static void row_add(struct listing *l, const struct mgb_value *v, const char *outcome)
{
    for (int i = 0; i < COLUMNS; i++) {
        if (i == OUTCOME)
            mgb_table_add_text(l->table, outcome);
        else if (i == SIMULATED || ((i == STEADY || i == OVERSUBSCRIBED || i == LOG_COMPLETE ||
                                     i == THROTTLED || i == REPLICAS) &&
                                    v[i].kind == MGB_VALUE_INT))
            mgb_table_add_boolean(l->table, v[i].integer != 0);
        else
            mgb_cli_value_add(l->table, &v[i]);
    }
}

static enum mgb_status line_take(void *context, const struct mgb_value *v, int count)
{
    struct listing *l = context;
    const char *outcome = mgb_value_text(&v[OUTCOME]);
    (void)count;
    if (l->most && l->shown == l->most)
        return MGB_OK;
    if (strcmp(outcome, "running") == 0) {
        enum mgb_outcome state;
        MGB_TRY(mgb_db_run_state(&state, l->reader, v[RUN].integer));
        outcome = mgb_outcome_name(state);
    }
    if (l->outcome && strcmp(l->outcome, outcome) != 0)
        return MGB_OK;
    l->shown++;
    if (l->in->format == MGB_TABLE_TEXT)
        line_add(l, v, outcome);
    else
        row_add(l, v, outcome);
    return MGB_OK;
}

static enum mgb_status table_make(struct listing *l)
{
    static const char *const all[] = {"run",     "when", "model", "on",      "batch", "placement",
                                      "step_ms", "ex/s", "ratio", "outcome", "tags"};
    const char *names[11];
    int count = 0;
    if (l->in->format != MGB_TABLE_TEXT)
        return mgb_table_make(&l->table, COLUMNS, column_names);
    for (int i = 0; i < 11; i++)
        if ((i != 8 || l->with_ratio) && (i != 10 || l->with_tags))
            names[count++] = all[i];
    return mgb_table_make(&l->table, count, names);
}

/* A name that is not there is told with what there is; an empty list would only look like one. */
static enum mgb_status named_check(const struct mgb_invocation *in, struct mgb_reader *reader)
{
    static const char *const kinds[] = {"tag", "sweep", "baseline"};
    for (int i = 0; i < 3; i++) {
        char flag[16], words[256];
        struct mgb_selection runs;
        snprintf(flag, sizeof flag, "--%s", kinds[i]);
        const char *name = mgb_cli_find_flag(in, flag);
        if (!name)
            continue;
        snprintf(words, sizeof words, "%s:%s", kinds[i], name);
        MGB_TRY(mgb_select(&runs, reader, words));
        mgb_selection_done(&runs);
    }
    return MGB_OK;
}

static enum mgb_status options_read(struct listing *l, const struct mgb_invocation *in)
{
    const char *last = mgb_cli_find_flag(in, "--last");
    l->most = SHOWN_AT_FIRST;
    if (last)
        MGB_TRY(mgb_cli_count_read(&l->most, "--last", last));
    l->all_segments = mgb_cli_find_flag(in, "--all-segments") != NULL;
    l->outcome = mgb_cli_find_flag(in, "--outcome");
    for (int o = MGB_OUTCOME_RUNNING; l->outcome; o++) {
        if (o > MGB_OUTCOME_TIMEOUT)
            return mgb_fail(MGB_INVALID,
                            "--outcome: running, ok, oom, error, interrupted, crashed or timeout "
                            "expected, got '%s'",
                            l->outcome);
        if (strcmp(l->outcome, mgb_outcome_name((enum mgb_outcome)o)) == 0)
            break;
    }
    return MGB_OK;
}

static enum mgb_status columns_take(void *context, const struct mgb_value *v, int count)
{
    struct listing *l = context;
    (void)count;
    l->with_ratio = v[0].integer != 0;
    l->with_tags = v[1].integer != 0;
    return MGB_OK;
}

static void foot_print(const struct listing *l)
{
    for (int i = 0; i < l->used_count; i++)
        mgb_say(stdout, "%s%s\n", i ? "       " : "\nratio: time an example over that of baseline ",
                l->used[i]);
    if (l->shown == 0 && !l->in->quiet)
        mgb_say(stderr, "%s: no run is like that; mgbench runs --all --last all lists every one\n",
                l->in->program);
}

/* Who asks for a tag has the runs of it. */
static bool checks_wanted(const struct mgb_invocation *in)
{
    const char *tag = mgb_cli_find_flag(in, "--tag"), *sweep = mgb_cli_find_flag(in, "--sweep");
    return mgb_cli_find_flag(in, "--all") || tag || (sweep && strcmp(sweep, "selftest") == 0);
}

static enum mgb_status runs_ask(const struct mgb_invocation *in, struct mgb_reader *reader,
                                int *code)
{
    struct listing l = {.in = in, .reader = reader};
    struct mgb_query_sink columns = {.context = &l, .row = columns_take};
    struct mgb_query_sink sink = {.context = &l, .row = line_take};
    (void)code;
    MGB_TRY(options_read(&l, in));
    MGB_TRY(named_check(in, reader));
    MGB_TRY(mgb_query_run(reader,
                          "SELECT EXISTS (SELECT 1 FROM baseline), EXISTS (SELECT 1 FROM tag)",
                          NULL, 0, &columns));
    struct mgb_value values[] = {mgb_value_of_text(mgb_cli_find_flag(in, "--model")),
                                 mgb_value_of_text(mgb_cli_find_flag(in, "--tag")),
                                 mgb_value_of_text(mgb_cli_find_flag(in, "--sweep")),
                                 mgb_value_of_text(l.outcome),
                                 mgb_value_of_text(mgb_cli_find_flag(in, "--baseline")),
                                 mgb_value_of_int(l.outcome || !l.most ? -1 : l.most),
                                 mgb_value_of_int(checks_wanted(in))};
    MGB_TRY(table_make(&l));
    enum mgb_status status =
        mgb_query_run(reader, l.all_segments ? all_sql : chosen_sql, values, 7, &sink);
    if (status == MGB_OK)
        status = mgb_table_print(l.table, in->format, stdout);
    mgb_table_free(l.table);
    if (status == MGB_OK && in->format == MGB_TABLE_TEXT)
        foot_print(&l);
    return status;
}

static int runs_run(struct mgb_invocation *in)
{
    return mgb_cli_ask(in, runs_ask);
}

const struct mgb_command mgb_command_runs = {
    .name = "runs",
    .usage = "",
    .summary = "what was run, newest first",
    .help =
        "A run is shown by its last segment that has figures. batch: GPUs x examples a GPU; ex/s: "
        "examples a\n"
        "second; placement in brief: where the weights live > where the towers meet. unsteady: its "
        "steps never\n"
        "settled; crowded: the towers have more threads than there are cores; throttled: a device "
        "held itself\n"
        "back meanwhile (mgbench show tells when); duplicates: variables are stored twice; "
        "replicas "
        "differ: the\n"
        "copies of the weights are no longer alike; log gaps: recording stopped before its end. A "
        "run whose process\n"
        "is gone shows as crashed. With a baseline set (mgbench baseline), the ratio of the time "
        "an example to that\n"
        "baseline's.\n",
    .examples = examples,
    .flags = flags,
    .run = runs_run,
};
