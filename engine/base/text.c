/* The text builder and other text for people: printing in the C locale whatever the program's locale is. */
#include "engine/base/text.h"

#include "engine/base/memory.h"
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void c_locale_make(void)
{
    c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
}

int mgb_format_list(char *out, size_t size, const char *format, va_list args)
{
    pthread_once(&c_locale_once, c_locale_make);
    if (!c_locale)
        return vsnprintf(out, size, format, args);
    locale_t before = uselocale(c_locale);
    int length = vsnprintf(out, size, format, args);
    uselocale(before);
    return length;
}

int mgb_format(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = mgb_format_list(out, size, format, args);
    va_end(args);
    return length;
}

static bool text_reserve(struct mgb_text *text, size_t more)
{
    size_t wanted = text->length + more + 1;
    if (wanted <= text->capacity)
        return true;
    size_t larger = text->capacity ? 2 * text->capacity : 128;
    if (larger < wanted)
        larger = wanted;
    char *chars = mgb_realloc(text->chars, larger);
    if (!chars)
        return false;
    text->chars = chars;
    text->capacity = larger;
    return true;
}

void mgb_text_add(struct mgb_text *text, const char *format, ...)
{
    if (text->failed)
        return;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t room = text->capacity - text->length;
    int length =
        mgb_format_list(text->chars ? text->chars + text->length : NULL, room, format, args);
    if (length < 0 || !text_reserve(text, (size_t)length))
        text->failed = true;
    else if ((size_t)length >= room)
        mgb_format_list(text->chars + text->length, (size_t)length + 1, format, again);
    if (!text->failed)
        text->length += (size_t)length;
    else if (text->chars)
        text->chars[text->length] = '\0';
    va_end(again);
    va_end(args);
}

enum mgb_status mgb_text_take(char **out, struct mgb_text *text)
{
    *out = NULL;
    if (!text->failed && !text->chars)
        mgb_text_add(text, "%s", "");
    if (text->failed) {
        size_t bytes = text->length;
        mgb_text_done(text);
        return mgb_fail(MGB_NO_MEMORY, "memory exhausted after %zu bytes of text", bytes);
    }
    *out = text->chars;
    *text = (struct mgb_text){0};
    return MGB_OK;
}

void mgb_text_done(struct mgb_text *text)
{
    mgb_release(text->chars);
    *text = (struct mgb_text){0};
}

char *mgb_format_bytes(char *out, size_t size, long long bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)bytes / 1024;
    size_t unit = 0;
    if (bytes > -1024 && bytes < 1024) {
        snprintf(out, size, "%lld B", bytes);
        return out;
    }
    while (unit + 1 < sizeof units / sizeof units[0] && (value >= 1023.95 || value <= -1023.95)) {
        value /= 1024;
        unit++;
    }
    mgb_format(out, size, "%.1f %s", value, units[unit]);
    return out;
}

double mgb_number_read(const char *text, char **end)
{
    pthread_once(&c_locale_once, c_locale_make);
    return c_locale ? strtod_l(text, end, c_locale) : strtod(text, end);
}

char *mgb_format_number(char *out, size_t size, double value)
{
    for (int digits = 6; digits <= 17; digits++) {
        mgb_format(out, size, "%.*g", digits, value);
        if (mgb_number_read(out, NULL) == value)
            break;
    }
    return out;
}
