/* Out of memory: which device, how much it would need and has, and what ran goes on. */
#include "tests/screens/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void a_batch_that_is_too_large_is_refused_and_the_run_goes_on(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, "--gpu-memory", "3MiB", NULL);
    live_run(t);
    live_command(t, "set batch=4096");
    terminal_await_match(t,
                         "! .*out of memory on /gpu:[01]: [0-9.]+ MiB needed, 3.0 MiB available");
    terminal_await_gone(t, "pending");
    terminal_await_match(t, "RUNNING +[0-9]");
    terminal_await_match(t, "batch/GPU +8 ");
    terminal_press(t, "7");
    terminal_await_match(t, "E .*out of memory on /gpu:[01]");
    terminal_press(t, "1");
    terminal_press(t, "r");
    live_await_segment(t, 2);
    live_pause(t);
    assert_string_equal(
        database_text(p, "SELECT group_concat(DISTINCT batch_per_gpu) FROM segment"), "8");
    assert_string_equal(database_text(p, "SELECT count(*) = max(step) + 1 FROM step"), "1");
    live_quit(t);
    assert_string_equal(database_text(p, "SELECT outcome FROM run"), "ok");
}

/* Before it runs it is only planned: what does not fit is told, and can be made smaller from there. */
static void a_plan_that_does_not_fit_says_so(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, "--gpu-memory", "3MiB", NULL);
    live_command(t, "set batch=1024");
    terminal_await_match(t, "! .*out of memory on /gpu:0: [0-9.]+ MiB needed, 3.0 MiB available");
    terminal_await_match(t, "batch/GPU +1024 +512 +OOM");
    terminal_press(t, "Space");
    terminal_await_match(t, "! .*out of memory on /gpu:0: [0-9.]+ MiB needed, 3.0 MiB available");
    terminal_await(t, "READY");
    live_command(t, "set batch=8");
    terminal_await_match(t, "batch/GPU +8 ");
    terminal_await_gone(t, "out of memory");
    live_run(t);
    live_quit(t);
}

static void a_device_that_runs_out_in_a_step_ends_the_run_alone(void **state)
{
    static const char *const fault[] = {"MGBENCH_FAULT=oom:/gpu:1:launch=20000", NULL};
    struct program *p = *state;
    struct terminal *t = live_ready(p, fault, NULL);
    terminal_press(t, "Space");
    terminal_await(t, "FAILED");
    terminal_await_match(t, "out of memory on /gpu:1");
    assert_string_equal(database_text(p, "SELECT outcome FROM run"), "oom");
    assert_string_equal(database_text(p, "SELECT oom_device FROM segment"), "/gpu:1");
    terminal_press(t, "r"); /* another placement, or the same would come again */
    terminal_await_match(t, "weights at +cpu:0");
    live_run(t);
    live_pause(t);
    live_quit(t);
    assert_string_equal(
        database_text(p, "SELECT group_concat(outcome, ' ') FROM (SELECT * FROM run ORDER "
                         "BY id)"),
        "oom ok");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_batch_that_is_too_large_is_refused_and_the_run_goes_on,
                                        live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_plan_that_does_not_fit_says_so, live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_device_that_runs_out_in_a_step_ends_the_run_alone,
                                        live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
