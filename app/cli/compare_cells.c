/* See compare_cells.h. */
#include "app/cli/compare_cells.h"
#include "app/cli/asking.h"
#include "app/session/rank.h"
#include "app/script/terminal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <mgb/text.h>

size_t mgb_compare_run_length(const struct mgb_selection *s, size_t first)
{
    size_t end = first;
    while (end < s->count && s->segments[end].point == s->segments[first].point)
        end++;
    return end - first;
}

size_t mgb_compare_points(const struct mgb_selection *s)
{
    size_t points = 0;
    for (size_t i = 0; i < s->count; i += mgb_compare_run_length(s, i))
        points++;
    return points;
}

static double or_nan(double value, bool known)
{
    return known ? value : (double)NAN;
}

enum mgb_status mgb_compare_table_make(struct mgb_table **out)
{
    static const char *const names[] = {"a",
                                        "b",
                                        "backend_a",
                                        "backend_b",
                                        "simulated",
                                        "per",
                                        "a_ms",
                                        "a_low_ms",
                                        "a_high_ms",
                                        "a_repetitions",
                                        "a_steps",
                                        "b_ms",
                                        "b_low_ms",
                                        "b_high_ms",
                                        "b_repetitions",
                                        "b_steps",
                                        "ratio",
                                        "ratio_low",
                                        "ratio_high",
                                        "verdict",
                                        "p",
                                        "p_adjusted",
                                        "rank_p",
                                        "rank_p_smallest",
                                        "noise_floor",
                                        "noise_floor_source",
                                        "more_repetitions",
                                        "reason",
                                        "remarks",
                                        "differs",
                                        "resamples",
                                        "seed"};
    return mgb_table_make(out, sizeof names / sizeof *names, names);
}

static void location_add(struct mgb_table *table, const struct mgb_location *at,
                         const struct mgb_judged_side *side)
{
    mgb_table_add_number(table, or_nan(at->ns / 1e6, at->ns > 0));
    mgb_table_add_number(table, or_nan(at->low_ns / 1e6, at->high_ns > 0));
    mgb_table_add_number(table, or_nan(at->high_ns / 1e6, at->high_ns > 0));
    mgb_table_add_integer(table, (long long)at->repetitions);
    mgb_table_add_integer(table, side->least_steps);
}

static void evidence_add(struct mgb_table *table, const struct mgb_judgement *j)
{
    const struct mgb_comparison *c = &j->comparison;
    char reason[900];
    bool ranked = c->a.repetitions > 1 && c->b.repetitions > 1;
    mgb_judge_reason(reason, sizeof reason, j);
    mgb_table_add_text(table, mgb_verdict_name(c->verdict));
    mgb_table_add_number(table, c->p);
    mgb_table_add_number(table, c->p_adjusted);
    mgb_table_add_number(table, or_nan(c->rank_p, ranked));
    mgb_table_add_number(table, or_nan(c->rank_p_smallest, ranked));
    mgb_table_add_number(table, c->floor);
    mgb_table_add_text(table, j->floor_source);
    mgb_table_add_integer(table, (long long)c->more_repetitions);
    mgb_table_add_text(table, *reason ? reason : NULL);
    mgb_table_add_text(table, *j->remarks ? j->remarks : NULL);
}

void mgb_compare_row_add(struct mgb_table *table, const char *a, const char *b,
                         const struct mgb_judgement *j, const char *differs)
{
    const struct mgb_comparison *c = &j->comparison;
    bool known = c->ratio > 0;
    bool bounded = known && c->reason != MGB_REASON_SINGLE && c->reason != MGB_REASON_FEW_STEPS;
    mgb_table_add_text(table, a);
    mgb_table_add_text(table, b);
    mgb_table_add_text(table, j->a.backend);
    mgb_table_add_text(table, j->b.backend);
    mgb_table_add_boolean(table, j->a.simulated || j->b.simulated);
    mgb_table_add_text(table, j->per_example ? "example" : "step");
    location_add(table, &c->a, &j->a);
    location_add(table, &c->b, &j->b);
    mgb_table_add_number(table, or_nan(c->ratio, known));
    mgb_table_add_number(table, or_nan(c->low, bounded));
    mgb_table_add_number(table, or_nan(c->high, bounded));
    evidence_add(table, j);
    mgb_table_add_text(table, differs && *differs ? differs : NULL);
    mgb_table_add_integer(table, (long long)c->resamples);
    mgb_table_add_integer(table, (long long)c->seed);
}

