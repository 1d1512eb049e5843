/* See judge.h. What forbids a verdict: other backends without leave, logs with gaps, steps that never settled, variables
 * stored more often than the placement says. */
#include "app/session/judge.h"

#include "db/load.h"
#include "db/steady.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct side_look { /* gathers one side's facts, a row a segment */
    struct mgb_judgement *out;
    struct mgb_judged_side *side;
    const char *name; /* "A" */
    int64_t run;      /* whose segments are called by their numbers */
    int64_t machine, model;
    int64_t oldest[2], newest[2]; /* of its runs: when the segment began, and the run */
    bool unjudged;                /* of one run it was not judged whether it is steady */
    size_t rows;
    bool mixed_model, mixed_settings;
    char settings[400]; /* of its first run */
};

static void line_add(char *text, size_t size, const char *separator, const char *format,
                     va_list args)
{
    char line[300];
    size_t used = strlen(text);
    vsnprintf(line, sizeof line, format, args);
    if (strstr(text, line) == NULL && used + strlen(separator) + strlen(line) < size)
        snprintf(text + used, size - used, "%s%s", used ? separator : "", line);
}

static void __attribute__((format(printf, 2, 3)))
refusal_add(struct mgb_judgement *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    line_add(out->refusal, sizeof out->refusal, "; ", format, args);
    va_end(args);
}

static void __attribute__((format(printf, 2, 3)))
remark_add(struct mgb_judgement *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    line_add(out->remarks, sizeof out->remarks, "\n", format, args);
    va_end(args);
}

enum {
    FACT_RUN,
    FACT_BACKEND,
    FACT_SIMULATED,
    FACT_MACHINE_ID,
    FACT_MACHINE,
    FACT_MODEL_ID,
    FACT_MODEL,
    FACT_LOG_COMPLETE,
    FACT_OUTCOME,
    FACT_OVERSUBSCRIBED,
    FACT_GLOBAL_BATCH,
    FACT_STEADY,
    FACT_NOT_STEADY,
    FACT_TIMED_STEPS,
    FACT_DUPLICATES,
    FACT_LEFTOVERS,
    FACT_REPLICAS,
    FACT_ODD_LOSS,
    FACT_TARGET_MISSED,
    FACT_SETTINGS,
    FACT_THROTTLE,
    FACT_STARTED,
    FACT_THREADS,
    FACT_GPUS,
    FACT_NUMBER
};

static const char facts_sql[] =
    "SELECT r.id, r.backend, r.simulated, r.machine_id, h.name, r.model_id, m.name, "
    "r.log_complete, "
    "s.outcome,"
    "       s.oversubscribed, s.global_batch, t.steady, t.not_steady, t.timed_steps,"
    "       (SELECT count(*) FROM duplicate WHERE segment_id = s.id AND variable <> twin),"
    "       (SELECT count(*) FROM duplicate WHERE segment_id = s.id AND variable = twin),"
    "       t.replicas_agree,"
    "       (SELECT step FROM step WHERE segment_id = s.id AND loss_status IN ('nan', 'inf', "
    "'-inf')"
    "         LIMIT 1),"
    "       s.target_noise IS NOT NULL AND s.stop_reason = 'time',"
    "       json_array(s.strategy, s.gpu_list, s.global_batch, s.weights_at, s.join_at, s.loss_at, "
    "s.sum_at,"
    "                  s.update_at, s.allreduce, s.bucket_mib, s.wire_type, s.staged, s.stale, "
    "s.graph,"
    "                  s.precision, s.recompute, s.bn, s.optimizer),"
    "       (SELECT group_concat(DISTINCT throttle) FROM sample"
    "         WHERE segment_id = s.id AND throttle <> ''),"
    "       s.started_ms,"
    "       CASE r.backend WHEN 'host' THEN s.threads END, s.gpus,"
    "       (SELECT count(*) FROM segment WHERE run_id = s.run_id AND id <= s.id)"
    "  FROM segment AS s JOIN run AS r ON r.id = s.run_id JOIN machine AS h ON h.id = r.machine_id"
    "  JOIN model AS m ON m.id = r.model_id LEFT JOIN segment_stat AS t ON t.segment_id = s.id "
    "WHERE s.id = ?";

