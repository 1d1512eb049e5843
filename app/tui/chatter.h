/* What libraries print on descriptors 1 and 2 while the screen is up: caught line by line for the log, so that it neither
 * paints over the screen nor gets lost; told once more on standard error at the end. */
#ifndef APP_TUI_CHATTER_H
#define APP_TUI_CHATTER_H

#include "app/tui/log.h"

struct tui_chatter;

/* Takes descriptors 1 and 2. *terminal receives a descriptor of what 1 was, for the screen. */
enum mgb_status tui_chatter_begin(struct tui_chatter **out, struct tui_log *log, int *terminal);
/* Gives them back, and prints what was caught (the newest 200 lines) to standard error. NULL is allowed. */
void tui_chatter_end(struct tui_chatter *chatter);
/* Async-signal-safe: descriptors 1 and 2 as they were. */
void tui_chatter_rescue(void);

#endif
