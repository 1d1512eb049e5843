/* Ctrl-C, SIGTERM, SIGHUP and a closed pipe: the first asks whatever runs to stop after the step; the second ends the
 * process, whatever its main thread is at, once what was done is stored; the third waits for nothing. */
#ifndef MGB_APP_CLI_INTERRUPT_H
#define MGB_APP_CLI_INTERRUPT_H

#include <stdbool.h>

typedef void mgb_interrupt_function(void *context); /* called in a signal handler */

void mgb_interrupt_take(bool quiet); /* installs the handlers */
/* What to call; NULL: nothing. A signal that came before is told at once. */
void mgb_interrupt_target(mgb_interrupt_function *stop, void *context);
/* What is to be stored before the second ends the process: called on a thread of its own, beside the main one, once. NULL:
 * nothing; does not return when the end has begun. */
typedef void mgb_interrupt_store(void *context);
void mgb_interrupt_storing(mgb_interrupt_store *store, void *context);
bool mgb_interrupt_asked(void);
bool mgb_interrupt_pipe_closed(void); /* nobody reads standard output any more */

#endif
