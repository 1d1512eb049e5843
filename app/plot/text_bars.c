/* Bars as text: a row a category; its value and interval in figures behind it. See text.h. */
#include "app/plot/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <mgb/text.h>

static const char *const fills_ascii[] = {"#", "=", "+", "o", ":", "x", "-", "%", "."};
static const char *const fills_utf8[] = {"█", "▒", "░", "▓", "▚", "x", "-", "%", "."};
enum { FILLS = sizeof fills_ascii / sizeof *fills_ascii };

struct bars {
    const struct mgb_chart *chart;
    bool utf8;
    int width, label, bar; /* columns: of a line, of the label, of the longest bar */
    double most;           /* value of the longest bar */
    FILE *out;
};

static const char *fill_of(const struct bars *b, const struct mgb_chart_series *series)
{
    int at = b->chart->kind == MGB_CHART_STACKED ? series->style % FILLS : 0;
    return b->utf8 ? fills_utf8[at] : fills_ascii[at];
}

static const struct mgb_chart_point *point_find(const struct mgb_chart *chart, size_t series,
                                                size_t row)
{
    for (size_t i = 0; i < chart->series[series].count; i++)
        if (chart->series[series].points[i].x == (double)row)
            return &chart->series[series].points[i];
    return NULL;
}

static const char *note_find(const struct mgb_chart *chart, size_t series, size_t row)
{
    for (size_t i = 0; i < chart->mark_count; i++)
        if (chart->marks[i].kind == MGB_MARK_NOTE && chart->marks[i].x == (double)row &&
            chart->marks[i].y == (double)series)
            return chart->marks[i].label;
    return NULL;
}

static void label_print(const struct bars *b, const char *text, int indent)
{
    int pad = b->label - indent - mgb_plot_width(text);
    fprintf(b->out, "%*s%s%*s ", indent, "", text, pad > 0 ? pad : 0, "");
}

static void value_print(const struct bars *b, const struct mgb_chart_point *p)
{
    char y[40], low[40], high[40];
    fprintf(b->out, " %s", mgb_format_figure(y, p->y));
    if (isfinite(p->low) && isfinite(p->high))
        fprintf(b->out, " [%s, %s]", mgb_format_figure(low, p->low),
                mgb_format_figure(high, p->high));
    fputc('\n', b->out);
}

/* A bar in eighths of a column where the terminal has blocks. */
static void bar_print(const struct bars *b, const struct mgb_chart_point *p)
{
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    double columns = p->y > 0 ? p->y / b->most * b->bar : 0;
    int eighths = (int)(columns * 8 + 0.5);
    int whole = b->utf8 ? eighths / 8 : (int)(columns + 0.5);
    for (int i = 0; i < whole; i++)
        fputs(b->utf8 ? "█" : "#", b->out);
    if (b->utf8)
        fputs(parts[eighths % 8], b->out);
}

static void series_row_print(const struct bars *b, size_t series, size_t row, const char *label,
                             int indent)
{
    const struct mgb_chart_point *p = point_find(b->chart, series, row);
    const char *note = note_find(b->chart, series, row);
    if (!p && !note)
        return;
    label_print(b, label, indent);
    if (p)
        bar_print(b, p);
    if (p)
        value_print(b, p);
    else
        fprintf(b->out, "%s\n", note);
}

static void row_print(const struct bars *b, size_t row)
{
    const struct mgb_chart *chart = b->chart;
    if (chart->series_count == 1) {
        series_row_print(b, 0, row, chart->categories[row], 0);
        return;
    }
    fprintf(b->out, "%s\n", chart->categories[row]);
    for (size_t s = 0; s < chart->series_count; s++)
        series_row_print(b, s, row, chart->series[s].label, 2);
}

