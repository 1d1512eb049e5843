/* The end of the warm-up, on step times whose warm-up is known; ecosystem.md 5.2 item 3. */
#include "tests/support/check.h"

#include "db/steady.h"
#include "tests/support/steps.h"
#include <math.h>
#include <string.h>

#define MS 1000000LL

enum { MOST = 1000 };

static void steps_fill(int64_t *wall_ns, size_t count, int64_t ns)
{
    for (size_t i = 0; i < count; i++)
        wall_ns[i] = ns;
}

static void equal_steps_lose_only_the_floor(void **state)
{
    (void)state;
    int64_t wall_ns[MOST];
    steps_fill(wall_ns, MOST, 250 * MS);
    struct mgb_steady got = mgb_steady_find(wall_ns, 200);
    assert_int_equal(got.answer, MGB_STEADY);
    assert_int_equal(got.warmup_steps, 11); /* the first and ten: 2.5 s on the clock */
    steps_fill(wall_ns, MOST, 10 * MS);
    got = mgb_steady_find(wall_ns, 600);
    assert_int_equal(got.answer, MGB_STEADY);
    assert_int_equal(got.warmup_steps, 101); /* the first and one second */
    assert_true(got.drift == 0);
}

static void a_long_first_step_is_not_on_the_warmup_clock(void **state)
{
    (void)state;
    int64_t wall_ns[MOST];
    steps_fill(wall_ns, MOST, 10 * MS);
    wall_ns[0] = 30000 * MS;
    struct mgb_steady got = mgb_steady_find(wall_ns, 600);
    assert_int_equal(got.answer, MGB_STEADY);
    assert_int_equal(got.warmup_steps, 101);
}

static void a_decaying_warmup_is_dropped_until_windows_agree(void **state)
{
    (void)state;
    int64_t wall_ns[MOST];
    for (int i = 0; i < MOST; i++)
        wall_ns[i] = llrint(100e6 * (1 + exp(-i / 30.0)));
    struct mgb_steady got = mgb_steady_find(wall_ns, MOST);
    assert_int_equal(got.answer, MGB_STEADY);
    assert_int_equal(got.floor_steps, 11);
    /* With e = exp(-(p + 9.5) / 30) the first two medians are 1 + e and 1 + e exp(-20 / 30): within 2 % from p = 85. */
    assert_int_equal(got.warmup_steps, 85);
}

static void times_that_never_settle_are_not_steady(void **state)
{
    (void)state;
    int64_t wall_ns[MOST];
    for (int i = 0; i < MOST; i++)
        wall_ns[i] = 100 * MS + i * MS;
    struct mgb_steady got = mgb_steady_find(wall_ns, 200);
    assert_int_equal(got.answer, MGB_STEADY_DRIFTS);
    assert_int_equal(got.warmup_steps, 50);
    assert_true(got.drift > 0.2);
    assert_non_null(strstr(mgb_steadiness_text(got.answer), "not steady"));
}

static void a_segment_without_three_windows_after_the_floor_is_too_short(void **state)
{
    (void)state;
    int64_t wall_ns[MOST];
    steps_fill(wall_ns, MOST, 250 * MS);
    for (size_t count = 0; count < 71; count++)
        assert_int_equal(mgb_steady_find(wall_ns, count).answer, MGB_STEADY_SHORT);
    assert_int_equal(mgb_steady_find(wall_ns, 71).answer, MGB_STEADY);
    steps_fill(wall_ns, MOST, 10 * MS); /* a floor of 101 steps is more than a quarter of 400 */
    assert_int_equal(mgb_steady_find(wall_ns, 400).answer, MGB_STEADY_SHORT);
    assert_int_equal(mgb_steady_find(wall_ns, 404).answer, MGB_STEADY);
    assert_int_equal(mgb_steady_find(wall_ns, 3).warmup_steps, 1);
    assert_int_equal(mgb_steady_find(NULL, 0).warmup_steps, 0);
}

