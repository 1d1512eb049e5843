/* Building pictures. See chart.h. */
#include "app/plot/chart.h"
#include <math.h>
#include <mgb/text.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void series_done(struct mgb_chart_series *series)
{
    free(series->label);
    free(series->points);
}

static void chart_done(struct mgb_chart *chart)
{
    for (size_t i = 0; i < chart->category_count; i++)
        free(chart->categories[i]);
    for (size_t i = 0; i < chart->series_count; i++)
        series_done(&chart->series[i]);
    for (size_t i = 0; i < chart->mark_count; i++)
        free(chart->marks[i].label);
    series_done(&chart->ideal);
    free(chart->title);
    free(chart->x_label);
    free(chart->y_label);
    free(chart->categories);
    free(chart->series);
    free(chart->marks);
}

void mgb_picture_init(struct mgb_picture *out)
{
    *out = (struct mgb_picture){0};
}

void mgb_picture_done(struct mgb_picture *picture)
{
    for (size_t i = 0; i < picture->count; i++) {
        chart_done(picture->panels[i]);
        free(picture->panels[i]);
    }
    chart_done(&picture->spare);
    free(picture->panels);
    free(picture->title);
    free(picture->subtitle);
    free(picture->note);
    *picture = (struct mgb_picture){0};
}

/* As it can be shown: names come from results files of others too. NULL: memory is out. */
static char *text_copy(const char *text)
{
    size_t left = strlen(text), used = 1;
    char *copy = malloc(left * 4 + MGB_CHARACTER_SHOWN), *to = copy;
    for (; copy && left > 0; text += used, left -= used)
        if (*text == '\n') {
            *to++ = '\n';
            used = 1;
        } else {
            to += mgb_character_show(to, &used, text, left);
        }
    if (copy)
        *to = '\0';
    return copy;
}

void mgb_picture_say(char **text, bool *failed, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *made = NULL;
    if (vasprintf(&made, format, arguments) < 0)
        made = NULL;
    va_end(arguments);
    free(*text);
    *text = made ? text_copy(made) : NULL;
    *failed = *failed || !*text;
    free(made);
}

/* Room for one more in a list of `count` elements, which grows by doubling. NULL: memory is out. */
static void *list_grow(void *list, size_t count, size_t size)
{
    if (count != 0 && (count < 8 || (count & (count - 1)) != 0))
        return list;
    return realloc(list, (count < 8 ? 8 : count * 2) * size);
}

struct mgb_chart *mgb_picture_add(struct mgb_picture *picture, enum mgb_chart_kind kind)
{
    struct mgb_chart **panels =
        list_grow(picture->panels, picture->count, sizeof(struct mgb_chart *));
    struct mgb_chart *chart = calloc(1, sizeof *chart);
    if (panels)
        picture->panels = panels;
    if (!panels || !chart) {
        free(chart);
        picture->failed = true;
        return &picture->spare;
    }
    chart->kind = kind;
    return picture->panels[picture->count++] = chart;
}

void mgb_picture_drop(struct mgb_picture *picture)
{
    if (picture->count == 0)
        return;
    struct mgb_chart *chart = picture->panels[--picture->count];
    chart_done(chart);
    free(chart);
}

void mgb_picture_align(struct mgb_picture *picture)
{
    double most = 0;
    for (size_t i = 0; i < picture->count; i++)
        most = fmax(most, mgb_chart_y_range(picture->panels[i]).high);
    for (size_t i = 0; i < picture->count; i++)
        picture->panels[i]->y_most = most;
}

int mgb_chart_add_category(struct mgb_chart *chart, const char *label)
{
    char *copy = text_copy(label);
    char **list = list_grow(chart->categories, chart->category_count, sizeof *list);
    if (list)
        chart->categories = list;
    if (!list || !copy) {
        free(copy);
        chart->failed = true;
        return -1;
    }
    chart->categories[chart->category_count] = copy;
    return (int)chart->category_count++;
}

int mgb_chart_add_series(struct mgb_chart *chart, const char *label)
{
    char *copy = text_copy(label);
    struct mgb_chart_series *list = list_grow(chart->series, chart->series_count, sizeof *list);
    if (list)
        chart->series = list;
    if (!list || !copy) {
        free(copy);
        chart->failed = true;
        return -1;
    }
    chart->series[chart->series_count] =
        (struct mgb_chart_series){.label = copy, .style = (int)chart->series_count};
    return (int)chart->series_count++;
}

static void point_add(struct mgb_chart *chart, struct mgb_chart_series *series,
                      struct mgb_chart_point point)
{
    struct mgb_chart_point *list = list_grow(series->points, series->count, sizeof *list);
    if (!list) {
        chart->failed = true;
        return;
    }
    series->points = list;
    size_t at = series->count++;
    for (; at > 0 && list[at - 1].x > point.x; at--) /* lines go from left to right */
        list[at] = list[at - 1];
    list[at] = point;
}

void mgb_chart_add_point(struct mgb_chart *chart, int series, double x, double y, double low,
                         double high)
{
    if (series >= 0 && isfinite(x) && isfinite(y))
        point_add(chart, &chart->series[series], (struct mgb_chart_point){x, y, low, high});
}

void mgb_chart_add_ideal(struct mgb_chart *chart, const char *label, double x, double y)
{
    if (!chart->ideal.label)
        mgb_picture_say(&chart->ideal.label, &chart->failed, "%s", label);
    if (isfinite(x) && isfinite(y))
        point_add(chart, &chart->ideal, (struct mgb_chart_point){x, y, NAN, NAN});
}

void mgb_chart_add_mark(struct mgb_chart *chart, enum mgb_mark_kind kind, double x, double y,
                        const char *label)
{
    char *copy = text_copy(label);
    struct mgb_chart_mark *list = list_grow(chart->marks, chart->mark_count, sizeof *list);
    if (list)
        chart->marks = list;
    if (!list || !copy) {
        free(copy);
        chart->failed = true;
        return;
    }
    chart->marks[chart->mark_count++] = (struct mgb_chart_mark){kind, x, y, copy};
}

bool mgb_chart_is_bars(const struct mgb_chart *chart)
{
    return chart->kind == MGB_CHART_BARS || chart->kind == MGB_CHART_STACKED;
}

enum mgb_status mgb_picture_check(const struct mgb_picture *picture)
{
    bool failed = picture->failed;
    for (size_t i = 0; i < picture->count; i++)
        failed = failed || picture->panels[i]->failed;
    return failed ? mgb_fail(MGB_NO_MEMORY, "drawing a picture: memory is exhausted") : MGB_OK;
}
