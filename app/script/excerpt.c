/* The lines around an error with a caret, and what is too long to show. See excerpt.h. */
#include "app/script/excerpt.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT_BEFORE 2
#define CONTEXT_AFTER 1
#define LINE_MOST 200
#define MESSAGE_MOST 4096

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Where `word` stands in the line on its own, not inside a longer name; -1 when it does not. */
static int word_find(const char *line, int length, const char *word, int width)
{
    for (int i = 0; i + width <= length; i++) {
        bool before = i > 0 && is_word(word[0]) && is_word(line[i - 1]);
        bool after = i + width < length && is_word(word[width - 1]) && is_word(line[i + width]);
        if (strncmp(line + i, word, (size_t)width) == 0 && !before && !after)
            return i;
    }
    return -1;
}

/* The column under which to put the caret: the first quoted word of the message that the line holds, else the line's
 * first character. */
static int caret_column(const char *line, int length, const char *message)
{
    for (const char *open = strpbrk(message, "'\""); open;) {
        const char *close = strchr(open + 1, *open);
        if (!close)
            break;
        int width = (int)(close - open - 1);
        int found = width > 0 ? word_find(line, length, open + 1, width) : -1;
        if (found >= 0)
            return found;
        open = strpbrk(close + 1, "'\"");
    }
    int column = (int)strspn(line, " \t");
    return column < length ? column : 0;
}

static bool is_inside(char c) /* of a character of UTF-8, behind its first byte */
{
    return (c & 0xC0) == 0x80;
}

/* A line too long to show is cut to the part around `column`, between characters. */
static const char *line_cut(const char *line, int *length, int column)
{
    if (*length <= LINE_MOST)
        return line;
    int from = column > LINE_MOST / 2 ? column - LINE_MOST / 2 : 0;
    from = from > *length - LINE_MOST ? *length - LINE_MOST : from;
    int end = from + LINE_MOST;
    while (from < end && is_inside(line[from]))
        from++;
    while (end < *length && end > from && is_inside(line[end]))
        end--;
    *length = end - from;
    return line + from;
}

/* The line of the error with the caret under it. */
static void marked_line_print(FILE *out, int number, const char *whole, int length,
                              const char *message)
{
    int column = caret_column(whole, length, message), all = length;
    const char *line = line_cut(whole, &length, column);
    bool begins = line == whole, ends = line + length == whole + all;
    column -= (int)(line - whole);
    fprintf(out, "\n  > %4d | %s%.*s%s", number, begins ? "" : "...", length, line,
            ends ? "" : "...");
    fprintf(out, "\n         | %s", begins ? "" : "   ");
    for (int i = 0; i < column; i++)
        if (!is_inside(line[i])) /* one column a character, not a byte */
            fputc(line[i] == '\t' ? '\t' : ' ', out);
    fputc('^', out);
}

static char *chunk_read(const struct mgb_script_chunk *chunk)
{
    if (chunk->text || !chunk->path)
        return chunk->text ? strdup(chunk->text) : NULL;
    FILE *file = fopen(chunk->path, "r");
    char *text = calloc(1, 1 << 20); /* enough of any script that people wrote */
    if (file && text)
        text[fread(text, 1, (1 << 20) - 1, file)] = 0;
    if (file)
        fclose(file);
    return text;
}

void mgb_script_print_excerpt(FILE *out, const struct mgb_script_chunk *chunk, int wanted,
                              const char *message)
{
    char *text = chunk_read(chunk);
    const char *line = text;
    for (int number = 1; line && *line && number <= wanted + CONTEXT_AFTER; number++) {
        int length = (int)strcspn(line, "\n"), shown = length;
        if (number == wanted)
            marked_line_print(out, number, line, length, message);
        else if (number >= wanted - CONTEXT_BEFORE && line_cut(line, &shown, 0))
            fprintf(out, "\n    %4d | %.*s%s", number, shown, line, shown < length ? "..." : "");
        line += length + (line[length] == '\n');
    }
    free(text);
}

char *mgb_script_cut_message(const char *message)
{
    size_t length = strlen(message);
    if (length <= MESSAGE_MOST)
        return strdup(message);
    char *cut = NULL;
    int end = MESSAGE_MOST;
    while (end > 0 && is_inside(message[end]))
        end--;
    if (asprintf(&cut, "%.*s... (%zu bytes left out)", end, message, length - (size_t)end) < 0)
        return NULL;
    return cut;
}
