/* See terminal.h. */
#include "app/script/terminal.h"
#include <mgb/text.h>
#include <stdlib.h>
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

static int character_columns(const char *shown, size_t length)
{
    uint32_t point;
    if (mgb_character_read(&point, shown, length) != length)
        return (int)length; /* an escape, of ASCII */
    int columns = wcwidth((wchar_t)point);
    return columns >= 0 ? columns : 1;
}

static bool is_blank(char c)
{
    return c == '\n' || c == '\r' || c == '\t';
}

/* The next character as a cell of a table shows it, and how many columns that takes. */
static size_t cell_character(char out[MGB_CHARACTER_SHOWN], size_t *used, int *columns,
                             const char *at, size_t left)
{
    if (is_blank(*at))
        *used = (size_t)snprintf(out, MGB_CHARACTER_SHOWN, " ");
    size_t length = is_blank(*at) ? 1 : mgb_character_show(out, used, at, left);
    *columns = character_columns(out, length);
    return length;
}

int mgb_bytes_width(const char *text, size_t size)
{
    char shown[MGB_CHARACTER_SHOWN];
    int width = 0, columns;
    for (size_t used; size > 0; text += used, size -= used) {
        cell_character(shown, &used, &columns, text, size);
        width += columns;
    }
    return width;
}

int mgb_text_width(const char *text)
{
    return mgb_bytes_width(text, strlen(text));
}

int mgb_text_fit(const char *text, int width)
{
    char shown[MGB_CHARACTER_SHOWN];
    const char *at = text;
    int columns;
    for (size_t left = strlen(text), used; left > 0; at += used, left -= used) {
        cell_character(shown, &used, &columns, at, left);
        if (columns > width)
            break;
        width -= columns;
    }
    return (int)(at - text);
}

void mgb_bytes_print(FILE *out, const char *text, size_t size)
{
    char shown[MGB_CHARACTER_SHOWN];
    int columns;
    for (size_t used; size > 0; text += used, size -= used)
        fwrite(shown, 1, cell_character(shown, &used, &columns, text, size), out);
}

/* In one piece: standard error keeps nothing back, and lines of several processes would mix. */
void mgb_line_print(FILE *out, const char *text, size_t size)
{
    char *line = malloc(size * 4 + MGB_CHARACTER_SHOWN), *to = line;
    if (!line) {
        fputs("(memory is exhausted)", out);
        return;
    }
    for (size_t used = 1; size > 0; text += used, size -= used) {
        if (*text == '\n' || *text == '\t') {
            *to++ = *text;
            used = 1;
        } else {
            to += mgb_character_show(to, &used, text, size);
        }
    }
    fwrite(line, 1, (size_t)(to - line), out);
    free(line);
}

void mgb_say_list(FILE *out, const char *format, va_list args)
{
    char *text;
    int length = vasprintf(&text, format, args);
    if (length < 0) {
        fputs("(memory is exhausted)", out);
        return;
    }
    mgb_line_print(out, text, (size_t)length);
    free(text);
}

void mgb_say(FILE *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mgb_say_list(out, format, args);
    va_end(args);
}

static bool is_plain(const char *word)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-./=,:+@%";
    return *word && word[strspn(word, good)] == '\0';
}

void mgb_shell_print(FILE *out, const char *word)
{
    if (is_plain(word)) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}
