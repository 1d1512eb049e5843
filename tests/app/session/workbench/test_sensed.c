/* What sensors say, in words. */
#include "tests/support/check.h"

#include "app/session/workbench/bench.h"
#include <stdio.h>

static const struct mgb_sensed nothing = {.clock_khz = MGB_UNSENSED,
                                          .memory_clock_khz = MGB_UNSENSED,
                                          .power_mw = MGB_UNSENSED,
                                          .temperature_mc = MGB_UNSENSED,
                                          .utilisation_ppm = MGB_UNSENSED,
                                          .used_bytes = MGB_UNSENSED};

static void what_a_device_does_not_tell_is_left_out(void **state)
{
    (void)state;
    struct mgb_sensed sensed = nothing;
    char text[160] = "old";
    mgb_bench_sensed_write(text, sizeof text, &sensed);
    assert_string_equal(text, "");
    sensed.temperature_mc = 61000;
    mgb_bench_sensed_write(text, sizeof text, &sensed);
    assert_string_equal(text, "61 C");
    sensed.clock_khz = 1410000;
    sensed.power_mw = 249900;
    sensed.utilisation_ppm = 970000;
    mgb_bench_sensed_write(text, sizeof text, &sensed);
    assert_string_equal(text, "1410 MHz, 249 W, 61 C, 97 % in use");
}

static void what_throttles_is_named_and_nothing_too(void **state)
{
    (void)state;
    struct mgb_sensed sensed = nothing;
    char text[160];
    sensed.throttle_known = true;
    mgb_bench_sensed_write(text, sizeof text, &sensed);
    assert_string_equal(text, "nothing holds it back");
    sensed.clock_khz = 900000;
    snprintf(sensed.throttle, sizeof sensed.throttle, "power,thermal");
    mgb_bench_sensed_write(text, sizeof text, &sensed);
    assert_string_equal(text, "900 MHz, held back by power,thermal");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_device_does_not_tell_is_left_out),
        cmocka_unit_test(what_throttles_is_named_and_nothing_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
