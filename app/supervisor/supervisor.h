/* The thin parent of the program: it starts the worker, passes signals on, and when the worker dies it restores the
 * terminal, has the run marked and, where the worker asked for that, starts it again. It knows nothing of engine, Lua or
 * screen, opens nothing while a worker lives, and forks before any thread or connection exists. */
#ifndef MGB_APP_SUPERVISOR_H
#define MGB_APP_SUPERVISOR_H

#include <stdbool.h>
#include <sys/types.h>

#define MGB_SUPERVISED_POINT 1000 /* bytes; a message with it is written at once */

/* What a worker knows of its supervisor. */
struct mgb_supervised {
    int pipe;     /* -1: no supervisor */
    int restarts; /* how often the program was started again */
    char point
        [MGB_SUPERVISED_POINT]; /* where the last worker was when it died; "" at the first start */
};

/* Tells the supervisor that work may be taken up again should this process die, and where it is now ("point 12 of 48"; "": as
 * it was started).
 * Three deaths at the same point end it. NULL: no longer. */
void mgb_supervised_restartable(struct mgb_supervised *link, const char *point);
/* Tells it whether a full-screen program has the terminal, to be undone at a death. Async-signal-safe. */
void mgb_supervised_screen(struct mgb_supervised *link, bool on);

typedef int mgb_worker_function(struct mgb_supervised *link, void *context);

struct mgb_supervisor_settings {
    bool off;            /* run the worker in this process: debuggers, sanitizers, ranks */
    const char *program; /* for messages */
    /* How messages call any of its points, where these are not for people to read; NULL: each is told as it is. */
    const char *point;
    /* Called in the supervisor after a death by `signal`, 0: by exit or _exit, to mark the run of process `worker`. Whatever it
     * opens it closes. NULL: nothing to mark. */
    void (*died)(void *context, pid_t worker, int signal);
};

/* Runs `worker(link, context)` in a child process and returns the exit code: the worker's own, returned or given to _exit;
 * 130 when it was ended by an interrupt; 1 after a death, which exit is too where the worker had not returned. */
int mgb_supervise(const struct mgb_supervisor_settings *settings, mgb_worker_function *worker,
                  void *context);

#endif
