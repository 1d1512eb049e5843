/* What is done when the program dies of its own fault: the terminal and descriptors 1 and 2 are given back, a line is said,
 * and the fault goes on to whoever had it before: sanitizers, core files, the supervisor. */
#ifndef APP_TUI_CRASH_H
#define APP_TUI_CRASH_H

#include <stdbool.h>

/* `program`, borrowed: of the line. For the thread that calls with a stack of its own, for others on theirs. `screen`, which
 * must be async-signal-safe, is told that the terminal is given back; NULL: nobody is. */
void tui_crash_take(const char *program, void (*screen)(void *context, bool on), void *context);
void tui_crash_give_back(void);

#endif
