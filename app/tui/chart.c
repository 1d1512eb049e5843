/* See chart.h. Steps become points (one step or the median of several of one segment), points become columns of cells, and
 * each segment begins with a column for its line. */
#include "app/tui/chart.h"

#include "app/tui/list.h"

#include <math.h>
#include <string.h>

enum { SCALE_COLUMNS = 7, MOST_POINTS = MGB_BENCH_STEPS };

struct point {
    double ms;
    bool warmup, first; /* first: of its segment */
    int segment;
};

struct points {
    int count, pool; /* pool: steps in a point */
    struct point at[MOST_POINTS];
    double low, high; /* of the scale, ms */
};

static void values_sort(double *values, int count)
{
    for (int i = 1; i < count; i++) {
        double value = values[i];
        int k = i;
        for (; k > 0 && values[k - 1] > value; k--)
            values[k] = values[k - 1];
        values[k] = value;
    }
}

/* The step the chart begins with, and how many steps a point is: so that the newest segment takes three quarters at most,
 * and all `fit` points are used. */
static int first_step(const struct mgb_bench_history *history, int fit, int *pool)
{
    int begin = history->count, segment = history->at[history->count - 1].segment;
    while (begin > 0 && history->at[begin - 1].segment == segment)
        begin--;
    int now = history->count - begin, room = fit - fit / 4 > 0 ? fit - fit / 4 : 1;
    *pool = (now + room - 1) / room;
    return *pool * fit < history->count ? history->count - *pool * fit : 0;
}

/* Points of the steps from `from` on, never of two segments. */
static void points_pool(struct points *out, const struct mgb_bench_history *history, int from)
{
    double pooled[(MGB_BENCH_STEPS + 1) / 2];
    int most = (int)(sizeof pooled / sizeof *pooled);
    out->count = 0;
    for (int i = from; i < history->count && out->count < MOST_POINTS;) {
        const struct mgb_bench_step *step = &history->at[i];
        int n = 0;
        for (; n < out->pool && n < most && i < history->count &&
               history->at[i].segment == step->segment && history->at[i].warmup == step->warmup;
             n++, i++)
            pooled[n] = (double)history->at[i].wall_ns / 1e6;
        struct point *point = &out->at[out->count];
        bool first = out->count > 0 ? point[-1].segment != step->segment
                                    : step == history->at || step[-1].segment != step->segment;
        *point = (struct point){.warmup = step->warmup, .first = first, .segment = step->segment};
        values_sort(pooled, n);
        point->ms = pooled[n / 2];
        out->count++;
    }
}

/* Cells of the points from `from` on: `dots` of them in one, a cell for each segment's line. */
static int points_cells(const struct points *points, int from, int dots)
{
    int cells = 0, in_cell = dots;
    for (int i = from; i < points->count; i++) {
        bool cut =
            i == from || points->at[i].first || points->at[i].warmup != points->at[i - 1].warmup;
        cells += points->at[i].first ? 1 : 0;
        if (cut || in_cell == dots)
            cells++, in_cell = 0;
        in_cell++;
    }
    return cells;
}

static void points_scale(struct points *points, double before_ms)
{
    double low = before_ms, high = before_ms, values[MOST_POINTS];
    int timed = 0;
    for (int i = 0; i < points->count; i++)
        if (!points->at[i].warmup)
            values[timed++] = points->at[i].ms;
    for (int i = 0; timed == 0 && i < points->count; i++)
        values[i] = points->at[i].ms;
    int count = timed > 0 ? timed : points->count;
    values_sort(values, count);
    double cap = 1.25 * values[(count - 1) * 95 / 100]; /* single slow steps stand at the border */
    for (int i = 0; i < count; i++) {                   /* fmin and fmax pass over NaN */
        low = fmin(low, values[i]);
        high = fmax(high, fmin(values[i], cap));
    }
    double least = .1 * high; /* so that noise does not look like a difference */
    if (high - low < least) {
        double middle = (high + low) / 2;
        low = fmax(0, middle - least / 2), high = low + least;
    }
    points->low = low;
    points->high = high > low ? high : low + 1;
}

/* Level of a time, from 0 to levels - 1. */
static int level_of(const struct points *points, double ms, int levels)
{
    double share = (ms - points->low) / (points->high - points->low);
    double level = floor(share * levels);
    return !(level > 0) ? 0 : level > levels - 1 ? levels - 1 : (int)level;
}

