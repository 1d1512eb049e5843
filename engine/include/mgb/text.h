/* The two bits of wording that engine and faces share, so that a size and a suggestion look the same everywhere. */
#ifndef MGB_TEXT_H
#define MGB_TEXT_H

#include <stddef.h>

/* "12.3 MiB" and such, into `out`; returns `out`. */
char *mgb_format_bytes(char *out, size_t size, long long bytes);

/* Of `count` names the nearest to `wanted` by edit distance, or NULL when none is near: "did you mean". */
const char *mgb_nearest_name(const char *wanted, const char *const *names, int count);

#endif
