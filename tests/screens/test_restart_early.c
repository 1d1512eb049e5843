/* The program dies before a run of the bench has done a step: it comes back all the same, paused on what it was opening, on
 * what was only looked at, or as it was started. */
#include "tests/screens/live.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A first step that takes long. */
static const char *const slow[] = {"MGBENCH_FAULT=slow:/gpu:0:us=500000", NULL};

static bool is_another(struct terminal *t, void *context)
{
    pid_t worker = terminal_worker(t);
    return worker != terminal_pid(t) && worker != *(pid_t *)context;
}

static void worker_kill(struct terminal *t, const char *await)
{
    pid_t worker = terminal_worker(t);
    assert_int_not_equal(worker, terminal_pid(t));
    assert_int_equal(kill(worker, SIGKILL), 0);
    terminal_await_that(t, is_another, &worker, "another worker");
    terminal_await(t, await);
}

static void before_the_first_step_it_comes_back_on_what_it_opened(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, slow, NULL);
    terminal_press(t, "r");
    terminal_await_match(t, "weights at +cpu:0");
    terminal_press(t, "Space");
    terminal_await_match(t, "OPENING|RUNNING");
    worker_kill(t, "READY");
    terminal_await_match(t, "weights at +cpu:0");
    terminal_await_match(t, "batch/GPU +8 ");
    live_run(t);
    live_pause(t);
    live_quit(t);
    assert_string_equal(database_text(p, "SELECT outcome FROM run ORDER BY id DESC"), "ok");
}

static void before_a_run_it_comes_back_as_it_was(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    terminal_press(t, "r");
    terminal_await_match(t, "weights at +cpu:0");
    worker_kill(t, "READY");
    terminal_await_match(t, "weights at +cpu:0");
    live_quit(t);
}

static void without_a_model_it_comes_back_as_it_was_started(void **state)
{
    struct program *p = *state;
    struct terminal *t = program_start(p, NULL, "--screen", "log", NULL);
    terminal_await(t, "LOG (UTC)");
    terminal_await(t, "NO MODEL");
    worker_kill(t, "NO MODEL");
    terminal_await(t, "ended by a fault");
    live_quit(t);
}

static void in_its_first_sweep_it_comes_back_to_the_grid(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, slow, "--screen", "sweep", NULL);
    terminal_await(t, "nothing varies yet");
    terminal_press(t, "Home,Down,Down,Down,Down");
    terminal_press(t, "e");
    terminal_await_match(t, "commas.*:");
    terminal_press(t, "Ctrl-U");
    terminal_type(t, "4, 8");
    terminal_press(t, "Enter");
    terminal_await(t, "4, 8");
    terminal_press(t, "s");
    terminal_await(t, "SWEEPING");
    worker_kill(t, "READY");
    assert_true(terminal_state(t).alternate);
    live_quit(t);
}

static void what_dies_again_and_again_before_it_ran_ends(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    worker_kill(t, "READY");
    worker_kill(t, "READY");
    assert_int_equal(kill(terminal_worker(t), SIGKILL), 0);
    assert_int_equal(terminal_await_exit(t), 1);
    terminal_check_restored(t);
    terminal_await(t, "giving up after 3 deaths");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(before_the_first_step_it_comes_back_on_what_it_opened,
                                        live_begin, live_end),
        cmocka_unit_test_setup_teardown(before_a_run_it_comes_back_as_it_was, live_begin, live_end),
        cmocka_unit_test_setup_teardown(without_a_model_it_comes_back_as_it_was_started, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(in_its_first_sweep_it_comes_back_to_the_grid, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(what_dies_again_and_again_before_it_ran_ends, live_begin,
                                        live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
