/* A sweep, as the screen sees it: a row a point, filled as its cells end. */
#include "app/session/workbench/commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static struct mgb_bench_cell *row_find(struct mgb_bench_sweep *sweep, const char *label)
{
    for (int i = 0; i < sweep->row_count; i++)
        if (row_is(sweep, i, label))
            return &sweep->rows[i];
    struct mgb_bench_cell *more =
        realloc(sweep->rows, ((size_t)sweep->row_count + 1) * sizeof *more);
    if (!more)
        return NULL;
    sweep->rows = more;
    struct mgb_bench_cell *row = &more[sweep->row_count++];
    const double unknown = (double)NAN;
    *row = (struct mgb_bench_cell){
        .step_ms = unknown, .low_ms = unknown, .high_ms = unknown, .ratio = unknown};
    values_fill(sweep, row, label);
    return row;
}

static void sweep_show(struct mgb_workbench *bench, struct mgb_bench_sweep *sweep)
{
    mgb_shared_drop(bench->draft->sweep);
    bench->draft->sweep = sweep;
    mgb_bench_publish(bench);
}

static void cell_end(struct mgb_bench_sweep *sweep, const struct script_cell *cell)
{
    struct mgb_bench_cell *row = row_find(sweep, cell->point);
    if (!row)
        return;
    snprintf(row->outcome, sizeof row->outcome, "%.11s", cell->outcome);
    snprintf(row->message, sizeof row->message, "%.159s", cell->message);
    row->resumed = cell->resumed;
    row->step_ms = cell->step_ms;
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

/* label, step ms, low, high, ratio, verdict, outcome */
static void line_fill(struct mgb_bench_sweep *sweep, char *line)
{
    char *fields[7];
    int count = 0;
    for (char *field; count < 7 && (field = strsep(&line, "\t"));)
        fields[count++] = field;
    struct mgb_bench_cell *row = count == 7 ? row_find(sweep, fields[0]) : NULL;
    if (!row)
        return;
    row->step_ms = number_read(fields[1]);
    row->low_ms = number_read(fields[2]);
    row->high_ms = number_read(fields[3]);
    row->ratio = number_read(fields[4]);
    snprintf(row->verdict, sizeof row->verdict, "%.15s", fields[5]);
    snprintf(row->outcome, sizeof row->outcome, "%.11s", fields[6]);
}

static void best_mark(struct mgb_bench_sweep *sweep)
{
    struct mgb_bench_cell *best = NULL;
    for (int i = 0; i < sweep->row_count; i++) {
        struct mgb_bench_cell *row = &sweep->rows[i];
        row->best = false;
        if (!isnan(row->ratio) && strcmp(row->outcome, "ok") == 0 &&
            (!best || row->ratio < best->ratio))
            best = row;
    }
    if (best)
        best->best = true;
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
    char *line = answer->count == 2 ? strtok_r(answer->texts[0], "\n", &rest) : NULL;
    for (; line; line = strtok_r(NULL, "\n", &rest))
        line_fill(sweep, line);
    best_mark(sweep);
    if (answer->count == 2)
        snprintf(sweep->best, sizeof sweep->best, "%.199s", answer->texts[1]);
    sweep->done = done;
    if (!done && *sweep->cell && sweep->position > 0)
        sweep->position--;
    sweep->cell[0] = '\0';
    mgb_shared_drop(bench->draft->sweep);
    bench->draft->sweep = sweep;
}

void mgb_bench_sweep(struct mgb_workbench *bench, const char *text)
{
    struct mgb_script_answer answer;
    mgb_bench_end(bench, "the run has ended: its devices are given to the sweep");
    enum mgb_bench_state before = bench->state;
    mgb_bench_set_state(bench, MGB_BENCH_SWEEPING, "sweeping");
    enum mgb_status status =
        mgb_bench_call(bench, &answer, "sweep", (const char *const[]){text, NULL});
    if (status == MGB_OK)
        mgb_bench_say(bench, MGB_LINE_NOTE, "the sweep is done%s%s",
                      answer.count == 2 && *answer.texts[1] ? ": " : "",
                      answer.count == 2 ? answer.texts[1] : "");
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
