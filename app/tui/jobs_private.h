/* Starting the process of a job. */
#ifndef APP_TUI_JOBS_PRIVATE_H
#define APP_TUI_JOBS_PRIVATE_H

#include <mgb/status.h>
#include <sys/types.h>

struct job_words { /* borrowed */
    const char *program, *database;
    char *const *words;
    int count;
};

/* `program --db database WORDS...`, without input, with nothing open but its outputs; outputs[0] and [1] are what it writes
 * to standard output and standard error, not blocking. */
enum mgb_status tui_job_spawn(pid_t *pid, int outputs[2], const struct job_words *words,
                              int columns);
/* A descriptor that can be read once the process has ended; -1: the system has none. */
int tui_job_watch(pid_t pid);

#endif
