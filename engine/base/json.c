/* See json.h. */
#include "engine/base/json.h"

#include <string.h>

static const char *name_of(const struct mgb_json *json)
{
    return json->of ? json->of : "the header";
}

static void blanks_skip(struct mgb_json *json)
{
    while (json->at < json->size && json->text[json->at] && strchr(" \t\r\n", json->text[json->at]))
        json->at++;
}

bool mgb_json_take(struct mgb_json *json, char what)
{
    blanks_skip(json);
    if (json->at == json->size || json->text[json->at] != what)
        return false;
    json->at++;
    return true;
}

/* "a text expected, '{' found at byte 12 of the header" */
static enum mgb_status found_fail(struct mgb_json *json, const char *expected)
{
    blanks_skip(json);
    if (json->at == json->size)
        return mgb_fail(MGB_CORRUPT, "%s expected where %s ends", expected, name_of(json));
    unsigned char byte = (unsigned char)json->text[json->at];
    if (byte > ' ' && byte < 0x7f)
        return mgb_fail(MGB_CORRUPT, "%s expected at byte %zu of %s, '%c' found", expected,
                        json->at, name_of(json), byte);
    return mgb_fail(MGB_CORRUPT, "%s expected at byte %zu of %s, byte 0x%02x found", expected,
                    json->at, name_of(json), byte);
}

enum mgb_status mgb_json_expect(struct mgb_json *json, char what)
{
    char expected[4] = {'\'', what, '\'', '\0'};
    return mgb_json_take(json, what) ? MGB_OK : found_fail(json, expected);
}

enum mgb_status mgb_json_end(struct mgb_json *json)
{
    blanks_skip(json);
    return json->at == json->size ? MGB_OK : found_fail(json, "the end");
}

/* Four hexadecimal digits at `at`; -1: they are not. */
static int hex_read(const struct mgb_json *json, size_t at)
{
    static const char digits[] = "0123456789abcdef";
    int value = 0;
    if (json->size - at < 4)
        return -1;
    for (size_t i = at; i < at + 4; i++) {
        char digit = json->text[i];
        const char *found = strchr(digits, digit >= 'A' && digit <= 'F' ? digit + 32 : digit);
        if (!found || !*found)
            return -1;
        value = 16 * value + (int)(found - digits);
    }
    return value;
}

/* The code point after "\u" at `*at`, a pair of surrogates too; -1: none. */
static long point_read(const struct mgb_json *json, size_t *at)
{
    long first = hex_read(json, *at);
    *at += 4;
    if (first < 0xd800 || first > 0xdfff)
        return first;
    if (first > 0xdbff || json->size - *at < 6 || json->text[*at] != '\\' ||
        json->text[*at + 1] != 'u')
        return -1;
    long second = hex_read(json, *at + 2);
    *at += 6;
    return second < 0xdc00 || second > 0xdfff
               ? -1
               : 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

static size_t point_write(char *out, long point)
{
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    int bytes = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (int i = bytes - 1; i > 0; i--, point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3f));
    out[0] = (char)(bytes == 1 ? point : lead[bytes] | point);
    return (size_t)bytes;
}

/* Decodes what follows a backslash at `*at` to `out`; 0: no escape. It is never longer than its source. */
static size_t escape_read(struct mgb_json *json, char *out, size_t *at)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    if (*at >= json->size)
        return 0;
    char name = json->text[(*at)++];
    const char *found = name ? strchr(names, name) : NULL;
    if (found) {
        *out = values[found - names];
        return 1;
    }
    long point = name == 'u' ? point_read(json, at) : -1;
    return point > 0 ? point_write(out, point) : 0;
}

/* Bytes of the UTF-8 character at `at` (RFC 3629: no surrogates, no longer form than needed); 0: none. */
static size_t character_size(const unsigned char *at, size_t left)
{
    if (*at < 0x80)
        return 1;
    size_t bytes = *at >= 0xc2 && *at < 0xe0 ? 2 : *at >= 0xe0 && *at < 0xf0 ? 3 : 4;
    if (*at < 0xc2 || *at > 0xf4 || left < bytes)
        return 0;
    for (size_t i = 1; i < bytes; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    bool bad = (*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f) ||
               (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f);
    return bad ? 0 : bytes;
}

/* One character of a text at `*at`; false: it is none. */
static bool character_take(struct mgb_json *json, size_t *to, size_t *at)
{
    if (json->text[*at] == '\\') {
        ++*at;
        size_t size = escape_read(json, json->text + *to, at);
        *to += size;
        return size > 0;
    }
    const unsigned char *from = (const unsigned char *)json->text + *at;
    size_t size = *from < ' ' ? 0 : character_size(from, json->size - *at);
    memmove(json->text + *to, from, size);
    *to += size;
    *at += size;
    return size > 0;
}

enum mgb_status mgb_json_text(char **out, struct mgb_json *json)
{
    if (!mgb_json_take(json, '"'))
        return found_fail(json, "a text");
    size_t begin = json->at, to = json->at, at = json->at;
    while (at < json->size && json->text[at] != '"') {
        size_t here = at;
        if (!character_take(json, &to, &at))
            return mgb_fail(MGB_CORRUPT, "byte %zu of %s is no character of a text", here,
                            name_of(json));
    }
    if (at >= json->size)
        return mgb_fail(MGB_CORRUPT, "the text at byte %zu of %s has no end", begin - 1,
                        name_of(json));
    json->text[to] = '\0';
    json->at = at + 1;
    *out = json->text + begin;
    return MGB_OK;
}

enum mgb_status mgb_json_count(int64_t *out, struct mgb_json *json)
{
    blanks_skip(json);
    size_t begin = json->at;
    int64_t value = 0;
    for (; json->at < json->size && json->text[json->at] >= '0' && json->text[json->at] <= '9';
         json->at++)
        if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
            __builtin_add_overflow(value, (int64_t)(json->text[json->at] - '0'), &value))
            return mgb_fail(MGB_CORRUPT, "the number at byte %zu of %s is too large", begin,
                            name_of(json));
    bool none = json->at == begin, led = json->at > begin + 1 && json->text[begin] == '0';
    bool more =
        json->at < json->size && json->text[json->at] && strchr(".eE", json->text[json->at]);
    if (none || led || more) {
        json->at = none || more ? json->at : begin;
        return found_fail(json, "a whole number from 0");
    }
    *out = value;
    return MGB_OK;
}

char *mgb_json_show(char out[MGB_JSON_SHOWN], const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t used = 0;
    for (size_t size; *at && used + 8 < MGB_JSON_SHOWN; at += size ? size : 1) {
        size = character_size(at, strlen(text) - (size_t)((const char *)at - text));
        bool odd = !size || *at < ' ' || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0);
        memcpy(out + used, odd ? (const unsigned char *)"?" : at, odd ? 1 : size);
        used += odd ? 1 : size;
    }
    memcpy(out + used, *at ? "..." : "", *at ? 4 : 1);
    return out;
}
