/* The worker is killed while it steps, again and again, and at last the supervisor: every step that was on the screen is in
 * the database, runs that died are marked, and nothing stays behind. */
#include "tests/screens/storm.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static bool is_another(struct terminal *t, void *context)
{
    pid_t worker = terminal_worker(t);
    return worker != terminal_pid(t) && worker != *(pid_t *)context;
}

/* Its end, though it is nobody's child any more. */
static void end_await(int process)
{
    struct pollfd fd = {.fd = process, .events = POLLIN};
    assert_int_equal(poll(&fd, 1, TERMINAL_SECONDS * 1000), 1);
    close(process);
}

/* Steps for a while, with keys that change what it does. */
static void storm_a_while(struct storm *storm)
{
    static const char *const keys[] = {"r", "m", "s", "u", "t", "v", "2", "4", "1", "o", "Esc"};
    for (uint32_t i = storm_draw(storm, 12); i > 0; i--) {
        storm_look(storm, (int)storm_draw(storm, 60));
        if (storm_draw(storm, 2) == 0)
            terminal_press(storm->terminal, keys[storm_draw(storm, sizeof keys / sizeof *keys)]);
    }
    storm_look(storm, 0);
    storm_look(storm, 0);
}

/* At a point of its own each time: at one point it gives up. */
static void point_change(struct storm *storm, int number)
{
    char text[80];
    snprintf(text, sizeof text, ":set strategy=outputs batch=%d", 8 + number);
    storm_calm(storm);
    terminal_type(storm->terminal, text);
    terminal_press(storm->terminal, "Enter");
    snprintf(text, sizeof text, "batch/GPU +%d ", 8 + number);
    terminal_await_match(storm->terminal, text);
}

static void worker_kill(struct storm *storm)
{
    pid_t worker = terminal_worker(storm->terminal);
    assert_int_not_equal(worker, terminal_pid(storm->terminal));
    assert_int_equal(kill(worker, SIGKILL), 0);
    terminal_await_that(storm->terminal, is_another, &worker, "another worker");
    terminal_await(storm->terminal, "READY");
    assert_false(terminal_has(storm->terminal, "RUNNING"));
}

static void workers_that_are_killed_lose_nothing_that_was_shown(void **state)
{
    struct storm *storm = *state;
    int count = storm_count(5, 50);
    storm_start(storm, 24, 80);
    for (int i = 0; i < count; i++) {
        point_change(storm, i);
        storm_run(storm);
        storm_a_while(storm);
        worker_kill(storm);
    }
    point_change(storm, count);
    storm_run(storm);
    storm_look(storm, 20);
    storm_look(storm, 200);
    storm_quit(storm);
    /* a key may have stopped the run and asked for another before the kill */
    assert_int_equal(
        database_number(storm->program, "SELECT count(*) FROM run WHERE outcome = "
                                        "'crashed' AND finished_ms IS NULL"),
        database_number(storm->program, "SELECT count(*) FROM run WHERE outcome = 'crashed'"));
    assert_in_range(
        database_number(storm->program, "SELECT count(*) FROM run WHERE outcome = 'crashed'"),
        count, 2 * count);
}

static void without_its_supervisor_the_worker_ends_with_its_rows(void **state)
{
    struct storm *storm = *state;
    storm_start(storm, 24, 80);
    storm_run(storm);
    pid_t worker = terminal_worker(storm->terminal);
    assert_int_not_equal(worker, terminal_pid(storm->terminal));
    int process = (int)syscall(SYS_pidfd_open, worker, 0);
    assert_true(process >= 0);
    terminal_signal(storm->terminal, SIGKILL);
    assert_int_equal(terminal_await_exit(storm->terminal), 128 + SIGKILL);
    end_await(process);
    storm_check(storm);
    assert_string_equal(database_text(storm->program, "SELECT outcome FROM run"), "interrupted");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(workers_that_are_killed_lose_nothing_that_was_shown,
                                        storm_begin, storm_end),
        cmocka_unit_test_setup_teardown(without_its_supervisor_the_worker_ends_with_its_rows,
                                        storm_begin, storm_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
