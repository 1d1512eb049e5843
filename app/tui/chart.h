/* Step times as a chart of characters: braille dots where there is UTF-8, else '#'. Colour is never the only sign: each
 * segment begins with an upright line. */
#ifndef APP_TUI_CHART_H
#define APP_TUI_CHART_H

#include "app/session/workbench/snapshot.h"
#include "app/tui/canvas.h"

/* Draws the newest steps that fit into `area`, with a scale at the left; warm-up steps dimmed. `now_ms`, `before_ms`:
 * medians to be drawn as lines, NaN: none. `letter(segment)`: what the toggle that began it was, 0: nothing. */
struct tui_chart_request {
    const struct mgb_bench_history *history; /* NULL: an empty chart */
    double now_ms, before_ms;
};
void tui_chart_steps(struct tui_canvas *canvas, struct tui_rect area,
                     const struct tui_chart_request *request);

/* A bar of parts, each a letter and a share of `total` (phases of a step): "i.fffffffbbbbb--w". */
struct tui_bar_part {
    char letter;
    enum tui_style style;
    double share;
};
void tui_chart_bar(struct tui_canvas *canvas, struct tui_rect area, int y, int x, int columns,
                   const struct tui_bar_part *parts, int count);

/* The letter and style of a phase: i f(etch as '.') f b j s u w, as the legend on the help screen says. */
char tui_phase_letter(enum mgb_phase phase);
enum tui_style tui_phase_style(enum mgb_phase phase);

#endif
