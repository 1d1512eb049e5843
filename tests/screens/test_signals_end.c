/* Every way to end the program, while it runs and before: the terminal is as it was, the process that worked is gone, what the
 * screen had shown is in the file and the file says how it ended. (reference/ecosystem.md 6.3, rows 7 and 13.) */
#include "tests/screens/emulator.h"
#include "tests/screens/visit.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct way {
    const char *name, *keys; /* pressed; NULL: signals */
    int number, times;       /* a signal to the first process, and how often */
    bool group;              /* to the whole group, as a terminal or `kill %1` does */
    int code;
    const char *outcome;
};

static const struct way ways[] = {
    {"q", "q", 0, 0, false, 0, "ok"},
    {":quit", ":,q,u,i,t,Enter", 0, 0, false, 0, "ok"},
    {"Ctrl-C twice", "Ctrl-C,Ctrl-C", 0, 0, false, 0, "ok"},
    {"SIGTERM", NULL, SIGTERM, 1, false, 130, "interrupted"},
    {"SIGTERM to all", NULL, SIGTERM, 1, true, 130, "interrupted"},
    {"SIGHUP", NULL, SIGHUP, 1, false, 130, "interrupted"},
    {"SIGHUP to all", NULL, SIGHUP, 1, true, 130, "interrupted"},
    {"SIGTERM thrice", NULL, SIGTERM, 3, false, 130, "interrupted"},
};
enum { WAYS = sizeof ways / sizeof *ways };

static void go(struct terminal *t, const struct way *way)
{
    if (way->keys)
        terminal_press(t, way->keys);
    for (int i = 0; i < way->times; i++)
        kill(way->group ? -terminal_pid(t) : terminal_pid(t), way->number);
}

static void check_gone(pid_t pid, const char *name)
{
    if (kill(pid, 0) == 0 || errno != ESRCH)
        fail_msg("%s: the working process is still there", name);
}

/* Steps that the head line shows; -1: it is not there whole. */
static double steps_shown(struct terminal *t)
{
    const char *head = terminal_line(t, 0), *at = strrchr(head, ' ');
    return at && strstr(head, "RUNNING ") ? atof(at) : -1;
}

static bool shows_steps(struct terminal *t, void *shown)
{
    *(double *)shown = steps_shown(t);
    return *(double *)shown >= 20;
}

static void rows_check(struct program *p, const struct way *way, double shown)
{
    double rows = database_number(p, "SELECT count(*) FROM step");
    double last = database_number(p, "SELECT max(step) FROM step");
    if (rows < shown || rows != last + 1)
        fail_msg("%s: %.0f steps were shown, %.0f are in the file, the last is %.0f", way->name,
                 shown, rows, last);
    const char *outcome = database_text(p, "SELECT outcome FROM run");
    if (strcmp(outcome, way->outcome) != 0)
        fail_msg("%s: the run ended '%s', not '%s'", way->name, outcome, way->outcome);
}

static void ended_while_it_runs(const struct way *way, const char *word)
{
    struct program p;
    double shown = 0;
    program_make(&p);
    struct terminal *t = visit_start(&p, NULL, NULL, word, NULL);
    pid_t worker = terminal_worker(t);
    live_run(t);
    terminal_await_that(t, shows_steps, &shown, "twenty steps");
    go(t, way);
    int code = terminal_await_exit(t);
    if (code != way->code)
        terminal_fail(t, "%s: it ended with %d, not %d", way->name, code, way->code);
    check_gone(worker, way->name);
    terminal_check_restored(t);
    rows_check(&p, way, shown);
    program_free(&p);
}

static void under_the_supervisor_it_ends_well(void **state)
{
    (void)state;
    for (int i = 0; i < WAYS; i++)
        ended_while_it_runs(&ways[i], NULL);
}

static void as_one_process_it_ends_well(void **state)
{
    (void)state;
    for (int i = 0; i < WAYS; i++)
        ended_while_it_runs(&ways[i], "--no-supervisor");
}

/* Nothing ran: there is nothing to store. */
static void before_it_runs_it_ends_well(void **state)
{
    struct program *p = *state;
    for (int i = 0; i < WAYS; i++) {
        struct terminal *t = visit_start(p, NULL, NULL, NULL);
        pid_t worker = terminal_worker(t);
        go(t, &ways[i]);
        int code = terminal_await_exit(t);
        if (code != ways[i].code)
            terminal_fail(t, "%s: it ended with %d, not %d", ways[i].name, code, ways[i].code);
        check_gone(worker, ways[i].name);
        terminal_check_restored(t);
    }
    assert_string_equal(program_ask(p, "select 1"), "");
}

/* With a menu or a line open the terminal has a cursor and other keys. */
static void in_the_middle_of_something_it_ends_well(void **state)
{
    static const struct {
        const char *keys, *there;
    } somethings[] = {{":", ":"}, {"M", "MODEL"}, {"?", "[Help]"}, {"5,/", "/"}};
    for (size_t i = 0; i < sizeof somethings / sizeof *somethings; i++) {
        struct terminal *t = visit_start(*state, NULL, NULL, NULL);
        terminal_press(t, somethings[i].keys);
        terminal_await(t, somethings[i].there);
        terminal_signal(t, SIGTERM);
        assert_int_equal(terminal_await_exit(t), 130);
        terminal_check_restored(t);
    }
}

static bool is_gone(struct terminal *t, void *pid)
{
    (void)t;
    return kill(*(pid_t *)pid, 0) != 0;
}

/* Who watches over it is killed: it must not stay behind. The terminal is given back by who had it. */
static void without_its_supervisor_it_ends_well(void **state)
{
    struct program *p = *state;
    struct terminal *t = visit_start(p, NULL, NULL, NULL);
    pid_t worker = terminal_worker(t);
    live_run(t);
    assert_int_equal(kill(terminal_pid(t), SIGKILL), 0);
    terminal_await_exit(t);
    for (int i = 0; i < TERMINAL_SECONDS * 50 && !is_gone(t, &worker); i++)
        terminal_look(t, 20), usleep(20000);
    check_gone(worker, "SIGKILL of the supervisor");
    terminal_check_restored(t);
    assert_string_equal(database_text(p, "SELECT outcome FROM run"), "interrupted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(under_the_supervisor_it_ends_well),
        cmocka_unit_test(as_one_process_it_ends_well),
        cmocka_unit_test_setup_teardown(before_it_runs_it_ends_well, live_begin, live_end),
        cmocka_unit_test_setup_teardown(in_the_middle_of_something_it_ends_well, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(without_its_supervisor_it_ends_well, live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
