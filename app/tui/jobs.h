/* Commands of mgbench run beside the screen, as processes: their output comes back as lines, nothing is waited for. */
#ifndef APP_TUI_JOBS_H
#define APP_TUI_JOBS_H

#include <mgb/status.h>
#include <stdbool.h>
#include <stddef.h>

struct tui_jobs;

struct tui_jobs_options {
    const char *program;  /* path of mgbench */
    const char *database; /* --db of every command; NULL: none */
    int columns;          /* of its plots */
    /* From the jobs' own thread: a job ended. `text` is what it printed (standard output, then standard error; of each no
     * more than a screen can take), borrowed; `code` its exit code, -1: it could not be started or died. Must not block. */
    void (*ended)(void *context, const char *line, const char *text, int code);
    void *context;
};

enum mgb_status tui_jobs_open(struct tui_jobs **out, const struct tui_jobs_options *options);
/* Asks those still running to end, and waits for none; nothing more is told of them. NULL is allowed, as below. */
void tui_jobs_end(struct tui_jobs *jobs);
/* The same, and waits; who takes longer than two seconds is killed. */
void tui_jobs_close(struct tui_jobs *jobs);
void tui_jobs_set_columns(struct tui_jobs *jobs, int columns);
/* Starts `mgbench WORDS...`; `line` is what to call it. MGB_BUSY: 8 are running. */
enum mgb_status tui_jobs_start(struct tui_jobs *jobs, char *const *words, int count,
                               const char *line);
int tui_jobs_running(struct tui_jobs *jobs);

enum { TUI_JOB_INTERRUPTED = 130 }; /* exit code of one that was stopped, however it ended */
/* Asks those that run to stop, as Ctrl-C does in a terminal: mgbench ends at the second at the latest, whoever is still
 * there at the third is killed. Returns how many; `line`: one of them. */
int tui_jobs_stop(struct tui_jobs *jobs, char *line, size_t size);
/* How many were asked and still run; `line`: one of them. */
int tui_jobs_stopping(struct tui_jobs *jobs, char *line, size_t size);

#endif
