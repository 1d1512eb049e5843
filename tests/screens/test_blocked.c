/* The results file cannot be written: by another program's transaction for a while, or because the disk is full. What runs
 * goes on, the screen says what is the matter, and what was stored stays. (reference/ecosystem.md 6.3, rows 34 and 35.) */
#include "tests/screens/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void rows_wait_for_another_program_and_none_is_lost(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    live_run(t);
    live_await_segment(t, 1);
    struct database_holder *holder = database_hold(p);
    terminal_await_match(t, "another program writes");
    terminal_press(t, "2"); /* keys are answered all the while */
    terminal_await(t, "DEVICES");
    assert_true(terminal_matches(t, "another program"));
    terminal_press(t, "1");
    terminal_await(t, "PLACEMENT");
    terminal_look(t, 2000);
    database_let_go(holder);
    terminal_await_gone(t, "another program");
    terminal_press(t, "r");
    live_await_segment(t, 2);
    live_pause(t);
    live_check_word(t, "PAUSED", 0, database_text(p, "SELECT count(*) FROM step"));
    assert_string_equal(
        database_text(p, "SELECT count(*) = max(step) + 1 AND min(step) = 0 FROM step"), "1");
    live_quit(t);
    assert_string_equal(database_text(p, "SELECT outcome || log_complete FROM run"), "ok1");
}

/* Leaving waits for some seconds, says for whom, and goes without what could not be stored. */
static void a_file_that_is_kept_keeps_nobody(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    live_run(t);
    live_await_segment(t, 1);
    struct database_holder *holder = database_hold(p);
    terminal_await_match(t, "another program writes");
    terminal_press(t, "q");
    terminal_await(t, "waiting for another program that writes to ");
    assert_int_equal(terminal_await_exit(t), 1);
    terminal_await(t, "another program holds ");
    terminal_check_restored(t);
    database_let_go(holder);
    assert_string_equal(
        database_text(p, "SELECT count(*) = max(step) + 1 AND min(step) = 0 FROM step"), "1");
}

/* A limit of the size of files is a disk that is full, without one. */
static void a_full_disk_is_told_and_the_run_goes_on(void **state)
{
    static const char *const words[] = {
        "sh", "-c", "ulimit -f 800; exec mgbench-tui mlp --backend host --gpus 2 --batch 8", NULL};
    static const char of_first[] =
        "SELECT count(*) FROM step JOIN segment g ON g.id = segment_id WHERE run_id = 1";
    struct program *p = *state;
    assert_int_equal(program_run(p, "run mlp --backend host --steps 20 --quiet"), 0);
    double steps = database_number(p, "%s", of_first);
    assert_true(steps >= 20);
    struct terminal *t = program_start_words(p, NULL, words);
    terminal_await(t, "READY");
    live_run(t);
    terminal_await_match(t, "full");
    terminal_press(t, "Esc");
    terminal_press(t, "2");
    terminal_await(t, "DEVICES");
    terminal_await_match(t, "full"); /* it stays told */
    terminal_press(t, "1,r");
    terminal_await_match(t, "weights at +cpu:0");
    terminal_await_match(t, "RUNNING +[0-9]");
    terminal_press(t, "q");
    assert_int_equal(terminal_await_exit(t), 1);
    terminal_check_restored(t);
    terminal_await(t, "the record of this run is incomplete: ");
    assert_true(steps == database_number(p, "%s", of_first));
    assert_string_equal(database_text(p, "SELECT count(*) = coalesce(max(step) + 1, 0) FROM step "
                                         "JOIN segment g ON g.id = segment_id WHERE run_id = 2"),
                        "1");
    assert_string_equal(database_text(p, "PRAGMA integrity_check"), "ok");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_wait_for_another_program_and_none_is_lost, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(a_file_that_is_kept_keeps_nobody, live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_full_disk_is_told_and_the_run_goes_on, live_begin,
                                        live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
