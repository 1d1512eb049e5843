/* What the program says as it dies stands on the terminal afterwards, whoever gave that back; and what a library ends behind
 * its back is a death as any other. */
#include "tests/screens/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char no_progress[] = "on /gpu:1 did not end within 2 s";

static void awaits_watchdog(struct terminal *t)
{
    terminal_press(t, "Space");
    terminal_await(t, "RUNNING");
}

static void the_watchdogs_reason_stands_on_the_terminal_afterwards(void **state)
{
    static const char *const hangs[] = {"MGBENCH_FAULT=hang:/gpu:1:launch=3000",
                                        "MGBENCH_STEP_TIMEOUT=2", NULL};
    struct program *p = *state;
    struct terminal *t = live_ready(p, hangs, NULL);
    awaits_watchdog(t);
    terminal_await(t, "READY"); /* brought back */
    assert_true(terminal_state(t).alternate);
    live_quit(t);
    terminal_await(t, no_progress);
    terminal_await(t, "the program died: Killed");
    terminal_await(t, "starting again");
}

/* Once it is to be left nothing brings it back: the end comes right after the reason. */
static void so_does_it_where_the_program_was_being_left(void **state)
{
    static const char *const hangs[] = {"MGBENCH_FAULT=hang:/gpu:1:launch=1",
                                        "MGBENCH_STEP_TIMEOUT=2", NULL};
    struct program *p = *state;
    struct terminal *t = live_ready(p, hangs, NULL);
    awaits_watchdog(t);
    terminal_press(t, "q");
    assert_int_not_equal(terminal_await_exit(t), 0);
    terminal_check_restored(t);
    terminal_await(t, no_progress);
}

static bool is_another(struct terminal *t, void *context)
{
    pid_t worker = terminal_worker(t);
    return worker != terminal_pid(t) && worker != *(pid_t *)context;
}

static void what_a_library_ends_is_marked_and_comes_back(void **state)
{
    struct program *p = *state;
    char preload[4300], leaver[300], file[200];
    const char *build = getenv("MGB_BUILD_DIR");
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s/tests/libmgb_leaver.so", build ? build : ".");
    snprintf(file, sizeof file, "%s/now", p->folder);
    snprintf(leaver, sizeof leaver, "MGB_LEAVER=%s", file);
    const char *const settings[] = {
        preload, leaver,
        "ASAN_OPTIONS=detect_odr_violation=0:verify_asan_link_order=0:handle_segv=0", NULL};
    struct terminal *t = live_ready(p, settings, NULL);
    live_run(t);
    pid_t worker = terminal_worker(t);
    FILE *now = fopen(file, "w");
    assert_non_null(now);
    fclose(now);
    terminal_await_that(t, is_another, &worker, "another worker");
    terminal_await(t, "READY");
    assert_string_equal(database_text(p, "SELECT outcome FROM run"), "crashed");
    assert_string_equal(database_text(p, "SELECT outcome FROM segment"), "crashed");
    live_quit(t);
    /* destructors of libraries may be met by threads that are still at work */
    terminal_await_match(t, "the program died: (something in it ended it with code 7|.*signal 11)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_watchdogs_reason_stands_on_the_terminal_afterwards,
                                        live_begin, live_end),
        cmocka_unit_test_setup_teardown(so_does_it_where_the_program_was_being_left, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(what_a_library_ends_is_marked_and_comes_back, live_begin,
                                        live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