/* The parts of a row and the strokes that cross it, in figures: an area of characters cannot be read to four digits. */
static void parts_print(const struct bars *b, size_t row)
{
    char number[40], *text = NULL;
    size_t size;
    const char *before = "";
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    for (size_t s = 0; s < b->chart->series_count; s++) {
        const struct mgb_chart_point *p = point_find(b->chart, s, row);
        if (!p || !(p->y > 0))
            continue;
        fprintf(out, "%s%s %s", before, b->chart->series[s].label, mgb_format_figure(number, p->y));
        before = ", ";
    }
    for (size_t i = 0; i < b->chart->mark_count; i++) {
        const struct mgb_chart_mark *mark = &b->chart->marks[i];
        if (mark->kind == MGB_MARK_LIMIT && mark->x == (double)row)
            fprintf(out, "; %s %s", mark->label, mgb_format_figure(number, mark->y));
    }
    if (fclose(out) == 0)
        for (const char *at = text, *rest; *at; at = rest) {
            int length = mgb_plot_wrap(at, b->width - b->label - 1, &rest);
            fprintf(b->out, "%*s %.*s\n", b->label, "", length, at);
        }
    free(text);
}

static void stack_print(const struct bars *b, size_t row)
{
    const struct mgb_chart *chart = b->chart;
    char number[40];
    double sum = 0;
    int done = 0;
    label_print(b, chart->categories[row], 0);
    for (size_t s = 0; s < chart->series_count; s++) {
        const struct mgb_chart_point *p = point_find(chart, s, row);
        sum += p ? p->y : 0;
        int end = (int)(sum / b->most * b->bar + 0.5);
        for (; done < end; done++)
            fputs(fill_of(b, &chart->series[s]), b->out);
    }
    fprintf(b->out, " %s\n", mgb_format_figure(number, sum));
    parts_print(b, row);
}

static void legend_print(const struct bars *b)
{
    int used = 0;
    for (size_t s = 0; s < b->chart->series_count; s++) {
        const struct mgb_chart_series *series = &b->chart->series[s];
        int width = mgb_plot_width(series->label) + 4;
        bool breaks = used > 0 && used + width > b->width;
        fprintf(b->out, "%s%s %s",
                used == 0 ? "  "
                : breaks  ? "\n  "
                          : "  ",
                fill_of(b, series), series->label);
        used = breaks ? width : used + width;
    }
    fputc('\n', b->out);
}

static int label_width(const struct mgb_chart *chart)
{
    int width = 0;
    bool grouped = chart->kind == MGB_CHART_BARS && chart->series_count > 1;
    for (size_t i = 0; !grouped && i < chart->category_count; i++)
        width = mgb_plot_width(chart->categories[i]) > width ? mgb_plot_width(chart->categories[i])
                                                             : width;
    for (size_t s = 0; grouped && s < chart->series_count; s++)
        if (mgb_plot_width(chart->series[s].label) + 2 > width)
            width = mgb_plot_width(chart->series[s].label) + 2;
    return width;
}

/* Columns that the widest figures behind a bar take. */
static int value_width(const struct mgb_chart *chart)
{
    bool intervals = false;
    for (size_t s = 0; chart->kind == MGB_CHART_BARS && s < chart->series_count; s++)
        for (size_t i = 0; i < chart->series[s].count; i++)
            intervals = intervals || isfinite(chart->series[s].points[i].low);
    return intervals ? 24 : 8;
}

void mgb_text_bars_print(const struct mgb_chart *chart, const struct mgb_text_style *style,
                         FILE *out)
{
    struct bars b = {.chart = chart, .utf8 = style->utf8, .width = style->width, .out = out};
    b.label = label_width(chart);
    b.bar = style->width - b.label - 1 - value_width(chart);
    b.bar = b.bar < 10 ? 10 : b.bar;
    b.most = mgb_chart_y_range(chart).high;
    if (chart->y_label)
        fprintf(out, "%s\n", chart->y_label);
    for (size_t row = 0; row < chart->category_count; row++) {
        if (chart->kind == MGB_CHART_STACKED)
            stack_print(&b, row);
        else
            row_print(&b, row);
    }
    if (chart->kind == MGB_CHART_STACKED)
        legend_print(&b);
}
