/* Student's t against SciPy. */
#include "tests/support/check.h"

#include "db/student.h"
#include "tests/support/golden.h"
#include <math.h>

enum { COUNT = 18 };

static void tails_and_quantiles_are_those_of_scipy(void **state)
{
    (void)state;
    static const double shares[] = {0.4, 0.025, 0.001};
    float freedom[COUNT], quantile[COUNT], above[COUNT];
    struct golden golden = golden_open("statistics/figures.txt");
    golden_read(&golden, "student freedom", freedom, COUNT);
    golden_read(&golden, "student quantile", quantile, COUNT);
    golden_read(&golden, "student above 1.5", above, COUNT);
    golden_close(&golden);
    for (int i = 0; i < COUNT; i++) {
        double got = mgb_student_quantile(shares[i % 3], (double)freedom[i]);
        assert_true(fabs(got / (double)quantile[i] - 1) < 3e-7);
        got = mgb_student_above(1.5, (double)freedom[i]);
        assert_true(fabs(got / (double)above[i] - 1) < 3e-7);
    }
}

static void the_tails_are_a_mirror_and_end(void **state)
{
    (void)state;
    for (double t = 0; t < 40; t += 0.7)
        assert_true(fabs(mgb_student_above(t, 5) + mgb_student_above(-t, 5) - 1) < 1e-14);
    assert_true(mgb_student_above(0, 3) == 0.5);
    assert_true(mgb_student_above((double)INFINITY, 3) == 0);
    assert_true(fabs(mgb_student_quantile(0.025, 1e7) - 1.959964) < 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails_and_quantiles_are_those_of_scipy),
        cmocka_unit_test(the_tails_are_a_mirror_and_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
