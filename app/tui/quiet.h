/* Threads that no signal disturbs: signals are the main thread's, but those by which a thread dies of its own fault. */
#ifndef APP_TUI_QUIET_H
#define APP_TUI_QUIET_H

#include <pthread.h>

/* As pthread_create; returns 0 or an error number. */
int tui_thread_start(pthread_t *out, void *(*run)(void *context), void *context);

#endif
