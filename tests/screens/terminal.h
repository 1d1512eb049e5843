/* A program behind a terminal emulator (libvterm) in a pseudo-terminal: keys go in, the screen is read as text. Whatever
 * fails, fails the cmocka test that called, with the screen as it was. Nothing sleeps: each wait is for a text, an end or a
 * state, until TERMINAL_SECONDS are over. */
#ifndef TESTS_SCREENS_TERMINAL_H
#define TESTS_SCREENS_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

struct terminal;

enum { TERMINAL_SECONDS = 60 };

struct terminal_options {
    int rows, columns; /* 0: 24, 80 */
    const char *term;  /* TERM; NULL: xterm-256color; "": not set */
    const char *const
        *environment;   /* "NAME=value", or "NAME": not set; ended by NULL; NULL: as it is */
    const char *folder; /* to start in; NULL: here */
};

/* Starts argv[0], found by PATH, as the leader of a session on the terminal. `options` may be NULL. */
struct terminal *terminal_start(const struct terminal_options *options, const char *const *argv);
/* Kills what is still there. NULL is allowed. */
void terminal_end(struct terminal *terminal);

/* Keys. Text goes as it is; names are those of app/tui/action.h: "Space,r,Up,Ctrl-C,F5,Shift-Tab,Esc,PgDn". */
void terminal_type(struct terminal *terminal, const char *text);
void terminal_press(struct terminal *terminal, const char *keys);
/* `button` 1: left; 4, 5: the wheel up and down. */
void terminal_click(struct terminal *terminal, int y, int x, int button);
void terminal_resize(struct terminal *terminal, int rows, int columns);

/* Waits until it stands on the screen, or no longer does. `regex` is an extended one over the lines. */
void terminal_await(struct terminal *terminal, const char *text);
void terminal_await_gone(struct terminal *terminal, const char *text);
void terminal_await_match(struct terminal *terminal, const char *regex);
/* Waits until `is` is true; `what` is told when it does not come. */
void terminal_await_that(struct terminal *terminal, bool (*is)(struct terminal *, void *context),
                         void *context, const char *what);
/* Takes in what comes, for `ms` at most; false: nothing came. */
bool terminal_look(struct terminal *terminal, int ms);
/* Waits for the end of the program: its exit code, or 128 and the signal. */
int terminal_await_exit(struct terminal *terminal);
bool terminal_has_ended(struct terminal *terminal);

/* The screen as it is known now, blanks at the ends of lines left out; borrowed until the next call. */
const char *terminal_text(struct terminal *terminal);
const char *terminal_line(struct terminal *terminal, int y);
bool terminal_has(struct terminal *terminal, const char *text);
bool terminal_matches(struct terminal *terminal, const char *regex);
/* Where a text stands for the first time, row and column; false: nowhere. */
bool terminal_find(struct terminal *terminal, const char *text, int *y, int *x);

struct terminal_cell {
    uint32_t point;
    bool bold, underline, reverse;
    bool colored;    /* not the terminal's own two colours */
    int front, back; /* of the palette; -1: the terminal's own */
};
struct terminal_cell terminal_cell(struct terminal *terminal, int y, int x);
/* Of all cells, how many have a colour. */
int terminal_colored(struct terminal *terminal);

struct terminal_state {
    bool alternate, cursor; /* the second screen is shown; the cursor is */
    int mouse;              /* 0: not asked for */
    int y, x;               /* of the cursor */
    size_t bytes;           /* that the program has written */
};
struct terminal_state terminal_state(struct terminal *terminal);
/* All that it wrote, newest megabyte; borrowed. */
const char *terminal_output(struct terminal *terminal, size_t *size);

/* The process, and the one that does the work below a supervisor (the same without one). */
pid_t terminal_pid(struct terminal *terminal);
pid_t terminal_worker(struct terminal *terminal);
void terminal_signal(struct terminal *terminal, int number); /* to the process */
/* The window is closed: the terminal is gone. */
void terminal_hang_up(struct terminal *terminal);
/* Processor time that the process and those below it have used, in seconds. */
double terminal_cpu(struct terminal *terminal);

/* Modes of the terminal as they were before the program, and are. */
const struct termios *terminal_modes_before(struct terminal *terminal);
struct termios terminal_modes(struct terminal *terminal);
/* Modes as before, first screen, cursor shown, no mouse. */
void terminal_check_restored(struct terminal *terminal);

#endif
