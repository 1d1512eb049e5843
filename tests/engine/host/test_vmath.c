/* exp, tanh, sigmoid and erf at the ends of what a float can be: they are defined for every input, a NaN included. */
#include "tests/support/check.h"

#include "engine/host/vmath.h"
#include <float.h>
#include <math.h>

static void a_nan_stays_one(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        float nan = copysignf(NAN, (float)sign);
        assert_true(isnan(mgb_exp(nan)));
        assert_true(isnan(mgb_sigmoid(nan)));
        assert_true(isnan(mgb_tanh(nan)));
        assert_true(isnan(mgb_erf(nan)));
    }
}

static void infinities_and_the_largest_numbers_have_their_limits(void **state)
{
    (void)state;
    const float large[] = {INFINITY, FLT_MAX, 1e30f, 1e4f, 100};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        assert_true(mgb_exp(large[i]) > 1e38f);
        assert_true(mgb_exp(-large[i]) < 2e-38f && mgb_exp(-large[i]) >= 0);
        assert_true(mgb_sigmoid(large[i]) == 1);
        assert_true(mgb_sigmoid(-large[i]) < 1e-37f && mgb_sigmoid(-large[i]) >= 0);
        assert_true(mgb_tanh(large[i]) == 1);
        assert_true(mgb_tanh(-large[i]) == -1);
        assert_true(mgb_erf(large[i]) == 1);
        assert_true(mgb_erf(-large[i]) == -1);
    }
}

static void subnormals_and_zeros_are_almost_nothing(void **state)
{
    (void)state;
    const float small[] = {0, -0.0f, FLT_TRUE_MIN, -FLT_TRUE_MIN, FLT_MIN / 2, -FLT_MIN / 2};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        assert_true(mgb_exp(small[i]) == 1);
        assert_true(mgb_sigmoid(small[i]) == 0.5f);
        assert_true(mgb_tanh(small[i]) == small[i]);
    }
}

/* Every power of two and its neighbours, of both signs. */
static void every_magnitude_is_near_the_exact_value(void **state)
{
    (void)state;
    for (int exponent = -149; exponent < 128; exponent++) {
        float middle = ldexpf(1, exponent);
        const float around[] = {nextafterf(middle, 0), middle, nextafterf(middle, INFINITY)};
        for (int i = 0; i < 6; i++) {
            float x = i % 2 ? -around[i / 2] : around[i / 2];
            double e = exp(fmax(fmin((double)x, 88.37626), -87.33654));
            assert_true(fabs((double)mgb_exp(x) / e - 1) < 1e-5);
            assert_true(fabs((double)mgb_tanh(x) - tanh((double)x)) < 1e-6);
            assert_true(fabs((double)mgb_erf(x) - erf((double)x)) < 1e-6);
            assert_true(fabs((double)mgb_sigmoid(x) - 1 / (1 + exp(-(double)x))) < 1e-6);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_nan_stays_one),
        cmocka_unit_test(infinities_and_the_largest_numbers_have_their_limits),
        cmocka_unit_test(subnormals_and_zeros_are_almost_nothing),
        cmocka_unit_test(every_magnitude_is_near_the_exact_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
