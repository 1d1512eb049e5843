/* mgbench runs: what was run, newest first, a line each. */
#include "app/cli/asking.h"
#include "app/cli/commands.h"
#include "app/cli/runs_question.h"
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
    snprintf(out, size, "%s%s%s%s%s%s%s", outcome,
             is_false(&v[MGB_RUNS_STEADY]) ? ", unsteady" : "",
             is_true(&v[MGB_RUNS_OVERSUBSCRIBED]) ? ", crowded" : "",
             is_true(&v[MGB_RUNS_THROTTLED]) ? ", throttled" : "",
             is_true(&v[MGB_RUNS_DUPLICATES]) ? ", duplicates" : "",
             is_false(&v[MGB_RUNS_REPLICAS]) ? ", replicas differ" : "",
             is_false(&v[MGB_RUNS_LOG_COMPLETE]) ? ", log gaps" : "");
}

static void baseline_note(struct listing *l, const struct mgb_value *v)
{
    char line[96], ms[40];
    if (v[MGB_RUNS_RATIO].kind != MGB_VALUE_REAL)
        return;
    snprintf(line, sizeof line, "%.*s (run %lld: %s ms a step)",
             mgb_text_fit(mgb_value_text(&v[MGB_RUNS_BASELINE]), 40),
             mgb_value_text(&v[MGB_RUNS_BASELINE]), (long long)v[MGB_RUNS_BASELINE_RUN].integer,
             mgb_format_figure(ms, v[MGB_RUNS_BASELINE_MS].real));
    for (int i = 0; i < l->used_count; i++)
        if (strcmp(l->used[i], line) == 0)
            return;
    if (l->used_count < 8)
        strcpy(l->used[l->used_count++], line);
}

static void line_add(struct listing *l, const struct mgb_value *v, const char *outcome)
{
    char text[96];
    snprintf(text, sizeof text,
             l->all_segments && v[MGB_RUNS_SEGMENT_ID].integer ? "%lld.%lld" : "%lld",
             (long long)v[MGB_RUNS_RUN].integer, (long long)v[MGB_RUNS_SEGMENT].integer);
    mgb_table_add_figure(l->table, text);
    when_write(text, sizeof text, v[MGB_RUNS_STARTED_MS].integer);
    mgb_table_add_text(l->table, text);
    snprintf(text, sizeof text, "%.*s", mgb_text_fit(mgb_value_text(&v[MGB_RUNS_MODEL]), 12),
             mgb_value_text(&v[MGB_RUNS_MODEL]));
    mgb_table_add_text(l->table, text);
    mgb_table_add_text(l->table, mgb_value_text(&v[MGB_RUNS_BACKEND]));
    snprintf(text, sizeof text, v[MGB_RUNS_GPUS].kind == MGB_VALUE_INT ? "%lldx%lld" : "-",
             (long long)v[MGB_RUNS_GPUS].integer, (long long)v[MGB_RUNS_BATCH].integer);
    mgb_table_add_figure(l->table, text);
    mgb_cli_place_write(text, sizeof text, mgb_value_text(&v[MGB_RUNS_STRATEGY]),
                        mgb_value_text(&v[MGB_RUNS_WEIGHTS_AT]),
                        mgb_value_text(&v[MGB_RUNS_JOIN_AT]), mgb_value_text(&v[MGB_RUNS_SUM_AT]));
    mgb_table_add_text(l->table, text);
    mgb_cli_value_add(l->table, &v[MGB_RUNS_STEP_MS]);
    mgb_cli_value_add(l->table, &v[MGB_RUNS_RATE]);
    if (l->with_ratio)
        mgb_cli_value_add(l->table, &v[MGB_RUNS_RATIO]);
    outcome_write(text, sizeof text, v, outcome);
    mgb_table_add_text(l->table, text);
    if (l->with_tags)
        mgb_cli_value_add(l->table, &v[MGB_RUNS_TAGS]);
    baseline_note(l, v);
}

static void row_add(struct listing *l, const struct mgb_value *v, const char *outcome)
{
    for (int i = 0; i < MGB_RUNS_COLUMNS; i++) {
        if (i == MGB_RUNS_OUTCOME)
            mgb_table_add_text(l->table, outcome);
        else if (i == MGB_RUNS_SIMULATED ||
                 ((i == MGB_RUNS_STEADY || i == MGB_RUNS_OVERSUBSCRIBED ||
                   i == MGB_RUNS_LOG_COMPLETE || i == MGB_RUNS_THROTTLED ||
                   i == MGB_RUNS_REPLICAS) &&
                  v[i].kind == MGB_VALUE_INT))
            mgb_table_add_boolean(l->table, v[i].integer != 0);
        else
            mgb_cli_value_add(l->table, &v[i]);
    }
}

static enum mgb_status line_take(void *context, const struct mgb_value *v, int count)
{
    struct listing *l = context;
    const char *outcome = mgb_value_text(&v[MGB_RUNS_OUTCOME]);
    (void)count;
    if (l->most && l->shown == l->most)
        return MGB_OK;
    if (strcmp(outcome, "running") == 0) {
        enum mgb_outcome state;
        MGB_TRY(mgb_db_run_state(&state, l->reader, v[MGB_RUNS_RUN].integer));
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
        return mgb_table_make(&l->table, MGB_RUNS_COLUMNS, mgb_runs_columns);
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
    const struct mgb_value values[MGB_RUNS_VALUES] = {
        [MGB_RUNS_OF_MODEL] = mgb_value_of_text(mgb_cli_find_flag(in, "--model")),
        [MGB_RUNS_OF_TAG] = mgb_value_of_text(mgb_cli_find_flag(in, "--tag")),
        [MGB_RUNS_OF_SWEEP] = mgb_value_of_text(mgb_cli_find_flag(in, "--sweep")),
        [MGB_RUNS_OF_OUTCOME] = mgb_value_of_text(l.outcome),
        [MGB_RUNS_OF_BASELINE] = mgb_value_of_text(mgb_cli_find_flag(in, "--baseline")),
        [MGB_RUNS_MOST] = mgb_value_of_int(l.outcome || !l.most ? -1 : l.most),
        [MGB_RUNS_CHECKS] = mgb_value_of_int(checks_wanted(in))};
    MGB_TRY(table_make(&l));
    enum mgb_status status = mgb_runs_query(reader, values, l.all_segments, &sink);
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
