/* Step times as a chart of characters: braille dots where there is UTF-8, else '#'. Colour is never the only sign: each
 * segment begins with an upright line, and warm-up steps are points of their own kind. */
#ifndef APP_TUI_CHART_H
#define APP_TUI_CHART_H

#include "app/session/workbench/snapshot.h"
#include "app/tui/canvas.h"

/* Draws the newest steps: as many as fit, but no more than three quarters of the newest segment; where that has more, a point
 * is the median of several steps. A scale stands at the left; '.' is a warm-up step,
 * times beyond the scale are drawn at its border. Returns how many steps a point is, 0: there is nothing to draw. */
struct tui_chart_request {
    const struct mgb_bench_history *history; /* NULL: an empty chart */
    double before_ms; /* the median to compare the newest segment with, as a line; NaN: none */
};
int tui_chart_steps(struct tui_canvas *canvas, struct tui_rect area,
                    const struct tui_chart_request *request);

/* A bar of parts, each a letter and its share of `columns`, which add up to 1 at most: "i.fffffffbbbbb--w". A part whose share is
 * above 0 has a letter at least while there is room. */
struct tui_bar_part {
    char letter;
    enum tui_style style;
    double share;
};
enum { TUI_BAR_MOST = 16 };
void tui_chart_bar(struct tui_canvas *canvas, struct tui_rect area, int y, int x, int columns,
                   const struct tui_bar_part *parts, int count);

/* The letter and style of a phase: i(nput) .(fetch) f(orward) b(ackward) j(oin) s(um) u(pdate) w(ait). */
char tui_phase_letter(enum mgb_phase phase);
enum tui_style tui_phase_style(enum mgb_phase phase);

#endif
