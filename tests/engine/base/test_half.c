/* 16-bit floats against their definition, computed in double: every value there and back, and every point between two
 * neighbours where rounding decides. */
#include "engine/base/half.h"
#include "tests/support/check.h"

#include <math.h>

/* The value of `half` with `digits` bits of fraction, by the formula of IEEE 754; NaN and infinities left out. */
static double value_of(uint16_t half, int digits, int bias)
{
    int exponent = (half & 0x7fff) >> digits, fraction = half & ((1 << digits) - 1);
    double size = exponent == 0 ? ldexp(fraction, 1 - bias - digits)
                                : ldexp((1 << digits) + fraction, exponent - bias - digits);
    return half & 0x8000 ? -size : size;
}

struct type {
    uint16_t (*narrow)(float);
    float (*widen)(uint16_t);
    int digits, bias;
    uint16_t infinity;
};
static const struct type types[] = {{mgb_f16_of_f32, mgb_f32_of_f16, 10, 15, 0x7c00},
                                    {mgb_bf16_of_f32, mgb_f32_of_bf16, 7, 127, 0x7f80}};

static void every_value_is_exact_and_comes_back(void **state)
{
    (void)state;
    for (size_t t = 0; t < 2; t++)
        for (unsigned half = 0; half < 65536; half++) {
            float wide = types[t].widen((uint16_t)half);
            if ((half & 0x7fff) > types[t].infinity) {
                assert_true(isnan(wide));
                assert_true(isnan(types[t].widen(types[t].narrow(wide))));
                continue;
            }
            if ((half & 0x7fff) == types[t].infinity)
                assert_true(isinf(wide));
            else
                assert_true((double)wide ==
                            value_of((uint16_t)half, types[t].digits, types[t].bias));
            assert_int_equal(types[t].narrow(wide), half);
        }
}

static void rounding_is_to_nearest_and_ties_go_to_even(void **state)
{
    (void)state;
    for (size_t t = 0; t < 2; t++)
        for (unsigned half = 0; half + 1 < types[t].infinity; half++) {
            double low = value_of((uint16_t)half, types[t].digits, types[t].bias);
            double high = value_of((uint16_t)(half + 1), types[t].digits, types[t].bias);
            float middle = (float)((low + high) / 2); /* exact: one digit more */
            unsigned even = half % 2 ? half + 1 : half;
            assert_int_equal(types[t].narrow(middle), even);
            assert_int_equal(types[t].narrow(-middle), even | 0x8000);
            assert_int_equal(types[t].narrow(nextafterf(middle, 0)), half);
            assert_int_equal(types[t].narrow(nextafterf(middle, INFINITY)), half + 1);
        }
}

static void what_is_too_large_becomes_infinite(void **state)
{
    (void)state;
    assert_int_equal(mgb_f16_of_f32(65519.996f), 0x7bff);
    assert_int_equal(mgb_f16_of_f32(65520.0f), 0x7c00);
    assert_int_equal(mgb_f16_of_f32(-1e30f), 0xfc00);
    assert_int_equal(mgb_f16_of_f32(INFINITY), 0x7c00);
    assert_int_equal(mgb_bf16_of_f32(3.4028235e38f), 0x7f80);
    assert_int_equal(mgb_bf16_of_f32(-INFINITY), 0xff80);
    assert_int_equal(mgb_f16_of_f32(1e-30f), 0);
    assert_int_equal(mgb_f16_of_f32(-1e-30f), 0x8000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_exact_and_comes_back),
        cmocka_unit_test(rounding_is_to_nearest_and_ties_go_to_even),
        cmocka_unit_test(what_is_too_large_becomes_infinite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
