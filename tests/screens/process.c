/* The program as the system sees it: processes, signals, time, modes of its terminal. See terminal.h. */
#include "tests/screens/emulator.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

pid_t terminal_pid(struct terminal *t)
{
    return t->pid;
}

static pid_t child_of(pid_t pid)
{
    char path[64];
    int child = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    if (fscanf(file, "%d", &child) != 1)
        child = 0;
    fclose(file);
    return child;
}

/* The supervisor has one child, the worker; the worker's own children are jobs. */
pid_t terminal_worker(struct terminal *t)
{
    pid_t child = child_of(t->pid);
    return child > 0 ? child : t->pid;
}

void terminal_signal(struct terminal *t, int number)
{
    assert_false(terminal_has_ended(t));
    assert_int_equal(kill(t->pid, number), 0);
}

/* User and system time of one process, in ticks. */
static double ticks_of(pid_t pid)
{
    char path[64], line[1024];
    unsigned long user = 0, system_time = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    const char *at = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (!at || sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                      &system_time) != 2)
        user = system_time = 0;
    fclose(file);
    return (double)user + (double)system_time;
}

double terminal_cpu(struct terminal *t)
{
    pid_t worker = terminal_worker(t);
    double ticks = ticks_of(t->pid) + (worker != t->pid ? ticks_of(worker) : 0);
    return ticks / (double)sysconf(_SC_CLK_TCK);
}

const struct termios *terminal_modes_before(struct terminal *t)
{
    return &t->before;
}

struct termios terminal_modes(struct terminal *t)
{
    struct termios now;
    assert_int_equal(tcgetattr(t->slave, &now), 0);
    return now;
}

void terminal_check_restored(struct terminal *t)
{
    struct termios now = terminal_modes(t), before = t->before;
    terminal_look(t, 0);
    if (now.c_iflag != before.c_iflag || now.c_oflag != before.c_oflag ||
        now.c_cflag != before.c_cflag || now.c_lflag != before.c_lflag ||
        memcmp(now.c_cc, before.c_cc, sizeof now.c_cc) != 0)
        terminal_fail(
            t, "modes of the terminal: iflag %x, was %x; oflag %x, was %x; lflag %x, was %x",
            now.c_iflag, before.c_iflag, now.c_oflag, before.c_oflag, now.c_lflag, before.c_lflag);
    if (t->state.alternate)
        terminal_fail(t, "the second screen is still shown");
    if (!t->state.cursor)
        terminal_fail(t, "the cursor is still hidden");
    if (t->state.mouse)
        terminal_fail(t, "the mouse is still asked for");
}
