/* See judge.h. The two sides against each other: what forbids a verdict between them, the noise floor, and the verdict. Of one
 * side alone judge_side.c speaks. */
#include "app/session/judge_side.h"

#include "db/load.h"
#include "db/steady.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void sides_match(struct mgb_judgement *out, const struct side_look *a,
                        const struct side_look *b, bool across_backends)
{
    if (a->rows == 0 || b->rows == 0)
        return;
    bool other =
        strcmp(out->a.backend, out->b.backend) != 0 || out->a.simulated != out->b.simulated;
    if (other && !across_backends)
        mgb_judge_refuse(
            out,
            "A is of backend %s, B of %s; --across-backends (across_backends = true) allows it",
            out->a.backend, out->b.backend);
    if (!other && a->machine != b->machine)
        mgb_judge_remark(out, "A was measured on %s, B on %s: another machine", out->a.machine,
                         out->b.machine);
    if (a->model != b->model)
        mgb_judge_remark(out, "A and B are other models");
    if (out->a.threads > 0 && out->b.threads > 0 && out->a.threads != out->b.threads)
        mgb_judge_remark(
            out, "A ran %lld thread%s a device, B %lld: give threads = %lld to both",
            (long long)out->a.threads, out->a.threads == 1 ? "" : "s", (long long)out->b.threads,
            (long long)(out->a.threads < out->b.threads ? out->a.threads : out->b.threads));
    bool apart =
        mgb_judge_is_earlier(a->newest, b->oldest) || mgb_judge_is_earlier(b->newest, a->oldest);
    if (apart && a->rows > 1 && b->rows > 1 && !out->a.simulated && !out->b.simulated)
        mgb_judge_remark(
            out, "the runs of A and B did not take turns: whatever drifted between counts as "
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
        mgb_judge_remark(
            look->out,
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
        mgb_judge_remark(out, "%s", text);
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
        mgb_judge_remark(
            out,
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
            mgb_judge_remark(out,
                             "whether %s was steady is not judged: that takes %d timed steps a run",
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
    MGB_TRY(mgb_judge_side_look(&first, reader, a));
    MGB_TRY(mgb_judge_side_look(&second, reader, b));
    if (out->unsteady)
        mgb_judge_refuse(out, "measure longer, or with --warmup auto");
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
