/* Values of JSON that nobody asked for: checked as strictly as those taken, and left behind. */
#include "engine/base/json.h"

#include <string.h>

enum { MOST_DEEP = 32 };

static enum mgb_status value_fail(const struct mgb_json *json, size_t at, const char *what)
{
    return mgb_fail(MGB_CORRUPT, "byte %zu of %s: %s", at, json->of ? json->of : "the header",
                    what);
}

static size_t digits_skip(struct mgb_json *json)
{
    size_t begin = json->at;
    while (json->at < json->size && json->text[json->at] >= '0' && json->text[json->at] <= '9')
        json->at++;
    return json->at - begin;
}

static bool byte_skip(struct mgb_json *json, const char *among)
{
    if (json->at == json->size || !json->text[json->at] || !strchr(among, json->text[json->at]))
        return false;
    json->at++;
    return true;
}

/* RFC 8259, section 6: no blank after the sign, no zero before other digits, digits on both sides of the point. */
static enum mgb_status number_skip(struct mgb_json *json)
{
    byte_skip(json, "-");
    size_t begin = json->at, whole = digits_skip(json);
    bool bad = whole == 0 || (whole > 1 && json->text[begin] == '0');
    if (byte_skip(json, "."))
        bad |= digits_skip(json) == 0;
    if (byte_skip(json, "eE")) {
        byte_skip(json, "+-");
        bad |= digits_skip(json) == 0;
    }
    return bad ? value_fail(json, begin, "no value of JSON") : MGB_OK;
}

static bool word_skip(struct mgb_json *json, const char *word)
{
    size_t length = strlen(word);
    if (json->size - json->at < length || memcmp(json->text + json->at, word, length) != 0)
        return false;
    json->at += length;
    return true;
}

static enum mgb_status value_skip(struct mgb_json *json, int deep);

static enum mgb_status list_skip(struct mgb_json *json, int deep, bool named, char end)
{
    if (deep == MOST_DEEP)
        return value_fail(json, json->at - 1, "nested more than 32 deep");
    if (mgb_json_take(json, end))
        return MGB_OK;
    do {
        char *name;
        if (named) {
            MGB_TRY(mgb_json_text(&name, json));
            MGB_TRY(mgb_json_expect(json, ':'));
        }
        MGB_TRY(value_skip(json, deep + 1));
    } while (mgb_json_take(json, ','));
    return mgb_json_expect(json, end);
}

static enum mgb_status value_skip(struct mgb_json *json, int deep)
{
    char *text;
    if (mgb_json_take(json, '{'))
        return list_skip(json, deep, true, '}');
    if (mgb_json_take(json, '['))
        return list_skip(json, deep, false, ']');
    if (json->at < json->size && json->text[json->at] == '"')
        return mgb_json_text(&text, json);
    if (word_skip(json, "true") || word_skip(json, "false") || word_skip(json, "null"))
        return MGB_OK;
    return number_skip(json);
}

enum mgb_status mgb_json_skip(struct mgb_json *json)
{
    return value_skip(json, 0);
}
