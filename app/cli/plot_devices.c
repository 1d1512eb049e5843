/* Where a step's memory and time are, device by device: a panel a placement. */
#include "app/cli/plot_charts.h"
#include <math.h>
#include <mgb/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parts { /* of one segment, while rows come */
    struct mgb_chart *chart;
    double unit;   /* bytes or ns of a unit of the axis */
    double widest; /* longest row so far */
    bool measured;
    FILE *beside;          /* what does not fit on the axis, in words */
    double fullest;        /* bytes of the fullest GPU, by the plan */
    char fullest_name[40]; /* of it */
};

static double number_of(const struct mgb_value *value)
{
    return value->kind == MGB_VALUE_INT    ? (double)value->integer
           : value->kind == MGB_VALUE_REAL ? value->real
                                           : NAN;
}

static int row_find(struct mgb_chart *chart, const char *name)
{
    for (size_t i = 0; i < chart->category_count; i++)
        if (strcmp(chart->categories[i], name) == 0)
            return (int)i;
    return mgb_chart_add_category(chart, name);
}

/* All categories of memory, in the order of the stack; the same colour everywhere. */
static const char *const categories[] = {"weights",     "replicas", "gradients",
                                         "activations", "slots",    "workspace",
                                         "merge",       "leftover", "input"};
/* Those that compute stand first. */
static const char *const phases[] = {"forward", "backward", "update", "fetch",
                                     "join",    "sum",      "input",  "wait"};
/* Of each: its look. What computes is dark, what moves bytes is light, waiting is lightest. */
static const int phase_styles[] = {0, 2, 3, 4, 5, 1, 7, 8};

static int series_of(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

static void series_add(struct mgb_chart *chart, const char *const *names, const int *styles,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int series = mgb_chart_add_series(chart, names[i]);
        if (series >= 0 && styles)
            chart->series[series].style = styles[i];
    }
}

/* Parts that are nothing anywhere leave the legend. */
static void series_trim(struct mgb_chart *chart)
{
    size_t kept = 0;
    for (size_t i = 0; i < chart->series_count; i++) {
        if (chart->series[i].count > 0) {
            chart->series[kept++] = chart->series[i];
            continue;
        }
        free(chart->series[i].label);
        free(chart->series[i].points);
    }
    chart->series_count = kept;
}

static enum mgb_status memory_row(void *context, const struct mgb_value *v, int count)
{
    struct parts *p = context;
    char planned[80], measured[80];
    int series = series_of(categories, 9, mgb_value_text(&v[1]));
    (void)count;
    snprintf(planned, sizeof planned, "%s planned", mgb_value_text(&v[0]));
    snprintf(measured, sizeof measured, "%s measured", mgb_value_text(&v[0]));
    double peak = number_of(&v[3]);
    mgb_chart_add_point(p->chart, series, row_find(p->chart, planned), number_of(&v[2]) / p->unit,
                        NAN, NAN);
    if (p->measured)
        mgb_chart_add_point(p->chart, series, row_find(p->chart, measured), peak / p->unit, NAN,
                            NAN);
    return MGB_OK;
}

static enum mgb_status capacity_row(void *context, const struct mgb_value *v, int count)
{
    struct parts *p = context;
    char row[80], size[40];
    (void)count;
    for (int i = 0; i < 2; i++) {
        snprintf(row, sizeof row, "%s %s", mgb_value_text(&v[0]), i == 0 ? "planned" : "measured");
        double peak = number_of(&v[1 + i]), capacity = number_of(&v[3]);
        if ((i == 1 && !p->measured) || (!(peak > 0) && i == 0))
            continue;
        if (i == 0 && peak > p->fullest && strstr(mgb_value_text(&v[0]), "/gpu:")) {
            p->fullest = peak;
            snprintf(p->fullest_name, sizeof p->fullest_name, "%s", mgb_value_text(&v[0]));
        }
        int at = row_find(p->chart, row);
        if (capacity > 0 && capacity / p->unit <= 4 * p->widest)
            mgb_chart_add_mark(p->chart, MGB_MARK_LIMIT, at, capacity / p->unit, "capacity");
        else if (capacity > 0 && i == 0)
            fprintf(p->beside, ". Capacity of %s: %s, beyond the axis", mgb_value_text(&v[0]),
                    mgb_format_bytes(size, sizeof size, (long long)capacity));
        if (peak > 0)
            mgb_chart_add_mark(p->chart, MGB_MARK_LIMIT, at, peak / p->unit, "peak of the device");
    }
    return MGB_OK;
}

static enum mgb_status scale_row(void *context, const struct mgb_value *v, int count)
{
    double *most = context; /* bytes; how many are measured */
    (void)count;
    most[0] = fmax(number_of(&v[0]), 0);
    most[1] = number_of(&v[1]);
    return MGB_OK;
}

