/* Threads of the program's own: named, and disturbed by no signal but those of their own faults. */
#ifndef MGB_THREAD_H
#define MGB_THREAD_H

#include <pthread.h>

/* As pthread_create; returns 0 or an error number. Signals from outside are left to the thread that the program began with;
 * a fault in this one still reaches handlers, sanitizers and the supervisor. `name` is what debuggers and ps show, of at
 * most 15 bytes; NULL: the thread names itself. */
int mgb_thread_start(pthread_t *out, const char *name, void *(*run)(void *context), void *context);

#endif
