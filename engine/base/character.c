/* Characters of texts that come from others: read as UTF-8, and shown so that a terminal does nothing but show them. */
#include <mgb/text.h>

#include <stdio.h>
#include <string.h>

/* RFC 3629, section 4: no overlong forms, no surrogates, nothing above U+10FFFF. */
size_t mgb_character_read(uint32_t *point, const char *text, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)text;
    size_t length = at[0] < 0x80   ? 1
                    : at[0] < 0xc2 ? 0
                    : at[0] < 0xe0 ? 2
                    : at[0] < 0xf0 ? 3
                    : at[0] < 0xf5 ? 4
                                   : 0;
    if (length == 0 || length > left)
        return 0;
    *point = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        *point = *point << 6 | (at[i] & 0x3f);
    }
    bool surrogate = *point >= 0xd800 && *point <= 0xdfff;
    return *point < least[length] || surrogate || *point > 0x10ffff ? 0 : length;
}

/* Bidirectional controls: Unicode Standard Annex 9, section 2. U+2028 and U+2029 end lines. */
bool mgb_character_is_shown(uint32_t point)
{
    bool control = point < 0x20 || (point >= 0x7f && point < 0xa0);
    bool turns = point == 0x61c || point == 0x200e || point == 0x200f ||
                 (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
    return !control && !turns;
}

size_t mgb_character_show(char out[MGB_CHARACTER_SHOWN], size_t *used, const char *at, size_t left)
{
    uint32_t point;
    size_t length = mgb_character_read(&point, at, left);
    *used = length ? length : 1;
    if (length && mgb_character_is_shown(point)) {
        memcpy(out, at, length);
        out[length] = '\0';
        return length;
    }
    if (length < 2)
        return (size_t)snprintf(out, MGB_CHARACTER_SHOWN, "\\x%02x", (unsigned char)*at);
    return (size_t)snprintf(out, MGB_CHARACTER_SHOWN, "\\u%04x", (unsigned)point);
}
