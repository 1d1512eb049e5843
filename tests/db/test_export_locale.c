/* Numbers in a locale with a decimal comma (naev/naev#754, davidgiven/wordgrinder#239, scenario 24). */
#include "tests/support/check.h"

#include "db/export.h"
#include "tests/support/locale.h"
#include <float.h>
#include <string.h>

static void numbers_have_a_point_and_all_their_digits_in_a_comma_locale(void **state)
{
    (void)state;
    char plain[16], text[MGB_EXPORT_NUMBER];
    snprintf(plain, sizeof plain, "%.1f", 1.5);
    assert_string_equal(plain, "1,5");
    assert_string_equal(mgb_export_number(text, 0.1, false), "0.1");
    assert_string_equal(mgb_export_number(text, 1.0 / 3, false), "0.3333333333333333");
    assert_string_equal(mgb_export_number(text, 0.1 + 0.2, false), "0.30000000000000004");
    assert_string_equal(mgb_export_number(text, -1.5e-300, false), "-1.5e-300");
    assert_string_equal(mgb_export_number(text, 1e6, false), "1000000.0");
    assert_string_equal(mgb_export_number(text, DBL_MAX, false), "1.7976931348623157e+308");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_a_point_and_all_their_digits_in_a_comma_locale),
    };
    if (!mgb_test_comma_locale())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
