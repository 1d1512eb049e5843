/* Copies a canvas to the screen: rows that differ from what was copied last. */
#include "app/tui/terminal_private.h"
#include <poll.h>
#include <wchar.h>

enum { RUN = 256 }; /* cells that are handed over at once */

static void cell_make(cchar_t *out, uint32_t point, uint8_t style)
{
    wchar_t text[2] = {(wchar_t)point, 0};
    style = style < TUI_STYLE_COUNT ? style : TUI_PLAIN;
    if (point >= 0x7f && (!tui_terminal.utf8 || wcwidth(text[0]) < 1))
        text[0] = L'?'; /* newer than what this system knows */
    setcchar(out, text, tui_terminal.attributes[style], tui_terminal.pairs[style], NULL);
}

static void row_copy(const struct tui_canvas *canvas, int y, int columns)
{
    cchar_t run[RUN];
    for (int x = 0, first = 0; x < columns; first = x) {
        int count = 0;
        for (; x < columns && count < RUN; x++) {
            uint32_t point = tui_cell_point(canvas, y, x);
            if (point) /* the right half of a wide one comes with it */
                cell_make(&run[count++], point,
                          canvas->cells[(size_t)y * (size_t)canvas->columns + (size_t)x].style);
        }
        mvadd_wchnstr(y, first, run, count);
    }
}

static bool row_is_same(const struct tui_canvas *canvas, int y)
{
    size_t columns = (size_t)canvas->columns;
    const struct tui_cell *now = canvas->cells + (size_t)y * columns;
    const struct tui_cell *then = tui_terminal.shown.cells + (size_t)y * columns;
    for (size_t x = 0; x < columns; x++)
        if (now[x].point != then[x].point || now[x].style != then[x].style)
            return false;
    return true;
}

static void row_remember(const struct tui_canvas *canvas, int y)
{
    size_t columns = (size_t)canvas->columns;
    for (size_t x = 0; x < columns; x++)
        tui_terminal.shown.cells[(size_t)y * columns + x] = canvas->cells[(size_t)y * columns + x];
}

/* Whether a row can be compared with what was copied last; else everything is copied. */
static bool can_compare(const struct tui_canvas *canvas)
{
    struct tui_terminal *t = &tui_terminal;
    bool same = t->shown.rows == canvas->rows && t->shown.columns == canvas->columns;
    if (same && !t->redraw)
        return true;
    if (!same && !tui_canvas_resize(&t->shown, canvas->rows, canvas->columns))
        t->shown.rows = t->shown.columns = 0;
    erase();
    clearok(curscr, TRUE);
    t->redraw = false;
    return false;
}

void tui_terminal_show(const struct tui_canvas *canvas, int cursor_y, int cursor_x)
{
    if (!tui_terminal.screen || tui_terminal_is_rescued())
        return;
    bool compare = can_compare(canvas);
    bool remember = tui_terminal.shown.rows == canvas->rows;
    int rows = getmaxy(stdscr), columns = getmaxx(stdscr);
    columns = columns < canvas->columns ? columns : canvas->columns;
    for (int y = 0; y < canvas->rows && y < rows; y++) {
        if (compare && row_is_same(canvas, y))
            continue;
        row_copy(canvas, y, columns);
        if (remember)
            row_remember(canvas, y);
    }
    bool cursor = cursor_y >= 0 && cursor_y < rows && cursor_x >= 0 && cursor_x < getmaxx(stdscr);
    curs_set(cursor ? 1 : 0);
    move(cursor ? cursor_y : 0, cursor ? cursor_x : 0);
    refresh();
}

void tui_terminal_redraw(void)
{
    tui_terminal.redraw = true;
}
