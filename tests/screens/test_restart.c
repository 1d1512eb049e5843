/* The program dies in the middle of a run: the supervisor brings it back on what it was doing, paused. */
#include "tests/screens/live.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct terminal *running(struct program *p)
{
    struct terminal *t = live_ready(p, NULL, "--strategy", "gradients", NULL);
    live_run(t); /* a step is done: from here on it can be brought back */
    return t;
}

static bool is_another(struct terminal *t, void *context)
{
    pid_t worker = terminal_worker(t);
    return worker != terminal_pid(t) && worker != *(pid_t *)context;
}

static void a_killed_worker_is_started_again_paused(void **state)
{
    struct program *p = *state;
    struct terminal *t = running(p);
    terminal_press(t, "r");
    terminal_await_match(t, "seg 2 +RUNNING");
    pid_t first = terminal_worker(t);
    assert_int_not_equal(first, terminal_pid(t));
    assert_int_equal(kill(first, SIGKILL), 0);
    terminal_await_that(t, is_another, &first, "another worker");
    terminal_await(t, "READY");
    terminal_await(t, "mlp");
    terminal_await_match(t, "weights at +cpu:0");
    terminal_await_match(t, "strategy +gradients");
    assert_false(terminal_has(t, "RUNNING"));
    assert_string_equal(program_ask(p, "select count(*) from run"), "1");
    assert_string_equal(program_ask(p, "select outcome from run"), "crashed");
    terminal_press(t, "Space");
    terminal_await(t, "RUNNING");
    assert_string_equal(program_ask(p, "select count(*) from run"), "2");
    live_quit(t);
    assert_string_equal(program_ask(p, "select batch_per_gpu, strategy, weights_at from segment "
                                       "order by run_id desc limit 1"),
                        "8,gradients,/cpu:0");
}

static void after_three_deaths_at_one_point_it_ends_with_the_terminal_as_it_was(void **state)
{
    struct program *p = *state;
    struct terminal *t = running(p);
    for (int i = 0; i < 3; i++) {
        pid_t worker = terminal_worker(t);
        assert_int_equal(kill(worker, SIGABRT), 0);
        if (i == 2)
            break;
        terminal_await_that(t, is_another, &worker, "another worker");
        terminal_await(t, "READY");
        terminal_press(t, "Space");
        terminal_await_match(t, "RUNNING +[1-9]");
    }
    assert_int_equal(terminal_await_exit(t), 1);
    terminal_check_restored(t);
    assert_true(terminal_has(t, "giving up after 3 deaths at its last good placement"));
    assert_true(terminal_has(t, "starting again; it was at its last good placement"));
    assert_false(terminal_has(t, "{")); /* the state it was brought back to is not for people */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_killed_worker_is_started_again_paused, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(
            after_three_deaths_at_one_point_it_ends_with_the_terminal_as_it_was, live_begin,
            live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
