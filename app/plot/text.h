/* Pictures as text, for terminals and where nothing draws: bars by characters, points on a grid. */
#ifndef MGB_APP_PLOT_TEXT_H
#define MGB_APP_PLOT_TEXT_H

#include "app/plot/chart.h"
#include <stdio.h>

struct mgb_text_style {
    int width; /* columns; 0: 80 */
    bool utf8; /* blocks and shapes, else ASCII */
};

/* What fits the screen behind standard output and the locale of characters. */
struct mgb_text_style mgb_text_style_find(void);

/* MGB_IO when `out` takes no more. */
enum mgb_status mgb_picture_print(const struct mgb_picture *picture,
                                  const struct mgb_text_style *style, FILE *out);

/* For text.c: one panel of each sort. */
void mgb_text_bars_print(const struct mgb_chart *chart, const struct mgb_text_style *style,
                         FILE *out);
void mgb_text_grid_print(const struct mgb_chart *chart, const struct mgb_text_style *style,
                         FILE *out);

#endif
