/* See sweep_table.h. */
#include "app/tui/sweep_table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_VALUES = 8, BAR = 24 };

/* "1:05:09", "2:11", "9 s". */
static const char *seconds_write(char *out, size_t size, double seconds)
{
    long long s = isnan(seconds) || seconds > 1e9 ? -1 : (long long)seconds;
    if (s < 0)
        snprintf(out, size, "?");
    else if (s >= 3600)
        snprintf(out, size, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    else if (s >= 60)
        snprintf(out, size, "%lld:%02lld", s / 60, s % 60);
    else
        snprintf(out, size, "%lld s", s);
    return out;
}

/* What is going on where no cell runs. */
static const char *pause_text(const struct mgb_bench_sweep *sweep, bool sweeping)
{
    if (!sweep->done)
        return sweeping ? "looking for cells that have ended" : "stopped; s goes on";
    return sweep->ran > 0 ? "all cells have ended"
                          : "all ended before: change the grid or the name";
}

static void progress_draw(struct tui_canvas *canvas, struct tui_rect area,
                          const struct mgb_bench_sweep *sweep, bool sweeping)
{
    char elapsed[32], left[32], right[120], title[100];
    int64_t done = sweep->done ? sweep->total : sweep->position - (*sweep->cell ? 1 : 0);
    done = done < 0 ? 0 : done;
    int filled = sweep->total > 0 ? (int)(BAR * done / sweep->total) : 0;
    filled = filled > BAR ? BAR : filled;
    snprintf(title, sizeof title, "%.60s: %lld of %lld", sweep->name,
             (long long)(sweep->done ? sweep->total : sweep->position), (long long)sweep->total);
    snprintf(right, sizeof right, sweep->done ? "done in %s" : "%s, %s left",
             seconds_write(elapsed, sizeof elapsed, sweep->elapsed_s),
             seconds_write(left, sizeof left, sweep->left_s));
    tui_rule(canvas, area, 0, title, right);
    int x = tui_put(canvas, area, 1, 1, TUI_PLAIN, "[");
    tui_fill(canvas, area, 1, x, filled, TUI_GOOD, '#', '#');
    tui_fill(canvas, area, 1, x + filled, BAR - filled, TUI_DIM, '.', '.');
    x = tui_put(canvas, area, 1, x + BAR, TUI_PLAIN, "]  ");
    if (*sweep->cell)
        tui_print(canvas, area, 1, x, TUI_STRONG, "now %s", sweep->cell);
    else
        tui_put(canvas, area, 1, x, TUI_DIM, pause_text(sweep, sweeping));
    bool marked = false;
    for (int i = 0; i < sweep->row_count; i++)
        marked = marked || sweep->rows[i].best;
    if (*sweep->best)
        tui_print(canvas, area, 2, 1, marked ? TUI_GOOD : TUI_PLAIN, "%s %s", marked ? "*" : " ",
                  sweep->best);
}

/* Columns: the sign, the values that vary, and the figures. */
static int columns_make(struct tui_column *out, const struct mgb_bench_sweep *sweep)
{
    static const struct tui_column figures[] = {{"step ms", 7, 8, true, 90},
                                                {"95 %", 13, 15, false, 40},
                                                {"ratio", 6, 6, true, 60},
                                                {"verdict", 7, 10, false, 70},
                                                {"outcome", 9, 0, false, 80}};
    int count = 0;
    for (int i = 0; i < sweep->column_count && i < MOST_VALUES; i++) {
        int width = (int)strlen(sweep->columns[i]);
        out[count++] = (struct tui_column){sweep->columns[i], width > 5 ? width : 5,
                                           width > 14 ? width : 14, false, 100 - i};
    }
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        out[count++] = figures[i];
    return count;
}

static void outcome_write(char *out, size_t size, const struct mgb_bench_cell *cell)
{
    bool oom = strcmp(cell->outcome, "oom") == 0, ok = strcmp(cell->outcome, "ok") == 0;
    snprintf(out, size, "%s%s%s%s",
             oom                   ? "out of memory"
             : ok && cell->resumed ? "before"
                                   : cell->outcome,
             !ok && cell->resumed ? " (before)" : "", *cell->message ? ": " : "", cell->message);
}

static void cell_draw(struct tui_canvas *canvas, struct tui_rect row, const struct tui_table *table,
                      const struct tui_column *columns, const struct mgb_bench_sweep *sweep,
                      const struct mgb_bench_cell *cell)
{
    char text[240], low[24], high[24];
    int values = sweep->column_count < MOST_VALUES ? sweep->column_count : MOST_VALUES, at = values;
    bool ok = strcmp(cell->outcome, "ok") == 0;
    enum tui_style style = cell->best ? TUI_GOOD : TUI_PLAIN;
    tui_put(canvas, row, 0, 1, TUI_GOOD, cell->best ? "*" : " ");
    row = tui_rect_inside(row, 0, 3);
    for (int i = 0; i < values; i++)
        tui_table_cell(table, columns, i, canvas, row, style, cell->values[i]);
    if (!ok && isnan(cell->step_ms)) { /* what happened stands where the figures would */
        outcome_write(text, sizeof text, cell);
        tui_put(canvas, row, 0, values > 0 ? table->x[at] : 0, TUI_BAD, text);
        return;
    }
    tui_table_cell(table, columns, at++, canvas, row, style,
                   tui_number(text, sizeof text, cell->step_ms));
    snprintf(text, sizeof text, "%s..%s", tui_number(low, sizeof low, cell->low_ms),
             tui_number(high, sizeof high, cell->high_ms));
    tui_table_cell(table, columns, at++, canvas, row, TUI_DIM, isnan(cell->low_ms) ? "" : text);
    snprintf(text, sizeof text, "x%s", tui_number(low, sizeof low, cell->ratio));
    tui_table_cell(table, columns, at++, canvas, row, style, isnan(cell->ratio) ? "-" : text);
    tui_table_cell(table, columns, at++, canvas, row,
                   strcmp(cell->verdict, "slower") == 0 ? TUI_BAD : style, cell->verdict);
    outcome_write(text, sizeof text, cell);
    tui_table_cell(table, columns, at, canvas, row, ok ? TUI_PLAIN : TUI_BAD, text);
}

void sweep_table_draw(struct tui_canvas *canvas, struct tui_rect area, struct tui_list *list,
                      struct tui_rect *rows, const struct tui_scene *scene, bool in_hand)
{
    const struct mgb_bench_sweep *sweep = scene->snapshot->sweep;
    struct tui_column columns[TUI_MOST_COLUMNS];
    struct tui_table table;
    *rows = tui_rect_inside(area, SWEEP_TABLE_ABOVE, 0);
    tui_list_fit(list, sweep->row_count, rows->rows);
    if (area.rows < 1)
        return;
    progress_draw(canvas, area, sweep, scene->snapshot->state == MGB_BENCH_SWEEPING);
    struct tui_rect head = tui_rect_inside(tui_rect_row(area, SWEEP_TABLE_ABOVE - 1), 0, 3);
    int count = columns_make(columns, sweep);
    tui_table_fit(&table, columns, count, head.columns);
    tui_table_head(&table, columns, canvas, head, -1, true);
    for (int y = 0; y < rows->rows && list->top + y < list->count; y++) {
        struct tui_rect row = tui_rect_row(*rows, y);
        cell_draw(canvas, row, &table, columns, sweep, &sweep->rows[list->top + y]);
        if (in_hand && list->top + y == list->at)
            tui_list_hand(canvas, row);
    }
    if (sweep->row_count == 0)
        tui_put(canvas, *rows, 0, 1, TUI_DIM, "no cell has ended yet");
}

struct page {
    char *text;
    size_t size, used;
};

static void page_add(struct page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void page_add(struct page *page, const char *format, ...)
{
    va_list args;
    if (page->used >= page->size)
        return;
    va_start(args, format);
    int put = vsnprintf(page->text + page->used, page->size - page->used, format, args);
    va_end(args);
    page->used += put > 0 ? (size_t)put : 0;
}

static void figure_add(struct page *page, const char *name, double value, const char *of)
{
    char text[40];
    page_add(page, "%-10s%s%s\n", name, isnan(value) ? "-" : tui_number(text, sizeof text, value),
             isnan(value) ? "" : of);
}

/* "gpus=2 batch=32": an option a line. */
static void placement_add(struct page *page, const char *words, bool ran)
{
    if (!*words)
        return;
    page_add(page, "\nplacement %s\n", ran ? "in effect" : "as asked for");
    while (*words) {
        size_t length = strcspn(words, " "), name = strcspn(words, "=");
        if (name < length)
            page_add(page, "  %-15.*s %.*s\n", (int)name, words, (int)(length - name - 1),
                     words + name + 1);
        words += length + (words[length] == ' ');
    }
}

/* Reasons begin with the verdict that they are of. */
static void verdict_add(struct page *page, const struct mgb_bench_cell *cell)
{
    size_t length = strlen(cell->verdict);
    const char *why = cell->reason;
    bool base = strcmp(cell->verdict, "base") == 0;
    if (length > 0 && strncmp(why, cell->verdict, length) == 0 && why[length] == ':')
        why += length + 1 + strspn(why + length + 1, " ");
    figure_add(page, "ratio", cell->ratio, base ? "" : " of the base's time an example");
    page_add(page, "verdict   %s%s%s\n",
             base         ? "base, the first cell that ran: the others are held against it"
             : length > 0 ? cell->verdict
                          : "none yet: cells are judged together when all of them have ended",
             *why ? ": " : "", why);
}

void sweep_table_detail(char *out, size_t size, const struct mgb_bench_sweep *sweep, int at)
{
    char outcome[240], low[40], high[40], range[100] = "";
    struct page page = {out, size, 0};
    if (size > 0)
        *out = '\0';
    if (at < 0 || at >= sweep->row_count)
        return;
    const struct mgb_bench_cell *cell = &sweep->rows[at];
    for (int i = 0; i < sweep->column_count && i < MOST_VALUES; i++)
        page_add(&page, "%s=%s\n", sweep->columns[i], cell->values[i]);
    outcome_write(outcome, sizeof outcome, cell);
    if (!isnan(cell->low_ms))
        snprintf(range, sizeof range, "  [%s, %s]", tui_number(low, sizeof low, cell->low_ms),
                 tui_number(high, sizeof high, cell->high_ms));
    page_add(&page, "\noutcome   %s\n", outcome);
    figure_add(&page, "step ms", cell->step_ms, range);
    figure_add(&page, "example", cell->example_ms, " ms");
    verdict_add(&page, cell);
    placement_add(&page, cell->placement, strcmp(cell->outcome, "ok") == 0);
}