/* ---- cells ---- */

static enum mgb_status words_take(void *context, const struct mgb_value *v, int count)
{
    (void)count;
    if (v[0].kind == MGB_VALUE_TEXT)
        snprintf(context, 160, "%s", v[0].text);
    return MGB_OK;
}

/* "cpu_merge=yes gpus=2": the grid's values of a run's point. */
static enum mgb_status point_words(char out[160], struct mgb_reader *reader, int64_t run)
{
    struct mgb_value id = mgb_value_of_int(run);
    struct mgb_query_sink sink = {.context = out, .row = words_take};
    *out = '\0';
    return mgb_query_run(
        reader,
        "SELECT group_concat(j.key || '=' || CASE j.type WHEN 'true' THEN 'yes' WHEN 'false' THEN"
        " 'no' ELSE j.value END, ' ')"
        "  FROM (SELECT settings FROM sweep_point WHERE run_id = ? ORDER BY sweep_id DESC LIMIT 1) "
        "AS p"
        "  JOIN json_each(p.settings) AS j",
        &id, 1, &sink);
}

static bool is_same(const struct mgb_selection *a, const struct mgb_selection *b)
{
    for (size_t i = 0; i < b->count; i++)
        for (size_t k = 0; k < a->count; k++)
            if (a->segments[k].segment == b->segments[i].segment)
                return true;
    return false;
}

struct cells {
    struct mgb_selection *bases, *sides; /* the same base for each */
    char base_words[160];
    struct mgb_judgement *judged;
    char (*words)[160];
    size_t count;
};

static void cells_free(struct cells *cells)
{
    free(cells->bases);
    free(cells->sides);
    free(cells->judged);
    free(cells->words);
}

static enum mgb_status cells_judge(struct cells *out, struct mgb_reader *reader,
                                   const struct mgb_selection *a, const struct mgb_selection *b,
                                   const struct mgb_judge_options *options)
{
    size_t count = mgb_compare_points(b), at = 0;
    *out = (struct cells){.bases = calloc(count, sizeof *out->bases),
                          .sides = calloc(count, sizeof *out->sides),
                          .judged = calloc(count, sizeof *out->judged),
                          .words = calloc(count, sizeof *out->words),
                          .count = count};
    if (!out->bases || !out->sides || !out->judged || !out->words)
        return mgb_fail(MGB_NO_MEMORY, "no memory to compare %zu configurations", count);
    out->count = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length = mgb_compare_run_length(b, at);
        struct mgb_selection side = {b->segments + at, length};
        at += length;
        if (is_same(a, &side)) /* with itself nothing is compared, nor corrected for */
            continue;
        out->bases[out->count] = *a;
        out->sides[out->count] = side;
        MGB_TRY(point_words(out->words[out->count++], reader, side.segments[0].run));
    }
    return mgb_judge_cells(out->judged, reader, out->bases, out->sides, out->count, options);
}

static void range_add(struct mgb_table *table, double low, double high, bool known)
{
    char text[90], first[40], second[40];
    if (!known || !(low < high)) { /* equal steps have none */
        mgb_table_add_empty(table);
        return;
    }
    snprintf(text, sizeof text, "[%s, %s]", mgb_format_figure(first, low),
             mgb_format_figure(second, high));
    mgb_table_add_figure(table, text);
}

