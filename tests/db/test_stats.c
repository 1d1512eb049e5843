/* The boiled-down figures, against values worked out by hand. */
#include "tests/support/check.h"

#include "db/bootstrap.h"
#include "db/stats.h"
#include "tests/support/steps.h"
#include <math.h>
#include <string.h>

static struct mgb_record_segment_stat boil(const int64_t *wall_ns, int count)
{
    struct mgb_stats stats;
    struct mgb_record_segment_stat out;
    int64_t start_ns = 0;
    assert_ok(mgb_stats_init(&stats, 1));
    for (int i = 0; i < count; i++) {
        struct mgb_record_step step = {.start_ns = start_ns, .wall_ns = wall_ns[i], .examples = 64};
        assert_ok(mgb_stats_add(&stats, &step));
        start_ns += wall_ns[i];
    }
    assert_ok(mgb_stats_boil(&out, &stats));
    mgb_stats_done(&stats);
    return out;
}

static void the_median_is_the_middle_or_the_mean_of_two(void **state)
{
    (void)state;
    assert_int_equal(boil((int64_t[]){5, 1, 3}, 3).median_ns.value, 3);
    assert_int_equal(boil((int64_t[]){10, 40, 20, 30}, 4).median_ns.value, 25);
    assert_int_equal(boil((int64_t[]){7}, 1).median_ns.value, 7);
}

static void percentiles_are_times_that_were_measured(void **state)
{
    (void)state;
    int64_t wall_ns[200];
    for (int i = 0; i < 200; i++)
        wall_ns[i] = 1000 * (200 - i);
    struct mgb_record_segment_stat stat = boil(wall_ns, 200);
    assert_int_equal(stat.p5_ns.value, 10000);
    assert_int_equal(stat.p95_ns.value, 190000);
    assert_int_equal(stat.p99_ns.value, 198000);
    assert_int_equal(stat.min_ns.value, 1000);
    assert_int_equal(stat.max_ns.value, 200000);
    assert_int_equal(stat.mean_ns.value, 100500);
}

static void p99_is_unknown_below_a_hundred_steps(void **state)
{
    (void)state;
    int64_t wall_ns[100] = {0};
    assert_false(boil(wall_ns, 99).p99_ns.known);
    assert_true(boil(wall_ns, 100).p99_ns.known);
}

static void the_interval_is_that_of_the_steps_in_their_order(void **state)
{
    (void)state;
    enum { count = 500 };
    int64_t wall_ns[count];
    struct mgb_interval wanted;
    struct steps_process process = {250e6, 0.6, 0.01, 1, 0};
    steps_simulate(wall_ns, count, &process, 4, 0);
    for (size_t n = 200; n <= count; n += 300) { /* one by one, and by sums of blocks */
        struct mgb_record_segment_stat stat = boil(wall_ns, (int)n);
        assert_ok(mgb_bootstrap_median(&wanted, wall_ns, n, 0, 0));
        assert_int_equal(stat.ci95_low_ns.value, llrint(wanted.low_ns));
        assert_int_equal(stat.ci95_high_ns.value, llrint(wanted.high_ns));
        assert_int_equal(stat.interval_seed.value, (int64_t)wanted.seed);
        assert_string_equal(stat.interval_method, mgb_bootstrap_method(n));
        double half = (wanted.high_ns - wanted.low_ns) / 2;
        assert_true(fabs(stat.noise.value - half / wanted.median_ns) < 1e-12);
    }
}

