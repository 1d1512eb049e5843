/* Text in a locale with a decimal comma. */
#include "tests/support/check.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "tests/support/locale.h"
#include <stdio.h>

static void numbers_have_a_point_in_a_comma_locale(void **state)
{
    (void)state;
    char plain[16], bytes[32], *result;
    struct mgb_text text = {0};
    snprintf(plain, sizeof plain, "%.1f", 1.5);
    assert_string_equal(plain, "1,5");
    mgb_text_add(&text, "%.1f %g", 1.5, 0.25);
    assert_ok(mgb_text_take(&result, &text));
    assert_string_equal(result, "1.5 0.25");
    mgb_release(result);
    mgb_fail(MGB_INVALID, "rate %.2f", 0.75);
    assert_string_equal(mgb_message_get(), "rate 0.75");
    assert_string_equal(mgb_format_bytes(bytes, sizeof bytes, 1536), "1.5 KiB");
}

static void the_programs_own_locale_stays(void **state)
{
    (void)state;
    char out[16];
    struct mgb_text text = {0};
    mgb_text_add(&text, "%.1f", 1.5);
    mgb_text_done(&text);
    snprintf(out, sizeof out, "%.1f", 1.5);
    assert_string_equal(out, "1,5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_a_point_in_a_comma_locale),
        cmocka_unit_test(the_programs_own_locale_stays),
    };
    if (!mgb_test_comma_locale())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
