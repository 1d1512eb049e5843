/* What the parts of the gnuplot writer share: the sheet, places on it, colours. */
#ifndef MGB_APP_PLOT_GNUPLOT_PRIVATE_H
#define MGB_APP_PLOT_GNUPLOT_PRIVATE_H

#include "app/plot/gnuplot.h"

struct mgb_sheet { /* pixels from the top left */
    FILE *out;
    int width, height;
    double stretch; /* of the plots' heights, to fill the height that was asked for */
};

struct mgb_box {
    double left, top, right, bottom;
};

/* Told apart by people who see no red or no green, and by lightness in grey. */
struct mgb_look {
    const char *color; /* of areas */
    const char *ink;   /* of words upon it */
    const char *line;  /* of lines and points */
    int dash;          /* gnuplot's number */
};
const struct mgb_look *mgb_look_get(int style);
int mgb_look_shape(int style); /* of points; gnuplot's number */

#define MGB_SHEET_LETTER 6.9 /* pixels that a letter of the usual size takes, on average */

/* A number with a point in any locale. */
void mgb_sheet_number(const struct mgb_sheet *sheet, double value);
/* 'text', quoted for gnuplot; line breaks become blanks. `length` bytes; < 0: all. */
void mgb_sheet_quote(const struct mgb_sheet *sheet, const char *text, int length);
/* A place in pixels as "screen x, screen y". */
void mgb_sheet_place(const struct mgb_sheet *sheet, double x, double y);
/* Words at a place in pixels; `how` is further gnuplot options. */
void mgb_sheet_words(const struct mgb_sheet *sheet, const char *text, int length, double x,
                     double y, const char *how);
/* A text in lines of `width` pixels; returns the height. `out` NULL in the sheet: only measures. */
double mgb_sheet_paragraph(const struct mgb_sheet *sheet, const char *text, struct mgb_box where,
                           double size, const char *how);

/* The legend's height, and the legend. */
double mgb_legend_height(const struct mgb_chart *chart, double width);
void mgb_legend_draw(const struct mgb_sheet *sheet, const struct mgb_chart *chart,
                     struct mgb_box where);

/* One plot within its frame: `where` is the area between the axes. */
void mgb_gnuplot_bars(const struct mgb_sheet *sheet, const struct mgb_chart *chart,
                      struct mgb_box where, size_t number);
void mgb_gnuplot_lines(const struct mgb_sheet *sheet, const struct mgb_chart *chart,
                       struct mgb_box where, size_t number);
/* Pixels for the numbers and the name of the upright axis. */
double mgb_gnuplot_axis_width(const struct mgb_chart *chart);
/* Pixels that the names of the rows take, `most` at most. */
double mgb_gnuplot_names_width(const struct mgb_chart *chart, double most);

/* Takes gnuplot's own <title>s out of an SVG picture in a file that can be read and written. */
enum mgb_status mgb_gnuplot_svg_clean(int file);

/* Runs the program on open files: script, picture, what it complains of. MGB_MISSING: there is none. MGB_INTERRUPTED: the
 * user asked (mgb_gnuplot_watch). MGB_TIMEOUT: it did not end. MGB_IO: it failed. */
enum mgb_status mgb_gnuplot_run(int script, int picture, int complaints);
/* Fails with what it complained of; `state` as waitpid gives it. */
enum mgb_status mgb_gnuplot_fail(int complaints, int state);

#endif