static void first_row_keep(struct side_look *l, const struct mgb_value *v)
{
    struct mgb_judged_side *side = l->side;
    snprintf(side->model, sizeof side->model, "%s", mgb_value_text(&v[FACT_MODEL]));
    snprintf(side->backend, sizeof side->backend, "%s", mgb_value_text(&v[FACT_BACKEND]));
    snprintf(side->machine, sizeof side->machine, "%s", mgb_value_text(&v[FACT_MACHINE]));
    side->simulated = v[FACT_SIMULATED].integer != 0;
    side->global_batch = mgb_value_int(&v[FACT_GLOBAL_BATCH]);
    side->threads = mgb_value_int(&v[FACT_THREADS]);
    side->gpus = mgb_value_int(&v[FACT_GPUS]);
    snprintf(l->settings, sizeof l->settings, "%s", mgb_value_text(&v[FACT_SETTINGS]));
    l->machine = v[FACT_MACHINE_ID].integer;
    l->model = v[FACT_MODEL_ID].integer;
}

/* What differs within one side: its runs are then no repetitions of one another. */
static void unlike_note(struct side_look *l, const struct mgb_value *v)
{
    struct mgb_judged_side *side = l->side;
    if (strcmp(side->backend, mgb_value_text(&v[FACT_BACKEND])) != 0)
        refusal_add(l->out, "%s's runs are of several backends", l->name);
    if (l->machine != v[FACT_MACHINE_ID].integer)
        remark_add(l->out, "%s's runs are of several machines", l->name);
    l->mixed_settings =
        l->mixed_settings || strcmp(l->settings, mgb_value_text(&v[FACT_SETTINGS])) != 0;
    l->mixed_model = l->mixed_model || l->model != v[FACT_MODEL_ID].integer;
    if (mgb_value_int(&v[FACT_THREADS]) != side->threads)
        remark_add(l->out, "%s's runs have other CPU threads a device than each other", l->name);
    if (v[FACT_GLOBAL_BATCH].kind != MGB_VALUE_INT ||
        v[FACT_GLOBAL_BATCH].integer != side->global_batch)
        side->global_batch = -1;
}

static void gate_note(struct side_look *l, const struct mgb_value *v)
{
    long long run = v[FACT_RUN].integer;
    if (!v[FACT_LOG_COMPLETE].integer)
        refusal_add(l->out, "the log of run %lld is incomplete", run);
    if (v[FACT_STEADY].kind == MGB_VALUE_INT && !v[FACT_STEADY].integer) {
        static const char said[] = "not steady: "; /* what is stored begins with it */
        const char *why = mgb_value_text(&v[FACT_NOT_STEADY]);
        why += strncmp(why, said, strlen(said)) == 0 ? strlen(said) : 0;
        if (run == l->run)
            refusal_add(l->out, "seg %lld unsteady%s%s", (long long)mgb_value_int(&v[FACT_NUMBER]),
                        *why ? ": " : "", why);
        else
            refusal_add(l->out, "run %lld is not steady%s%s", run, *why ? ": " : "", why);
        l->out->unsteady = true;
    }
    if (v[FACT_DUPLICATES].integer > 0)
        refusal_add(l->out, "run %lld stores %lld variable%s twice (mgbench show %lld)", run,
                    (long long)v[FACT_DUPLICATES].integer,
                    v[FACT_DUPLICATES].integer == 1 ? "" : "s", run);
    if (v[FACT_REPLICAS].kind == MGB_VALUE_INT && v[FACT_REPLICAS].integer == 0)
        refusal_add(l->out, "the replicas of run %lld did not agree at its end", run);
    if (v[FACT_TIMED_STEPS].kind == MGB_VALUE_INT && v[FACT_TIMED_STEPS].integer == 0)
        refusal_add(l->out, "run %lld has no timed steps (%s)", run,
                    mgb_value_text(&v[FACT_OUTCOME]));
}

