/* The strict reader of JSON. */
#include "engine/base/json.h"
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

/* The text at the start of `source`; NULL when it is refused. A copy without a byte to spare. */
static char *text_of(const char *source, size_t size)
{
    char *copy = malloc(size ? size : 1), *text = NULL, *out = NULL;
    memcpy(copy, source, size);
    struct mgb_json json = {copy, size, 0, "the header"};
    if (mgb_json_text(&text, &json) == MGB_OK && mgb_json_end(&json) == MGB_OK)
        out = strdup(text);
    free(copy);
    return out;
}

static void assert_text(const char *source, const char *wanted)
{
    char *text = text_of(source, strlen(source));
    assert_non_null(text);
    assert_string_equal(text, wanted);
    free(text);
}

static void texts_are_decoded(void **state)
{
    (void)state;
    assert_text("\"\"", "");
    assert_text(" \t\r\n\"a/kernel\" ", "a/kernel");
    assert_text("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t");
    assert_text("\"\\u0041\\u00e9\\u20AC\\ud834\\udd1e\"", "A\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e");
    assert_text("\"\xc3\xa9\xf0\x9d\x84\x9e\"", "\xc3\xa9\xf0\x9d\x84\x9e");
}

static void what_is_no_text_is_refused(void **state)
{
    static const char *const wrong[] = {"",
                                        "a",
                                        "\"",
                                        "\"a",
                                        "\"a\\",
                                        "\"a\\\"",
                                        "\"\\x\"",
                                        "\"\\u12\"",
                                        "\"\\u12g4\"",
                                        "\"\\u0000\"",
                                        "\"\\ud800\"",
                                        "\"\\udc00\"",
                                        "\"\\ud800\\u0041\"",
                                        "\"\\ud800x\"",
                                        "\"\n\"",
                                        "\"\x1f\"",
                                        "\"\x80\"",
                                        "\"\xc0\xaf\"",
                                        "\"\xed\xa0\x80\"",
                                        "\"\xf4\x90\x80\x80\"",
                                        "\"\xe2\x82\"",
                                        "\"\xff\"",
                                        "\"a\" b",
                                        "'a'"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *text = text_of(wrong[i], strlen(wrong[i]));
        if (text)
            fail_msg("text %zu was taken: %s", i, text);
    }
    assert_null(text_of("\"a\0b\"", 5));
}

static enum mgb_status count_of(const char *source, int64_t *out)
{
    char *copy = strdup(source);
    struct mgb_json json = {copy, strlen(source), 0, "the line"};
    enum mgb_status status = mgb_json_count(out, &json);
    if (status == MGB_OK)
        status = mgb_json_end(&json);
    free(copy);
    return status;
}

static void counts_are_whole_numbers_from_0(void **state)
{
    static const char *const wrong[] = {"",
                                        "-1",
                                        "+1",
                                        "01",
                                        "1.0",
                                        "1e3",
                                        ".5",
                                        "NaN",
                                        "0x1",
                                        "null",
                                        "1 1",
                                        "\"1\"",
                                        "9223372036854775808"};
    int64_t value;
    (void)state;
    assert_ok(count_of(" 0", &value));
    assert_int_equal(value, 0);
    assert_ok(count_of("9223372036854775807 ", &value));
    assert_true(value == INT64_MAX);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_status(count_of(wrong[i], &value), MGB_CORRUPT);
}

static enum mgb_status skip_of(const char *source)
{
    size_t size = strlen(source);
    char *copy = malloc(size ? size : 1);
    memcpy(copy, source, size); /* without a byte to spare */
    struct mgb_json json = {copy, size, 0, "the line"};
    enum mgb_status status = mgb_json_skip(&json);
    if (status == MGB_OK)
        status = mgb_json_end(&json);
    free(copy);
    return status;
}

static void any_value_can_be_passed_over(void **state)
{
    static const char *const right[] = {"null",
                                        "true",
                                        " false ",
                                        "0",
                                        "-0.5e+10",
                                        "12",
                                        "\"a\\u00e9\"",
                                        "[]",
                                        "{}",
                                        "[1, [2, {\"a\": [null]}], \"x\"]",
                                        "{\"a\":1 , \"b\" : {} }"};
    static const char *const wrong[] = {
        "",     "nul",   "True",    "01",    "- 1", "1.", ".5",       "1e",  "+1",        "NaN",
        "[1,]", "[1 2]", "{\"a\"}", "{1:2}", "[1}", "[",  "{\"a\":1", "1 2", "{\"a\":1,}"};
    char deep[80] = "";
    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        assert_ok(skip_of(right[i]));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_status(skip_of(wrong[i]), MGB_CORRUPT);
    memset(deep, '[', 32);
    memset(deep + 32, ']', 32);
    assert_ok(skip_of(deep));
    memset(deep, '[', 33);
    memset(deep + 33, ']', 33);
    assert_status(skip_of(deep), MGB_CORRUPT);
    assert_message("byte 32 of the line: nested more than 32 deep");
}

static void what_is_shown_commands_no_terminal(void **state)
{
    char shown[MGB_JSON_SHOWN], large[400];
    (void)state;
    assert_string_equal(mgb_json_show(shown, "a\x1b[2Jb\x7f\xc2\x9b"
                                             "c\xff"),
                        "a?[2Jb??c?");
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    assert_true(strlen(mgb_json_show(shown, large)) < MGB_JSON_SHOWN);
    assert_string_equal(shown + strlen(shown) - 3, "...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_decoded),
        cmocka_unit_test(what_is_no_text_is_refused),
        cmocka_unit_test(counts_are_whole_numbers_from_0),
        cmocka_unit_test(any_value_can_be_passed_over),
        cmocka_unit_test(what_is_shown_commands_no_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
