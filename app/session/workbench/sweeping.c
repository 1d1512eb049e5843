/* A sweep, as the screen sees it: a row a point, filled as its cells end. */
#include "app/session/workbench/commands.h"

#include "app/script/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mgb/text.h>

enum { ANSWERS = 4 }; /* lines, answer, label of the fastest, answer in few words */

static void sweep_free(void *part)
{
    struct mgb_bench_sweep *sweep = part;
    free(sweep->rows);
    free(sweep);
}

static struct mgb_bench_sweep *sweep_make(void)
{
    struct mgb_bench_sweep *sweep = calloc(1, sizeof *sweep);
    if (!sweep)
        return NULL;
    atomic_init(&sweep->shared.holders, 1);
    sweep->shared.free = sweep_free;
    sweep->elapsed_s = sweep->left_s = (double)NAN;
    return sweep;
}

/* The one that is published stays as it is. */
static struct mgb_bench_sweep *sweep_copy(const struct mgb_bench_sweep *from)
{
    struct mgb_bench_sweep *sweep = sweep_make();
    struct mgb_bench_cell *rows = calloc((size_t)from->row_count + 1, sizeof *rows);
    if (!sweep || !rows) {
        free(sweep);
        free(rows);
        return NULL;
    }
    const size_t head = sizeof sweep->shared;
    memcpy((char *)sweep + head, (const char *)from + head, sizeof *sweep - head);
    sweep->rows = rows;
    for (int i = 0; i < from->row_count; i++)
        rows[i] = from->rows[i];
    return sweep;
}

/* "gpus=2 batch=32": columns appear as they are met. */
static void values_fill(struct mgb_bench_sweep *sweep, struct mgb_bench_cell *row,
                        const char *label)
{
    char text[256], *rest = NULL;
    snprintf(text, sizeof text, "%s", label);
    for (char *pair = strtok_r(text, " ", &rest); pair; pair = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(pair, '=');
        if (!equals)
            continue;
        *equals = '\0';
        int column = 0;
        while (column < sweep->column_count && strcmp(sweep->columns[column], pair) != 0)
            column++;
        if (column == 8)
            continue;
        if (column == sweep->column_count)
            snprintf(sweep->columns[sweep->column_count++], sizeof *sweep->columns, "%.23s", pair);
        snprintf(row->values[column], sizeof *row->values, "%.23s", equals + 1);
    }
}

/* Whether the row is of that point. */
static bool row_is(const struct mgb_bench_sweep *sweep, int row, const char *label)
{
    struct mgb_bench_sweep names = *sweep;
    struct mgb_bench_cell wanted = {0};
    values_fill(&names, &wanted, label);
    return memcmp(wanted.values, sweep->rows[row].values, sizeof wanted.values) == 0;
}

/* The row of a point, new in its place in grid order where there is none. */
static struct mgb_bench_cell *row_find(struct mgb_bench_sweep *sweep, const char *label,
                                       int64_t number)
{
    int at = 0;
    for (int i = 0; i < sweep->row_count; i++)
        if (row_is(sweep, i, label))
            return &sweep->rows[i];
    struct mgb_bench_cell *more =
        realloc(sweep->rows, ((size_t)sweep->row_count + 1) * sizeof *more);
    if (!more)
        return NULL;
    sweep->rows = more;
    while (at < sweep->row_count && more[at].number <= number)
        at++;
    struct mgb_bench_cell *row = &more[at];
    memmove(row + 1, row, (size_t)(sweep->row_count++ - at) * sizeof *row);
    const double unknown = (double)NAN;
    *row = (struct mgb_bench_cell){.number = number,
                                   .step_ms = unknown,
                                   .low_ms = unknown,
                                   .high_ms = unknown,
                                   .example_ms = unknown,
                                   .ratio = unknown};
    values_fill(sweep, row, label);
    return row;
}

static void sweep_show(struct mgb_workbench *bench, struct mgb_bench_sweep *sweep)
{
    mgb_shared_drop(bench->draft->sweep);
    bench->draft->sweep = sweep;
    mgb_bench_publish(bench);
}

/* The mean of the repetitions' medians, as judged in the end. */
static double mean_add(double mean, int count, double value)
{
    return count == 0 ? value : mean + (value - mean) / (count + 1);
}

