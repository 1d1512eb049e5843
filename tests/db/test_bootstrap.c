/* The interval of a median: block lengths against the package arch, coverage on simulated steps with a known median. */
#include "tests/support/check.h"

#include "db/block.h"
#include "db/blocksum.h"
#include "db/bootstrap.h"
#include "db/draw.h"
#include "db/order.h"
#include "tests/support/golden.h"
#include "tests/support/steps.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1000, TRIALS = 200, RESAMPLES = 250 };

static void automatic_block_lengths_are_those_of_arch(void **state)
{
    (void)state;
    static const int counts[] = {200, 200, 300, 1000};
    struct golden golden = golden_open("statistics/figures.txt");
    for (int i = 0; i < 4; i++) {
        char label[32];
        float read[MOST], want;
        double series[MOST], got;
        snprintf(label, sizeof label, "block %d series", i);
        golden_read(&golden, label, read, counts[i]);
        snprintf(label, sizeof label, "block %d length", i);
        golden_read(&golden, label, &want, 1);
        for (int k = 0; k < counts[i]; k++)
            series[k] = (double)read[k];
        assert_ok(mgb_block_automatic(&got, series, (size_t)counts[i]));
        if (!(fabs(got / (double)want - 1) < 1e-5))
            fail_msg("series %d: block of %g, golden has %g", i, got, (double)want);
    }
    golden_close(&golden);
}

static void blocks_grow_with_the_correlation_and_leave_three(void **state)
{
    (void)state;
    assert_int_equal(mgb_block_widen(0, 1000), 20);
    assert_int_equal(mgb_block_widen(12, 1000), 30);
    assert_int_equal(mgb_block_widen(1e9, 1000), 95);
    assert_int_equal(mgb_block_widen(1e9, 60), 20);
    assert_int_equal(mgb_block_widen(0, 1), 1);
}

static void the_same_seed_gives_the_same_interval(void **state)
{
    (void)state;
    int64_t wall_ns[200];
    struct mgb_interval one, again, other;
    struct steps_process process = {250e6, 0.5, 0.01, 1, 0};
    steps_simulate(wall_ns, 200, &process, 3, 0);
    assert_ok(mgb_bootstrap_median(&one, wall_ns, 200, 0, 0));
    assert_ok(mgb_bootstrap_median(&again, wall_ns, 200, 0, one.seed));
    assert_ok(mgb_bootstrap_median(&other, wall_ns, 200, 0, one.seed + 1));
    assert_int_equal(one.seed, MGB_DRAW_SEED);
    assert_int_equal(one.resamples, MGB_BOOTSTRAP_RESAMPLES);
    assert_true(one.low_ns == again.low_ns && one.high_ns == again.high_ns);
    assert_true(one.error_ns != other.error_ns);
    assert_true(fabs(one.error_ns / other.error_ns - 1) < 0.1);
}

static void the_interval_stretches_with_the_unit_of_time(void **state)
{
    (void)state;
    int64_t wall_ns[100], thrice[100];
    struct mgb_interval one, three;
    struct steps_process process = {1e6, 0.5, 0.02, 1, 0};
    steps_simulate(wall_ns, 100, &process, 1, 0);
    for (int i = 0; i < 100; i++)
        thrice[i] = 3 * wall_ns[i];
    assert_ok(mgb_bootstrap_median(&one, wall_ns, 100, RESAMPLES, 0));
    assert_ok(mgb_bootstrap_median(&three, thrice, 100, RESAMPLES, 0));
    assert_true(fabs(three.low_ns - 3 * one.low_ns) < 1e-3);
    assert_true(fabs(three.high_ns - 3 * one.high_ns) < 1e-3);
}

static void equal_steps_have_an_interval_of_one_point(void **state)
{
    (void)state;
    int64_t wall_ns[100];
    struct mgb_interval got;
    for (int i = 0; i < 100; i++)
        wall_ns[i] = 7000;
    assert_ok(mgb_bootstrap_median(&got, wall_ns, 100, 0, 0));
    assert_true(got.low_ns == 7000 && got.median_ns == 7000 && got.high_ns == 7000);
    assert_true(got.block > 0 && got.error_ns == 0);
}

