/* The running program: everything that is open, and what the main loop knows. Main thread only, but for what says so. */
#ifndef APP_TUI_PROGRAM_H
#define APP_TUI_PROGRAM_H

#include "app/tui/chatter.h"
#include "app/tui/screen.h"
#include "app/tui/terminal.h"
#include "app/tui/tui.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

/* Shells and `timeout` signal a process and then its group: two within this time are one. */
#define TUI_SAME_SIGNAL_NS 200000000LL

enum tui_end {
    TUI_END_NOT,
    TUI_END_QUIT,   /* asked for with a key */
    TUI_END_SIGNAL, /* interrupted, ended or hung up: two seconds are left */
};

struct tui_ended_job {
    struct tui_ended_job *next;
    int code;
    char *line, *text;
};

struct tui_program {
    const struct mgb_tui_options *options;
    struct tui_log *log;
    struct tui_chatter *chatter;
    struct mgb_archive *archive;
    struct mgb_workbench *workbench;
    struct tui_jobs *jobs;
    struct tui_screen *screen;
    struct tui_canvas canvas;
    int terminal;         /* what descriptor 1 was */
    int keyboard;         /* what descriptor 0 was */
    int wake;             /* an eventfd: something may have changed */
    atomic_bool is_woken; /* any thread: it was written to and not read yet */
    pthread_mutex_t jobs_lock;
    struct tui_ended_job *ended; /* newest first; under jobs_lock */
    int signals;                 /* a signalfd */
    sigset_t mask_before;
    pthread_t main, watcher;
    int watch;           /* an eventfd: `watched` is another one */
    atomic_int watched;  /* what the watcher looks for */
    atomic_bool stalled; /* the terminal takes nothing, and was given up */
    atomic_uint drawing; /* odd: a picture goes to the terminal */
    pthread_mutex_t cut_lock;
    bool cut; /* under it: what is left of that picture went nowhere */

    enum tui_end end;
    bool hasty;             /* what does not end in two seconds is left as it is */
    bool headless;          /* hung up, and kept running */
    bool away;              /* another job of the shell has the terminal */
    bool must_draw;         /* whatever the screen says */
    bool more_keys;         /* there may be some although the terminal has nothing to read */
    bool recorded;          /* some run is in the database */
    int64_t pause_until_ns; /* what wakes is not looked at before */
    int64_t paid_until_ns;  /* of the time, by pictures drawn so far */
    int64_t looked_ns, interrupt_ns, started_ns;
    const char *keys; /* left to be pressed; NULL: none */
    bool run;         /* left to be asked for */
};

int64_t tui_now_ns(void); /* monotonic */

/* tui.c: to who started the program: it has the terminal, or no longer has. */
void tui_holder_tell(const struct tui_program *program, bool on);

/* signals.c: blocks the signals of the program and makes `signals`; before any thread is started. */
enum mgb_status tui_signals_take(struct tui_program *program);
void tui_signals_give_back(struct tui_program *program);
/* The next one that came; 0: none. */
int tui_signals_next(struct tui_program *program);
/* One that came already is forgotten. */
void tui_signals_forget(int number);
/* While the end of a step is waited for: Ctrl-C and others end the process at once, and a line says so after a while. */
void tui_signals_wait_begin(const struct tui_program *program);
void tui_signals_wait_end(void);

/* The reason that the line gives; a static text. */
void tui_signals_wait_reason(const char *text);

/* watch.c: a thread that gives up a terminal that takes nothing when the program has to end. */
enum mgb_status tui_watch_begin(struct tui_program *program);
void tui_watch_end_begun(struct tui_program *program); /* from here on nothing may wait for it */
void tui_watch_end(struct tui_program *program);
/* Around a picture. False: not all of it reached the terminal, for a key waited. */
void tui_watch_picture_begun(struct tui_program *program);
bool tui_watch_picture_ended(struct tui_program *program);

/* wake.c, from any thread: callbacks that only wake the loop. The context is the program. */
void tui_wake(void *context);
void tui_wake_log(void *context, enum mgb_line_kind kind, const char *line);
void tui_wake_job_ended(void *context, const char *line, const char *text, int code);
/* On the main thread: takes the wake-up back; hands ended jobs to the screen. */
void tui_wake_take(struct tui_program *program);
void tui_wake_jobs(struct tui_program *program);

/* press.c */
void tui_press(struct tui_program *program, int key);
/* Presses what is left of `keys` and asks for `run` once the workbench is ready for it. */
void tui_press_waiting(struct tui_program *program);
void tui_suspend(struct tui_program *program);

/* loop.c: until `end` is something. */
void tui_loop(struct tui_program *program);
/* Whether a run was recorded, for the last words. */
void tui_recorded_look(struct tui_program *program);

#endif
