/* Median, percentiles, deviations and Tukey's fences, against NumPy and SciPy (tests/golden/make_statistics.py). */
#include "tests/support/check.h"

#include "db/order.h"
#include "db/outlier.h"
#include "tests/support/golden.h"
#include <math.h>
#include <stdio.h>

enum { MOST = 500 };
static struct golden golden;

static int golden_setup(void **state)
{
    (void)state;
    golden = golden_open("statistics/figures.txt");
    return 0;
}

static int golden_teardown(void **state)
{
    (void)state;
    golden_close(&golden);
    return 0;
}

static void close_to(double got, double want)
{
    if (!(fabs(got - want) <= 2e-7 * fmax(1, fabs(want))))
        fail_msg("%.10g, golden has %.10g", got, want);
}

static void steps_compare(int count)
{
    char label[32];
    float steps[MOST], figures[7], flags[MOST];
    double values[MOST];
    int64_t wall_ns[MOST];
    enum mgb_outlier found[MOST];
    struct mgb_outliers outliers;
    snprintf(label, sizeof label, "steps %d", count);
    golden_read(&golden, label, steps, count);
    snprintf(label, sizeof label, "figures %d", count);
    golden_read(&golden, label, figures, 7);
    snprintf(label, sizeof label, "flags %d", count);
    golden_read(&golden, label, flags, count);
    for (int i = 0; i < count; i++) {
        values[i] = (double)steps[i];
        wall_ns[i] = (int64_t)steps[i];
    }
    mgb_order_sort(values, (size_t)count);
    close_to(mgb_order_median(values, (size_t)count), (double)figures[0]);
    static const double shares[] = {0.05, 0.25, 0.75, 0.95, 0.99};
    for (int i = 0; i < 5; i++)
        close_to(mgb_order_percentile(values, (size_t)count, shares[i]), (double)figures[2 + i]);
    close_to(mgb_order_mad(values, (size_t)count), (double)figures[1]);
    static const enum mgb_outlier names[] = {MGB_OUTLIER_NONE, MGB_OUTLIER_FAR_LOW,
                                             MGB_OUTLIER_MILD_LOW, MGB_OUTLIER_MILD_HIGH,
                                             MGB_OUTLIER_FAR_HIGH};
    assert_ok(mgb_outliers_find(&outliers, found, wall_ns, (size_t)count, 0));
    for (int i = 0; i < count; i++)
        assert_int_equal(found[i], names[(int)flags[i]]);
}

static void figures_and_flags_are_those_of_numpy_and_scipy(void **state)
{
    (void)state;
    static const int counts[] = {4, 7, 40, 201, 500};
    for (int i = 0; i < 5; i++)
        steps_compare(counts[i]);
}

static void the_slow_step_of_four_is_shown(void **state)
{
    (void)state;
    enum mgb_outlier flags[4];
    struct mgb_outliers out;
    const int64_t wall_ns[] = {100000000, 100000000, 100000000, 200000000};
    assert_ok(mgb_outliers_find(&out, flags, wall_ns, 4, 1000));
    assert_int_equal(flags[0], MGB_OUTLIER_NONE);
    assert_int_equal(flags[3], MGB_OUTLIER_MILD_HIGH);
    assert_int_equal(out.counts[MGB_OUTLIER_NONE], 3);
    assert_int_equal(out.counts[MGB_OUTLIER_MILD_HIGH], 1);
}

static void a_spread_below_the_clocks_resolution_has_no_outliers(void **state)
{
    (void)state;
    struct mgb_outliers out;
    int64_t wall_ns[50];
    for (int i = 0; i < 50; i++)
        wall_ns[i] = 5000000 + (i == 7 ? 1000 : 0);
    assert_ok(mgb_outliers_find(&out, NULL, wall_ns, 50, 1000));
    assert_int_equal(out.counts[MGB_OUTLIER_NONE], 50);
    wall_ns[9] = 9000000;
    assert_ok(mgb_outliers_find(&out, NULL, wall_ns, 50, 1000));
    assert_int_equal(out.counts[MGB_OUTLIER_FAR_HIGH], 1);
}

static void too_few_steps_have_no_outliers(void **state)
{
    (void)state;
    struct mgb_outliers out;
    enum mgb_outlier flags[3] = {MGB_OUTLIER_FAR_LOW, MGB_OUTLIER_FAR_LOW, MGB_OUTLIER_FAR_LOW};
    assert_ok(mgb_outliers_find(&out, flags, (int64_t[]){1, 1, 900}, 3, 0));
    assert_int_equal(flags[2], MGB_OUTLIER_NONE);
    assert_ok(mgb_outliers_find(&out, NULL, NULL, 0, 0));
    assert_int_equal(out.counts[MGB_OUTLIER_NONE], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_and_flags_are_those_of_numpy_and_scipy),
        cmocka_unit_test(the_slow_step_of_four_is_shown),
        cmocka_unit_test(a_spread_below_the_clocks_resolution_has_no_outliers),
        cmocka_unit_test(too_few_steps_have_no_outliers),
    };
    return cmocka_run_group_tests(tests, golden_setup, golden_teardown);
}