static enum mgb_status segment_ask(struct mgb_reader *reader, const char *sql, int64_t segment,
                                   void *context,
                                   enum mgb_status (*row)(void *, const struct mgb_value *, int))
{
    struct mgb_value id = mgb_value_of_int(segment);
    struct mgb_query_sink sink = {context, NULL, row};
    return mgb_query_run(reader, sql, &id, 1, &sink);
}

/* Words of a panel: subject, placement, and what else the caller wrote to `beside`. */
static void panel_title(struct mgb_chart *chart, const struct plot_cells *cells,
                        const struct plot_cell *cell, const char *beside)
{
    char *prefix = plot_prefix(cells, cell), number[40];
    mgb_picture_say(&chart->title, &chart->failed,
                    "%sRun %lld: %lld GPU%s, global batch %lld, %s (%s), %s ms a step%s",
                    prefix ? prefix : "", (long long)cell->run, (long long)cell->gpus,
                    cell->gpus == 1 ? "" : "s", (long long)cell->global_batch,
                    cell->values[PLOT_PLACES], cell->values[PLOT_STRATEGY],
                    mgb_format_figure(number, cell->ms), beside ? beside : "");
    free(prefix);
}

/* most[0]: bytes of the fullest device; most[1]: how many of its categories were measured. */
static enum mgb_status memory_scale(double most[2], struct mgb_reader *reader, int64_t segment)
{
    most[0] = most[1] = 0;
    return segment_ask(reader,
                       "SELECT max(n), max(m) FROM (SELECT sum(max(coalesce(planned_bytes, 0),"
                       " coalesce(peak_bytes, 0))) AS n, count(peak_bytes) AS m FROM memory"
                       " WHERE segment_id = ? GROUP BY device)",
                       segment, most, scale_row);
}

static enum mgb_status memory_read(struct parts *p, struct mgb_reader *reader, int64_t segment,
                                   double *most)
{
    MGB_TRY(memory_scale(most, reader, segment));
    p->measured = most[1] > 0;
    if (most[0] <= 0)
        return MGB_OK;
    MGB_TRY(segment_ask(reader,
                        "SELECT device, category, planned_bytes, peak_bytes FROM memory"
                        " WHERE segment_id = ? ORDER BY device LIKE '%/cpu:%', device",
                        segment, p, memory_row));
    return segment_ask(reader,
                       "SELECT device, planned_bytes, peak_bytes, capacity_bytes FROM memory_total"
                       " WHERE segment_id = ? ORDER BY device LIKE '%/cpu:%', device",
                       segment, p, capacity_row);
}

/* `scale`: bytes of the fullest device of all panels. */
static enum mgb_status memory_draw(struct mgb_picture *picture, const struct plot_cells *cells,
                                   const struct plot_cell *cell, struct mgb_reader *reader,
                                   double scale, bool *drawn)
{
    char *beside = NULL;
    size_t size;
    double most[2] = {0, 0};
    struct parts p = {.beside = open_memstream(&beside, &size)};
    if (!p.beside)
        return mgb_fail(MGB_NO_MEMORY, "making a plot: memory is exhausted");
    p.unit = scale >= 4 * 1073741824.0 ? 1073741824.0 : scale >= 1048576.0 ? 1048576.0 : 1024.0;
    p.widest = scale / p.unit;
    p.chart = mgb_picture_add(picture, MGB_CHART_STACKED);
    series_add(p.chart, categories, NULL, 9);
    enum mgb_status status = memory_read(&p, reader, cell->segments[0], most);
    series_trim(p.chart);
    char bytes[40];
    if (p.fullest > 0)
        fprintf(p.beside, ". Fullest GPU: %s with %s", p.fullest_name,
                mgb_format_bytes(bytes, sizeof bytes, (long long)p.fullest));
    p.chart->failed = fclose(p.beside) != 0 || p.chart->failed;
    panel_title(p.chart, cells, cell, beside);
    mgb_picture_say(&p.chart->y_label, &p.chart->failed, "memory, %s (lower is better)",
                    p.unit > 1e9   ? "GiB"
                    : p.unit > 1e6 ? "MiB"
                                   : "KiB");
    free(beside);
    *drawn = status == MGB_OK && most[0] > 0;
    return status;
}

static enum mgb_status phase_row(void *context, const struct mgb_value *v, int count)
{
    struct parts *p = context;
    double share = number_of(&v[2]) * 100;
    (void)count;
    if (share > 0)
        mgb_chart_add_point(p->chart, series_of(phases, 8, mgb_value_text(&v[1])),
                            row_find(p->chart, mgb_value_text(&v[0])), share, NAN, NAN);
    return MGB_OK;
}

static double share_of(const struct mgb_chart *chart, size_t series, size_t row)
{
    for (size_t i = 0; i < chart->series[series].count; i++)
        if (chart->series[series].points[i].x == (double)row)
            return chart->series[series].points[i].y;
    return 0;
}

