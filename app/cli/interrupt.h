/* Ctrl-C, SIGTERM, SIGHUP and a closed pipe: the first asks whatever runs to stop after the step, the second ends the
 * process at once. */
#ifndef MGB_APP_CLI_INTERRUPT_H
#define MGB_APP_CLI_INTERRUPT_H

#include <stdbool.h>

typedef void mgb_interrupt_function(void *context); /* called in a signal handler */

void mgb_interrupt_take(bool quiet); /* installs the handlers */
/* What to call; NULL: nothing. A signal that came before is told at once. */
void mgb_interrupt_target(mgb_interrupt_function *stop, void *context);
bool mgb_interrupt_asked(void);
bool mgb_interrupt_pipe_closed(void); /* nobody reads standard output any more */

#endif
