/* Rows of bars, side by side or one after the other, for gnuplot. See gnuplot_private.h. */
#include "app/plot/gnuplot_private.h"
#include <math.h>
#include <string.h>
#include <mgb/text.h>

#define BAND 0.78 /* of a row that its bars take */

struct bars {
    const struct mgb_sheet *sheet;
    const struct mgb_chart *chart;
    struct mgb_box where;
    double scale; /* pixels a unit of value */
};

double mgb_gnuplot_names_width(const struct mgb_chart *chart, double most)
{
    int width = 0;
    for (size_t i = 0; i < chart->category_count; i++)
        width = mgb_plot_width(chart->categories[i]) > width ? mgb_plot_width(chart->categories[i])
                                                             : width;
    double pixels = width * MGB_SHEET_LETTER + 8;
    return pixels < most ? pixels : most;
}

static void value_text(char out[140], const struct mgb_chart_point *p)
{
    char y[40], low[40], high[40];
    if (isfinite(p->low) && isfinite(p->high))
        snprintf(out, 140, "%s [%s, %s]", mgb_format_figure(y, p->y),
                 mgb_format_figure(low, p->low), mgb_format_figure(high, p->high));
    else
        snprintf(out, 140, "%s", mgb_format_figure(y, p->y));
}

static double stack_before(const struct mgb_chart *chart, size_t series, double row)
{
    double sum = 0;
    for (size_t s = 0; chart->kind == MGB_CHART_STACKED && s < series; s++)
        for (size_t i = 0; i < chart->series[s].count; i++)
            sum += chart->series[s].points[i].x == row ? chart->series[s].points[i].y : 0;
    return sum;
}

/* Rows that all reach the same value need no figures behind them. */
static bool sums_differ(const struct mgb_chart *chart)
{
    double first = stack_before(chart, chart->series_count, 0);
    for (size_t row = 1; row < chart->category_count; row++)
        if (fabs(stack_before(chart, chart->series_count, (double)row) - first) > 0.001 * first)
            return true;
    return false;
}

/* Pixels for the words behind the longest bar. */
static double value_width(const struct mgb_chart *chart)
{
    int width = 0;
    for (size_t s = 0; s < chart->series_count; s++)
        for (size_t i = 0; i < chart->series[s].count; i++) {
            char text[140];
            value_text(text, &chart->series[s].points[i]);
            width = mgb_plot_width(text) > width ? mgb_plot_width(text) : width;
        }
    if (chart->kind == MGB_CHART_STACKED)
        return sums_differ(chart) ? 7 * MGB_SHEET_LETTER : 0;
    return width * MGB_SHEET_LETTER + 14;
}

/* Middle and half height of a bar, in rows. */
static double bar_middle(const struct mgb_chart *chart, size_t series, double row, double *half)
{
    bool stacked = chart->kind == MGB_CHART_STACKED;
    double count = stacked ? 1 : (double)chart->series_count;
    *half = BAND / count / 2 * (count > 1 ? 0.92 : 1);
    return stacked ? row : row - BAND / 2 + BAND * ((double)series + 0.5) / count;
}

static void numbers_put(const struct mgb_sheet *sheet, int count, const double *values)
{
    for (int i = 0; i < count; i++) {
        fputc(i ? ' ' : '\n', sheet->out);
        mgb_sheet_number(sheet, values[i]);
    }
}

static void label_at(const struct bars *b, const char *text, double x, double row, const char *how)
{
    fputs("set label ", b->sheet->out);
    mgb_sheet_quote(b->sheet, text, -1);
    fputs(" at first ", b->sheet->out);
    mgb_sheet_number(b->sheet, x);
    fputs(",first ", b->sheet->out);
    mgb_sheet_number(b->sheet, row);
    fprintf(b->sheet->out, " front %s\n", how);
}

