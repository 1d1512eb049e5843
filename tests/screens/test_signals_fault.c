/* A fault in the process that works: the terminal is as it was, the rows are there; under the supervisor the program comes back
 * paused on what it ran, as one process it says which fault it was and dies of it. (reference/ecosystem.md, section 2, row 52;
 * section 6.3, row 13.) */
#include "tests/screens/emulator.h"
#include "tests/screens/visit.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    int number;
    const char *name;
} faults[] = {{SIGSEGV, "SIGSEGV"},
              {SIGABRT, "SIGABRT"},
              {SIGBUS, "SIGBUS"},
              {SIGFPE, "SIGFPE"},
              {SIGILL, "SIGILL"}};
enum { FAULTS = sizeof faults / sizeof *faults };

/* Sanitizers have handlers of their own for some of them, and end with a code. */
static const char *const as_they_are[] = {
    "ASAN_OPTIONS=detect_odr_violation=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_"
    "sigill=0:handle_abort=0",
    "TSAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0",
    NULL};
static const struct terminal_options options = {.environment = as_they_are};

static bool is_another(struct terminal *t, void *context)
{
    pid_t worker = terminal_worker(t);
    return worker != terminal_pid(t) && worker != *(pid_t *)context;
}

static void rows_are_there(struct program *p, const char *outcome)
{
    assert_string_equal(database_text(p, "SELECT outcome FROM run ORDER BY id"), outcome);
    assert_string_equal(
        database_text(p,
                      "SELECT count(*) > 0 AND count(*) = max(step) + 1 FROM step JOIN segment g "
                      "ON g.id = segment_id WHERE g.run_id = 1"),
        "1");
}

static void comes_back(struct program *p, int number)
{
    struct terminal *t = visit_start(p, &options, NULL, NULL);
    live_run(t);
    pid_t worker = terminal_worker(t);
    assert_int_not_equal(worker, terminal_pid(t));
    assert_int_equal(kill(worker, number), 0);
    terminal_await_that(t, is_another, &worker, "another worker");
    terminal_await(t, "READY");
    assert_true(terminal_state(t).alternate);
    rows_are_there(p, "crashed");
    live_quit(t);
    assert_string_equal(database_text(p, "SELECT count(*) FROM run"), "1");
}

static void under_the_supervisor_it_comes_back_paused(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct program p;
        program_make(&p);
        comes_back(&p, faults[i].number);
        program_free(&p);
    }
}

static void dies_of_it(struct program *p, int number, const char *name)
{
    char line[80];
    struct terminal *t = visit_start(p, &options, NULL, "--no-supervisor", NULL);
    live_run(t);
    terminal_signal(t, number);
    int code = terminal_await_exit(t);
    if (code != 128 + number)
        terminal_fail(t, "%s: it ended with %d", name, code);
    terminal_check_restored(t);
    snprintf(line, sizeof line, "a fault of the program: %s", name);
    terminal_await(t, line);
    /* who opens the file next sees that nobody writes it any more */
    assert_int_equal(program_run(p, "runs >/dev/null"), 0);
    rows_are_there(p, database_text(p, "SELECT outcome FROM run"));
}

static void as_one_process_it_dies_of_it_with_the_terminal_as_it_was(void **state)
{
    (void)state;
    for (int i = 0; i < FAULTS; i++) {
        struct program p;
        program_make(&p);
        dies_of_it(&p, faults[i].number, faults[i].name);
        program_free(&p);
    }
}

/* In another mode than usual: a line is open, the cursor shown. */
static void with_a_line_open_it_dies_with_the_terminal_as_it_was(void **state)
{
    struct terminal *t = visit_start(*state, &options, NULL, "--no-supervisor", NULL);
    terminal_press(t, ":");
    terminal_await_match(t, "^:");
    terminal_signal(t, SIGABRT);
    assert_int_equal(terminal_await_exit(t), 128 + SIGABRT);
    terminal_check_restored(t);
}

/* Terminals of every kind are given back by what their description says. */
static void every_kind_of_terminal_is_given_back(void **state)
{
    static const char *const terms[] = {"vt100", "linux", "screen", "tmux-256color"};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        struct terminal_options kind = options;
        kind.term = terms[i];
        struct terminal *t = visit_start(*state, &kind, NULL, "--no-supervisor", NULL);
        terminal_signal(t, SIGSEGV);
        assert_int_equal(terminal_await_exit(t), 128 + SIGSEGV);
        terminal_check_restored(t);
        t = visit_start(*state, &kind, NULL, NULL);
        for (int death = 1; death < 3; death++) { /* the third ends it */
            pid_t worker = terminal_worker(t);
            assert_int_equal(kill(worker, SIGKILL), 0);
            terminal_await_that(t, is_another, &worker, "another worker");
            terminal_await(t, "READY");
        }
        assert_int_equal(kill(terminal_worker(t), SIGKILL), 0);
        assert_int_equal(terminal_await_exit(t), 1);
        terminal_check_restored(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(under_the_supervisor_it_comes_back_paused),
        cmocka_unit_test(as_one_process_it_dies_of_it_with_the_terminal_as_it_was),
        cmocka_unit_test_setup_teardown(with_a_line_open_it_dies_with_the_terminal_as_it_was,
                                        live_begin, live_end),
        cmocka_unit_test_setup_teardown(every_kind_of_terminal_is_given_back, live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
