/* What both writers work out of a chart: ranges, ticks, numbers, widths of texts. See chart.h. */
#include "app/plot/chart.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void range_take(struct mgb_chart_range *range, double value, bool log)
{
    if (!isfinite(value) || (log && value <= 0))
        return;
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

static struct mgb_chart_range range_close(struct mgb_chart_range range, bool log)
{
    if (!(range.low <= range.high))
        return (struct mgb_chart_range){log ? 1 : 0, log ? 2 : 1};
    if (range.low == range.high)
        range.high = range.high > 0 ? range.high * (log ? 2 : 1.25) : range.low + 1;
    return range;
}

static double largest_y(const struct mgb_chart *chart)
{
    double largest = 0;
    for (size_t s = 0; s < chart->series_count; s++)
        for (size_t i = 0; i < chart->series[s].count; i++)
            largest = fmax(largest, chart->series[s].points[i].y);
    return largest;
}

/* Intervals are shown whole, but a wild one must not flatten all points: what ends beyond twice the largest value is cut. */
static void series_take(struct mgb_chart_range *range, const struct mgb_chart_series *series,
                        bool log, double largest)
{
    for (size_t i = 0; i < series->count; i++) {
        const struct mgb_chart_point *p = &series->points[i];
        range_take(range, p->y, log);
        if (isfinite(p->low) && isfinite(p->high)) {
            range_take(range, log ? fmax(p->low, p->y / 2) : p->low, log);
            range_take(range, p->high < 2 * largest ? p->high : fmin(p->high, 1.4 * p->y), log);
        }
    }
}

/* Of stacked rows the sums count. */
static void rows_take(struct mgb_chart_range *range, const struct mgb_chart *chart)
{
    for (size_t row = 0; row < chart->category_count; row++) {
        double sum = 0;
        for (size_t s = 0; s < chart->series_count; s++)
            for (size_t i = 0; i < chart->series[s].count; i++)
                if (chart->series[s].points[i].x == (double)row)
                    sum += chart->series[s].points[i].y;
        range_take(range, sum, false);
    }
}

struct mgb_chart_range mgb_chart_y_range(const struct mgb_chart *chart)
{
    bool log = chart->y_log && !mgb_chart_is_bars(chart);
    struct mgb_chart_range range = {log ? INFINITY : 0, log ? -INFINITY : 0};
    if (chart->kind == MGB_CHART_STACKED)
        rows_take(&range, chart);
    for (size_t s = 0; chart->kind != MGB_CHART_STACKED && s < chart->series_count; s++)
        series_take(&range, &chart->series[s], log, largest_y(chart));
    series_take(&range, &chart->ideal, log, 0);
    for (size_t i = 0; i < chart->mark_count; i++)
        if (chart->marks[i].kind == MGB_MARK_LIMIT)
            range_take(&range, chart->marks[i].y, log);
    if (chart->y_most > 0)
        range_take(&range, chart->y_most, log);
    return range_close(range, log);
}

struct mgb_chart_range mgb_chart_x_range(const struct mgb_chart *chart)
{
    struct mgb_chart_range range = {INFINITY, -INFINITY};
    for (size_t s = 0; s < chart->series_count; s++)
        for (size_t i = 0; i < chart->series[s].count; i++)
            range_take(&range, chart->series[s].points[i].x, chart->x_log);
    for (size_t i = 0; i < chart->ideal.count; i++)
        range_take(&range, chart->ideal.points[i].x, chart->x_log);
    for (size_t i = 0; i < chart->mark_count; i++)
        if (chart->marks[i].kind == MGB_MARK_EDGE)
            range_take(&range, chart->marks[i].x, chart->x_log);
    return range_close(range, chart->x_log);
}

static int value_insert(double *out, int count, int most, double value)
{
    int at = 0;
    while (at < count && out[at] < value)
        at++;
    if ((at < count && out[at] == value) || count == most)
        return count;
    memmove(out + at + 1, out + at, (size_t)(count - at) * sizeof *out);
    out[at] = value;
    return count + 1;
}

int mgb_chart_x_values(const struct mgb_chart *chart, double *out, int most)
{
    int count = 0;
    for (size_t s = 0; s < chart->series_count; s++)
        for (size_t i = 0; i < chart->series[s].count; i++)
            count = value_insert(out, count, most, chart->series[s].points[i].x);
    for (size_t i = 0; i < chart->mark_count; i++)
        if (chart->marks[i].kind == MGB_MARK_EDGE)
            count = value_insert(out, count, most, chart->marks[i].x);
    return count;
}

int mgb_plot_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

int mgb_plot_wrap(const char *text, int columns, const char **rest)
{
    const char *space = NULL, *at = text;
    for (int width = 0; *at && *at != '\n'; at++) {
        width += ((unsigned char)*at & 0xc0) != 0x80;
        if (width > columns && space)
            break;
        if (*at == ' ' && at[1] != '%')
            space = at;
    }
    const char *end = *at && *at != '\n' ? space : at;
    *rest = *end ? end + 1 : end;
    return (int)(end - text);
}
