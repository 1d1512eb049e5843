/* A thread that does one thing at a time for a caller who waits: the engine's calls all come from it, so that whoever
 * waits can watch the clock meanwhile. Signals are blocked in it. */
#ifndef APP_SESSION_WORKER_H
#define APP_SESSION_WORKER_H

#include <mgb/status.h>

struct session_worker;

typedef enum mgb_status session_work(void *argument);

enum mgb_status mgb_session_worker_make(struct session_worker **out);
/* Waits for the work in progress. NULL is allowed. */
void mgb_session_worker_free(struct session_worker *worker);

/* Runs work(argument) on the worker and returns its status with its message. While it runs, watch(context) is called about
 * once a second on the calling thread (NULL: not). */
enum mgb_status mgb_session_worker_call(struct session_worker *worker, session_work *work,
                                        void *argument, void (*watch)(void *context),
                                        void *context);

#endif
