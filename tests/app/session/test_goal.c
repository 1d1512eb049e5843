/* When a run has steps enough, on step times that are made up: no clock decides anything here. */
#include "app/session/goal.h"
#include "app/script/services.h"
#include "db/bootstrap.h"
#include "tests/support/check.h"

#include <stdlib.h>

/* What the n-th step takes, ns. */
typedef int64_t step_function(int64_t n);

static struct session_series series;

/* As a session drives it; returns how many steps there were. */
static int64_t drive(struct session_goal *goal, int64_t steps, step_function *takes)
{
    int64_t now = 1000, count = 0;
    struct mgb_step_result result = {.rows = 1};
    struct mgb_record_step row = {.examples = 1};
    mgb_session_series_begin(&series, goal->warmup == MGB_WARMUP_AUTO);
    mgb_session_goal_begin(goal, steps);
    while (count < 200000) {
        while (!goal->reason && count >= goal->next)
            mgb_session_goal_look(goal, &series);
        if (goal->reason)
            return count;
        assert_true(goal->next > count);
        while (count < goal->next && !goal->reason) {
            row.start_ns = now;
            row.wall_ns = takes(count++);
            row.warmup = count <= goal->warmup;
            now += row.wall_ns;
            mgb_session_series_add(&series, &row, &result);
            mgb_session_goal_late(goal, &series);
        }
    }
    fail();
    return 0;
}

static int series_free(void **state)
{
    (void)state;
    mgb_session_series_done(&series);
    return 0;
}

#define MS INT64_C(1000000)

static int64_t constant(int64_t n)
{
    (void)n;
    return 20 * MS;
}

/* Some 1 % up and down, without a pattern. */
static int64_t noisy(int64_t n)
{
    uint64_t x = (uint64_t)n * UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 31;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    return 20 * MS + (int64_t)(x >> 40) * MS / (1 << 24);
}

static int64_t late(int64_t n) /* a hundred steps that get quicker, then as the others */
{
    return noisy(n) + (n < 100 ? (100 - n) * MS / 5 : 0);
}

static int64_t drifting(int64_t n)
{
    return 20 * MS + n * MS;
}

static void a_run_without_wishes_has_the_steps_that_were_asked(void **state)
{
    (void)state;
    struct session_goal goal = {.warmup = 10};
    assert_int_equal(drive(&goal, 100, noisy), 110);
    assert_string_equal(goal.reason, "steps");
    goal = (struct session_goal){.warmup = 0};
    assert_int_equal(drive(&goal, 1, drifting), 1);
}

/* A second is 49 steps of 20.5 ms or 50 of 20 ms, the first one apart; a quarter of all steps may be warm-up. */
static void an_automatic_warm_up_leaves_the_steps_that_were_asked(void **state)
{
    (void)state;
    struct session_goal goal = {.warmup = MGB_WARMUP_AUTO};
    assert_int_equal(drive(&goal, 300, noisy), 350);
    assert_string_equal(goal.reason, "steps");
    assert_int_equal(drive(&goal, 20, constant), 4 * 51);
}

static void a_late_start_is_left_out_whole(void **state)
{
    (void)state;
    struct session_goal goal = {.warmup = MGB_WARMUP_AUTO};
    int64_t count = drive(&goal, 300, late);
    struct mgb_steady found = mgb_steady_find(series.stats.wall_ns, series.stats.count);
    assert_int_equal(found.answer, MGB_STEADY);
    assert_true(found.warmup_steps >= 80); /* a window may hold a few slow ones and not show it */
    assert_true(count - (int64_t)found.warmup_steps >= 300);
}

static void a_run_that_never_settles_ends_all_the_same(void **state)
{
    (void)state;
    struct session_goal goal = {.warmup = MGB_WARMUP_AUTO};
    int64_t count = drive(&goal, 50, drifting);
    struct mgb_steady found = mgb_steady_find(series.stats.wall_ns, series.stats.count);
    assert_int_equal(found.answer, MGB_STEADY_DRIFTS);
    assert_int_equal(count, MGB_GOAL_TIMES * (50 + (int64_t)found.floor_steps));
    assert_string_equal(goal.reason, "steps");
}

static void a_target_noise_goes_on_until_it_is_met(void **state)
{
    (void)state;
    struct mgb_interval interval;
    struct session_goal goal = {.warmup = 5, .target_noise = 0.0005};
    int64_t count = drive(&goal, 1, noisy);
    assert_string_equal(goal.reason, "noise");
    assert_true(count > 25);
    assert_ok(mgb_bootstrap_median(&interval, series.stats.wall_ns + 5, (size_t)count - 5, 0, 0));
    assert_true((interval.high_ns - interval.low_ns) / 2 <= 0.0005 * interval.median_ns);
    /* with what is noisier it takes longer; without noise as few steps as have an interval */
    goal.target_noise = 0.005;
    assert_true(drive(&goal, 1, noisy) < count);
    assert_int_equal(drive(&goal, 1, constant), 25);
    assert_int_equal(drive(&goal, 100, constant), 105);
}

static void time_ends_what_nothing_else_ends(void **state)
{
    (void)state;
    struct session_goal goal = {.warmup = 5, .target_noise = 0.000001, .max_time_ns = 2000 * MS};
    assert_in_range(drive(&goal, 1, noisy), 95, 100);
    assert_string_equal(goal.reason, "time");
    goal = (struct session_goal){.warmup = MGB_WARMUP_AUTO, .max_time_ns = 100 * MS};
    assert_int_equal(drive(&goal, 1000, constant), 5);
    assert_string_equal(goal.reason, "time");
    goal =
        (struct session_goal){.warmup = 1, .max_time_ns = 100 * MS}; /* time alone bounds steps */
    assert_int_equal(drive(&goal, 3, constant), 4);
    assert_string_equal(goal.reason, "steps");
}

static void the_phase_that_grew_in_the_first_step_is_named(void **state)
{
    (void)state;
    struct mgb_device_times times[2] = {{.device = 0}, {.device = 1}};
    struct mgb_step_result result = {.device_count = 2, .devices = times};
    struct mgb_record_step row = {.wall_ns = 9, .warmup = true};
    mgb_session_series_begin(&series, false);
    times[0].exposed[MGB_PHASE_INPUT] = 4;
    times[1].exposed[MGB_PHASE_INPUT] = 3;
    times[1].exposed[MGB_PHASE_SUM] = 6;
    times[0].exposed[MGB_PHASE_WAIT] = 100;
    mgb_session_series_add(&series, &row, &result);
    assert_null(mgb_session_series_grown(&series)); /* against what? */
    row.warmup = false;
    times[1].exposed[MGB_PHASE_SUM] = 5;
    times[0].exposed[MGB_PHASE_INPUT] = times[1].exposed[MGB_PHASE_INPUT] = 1;
    mgb_session_series_add(&series, &row, &result);
    mgb_session_series_add(&series, &row, &result);
    assert_string_equal(mgb_session_series_grown(&series), "input");
}

#define STEPS(test) cmocka_unit_test_teardown(test, series_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STEPS(a_run_without_wishes_has_the_steps_that_were_asked),
        STEPS(an_automatic_warm_up_leaves_the_steps_that_were_asked),
        STEPS(a_late_start_is_left_out_whole),
        STEPS(a_run_that_never_settles_ends_all_the_same),
        STEPS(a_target_noise_goes_on_until_it_is_met),
        STEPS(time_ends_what_nothing_else_ends),
        STEPS(the_phase_that_grew_in_the_first_step_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
