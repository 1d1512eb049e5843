/* A text builder. A failed allocation is remembered and reported once, at the end. Numbers print with '.' in any locale. */
#ifndef MGB_BASE_TEXT_H
#define MGB_BASE_TEXT_H

#include <mgb/status.h>
#include <mgb/text.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct mgb_text {
    char *chars; /* always terminated once something was added */
    size_t length, capacity;
    bool failed;
};

void mgb_text_add(struct mgb_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Hands the characters to the caller (mgb_release), or MGB_NO_MEMORY; the builder is empty afterwards. */
enum mgb_status mgb_text_take(char **out, struct mgb_text *text);
void mgb_text_done(struct mgb_text *text);

/* snprintf with numbers printed with '.' in any locale. */
int mgb_format(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int mgb_format_list(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* strtod with '.' in any locale. */
double mgb_number_read(const char *text, char **end);

#endif
