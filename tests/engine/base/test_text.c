/* The text builder, byte counts and "did you mean". */
#include "tests/support/check.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include <string.h>

static void text_grows_piece_by_piece(void **state)
{
    (void)state;
    struct mgb_text text = {0};
    char *result;
    for (int i = 0; i < 1000; i++)
        mgb_text_add(&text, "%04d,", i);
    assert_int_equal(text.length, 5000);
    assert_ok(mgb_text_take(&result, &text));
    assert_int_equal(strlen(result), 5000);
    assert_memory_equal(result + 4995, "0999,", 6);
    assert_null(text.chars);
    mgb_release(result);
}

static void nothing_added_is_an_empty_string(void **state)
{
    (void)state;
    struct mgb_text text = {0};
    char *result;
    assert_ok(mgb_text_take(&result, &text));
    assert_string_equal(result, "");
    mgb_release(result);
}

static void a_failed_allocation_is_reported_at_the_end(void **state)
{
    (void)state;
    struct mgb_text text = {0};
    char *result;
    mgb_text_add(&text, "begun");
    mgb_alloc_fail_at(1);
    mgb_text_add(&text, "%1000d", 1);
    mgb_text_add(&text, "more");
    assert_string_equal(text.chars, "begun");
    assert_status(mgb_text_take(&result, &text), MGB_NO_MEMORY);
    assert_null(result);
    assert_null(text.chars);
}

static void bytes_are_shown_in_binary_units(void **state)
{
    (void)state;
    char out[32];
    assert_string_equal(mgb_format_bytes(out, sizeof out, 0), "0 B");
    assert_string_equal(mgb_format_bytes(out, sizeof out, 1023), "1023 B");
    assert_string_equal(mgb_format_bytes(out, sizeof out, 1024), "1.0 KiB");
    assert_string_equal(mgb_format_bytes(out, sizeof out, 12897485), "12.3 MiB");
    assert_string_equal(mgb_format_bytes(out, sizeof out, (1LL << 30) - 1), "1.0 GiB");
    assert_string_equal(mgb_format_bytes(out, sizeof out, -1536), "-1.5 KiB");
    assert_string_equal(mgb_format_bytes(out, sizeof out, 7LL << 60), "7168.0 PiB");
}

static void the_nearest_name_is_found_or_none(void **state)
{
    (void)state;
    static const char *const names[] = {"cpu_merge", "cpu_relocation", "batch", "steps"};
    assert_string_equal(mgb_nearest_name("cpu_mrege", names, 4), "cpu_merge");
    assert_string_equal(mgb_nearest_name("relocation", names, 4), "cpu_relocation");
    assert_string_equal(mgb_nearest_name("Batch", names, 4), "batch");
    assert_string_equal(mgb_nearest_name("step", names, 4), "steps");
    assert_null(mgb_nearest_name("momentum", names, 4));
    assert_null(mgb_nearest_name("x", names, 4));
    assert_null(mgb_nearest_name("", names, 4));
    assert_null(mgb_nearest_name("batch", names, 0));
}

static void a_name_of_any_length_is_safe(void **state)
{
    (void)state;
    char longest[64], too_long[65];
    memset(longest, 'a', 63);
    memset(too_long, 'a', 64);
    longest[63] = too_long[64] = '\0';
    const char *names[] = {too_long, longest};
    assert_ptr_equal(mgb_nearest_name(longest, names, 2), longest);
    assert_null(mgb_nearest_name(too_long, names, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows_piece_by_piece),
        cmocka_unit_test(nothing_added_is_an_empty_string),
        cmocka_unit_test(a_failed_allocation_is_reported_at_the_end),
        cmocka_unit_test(bytes_are_shown_in_binary_units),
        cmocka_unit_test(the_nearest_name_is_found_or_none),
        cmocka_unit_test(a_name_of_any_length_is_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
