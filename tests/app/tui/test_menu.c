/* A menu: walking, filtering by typing, choosing, and nothing of it outside of the body. */
#include "app/tui/menu.h"
#include "tests/support/check.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tui_menu menu;
static const char *chosen;

static bool press(int key)
{
    return tui_menu_key(&menu, key, &chosen);
}

static void type(const char *text)
{
    for (; *text; text++)
        press((unsigned char)*text);
}

static int answered;

static void answer(void *context, struct tui_desk *desk, const char *text)
{
    (void)context, (void)desk, (void)text;
    answered++;
}

static void menu_begin(int at)
{
    static const struct tui_choice choices[] = {
        {.label = "outputs", .value = "strategy=outputs", .note = "towers send outputs"},
        {.label = "gradients", .value = "strategy=gradients", .note = "towers send gradients"},
        {.label = "allreduce", .value = "strategy=allreduce", .disabled = true},
        {.label = "independent", .value = "strategy=independent"}};
    assert_true(tui_menu_open(&menu, "STRATEGY", choices, 4, at, answer, &menu));
}

static char *drawn(int rows, int columns, bool utf8)
{
    struct tui_canvas canvas;
    assert_true(tui_canvas_init(&canvas, rows, columns, utf8));
    tui_menu_draw(&menu, &canvas, tui_canvas_whole(&canvas));
    char *text = tui_canvas_text(&canvas);
    tui_canvas_done(&canvas);
    assert_non_null(text);
    return text;
}

static void enter_chooses_what_is_in_hand(void **state)
{
    (void)state;
    menu_begin(1);
    assert_true(press(TUI_KEY_ENTER));
    assert_string_equal(chosen, "strategy=gradients");
    assert_false(menu.open);
    menu_begin(0);
    assert_false(press(TUI_KEY_END));
    assert_true(press(TUI_KEY_ENTER));
    assert_string_equal(chosen, "strategy=independent");
}

static void a_note_that_is_cut_can_be_read_at_the_foot(void **state)
{
    (void)state;
    static const struct tui_choice choices[] = {
        {.label = "one", .value = "1"},
        {.label = "two",
         .disabled = true,
         .note = "refused: this one has a reason that goes on and on until it is longer than a row "
                 "of the screen has columns for it"}};
    assert_true(tui_menu_open(&menu, "LONG", choices, 2, 0, answer, &menu));
    char *first = drawn(12, 80, false);
    assert_null(strstr(first, "columns for it"));
    press(TUI_KEY_DOWN);
    char *text = drawn(12, 80, false);
    assert_non_null(strstr(text, "columns for it"));
    assert_null(strstr(text, "n/a"));
    char *low = drawn(5, 80, false);
    assert_null(strstr(low, "columns for it"));
    free(first);
    free(text);
    free(low);
}

static void what_cannot_be_is_not_chosen(void **state)
{
    (void)state;
    menu_begin(2);
    assert_false(press(TUI_KEY_ENTER));
    assert_true(menu.open);
}

static void typing_leaves_what_has_the_words(void **state)
{
    (void)state;
    menu_begin(0);
    type("GRAD");
    assert_int_equal(menu.list.count, 1);
    char *text = drawn(10, 60, false);
    assert_non_null(strstr(text, "> gradients"));
    assert_null(strstr(text, "outputs"));
    assert_non_null(strstr(text, "/GRAD"));
    free(text);
    type("xx");
    assert_int_equal(menu.list.count, 0);
    assert_false(press(TUI_KEY_ENTER));
    text = drawn(10, 60, false);
    assert_non_null(strstr(text, "nothing is like that"));
    free(text);
    press(TUI_KEY_BACKSPACE);
    press(TUI_KEY_BACKSPACE);
    assert_true(press(TUI_KEY_ENTER));
    assert_string_equal(chosen, "strategy=gradients");
}

static void escape_ends_the_filter_and_then_the_menu(void **state)
{
    (void)state;
    menu_begin(0);
    type("ind");
    assert_false(press(TUI_KEY_ESCAPE));
    assert_int_equal(menu.list.count, 4);
    assert_true(press(TUI_KEY_ESCAPE));
    assert_null(chosen);
    menu_begin(0);
    assert_true(press(3));
    assert_null(chosen);
    assert_int_equal(answered, 0);
}

static void it_is_drawn_with_a_frame_and_notes(void **state)
{
    (void)state;
    menu_begin(1);
    char *text = drawn(8, 50, false);
    assert_non_null(strstr(text, "STRATEGY"));
    assert_non_null(strstr(text, "> gradients  towers send gradients"));
    assert_non_null(strstr(text, "allreduce (n/a)"));
    for (const char *c = text; *c; c++)
        assert_true(*c == '\n' || (*c >= ' ' && *c < 0x7f));
    free(text);
}

static void a_list_longer_than_the_body_scrolls(void **state)
{
    (void)state;
    struct tui_choice *many = calloc(300, sizeof *many);
    assert_non_null(many);
    for (int i = 0; i < 300; i++)
        snprintf(many[i].label, sizeof many[i].label, "choice %d", i);
    assert_true(tui_menu_open(&menu, "MANY", many, 300, 299, NULL, NULL));
    char *text = drawn(10, 40, true);
    assert_non_null(strstr(text, "> choice 299"));
    free(text);
    press(TUI_KEY_HOME);
    text = drawn(10, 40, true);
    assert_non_null(strstr(text, "> choice 0"));
    free(text);
    free(many);
}

static void any_size_of_body_is_drawn_without_a_fault(void **state)
{
    (void)state;
    menu_begin(0);
    for (int rows = 0; rows < 12; rows++)
        for (int columns = 0; columns < 60; columns++) {
            char *text = drawn(rows, columns, rows % 2 == 0);
            free(text);
            press(columns % 3 ? TUI_KEY_DOWN : TUI_KEY_PAGE_UP);
        }
    assert_true(tui_menu_open(&menu, "NONE", NULL, 0, 0, NULL, NULL));
    free(drawn(10, 40, true));
    assert_false(press(TUI_KEY_DOWN));
    assert_false(press(TUI_KEY_ENTER));
}

static int menu_end(void **state)
{
    (void)state;
    tui_menu_done(&menu);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(enter_chooses_what_is_in_hand, menu_end),
        cmocka_unit_test_teardown(a_note_that_is_cut_can_be_read_at_the_foot, menu_end),
        cmocka_unit_test_teardown(what_cannot_be_is_not_chosen, menu_end),
        cmocka_unit_test_teardown(typing_leaves_what_has_the_words, menu_end),
        cmocka_unit_test_teardown(escape_ends_the_filter_and_then_the_menu, menu_end),
        cmocka_unit_test_teardown(it_is_drawn_with_a_frame_and_notes, menu_end),
        cmocka_unit_test_teardown(a_list_longer_than_the_body_scrolls, menu_end),
        cmocka_unit_test_teardown(any_size_of_body_is_drawn_without_a_fault, menu_end),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
