/* Lists, filters, tables, numbers. */
#include "app/tui/list.h"
#include "tests/support/check.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void row_in_hand_stays_in_the_list_and_in_view(void **state)
{
    (void)state;
    struct tui_list list = {0};
    static const enum tui_action walk[] = {TUI_ACT_DOWN,      TUI_ACT_PAGE_DOWN, TUI_ACT_LAST,
                                           TUI_ACT_UP,        TUI_ACT_PAGE_UP,   TUI_ACT_FIRST,
                                           TUI_ACT_PAGE_DOWN, TUI_ACT_LEFT,      TUI_ACT_DOWN,
                                           TUI_ACT_UP,        TUI_ACT_RIGHT};
    unsigned seed = 1;
    for (int i = 0; i < 5000; i++) {
        seed = seed * 1664525u + 1013904223u;
        int count = (int)(seed >> 16) % 40, fits = (int)(seed >> 8) % 12;
        tui_list_fit(&list, count, fits);
        assert_true(tui_list_act(&list, walk[(seed >> 24) % 11]));
        assert_int_equal(list.count, count);
        assert_true(count ? list.at >= 0 && list.at < count : list.at == -1);
        assert_true(list.top >= 0 && list.top <= (count > fits ? count - fits : 0));
        if (count && fits)
            assert_true(list.at >= list.top && list.at < list.top + fits);
        assert_true(list.left >= 0);
    }
}

static void page_keeps_a_row_to_read_on_from(void **state)
{
    (void)state;
    struct tui_list list = {0};
    tui_list_fit(&list, 100, 10);
    tui_list_act(&list, TUI_ACT_PAGE_DOWN);
    assert_int_equal(list.at, 9);
    tui_list_act(&list, TUI_ACT_LAST);
    assert_int_equal(list.at, 99);
    assert_int_equal(list.top, 90);
    tui_list_act(&list, TUI_ACT_FIRST);
    assert_int_equal(list.top, 0);
}

static void list_leaves_other_actions_alone(void **state)
{
    (void)state;
    struct tui_list list = {0}, before;
    tui_list_fit(&list, 5, 5);
    before = list;
    for (int action = 0; action < TUI_ACT_COUNT; action++) {
        bool move = action >= TUI_ACT_UP && action <= TUI_ACT_LAST;
        assert_int_equal(tui_list_act(&list, (enum tui_action)action), move);
        if (!move)
            assert_memory_equal(&list, &before, sizeof list);
        list = before;
    }
}

static void click_takes_the_row_under_it(void **state)
{
    (void)state;
    struct tui_list list = {0};
    struct tui_rect rows = {3, 2, 10, 30};
    tui_list_fit(&list, 100, 10);
    assert_true(tui_list_click(&list, rows, 5, 4, 0));
    assert_int_equal(list.at, 2);
    assert_false(tui_list_click(&list, rows, 2, 4, 0));
    assert_false(tui_list_click(&list, rows, 13, 4, 0));
    assert_false(tui_list_click(&list, rows, 5, 1, 0));
    assert_false(tui_list_click(&list, rows, 5, 32, 0));
    assert_int_equal(list.at, 2);
    assert_true(tui_list_click(&list, rows, 5, 4, 1));
    assert_int_equal(list.at, 5);
    tui_list_fit(&list, 2, 10);
    assert_false(tui_list_click(&list, rows, 9, 4, 0));
}

static void filter_wants_every_word_in_any_case(void **state)
{
    (void)state;
    assert_true(tui_filter_passes("", "anything"));
    assert_true(tui_filter_passes("  ", ""));
    assert_true(tui_filter_passes("GPU con", "conv_1/kernel gpu:0"));
    assert_true(tui_filter_passes("kernel conv", "Conv_1/KERNEL"));
    assert_false(tui_filter_passes("conv bias", "conv_1/kernel"));
    assert_false(tui_filter_passes("x", ""));
    assert_true(tui_filter_passes("\xc3\xa4", "b\xc3\xa4r"));
    assert_false(tui_filter_passes("\xc3\x84", "b\xc3\xa4r"));
}

static void words_may_stand_in_different_texts(void **state)
{
    (void)state;
    const char *const texts[] = {"conv_1/kernel", "gpu:0", ""};
    assert_true(tui_filter_finds("gpu kernel", texts, 3));
    assert_true(tui_filter_finds("", texts, 0));
    assert_false(tui_filter_finds("kernelgpu", texts, 3));
    assert_false(tui_filter_finds("gpu:1 kernel", texts, 3));
    assert_false(tui_filter_finds("x", texts, 0));
}

