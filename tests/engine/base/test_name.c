/* What people may call things by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <mgb/name.h>
#include <string.h>

static enum mgb_status name_of(size_t length)
{
    char name[6000];
    memset(name, 'n', length);
    name[length] = '\0';
    return mgb_name_check("tag", name);
}

static void names_that_can_be_shown_and_typed_are_taken(void **state)
{
    (void)state;
    static const char *const good[] = {"good", "two words", "\xc3\xa4\xe2\x82\xac", "a/3", "-"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(mgb_name_check("tag", good[i]), MGB_OK);
    assert_int_equal(name_of(MGB_NAME_BYTES), MGB_OK);
}

static void other_names_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",        "a,b",          " a",       "a\t",          "a\nb",
        "\x1b[2J", "a\x7f",        "\xff",     "\xc3",         "\xc2\x9b",
        "a\tb",    "\xe2\x80\xae", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(mgb_name_check("tag", bad[i]), MGB_INVALID);
    assert_int_equal(name_of(MGB_NAME_BYTES + 1), MGB_INVALID);
    assert_int_equal(name_of(5000), MGB_INVALID);
    assert_non_null(strstr(mgb_message_get(), "at most 100 bytes expected, got 5000"));
}

static void a_note_may_have_lines_but_no_controls(void **state)
{
    (void)state;
    char text[MGB_NOTE_BYTES + 2];
    memset(text, 'n', sizeof text);
    text[MGB_NOTE_BYTES + 1] = '\0';
    assert_int_equal(mgb_note_check("note", "two\nlines\tof \xc3\xa4"), MGB_OK);
    assert_int_equal(mgb_note_check("note", " \n"), MGB_INVALID);
    assert_int_equal(mgb_note_check("note", "a\xff"), MGB_INVALID);
    assert_int_equal(mgb_note_check("note", "a\x1b[2J"), MGB_INVALID);
    assert_non_null(strstr(mgb_message_get(), "byte 2 is 0x1b"));
    assert_int_equal(mgb_note_check("note", text), MGB_INVALID);
    text[MGB_NOTE_BYTES] = '\0';
    assert_int_equal(mgb_note_check("note", text), MGB_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_can_be_shown_and_typed_are_taken),
        cmocka_unit_test(other_names_are_refused),
        cmocka_unit_test(a_note_may_have_lines_but_no_controls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