static void remark_note(struct side_look *l, const struct mgb_value *v)
{
    long long run = v[FACT_RUN].integer;
    const char *outcome = mgb_value_text(&v[FACT_OUTCOME]);
    bool timed = v[FACT_TIMED_STEPS].kind == MGB_VALUE_INT && v[FACT_TIMED_STEPS].integer > 0;
    if (strcmp(outcome, "ok") != 0 && timed)
        remark_add(l->out, "run %lld: %s; its figures are of the steps until then", run, outcome);
    if (*mgb_value_text(&v[FACT_THROTTLE]))
        remark_add(l->out, "run %lld was throttled: %s", run, mgb_value_text(&v[FACT_THROTTLE]));
    if (v[FACT_LEFTOVERS].integer > 0)
        remark_add(l->out, "run %lld leaves copies of %lld variables behind", run,
                   (long long)v[FACT_LEFTOVERS].integer);
    if (v[FACT_OVERSUBSCRIBED].kind == MGB_VALUE_INT && v[FACT_OVERSUBSCRIBED].integer)
        remark_add(l->out,
                   "%s is oversubscribed: its towers have more threads than there are cores",
                   l->name);
    if (v[FACT_ODD_LOSS].kind == MGB_VALUE_INT)
        remark_add(l->out, "run %lld: the loss is no number from step %lld on", run,
                   (long long)v[FACT_ODD_LOSS].integer);
    if (v[FACT_TARGET_MISSED].kind == MGB_VALUE_INT && v[FACT_TARGET_MISSED].integer)
        remark_add(l->out, "run %lld ran out of time before its noise was below its target", run);
}

/* By the clock, and by their numbers within a millisecond: those of another file came when they came. */
static bool is_earlier(const int64_t a[2], const int64_t b[2])
{
    return a[0] != b[0] ? a[0] < b[0] : a[1] < b[1];
}

static enum mgb_status facts_take(void *context, const struct mgb_value *v, int count)
{
    struct side_look *l = context;
    int64_t run = v[FACT_RUN].integer;
    (void)count;
    const int64_t began[2] = {mgb_value_int(&v[FACT_STARTED]), run};
    if (l->rows == 0 || is_earlier(began, l->oldest))
        memcpy(l->oldest, began, sizeof began);
    if (l->rows == 0 || is_earlier(l->newest, began))
        memcpy(l->newest, began, sizeof began);
    l->unjudged = l->unjudged || (v[FACT_STEADY].kind == MGB_VALUE_NULL &&
                                  mgb_value_int(&v[FACT_TIMED_STEPS]) > 0);
    if (l->rows++ == 0)
        first_row_keep(l, v);
    else
        unlike_note(l, v);
    gate_note(l, v);
    remark_note(l, v);
    return MGB_OK;
}

static enum mgb_status side_look(struct side_look *l, struct mgb_reader *reader,
                                 const struct mgb_selection *side)
{
    struct mgb_query_sink sink = {.context = l, .row = facts_take};
    for (size_t i = 0; i < side->count; i++) {
        struct mgb_value id = mgb_value_of_int(side->segments[i].segment);
        if (!side->segments[i].segment)
            refusal_add(l->out, "run %lld did not begin", (long long)side->segments[i].run);
        else
            MGB_TRY(mgb_query_run(reader, facts_sql, &id, 1, &sink));
    }
    if (l->mixed_model || l->mixed_settings)
        remark_add(l->out, "%s's runs are of several %s, taken for repetitions of one another",
                   l->name, l->mixed_model ? "models" : "settings");
    return MGB_OK;
}