/* Of the GPU that computes longest: how its time divides. Series are in the order of `phases`. */
static const char *phases_answer(char out[160], const struct mgb_chart *chart)
{
    double most = -1;
    out[0] = '\0';
    for (size_t row = 0; chart->series_count == 8 && row < chart->category_count; row++) {
        double computes = share_of(chart, 0, row) + share_of(chart, 1, row);
        double exchanges = 0;
        for (size_t s = 3; s < 6; s++) /* fetch, join, sum */
            exchanges += share_of(chart, s, row);
        if (!strstr(chart->categories[row], "/gpu:") || computes <= most)
            continue;
        most = computes;
        snprintf(out, 160,
                 ". %s computes %.0f %% of the step, moves and merges %.0f %%, waits %.0f %%",
                 chart->categories[row], computes, exchanges, share_of(chart, 7, row));
    }
    return out;
}

static enum mgb_status phases_draw(struct mgb_picture *picture, const struct plot_cells *cells,
                                   const struct plot_cell *cell, struct mgb_reader *reader,
                                   double scale, bool *drawn)
{
    (void)scale; /* shares are of the same whole everywhere */
    struct parts p = {.chart = mgb_picture_add(picture, MGB_CHART_STACKED)};
    series_add(p.chart, phases, phase_styles, 8);
    enum mgb_status status =
        segment_ask(reader,
                    "SELECT device, phase, exposed_share FROM phase_share WHERE segment_id = ?"
                    " ORDER BY device LIKE '%/cpu:%', device",
                    cell->segments[0], &p, phase_row);
    char answer[160];
    panel_title(p.chart, cells, cell, phases_answer(answer, p.chart));
    series_trim(p.chart);
    mgb_picture_say(&p.chart->y_label, &p.chart->failed, "share of the step's time, %%");
    *drawn = status == MGB_OK && p.chart->category_count > 0;
    return status;
}

typedef enum mgb_status panel_drawer(struct mgb_picture *picture, const struct plot_cells *cells,
                                     const struct plot_cell *cell, struct mgb_reader *reader,
                                     double scale, bool *drawn);

/* A panel a placement; those without figures are left out again. */
static enum mgb_status panels_draw(struct mgb_picture *out, const struct plot_cells *cells,
                                   struct mgb_reader *reader, panel_drawer *draw, double scale,
                                   size_t *left_out)
{
    *left_out = 0;
    for (size_t i = 0; i < cells->count; i++) {
        bool drawn = false;
        if (cells->all[i].oom)
            continue;
        if (out->count == PLOT_PANELS) {
            ++*left_out;
            continue;
        }
        MGB_TRY(draw(out, cells, &cells->all[i], reader, scale, &drawn));
        if (!drawn)
            mgb_picture_drop(out);
    }
    if (out->count > 0)
        return MGB_OK;
    return mgb_fail(MGB_MISSING,
                    "nothing of this is recorded for run %lld of %s; to measure it "
                    "anew: mgbench run %s",
                    (long long)cells->all[0].run, cells->all[0].values[PLOT_MODEL],
                    cells->all[0].values[PLOT_MODEL]);
}

enum mgb_status plot_memory(struct mgb_picture *out, const struct plot_cells *cells,
                            struct mgb_reader *reader)
{
    size_t left_out;
    double scale = 0, most[2];
    for (size_t i = 0; i < cells->count; i++) {
        MGB_TRY(memory_scale(most, reader, cells->all[i].segments[0]));
        scale = fmax(scale, most[0]);
    }
    MGB_TRY(panels_draw(out, cells, reader, memory_draw, scale, &left_out));
    mgb_picture_align(out);
    plot_title(out, "Memory by device", cells);
    mgb_picture_say(&out->subtitle, &out->failed,
                    "Lower is better. Planned: from the plan, before the first step. Measured: the "
                    "most that each category held in the traced step; categories peak at different "
                    "moments, so a row may be longer than the peak of its device.");
    plot_note(out, cells, left_out);
    return MGB_OK;
}

enum mgb_status plot_phases(struct mgb_picture *out, const struct plot_cells *cells,
                            struct mgb_reader *reader)
{
    size_t left_out;
    char count[120];
    MGB_TRY(panels_draw(out, cells, reader, phases_draw, 100, &left_out));
    plot_title(out, "Where a step's time goes, by device", cells);
    mgb_picture_say(&out->subtitle, &out->failed,
                    "Means of %s. A phase counts while the device computes nothing else: what is "
                    "hidden behind computing is not in it. fetch, join and sum are what placement "
                    "costs; wait is idle time (lower is better).",
                    plot_count_text(count, cells));
    plot_note(out, cells, left_out);
    return MGB_OK;
}