/* Few steps that differ by factors: ends are no times that cannot be. */
static void an_interval_of_steps_that_differ_by_factors_stays_positive(void **state)
{
    (void)state;
    int64_t wall_ns[20];
    struct mgb_interval got;
    for (int i = 0; i < 20; i++)
        wall_ns[i] = (int64_t)1000000 << (i * 7 % 10);
    assert_ok(mgb_bootstrap_median(&got, wall_ns, 20, 0, 0));
    assert_true(got.low_ns > 0 && got.low_ns < got.median_ns && got.median_ns < got.high_ns);
    for (int i = 0; i < 20; i++)
        wall_ns[i] = i * 7 % 10 < 4 ? 0 : 1000000 + i; /* a clock too coarse */
    assert_ok(mgb_bootstrap_median(&got, wall_ns, 20, 0, 0));
    assert_true(got.low_ns >= 0 && got.median_ns <= got.high_ns && isfinite(got.high_ns));
}

static void too_few_steps_have_a_median_and_no_interval(void **state)
{
    (void)state;
    struct mgb_interval got;
    const int64_t wall_ns[] = {100, 100, 100, 200};
    assert_ok(mgb_bootstrap_median(&got, wall_ns, 4, 0, 0));
    assert_true(got.median_ns == 100 && got.block == 0);
    assert_ok(mgb_bootstrap_median(&got, wall_ns + 2, 2, 0, 0));
    assert_true(got.median_ns == 150);
    assert_status(mgb_bootstrap_median(&got, wall_ns, 0, 0, 0), MGB_INVALID);
}

/* Trials whose interval holds the truth, of TRIALS. */
static int truth_held(double correlation, double tail, size_t count)
{
    int held = 0;
    struct steps_process process = {250e6, correlation, 0.01, tail, 0};
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        int64_t wall_ns[MOST];
        struct mgb_interval got;
        steps_simulate(wall_ns, count, &process, trial, 7);
        assert_ok(mgb_bootstrap_median(&got, wall_ns, count, RESAMPLES, 0));
        held += got.low_ns <= 250e6 && 250e6 <= got.high_ns;
    }
    return held;
}

/* 95 % is 190 of 200 with a standard deviation of 3.1. Strong correlation leaves 93 % at 200 steps. */
static void ninety_five_intervals_in_a_hundred_hold_the_truth(void **state)
{
    (void)state;
    static const double correlations[] = {0, 0.3, 0.5, 0.8};
    for (int tail = 0; tail < 2; tail++)
        for (int i = 0; i < 4; i++) {
            int held = truth_held(correlations[i], tail, 200);
            if (held < 177 || held > 199)
                fail_msg("correlation %g, tail %d: %d of 200", correlations[i], tail, held);
        }
}

/* Resamples made one by one, as in bootstrap.c, of the same blocks: the reference for the sums. */
static double direct_median(const struct mgb_ranked *ranked, size_t block, uint64_t seed,
                            uint64_t *counter)
{
    static uint32_t copies[MOST];
    size_t n = ranked->count, below = 0, i = 0;
    memset(copies, 0, sizeof copies);
    for (size_t drawn = 0; drawn < n;) {
        size_t at = mgb_draw_below(mgb_draw_at(seed, 5, (*counter)++), (uint32_t)n);
        for (size_t k = 0; k < block && drawn < n; k++, drawn++)
            copies[ranked->rank[(at + k) % n]]++;
    }
    while ((below += copies[i]) <= (n - 1) / 2)
        i++;
    return ranked->sorted[i];
}

/* Ranks of steps that are all different. */
static void ranks_make(uint32_t *rank, double *sorted, const int64_t *wall_ns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        rank[i] = 0;
        for (size_t k = 0; k < count; k++)
            rank[i] += wall_ns[k] < wall_ns[i] || (wall_ns[k] == wall_ns[i] && k < i);
        sorted[rank[i]] = (double)wall_ns[i];
    }
}

