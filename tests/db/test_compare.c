/* Verdicts on simulated repetitions with a known truth, and the corners where no verdict may be given.
 * (reference/ecosystem.md, rows 1 and 2 of section 2.) */
#include "tests/support/check.h"

#include "db/compare.h"
#include "db/outlier.h"
#include "db/student.h"
#include "tests/support/steps.h"
#include <math.h>
#include <string.h>

enum { STEPS = 80, MOST = 10, RESAMPLES = 200 };

static int64_t wall_ns[2 * MOST][STEPS];
static struct mgb_series series[2 * MOST];

/* `a` and `b` repetitions; B's median is `ratio` times A's. */
static struct mgb_comparison simulate(struct steps_process process, double ratio, size_t a,
                                      size_t b, uint64_t trial,
                                      const struct mgb_compare_options *options)
{
    struct mgb_comparison out;
    double median_ns = process.median_ns;
    for (size_t i = 0; i < a + b; i++) {
        process.median_ns = i < a ? median_ns : ratio * median_ns;
        steps_simulate(wall_ns[i], STEPS, &process, trial, i);
        series[i] = (struct mgb_series){wall_ns[i], STEPS, true};
    }
    assert_ok(mgb_compare(&out, &(struct mgb_side){series, a}, &(struct mgb_side){series + a, b},
                          options));
    return out;
}

static const struct mgb_compare_options sharp = {.resamples = RESAMPLES},
                                        usual = {MGB_COMPARE_FLOOR, RESAMPLES, 0, false};
static const struct steps_process calm = {250e6, 0.5, 0.01, 1, 0.002};

static void verdicts_follow_the_truth(void **state)
{
    (void)state;
    assert_int_equal(simulate(calm, 0.9, 5, 5, 1, &usual).verdict, MGB_VERDICT_FASTER);
    assert_int_equal(simulate(calm, 1.1, 5, 5, 1, &usual).verdict, MGB_VERDICT_SLOWER);
    struct mgb_comparison same = simulate(calm, 1, 5, 5, 1, &usual);
    assert_int_equal(same.verdict, MGB_VERDICT_SAME);
    assert_true(same.p < 0.05 && same.more_repetitions == 0 && same.reason == MGB_REASON_NONE);
    assert_true(same.low < same.ratio && same.ratio < same.high);
    assert_true(fabs(same.ratio - same.b.ns / same.a.ns) < 1e-12);
    assert_true(same.a.low_ns < same.a.ns && same.a.ns < same.a.high_ns);
    assert_string_equal(mgb_verdict_name(same.verdict), "same");
}

/* One repetition in which the machine did something else: its interval is wide and holds what is possible only. */
static void a_wild_repetition_leaves_the_interval_positive(void **state)
{
    static const double factors[5] = {1.127, 52.91, 1.042, 0.993, 1.063};
    static int64_t other_ns[5][STEPS];
    struct mgb_series a[5], b[5];
    struct mgb_comparison got;
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        struct steps_process process = {1e6, 0.5, 0.01, 1, 0.002};
        steps_simulate(other_ns[i], STEPS, &process, 3, 10 + i);
        process.median_ns *= factors[i];
        steps_simulate(wall_ns[i], STEPS, &process, 3, i);
        a[i] = (struct mgb_series){wall_ns[i], STEPS, true};
        b[i] = (struct mgb_series){other_ns[i], STEPS, true};
    }
    assert_ok(mgb_compare(&got, &(struct mgb_side){a, 5}, &(struct mgb_side){b, 5}, &usual));
    assert_true(got.a.low_ns > 0 && got.a.low_ns < 1.1e6 && got.a.high_ns > 2 * got.a.ns);
    assert_int_equal(got.verdict, MGB_VERDICT_UNDECIDED);
    assert_true(got.b.high_ns < 1.1 * got.b.ns && got.b.low_ns > 0.9 * got.b.ns);
}

