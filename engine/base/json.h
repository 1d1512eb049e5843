/* A strict reader of JSON (RFC 8259), of headers of safetensors and of lines of data: objects, lists, texts and whole
 * numbers from 0 are taken one by one by whoever knows what must come next, so that nothing nests deeper than asked for. */
#ifndef MGB_BASE_JSON_H
#define MGB_BASE_JSON_H

#include <mgb/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mgb_json {
    char *text; /* texts are decoded in place */
    size_t size, at;
    const char *of; /* what messages call it; NULL: the header */
};

/* Takes `what` when it comes next, blanks before it too. */
bool mgb_json_take(struct mgb_json *json, char what);
/* MGB_CORRUPT when something else comes. Messages name the byte of the text. */
enum mgb_status mgb_json_expect(struct mgb_json *json, char what);
/* A text, in `json->text` and ended by NUL. MGB_CORRUPT for bad escapes, control characters, U+0000, and what is not
 * UTF-8. */
enum mgb_status mgb_json_text(char **out, struct mgb_json *json);
/* A whole number from 0 to INT64_MAX, without sign, fraction and exponent. */
enum mgb_status mgb_json_count(int64_t *out, struct mgb_json *json);
/* Passes over one value of any kind. MGB_CORRUPT for what is none, and for lists and objects more than 32 deep. */
enum mgb_status mgb_json_skip(struct mgb_json *json);
/* MGB_CORRUPT unless only blanks are left. */
enum mgb_status mgb_json_end(struct mgb_json *json);

/* For messages: a copy of `text` that no terminal takes for more than a word; long ones are cut. Returns `out`. */
#define MGB_JSON_SHOWN 96
char *mgb_json_show(char out[MGB_JSON_SHOWN], const char *text);

#endif
