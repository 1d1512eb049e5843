/* Where everything goes: a pure function from the size of the terminal and what there is to show. */
#ifndef APP_TUI_LAYOUT_H
#define APP_TUI_LAYOUT_H

#include "app/tui/canvas.h"

enum { TUI_LEAST_ROWS = 10, TUI_LEAST_COLUMNS = 40, TUI_WIDE_COLUMNS = 72 };

struct tui_layout {
    bool too_small; /* below 40 x 10: only `body` is there, for a notice */
    struct tui_rect head, tabs, body, hint, foot; /* a row each, but for the body */
};

struct tui_layout tui_layout_screen(int rows, int columns);

/* The bench's body. A part for which there is no room has no rows; placement, answer and at least one device are always
 * there from the least size on. At 80 x 24 with 4 devices every part is there. `devices`: rows of the phases, `towers` of
 * them come first. */
struct tui_layout_bench {
    struct tui_rect placement, answer; /* side by side, or one below the other when narrow */
    struct tui_rect chart;             /* step times, with its rule */
    struct tui_rect phases; /* a row a device; with a rule when it is higher than phase_rows */
    struct tui_rect facts;  /* bound by, variables, verify */
    int phase_rows;         /* devices that fit; the rest scroll */
};
struct tui_layout_bench tui_layout_bench_make(struct tui_rect body, int devices, int towers);

#endif
