/* Holm's correction against statsmodels. */
#include "tests/support/check.h"

#include "db/holm.h"
#include "tests/support/golden.h"
#include <math.h>
#include <stdio.h>

static void adjusted_values_are_those_of_statsmodels(void **state)
{
    (void)state;
    static const int counts[] = {1, 4, 5, 30};
    struct golden golden = golden_open("statistics/figures.txt");
    for (int i = 0; i < 4; i++) {
        char label[32];
        float p[30], want[30];
        double given[30], got[30];
        snprintf(label, sizeof label, "holm %d p", i);
        golden_read(&golden, label, p, counts[i]);
        snprintf(label, sizeof label, "holm %d adjusted", i);
        golden_read(&golden, label, want, counts[i]);
        for (int k = 0; k < counts[i]; k++)
            given[k] = (double)p[k];
        assert_ok(mgb_holm_adjust(got, given, (size_t)counts[i]));
        for (int k = 0; k < counts[i]; k++)
            assert_true(fabs(got[k] - (double)want[k]) < 2e-7);
    }
    golden_close(&golden);
}

static void a_cell_that_was_not_tested_does_not_count(void **state)
{
    (void)state;
    double p[] = {0.02, (double)NAN, 0.03};
    assert_ok(mgb_holm_adjust(p, p, 3));
    assert_true(fabs(p[0] - 0.04) < 1e-12);
    assert_true(isnan(p[1]));
    assert_true(fabs(p[2] - 0.04) < 1e-12);
}

static void no_cells_are_no_failure(void **state)
{
    (void)state;
    assert_ok(mgb_holm_adjust(NULL, NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adjusted_values_are_those_of_statsmodels),
        cmocka_unit_test(a_cell_that_was_not_tested_does_not_count),
        cmocka_unit_test(no_cells_are_no_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
