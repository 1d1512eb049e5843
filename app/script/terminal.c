/* See terminal.h. */
#include "app/script/terminal.h"
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

int mgb_terminal_width(int fd)
{
    struct winsize size = {0};
    if (!isatty(fd))
        return 0;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* Bytes of the next character; *columns is what it takes on the screen. */
static size_t character_read(const char *text, size_t left, mbstate_t *state, int *columns)
{
    wchar_t c;
    size_t used = mbrtowc(&c, text, left, state);
    if (used == (size_t)-1 || used == (size_t)-2 || used == 0) {
        memset(state, 0, sizeof *state);
        *columns = 1;
        return 1;
    }
    *columns = wcwidth(c) > 0 ? wcwidth(c) : 0;
    return used;
}

int mgb_text_width(const char *text)
{
    int width = 0, columns;
    mbstate_t state = {0};
    for (size_t left = strlen(text), used; left > 0; text += used, left -= used) {
        used = character_read(text, left, &state, &columns);
        width += columns;
    }
    return width;
}

int mgb_text_fit(const char *text, int width)
{
    const char *at = text;
    int columns;
    mbstate_t state = {0};
    for (size_t left = strlen(text), used; left > 0; at += used, left -= used) {
        used = character_read(at, left, &state, &columns);
        if (columns > width)
            break;
        width -= columns;
    }
    return (int)(at - text);
}