static void scale_draw(struct tui_canvas *canvas, struct tui_rect area, const struct points *points)
{
    for (int y = 0; y < area.rows; y++) {
        double share = area.rows > 1 ? 1 - (double)y / (area.rows - 1) : .5;
        char text[24];
        tui_number(text, sizeof text, points->low + share * (points->high - points->low));
        bool told = y == 0 || y == area.rows - 1 ||
                    (area.rows > 4 ? y % 2 == 0 && y < area.rows - 2 : true);
        if (told)
            tui_put_right(canvas, area, y, SCALE_COLUMNS - 1, TUI_DIM, text);
        tui_fill(canvas, area, y, SCALE_COLUMNS - 1, 1, TUI_DIM, 0x2502, '|');
    }
}

/* Which dot of a braille character stands in column 0 or 1 and row 0 to 3 from the top (Unicode 2800, "Braille Patterns"). */
static uint32_t braille_dot(int column, int row)
{
    static const uint8_t dots[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};
    return dots[column][row];
}

struct brush {
    struct tui_canvas *canvas;
    struct tui_rect plot;
    const struct points *points;
    double before_ms;
    bool newest; /* in the newest segment */
};

/* The median before, where nothing else stands in the newest segment. */
static void before_draw(const struct brush *b, int x, uint64_t used)
{
    if (isnan(b->before_ms) || !b->newest)
        return;
    int y = b->plot.rows - 1 - level_of(b->points, b->before_ms, b->plot.rows);
    if (y > 63 || !(used >> y & 1))
        tui_fill(b->canvas, b->plot, y, x, 1, TUI_DIM, 0x2504, '-');
}

static void cell_draw(const struct brush *b, int x, const struct point *points, int count)
{
    int rows = b->plot.rows;
    uint64_t used = 0;
    if (points->warmup || !b->canvas->utf8) {
        for (int i = 0; i < count; i++) {
            int y = rows - 1 - level_of(b->points, points[i].ms, rows);
            used |= y < 64 ? UINT64_C(1) << y : 0;
            tui_fill(b->canvas, b->plot, y, x, 1, points->warmup ? TUI_DIM : TUI_SERIES,
                     points->warmup ? '.' : '#', points->warmup ? '.' : '#');
        }
        before_draw(b, x, used);
        return;
    }
    for (int y = 0; y < rows; y++) {
        uint32_t dots = 0;
        for (int i = 0; i < count; i++) {
            int row = 4 * rows - 1 - level_of(b->points, points[i].ms, 4 * rows);
            dots |= row / 4 == y ? braille_dot(i, row % 4) : 0;
        }
        used |= dots && y < 64 ? UINT64_C(1) << y : 0;
        if (dots)
            tui_fill(b->canvas, b->plot, y, x, 1, TUI_SERIES, 0x2800 + dots, '#');
    }
    before_draw(b, x, used);
}

static void points_draw(const struct brush *brush, int from, int dots)
{
    struct brush b = *brush;
    const struct points *points = b.points;
    int x = 0, newest = points->at[points->count - 1].segment;
    for (int i = from; i < points->count;) {
        const struct point *at = &points->at[i];
        int n = 1;
        while (n < dots && i + n < points->count && !at[n].first && at[n].warmup == at->warmup)
            n++;
        b.newest = at->segment == newest;
        for (int y = 0; y < b.plot.rows && at->first && x > 0;
             y++) /* at 0 the scale's line stands */
            tui_fill(b.canvas, b.plot, y, x, 1, TUI_STRONG, 0x2502, '|');
        x += at->first && x > 0;
        cell_draw(&b, x++, at, n);
        i += n;
    }
}

int tui_chart_steps(struct tui_canvas *canvas, struct tui_rect area,
                    const struct tui_chart_request *request)
{
    const struct mgb_bench_history *history = request->history;
    struct tui_rect plot = tui_rect_inside(area, 0, SCALE_COLUMNS);
    int dots = canvas->utf8 ? 2 : 1, fit = dots * (plot.columns - 3);
    if (!history || history->count < 1 || plot.rows < 1 || plot.columns < 4)
        return 0;
    fit = fit < MOST_POINTS ? fit : MOST_POINTS;
    struct points points;
    int from = first_step(history, fit, &points.pool);
    points_pool(&points, history, from);
    int begin = 0;
    while (begin < points.count - 1 && points_cells(&points, begin, dots) > plot.columns)
        begin++;
    points_scale(&points, request->before_ms);
    scale_draw(canvas, area, &points);
    points_draw(
        &(struct brush){
            .canvas = canvas, .plot = plot, .points = &points, .before_ms = request->before_ms},
        begin, dots);
    return points.pool;
}
