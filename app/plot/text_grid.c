/* Points on a grid of characters, with axes, and a legend that tells the shapes. See text.h. */
#include "app/plot/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <mgb/text.h>

static const char *const shapes_ascii[] = {"o", "x", "+", "*", "#", "@", "%", "&"};
static const char *const shapes_utf8[] = {"●", "○", "▲", "△", "■", "□", "◆", "◇"};
enum { SHAPES = sizeof shapes_ascii / sizeof *shapes_ascii, ROWS = 15, GUTTER = 9, TICKS = 12 };

enum { CELL_EMPTY = -1, CELL_IDEAL = -2, CELL_EDGE = -3, CELL_SEVERAL = -4 };

struct grid {
    const struct mgb_chart *chart;
    bool utf8;
    int columns;
    struct mgb_chart_range x, y;
    int *cells; /* series or one of the above */
    FILE *out;
};

static double share(double value, struct mgb_chart_range range, bool log)
{
    return log ? (log2(value) - log2(range.low)) / (log2(range.high) - log2(range.low))
               : (value - range.low) / (range.high - range.low);
}

static int column_of(const struct grid *g, double x)
{
    return 1 + (int)(share(x, g->x, g->chart->x_log) * (g->columns - 4) + 0.5);
}

static int *cell_find(const struct grid *g, double x, double y)
{
    double up = share(y, g->y, g->chart->y_log), right = share(x, g->x, g->chart->x_log);
    if (!(up >= 0 && up <= 1 && right >= 0 && right <= 1))
        return NULL;
    int row = ROWS - 1 - (int)(up * (ROWS - 1) + 0.5);
    return &g->cells[row * g->columns + column_of(g, x)];
}

/* The ideal line, point by point between its corners. */
static void ideal_fill(const struct grid *g)
{
    const struct mgb_chart_series *ideal = &g->chart->ideal;
    for (size_t i = 0; i + 1 < ideal->count; i++)
        for (int k = 0; k <= 40; k++) {
            const struct mgb_chart_point *a = &ideal->points[i], *b = a + 1;
            double t = k / 40.0;
            int *cell = cell_find(g, a->x + t * (b->x - a->x), a->y + t * (b->y - a->y));
            if (cell)
                *cell = CELL_IDEAL;
        }
}

static void edges_fill(const struct grid *g)
{
    for (size_t i = 0; i < g->chart->mark_count; i++)
        for (int row = 0; g->chart->marks[i].kind == MGB_MARK_EDGE && row < ROWS; row++)
            g->cells[row * g->columns + column_of(g, g->chart->marks[i].x)] = CELL_EDGE;
}

static void points_fill(const struct grid *g)
{
    for (size_t s = 0; s < g->chart->series_count; s++)
        for (size_t i = 0; i < g->chart->series[s].count; i++) {
            const struct mgb_chart_point *p = &g->chart->series[s].points[i];
            int *cell = cell_find(g, p->x, p->y);
            if (cell)
                *cell = *cell >= 0 && *cell != (int)s ? CELL_SEVERAL : (int)s;
        }
}

static const char *cell_text(const struct grid *g, int cell)
{
    if (cell >= 0) {
        int style = g->chart->series[cell].style % SHAPES;
        return g->utf8 ? shapes_utf8[style] : shapes_ascii[style];
    }
    switch (cell) {
    case CELL_IDEAL:
        return g->utf8 ? "·" : ".";
    case CELL_EDGE:
        return g->utf8 ? "┊" : "|";
    case CELL_SEVERAL:
        return "?";
    }
    return " ";
}

static void rows_print(const struct grid *g)
{
    char number[40];
    for (int row = 0; row < ROWS; row++) {
        double t = (double)(ROWS - 1 - row) / (ROWS - 1);
        double value = g->chart->y_log ? g->y.low * pow(g->y.high / g->y.low, t)
                                       : g->y.low + t * (g->y.high - g->y.low);
        bool tick = row % 7 == 0;
        fprintf(g->out, "%*s %s", GUTTER - 2, tick ? mgb_format_figure(number, value) : "",
                g->utf8 ? tick ? "┤" : "│"
                : tick  ? "+"
                        : "|");
        int last = g->columns - 1; /* no blanks at line ends */
        while (last >= 0 && g->cells[row * g->columns + last] == CELL_EMPTY)
            last--;
        for (int c = 0; c <= last; c++)
            fputs(cell_text(g, g->cells[row * g->columns + c]), g->out);
        fputc('\n', g->out);
    }
}

static void x_axis_print(const struct grid *g)
{
    double values[TICKS];
    char number[40];
    int count = mgb_chart_x_values(g->chart, values, TICKS), at = 0;
    fprintf(g->out, "%*s%s", GUTTER - 1, "", g->utf8 ? "└" : "+");
    for (int i = 0; i < g->columns; i++)
        fputs(g->utf8 ? "─" : "-", g->out);
    fprintf(g->out, "\n%*s", GUTTER, "");
    for (int i = 0; i < count; i++) {
        int length = (int)strlen(mgb_format_figure(number, values[i]));
        int from = column_of(g, values[i]) - length / 2;
        if (from < at + (at > 0) || from + length > g->columns)
            continue;
        fprintf(g->out, "%*s%s", from - at, "", number);
        at = from + length;
    }
    fprintf(g->out, "\n%*s%s\n", GUTTER, "", g->chart->x_label ? g->chart->x_label : "");
}

static bool is_drawn(const struct grid *g, int what)
{
    for (int i = 0; i < ROWS * g->columns; i++)
        if (g->cells[i] == what)
            return true;
    return false;
}

static void legend_print(const struct grid *g)
{
    const struct mgb_chart *chart = g->chart;
    char number[40];
    for (size_t s = 0; s < chart->series_count; s++)
        if (*chart->series[s].label)
            fprintf(g->out, "%*s%s %s\n", GUTTER - 2, "", cell_text(g, (int)s),
                    chart->series[s].label);
    if (chart->ideal.count > 0)
        fprintf(g->out, "%*s%s %s\n", GUTTER - 2, "", cell_text(g, CELL_IDEAL), chart->ideal.label);
    if (is_drawn(g, CELL_SEVERAL))
        fprintf(g->out, "%*s%s several of them\n", GUTTER - 2, "", cell_text(g, CELL_SEVERAL));
    for (size_t i = 0; i < chart->mark_count; i++)
        if (chart->marks[i].kind == MGB_MARK_EDGE)
            fprintf(g->out, "%*s%s %s: %s\n", GUTTER - 2, "", cell_text(g, CELL_EDGE),
                    mgb_format_figure(number, chart->marks[i].x), chart->marks[i].label);
}

void mgb_text_grid_print(const struct mgb_chart *chart, const struct mgb_text_style *style,
                         FILE *out)
{
    struct grid g = {.chart = chart, .utf8 = style->utf8, .out = out};
    g.columns = (style->width < 30 ? 30 : style->width) - GUTTER;
    g.x = mgb_chart_x_range(chart);
    g.y = mgb_chart_y_range(chart);
    g.cells = malloc((size_t)(ROWS * g.columns) * sizeof *g.cells);
    if (!g.cells) {
        fputs("(no memory to draw this)\n", out);
        return;
    }
    for (int i = 0; i < ROWS * g.columns; i++)
        g.cells[i] = CELL_EMPTY;
    edges_fill(&g);
    ideal_fill(&g);
    points_fill(&g);
    fprintf(out, "%s\n", chart->y_label ? chart->y_label : "");
    rows_print(&g);
    x_axis_print(&g);
    legend_print(&g);
    free(g.cells);
}
