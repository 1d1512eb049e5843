/* Lines and points over two axes, for gnuplot. See gnuplot_private.h. */
#include "app/plot/gnuplot_private.h"
#include <math.h>
#include <string.h>
#include <mgb/text.h>

enum { TICKS = 12 };

static bool has_interval(const struct mgb_chart_point *p)
{
    return isfinite(p->low) && isfinite(p->high);
}

static void series_put(const struct mgb_sheet *sheet, const struct mgb_chart_series *s,
                       const char *name, bool intervals)
{
    fprintf(sheet->out, "$%s << EOD\n", name);
    for (size_t i = 0; i < s->count; i++) {
        const struct mgb_chart_point *p = &s->points[i];
        if (intervals && !has_interval(p))
            continue;
        mgb_sheet_number(sheet, p->x);
        fputc(' ', sheet->out);
        mgb_sheet_number(sheet, intervals ? p->low : p->y);
        if (intervals) {
            fputs(" 0 ", sheet->out);
            mgb_sheet_number(sheet, p->high - p->low);
        }
        fputc('\n', sheet->out);
    }
    fputs("EOD\n", sheet->out);
}

static bool has_intervals(const struct mgb_chart_series *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (has_interval(&s->points[i]))
            return true;
    return false;
}

static void x_axis_put(const struct mgb_sheet *sheet, const struct mgb_chart *chart)
{
    struct mgb_chart_range x = mgb_chart_x_range(chart);
    double pad = (x.high - x.low) * 0.06, factor = pow(x.high / x.low, 0.06);
    double values[TICKS];
    int count = mgb_chart_x_values(chart, values, TICKS);
    if (chart->x_log)
        fputs("set logscale x 2\n", sheet->out);
    fputs("set xrange [", sheet->out);
    mgb_sheet_number(sheet, chart->x_log ? x.low / factor : x.low - pad);
    fputc(':', sheet->out);
    mgb_sheet_number(sheet, chart->x_log ? x.high * factor : x.high + pad);
    fputs("]\nset xtics nomirror out scale 0.5 tc rgb '#000000'", sheet->out);
    for (int i = 0; count < TICKS && i < count; i++) {
        char number[40];
        fprintf(sheet->out, "%s'%s' ", i ? ", " : " (", mgb_format_figure(number, values[i]));
        mgb_sheet_number(sheet, values[i]);
    }
    fputs(count > 0 && count < TICKS ? ")\n" : "\n", sheet->out);
}

static void axes_put(const struct mgb_sheet *sheet, const struct mgb_chart *chart)
{
    struct mgb_chart_range y = mgb_chart_y_range(chart);
    fputs("unset key\nset border 3 lc rgb '#888888'\nset ytics nomirror out scale 0.5 tc rgb "
          "'#000000'\nset grid ytics lc rgb '#dddddd' lt 1\n",
          sheet->out);
    if (chart->y_log)
        fputs("set logscale y\n", sheet->out);
    fputs("set yrange [", sheet->out);
    mgb_sheet_number(sheet, chart->y_log ? y.low / 1.2 : y.low);
    fputc(':', sheet->out);
    mgb_sheet_number(sheet, chart->y_log ? y.high * 1.2 : y.high + (y.high - y.low) * 0.06);
    fputs("]\n", sheet->out);
    x_axis_put(sheet, chart);
    fputs("set xlabel ", sheet->out);
    mgb_sheet_quote(sheet, chart->x_label ? chart->x_label : "", -1);
    fputs(" offset 0,0.3\nset ylabel ", sheet->out);
    mgb_sheet_quote(sheet, chart->y_label ? chart->y_label : "", -1);
    fputs(" offset 0.5,0\n", sheet->out);
}

