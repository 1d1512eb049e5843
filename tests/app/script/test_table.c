/* The table printer in its three forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "app/script/table.h"
#include "tests/support/locale.h"
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <mgb/text.h>

static const char *const names[] = {"model", "gpus", "step_ms", "merge", "note"};

static struct mgb_table *table_fill(void)
{
    struct mgb_table *table;
    assert_int_equal(mgb_table_make(&table, 5, names), MGB_OK);
    mgb_table_add_text(table, "mnist_cnn");
    mgb_table_add_integer(table, 4);
    mgb_table_add_number(table, 247.123456);
    mgb_table_add_boolean(table, true);
    mgb_table_add_text(table, "a, \"b\"\nc");
    mgb_table_add_text(table, "\xc3\xa4");
    mgb_table_add_integer(table, -12);
    mgb_table_add_number(table, NAN);
    mgb_table_add_empty(table);
    mgb_table_add_number(table, 0.1);
    return table;
}

static void expect(enum mgb_table_format format, const char *wanted)
{
    char *chars = NULL;
    size_t size;
    struct mgb_table *table = table_fill();
    FILE *out = open_memstream(&chars, &size);
    assert_int_equal(mgb_table_print(table, format, out), MGB_OK);
    fclose(out);
    assert_string_equal(chars, wanted);
    free(chars);
    mgb_table_free(table);
}

static void text_is_aligned_by_characters(void **state)
{
    (void)state;
    setlocale(LC_CTYPE, "C.UTF-8");
    expect(MGB_TABLE_TEXT, "model      gpus  step_ms  merge  note\n"
                           "mnist_cnn     4    247.1  yes    a, \"b\" c\n"
                           "\xc3\xa4           -12        -  -      0.1\n");
}

static void csv_quotes_and_ends_lines_by_the_rfc(void **state)
{
    (void)state;
    expect(MGB_TABLE_CSV, "model,gpus,step_ms,merge,note\r\n"
                          "mnist_cnn,4,247.123456,true,\"a, \"\"b\"\"\nc\"\r\n"
                          "\xc3\xa4,-12,,,0.1\r\n");
}

static void json_has_an_object_a_line(void **state)
{
    (void)state;
    expect(MGB_TABLE_JSON,
           "{\"model\":\"mnist_cnn\",\"gpus\":4,\"step_ms\":247.123456,\"merge\":true,"
           "\"note\":\"a, \\\"b\\\"\\nc\"}\n"
           "{\"model\":\"\xc3\xa4\",\"gpus\":-12,\"step_ms\":null,\"merge\":null,\"note\":0.1}\n");
}

static void numbers_have_a_point_in_a_comma_locale(void **state)
{
    (void)state;
    char text[40];
    assert_true(mgb_test_comma_locale());
    assert_string_equal(mgb_format_figure(text, 1.5), "1.5");
    assert_string_equal(mgb_format_exact(text, 1.0 / 3), "0.3333333333333333");
    setlocale(LC_ALL, "C");
    assert_string_equal(mgb_format_exact(text, 1.0 / 3), "0.3333333333333333");
    assert_string_equal(mgb_format_figure(text, 123456.7), "123457");
    assert_string_equal(mgb_format_figure(text, 0.00012345), "0.0001234");
}

static void a_table_without_rows_has_a_header(void **state)
{
    (void)state;
    char *chars = NULL;
    size_t size;
    struct mgb_table *table;
    assert_int_equal(mgb_table_make(&table, 2, names), MGB_OK);
    FILE *out = open_memstream(&chars, &size);
    assert_int_equal(mgb_table_print(table, MGB_TABLE_TEXT, out), MGB_OK);
    assert_int_equal(mgb_table_print(table, MGB_TABLE_JSON, out), MGB_OK);
    fclose(out);
    assert_string_equal(chars, "model  gpus\n");
    free(chars);
    mgb_table_free(table);
}

static void within(const struct mgb_table *table, int width, const char *wanted)
{
    char *chars = NULL;
    size_t size;
    FILE *out = open_memstream(&chars, &size);
    assert_int_equal(mgb_table_print_within(table, width, out), MGB_OK);
    fclose(out);
    assert_string_equal(chars, wanted);
    free(chars);
}

static void what_is_the_same_in_every_row_makes_room_in_a_narrow_table(void **state)
{
    (void)state;
    struct mgb_table *table;
    assert_int_equal(mgb_table_make(&table, 5, names), MGB_OK);
    for (int i = 0; i < 2; i++) {
        mgb_table_add_text(table, "mnist_cnn");
        mgb_table_add_integer(table, 4);
        mgb_table_add_number(table, 10 + i);
        mgb_table_add_boolean(table, i == 0);
        mgb_table_add_text(table, "a note");
    }
    within(table, 44,
           "model      gpus  step_ms  merge  note\n"
           "mnist_cnn     4       10  yes    a note\n"
           "mnist_cnn     4       11  no     a note\n");
    within(table, 26,
           "model mnist_cnn, gpus 4,\n"
           "note a note\n"
           "step_ms  merge\n"
           "     10  yes\n"
           "     11  no\n");
    mgb_table_free(table);
}

static void a_blank_less_is_better_than_two_blocks(void **state)
{
    (void)state;
    struct mgb_table *table = table_fill();
    setlocale(LC_CTYPE, "C.UTF-8");
    within(table, 39,
           "model     gpus step_ms merge note\n"
           "mnist_cnn    4   247.1 yes   a, \"b\" c\n"
           "\xc3\xa4          -12       - -     0.1\n");
    setlocale(LC_ALL, "C");
    mgb_table_free(table);
}

static void what_does_not_fit_follows_in_a_second_block(void **state)
{
    (void)state;
    struct mgb_table *table = table_fill();
    setlocale(LC_CTYPE, "C.UTF-8");
    within(table, 27,
           "model      gpus  step_ms\n"
           "mnist_cnn     4    247.1\n"
           "\xc3\xa4           -12        -\n"
           "\n"
           "model      merge  note\n"
           "mnist_cnn  yes    a, \"b\" c\n"
           "\xc3\xa4          -      0.1\n");
    within(table, 16,
           "model      gpus\n"
           "mnist_cnn     4\n"
           "\xc3\xa4           -12\n"
           "\n"
           "step_ms  merge\n"
           "  247.1  yes\n"
           "      -  -\n"
           "\n"
           "note\n"
           "a, \"b\" c\n"
           "0.1\n");
    setlocale(LC_ALL, "C");
    mgb_table_free(table);
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    FILE *out = fopen("/dev/full", "w");
    struct mgb_table *table = table_fill();
    assert_int_equal(mgb_table_print(table, MGB_TABLE_TEXT, out), MGB_IO);
    assert_string_equal(mgb_message_get(), "printing a table: No space left on device");
    fclose(out);
    mgb_table_free(table);
}

/* Everything that a terminal would obey, and what no reader of UTF-8 takes. */
static const char hostile[] = "a\x1b]0;b\a\r\b\x7f\xc2\x9b"
                              "2J\xe2\x80\xae \xff\xc3\0z";

