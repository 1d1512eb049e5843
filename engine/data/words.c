/* See words.h. */
#include "engine/data/words.h"

#include <mgb/text.h>

enum mgb_character mgb_character_kind(uint32_t point)
{
    if (point == '\'' || point == 0x2019)
        return MGB_APOSTROPHE;
    if (point <= ' ' || point == 0x7f || point == 0xa0 || (point >= 0x2000 && point <= 0x200b) ||
        point == 0x3000 || point == 0xfeff)
        return MGB_BLANK;
    bool digit = point >= '0' && point <= '9';
    bool letter = (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z');
    bool beyond = point > 0xbf && !(point >= 0x2000 && point <= 0x206f) &&
                  !(point >= 0x3001 && point <= 0x3003);
    return digit || letter || beyond ? MGB_LETTER : MGB_SIGN;
}

static enum mgb_character kind_at(const char *text, size_t size, size_t *bytes)
{
    uint32_t point = 0;
    *bytes = size ? mgb_character_read(&point, text, size) : 0;
    if (!*bytes) {
        *bytes = size ? 1 : 0;
        return size ? MGB_LETTER : MGB_BLANK;
    }
    return mgb_character_kind(point);
}

size_t mgb_word_next(const char *text, size_t size, size_t *skipped)
{
    size_t at = 0, bytes, after;
    enum mgb_character kind = kind_at(text, size, &bytes);
    while (at < size && kind == MGB_BLANK) {
        at += bytes;
        kind = kind_at(text + at, size - at, &bytes);
    }
    *skipped = at;
    if (at == size)
        return 0;
    size_t begin = at;
    at += bytes;
    if (kind != MGB_LETTER)
        return at - begin;
    for (;;) {
        kind = kind_at(text + at, size - at, &bytes);
        if (kind == MGB_APOSTROPHE &&
            kind_at(text + at + bytes, size - at - bytes, &after) == MGB_LETTER)
            bytes += after;
        else if (kind != MGB_LETTER)
            return at - begin;
        at += bytes;
    }
}
