/* What the files of the terminal share. */
#ifndef APP_TUI_TERMINAL_PRIVATE_H
#define APP_TUI_TERMINAL_PRIVATE_H

#define NCURSES_WIDECHAR 1

#include "app/tui/terminal.h"

#include <curses.h>
#include <stdint.h>
#include <stdio.h>

enum { TUI_EVENTS = 16 };

struct tui_terminal {
    SCREEN *screen; /* NULL: not open */
    WINDOW *keys;   /* a pad: reading from it never draws */
    FILE *in_file, *out_file;
    int in, out;
    bool utf8, color, mouse, redraw;
    attr_t attributes[TUI_STYLE_COUNT];
    short pairs[TUI_STYLE_COUNT];
    struct tui_canvas shown;   /* what was copied last */
    MEVENT events[TUI_EVENTS]; /* of the mouse, that wait; the newest first */
    int event_count;
    struct tui_mouse click; /* the last one, to tell a double click by */
    int64_t click_ns;
};
extern struct tui_terminal tui_terminal;

/* terminal_style.c: colours and attributes of this terminal. */
void tui_terminal_styles(bool color);
/* terminal_rescue.c: remembers what tui_terminal_rescue needs; before the screen is started. */
void tui_terminal_rescue_prepare(int in, int out, int drawn);
void tui_terminal_rescue_forget(void);
/* Modes only, of a terminal that can no longer be written to. */
void tui_terminal_rescue_modes(int in);
/* Since then nothing may be drawn: the process is about to end. */
bool tui_terminal_is_rescued(void);
/* terminal_size.c: the size that the system tells; true: it is another one than before, and in force now. */
bool tui_terminal_resized(void);
bool tui_terminal_tells_size(int out); /* false: the usual size is taken */

#endif
