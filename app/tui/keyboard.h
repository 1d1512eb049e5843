/* Descriptor 0 while the screen is up. What a script or a library reads from it finds the end at once, so that keys are the
 * screen's alone. */
#ifndef APP_TUI_KEYBOARD_H
#define APP_TUI_KEYBOARD_H

#include <mgb/status.h>

/* Takes descriptor 0. *keys receives a descriptor of what it was, for the screen. */
enum mgb_status tui_keyboard_take(int *keys);
/* Gives it back; `keys` is closed. May be called when nothing was taken. */
void tui_keyboard_give_back(void);
/* Async-signal-safe: descriptor 0 as it was. */
void tui_keyboard_rescue(void);

#endif
