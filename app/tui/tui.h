/* The terminal program without its command line: opens the workbench and the screen, runs until the user leaves. */
#ifndef APP_TUI_H
#define APP_TUI_H

#include "app/tui/command.h"

struct mgb_tui_options {                    /* borrowed */
    struct mgb_workbench_options workbench; /* log, changed and context are set by the program */
    const struct tui_verb *verbs;           /* of the command line */
    const char *program;                    /* "mgbench-tui": of messages */
    const char *mgbench;                    /* path of the command line program */
    bool ascii, no_color, no_mouse, readonly, run; /* run: does not open paused */
    bool keep_running; /* a hang-up ends the screen, not the run in progress */
    const char *keys;  /* pressed at the start, as "Space,r,Enter"; NULL: none */
    const char *place; /* name of the first screen; NULL: as saved, else the bench */
    /* Tells the supervisor that a full-screen program has the terminal; may be NULL. */
    void (*screen)(void *context, bool on);
    void *context; /* of `screen` and of hub.restartable */
};

/* Returns the exit code. */
int mgb_tui_run(const struct mgb_tui_options *options);

#endif