static void sides_match(struct mgb_judgement *out, const struct side_look *a,
                        const struct side_look *b, bool across_backends)
{
    if (a->rows == 0 || b->rows == 0)
        return;
    bool other =
        strcmp(out->a.backend, out->b.backend) != 0 || out->a.simulated != out->b.simulated;
    if (other && !across_backends)
        refusal_add(
            out,
            "A is of backend %s, B of %s; --across-backends (across_backends = true) allows it",
            out->a.backend, out->b.backend);
    if (!other && a->machine != b->machine)
        remark_add(out, "A was measured on %s, B on %s: another machine", out->a.machine,
                   out->b.machine);
    if (a->model != b->model)
        remark_add(out, "A and B are other models");
    if (out->a.threads > 0 && out->b.threads > 0 && out->a.threads != out->b.threads)
        remark_add(out, "A ran %lld thread%s a device, B %lld: give threads = %lld to both",
                   (long long)out->a.threads, out->a.threads == 1 ? "" : "s",
                   (long long)out->b.threads,
                   (long long)(out->a.threads < out->b.threads ? out->a.threads : out->b.threads));
    bool apart = is_earlier(a->newest, b->oldest) || is_earlier(b->newest, a->oldest);
    if (apart && a->rows > 1 && b->rows > 1 && !out->a.simulated && !out->b.simulated)
        remark_add(out,
                   "the runs of A and B did not take turns: whatever drifted between counts as "
                   "their difference");
    out->per_example = out->a.global_batch != out->b.global_batch || out->a.global_batch < 0;
}

struct floor_look {
    struct mgb_judgement *out;
    double floor;
};

static enum mgb_status wide_floor_note(void *context, const struct mgb_value *v, int count)
{
    struct floor_look *look = context;
    (void)count;
    if (v[0].kind == MGB_VALUE_REAL && v[0].real > MGB_COMPARE_FLOOR_MOST)
        remark_add(look->out,
                   "the noise floor of %.3g %% that selftest found on %s does not count: more than "
                   "10 %% is of a machine that was not quiet (mgbench selftest)",
                   100 * v[0].real, mgb_value_text(&v[1]));
    return MGB_OK;
}

static enum mgb_status floor_take(void *context, const struct mgb_value *v, int count)
{
    struct floor_look *look = context;
    (void)count;
    if (v[0].kind != MGB_VALUE_REAL || !(v[0].real > look->floor))
        return MGB_OK;
    look->floor = v[0].real;
    snprintf(look->out->floor_source, sizeof look->out->floor_source,
             "measured on this machine by selftest on %s", mgb_value_text(&v[1]));
    return MGB_OK;
}

/* The larger of what the machines of the two sides showed when last asked, and 1 %; one from few comparisons only where
 * there is no other. */
static enum mgb_status floor_find(struct mgb_judgement *out, double *floor,
                                  struct mgb_reader *reader, const struct side_look *a,
                                  const struct side_look *b)
{
    static const char sql[] = "SELECT floor, date(measured_ms / 1000, 'unixepoch') FROM noise_floor"
                              " WHERE machine_id = ?1 AND backend = ?2 AND floor * 100 <= ?3"
                              " ORDER BY comparisons >= ?4 DESC, measured_ms DESC, id DESC LIMIT 1";
    const struct side_look *sides[] = {a, b};
    struct floor_look look = {out, MGB_COMPARE_FLOOR};
    struct mgb_query_sink sink = {.context = &look, .row = floor_take};
    struct mgb_query_sink any = {.context = &look, .row = wide_floor_note};
    strcpy(out->floor_source, "default");
    for (int i = 0; i < 2; i++) {
        struct mgb_value values[] = {mgb_value_of_int(sides[i]->machine),
                                     mgb_value_of_text(sides[i]->side->backend),
                                     mgb_value_of_int((int)(100 * MGB_COMPARE_FLOOR_MOST + 0.5)),
                                     mgb_value_of_int(MGB_COMPARE_FLOOR_LEAST)};
        MGB_TRY(mgb_query_run(reader, sql, values, 4, &sink));
        values[2] = mgb_value_of_int(INT64_MAX);
        MGB_TRY(mgb_query_run(reader, sql, values, 4, &any));
    }
    *floor = look.floor;
    return MGB_OK;
}

static enum mgb_status side_load(struct mgb_loaded_side *out, struct mgb_reader *reader,
                                 const struct mgb_selection *side, bool per_example)
{
    int count = 0;
    int64_t *segments = calloc(side->count + 1, sizeof *segments);
    if (!segments)
        return mgb_fail(MGB_NO_MEMORY, "no memory to compare %zu runs", side->count);
    for (size_t i = 0; i < side->count; i++)
        if (side->segments[i].segment)
            segments[count++] = side->segments[i].segment;
    enum mgb_status status = per_example ? mgb_side_load_per_example(out, reader, segments, count)
                                         : mgb_side_load(out, reader, segments, count);
    free(segments);
    return status;
}

