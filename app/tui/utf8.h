/* Characters of a line that is typed: what a key adds to it, and where the borders of its characters are. */
#ifndef APP_TUI_UTF8_H
#define APP_TUI_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a key (key.h) is a character that can stand in a line. */
bool tui_utf8_is_text(int key);
/* The border before and after the character at `at`; ends of the text stay. */
size_t tui_utf8_before(const char *text, size_t at);
size_t tui_utf8_after(const char *text, size_t at);

#endif
