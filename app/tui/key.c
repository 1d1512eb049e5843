/* See key.h. A key has one number, however it was typed: Ctrl-M is Enter, Ctrl-I is Tab. */
#include "app/tui/key.h"
#include "app/tui/canvas.h"
#include <mgb/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The first name of a key is the one that people are shown. */
static const struct {
    const char *name;
    int key;
} names[] = {
    {"Up", TUI_KEY_UP},
    {"Down", TUI_KEY_DOWN},
    {"Left", TUI_KEY_LEFT},
    {"Right", TUI_KEY_RIGHT},
    {"PgUp", TUI_KEY_PAGE_UP},
    {"PgDn", TUI_KEY_PAGE_DOWN},
    {"Home", TUI_KEY_HOME},
    {"End", TUI_KEY_END},
    {"Ins", TUI_KEY_INSERT},
    {"Del", TUI_KEY_DELETE},
    {"Backspace", TUI_KEY_BACKSPACE},
    {"Enter", TUI_KEY_ENTER},
    {"Tab", TUI_KEY_TAB},
    {"Shift-Tab", TUI_KEY_SHIFT_TAB},
    {"Esc", TUI_KEY_ESCAPE},
    {"Space", ' '},
    {"Comma", ','},
    {"Resize", TUI_KEY_RESIZE},
    {"Mouse", TUI_KEY_MOUSE},
    {"PageUp", TUI_KEY_PAGE_UP},
    {"PageDown", TUI_KEY_PAGE_DOWN},
    {"Insert", TUI_KEY_INSERT},
    {"Delete", TUI_KEY_DELETE},
    {"Return", TUI_KEY_ENTER},
    {"Escape", TUI_KEY_ESCAPE},
};
#define NAMES (sizeof names / sizeof *names)

static int control_key(char letter)
{
    int key = letter & 0x1f;
    switch (key) {
    case 'H' & 0x1f:
        return TUI_KEY_BACKSPACE;
    case 'I' & 0x1f:
        return TUI_KEY_TAB;
    case 'J' & 0x1f:
    case 'M' & 0x1f:
        return TUI_KEY_ENTER;
    case '[' & 0x1f:
        return TUI_KEY_ESCAPE;
    default:
        return key;
    }
}

static int function_key(const char *number)
{
    char *end;
    long which = strtol(number, &end, 10);
    bool good = number[0] >= '1' && number[0] <= '9' && !*end && which <= 12;
    return good ? TUI_KEY_F1 + (int)which - 1 : TUI_KEY_NONE;
}

int tui_key_read(const char *name)
{
    uint32_t point;
    size_t length = strlen(name);
    if (length == 0)
        return TUI_KEY_NONE;
    if (mgb_character_read(&point, name, length) == length)
        return point < ' '     ? control_key((char)(point | 0x40))
               : point == 0x7f ? TUI_KEY_BACKSPACE
                               : (int)point;
    for (size_t i = 0; i < NAMES; i++)
        if (strcasecmp(names[i].name, name) == 0)
            return names[i].key;
    if (strncasecmp(name, "Ctrl-", 5) == 0 && name[5] && !name[6]) {
        char letter = name[5];
        bool is_control = (letter >= '@' && letter <= '_') || (letter >= 'a' && letter <= 'z');
        return is_control ? control_key(letter) : TUI_KEY_NONE;
    }
    return *name == 'F' || *name == 'f' ? function_key(name + 1) : TUI_KEY_NONE;
}

char *tui_key_name(char *out, size_t size, int key)
{
    char character[5];
    for (size_t i = 0; i < NAMES; i++)
        if (names[i].key == key && key != ',') {
            snprintf(out, size, "%s", names[i].name);
            return out;
        }
    if (key >= TUI_KEY_F1 && key <= TUI_KEY_F12) {
        snprintf(out, size, "F%d", key - TUI_KEY_F1 + 1);
    } else if (key >= 0 && key < ' ') {
        snprintf(out, size, "Ctrl-%c", key + 0x40);
    } else if (key > ' ' && key < 0x110000 && mgb_character_is_shown((uint32_t)key)) {
        tui_point_write(character, (uint32_t)key);
        snprintf(out, size, "%s", character);
    } else {
        snprintf(out, size, "none");
    }
    return out;
}