static void steps_count(struct mgb_judged_side *out, const struct mgb_side *side)
{
    out->repetitions = side->count;
    for (size_t i = 0; i < side->count; i++) {
        int64_t steps = (int64_t)side->repetitions[i].count;
        out->least_steps = i == 0 || steps < out->least_steps ? steps : out->least_steps;
        out->most_steps = steps > out->most_steps ? steps : out->most_steps;
    }
}

/* What was going on beside one repetition is told and decides nothing: the figures are of all. */
static enum mgb_status odd_note(struct mgb_judgement *out, struct mgb_judged_side *side,
                                const char *name, struct mgb_reader *reader,
                                const struct mgb_side *loaded, const struct mgb_selection *selected)
{
    char text[240];
    if (side->simulated)
        return MGB_OK;
    MGB_TRY(mgb_judge_odd_find(&side->odd, reader, selected, loaded, out->per_example));
    mgb_judge_odd(text, sizeof text, out, side, name);
    if (*text)
        remark_add(out, "%s", text);
    return MGB_OK;
}

static void location_scale(struct mgb_location *location, double factor)
{
    location->ns *= factor;
    location->low_ns *= factor;
    location->high_ns *= factor;
}

/* One side's own figures, where the other has none to be compared with. */
static enum mgb_status location_find(struct mgb_location *out, const struct mgb_side *side,
                                     const struct mgb_compare_options *options)
{
    struct mgb_comparison alone;
    MGB_TRY(mgb_compare(&alone, side, side, options));
    *out = alone.a;
    return MGB_OK;
}

static enum mgb_status sides_compare(struct mgb_judgement *out, struct mgb_reader *reader,
                                     const struct mgb_selection *a, const struct mgb_selection *b,
                                     double floor, bool single_enough)
{
    struct mgb_loaded_side first, second = {0};
    struct mgb_compare_options options = {
        .floor = floor, .single_enough = single_enough || (out->a.simulated && out->b.simulated)};
    MGB_TRY(side_load(&first, reader, a, out->per_example));
    enum mgb_status status = side_load(&second, reader, b, out->per_example);
    if (status == MGB_OK)
        status = mgb_compare(&out->comparison, &first.side, &second.side, &options);
    if (status == MGB_OK && out->comparison.reason == MGB_REASON_NO_STEPS)
        status = location_find(&out->comparison.a, &first.side, &options);
    if (status == MGB_OK && out->comparison.reason == MGB_REASON_NO_STEPS)
        status = location_find(&out->comparison.b, &second.side, &options);
    if (status == MGB_OK) {
        steps_count(&out->a, &first.side);
        steps_count(&out->b, &second.side);
    }
    if (status == MGB_OK)
        status = odd_note(out, &out->a, "A", reader, &first.side, a);
    if (status == MGB_OK)
        status = odd_note(out, &out->b, "B", reader, &second.side, b);
    if (status == MGB_OK && out->per_example) { /* they came in ps */
        location_scale(&out->comparison.a, 1e-3);
        location_scale(&out->comparison.b, 1e-3);
    }
    mgb_side_done(&first);
    mgb_side_done(&second);
    return status;
}

/* Time an example by GPUs: several that are worth more than their number are rather measured wrong. */
static void ideal_note(struct mgb_judgement *out)
{
    const struct mgb_comparison *c = &out->comparison;
    if (out->a.gpus < 1 || out->b.gpus < 1 || out->a.gpus == out->b.gpus || !(c->ratio > 0))
        return;
    double gain = out->b.gpus > out->a.gpus ? 1 / c->ratio : c->ratio;
    double ideal = out->b.gpus > out->a.gpus ? (double)out->b.gpus / (double)out->a.gpus
                                             : (double)out->a.gpus / (double)out->b.gpus;
    if (gain > 1.05 * ideal)
        remark_add(out,
                   "%lld GPUs against %lld give %.3g times the rate, more than ideal: look for "
                   "other threads a device, or data that fits the caches only when split",
                   (long long)(out->b.gpus > out->a.gpus ? out->b.gpus : out->a.gpus),
                   (long long)(out->b.gpus > out->a.gpus ? out->a.gpus : out->b.gpus), gain);
}

