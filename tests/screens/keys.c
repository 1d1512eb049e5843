/* Keys, as the emulator encodes them in the mode that the program has set. */
#include "tests/screens/emulator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *name;
    VTermKey key;
} named[] = {
    {"Enter", VTERM_KEY_ENTER}, {"Tab", VTERM_KEY_TAB},      {"Backspace", VTERM_KEY_BACKSPACE},
    {"Esc", VTERM_KEY_ESCAPE},  {"Up", VTERM_KEY_UP},        {"Down", VTERM_KEY_DOWN},
    {"Left", VTERM_KEY_LEFT},   {"Right", VTERM_KEY_RIGHT},  {"Insert", VTERM_KEY_INS},
    {"Delete", VTERM_KEY_DEL},  {"Home", VTERM_KEY_HOME},    {"End", VTERM_KEY_END},
    {"PgUp", VTERM_KEY_PAGEUP}, {"PgDn", VTERM_KEY_PAGEDOWN}};

static bool named_press(struct terminal *t, const char *name, VTermModifier modifier)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(named[i].name, name) == 0) {
            vterm_keyboard_key(t->vt, named[i].key, modifier);
            return true;
        }
    if (name[0] == 'F' && name[1] >= '1' && name[1] <= '9') {
        vterm_keyboard_key(t->vt, (VTermKey)VTERM_KEY_FUNCTION(atoi(name + 1)), modifier);
        return true;
    }
    return false;
}

static void key_press(struct terminal *t, const char *name)
{
    if (strncmp(name, "Ctrl-", 5) == 0 && name[5] && !name[6])
        terminal_write(t, &(char){(char)(name[5] & 0x1f)}, 1);
    else if (strcmp(name, "Space") == 0)
        terminal_type(t, " ");
    else if (strcmp(name, "Comma") == 0)
        terminal_type(t, ",");
    else if (strcmp(name, "Shift-Tab") == 0)
        vterm_keyboard_key(t->vt, VTERM_KEY_TAB, VTERM_MOD_SHIFT);
    else if (name[0] && !name[1])
        terminal_type(t, name);
    else if (!named_press(t, name, VTERM_MOD_NONE))
        fail_msg("no key is called '%s'", name);
}

void terminal_press(struct terminal *t, const char *keys)
{
    char *copy = strdup(keys), *rest = copy;
    assert_non_null(copy);
    for (char *name; (name = strsep(&rest, ","));)
        key_press(t, name);
    free(copy);
}

void terminal_type(struct terminal *t, const char *text)
{
    terminal_write(t, text, strlen(text));
}

void terminal_click(struct terminal *t, int y, int x, int button)
{
    vterm_mouse_move(t->vt, y, x, VTERM_MOD_NONE);
    vterm_mouse_button(t->vt, button, true, VTERM_MOD_NONE);
    vterm_mouse_button(t->vt, button, false, VTERM_MOD_NONE);
}