/* The bars of a series as rectangles, with the words on or behind them. */
static void series_put(const struct bars *b, size_t series, size_t number)
{
    const struct mgb_chart *chart = b->chart;
    const struct mgb_chart_series *s = &chart->series[series];
    char text[140], how[80];
    for (size_t i = 0; i < s->count; i++) {
        double half, middle = bar_middle(chart, series, s->points[i].x, &half);
        double before = stack_before(chart, series, s->points[i].x);
        if (chart->kind == MGB_CHART_BARS) {
            value_text(text, &s->points[i]);
            double end = isfinite(s->points[i].high) ? s->points[i].high : 0;
            end = fmin(fmax(s->points[i].y, end), mgb_chart_y_range(chart).high);
            label_at(b, text, end, middle, "left offset character 0.8,0");
        } else if (s->points[i].y * b->scale > MGB_SHEET_LETTER * (mgb_plot_width(s->label) + 1)) {
            snprintf(how, sizeof how, "center tc rgb '%s'", mgb_look_get(s->style)->ink);
            label_at(b, s->label, before + s->points[i].y / 2, middle, how);
        }
    }
    fprintf(b->sheet->out, "$bars%zu_%zu << EOD", number, series);
    for (size_t i = 0; i < s->count; i++) {
        double half, middle = bar_middle(chart, series, s->points[i].x, &half);
        double before = stack_before(chart, series, s->points[i].x), y = s->points[i].y;
        numbers_put(
            b->sheet, 6,
            (double[]){before + y / 2, middle, before, before + y, middle - half, middle + half});
    }
    fputs("\nEOD\n", b->sheet->out);
}

/* Any that end at `most` or before. */
static bool has_intervals(const struct mgb_chart_series *s, double most)
{
    for (size_t i = 0; i < s->count; i++)
        if (isfinite(s->points[i].low) && isfinite(s->points[i].high) && s->points[i].high <= most)
            return true;
    return false;
}

static void stroke_put(const struct bars *b, const double from[2], const double to[2],
                       const char *how)
{
    fputs("set arrow from first ", b->sheet->out);
    mgb_sheet_number(b->sheet, from[0]);
    fputs(",first ", b->sheet->out);
    mgb_sheet_number(b->sheet, from[1]);
    fputs(" to first ", b->sheet->out);
    mgb_sheet_number(b->sheet, to[0]);
    fputs(",first ", b->sheet->out);
    mgb_sheet_number(b->sheet, to[1]);
    fprintf(b->sheet->out, " front lw 2 lc rgb '#000000' %s\n", how);
}

/* One that goes on beyond the axis: an open arrowhead where the others have a cap. Its end is in the figures beside it. */
static void cut_put(const struct bars *b, const struct mgb_chart_point *p, double middle,
                    double half)
{
    double most = mgb_chart_y_range(b->chart).high;
    stroke_put(b, (double[]){p->low, middle}, (double[]){most, middle},
               "head nofilled size screen 0.012,30");
    stroke_put(b, (double[]){p->low, middle - half / 4}, (double[]){p->low, middle + half / 4},
               "nohead");
}

static void intervals_put(const struct bars *b, size_t series, size_t number)
{
    const struct mgb_chart_series *s = &b->chart->series[series];
    double most = mgb_chart_y_range(b->chart).high;
    for (size_t i = 0; i < s->count; i++) {
        double half, middle = bar_middle(b->chart, series, s->points[i].x, &half);
        if (isfinite(s->points[i].low) && isfinite(s->points[i].high) && s->points[i].high > most)
            cut_put(b, &s->points[i], middle, half);
    }
    fprintf(b->sheet->out, "$range%zu_%zu << EOD", number, series);
    for (size_t i = 0; i < s->count; i++) {
        double half, middle = bar_middle(b->chart, series, s->points[i].x, &half);
        if (isfinite(s->points[i].low) && s->points[i].high <= most)
            numbers_put(b->sheet, 4,
                        (double[]){s->points[i].y, middle, s->points[i].low, s->points[i].high});
    }
    fputs("\nEOD\n", b->sheet->out);
}

static void names_put(const struct bars *b)
{
    double row = (b->where.bottom - b->where.top) / (double)b->chart->category_count;
    int columns = (int)(b->where.left / MGB_SHEET_LETTER) - 1;
    for (size_t i = 0; i < b->chart->category_count; i++) {
        const char *name = b->chart->categories[i], *rest = name;
        int first = mgb_plot_wrap(name, columns, &rest);
        double middle = b->where.top + row * ((double)i + 0.5), up = *rest ? 7 : 0;
        mgb_sheet_words(b->sheet, name, first, b->where.left - 7, middle - up, "right");
        if (*rest)
            mgb_sheet_words(b->sheet, rest, -1, b->where.left - 7, middle + 7, "right");
    }
}

