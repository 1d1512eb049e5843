/* The lines of a stream in a buffer of their own. */
#ifndef MGB_DATA_LINES_H
#define MGB_DATA_LINES_H

#include "engine/data/stream.h"
#include <stdbool.h>

struct mgb_lines {
    struct mgb_stream stream;
    char *text; /* the last one read, with its '\n' where it has one, and ended by 0 */
    size_t size, capacity;
    int64_t line; /* its number */
};

enum mgb_status mgb_lines_open(struct mgb_lines *out, const char *path);
void mgb_lines_close(struct mgb_lines *lines);
/* The next line; *some false: there is none. With `parts` a long line comes in parts that end behind a blank. MGB_CORRUPT
 * beyond 16 MiB, for a zero byte and for what is not UTF-8. */
enum mgb_status mgb_lines_next(bool *some, struct mgb_lines *lines, bool parts);
/* "'file', line 7: " and the words. */
enum mgb_status mgb_lines_fail(const struct mgb_lines *lines, enum mgb_status status,
                               const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
