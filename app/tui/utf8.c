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