static void marks_put(const struct bars *b)
{
    const char *first = NULL;
    for (size_t i = 0; i < b->chart->mark_count; i++) {
        const struct mgb_chart_mark *m = &b->chart->marks[i];
        double half;
        if (m->kind == MGB_MARK_NOTE && m->y >= 0 && m->y < (double)b->chart->series_count)
            label_at(b, m->label, 0, bar_middle(b->chart, (size_t)m->y, m->x, &half),
                     "left offset character 0.5,0 tc rgb '#B04000'");
        if (m->kind != MGB_MARK_LIMIT)
            continue;
        first = first ? first : m->label;
        fputs("set arrow from first ", b->sheet->out);
        mgb_sheet_number(b->sheet, m->y);
        fputs(",first ", b->sheet->out);
        mgb_sheet_number(b->sheet, m->x - 0.48);
        fputs(" to first ", b->sheet->out);
        mgb_sheet_number(b->sheet, m->y);
        fputs(",first ", b->sheet->out);
        mgb_sheet_number(b->sheet, m->x + 0.48);
        fprintf(b->sheet->out, " nohead front lw 2.5 lc rgb '%s'\n",
                strcmp(first, m->label) == 0 ? "#D55E00" : "#000000");
    }
}

static void sums_put(const struct bars *b)
{
    char number[40];
    for (size_t row = 0; sums_differ(b->chart) && row < b->chart->category_count; row++) {
        double sum = stack_before(b->chart, b->chart->series_count, (double)row);
        label_at(b, mgb_format_figure(number, sum), sum, (double)row,
                 "left offset character 0.8,0");
    }
}

static void axes_put(const struct bars *b, double most)
{
    FILE *out = b->sheet->out;
    fputs("unset key\nunset ytics\nset border 3 lc rgb '#888888'\nset xtics nomirror out scale 0.5 "
          "tc rgb '#000000'\nset grid xtics lc rgb '#dddddd' lt 1\nset errorbars 0.8\n"
          "set xrange [0:",
          out);
    mgb_sheet_number(b->sheet, most);
    fprintf(out, "]\nset yrange [%zu-0.5:-0.5]\n", b->chart->category_count);
    if (b->chart->y_label) {
        fputs("set xlabel ", out);
        mgb_sheet_quote(b->sheet, b->chart->y_label, -1);
        fputs(" offset 0,0.3\n", out);
    }
}

void mgb_gnuplot_bars(const struct mgb_sheet *sheet, const struct mgb_chart *chart,
                      struct mgb_box where, size_t number)
{
    double width = where.right - where.left, most = mgb_chart_y_range(chart).high;
    most /= fmax(0.3, 1 - value_width(chart) / width);
    struct bars b = {sheet, chart, where, width / most};
    axes_put(&b, most);
    names_put(&b);
    marks_put(&b);
    if (chart->kind == MGB_CHART_STACKED)
        sums_put(&b);
    for (size_t s = 0; s < chart->series_count; s++) {
        series_put(&b, s, number);
        if (has_intervals(&chart->series[s], INFINITY))
            intervals_put(&b, s, number);
    }
    const char *before = "plot ";
    for (size_t s = 0; s < chart->series_count; s++) {
        if (chart->series[s].count == 0)
            continue;
        fprintf(sheet->out,
                "%s$bars%zu_%zu using 1:2:3:4:5:6 with boxxyerror fs solid 1 border lc rgb "
                "'#666666' fc rgb '%s'",
                before, number, s, mgb_look_get(chart->series[s].style)->color);
        before = ", ";
        if (has_intervals(&chart->series[s], mgb_chart_y_range(chart).high))
            fprintf(sheet->out,
                    ", $range%zu_%zu using 1:2:3:4 with xerrorbars pt 0 lw 2 lc rgb '#000000'",
                    number, s);
    }
    fputs(before[0] == ',' ? "\n" : "plot NaN\n", sheet->out);
}