static void label_write(char *out, size_t size, const struct mgb_bench_sweep *sweep,
                        const struct mgb_bench_cell *row)
{
    size_t used = 0;
    *out = '\0';
    for (int i = 0; i < sweep->column_count && used < size; i++)
        if (*row->values[i])
            used += (size_t)snprintf(out + used, size - used, "%s%s=%s", used ? " " : "",
                                     sweep->columns[i], row->values[i]);
}

/* Until all is judged together: the least time an example. */
static void best_guess(struct mgb_bench_sweep *sweep)
{
    char label[120], ms[40];
    struct mgb_bench_cell *best = NULL;
    for (int i = 0; i < sweep->row_count; i++) {
        struct mgb_bench_cell *row = &sweep->rows[i];
        row->best = false;
        if (row->repetitions > 0 && strcmp(row->outcome, "ok") == 0 &&
            (!best || row->example_ms < best->example_ms))
            best = row;
    }
    if (!best)
        return;
    best->best = true;
    label_write(label, sizeof label, sweep, best);
    snprintf(sweep->best, sizeof sweep->best, "Fastest so far: %s, %s ms an example", label,
             mgb_format_figure(ms, best->example_ms));
}

static void cell_end(struct mgb_bench_sweep *sweep, const struct script_cell *cell)
{
    struct mgb_bench_cell *row = row_find(sweep, cell->point, cell->number);
    bool good = strcmp(cell->outcome, "ok") == 0;
    if (!row)
        return;
    bool keeps = *row->outcome && strcmp(row->outcome, "ok") != 0; /* one that failed is told */
    if (!keeps) {
        snprintf(row->outcome, sizeof row->outcome, "%.11s", cell->outcome);
        snprintf(row->message, sizeof row->message, "%.159s", cell->message);
    }
    if (*cell->placement)
        snprintf(row->placement, sizeof row->placement, "%.599s", cell->placement);
    row->resumed = cell->resumed;
    sweep->ran += !cell->resumed;
    if (good && !isnan(cell->step_ms) && !isnan(cell->example_ms)) {
        row->step_ms = mean_add(row->step_ms, row->repetitions, cell->step_ms);
        row->example_ms = mean_add(row->example_ms, row->repetitions, cell->example_ms);
        row->repetitions++;
    }
    best_guess(sweep);
}

void mgb_bench_cell(void *hub, const struct script_cell *cell)
{
    struct mgb_workbench *bench = mgb_hub_context(hub);
    struct mgb_bench_sweep *sweep = bench->draft->sweep && cell->what != SCRIPT_SWEEP_BEGINS
                                        ? sweep_copy(bench->draft->sweep)
                                        : sweep_make();
    if (!sweep)
        return;
    snprintf(sweep->name, sizeof sweep->name, "%.63s", cell->sweep);
    sweep->position = cell->position;
    sweep->total = cell->total;
    sweep->elapsed_s = cell->elapsed_s;
    sweep->left_s = cell->left_s;
    sweep->cell[0] = '\0';
    if (cell->what == SCRIPT_CELL_BEGINS)
        snprintf(sweep->cell, sizeof sweep->cell, "%.159s", cell->point);
    if (cell->what == SCRIPT_CELL_ENDS)
        cell_end(sweep, cell);
    sweep_show(bench, sweep);
}

static double number_read(const char *text)
{
    return *text ? strtod(text, NULL) : (double)NAN;
}

/* label, step ms, low, high, ratio, verdict, outcome, reason; of the row with this number */
static void line_fill(struct mgb_bench_sweep *sweep, char *line, int64_t number)
{
    enum { FIELDS = 8 };
    char *fields[FIELDS];
    int count = 0;
    for (char *field; count < FIELDS && (field = strsep(&line, "\t"));)
        fields[count++] = field;
    struct mgb_bench_cell *row = count == FIELDS ? row_find(sweep, fields[0], number) : NULL;
    if (!row)
        return;
    row->step_ms = number_read(fields[1]);
    row->low_ms = number_read(fields[2]);
    row->high_ms = number_read(fields[3]);
    row->ratio = number_read(fields[4]);
    snprintf(row->verdict, sizeof row->verdict, "%.15s", fields[5]);
    snprintf(row->outcome, sizeof row->outcome, "%.11s", fields[6]);
    snprintf(row->reason, sizeof row->reason, "%.399s", fields[7]);
}