/* A verdict stands though nobody knows whether the steps had settled: that is said. */
static void unjudged_note(struct mgb_judgement *out, const struct side_look *a,
                          const struct side_look *b)
{
    enum mgb_verdict verdict = out->comparison.verdict;
    if (*out->refusal || verdict == MGB_VERDICT_UNDECIDED || verdict == MGB_VERDICT_REFUSED)
        return;
    const struct side_look *sides[] = {a, b};
    for (int i = 0; i < 2; i++)
        if (sides[i]->unjudged && !sides[i]->side->simulated)
            remark_add(out, "whether %s was steady is not judged: that takes %d timed steps a run",
                       sides[i]->name, MGB_STEADY_WINDOW * (MGB_STEADY_AGREEMENTS + 1));
}

static void verdict_withdraw(struct mgb_comparison *c)
{
    c->verdict = MGB_VERDICT_REFUSED;
    c->p = c->p_adjusted = (double)NAN;
    c->more_repetitions = 0;
}

enum mgb_status mgb_judge(struct mgb_judgement *out, struct mgb_reader *reader,
                          const struct mgb_selection *a, const struct mgb_selection *b,
                          const struct mgb_judge_options *options)
{
    *out = (struct mgb_judgement){.floor_source = "given"};
    struct side_look first = {.out = out, .side = &out->a, .name = "A", .run = options->run};
    struct side_look second = {.out = out, .side = &out->b, .name = "B", .run = options->run};
    double floor = options->floor;
    MGB_TRY(side_look(&first, reader, a));
    MGB_TRY(side_look(&second, reader, b));
    if (out->unsteady)
        refusal_add(out, "measure longer, or with --warmup auto");
    sides_match(out, &first, &second, options->across_backends);
    out->per_example = out->per_example || options->per_example;
    if (!(floor > 0))
        MGB_TRY(floor_find(out, &floor, reader, &first, &second));
    MGB_TRY(sides_compare(out, reader, a, b, floor, options->single_enough));
    ideal_note(out);
    unjudged_note(out, &first, &second);
    if (*out->refusal)
        verdict_withdraw(&out->comparison);
    return MGB_OK;
}

static enum mgb_status cells_judge(struct mgb_judgement *out, struct mgb_reader *reader,
                                   const struct mgb_selection *a, const struct mgb_selection *b,
                                   size_t count, const struct mgb_judge_options *options)
{
    struct mgb_judge_options by_example = *options;
    by_example.per_example = true;
    bool some = false;
    for (size_t i = 0; i < count; i++) {
        MGB_TRY(mgb_judge(&out[i], reader, &a[i], &b[i], options));
        some = some || out[i].per_example;
    }
    for (size_t i = 0; some && i < count; i++)
        if (!out[i].per_example)
            MGB_TRY(mgb_judge(&out[i], reader, &a[i], &b[i], &by_example));
    return MGB_OK;
}

enum mgb_status mgb_judge_cells(struct mgb_judgement *out, struct mgb_reader *reader,
                                const struct mgb_selection *a, const struct mgb_selection *b,
                                size_t count, const struct mgb_judge_options *options)
{
    struct mgb_comparison *cells = calloc(count ? count : 1, sizeof *cells);
    if (!cells)
        return mgb_fail(MGB_NO_MEMORY, "no memory to compare %zu configurations", count);
    enum mgb_status status = cells_judge(out, reader, a, b, count, options);
    for (size_t i = 0; status == MGB_OK && i < count; i++)
        cells[i] = out[i].comparison;
    if (status == MGB_OK)
        status = mgb_compare_correct(cells, count);
    for (size_t i = 0; status == MGB_OK && i < count; i++)
        out[i].comparison = cells[i];
    free(cells);
    return status;
}
