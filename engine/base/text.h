/* A text builder. A failed allocation is remembered and reported once, at the end. Numbers print with '.' in any locale. */
#ifndef MGB_BASE_TEXT_H
#define MGB_BASE_TEXT_H

#include <mgb/status.h>
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

/* "12.3 MiB" and such, into `out`; returns `out`. */
char *mgb_format_bytes(char *out, size_t size, long long bytes);

/* Of `count` names the nearest to `wanted` by edit distance, or NULL when none is near: "did you mean". */
const char *mgb_nearest_name(const char *wanted, const char *const *names, int count);

#endif
