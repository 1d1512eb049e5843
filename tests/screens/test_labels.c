/* While a run is recorded the results file is this program's alone: other runs are labelled all the same, and what has to wait
 * says so at once. */
#include "tests/screens/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void other_runs_are_labelled_while_one_is_recorded(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    live_run(t);
    live_pause(t);
    terminal_press(t, "x,y");
    terminal_await(t, "READY");
    live_run(t);
    live_command(t, "tag 1 older");
    terminal_await(t, "RUNNING");
    live_command(t, "note hello world");
    live_command(t, "note 1 'it was hot'");
    live_command(t, "baseline set b 1");
    terminal_await(t, "a run is being recorded: end it first (x on the bench)");
    live_command(t, "rm 1");
    terminal_await(t, "a run is being recorded: end it first (x on the bench)");
    terminal_press(t, "7");
    terminal_await(t, "tag of run 1: older");
    terminal_await(t, "note of run 2: hello world");
    terminal_await(t, "note of run 1: it was hot");
    terminal_press(t, "5");
    terminal_await_match(t, "> +2\\.1 ");
    terminal_press(t, "j");
    terminal_await_match(t, "> +1\\.1 ");
    terminal_press(t, "t");
    terminal_await(t, "tag run 1");
    terminal_type(t, "list");
    terminal_press(t, "Enter");
    terminal_press(t, "7");
    terminal_await(t, "tag of run 1: list");
    terminal_press(t, "1");
    live_pause(t);
    assert_string_equal(database_text(p,
                                      "SELECT group_concat(name, ' ') FROM (SELECT name FROM tag "
                                      "WHERE run_id = 1 ORDER BY name)"),
                        "list older");
    assert_string_equal(
        database_text(p, "SELECT text FROM note WHERE run_id = 2 AND text LIKE 'h%%'"),
        "hello world");
    live_quit(t);
}

/* The program is opened again: nothing was run yet, and both placements are stored. */
static void what_is_pressed_is_told_of_stored_runs(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    live_run(t);
    live_await_segment(t, 1);
    terminal_press(t, "r");
    live_await_segment(t, 2);
    live_quit(t);
    t = live_ready(p, NULL, NULL);
    terminal_await(t, "pressed *stored");
    terminal_await_match(t, "^r +weights at +gpu:0 +cpu:0 .*\\*");
    assert_string_equal(database_text(p, "SELECT count(*) FROM run"), "1");
    live_quit(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(other_runs_are_labelled_while_one_is_recorded, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(what_is_pressed_is_told_of_stored_runs, live_begin,
                                        live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