static const struct tui_column columns[] = {
    {"name", 5, 0, false, 9}, {"bytes", 4, 8, true, 5}, {"note", 6, 6, false, 1}};

static void least_worth_column_goes_first(void **state)
{
    (void)state;
    struct tui_table table;
    tui_table_fit(&table, columns, 3, 16);
    assert_int_equal(table.width[0], 7);
    assert_int_equal(table.width[1], 8);
    assert_int_equal(table.width[2], 0);
    tui_table_fit(&table, columns, 3, 9);
    assert_int_equal(table.width[1], 0);
    tui_table_fit(&table, columns, 3, 3);
    assert_int_equal(table.width[0], 3);
}

static void columns_lie_beside_each_other_and_inside(void **state)
{
    (void)state;
    for (int width = 0; width < 120; width++) {
        struct tui_table table;
        int end = 0;
        tui_table_fit(&table, columns, 3, width);
        for (int i = 0; i < table.count; i++) {
            if (!table.width[i])
                continue;
            assert_true(table.x[i] == (end ? end + 1 : 0));
            assert_true(!columns[i].most || table.width[i] <= columns[i].most);
            end = table.x[i] + table.width[i];
            assert_int_equal(tui_table_column_at(&table, end - 1), i);
        }
        assert_true(end <= width);
        if (width >= 20)
            assert_int_equal(end, width);
    }
}

static void text_that_is_cut_says_so(void **state)
{
    (void)state;
    struct tui_canvas canvas;
    struct tui_table table;
    setlocale(LC_CTYPE, "C.UTF-8");
    for (int utf8 = 0; utf8 < 2; utf8++) {
        assert_true(tui_canvas_init(&canvas, 2, 20, utf8));
        struct tui_rect row = tui_rect_row(tui_canvas_whole(&canvas), 0);
        tui_table_fit(&table, columns, 3, 20);
        tui_table_head(&table, columns, &canvas, row, 1, false);
        row = tui_rect_row(tui_canvas_whole(&canvas), 1);
        tui_table_cell(&table, columns, 0, &canvas, row, TUI_PLAIN, "conv_1");
        tui_table_cell(&table, columns, 1, &canvas, row, TUI_PLAIN, "12");
        tui_table_cell(&table, columns, 2, &canvas, row, TUI_PLAIN,
                       "\xc3\xa4"
                       "bcdef");
        char *text = tui_canvas_text(&canvas);
        assert_string_equal(text, utf8 ? "name   bytesv note\nconv\xe2\x80\xa6      12 \xc3\xa4"
                                         "bcdef\n"
                                       : "name   bytesv note\nconv>      12 ?bcdef\n");
        free(text);
        tui_canvas_done(&canvas);
    }
}

static void numbers_have_four_digits(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{338.42, "338.4"}, {9.9996, "10.00"},    {1234.6, "1235"}, {0, "0"},
                 {0.25, "0.250"},   {99.996, "100.0"},    {999.96, "1000"}, {12345, "12345"},
                 {-12.5, "-12.50"}, {123456, "123.5k"},   {1e6, "1.00M"},   {INFINITY, "inf"},
                 {NAN, "-"},        {0.000012, "1.2e-05"}};
    char text[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(tui_number(text, sizeof text, cases[i].value), cases[i].text);
    for (double value = 1e-3; value < 1e17; value *= 1.07)
        assert_true(strlen(tui_number(text, sizeof text, value)) <= 6);
    assert_string_equal(tui_bytes(text, sizeof text, -1), "-");
    assert_string_equal(tui_bytes(text, sizeof text, 0), "0 B");
    assert_string_equal(tui_bytes(text, sizeof text, 3 << 20), "3.0 MiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_in_hand_stays_in_the_list_and_in_view),
        cmocka_unit_test(page_keeps_a_row_to_read_on_from),
        cmocka_unit_test(list_leaves_other_actions_alone),
        cmocka_unit_test(click_takes_the_row_under_it),
        cmocka_unit_test(filter_wants_every_word_in_any_case),
        cmocka_unit_test(words_may_stand_in_different_texts),
        cmocka_unit_test(least_worth_column_goes_first),
        cmocka_unit_test(columns_lie_beside_each_other_and_inside),
        cmocka_unit_test(text_that_is_cut_says_so),
        cmocka_unit_test(numbers_have_four_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
