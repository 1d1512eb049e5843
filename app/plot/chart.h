/* A picture as plain data: a heading and panels, each one chart. Built by those who know what the figures mean, written as
 * an SVG or PNG file or as text by those who know how to draw. Knows no Lua, no database, no screen.
 *
 * Texts are copied. Memory running out is remembered and told by the writers, so that building needs no checks. */
#ifndef MGB_APP_PLOT_CHART_H
#define MGB_APP_PLOT_CHART_H

#include <mgb/status.h>
#include <stdbool.h>
#include <stddef.h>

enum mgb_chart_kind {
    MGB_CHART_LINES,  /* points joined by lines, from left to right */
    MGB_CHART_POINTS, /* points alone */
    MGB_CHART_BARS,   /* a row a category, in it a bar a series */
    MGB_CHART_STACKED /* a row a category, the series one after the other */
};

struct mgb_chart_point {
    double x; /* bars: index of the category */
    double y;
    double low, high; /* interval; NaN: none */
};

struct mgb_chart_series {
    char *label; /* "" for a single series without a name */
    int style;   /* colour, dash and point; the same number looks the same in every chart */
    struct mgb_chart_point *points;
    size_t count;
};

enum mgb_mark_kind {
    MGB_MARK_NOTE, /* bars: words in place of the bar of category x, series y */
    MGB_MARK_EDGE, /* lines, points: an upright line at x with its words */
    MGB_MARK_LIMIT /* bars: a stroke at value y across category x; equal words are one entry of the legend */
};

struct mgb_chart_mark {
    enum mgb_mark_kind kind;
    double x, y;
    char *label;
};

struct mgb_chart {
    enum mgb_chart_kind kind;
    char *title;             /* of the panel; NULL: none */
    char *x_label, *y_label; /* with units; of bars y is the axis of values */
    bool x_log, y_log;       /* x_log: base 2 */
    double y_most;           /* its axis reaches so far at least; 0: as far as it needs */
    char **categories;       /* of bars, from the top */
    size_t category_count;
    struct mgb_chart_series *series;
    size_t series_count;
    struct mgb_chart_series ideal; /* lines: what would be perfect; no points: none */
    struct mgb_chart_mark *marks;
    size_t mark_count;
    bool failed; /* memory was out while it was built */
};

struct mgb_picture {
    char *title, *subtitle,
        *note; /* above, below it, at the foot; sentences, wrapped by the writers */
    struct mgb_chart **panels;
    size_t count;
    struct mgb_chart spare; /* stands in for a panel that memory did not suffice for */
    bool failed;
};

void mgb_picture_init(struct mgb_picture *out);
void mgb_picture_done(struct mgb_picture *picture);

/* Sets one of the texts of a picture or chart; `failed` is the flag of the same. */
void mgb_picture_say(char **text, bool *failed, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A new panel, borrowed; never NULL. */
struct mgb_chart *mgb_picture_add(struct mgb_picture *picture, enum mgb_chart_kind kind);
/* Makes all panels' axes of y end alike, so that they can be compared. */
void mgb_picture_align(struct mgb_picture *picture);
/* Takes the newest panel away again. */
void mgb_picture_drop(struct mgb_picture *picture);

/* Indices of what was added; -1 when memory is out, which the others take. */
int mgb_chart_add_category(struct mgb_chart *chart, const char *label);
int mgb_chart_add_series(struct mgb_chart *chart, const char *label);
/* `low` and `high` NaN: no interval. A y of NaN is left out. */
void mgb_chart_add_point(struct mgb_chart *chart, int series, double x, double y, double low,
                         double high);
void mgb_chart_add_ideal(struct mgb_chart *chart, const char *label, double x, double y);
void mgb_chart_add_mark(struct mgb_chart *chart, enum mgb_mark_kind kind, double x, double y,
                        const char *label);

/* Bars are rows of the chart, the others have two axes. */
bool mgb_chart_is_bars(const struct mgb_chart *chart);

/* MGB_NO_MEMORY when something could not be kept. */
enum mgb_status mgb_picture_check(const struct mgb_picture *picture);

/* The smallest and largest of what is drawn, from 0 where the axis is not logarithmic; empty charts give 0 and 1. */
struct mgb_chart_range {
    double low, high;
};
struct mgb_chart_range mgb_chart_x_range(const struct mgb_chart *chart);
struct mgb_chart_range mgb_chart_y_range(const struct mgb_chart *chart);
/* The different x of points, edges and the ideal line, from the left. Returns how many, `most` at most. */
int mgb_chart_x_values(const struct mgb_chart *chart, double *out, int most);

/* Columns of a text, a character of UTF-8 each. */
int mgb_plot_width(const char *text);
/* Bytes of the first line of `text` when lines have `columns` (a longer word sticks out); the next one begins at *rest. */
int mgb_plot_wrap(const char *text, int columns, const char **rest);

#endif
