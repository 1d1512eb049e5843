/* The window is closed, the line of ssh is cut: the program ends by itself, nothing spins, the rows are there and the run is
 * told to be interrupted. (reference/ecosystem.md, section 2, row 50; section 6.3, row 7.) */
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
#include <time.h>

#include <cmocka.h>

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Returns the exit code. */
static int hung_up(struct terminal *t)
{
    pid_t worker = terminal_worker(t);
    double began = now_s();
    terminal_hang_up(t);
    int code = terminal_await_exit(t);
    print_message("it ended %.2f s after its terminal\n", now_s() - began);
    assert_int_equal(kill(worker, 0), -1);
    assert_int_equal(errno, ESRCH);
    return code;
}

static void rows_are_there(struct program *p, const char *outcome)
{
    assert_string_equal(database_text(p, "SELECT outcome FROM run"), outcome);
    assert_string_equal(
        database_text(p, "SELECT count(*) > 0 AND count(*) = max(step) + 1 FROM step"), "1");
}

static void closed_while_it_runs(void **state)
{
    struct program *p = *state;
    struct terminal *t = visit_start(p, NULL, NULL, NULL);
    live_run(t);
    assert_int_equal(hung_up(t), 130);
    rows_are_there(p, "interrupted");
}

static void closed_while_it_runs_as_one_process(void **state)
{
    struct program *p = *state;
    struct terminal *t = visit_start(p, NULL, NULL, "--no-supervisor", NULL);
    live_run(t);
    assert_int_equal(hung_up(t), 130);
    rows_are_there(p, "interrupted");
}

static void closed_while_it_waits(void **state)
{
    struct terminal *t = visit_start(*state, NULL, NULL, NULL);
    assert_int_equal(hung_up(t), 130);
    t = visit_start(*state, NULL, NULL, NULL);
    terminal_press(t, ":");
    terminal_await_match(t, "^:");
    assert_int_equal(hung_up(t), 130);
}

/* Paused, the run that was open ends with the terminal. */
static void closed_while_it_is_paused(void **state)
{
    struct program *p = *state;
    struct terminal *t = visit_start(p, NULL, NULL, NULL);
    live_run(t);
    live_pause(t);
    assert_int_equal(hung_up(t), 130);
    rows_are_there(p, "interrupted");
}

/* nohup: the signal is ignored; the end of the file says the same. */
static void closed_with_the_signal_ignored(void **state)
{
    static const char *const words[] = {"sh", "-c",
                                        "trap '' HUP; exec mgbench-tui mlp --backend host --gpus 2 "
                                        "--batch 8",
                                        NULL};
    struct program *p = *state;
    struct terminal *t = program_start_words(p, NULL, words);
    terminal_await(t, "READY");
    live_run(t);
    assert_int_equal(hung_up(t), 130);
    rows_are_there(p, "interrupted");
}

struct steps {
    struct program *program;
    double more_than;
};

static bool are_more(struct terminal *t, void *context)
{
    struct steps *steps = context;
    (void)t;
    return database_number(steps->program, "SELECT count(*) FROM step") > steps->more_than;
}

/* It was asked to: what runs goes on without a screen, until SIGTERM. */
static void with_keep_running_it_goes_on(void **state)
{
    struct program *p = *state;
    struct terminal *t = visit_start(p, NULL, NULL, "--keep-running", NULL);
    live_run(t);
    terminal_hang_up(t);
    struct steps steps = {p, database_number(p, "SELECT count(*) FROM step")};
    double end = now_s() + TERMINAL_SECONDS;
    while (!are_more(t, &steps) && now_s() < end)
        ;
    steps.more_than = database_number(p, "SELECT count(*) FROM step") + 100;
    while (!are_more(t, &steps) && now_s() < end)
        ;
    assert_true(are_more(t, &steps));
    assert_string_equal(database_text(p, "SELECT outcome FROM run"), "running");
    terminal_signal(t, SIGTERM);
    assert_int_equal(terminal_await_exit(t), 130);
    rows_are_there(p, "interrupted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(closed_while_it_runs, live_begin, live_end),
        cmocka_unit_test_setup_teardown(closed_while_it_runs_as_one_process, live_begin, live_end),
        cmocka_unit_test_setup_teardown(closed_while_it_waits, live_begin, live_end),
        cmocka_unit_test_setup_teardown(closed_while_it_is_paused, live_begin, live_end),
        cmocka_unit_test_setup_teardown(closed_with_the_signal_ignored, live_begin, live_end),
        cmocka_unit_test_setup_teardown(with_keep_running_it_goes_on, live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
