/* The one line of progress on a terminal's standard error, cut to the terminal's width and out of the way of everything
 * else that is told there. */
#ifndef MGB_APP_CLI_PROGRESS_H
#define MGB_APP_CLI_PROGRESS_H

#include <stdbool.h>

/* Over the line before; "" only clears it, a newline at the end makes it stay. */
void mgb_cli_progress_show(const char *line);

/* Before any other message: true when a line stood there. Safe in a signal handler. */
bool mgb_cli_progress_clear(void);

#endif