static char *hostile_print(enum mgb_table_format format)
{
    char *chars = NULL;
    size_t size;
    struct mgb_table *table;
    FILE *out = open_memstream(&chars, &size);
    assert_int_equal(mgb_table_make(&table, 2, (const char *const[]){"n\x1b", "after"}), MGB_OK);
    mgb_table_add_bytes(table, hostile, sizeof hostile - 1);
    mgb_table_add_text(table, "x");
    assert_int_equal(mgb_table_print(table, format, out), MGB_OK);
    fclose(out);
    mgb_table_free(table);
    return chars;
}

static void nothing_in_a_text_does_more_on_a_screen_than_stand_there(void **state)
{
    (void)state;
    char *chars = hostile_print(MGB_TABLE_TEXT);
    assert_string_equal(chars, "n\\x1b                                               after\n"
                               "a\\x1b]0;b\\x07 \\x08\\x7f\\u009b2J\\u202e \\xff\\xc3\\x00z  x\n");
    free(chars);
}

static void programs_get_a_text_as_it_is(void **state)
{
    (void)state;
    char *chars = hostile_print(MGB_TABLE_JSON);
    assert_string_equal(chars, "{\"n\\u001b\":\"a\\u001b]0;b\\u0007\\r\\b\x7f\xc2\x9b"
                               "2J\xe2\x80\xae \\ufffd\\ufffd\\u0000z\",\"after\":\"x\"}\n");
    free(chars);
    chars = hostile_print(MGB_TABLE_CSV);
    size_t head = strlen("n\x1b,after\r\n");
    assert_int_equal(chars[head], '"'); /* it has a carriage return */
    assert_memory_equal(chars + head + 1, hostile, sizeof hostile - 1);
    assert_string_equal(chars + head + sizeof hostile, "\",x\r\n");
    free(chars);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_aligned_by_characters),
        cmocka_unit_test(csv_quotes_and_ends_lines_by_the_rfc),
        cmocka_unit_test(json_has_an_object_a_line),
        cmocka_unit_test(numbers_have_a_point_in_a_comma_locale),
        cmocka_unit_test(a_table_without_rows_has_a_header),
        cmocka_unit_test(what_is_the_same_in_every_row_makes_room_in_a_narrow_table),
        cmocka_unit_test(a_blank_less_is_better_than_two_blocks),
        cmocka_unit_test(what_does_not_fit_follows_in_a_second_block),
        cmocka_unit_test(nothing_in_a_text_does_more_on_a_screen_than_stand_there),
        cmocka_unit_test(programs_get_a_text_as_it_is),
        cmocka_unit_test(a_full_disk_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