static void repetitions_unlike_the_others_are_found(void **state)
{
    static const struct {
        double medians[6];
        size_t count, odd; /* odd: the only one, from 1; 0: none */
    } cases[] = {
        {{1.127, 52.91, 1.042, 0.993, 1.063}, 5, 2},
        {{1, 1.001, 1.002, 1.04, 1}, 5, 0}, /* beyond the fences, and not worth a word */
        {{1, 1.001, 1.002, 1.2, 1}, 5, 4},
        {{1, 1.3, 0.8, 1.1, 0.9}, 5, 0},
        {{1, 1, 1, 0.4}, 4, 4},
        {{1, 1.9, 1.1}, 3, 0},
        {{2.3, 1, 1.1}, 3, 1},
        {{1, 1.9}, 2, 0},
        {{1, 2.1}, 2, 2},
        {{5}, 1, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool odd[6];
        size_t found = mgb_repetitions_odd(odd, cases[i].medians, cases[i].count);
        assert_int_equal(found, cases[i].odd > 0);
        for (size_t k = 0; k < cases[i].count; k++)
            assert_int_equal(odd[k], k + 1 == cases[i].odd);
    }
    assert_int_equal(mgb_repetitions_odd(NULL, NULL, 0), 0);
}

/* Without a floor a verdict on equal sides is wrong exactly where the interval misses the truth. */
static int verdicts_wrong(const struct steps_process *process, size_t repetitions, int trials)
{
    int wrong = 0;
    for (int trial = 0; trial < trials; trial++) {
        struct mgb_comparison got =
            simulate(*process, 1, repetitions, repetitions, (uint64_t)trial, &sharp);
        wrong += got.verdict == MGB_VERDICT_FASTER || got.verdict == MGB_VERDICT_SLOWER;
        assert_int_equal(got.verdict == MGB_VERDICT_UNDECIDED, got.low <= 1 && got.high >= 1);
    }
    return wrong;
}

/* 5 % is 3 of 60 with a standard deviation of 1.7; each bound is three of them away. */
static void five_sharp_verdicts_in_a_hundred_are_wrong(void **state)
{
    (void)state;
    static const double correlations[] = {0.3, 0.8}, betweens[] = {0, 0.005};
    int all = 0;
    for (int tail = 0; tail < 2; tail++)
        for (int i = 0; i < 4; i++) {
            struct steps_process process = {250e6, correlations[i / 2], 0.01, tail,
                                            betweens[i % 2]};
            int wrong = verdicts_wrong(&process, i % 2 ? 5 : 3, 60);
            if (wrong > 8)
                fail_msg("%d of 60 wrong: tail %d, case %d", wrong, tail, i);
            all += wrong;
        }
    assert_in_range(all, 6,
                    38); /* of 480; 5 % is 24 with 4.8, less where repetitions do not differ */
}

static double relative_error_squared(const struct mgb_comparison *got, size_t from, size_t count)
{
    double mean = from ? got->b.ns : got->a.ns, square = 0;
    for (size_t i = 0; i < count; i++) {
        struct mgb_comparison alone;
        struct mgb_side side = {series + from + i, 1};
        assert_ok(mgb_compare(&alone, &side, &side, &sharp));
        square += (alone.a.ns / mean - 1) * (alone.a.ns / mean - 1);
    }
    return square / (double)(count - 1) / (double)count;
}

static void repetitions_that_differ_much_give_welchs_interval(void **state)
{
    (void)state;
    struct steps_process process = {250e6, 0.3, 0.01, 0, 0.02};
    double widths = 0;
    for (uint64_t trial = 0; trial < 20; trial++) {
        struct mgb_comparison got = simulate(process, 1, 6, 4, trial, &sharp);
        double a = relative_error_squared(&got, 0, 6), b = relative_error_squared(&got, 6, 4);
        double freedom = (a + b) * (a + b) / (a * a / 5 + b * b / 3);
        assert_true(fabs(got.freedom / freedom - 1) < 1e-6);
        widths +=
            log(got.high / got.low) / (2 * sqrt(a + b) * mgb_student_quantile(0.025, freedom));
    }
    assert_true(fabs(widths / 20 - 1) < 0.05);
}

static void a_floor_keeps_small_differences_from_being_verdicts(void **state)
{
    (void)state;
    int wrong = 0;
    for (uint64_t trial = 0; trial < 60; trial++) {
        struct mgb_comparison got = simulate(calm, 1.01, 5, 5, trial, &usual);
        wrong += got.verdict == MGB_VERDICT_SLOWER || got.verdict == MGB_VERDICT_SAME;
        assert_int_not_equal(got.verdict, MGB_VERDICT_FASTER);
    }
    assert_in_range(wrong, 0, 8);
}

/* p and the interval are two views of one thing. */
static void p_is_below_five_percent_exactly_where_the_interval_decides(void **state)
{
    (void)state;
    static const double ratios[] = {0.97, 0.99, 0.995, 1, 1.005, 1.012, 1.02};
    for (uint64_t trial = 0; trial < 70; trial++) {
        struct mgb_comparison got = simulate(calm, ratios[trial % 7], 4, 3, trial, &usual);
        assert_int_equal(got.p < 0.05, got.verdict != MGB_VERDICT_UNDECIDED);
        assert_int_equal(got.reason == MGB_REASON_NONE, got.verdict != MGB_VERDICT_UNDECIDED);
    }
}

static void swapping_the_sides_mirrors_the_verdict(void **state)
{
    (void)state;
    struct mgb_comparison back, forth = simulate(calm, 1.03, 5, 4, 11, &usual);
    assert_ok(mgb_compare(&back, &(struct mgb_side){series + 5, 4}, &(struct mgb_side){series, 5},
                          &usual));
    assert_int_equal(forth.verdict, MGB_VERDICT_SLOWER);
    assert_int_equal(back.verdict, MGB_VERDICT_FASTER);
    assert_true(fabs(forth.ratio * back.ratio - 1) < 1e-12);
    assert_true(fabs(forth.low * back.high - 1) < 0.002);
    assert_true(forth.rank_p == back.rank_p);
}

/* Undecided now; with as many repetitions more as it asks for, most such comparisons are decided. */
static void the_repetitions_it_asks_for_settle_it(void **state)
{
    (void)state;
    int asked = 0, settled = 0;
    struct steps_process process = {250e6, 0.3, 0.01, 0, 0.006};
    for (uint64_t trial = 0; trial < 120; trial++) {
        struct mgb_comparison got = simulate(process, 1.02, 4, 4, trial, &usual);
        if (got.more_repetitions == 0 || got.more_repetitions > MOST - 4)
            continue;
        assert_int_equal(got.reason, MGB_REASON_WIDE);
        asked++;
        got = simulate(process, 1.02, 4 + got.more_repetitions, 4 + got.more_repetitions, trial,
                       &usual);
        settled += got.verdict == MGB_VERDICT_SLOWER;
    }
    assert_true(asked >= 20);
    if (2 * settled < asked)
        fail_msg("%d of %d settled", settled, asked);
}

static void a_ratio_on_the_floors_edge_is_not_worth_repeating(void **state)
{
    (void)state;
    struct mgb_comparison got = simulate(calm, 1, 5, 5, 2, &usual);
    struct mgb_compare_options edge = usual;
    edge.floor = fmax(got.ratio, 1 / got.ratio) - 1 + 1e-7;
    got = simulate(calm, 1, 5, 5, 2, &edge);
    assert_int_equal(got.verdict, MGB_VERDICT_UNDECIDED);
    assert_int_equal(got.reason, MGB_REASON_EDGE);
    assert_int_equal(got.more_repetitions, 0);
}

static void one_repetition_decides_only_where_repetitions_are_equal(void **state)
{
    (void)state;
    struct mgb_comparison got = simulate(calm, 1.5, 1, 5, 1, &usual);
    assert_int_equal(got.verdict, MGB_VERDICT_UNDECIDED);
    assert_int_equal(got.reason, MGB_REASON_SINGLE);
    assert_int_equal(got.more_repetitions, 4);
    assert_true(isnan(got.p) && got.ratio > 1.4);
    struct mgb_compare_options simulated = usual;
    simulated.single_enough = true;
    assert_int_equal(simulate(calm, 1.5, 1, 1, 1, &simulated).verdict, MGB_VERDICT_SLOWER);
    series[0].count = 19;
    assert_ok(mgb_compare(&got, &(struct mgb_side){series, 1}, &(struct mgb_side){series + 1, 1},
                          &simulated));
    assert_int_equal(got.reason, MGB_REASON_FEW_STEPS);
    int64_t equal[] = {100, 100}, other[] = {150, 150};
    struct mgb_series exact[] = {{equal, 2, true}, {other, 2, true}};
    assert_ok(mgb_compare(&got, &(struct mgb_side){exact, 1}, &(struct mgb_side){exact + 1, 1},
                          &simulated));
    assert_int_equal(got.verdict, MGB_VERDICT_SLOWER);
    assert_true(got.low == got.high && got.p == 0);
}

static void a_side_that_is_not_steady_or_empty_gets_no_verdict(void **state)
{
    (void)state;
    struct mgb_comparison got = simulate(calm, 1.5, 5, 5, 1, &usual);
    struct mgb_side a = {series, 5}, b = {series + 5, 5}, none = {series, 0};
    series[7].steady = false;
    assert_ok(mgb_compare(&got, &a, &b, &usual));
    assert_int_equal(got.verdict, MGB_VERDICT_REFUSED);
    assert_int_equal(got.reason, MGB_REASON_NOT_STEADY);
    assert_true(got.ratio > 1.4 && isnan(got.p));
    assert_ok(mgb_compare(&got, &a, &none, &usual));
    assert_int_equal(got.reason, MGB_REASON_NO_STEPS);
    wall_ns[2][5] = 0;
    assert_ok(mgb_compare(&got, &a, &b, &usual));
    assert_int_equal(got.reason, MGB_REASON_NO_STEPS);
    assert_true(strlen(mgb_reason_text(got.reason)) > 0);
}

static void the_second_opinion_says_what_it_cannot_say(void **state)
{
    (void)state;
    struct mgb_comparison got = simulate(calm, 1.2, 3, 3, 1, &usual);
    assert_int_equal(got.verdict, MGB_VERDICT_SLOWER);
    assert_true(fabs(got.rank_p - 0.1) < 1e-12 && got.rank_p_smallest > 0.05);
    got = simulate(calm, 1.2, 5, 5, 1, &usual);
    assert_true(got.rank_p < 0.01 && got.rank_p_smallest < 0.05);
}

static void many_cells_take_back_what_one_alone_decides(void **state)
{
    (void)state;
    struct mgb_comparison cells[40];
    for (int i = 0; i < 40; i++)
        cells[i] = simulate(calm, 1.2, 5, 5, (uint64_t)i, &usual);
    cells[3].verdict = MGB_VERDICT_REFUSED;
    cells[3].p = (double)NAN;
    cells[8].p = 0.03;
    cells[8].ratio = 1.02;
    cells[8].low = 1.011;
    cells[8].high = 1.03;
    assert_ok(mgb_compare_correct(cells, 40));
    assert_int_equal(cells[0].verdict, MGB_VERDICT_SLOWER);
    assert_int_equal(cells[3].verdict, MGB_VERDICT_REFUSED);
    assert_true(isnan(cells[3].p_adjusted));
    assert_int_equal(cells[8].verdict, MGB_VERDICT_SLOWER); /* the largest p stands alone */
    for (int i = 10; i < 20; i++)
        cells[i].p = 0.04;
    struct mgb_comparison pair[] = {cells[8], cells[8]};
    assert_ok(mgb_compare_correct(cells, 40));
    assert_int_equal(cells[8].verdict, MGB_VERDICT_UNDECIDED);
    assert_int_equal(cells[8].reason, MGB_REASON_MANY_CELLS);
    assert_true(cells[8].more_repetitions > 0 && fabs(cells[8].p_adjusted - 0.33) < 1e-9);
    assert_ok(mgb_compare_correct(pair, 2));
    assert_int_equal(pair[0].reason, MGB_REASON_MANY_CELLS);
    assert_true(pair[0].more_repetitions < cells[8].more_repetitions);
}

/* What is undecided by itself needs more repetitions as one of many than alone. */
static void many_cells_ask_for_more_repetitions(void **state)
{
    (void)state;
    struct mgb_comparison cells[40];
    for (int i = 0; i < 40; i++)
        cells[i] = simulate(calm, 1.2, 5, 5, (uint64_t)i, &usual);
    cells[8].verdict = MGB_VERDICT_UNDECIDED;
    cells[8].reason = MGB_REASON_WIDE;
    cells[8].p = 0.3;
    cells[8].ratio = 1.05;
    cells[8].low = 0.98;
    cells[8].high = 1.125;
    struct mgb_comparison alone = cells[8];
    assert_ok(mgb_compare_correct(&alone, 1));
    assert_ok(mgb_compare_correct(cells, 40));
    assert_int_equal(cells[8].verdict, MGB_VERDICT_UNDECIDED);
    assert_int_equal(cells[8].reason, MGB_REASON_WIDE);
    assert_true(alone.more_repetitions > 0);
    assert_true(cells[8].more_repetitions > alone.more_repetitions);
}

static void the_noise_floor_is_what_this_machine_shows(void **state)
{
    (void)state;
    double out, ratios[41];
    assert_ok(mgb_compare_measure_floor(&out, NULL, 0));
    assert_true(out == MGB_COMPARE_FLOOR);
    for (int i = 0; i < 41; i++)
        ratios[i] = 1 + 0.001 * (i - 20) / 20.0;
    assert_ok(mgb_compare_measure_floor(&out, ratios, 41));
    assert_true(out == MGB_COMPARE_FLOOR);
    for (int i = 0; i < 41; i++)
        ratios[i] = i % 2 ? 1.03 : 1 / 1.03;
    assert_ok(mgb_compare_measure_floor(&out, ratios, 41));
    assert_true(fabs(out - 0.03) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_follow_the_truth),
        cmocka_unit_test(a_wild_repetition_leaves_the_interval_positive),
        cmocka_unit_test(repetitions_unlike_the_others_are_found),
        cmocka_unit_test(five_sharp_verdicts_in_a_hundred_are_wrong),
        cmocka_unit_test(repetitions_that_differ_much_give_welchs_interval),
        cmocka_unit_test(a_floor_keeps_small_differences_from_being_verdicts),
        cmocka_unit_test(p_is_below_five_percent_exactly_where_the_interval_decides),
        cmocka_unit_test(swapping_the_sides_mirrors_the_verdict),
        cmocka_unit_test(the_repetitions_it_asks_for_settle_it),
        cmocka_unit_test(a_ratio_on_the_floors_edge_is_not_worth_repeating),
        cmocka_unit_test(one_repetition_decides_only_where_repetitions_are_equal),
        cmocka_unit_test(a_side_that_is_not_steady_or_empty_gets_no_verdict),
        cmocka_unit_test(the_second_opinion_says_what_it_cannot_say),
        cmocka_unit_test(many_cells_take_back_what_one_alone_decides),
        cmocka_unit_test(many_cells_ask_for_more_repetitions),
        cmocka_unit_test(the_noise_floor_is_what_this_machine_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
