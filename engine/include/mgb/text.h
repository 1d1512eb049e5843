/* The bits of wording that engine, database and faces share, so that a size, a suggestion and a text of others look the
 * same everywhere. */
#ifndef MGB_TEXT_H
#define MGB_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* "12.3 MiB" and such, into `out`; returns `out`. */
char *mgb_format_bytes(char *out, size_t size, long long bytes);

/* A number with as few digits, six at least, as read back give the same one, and '.' in any locale; returns `out`. */
char *mgb_format_number(char *out, size_t size, double value);

#define MGB_FIGURE 40
/* As screens and tables show numbers: 4 digits, all of a whole part; '.' in any locale. Returns `out`. */
char *mgb_format_figure(char out[MGB_FIGURE], double value);
/* For files: as few digits, 15 at least, as read back give the same number; returns `out`. */
char *mgb_format_exact(char out[MGB_FIGURE], double value);

/* One field of CSV (RFC 4180), in quotes where it needs them or, for an empty one, `quote_empty` says so. */
void mgb_csv_put(FILE *out, const char *text, size_t size, bool quote_empty);
/* One string of JSON with its quotes; bytes that are no UTF-8 become U+FFFD. */
void mgb_json_put(FILE *out, const char *text, size_t size);

/* Of `count` names the nearest to `wanted` by edit distance, or NULL when none is near: "did you mean". */
const char *mgb_nearest_name(const char *wanted, const char *const *names, int count);

/* Bytes of the UTF-8 character that begins the `left` bytes (one at least) at `at`, 0: none does; *point is it. */
size_t mgb_character_read(uint32_t *point, const char *at, size_t left);
/* Whether it stands on a screen as itself: neither a control nor what turns the direction of a line. */
bool mgb_character_is_shown(uint32_t point);

#define MGB_CHARACTER_SHOWN 12
/* The first character of the `left` bytes at `at` as a screen may have it: itself, or \x1b, \u202e for what would do
 * something there and for bytes that are none. *used is how many bytes it was; returns how many are in `out`, ended by 0. */
size_t mgb_character_show(char out[MGB_CHARACTER_SHOWN], size_t *used, const char *at, size_t left);

#endif
