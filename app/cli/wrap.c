/* See wrap.h. A line is broken when its end is there; what is flushed before (a question) goes out as it is. */
#include "app/cli/wrap.h"
#include "app/script/terminal.h"
#include <stdlib.h>
#include <string.h>

struct wrap {
    FILE *under;
    int width;
    char *line; /* without its end; NUL-terminated */
    size_t used, capacity;
};

static size_t blanks_at(const char *text)
{
    return strspn(text, " ");
}

/* Commands are copied from the screen in one piece; what moves the cursor is left alone. */
static bool stays_whole(const char *line)
{
    const char *first = line + blanks_at(line);
    return strncmp(first, "mgbench ", 8) == 0 || strncmp(first, "repeat with: ", 13) == 0 ||
           strchr(line, '\r');
}

/* Bytes of a colour at `text`: it takes no column. */
static size_t color_at(const char *text)
{
    size_t length = text[0] == '\033' && text[1] == '[' ? 2 + strspn(text + 2, "0123456789;") : 0;
    return length && text[length] == 'm' ? length + 1 : 0;
}

/* Where a line goes on: under its last column of words, under a sentence's begin, or a little to the right. */
static int hang_find(const char *line, int width)
{
    size_t lead = blanks_at(line), column = 0, colors = 0;
    for (size_t i = lead; line[i] && i - colors < 28; i++) {
        size_t color = color_at(line + i);
        colors += color;
        i += color;
        if (line[i] == ' ' && line[i + 1] == ' ') {
            i += blanks_at(line + i);
            column = line[i] ? i - colors : column;
        }
    }
    if (column > 0 && (int)column <= width / 2)
        return (int)column;
    bool sentence = line[lead] >= 'A' && line[lead] <= 'Z';
    return (int)lead + (sentence ? 0 : 2);
}

/* Bytes of `text` before the break: at a gap between columns, a blank or behind a comma; a longer word sticks out. */
static size_t break_find(const char *text, int room)
{
    for (const char *at = text; (at = strchr(at, '\033')); at++)
        room += mgb_bytes_width(at, color_at(at));
    size_t fits = (size_t)mgb_text_fit(text, room), blank = 0, gap = 0, comma = 0;
    if (!text[fits])
        return fits;
    for (size_t i = blanks_at(text) + 1; i <= fits; i++) {
        if (text[i] == ' ' && text[i - 1] != ' ') {
            blank = i;
            gap = text[i + 1] == ' ' ? i : gap;
        }
        if (i < fits && text[i] == ',')
            comma = i + 1;
    }
    if (gap > fits / 2)
        return gap;
    if (blank > 0 || comma > 0)
        return blank > 0 ? blank : comma;
    return fits + strcspn(text + fits, " ");
}

static void line_put(const struct wrap *w, const char *line)
{
    int hang = hang_find(line, w->width), indent = 0;
    bool whole = stays_whole(line);
    for (bool first = true; first || *line; first = false) {
        size_t length = whole ? strlen(line) : break_find(line, w->width - indent);
        if (!first)
            fprintf(w->under, "\n%*s", hang, "");
        fwrite(line, 1, length, w->under);
        line += length;
        line += *line ? blanks_at(line) : 0;
        indent = hang;
    }
}

static bool line_add(struct wrap *w, const char *bytes, size_t size)
{
    if (w->used + size + 1 > w->capacity) {
        size_t capacity = 2 * (w->used + size + 1);
        char *grown = realloc(w->line, capacity);
        if (!grown)
            return false;
        w->line = grown;
        w->capacity = capacity;
    }
    memcpy(w->line + w->used, bytes, size);
    w->used += size;
    w->line[w->used] = '\0';
    return true;
}

static ssize_t wrap_write(void *cookie, const char *bytes, size_t size)
{
    struct wrap *w = cookie;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(bytes + at, '\n', size - at);
        size_t length = end ? (size_t)(end - (bytes + at)) : size - at;
        if (!line_add(w, bytes + at, length))
            return 0;
        at += length;
        if (!end)
            break;
        line_put(w, w->line);
        fputc('\n', w->under);
        w->used = 0;
        w->line[0] = '\0';
        at++;
    }
    return fflush(w->under) == 0 ? (ssize_t)size : 0;
}

static int wrap_close(void *cookie)
{
    struct wrap *w = cookie;
    if (w->used > 0)
        line_put(w, w->line);
    int code = fflush(w->under);
    free(w->line);
    free(w);
    return code;
}

FILE *mgb_wrap_open(FILE *under, int width)
{
    struct wrap *w = malloc(sizeof *w);
    if (!w)
        return NULL;
    *w = (struct wrap){.under = under, .width = width < 20 ? 20 : width};
    FILE *out =
        fopencookie(w, "w", (cookie_io_functions_t){.write = wrap_write, .close = wrap_close});
    if (!out)
        free(w);
    else
        setvbuf(out, NULL, _IOLBF, 0);
    return out;
}

static FILE *real; /* standard output while lines are broken */

void mgb_wrap_begin(void)
{
    int width = fileno(stdout) >= 0 ? mgb_terminal_width(fileno(stdout)) : 0;
    FILE *wrapped = width > 0 && !real ? mgb_wrap_open(stdout, width) : NULL;
    if (!wrapped)
        return;
    real = stdout;
    stdout = wrapped;
}

void mgb_wrap_end(void)
{
    FILE *wrapped = stdout;
    if (!real)
        return;
    stdout = real;
    real = NULL;
    fclose(wrapped);
}

bool mgb_wrap_is_on(void)
{
    return real != NULL;
}
