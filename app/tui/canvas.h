/* A picture of the screen in memory: cells of characters and styles. Views draw on it, so that they can be tested without
 * a terminal; terminal.c copies it to one.
 *
 * Coordinates: y counts rows from the top, x columns from the left, both from 0 of the canvas. What a rectangle does not
 * hold is clipped; nothing is ever drawn outside of it. */
#ifndef APP_TUI_CANVAS_H
#define APP_TUI_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a cell means; terminal.c says how that looks in colour, in monochrome, and for the colour-blind. */
enum tui_style {
    TUI_PLAIN,
    TUI_DIM,
    TUI_STRONG,
    TUI_TITLE,    /* the head line and rules */
    TUI_KEY,      /* what can be pressed */
    TUI_GOOD,     /* faster, equal; never the only sign of it */
    TUI_BAD,      /* slower, different, failed */
    TUI_WARN,     /* pending, warnings */
    TUI_SELECTED, /* the row in hand */
    TUI_MARKED,
    TUI_SERIES, /* and the next 7: phases and curves */
    TUI_STYLE_COUNT = TUI_SERIES + 8
};

struct tui_cell {
    uint32_t point; /* 0: the right half of a wide character */
    uint8_t style;
};

struct tui_rect {
    int y, x, rows, columns;
};

struct tui_canvas {
    int rows, columns;
    bool utf8; /* else every character beyond ASCII is drawn as '?' or its ASCII twin */
    struct tui_cell *cells; /* rows * columns, row by row */
};

/* All blank; false: no memory, and the canvas is 0 x 0. Sizes below 0 count as 0. */
bool tui_canvas_init(struct tui_canvas *canvas, int rows, int columns, bool utf8);
void tui_canvas_done(struct tui_canvas *canvas);
bool tui_canvas_resize(struct tui_canvas *canvas, int rows, int columns); /* and blanks it */
void tui_canvas_blank(struct tui_canvas *canvas);

struct tui_rect tui_canvas_whole(const struct tui_canvas *canvas);
/* The part of `rect` that lies in `within`. */
struct tui_rect tui_rect_clip(struct tui_rect rect, struct tui_rect within);
/* Row `row` of it, counted from its top. */
struct tui_rect tui_rect_row(struct tui_rect rect, int row);
/* Without its first `rows` rows and `columns` columns. */
struct tui_rect tui_rect_inside(struct tui_rect rect, int rows, int columns);

/* Draws a UTF-8 text into row `y`, from column `x` of `rect` on, both counted from the rectangle's corner; controls and
 * bytes that are no UTF-8 become \x1b and such. Returns the column after it. */
int tui_put(struct tui_canvas *canvas, struct tui_rect rect, int y, int x, enum tui_style style,
            const char *text);
/* Columns that tui_put takes for it. */
int tui_text_width(const struct tui_canvas *canvas, const char *text);
int tui_print(struct tui_canvas *canvas, struct tui_rect rect, int y, int x, enum tui_style style,
              const char *format, ...) __attribute__((format(printf, 6, 7)));
/* So that it ends before column `x`. */
int tui_put_right(struct tui_canvas *canvas, struct tui_rect rect, int y, int x,
                  enum tui_style style, const char *text);
/* `count` times the same character; one beyond ASCII is drawn as `ascii` without UTF-8. */
void tui_fill(struct tui_canvas *canvas, struct tui_rect rect, int y, int x, int count,
              enum tui_style style, uint32_t point, char ascii);
/* Changes the style of what stands there. */
void tui_restyle(struct tui_canvas *canvas, struct tui_rect rect, enum tui_style style);
/* "-- TITLE -------- right --" in row y of `rect`. */
void tui_rule(struct tui_canvas *canvas, struct tui_rect rect, int y, const char *title,
              const char *right);

/* What is shown in a cell: 0 right of a wide character, a blank for half of one. Outside of the canvas: a blank. */
uint32_t tui_cell_point(const struct tui_canvas *canvas, int y, int x);
/* A point as UTF-8, ended by 0; returns its bytes. */
size_t tui_point_write(char out[5], uint32_t point);

/* The canvas as lines of UTF-8 with newlines, blanks at the ends left out; to be freed, NULL: no memory. */
char *tui_canvas_text(const struct tui_canvas *canvas);

#endif
