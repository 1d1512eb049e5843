/* Ctrl-C stops what was asked for after ':' and nothing else: expressions, those that wait for a file, commands. What is in
 * one long call says so, and is left by pressing twice: its run is stored as one that was interrupted. */
#include "tests/screens/live.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SEARCH "=string.rep('a',1e8):find('.-.-b')"
#define ENDLESS                                                                                    \
    "query 'with recursive n(i) as (select 1 union all select i+1 from n) select max(i) from n'"

static void an_expression_is_stopped_and_the_run_goes_on(void **state)
{
    struct terminal *t = live_ready(*state, NULL, NULL);
    live_run(t);
    live_command(t, "while true do end");
    terminal_await(t, "BUSY");
    terminal_press(t, "Ctrl-C");
    terminal_await(t, "the expression was stopped");
    terminal_await_match(t, "RUNNING +[1-9]");
    live_pause(t);
    live_quit(t);
}

static void an_expression_that_waits_for_a_file_is_stopped(void **state)
{
    struct program *p = *state;
    char path[200], line[300];
    struct terminal *t = live_ready(p, NULL, NULL);
    snprintf(path, sizeof path, "%s/pipe", p->folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(line, sizeof line, "=io.open('%s'):read()", path);
    live_command(t, line);
    terminal_await(t, "BUSY");
    terminal_press(t, "Ctrl-C");
    terminal_await(t, "the expression was stopped");
    terminal_await_gone(t, "BUSY");
    live_run(t); /* nothing is spoiled by it */
    live_quit(t);
    unlink(path);
}

static void a_command_is_stopped_and_the_run_goes_on(void **state)
{
    struct terminal *t = live_ready(*state, NULL, NULL);
    live_run(t);
    live_command(t, ENDLESS);
    terminal_await(t, "running: mgbench query");
    terminal_press(t, "Ctrl-C");
    terminal_await(t, "stopped: query");
    terminal_await_match(t, "RUNNING +[1-9]");
    live_quit(t);
}

static void interrupted_check(struct program *p, double steps)
{
    assert_string_equal(database_text(p, "SELECT outcome FROM run"), "interrupted");
    assert_string_equal(database_text(p, "SELECT outcome FROM segment"), "interrupted");
    assert_true(database_number(p, "SELECT count(*) FROM step") == steps);
}

static void a_search_without_end_is_left_by_pressing_twice(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    live_run(t);
    live_pause(t);
    double steps = database_number(p, "SELECT count(*) FROM step");
    live_command(t, SEARCH);
    terminal_await(t, "BUSY");
    terminal_press(t, "Ctrl-C");
    terminal_await(t, "does not answer, it is in one long call: Ctrl-C twice leaves");
    terminal_press(t, "2"); /* the screen answers all the same */
    terminal_await(t, "DEVICES");
    terminal_look(t, 1500); /* no longer within two seconds of the first */
    terminal_press(t, "Ctrl-C,Ctrl-C");
    assert_int_equal(terminal_await_exit(t), 130);
    terminal_check_restored(t);
    interrupted_check(p, steps);
}

static void a_search_without_end_ends_by_signals(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, NULL, NULL);
    live_run(t);
    live_pause(t);
    double steps = database_number(p, "SELECT count(*) FROM step");
    live_command(t, SEARCH);
    terminal_await(t, "BUSY");
    terminal_signal(t, SIGTERM);
    assert_int_equal(terminal_await_exit(t), 130);
    terminal_check_restored(t);
    interrupted_check(p, steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_expression_is_stopped_and_the_run_goes_on, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(an_expression_that_waits_for_a_file_is_stopped, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(a_command_is_stopped_and_the_run_goes_on, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(a_search_without_end_is_left_by_pressing_twice, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(a_search_without_end_ends_by_signals, live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