/* Quantiles of 4000 draws of each: the standard error of the 2.5 % one is 0.0025 of probability. */
static void sums_of_blocks_draw_what_resampling_draws(void **state)
{
    (void)state;
    enum { count = 601, draws = 4000 };
    static const double shares[] = {0.025, 0.25, 0.5, 0.75, 0.975};
    static const size_t blocks[] = {17, 74};
    int64_t wall_ns[count];
    uint32_t rank[count];
    double sorted[count], sums[draws], direct[draws];
    struct steps_process process = {250e6, 0.6, 0.01, 1, 0};
    struct mgb_ranked ranked = {sorted, rank, count};
    steps_simulate(wall_ns, count, &process, 2, 0);
    ranks_make(rank, sorted, wall_ns, count);
    for (int b = 0; b < 2; b++) {
        uint64_t counter = 0;
        assert_ok(mgb_blocksum_medians(sums, draws, &ranked, blocks[b], 1, 0));
        for (int i = 0; i < draws; i++)
            direct[i] = direct_median(&ranked, blocks[b], 1, &counter);
        mgb_order_sort(sums, draws);
        for (int s = 0; s < 5; s++) {
            double below = 0, at = mgb_order_percentile(sums, draws, shares[s]);
            for (int i = 0; i < draws; i++)
                below += (direct[i] < at) + (direct[i] == at) * 0.5;
            if (!(fabs(below / draws - shares[s]) < (s == 0 || s == 4 ? 0.012 : 0.035)))
                fail_msg("block %zu: the %g quantile is resampling's %g", blocks[b], shares[s],
                         below / draws);
        }
    }
}

/* As below, for as many steps as take the sums. */
static void intervals_by_sums_hold_the_truth(void **state)
{
    (void)state;
    int held = truth_held(0.5, 1, 600);
    if (held < 177 || held > 199)
        fail_msg("%d of 200", held);
}

static void a_hundred_thousand_steps_have_an_interval_too(void **state)
{
    (void)state;
    enum { count = 100000 };
    int64_t *wall_ns = calloc(count, sizeof *wall_ns);
    struct mgb_interval got;
    struct steps_process process = {250e6, 0.5, 0.01, 0, 0};
    assert_non_null(wall_ns);
    steps_simulate(wall_ns, count, &process, 1, 0);
    assert_ok(mgb_bootstrap_median(&got, wall_ns, count, 0, 0));
    free(wall_ns);
    assert_true(got.low_ns < 250e6 && 250e6 < got.high_ns);
    assert_true(got.high_ns - got.low_ns < 250e6 * 0.0006);
    assert_string_equal(mgb_bootstrap_method(count), MGB_BOOTSTRAP_METHOD_MANY);
}

/* Blocks of one step, for contrast: the same machinery on shuffled steps does not see the correlation. */
static void shuffling_the_steps_hides_their_correlation(void **state)
{
    (void)state;
    struct steps_process process = {250e6, 0.8, 0.01, 0, 0};
    double straight = 0, shuffled = 0;
    for (uint64_t trial = 0; trial < 30; trial++) {
        int64_t wall_ns[300];
        struct mgb_interval got;
        steps_simulate(wall_ns, 300, &process, trial, 0);
        assert_ok(mgb_bootstrap_median(&got, wall_ns, 300, RESAMPLES, 0));
        straight += got.error_ns;
        for (uint32_t i = 299; i > 0; i--) {
            uint32_t k = mgb_draw_below(mgb_draw_at(trial, 9, i), i + 1);
            int64_t kept = wall_ns[i];
            wall_ns[i] = wall_ns[k];
            wall_ns[k] = kept;
        }
        assert_ok(mgb_bootstrap_median(&got, wall_ns, 300, RESAMPLES, 0));
        shuffled += got.error_ns;
    }
    assert_true(straight > 1.8 * shuffled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(automatic_block_lengths_are_those_of_arch),
        cmocka_unit_test(blocks_grow_with_the_correlation_and_leave_three),
        cmocka_unit_test(the_same_seed_gives_the_same_interval),
        cmocka_unit_test(the_interval_stretches_with_the_unit_of_time),
        cmocka_unit_test(equal_steps_have_an_interval_of_one_point),
        cmocka_unit_test(an_interval_of_steps_that_differ_by_factors_stays_positive),
        cmocka_unit_test(too_few_steps_have_a_median_and_no_interval),
        cmocka_unit_test(ninety_five_intervals_in_a_hundred_hold_the_truth),
        cmocka_unit_test(sums_of_blocks_draw_what_resampling_draws),
        cmocka_unit_test(intervals_by_sums_hold_the_truth),
        cmocka_unit_test(a_hundred_thousand_steps_have_an_interval_too),
        cmocka_unit_test(shuffling_the_steps_hides_their_correlation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