static void cell_add(struct mgb_table *table, const struct cells *cells, size_t i)
{
    const struct mgb_judgement *j = &cells->judged[i];
    const struct mgb_comparison *c = &j->comparison;
    char text[40];
    mgb_table_add_integer(table, cells->sides[i].segments[0].point);
    mgb_table_add_text(table, cells->words[i]);
    snprintf(text, sizeof text, "%zux%lld", c->b.repetitions, (long long)j->b.least_steps);
    mgb_table_add_figure(table, text);
    mgb_table_add_number(table, or_nan(c->b.ns / 1e6, c->b.ns > 0));
    range_add(table, c->b.low_ns / 1e6, c->b.high_ns / 1e6, c->b.ns > 0);
    mgb_table_add_number(table, or_nan(c->ratio, c->ratio > 0));
    range_add(table, c->low, c->high, !isnan(c->p));
    mgb_table_add_number(table, c->p_adjusted);
    mgb_table_add_text(table, mgb_verdict_name(c->verdict));
    if (c->more_repetitions)
        mgb_table_add_integer(table, (long long)c->more_repetitions);
    else
        mgb_table_add_empty(table);
}

/* "points 1, 3 undecided: ...": a reason once, with all its points. */
static void reason_print(const struct cells *cells, size_t i)
{
    char reason[900], other[900];
    size_t same = 0;
    mgb_judge_reason(reason, sizeof reason, &cells->judged[i]);
    for (size_t k = 0; k < cells->count; k++) {
        mgb_judge_reason(other, sizeof other, &cells->judged[k]);
        if (strcmp(reason, other) != 0)
            continue;
        if (k < i)
            return; /* told */
        same++;
    }
    if (!*reason)
        return;
    mgb_say(stdout, "point%s ", same > 1 ? "s" : "");
    for (size_t k = i; k < cells->count; k++) {
        mgb_judge_reason(other, sizeof other, &cells->judged[k]);
        if (strcmp(reason, other) == 0)
            mgb_say(stdout, "%s%lld", k > i ? ", " : "",
                    (long long)cells->sides[k].segments[0].point);
    }
    mgb_say(stdout, " %s\n", reason);
}

static bool has_line(const char *remarks, const char *line, size_t length)
{
    for (const char *at = remarks; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strcspn(at, "\n") == length && strncmp(at, line, length) == 0)
            return true;
    return false;
}

/* What holds for every point is told once; the rest with its point, which is B there. */
static void cell_remarks_print(const struct cells *cells, size_t i)
{
    for (const char *at = cells->judged[i].remarks; *at;) {
        size_t length = strcspn(at, "\n"), having = 0;
        for (size_t k = 0; k < cells->count; k++)
            having += has_line(cells->judged[k].remarks, at, length);
        if (having < cells->count)
            mgb_say(stdout, "note: point %lld: %.*s\n",
                    (long long)cells->sides[i].segments[0].point, (int)length, at);
        else if (i == 0)
            mgb_say(stdout, "note: %.*s\n", (int)length, at);
        at += length + (at[length] == '\n');
    }
}

static void cells_notes_print(const struct cells *cells)
{
    for (size_t i = 0; i < cells->count; i++)
        reason_print(cells, i);
    for (size_t i = 0; i < cells->count; i++)
        cell_remarks_print(cells, i);
}

/* The answer: which is the fastest, and whether by more than noise. */
static enum mgb_status answer_print(const struct cells *cells)
{
    const char **words = calloc(cells->count, sizeof *words);
    char text[1200];
    if (!words)
        return mgb_fail(MGB_NO_MEMORY, "comparing: memory is exhausted");
    for (size_t i = 0; i < cells->count; i++)
        words[i] = cells->words[i];
    mgb_rank_sentence(text, sizeof text, cells->judged, words, cells->count, cells->base_words);
    free(words);
    if (*text)
        mgb_say(stdout, "%s\n\n", text);
    return MGB_OK;
}

/* " [low, high]"; "" where there is no interval, as of equal steps. */
static void interval_write(char out[90], const struct mgb_location *at)
{
    char low[40], high[40];
    *out = '\0';
    if (at->low_ns < at->high_ns)
        snprintf(out, 90, " [%s, %s]", mgb_format_figure(low, at->low_ns / 1e6),
                 mgb_format_figure(high, at->high_ns / 1e6));
}