/* As all was judged: the row of this label, none where no point is called the fastest. */
static void best_mark(struct mgb_bench_sweep *sweep, const char *label, const char *headline)
{
    if (!*headline) /* nothing was judged: what it seems to be stays, and says so */
        return;
    for (int i = 0; i < sweep->row_count; i++)
        sweep->rows[i].best = *label && row_is(sweep, i, label);
    snprintf(sweep->best, sizeof sweep->best, "%.199s", headline);
}

/* What was stopped or failed is not done: the cell that it was at has not ended. */
static void sweep_finish(struct mgb_workbench *bench, struct mgb_script_answer *answer, bool done)
{
    if (!bench->draft->sweep)
        return;
    struct mgb_bench_sweep *sweep = sweep_copy(bench->draft->sweep);
    char *rest = NULL;
    if (!sweep)
        return;
    int64_t number = 0;
    bool judged = answer->count == ANSWERS;
    char *line = judged ? strtok_r(answer->texts[0], "\n", &rest) : NULL;
    for (; line; line = strtok_r(NULL, "\n", &rest))
        line_fill(sweep, line, ++number);
    if (judged)
        best_mark(sweep, answer->texts[2], answer->texts[3]);
    sweep->done = done;
    if (!done && *sweep->cell && sweep->position > 0)
        sweep->position--;
    sweep->cell[0] = '\0';
    mgb_shared_drop(bench->draft->sweep);
    bench->draft->sweep = sweep;
}

/* The sweep, the strategy in force, and what was asked for. */
static enum mgb_status sweep_call(struct mgb_workbench *bench, struct mgb_script_answer *out,
                                  const char *text)
{
    enum mgb_strategy strategy = bench->draft->facts ? bench->draft->facts->strategy : MGB_OUTPUTS;
    char **asked = mgb_bench_words(&bench->asked, MGB_WORDS_ALL, strategy, "");
    const char *words[MGB_OPTION_COUNT + 3] = {
        text, mgb_placement_options()[MGB_OPTION_STRATEGY].values[strategy]};
    *out = (struct mgb_script_answer){0};
    if (!asked)
        return mgb_fail(MGB_NO_MEMORY, "a sweep: memory is exhausted");
    for (int i = 0; i < MGB_OPTION_COUNT && asked[i]; i++)
        words[i + 2] = asked[i];
    enum mgb_status status = mgb_bench_call(bench, out, "sweep", words);
    mgb_bench_words_free(asked);
    return status;
}

static void done_say(struct mgb_workbench *bench, const struct mgb_script_answer *answer)
{
    const struct mgb_bench_sweep *sweep = bench->draft->sweep;
    const char *text = answer->count == ANSWERS ? answer->texts[1] : "";
    if (sweep && sweep->total > 0 && sweep->ran == 0)
        mgb_bench_say(
            bench, MGB_LINE_WARNING,
            "nothing was run: all %lld cells had ended before; change the grid or the name",
            (long long)sweep->total);
    else
        mgb_bench_say(bench, MGB_LINE_NOTE, "the sweep is done%s%s", *text ? ": " : "", text);
}

void mgb_bench_sweep(struct mgb_workbench *bench, const char *text)
{
    struct mgb_script_answer answer;
    mgb_bench_end(bench, ", its devices are given to the sweep");
    enum mgb_bench_state before = bench->state;
    mgb_bench_set_state(bench, MGB_BENCH_SWEEPING, "sweeping");
    enum mgb_status status = sweep_call(bench, &answer, text);
    if (status == MGB_OK)
        done_say(bench, &answer);
    else if (status == MGB_INTERRUPTED)
        mgb_bench_say(bench, MGB_LINE_NOTE, "the sweep was stopped; finished cells are kept");
    else
        mgb_bench_complain(bench, mgb_message_get());
    if (status == MGB_OK)
        bench->draft->message[0] = '\0';
    sweep_finish(bench, &answer, status == MGB_OK);
    mgb_script_answer_done(&answer);
    bench->state = before;
    bench->draft->doing[0] = '\0';
}
