/* The boiled-down figures, against values worked out by hand. */
#include "tests/support/check.h"

#include "db/stats.h"
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
    mgb_stats_boil(&out, &stats);
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

/* Ranks from exact integer arithmetic: the largest k with sum of C(n, i), i < k, at most 0.025 of 2^n. */
static void the_interval_has_the_exact_ranks(void **state)
{
    (void)state;
    static const struct {
        size_t count, rank;
    } known[] = {{0, 0},  {1, 0},  {5, 0},   {6, 1},   {8, 1},    {9, 2},
                 {10, 2}, {20, 6}, {30, 10}, {50, 18}, {100, 40}, {10000, 4902}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(mgb_stats_median_rank(known[i].count), known[i].rank);
}

static void the_interval_holds_the_median_and_names_its_method(void **state)
{
    (void)state;
    int64_t wall_ns[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    struct mgb_record_segment_stat stat = boil(wall_ns, 10);
    assert_int_equal(stat.ci95_low_ns.value, 2);
    assert_int_equal(stat.ci95_high_ns.value, 9);
    assert_non_null(strstr(stat.interval_method, "binomial"));
    stat = boil(wall_ns, 5);
    assert_false(stat.ci95_low_ns.known);
    assert_null(stat.interval_method);
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
        cmocka_unit_test(the_interval_has_the_exact_ranks),
        cmocka_unit_test(the_interval_holds_the_median_and_names_its_method),
        cmocka_unit_test(warmup_is_counted_and_left_out),
        cmocka_unit_test(without_a_timed_step_nothing_is_known),
        cmocka_unit_test(a_loss_that_is_no_number_is_not_the_last_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
