/* The terminal: terminal*.c are the only files that see ncurses. It starts and ends the screen, copies a canvas to it, reads keys, resizes.
 * One thread only. */
#ifndef APP_TUI_TERMINAL_H
#define APP_TUI_TERMINAL_H

#include "app/tui/action.h"
#include "app/tui/canvas.h"

#include <mgb/status.h>

enum tui_color { TUI_COLOR_AUTO, TUI_COLOR_NEVER };

struct tui_terminal_options {
    bool ascii;           /* no character beyond ASCII, whatever the locale says */
    enum tui_color color; /* AUTO: unless NO_COLOR is set or the terminal has none */
    bool mouse;
    int in, out; /* of the terminal: descriptors that stay its, when 0 to 2 are captured */
};

struct tui_mouse {
    int y, x, wheel; /* wheel: +1 down, -1 up, 0: a click */
    bool twice;
};

/* MGB_MISSING, in one line: TERM is unset or unknown, or there is no terminal; the message says what to do. Sets LC_CTYPE
 * only. */
enum mgb_status tui_terminal_open(const struct tui_terminal_options *options);
void tui_terminal_close(
    void); /* back as it was; may be called twice, and after an open that failed */
bool tui_terminal_utf8(void);
void tui_terminal_size(int *rows, int *columns);
/* Copies what changed; the cursor is hidden when y is negative. */
void tui_terminal_show(const struct tui_canvas *canvas, int cursor_y, int cursor_x);
void tui_terminal_redraw(void); /* everything anew with the next show */
/* The next key that is there, TUI_KEY_NONE: none. Resizes come as TUI_KEY_RESIZE, the mouse as TUI_KEY_MOUSE. */
int tui_terminal_key(struct tui_mouse *mouse);
/* False once the terminal is gone (closed, hung up). */
bool tui_terminal_alive(void);
/* To the shell and back: the screen is given back while the process is stopped; tui_terminal_resume takes it again. */
void tui_terminal_suspend(void);
/* After the process was stopped from outside: takes the terminal once more; everything is drawn anew. */
void tui_terminal_resume(void);
/* False while another job of the shell has the terminal: whoever reads it then is stopped. */
bool tui_terminal_foreground(void);
/* Any thread: the descriptor that is drawn on; -1: none. */
int tui_terminal_descriptor(void);
/* From a signal handler, async-signal-safe: the terminal as it was, as far as that can be done there. */
void tui_terminal_rescue(void);

#endif