static enum mgb_status cells_print(const struct cells *cells, const struct mgb_selection *a)
{
    static const char *const step[] = {"point", "settings", "n",        "B ms",    "B 95 %",
                                       "B/A",   "B/A 95 %", "p (Holm)", "verdict", "more"};
    static const char *const example[] = {"point", "settings", "n",        "B ms/example", "B 95 %",
                                          "B/A",   "B/A 95 %", "p (Holm)", "verdict",      "more"};
    const struct mgb_judgement *first = &cells->judged[0];
    struct mgb_table *table;
    char ms[40], interval[90], floor[40];
    const struct mgb_location *at = &first->comparison.a;
    MGB_TRY(answer_print(cells));
    interval_write(interval, at);
    mgb_say(stdout, "A: run %lld%s %s on %s%s: %s ms%s%s n=%zux%lld\n\n",
            (long long)a->segments[0].run, a->count > 1 ? " and its repetitions," : "",
            cells->base_words, first->a.backend,
            first->a.simulated                      ? " (simulated)"
            : strcmp(first->a.backend, "host") == 0 ? " (CPU devices)"
                                                    : "",
            mgb_format_figure(ms, at->ns / 1e6), first->per_example ? "/example" : "", interval,
            at->repetitions, (long long)first->a.least_steps);
    MGB_TRY(mgb_table_make(&table, 10, first->per_example ? example : step));
    for (size_t i = 0; i < cells->count; i++)
        cell_add(table, cells, i);
    enum mgb_status status = mgb_table_print(table, MGB_TABLE_TEXT, stdout);
    mgb_table_free(table);
    mgb_say(stdout, "\nnoise floor %s %% (%s); corrected for %zu comparisons (Holm)\n",
            mgb_format_figure(floor, 100 * first->comparison.floor), first->floor_source,
            cells->count);
    cells_notes_print(cells);
    return status;
}

/* "sweep:NAME/3" of the word that named the sweep, which may have had a point itself. */
static void point_name(char out[200], const char *word, int64_t point)
{
    const char *slash = strrchr(word, '/');
    bool numbered = slash && slash[1] && slash[1 + strspn(slash + 1, "0123456789")] == '\0';
    snprintf(out, 200, "%.*s/%lld", (int)(numbered ? slash - word : (ptrdiff_t)strlen(word)), word,
             (long long)point);
}

static enum mgb_status cells_tell(const struct mgb_invocation *in, const struct cells *cells,
                                  const struct mgb_selection *base)
{
    struct mgb_table *table;
    char a[200], b[200];
    snprintf(a, sizeof a, "%s", in->words[0]);
    if (in->word_count == 1 && base->segments[0].point >= 0)
        point_name(a, in->words[0], base->segments[0].point);
    else if (in->word_count == 1)
        snprintf(a, sizeof a, "%s", mgb_cli_find_flag(in, "--against"));
    MGB_TRY(mgb_compare_table_make(&table));
    for (size_t i = 0; i < cells->count; i++) {
        point_name(b, in->words[in->word_count - 1], cells->sides[i].segments[0].point);
        mgb_compare_row_add(table, a, b, &cells->judged[i], cells->words[i]);
    }
    enum mgb_status status = mgb_table_print(table, in->format, stdout);
    mgb_table_free(table);
    return status;
}

enum mgb_status mgb_compare_cells(const struct mgb_invocation *in, struct mgb_reader *reader,
                                  const struct mgb_selection *a, const struct mgb_selection *b,
                                  const struct mgb_judge_options *options, int *code)
{
    struct cells cells;
    enum mgb_status status = cells_judge(&cells, reader, a, b, options);
    if (status == MGB_OK && cells.count == 0)
        status = mgb_fail(MGB_INVALID, "compare: %s has nothing that is not A itself",
                          in->words[in->word_count - 1]);
    if (status == MGB_OK)
        status = point_words(cells.base_words, reader, a->segments[0].run);
    if (!*cells.base_words || (in->word_count > 1 && a->segments[0].point < 0))
        snprintf(cells.base_words, sizeof cells.base_words, "%s", in->words[0]);
    if (status == MGB_OK)
        status = in->format == MGB_TABLE_TEXT ? cells_print(&cells, a) : cells_tell(in, &cells, a);
    if (status == MGB_OK)
        *code = mgb_compare_exit_code(in, cells.judged, cells.count);
    cells_free(&cells);
    return status;
}
