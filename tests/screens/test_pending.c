/* What is asked for while a step runs is pending, seen as such, and in force from the next step on as another segment. */
#include "tests/screens/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Every operator on /gpu:0 takes so much longer that a key comes in the middle of a step. */
static const char *const slow[] = {"MGBENCH_FAULT=slow:/gpu:0:us=60000", NULL};

static void a_toggle_is_pending_until_the_step_ends(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, slow, NULL);
    live_run(t);
    terminal_press(t, "r");
    terminal_await_match(t, "weights at +gpu:0 +cpu:0 +pending");
    terminal_await_match(t, "pending: .*(cpu_relocation|weights_at)=");
    assert_true(terminal_matches(t, "seg 1 "));
    terminal_await_match(t, "seg 2 .*RUNNING");
    terminal_await_match(t, "weights at +cpu:0 +gpu:0");
    terminal_await_gone(t, "pending");
    live_pause(t);
    assert_string_equal(
        database_text(p, "SELECT group_concat(weights_at, ' ') FROM (SELECT * FROM segment ORDER "
                         "BY id)"),
        "/gpu:0 /cpu:0");
    /* no step is of both */
    assert_string_equal(
        database_text(p, "SELECT count(*) = max(step) + 1 AND count(*) = count(DISTINCT step) FROM "
                         "step"),
        "1");
    assert_string_equal(database_text(p, "SELECT (SELECT max(step) FROM step WHERE segment_id = 1) "
                                         "< (SELECT min(step) FROM step WHERE segment_id = 2)"),
                        "1");
    live_quit(t);
}

static void several_that_wait_are_one_change(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, slow, NULL);
    live_run(t);
    terminal_press(t, "r,B,s");
    terminal_await_match(t, "batch/GPU +8 +16 +pending");
    terminal_await_match(t, "strategy +gradients");
    terminal_await_gone(t, "pending");
    live_pause(t);
    assert_string_equal(database_text(p, "SELECT count(*) <= 3 FROM segment"), "1");
    assert_string_equal(database_text(p, "SELECT strategy || batch_per_gpu || weights_at FROM "
                                         "segment ORDER BY id DESC"),
                        "gradients16/cpu:0");
    live_quit(t);
}

static void what_is_pending_can_be_undone(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, slow, NULL);
    live_run(t);
    terminal_press(t, "B");
    terminal_await_match(t, "batch/GPU +8 +16 +pending");
    terminal_press(t, "u");
    terminal_await_gone(t, "pending");
    live_pause(t);
    terminal_await_match(t, "batch/GPU +8 ");
    assert_string_equal(database_text(p, "SELECT batch_per_gpu FROM segment ORDER BY id DESC"),
                        "8");
    live_quit(t);
}

static void a_pause_waits_for_the_step(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, slow, NULL);
    live_run(t);
    terminal_press(t, "Space");
    terminal_await_match(t, "pending: 1 waits|PAUSED");
    terminal_await(t, "PAUSED");
    live_rest(t);
    live_check_word(t, "PAUSED", 0, database_text(p, "SELECT count(*) FROM step"));
    live_quit(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_toggle_is_pending_until_the_step_ends, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(several_that_wait_are_one_change, live_begin, live_end),
        cmocka_unit_test_setup_teardown(what_is_pending_can_be_undone, live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_pause_waits_for_the_step, live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
