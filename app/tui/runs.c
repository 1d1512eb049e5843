/* See runs.h. */
#include "app/tui/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUN, STARTED, MODEL, BACKEND, BATCH, PLACEMENT, STEP, RATE, RATIO, MEMORY, OUTCOME, TAGS };

const struct tui_column tui_runs_columns[RUNS_COLUMNS] = {
    [RUN] = {"run", 6, 8, true, 100},          [STARTED] = {"when", 5, 11, false, 20},
    [MODEL] = {"model", 9, 20, false, 95},     [BACKEND] = {"on", 4, 6, false, 60},
    [BATCH] = {"batch", 6, 8, true, 70},       [PLACEMENT] = {"placement", 9, 0, false, 50},
    [STEP] = {"step ms", 7, 8, true, 90},      [RATE] = {"ex/s", 5, 7, true, 55},
    [RATIO] = {"ratio", 6, 6, true, 80},       [MEMORY] = {"peak", 9, 9, true, 40},
    [OUTCOME] = {"outcome", 9, 11, false, 85}, [TAGS] = {"tags", 4, 24, false, 30},
};

static const struct {
    const char *name;
    int column;
    bool ascending;
} sorts[MGB_LIST_COLUMN_COUNT] = {
    [MGB_LIST_RUN] = {"run", RUN, false},
    [MGB_LIST_STARTED] = {"started", STARTED, false},
    [MGB_LIST_MODEL] = {"model", MODEL, true},
    [MGB_LIST_BACKEND] = {"backend", BACKEND, true},
    [MGB_LIST_OUTCOME] = {"outcome", OUTCOME, true},
    [MGB_LIST_STEP_MS] = {"step_ms", STEP, true},
    [MGB_LIST_RATE] = {"rate", RATE, false},
    [MGB_LIST_MEMORY] = {"memory", MEMORY, false},
    [MGB_LIST_GPUS] = {"gpus", BATCH, true},
    [MGB_LIST_BATCH] = {"batch", BATCH, true},
};

int tui_runs_sort_of(int column)
{
    for (int i = 0; i < MGB_LIST_COLUMN_COUNT; i++)
        if (sorts[i].column == column)
            return i;
    return -1;
}

int tui_runs_column_of(enum mgb_list_column sort)
{
    return sorts[sort].column;
}

const char *tui_runs_sort_name(enum mgb_list_column sort)
{
    return sorts[sort].name;
}

int tui_runs_sort_find(const char *name)
{
    for (int i = 0; i < MGB_LIST_COLUMN_COUNT; i++)
        if (strcmp(sorts[i].name, name) == 0)
            return i;
    return -1;
}

bool tui_runs_ascends(enum mgb_list_column sort)
{
    return sorts[sort].ascending;
}

struct drawing {
    struct tui_canvas *canvas;
    struct tui_rect row;
    const struct tui_table *table;
};

static void cell(const struct drawing *d, int column, enum tui_style style, const char *text)
{
    tui_table_cell(d->table, tui_runs_columns, column, d->canvas, d->row, style, text);
}

static void number_cell(const struct drawing *d, int column, double value)
{
    char text[32];
    cell(d, column, TUI_PLAIN, tui_number(text, sizeof text, value));
}

/* As above; "102k" where there is no room for "101.8k", which cut would be another number. */
static void rate_cell(const struct drawing *d, double value)
{
    char text[32], *unit;
    tui_number(text, sizeof text, value);
    if ((int)strlen(text) > d->table->width[RATE] && strchr(text, '.')) {
        double whole = strtod(text, &unit);
        char end = *unit;
        snprintf(text, sizeof text, "%.0f%.1s", whole, (char[]){end, '\0'});
    }
    cell(d, RATE, TUI_PLAIN, text);
}

/* "4x32": GPUs, and examples of each, as mgbench runs has them. */
static void batch_cell(const struct drawing *d, const struct mgb_list_row *run)
{
    char text[48] = "-";
    if (run->gpus >= 0 && run->batch_per_gpu >= 0)
        snprintf(text, sizeof text, "%lldx%lld", (long long)run->gpus,
                 (long long)run->batch_per_gpu);
    cell(d, BATCH, TUI_PLAIN, text);
}