static void throttling_after_the_warmup_shows_as_drift(void **state)
{
    (void)state;
    int64_t wall_ns[MOST];
    steps_fill(wall_ns, 105, 200 * MS);
    steps_fill(wall_ns + 105, 95, 230 * MS);
    struct mgb_steady got = mgb_steady_find(wall_ns, 200);
    assert_int_equal(got.answer, MGB_STEADY);
    assert_true(fabs(got.drift - 0.15) < 1e-9);
}

/* Steady from the start, 1 % of noise: measured 0 of 200 called unsteady normal, 1 with tails. */
static void autocorrelated_and_heavy_tailed_steps_are_found_steady(void **state)
{
    (void)state;
    for (int tail = 0; tail < 2; tail++) {
        struct steps_process process = {250e6, 0.6, 0.01, tail, 0};
        int unsteady = 0, dropped = 0;
        for (uint64_t trial = 0; trial < 200; trial++) {
            int64_t wall_ns[MOST];
            steps_simulate(wall_ns, 300, &process, trial, 1);
            struct mgb_steady got = mgb_steady_find(wall_ns, 300);
            unsteady += got.answer != MGB_STEADY;
            dropped += (int)got.warmup_steps;
        }
        assert_in_range(unsteady, 0, 4);
        assert_in_range(dropped / 200, 11, 16);
    }
}

static enum mgb_steadiness judged(const int64_t *wall_ns, size_t count)
{
    return mgb_steady_judge(wall_ns, count).answer;
}

static void a_fixed_warmup_is_judged_by_what_it_left(void **state)
{
    (void)state;
    int64_t wall_ns[MOST];
    steps_fill(wall_ns, MOST, 5 * MS);
    assert_int_equal(judged(wall_ns, 59), MGB_STEADY_SHORT);
    assert_int_equal(judged(wall_ns, 60), MGB_STEADY);
    for (int i = 0; i < MOST; i++)
        wall_ns[i] = 100 * MS + i * MS;
    assert_int_equal(judged(wall_ns, 200), MGB_STEADY_DRIFTS);
    steps_fill(wall_ns, 105, 200 * MS); /* throttled half-way */
    steps_fill(wall_ns + 105, 95, 230 * MS);
    assert_int_equal(judged(wall_ns, 200), MGB_STEADY_HALVES_DIFFER);
    assert_true(fabs(mgb_steady_judge(wall_ns, 200).drift - 0.15) < 1e-9);
    steps_fill(wall_ns + 105, 95, 206 * MS);
    assert_int_equal(judged(wall_ns, 200), MGB_STEADY);
}

/* A tenth of noise is spread, not drift: refusing it a verdict would leave busy machines without any. */
static void noise_alone_is_steady_after_a_fixed_warmup(void **state)
{
    (void)state;
    struct steps_process process = {5e6, 0, 0.1, 1, 0};
    int unsteady = 0;
    for (uint64_t trial = 0; trial < 200; trial++) {
        int64_t wall_ns[MOST];
        steps_simulate(wall_ns, 100, &process, trial, 1);
        unsteady += judged(wall_ns, 100) != MGB_STEADY;
    }
    assert_in_range(unsteady, 0, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_steps_lose_only_the_floor),
        cmocka_unit_test(a_long_first_step_is_not_on_the_warmup_clock),
        cmocka_unit_test(a_decaying_warmup_is_dropped_until_windows_agree),
        cmocka_unit_test(times_that_never_settle_are_not_steady),
        cmocka_unit_test(a_segment_without_three_windows_after_the_floor_is_too_short),
        cmocka_unit_test(throttling_after_the_warmup_shows_as_drift),
        cmocka_unit_test(a_fixed_warmup_is_judged_by_what_it_left),
        cmocka_unit_test(noise_alone_is_steady_after_a_fixed_warmup),
        cmocka_unit_test(autocorrelated_and_heavy_tailed_steps_are_found_steady),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
