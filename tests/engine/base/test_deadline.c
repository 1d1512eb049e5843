/* Deadlines, by a clock that the test moves. */
#include "tests/support/check.h"

#include "engine/base/clock.h"
#include <time.h>

static int64_t now_ns = 1000000000000;

int clock_gettime(clockid_t clock, struct timespec *out)
{
    (void)clock;
    *out = (struct timespec){.tv_sec = now_ns / 1000000000, .tv_nsec = now_ns % 1000000000};
    return 0;
}

static void passed_time_counts_while_it_is_looked_at(void **state)
{
    (void)state;
    struct mgb_deadline deadline = mgb_deadline_make(5000000000);
    for (int i = 0; i < 50; i++) {
        assert_true(mgb_deadline_left_ns(&deadline) > 0);
        now_ns += 100000000;
    }
    assert_int_equal(mgb_deadline_left_ns(&deadline), 0);
}

static void time_in_which_the_process_was_stopped_does_not(void **state)
{
    (void)state;
    struct mgb_deadline deadline = mgb_deadline_make(5000000000);
    now_ns += 1000000000;
    assert_int_equal(mgb_deadline_left_ns(&deadline), 4000000000);
    now_ns += 3600000000000;
    assert_int_equal(mgb_deadline_left_ns(&deadline), 4000000000);
    for (int i = 0; i < 5; i++) {
        now_ns += 900000000;
        (void)mgb_deadline_left_ns(&deadline);
    }
    assert_true(mgb_deadline_left_ns(&deadline) < 0);
}

static void without_a_timeout_there_is_none(void **state)
{
    (void)state;
    struct mgb_deadline deadline = mgb_deadline_make(0);
    now_ns += 1000000000000;
    assert_true(mgb_deadline_left_ns(&deadline) == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passed_time_counts_while_it_is_looked_at),
        cmocka_unit_test(time_in_which_the_process_was_stopped_does_not),
        cmocka_unit_test(without_a_timeout_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
