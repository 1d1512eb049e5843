/* Keys: characters are themselves, others have numbers beyond all characters; and their names for people. */
#ifndef APP_TUI_KEY_H
#define APP_TUI_KEY_H

#include <stddef.h>

/* What a key press is. Characters are themselves; others from TUI_KEY_BASE on. */
enum {
    TUI_KEY_BASE = 0x200000,
    TUI_KEY_UP = TUI_KEY_BASE,
    TUI_KEY_DOWN,
    TUI_KEY_LEFT,
    TUI_KEY_RIGHT,
    TUI_KEY_PAGE_UP,
    TUI_KEY_PAGE_DOWN,
    TUI_KEY_HOME,
    TUI_KEY_END,
    TUI_KEY_INSERT,
    TUI_KEY_DELETE,
    TUI_KEY_BACKSPACE,
    TUI_KEY_ENTER,
    TUI_KEY_TAB,
    TUI_KEY_SHIFT_TAB,
    TUI_KEY_ESCAPE,
    TUI_KEY_RESIZE,
    TUI_KEY_MOUSE,
    TUI_KEY_F1,
    TUI_KEY_F12 = TUI_KEY_F1 + 11,
    TUI_KEY_NONE = -1
};

/* The key of a name in the list, as "Ctrl-L"; TUI_KEY_NONE: no such. */
int tui_key_read(const char *name);
/* The name of a key, for people; returns `out`. */
char *tui_key_name(char *out, size_t size, int key);

#endif
