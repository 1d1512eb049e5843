/* A device that hangs: keys are answered while it does; then the watchdog stores what befell the run and ends the process, and
 * the supervisor brings it back, paused on what it ran. (reference/ecosystem.md 6.3, rows 3, 44 and 45.) */
#include "tests/screens/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* The launch comes after some tenths of a second of steps. The time limit leaves a loaded machine time to see that it hangs. */
static const char *const hangs[] = {"MGBENCH_FAULT=hang:/gpu:1:launch=3000",
                                    "MGBENCH_STEP_TIMEOUT=8", NULL};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct standstill {
    char line[200];
    double since;
};

/* The count of steps stands still for a second: the device hangs. */
static bool stands_still(struct terminal *t, void *context)
{
    struct standstill *still = context;
    const char *head = terminal_line(t, 0);
    if (!strstr(head, "RUNNING") || strcmp(still->line, head) != 0) {
        snprintf(still->line, sizeof still->line, "%s", head);
        still->since = now_s();
        return false;
    }
    return now_s() - still->since > 1;
}

/* From a key to the picture it asks for, ms. */
static double answer_ms(struct terminal *t, const char *key, const char *text)
{
    double began = now_s();
    terminal_press(t, key);
    terminal_await(t, text);
    return (now_s() - began) * 1e3;
}

static void keys_are_answered_while_a_device_hangs(void **state)
{
    static const struct {
        const char *key, *text;
    } screens[] = {{"2", "DEVICES"}, {"3", "VARIABLES"}, {"4", "TASKS"},    {"5", "RUNS"},
                   {"6", "GRID"},    {"7", "LOG (UTC)"}, {"1", "PLACEMENT"}};
    struct program *p = *state;
    struct terminal *t = live_ready(p, hangs, NULL);
    struct standstill still = {.since = now_s()};
    double worst = 0;
    live_run(t);
    terminal_await_that(t, stands_still, &still, "a step that does not end");
    for (size_t i = 0; i < sizeof screens / sizeof *screens; i++) {
        double ms = answer_ms(t, screens[i].key, screens[i].text);
        worst = ms > worst ? ms : worst;
    }
    print_message("keys were answered within %.1f ms while a device hung\n", worst);
    assert_true(terminal_has(t, "RUNNING")); /* none of it waited for the device */
    assert_string_equal(database_text(p, "SELECT outcome FROM run"), "running");
    terminal_press(t, "r");
    terminal_await(t, "pending");
    /* then the watchdog */
    terminal_await(t, "READY");
    assert_string_equal(database_text(p, "SELECT outcome FROM run"), "timeout");
    assert_string_equal(database_text(p, "SELECT message LIKE '%%/gpu:1%%' FROM run"), "1");
    assert_string_equal(database_text(p, "SELECT outcome FROM segment"), "timeout");
    assert_string_equal(
        database_text(p, "SELECT count(*) > 10 AND count(*) = max(step) + 1 FROM step"), "1");
    assert_true(terminal_state(t).alternate);
    terminal_await_match(t, "weights at +gpu:0"); /* as it ran, not as it was asked for since */
    terminal_await_match(t, "batch/GPU +8 ");
    assert_false(terminal_has(t, "RUNNING"));
    terminal_press(t, "7");
    terminal_await_match(t, "ended by a fault: .*on /gpu:1 did"); /* and why, as it was stored */
    terminal_press(t, "1");
    live_run(t);
    assert_string_equal(database_text(p, "SELECT count(*) FROM run"), "2");
    live_pause(t);
    live_quit(t);
    assert_string_equal(database_text(p, "SELECT outcome FROM run ORDER BY id DESC"), "ok");
}

static void a_stuck_program_can_be_left(void **state)
{
    struct program *p = *state;
    struct terminal *t = live_ready(p, hangs, NULL);
    struct standstill still = {.since = now_s()};
    live_run(t);
    terminal_await_that(t, stands_still, &still, "a step that does not end");
    terminal_press(t, "q");
    assert_int_not_equal(terminal_await_exit(t), 0);
    terminal_check_restored(t);
    assert_string_equal(database_text(p, "SELECT outcome FROM run"), "timeout");
    assert_string_equal(database_text(p, "SELECT count(*) > 10 FROM step"), "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys_are_answered_while_a_device_hangs, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(a_stuck_program_can_be_left, live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