/* Words along the upright line at x, in lines that are as long as it is; `line` of them are there. Returns how many are. */
static int edge_words(const struct mgb_sheet *sheet, const struct mgb_chart_mark *mark, int line,
                      double height)
{
    int columns = (int)(height * 0.94 / MGB_SHEET_LETTER);
    for (const char *at = mark->label, *rest; *at; at = rest, line++) {
        int length = mgb_plot_wrap(at, columns, &rest);
        fputs("set label ", sheet->out);
        mgb_sheet_quote(sheet, at, length);
        fputs(" at first ", sheet->out);
        mgb_sheet_number(sheet, mark->x);
        fprintf(sheet->out,
                ",graph 0.03 left rotate by 90 offset character %d.%d,0 front tc rgb '#B04000'\n",
                -(9 + 15 * line) / 10, (9 + 15 * line) % 10);
    }
    return line;
}

static void edges_put(const struct mgb_sheet *sheet, const struct mgb_chart *chart, double height)
{
    for (size_t i = 0; i < chart->mark_count; i++) {
        const struct mgb_chart_mark *mark = &chart->marks[i];
        int line = 0;
        bool told = mark->kind != MGB_MARK_EDGE;
        for (size_t k = 0; k < i; k++)
            told = told || (chart->marks[k].kind == MGB_MARK_EDGE && chart->marks[k].x == mark->x);
        if (told)
            continue;
        fputs("set arrow from first ", sheet->out);
        mgb_sheet_number(sheet, mark->x);
        fputs(",graph 0 to first ", sheet->out);
        mgb_sheet_number(sheet, mark->x);
        fputs(",graph 1 nohead lw 1.5 dt 3 lc rgb '#B04000'\n", sheet->out);
        for (size_t k = i; k < chart->mark_count; k++)
            if (chart->marks[k].kind == MGB_MARK_EDGE && chart->marks[k].x == mark->x)
                line = edge_words(sheet, &chart->marks[k], line, height);
    }
}

static void plot_put(const struct mgb_sheet *sheet, const struct mgb_chart *chart, size_t number)
{
    const char *before = "plot ";
    if (chart->ideal.count > 0) {
        fprintf(sheet->out, "%s$ideal%zu using 1:2 with lines lw 2 dt 2 lc rgb '#777777'", before,
                number);
        before = ", ";
    }
    for (size_t s = 0; s < chart->series_count; s++) {
        const struct mgb_look *look = mgb_look_get(chart->series[s].style);
        if (chart->series[s].count == 0)
            continue;
        fprintf(sheet->out, "%s$line%zu_%zu using 1:2 with %s pt %d ps 0.9 lc rgb '%s'", before,
                number, s, chart->kind == MGB_CHART_LINES ? "linespoints lw 2" : "points",
                mgb_look_shape(chart->series[s].style), look->line);
        if (chart->kind == MGB_CHART_LINES)
            fprintf(sheet->out, " dt %d", look->dash);
        before = ", ";
        if (has_intervals(&chart->series[s]))
            fprintf(
                sheet->out,
                ", $range%zu_%zu using 1:2:3:4 with vectors heads size screen 0.004,90 fixed lw "
                "1.5 lc rgb '%s'",
                number, s, look->line);
    }
    fputs(before[0] == ',' ? "\n" : "plot NaN\n", sheet->out);
}

double mgb_gnuplot_axis_width(const struct mgb_chart *chart)
{
    char number[40];
    double high = mgb_chart_y_range(chart).high;
    int width = mgb_plot_width(mgb_format_figure(number, high < 1000 ? high / 10 : high));
    return 40 + width * MGB_SHEET_LETTER;
}

void mgb_gnuplot_lines(const struct mgb_sheet *sheet, const struct mgb_chart *chart,
                       struct mgb_box where, size_t number)
{
    char name[48];
    axes_put(sheet, chart);
    edges_put(sheet, chart, where.bottom - where.top);
    snprintf(name, sizeof name, "ideal%zu", number);
    if (chart->ideal.count > 0)
        series_put(sheet, &chart->ideal, name, false);
    for (size_t s = 0; s < chart->series_count; s++) {
        snprintf(name, sizeof name, "line%zu_%zu", number, s);
        series_put(sheet, &chart->series[s], name, false);
        snprintf(name, sizeof name, "range%zu_%zu", number, s);
        if (has_intervals(&chart->series[s]))
            series_put(sheet, &chart->series[s], name, true);
    }
    plot_put(sheet, chart, number);
}
