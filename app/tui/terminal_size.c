/* How large the terminal is: asked of the system whenever somebody may have changed it, so that no signal is needed. */
#include "app/tui/terminal_private.h"
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>

enum { USUAL_ROWS = 24, USUAL_COLUMNS = 80, MOST = 1000 };

/* As for curses a variable of the environment stands in where the system tells no size; one that is no number of lines, or of
 * more than can be drawn, does not. */
static int size_guess(const char *name, int usual)
{
    const char *text = getenv(name);
    char *end;
    long value = text ? strtol(text, &end, 10) : 0;
    return text && end != text && !*end && value > 0 && value <= MOST ? (int)value : usual;
}

static int size_clamp(int told, const char *name, int usual)
{
    return told <= 0 ? size_guess(name, usual) : told > MOST ? MOST : told;
}

bool tui_terminal_tells_size(int out)
{
    struct winsize told = {0};
    return ioctl(out, TIOCGWINSZ, &told) == 0 && told.ws_row > 0 && told.ws_col > 0;
}

bool tui_terminal_resized(void)
{
    struct winsize told = {0};
    if (!tui_terminal.screen || ioctl(tui_terminal.out, TIOCGWINSZ, &told) != 0)
        return false;
    int rows = size_clamp(told.ws_row, "LINES", USUAL_ROWS),
        columns = size_clamp(told.ws_col, "COLUMNS", USUAL_COLUMNS);
    if (rows == getmaxy(stdscr) && columns == getmaxx(stdscr))
        return false;
    resizeterm(rows, columns);
    tui_terminal.redraw = true;
    return true;
}

void tui_terminal_size(int *rows, int *columns)
{
    *rows = tui_terminal.screen ? getmaxy(stdscr) : 0;
    *columns = tui_terminal.screen ? getmaxx(stdscr) : 0;
}

bool tui_terminal_alive(void)
{
    struct pollfd fd = {.fd = tui_terminal.in, .events = POLLIN};
    int waiting = 1;
    if (!tui_terminal.screen)
        return false;
    if (poll(&fd, 1, 0) > 0) {
        if (fd.revents & (POLLHUP | POLLERR | POLLNVAL))
            return false;
        if ((fd.revents & POLLIN) && ioctl(tui_terminal.in, FIONREAD, &waiting) != 0)
            return false;
    }
    return waiting > 0; /* something to read that is nothing: the end of the file */
}