/* "2026-11-29T14:03:00Z" without its year; the day alone where there is no room for the hour. */
static void started_cell(const struct drawing *d, const char *started)
{
    char text[12];
    snprintf(text, sizeof text, "%.11s", strlen(started) >= 16 ? started + 5 : started);
    for (char *c = text; *c; c++)
        *c = *c == 'T' ? ' ' : *c;
    if (d->table->width[STARTED] < 11)
        text[strcspn(text, " ")] = '\0';
    cell(d, STARTED, TUI_DIM, text);
}

/* Of time an example to the baseline's: below one is faster. */
static void ratio_cell(const struct drawing *d, const struct mgb_list_row *run)
{
    char text[32] = "-", number[24];
    enum tui_style style = TUI_PLAIN;
    if (!isnan(run->ratio)) {
        snprintf(text, sizeof text, "x%s", tui_number(number, sizeof number, run->ratio));
        style = run->ratio < 0.99 ? TUI_GOOD : run->ratio > 1.01 ? TUI_BAD : TUI_PLAIN;
    }
    if (*run->baseline && isnan(run->ratio))
        strcpy(text, "base");
    cell(d, RATIO, style, text);
}

static const char *outcome_words(const char *outcome)
{
    return strcmp(outcome, "oom") == 0 ? "no memory" : outcome;
}

void tui_runs_draw(struct tui_canvas *canvas, struct tui_rect row, const struct tui_table *table,
                   const struct mgb_list_row *run, bool marked)
{
    char text[160];
    struct drawing d = {canvas, row, table};
    bool ok = strcmp(run->outcome, "ok") == 0, running = strcmp(run->outcome, "running") == 0;
    if (table->width[TAGS] == 0 && (*run->tags || *run->baseline || (run->notes && *run->notes)))
        tui_put(canvas, (struct tui_rect){row.y, row.x - 1, 1, 1}, 0, 0, TUI_MARKED, "#");
    snprintf(text, sizeof text, run->number > 0 ? "%s%lld.%d" : "%s%lld", marked ? "+" : "",
             (long long)run->run, run->number);
    cell(&d, RUN, marked ? TUI_MARKED : TUI_STRONG, text);
    started_cell(&d, run->started);
    cell(&d, MODEL, TUI_PLAIN, run->model);
    cell(&d, BACKEND, TUI_PLAIN, run->simulated ? "sim" : run->backend);
    batch_cell(&d, run);
    cell(&d, PLACEMENT, TUI_PLAIN, run->placement);
    number_cell(&d, STEP, run->step_ms);
    rate_cell(&d, run->rate);
    ratio_cell(&d, run);
    cell(&d, MEMORY, TUI_PLAIN, tui_bytes(text, sizeof text, run->peak_bytes));
    cell(&d, OUTCOME, ok ? TUI_PLAIN : running ? TUI_GOOD : TUI_WARN, outcome_words(run->outcome));
    snprintf(text, sizeof text, "%s%s%s%s", *run->baseline ? "baseline:" : "", run->baseline,
             *run->baseline && *run->tags ? " " : "", run->tags);
    cell(&d, TAGS, TUI_PLAIN, text);
}

void tui_runs_draw_labels(struct tui_canvas *canvas, struct tui_rect row,
                          const struct mgb_list_row *run)
{
    const char *notes = run->notes ? run->notes : "";
    char name[40];
    struct runs_mark mark = {run->run, run->number};
    int x =
        tui_print(canvas, row, 0, 1, TUI_DIM, "%s", tui_runs_name(name, sizeof name, &mark)) + 2;
    if (*run->baseline)
        x = tui_print(canvas, row, 0, x, TUI_PLAIN, "baseline: %s", run->baseline) + 2;
    if (*run->tags)
        x = tui_print(canvas, row, 0, x, TUI_PLAIN, "tags: %s", run->tags) + 2;
    if (*notes)
        x = tui_print(canvas, row, 0, x, TUI_PLAIN, "note: %s", notes) + 2;
    if (!*run->baseline && !*run->tags && !*notes)
        tui_put(canvas, row, 0, x, TUI_DIM, "no tags, no notes");
}