static void there_is_no_interval_below_twenty_steps(void **state)
{
    (void)state;
    int64_t wall_ns[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
    struct mgb_record_segment_stat stat = boil(wall_ns, 19);
    assert_false(stat.ci95_low_ns.known || stat.noise.known || stat.interval_seed.known);
    assert_null(stat.interval_method);
    stat = boil(wall_ns, 20);
    assert_true(stat.ci95_low_ns.known && stat.noise.known);
    assert_true(stat.ci95_low_ns.value <= 10 && stat.ci95_high_ns.value >= 11);
    assert_string_equal(stat.interval_method, MGB_BOOTSTRAP_METHOD);
}

/* Boiling looks only: a script asks for figures after every call and trains on. */
static void figures_so_far_do_not_change_the_later_ones(void **state)
{
    (void)state;
    struct mgb_stats stats;
    struct mgb_record_segment_stat live, stat, again;
    int64_t wall_ns[60];
    assert_ok(mgb_stats_init(&stats, 1));
    for (int i = 0; i < 60; i++) {
        wall_ns[i] = 1000000 + i * 7919 % 60;
        struct mgb_record_step step = {.start_ns = i * 2000000, .wall_ns = wall_ns[i]};
        assert_ok(mgb_stats_add(&stats, &step));
        assert_ok(mgb_stats_boil(&live, &stats));
        assert_int_equal(live.timed_steps, i + 1);
    }
    assert_ok(mgb_stats_boil(&stat, &stats));
    mgb_stats_done(&stats);
    again = boil(wall_ns, 60);
    assert_int_equal(stat.median_ns.value, again.median_ns.value);
    assert_int_equal(stat.ci95_low_ns.value, again.ci95_low_ns.value);
    assert_int_equal(stat.ci95_high_ns.value, again.ci95_high_ns.value);
    assert_int_equal(stat.ci95_low_ns.value, live.ci95_low_ns.value);
}

/* ecosystem.md 6.3 row 15. */
static void constant_step_times_have_no_outliers(void **state)
{
    (void)state;
    int64_t wall_ns[100];
    for (int i = 0; i < 100; i++)
        wall_ns[i] = 1000000 + i % 7; /* a few ticks of the clock */
    wall_ns[50] += 900;
    struct mgb_record_segment_stat stat = boil(wall_ns, 100);
    assert_int_equal(stat.outliers_mild.value + stat.outliers_far.value, 0);
    wall_ns[50] += 100000;
    wall_ns[51] -= 2000;
    stat = boil(wall_ns, 100);
    assert_int_equal(stat.outliers_mild.value, 1);
    assert_int_equal(stat.outliers_far.value, 1);
    assert_int_equal(stat.timed_steps, 100); /* none is dropped */
}

/* 512 examples/s; a mean of rates would be 560. */
static void a_slow_step_counts_and_is_an_outlier(void **state)
{
    (void)state;
    const int64_t wall_ns[] = {100000000, 100000000, 100000000, 200000000};
    struct mgb_record_segment_stat stat = boil(wall_ns, 4);
    assert_int_equal(stat.examples * 1000000000 / stat.timed_ns, 512);
    assert_int_equal(stat.median_ns.value, 100000000);
    assert_int_equal(stat.outliers_mild.value + stat.outliers_far.value, 1);
}

static struct mgb_record_segment_stat boil_auto(const int64_t *wall_ns, int count)
{
    struct mgb_stats stats;
    struct mgb_record_segment_stat out;
    int64_t start_ns = 0;
    assert_ok(mgb_stats_init(&stats, 16));
    stats.auto_warmup = true;
    for (int i = 0; i < count; i++) {
        struct mgb_record_step step = {
            .start_ns = start_ns, .wall_ns = wall_ns[i], .examples = 1, .warmup = i < 10};
        assert_ok(mgb_stats_add(&stats, &step));
        start_ns += wall_ns[i];
    }
    assert_ok(mgb_stats_boil(&out, &stats));
    mgb_stats_done(&stats);
    return out;
}

static void the_rule_finds_the_warmup_whatever_the_flags_say(void **state)
{
    (void)state;
    enum { count = 400 };
    int64_t wall_ns[count];
    for (int i = 0; i < count; i++)
        wall_ns[i] = llrint(100e6 * (1 + exp(-i / 15.0)));
    struct mgb_record_segment_stat stat = boil_auto(wall_ns, count);
    assert_int_equal(stat.warmup_steps, mgb_steady_find(wall_ns, count).warmup_steps);
    assert_true(stat.warmup_steps > 11);
    assert_int_equal(stat.warmup_steps + stat.timed_steps, count);
    assert_int_equal(stat.examples, stat.timed_steps);
    assert_true(stat.steady.known && stat.steady.value == 1);
    assert_null(stat.not_steady);
}

static void not_steady_is_said_with_the_reason(void **state)
{
    (void)state;
    enum { count = 400 };
    int64_t wall_ns[count];
    for (int i = 0; i < count; i++)
        wall_ns[i] = 100000000 + i * 1000000;
    struct mgb_record_segment_stat stat = boil_auto(wall_ns, count);
    assert_true(stat.steady.known && stat.steady.value == 0);
    assert_non_null(strstr(stat.not_steady, "drift"));
    assert_true(stat.drift.value > 0.3);
    stat = boil(wall_ns, count);
    assert_true(stat.steady.known && stat.steady.value == 0);
    assert_non_null(stat.not_steady);
    stat = boil_auto(wall_ns, 30);
    assert_true(stat.steady.known && stat.steady.value == 0);
    assert_non_null(strstr(stat.not_steady, "too few"));
    stat = boil(wall_ns, 30); /* nobody asked for a rule: not judged */
    assert_false(stat.steady.known);
    assert_null(stat.not_steady);
}

/* ecosystem.md 6.3 row 39: with the first step on the clock, it alone would be the second that the warm-up must last. */
static void a_first_step_of_five_seconds_is_not_on_the_warmup_clock(void **state)
{
    (void)state;
    enum { count = 800 };
    int64_t wall_ns[count];
    for (int i = 0; i < count; i++)
        wall_ns[i] = 10000000;
    wall_ns[0] = 5000000000;
    struct mgb_record_segment_stat stat = boil_auto(wall_ns, count);
    assert_int_equal(stat.warmup_steps, 101); /* the first, and one second of 10 ms */
    assert_int_equal(stat.max_ns.value, 10000000);
    assert_int_equal(stat.steady.value, 1);
}

static void warmup_is_counted_and_left_out(void **state)
{
    (void)state;
    struct mgb_stats stats;
    struct mgb_record_segment_stat stat;
    assert_ok(mgb_stats_init(&stats, 0));
    for (int i = 0; i < 5; i++) {
        struct mgb_record_step step = {.start_ns = 100 * i,
                                       .wall_ns = i < 2 ? 5000 : 60,
                                       .warmup = i < 2,
                                       .examples = 32,
                                       .loss = i,
                                       .has_loss = true};
        assert_ok(mgb_stats_add(&stats, &step));
    }
    mgb_stats_boil(&stat, &stats);
    mgb_stats_done(&stats);
    assert_int_equal(stat.warmup_steps, 2);
    assert_int_equal(stat.timed_steps, 3);
    assert_int_equal(stat.examples, 96);
    assert_int_equal(stat.timed_ns, 180);
    assert_int_equal(stat.max_ns.value, 60);
    assert_int_equal(stat.unaccounted_ns.value, 80); /* 200 to 460, less 180 */
    assert_true(stat.loss_last.known && stat.loss_last.value == 4);
}

static void without_a_timed_step_nothing_is_known(void **state)
{
    (void)state;
    struct mgb_record_segment_stat stat = boil(NULL, 0);
    assert_int_equal(stat.timed_steps, 0);
    assert_false(stat.median_ns.known || stat.mean_ns.known || stat.unaccounted_ns.known);
    assert_false(stat.loss_last.known);
}

static void a_loss_that_is_no_number_is_not_the_last_loss(void **state)
{
    (void)state;
    struct mgb_stats stats;
    struct mgb_record_segment_stat stat;
    struct mgb_record_step step = {.loss = (double)NAN, .has_loss = true};
    assert_ok(mgb_stats_init(&stats, 1));
    assert_ok(mgb_stats_add(&stats, &step));
    mgb_stats_boil(&stat, &stats);
    mgb_stats_done(&stats);
    assert_false(stat.loss_last.known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_median_is_the_middle_or_the_mean_of_two),
        cmocka_unit_test(percentiles_are_times_that_were_measured),
        cmocka_unit_test(p99_is_unknown_below_a_hundred_steps),
        cmocka_unit_test(the_interval_is_that_of_the_steps_in_their_order),
        cmocka_unit_test(there_is_no_interval_below_twenty_steps),
        cmocka_unit_test(figures_so_far_do_not_change_the_later_ones),
        cmocka_unit_test(constant_step_times_have_no_outliers),
        cmocka_unit_test(a_slow_step_counts_and_is_an_outlier),
        cmocka_unit_test(the_rule_finds_the_warmup_whatever_the_flags_say),
        cmocka_unit_test(not_steady_is_said_with_the_reason),
        cmocka_unit_test(a_first_step_of_five_seconds_is_not_on_the_warmup_clock),
        cmocka_unit_test(warmup_is_counted_and_left_out),
        cmocka_unit_test(without_a_timed_step_nothing_is_known),
        cmocka_unit_test(a_loss_that_is_no_number_is_not_the_last_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
