/* See lines.h. */
#include "engine/data/lines.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include <mgb/text.h>
#include <stdarg.h>
#include <string.h>

enum { PART = 1 << 16, MOST_LINE = 16 << 20 };

enum mgb_status mgb_lines_fail(const struct mgb_lines *lines, enum mgb_status status,
                               const char *format, ...)
{
    char words[512];
    va_list args;
    va_start(args, format);
    mgb_format_list(words, sizeof words, format, args);
    va_end(args);
    return mgb_fail(status, "'%s', line %lld: %s", lines->stream.gzip.path, (long long)lines->line,
                    words);
}

enum mgb_status mgb_lines_open(struct mgb_lines *out, const char *path)
{
    out->text = NULL;
    out->size = out->capacity = 0;
    out->line = 0;
    return mgb_stream_open(&out->stream, path);
}

void mgb_lines_close(struct mgb_lines *lines)
{
    mgb_stream_close(&lines->stream);
    mgb_release(lines->text);
    lines->text = NULL;
}

static enum mgb_status byte_add(struct mgb_lines *lines, int byte)
{
    if (lines->size + 1 >= lines->capacity) {
        size_t capacity = lines->capacity ? 2 * lines->capacity : 4096;
        if (capacity > MOST_LINE)
            return mgb_lines_fail(lines, MGB_CORRUPT, "longer than 16 MiB; is it a text?");
        char *text = mgb_realloc(lines->text, capacity);
        if (!text)
            return mgb_lines_fail(lines, MGB_NO_MEMORY, "no memory for %zu bytes", capacity);
        lines->text = text;
        lines->capacity = capacity;
    }
    lines->text[lines->size++] = (char)byte;
    return MGB_OK;
}

static enum mgb_status text_check(const struct mgb_lines *lines)
{
    for (size_t at = 0, step; at < lines->size; at += step) {
        uint32_t point = 1;
        step = mgb_character_read(&point, lines->text + at, lines->size - at);
        if (!step || point == 0)
            return mgb_lines_fail(lines, MGB_CORRUPT,
                                  "byte %zu of it, 0x%02x, is no text in UTF-8; convert the file "
                                  "with iconv -t UTF-8",
                                  at, (unsigned char)lines->text[at]);
    }
    return MGB_OK;
}

enum mgb_status mgb_lines_next(bool *some, struct mgb_lines *lines, bool parts)
{
    int byte;
    lines->size = 0;
    lines->line = lines->stream.line;
    do {
        MGB_TRY(mgb_stream_get(&byte, &lines->stream));
        if (byte >= 0)
            MGB_TRY(byte_add(lines, byte));
    } while (byte >= 0 && byte != '\n' && !(parts && byte == ' ' && lines->size >= PART));
    *some = lines->size > 0;
    if (*some)
        lines->text[lines->size] = '\0';
    return text_check(lines);
}
