/* Mann-Whitney against SciPy, and the p that few repetitions cannot go below. */
#include "tests/support/check.h"

#include "db/rank_test.h"
#include "tests/support/golden.h"
#include <math.h>
#include <stdio.h>

enum { MOST = 70 };

static void sample_read(double *out, const struct golden *golden, int a, int b, char which)
{
    char label[32];
    float values[MOST];
    int count = which == 'a' ? a : b;
    snprintf(label, sizeof label, "rank %d %d %c", a, b, which);
    golden_read(golden, label, values, count);
    for (int i = 0; i < count; i++)
        out[i] = (double)values[i];
}

static void u_and_p_are_those_of_scipy_with_ties_and_without(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1},   {3, 3}, {5, 5}, {5, 8},
                                   {20, 25}, {4, 5}, {8, 8}, {60, 70}};
    struct golden golden = golden_open("statistics/figures.txt");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char label[32];
        float want[2];
        double a[MOST], b[MOST];
        struct mgb_rank_test got;
        sample_read(a, &golden, sizes[i][0], sizes[i][1], 'a');
        sample_read(b, &golden, sizes[i][0], sizes[i][1], 'b');
        snprintf(label, sizeof label, "rank %d %d u p", sizes[i][0], sizes[i][1]);
        golden_read(&golden, label, want, 2);
        assert_ok(mgb_rank_test_run(&got, a, (size_t)sizes[i][0], b, (size_t)sizes[i][1]));
        assert_true(got.u == (double)want[0]);
        assert_true(fabs(got.p - (double)want[1]) < 2e-7);
        assert_int_equal(got.exact, sizes[i][0] + sizes[i][1] <= MGB_RANK_TEST_EXACT);
    }
    golden_close(&golden);
}

static void three_against_three_cannot_reach_five_percent(void **state)
{
    (void)state;
    struct mgb_rank_test got;
    assert_ok(mgb_rank_test_run(&got, (double[]){1, 2, 3}, 3, (double[]){7, 8, 9}, 3));
    assert_true(fabs(got.p - 0.1) < 1e-12);
    assert_true(got.p == got.smallest);
    assert_true(mgb_rank_test_smallest(3, 3) > 0.05);
    assert_true(mgb_rank_test_smallest(4, 4) < 0.05);
    assert_true(fabs(mgb_rank_test_smallest(5, 5) - 2.0 / 252) < 1e-12);
    assert_true(mgb_rank_test_smallest(1, 1) == 1);
}

static void equal_values_tell_nothing(void **state)
{
    (void)state;
    struct mgb_rank_test got;
    assert_ok(mgb_rank_test_run(&got, (double[]){4, 4, 4}, 3, (double[]){4, 4}, 2));
    assert_true(got.p == 1 && got.u == 3);
}

static void a_sample_without_values_is_refused(void **state)
{
    (void)state;
    struct mgb_rank_test got;
    assert_status(mgb_rank_test_run(&got, NULL, 0, (double[]){1}, 1), MGB_INVALID);
    assert_message("0 against 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(u_and_p_are_those_of_scipy_with_ties_and_without),
        cmocka_unit_test(three_against_three_cannot_reach_five_percent),
        cmocka_unit_test(equal_values_tell_nothing),
        cmocka_unit_test(a_sample_without_values_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
