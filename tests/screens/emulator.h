/* What terminal.c and its neighbours share. */
#ifndef TESTS_SCREENS_EMULATOR_H
#define TESTS_SCREENS_EMULATOR_H

#include "tests/screens/terminal.h"
#include <vterm.h>

enum { TERMINAL_KEPT = 1 << 20 };

struct terminal {
    pid_t pid;
    int master, slave; /* -1: closed */
    int rows, columns;
    bool ended;
    int status; /* of waitpid, once it has ended */
    struct termios before;
    VTerm *vt;
    VTermScreen *screen;
    struct terminal_state state;
    char modes[64]; /* numbers of a sequence that has begun, with modes_begun bytes before them */
    size_t modes_begun, modes_used;
    char *text, *line;
    char *output; /* the newest TERMINAL_KEPT bytes */
    size_t kept;
};

/* emulator.c: the screen of it. */
void emulator_make(struct terminal *terminal);
void emulator_free(struct terminal *terminal);
void emulator_take(struct terminal *terminal, const char *bytes, size_t count);
void emulator_resize(struct terminal *terminal, int rows, int columns);

/* terminal.c: to the program; fails when it cannot be written. */
void terminal_write(struct terminal *terminal, const char *bytes, size_t count);
/* Fails the test with the screen. */
void terminal_fail(struct terminal *terminal, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
