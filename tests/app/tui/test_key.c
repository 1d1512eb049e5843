/* Keys and their names. */
#include "app/tui/action.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

static void every_key_of_the_action_list_is_known(void **state)
{
    (void)state;
    static const char *const keys[] = {
#define X(id, name, key, other, where, help) key, other,
        TUI_ACTIONS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (*keys[i]) {
            char name[20];
            int key = tui_key_read(keys[i]);
            assert_int_not_equal(key, TUI_KEY_NONE);
            assert_string_equal(tui_key_name(name, sizeof name, key), keys[i]);
        }
}

static void name_of_every_key_reads_back_as_that_key(void **state)
{
    (void)state;
    char name[20];
    for (int key = 1; key < 0x3000; key++) {
        tui_key_name(name, sizeof name, key);
        if (strcmp(name, "none") != 0 && key != 8 && key != 9 && key != 10 && key != 13 &&
            key != 27)
            assert_int_equal(tui_key_read(name), key);
    }
    for (int key = TUI_KEY_BASE; key <= TUI_KEY_F12; key++)
        assert_int_equal(tui_key_read(tui_key_name(name, sizeof name, key)), key);
}

static void key_with_two_names_has_one_number(void **state)
{
    (void)state;
    assert_int_equal(tui_key_read("Ctrl-M"), TUI_KEY_ENTER);
    assert_int_equal(tui_key_read("Ctrl-I"), TUI_KEY_TAB);
    assert_int_equal(tui_key_read("Ctrl-["), TUI_KEY_ESCAPE);
    assert_int_equal(tui_key_read("Ctrl-H"), TUI_KEY_BACKSPACE);
    assert_int_equal(tui_key_read("ctrl-l"), 'L' & 0x1f);
    assert_int_equal(tui_key_read("space"), ' ');
    assert_int_equal(tui_key_read("\x1b"), TUI_KEY_ESCAPE);
    assert_int_equal(tui_key_read("\xc3\xa9"), 0xe9);
}

static void what_is_no_name_of_a_key_is_none(void **state)
{
    (void)state;
    static const char *const names[] = {"",       "F0",       "F13", "F1x",  "Ctrl-",
                                        "Ctrl-1", "Nonsense", "ab",  "\xff", "Ctrl-LL"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(tui_key_read(names[i]), TUI_KEY_NONE);
    assert_int_equal(tui_key_read("F"), 'F');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_of_the_action_list_is_known),
        cmocka_unit_test(name_of_every_key_reads_back_as_that_key),
        cmocka_unit_test(key_with_two_names_has_one_number),
        cmocka_unit_test(what_is_no_name_of_a_key_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
