/* UTF-8 of single characters. Knows no screen. */
#include "app/tui/utf8.h"
#include "app/tui/key.h"

#include <mgb/text.h>
#include <stdint.h>

bool tui_utf8_is_text(int key)
{
    return key >= 0x20 && key < TUI_KEY_BASE && key <= 0x10ffff && (key < 0xd800 || key > 0xdfff) &&
           mgb_character_is_shown((uint32_t)key);
}

size_t tui_utf8_write(char out[5], int key)
{
    uint32_t point = (uint32_t)key;
    size_t count = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = count - 1; i > 0; i--, point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3f));
    out[0] = (char)(lead[count] | point);
    out[count] = '\0';
    return count;
}

static bool inside(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t tui_utf8_before(const char *text, size_t at)
{
    if (at > 0)
        at--;
    while (at > 0 && inside(text[at]))
        at--;
    return at;
}

size_t tui_utf8_after(const char *text, size_t at)
{
    if (text[at])
        at++;
    while (inside(text[at]))
        at++;
    return at;
}
