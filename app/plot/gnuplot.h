/* Pictures through gnuplot, as SVG or PNG. gnuplot is a program of its own, found on PATH; nothing here links to it. */
#ifndef MGB_APP_PLOT_GNUPLOT_H
#define MGB_APP_PLOT_GNUPLOT_H

#include "app/plot/chart.h"
#include <stdio.h>

enum mgb_picture_format { MGB_PICTURE_SVG, MGB_PICTURE_PNG };

struct mgb_picture_size { /* pixels; 0: what the contents need */
    int width, height;
};

/* By the end of the file's name; MGB_INVALID for another than .svg and .png. */
enum mgb_status mgb_picture_format_find(enum mgb_picture_format *out, const char *path);
/* "900x500"; MGB_INVALID otherwise, or beyond 200 to 10000. */
enum mgb_status mgb_picture_size_read(struct mgb_picture_size *out, const char *text);

/* The script that draws the picture on gnuplot's standard output. */
enum mgb_status mgb_gnuplot_script(const struct mgb_picture *picture,
                                   enum mgb_picture_format format,
                                   const struct mgb_picture_size *size, FILE *out);

/* Whether there is a gnuplot on PATH. */
bool mgb_gnuplot_there(void);

/* Whom to ask, many times a second while gnuplot draws, whether the user wants to stop; NULL: nobody. For the whole
 * process; set before pictures are drawn. */
void mgb_gnuplot_watch(bool (*stop)(void));

/* Draws into `path`, which is replaced when the picture is whole. MGB_MISSING: no gnuplot; MGB_IO: it cannot be written, or
 * gnuplot failed (the message has what it said); MGB_INTERRUPTED: the user asked to stop; MGB_TIMEOUT: gnuplot took longer
 * than MGBENCH_GNUPLOT_TIMEOUT seconds (60; 0: no limit) and was ended. */
enum mgb_status mgb_picture_write(const struct mgb_picture *picture, const char *path,
                                  const struct mgb_picture_size *size);

/* The <svg> element alone, to be placed in a page among others: every id in it begins with `prefix`. To be freed. */
enum mgb_status mgb_picture_inline(char **out, const struct mgb_picture *picture,
                                   const char *prefix);

#endif
