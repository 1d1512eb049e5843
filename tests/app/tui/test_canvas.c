/* The canvas: whatever is drawn, wherever, nothing outside of the rectangle changes. */
#include "app/tui/canvas.h"
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t seed = 1;

static uint32_t any(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

static int any_in(int low, int high)
{
    return low + (int)(any() % (uint32_t)(high - low + 1));
}

/* Mostly near the canvas, now and then as far away as an int goes. */
static int any_place(int size)
{
    static const int far[] = {INT_MIN, INT_MAX, INT_MIN + 1, INT_MAX - 1, -100000, 100000};
    int near = size < 0 ? 0 : size < 1000 ? size : 1000;
    return any() % 16 == 0 ? far[any() % 6] : any_in(-5, near + 5);
}

static void text_make(char *out, size_t size)
{
    static const char *const pieces[] = {"a",    "bc ", "\xe4\xb8\x96", "\xe2\xa3\xbf", "\x1b[31m",
                                         "\xff", "\t",  "\n",           "e\xcc\x81",    "\xc3",
                                         "%s%n", "",    "\xe2\x80\xae", "0123456789"};
    *out = '\0';
    for (int i = any_in(0, 12); i > 0; i--)
        strncat(out, pieces[any() % 14], size - strlen(out) - 1);
}

static void something_draw(struct tui_canvas *canvas, struct tui_rect rect)
{
    char text[200];
    int y = any_place(rect.rows), x = any_place(rect.columns);
    enum tui_style style = any() % TUI_STYLE_COUNT;
    text_make(text, sizeof text);
    switch (any() % 6) {
    case 0:
        tui_put(canvas, rect, y, x, style, text);
        break;
    case 1:
        tui_put_right(canvas, rect, y, x, style, text);
        break;
    case 2:
        tui_fill(canvas, rect, y, x, any_place(50), style, any() % 0x3000, '#');
        break;
    case 3:
        tui_restyle(canvas, rect, style);
        break;
    case 4:
        tui_rule(canvas, rect, y, text, "right");
        break;
    default:
        tui_print(canvas, rect, y, x, style, "%s=%d", text, y);
    }
}

static bool is_inside(struct tui_rect rect, int y, int x)
{
    return y >= rect.y && x >= rect.x && y < (int64_t)rect.y + rect.rows &&
           x < (int64_t)rect.x + rect.columns;
}

static void nothing_is_drawn_outside_of_a_rectangle(void **state)
{
    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct tui_canvas canvas;
        int rows = any_in(-1, 12), columns = any_in(-1, 30);
        struct tui_rect rect = {any_place(rows), any_place(columns), any_place(rows),
                                any_place(columns)};
        assert_true(tui_canvas_init(&canvas, rows, columns, any() % 2));
        for (int i = 0; i < canvas.rows * canvas.columns; i++)
            canvas.cells[i] = (struct tui_cell){'.', TUI_STYLE_COUNT - 1};
        something_draw(&canvas, rect);
        for (int y = 0; y < canvas.rows; y++)
            for (int x = 0; x < canvas.columns; x++)
                if (!is_inside(rect, y, x)) {
                    struct tui_cell cell = canvas.cells[y * canvas.columns + x];
                    assert_int_equal(cell.point, '.');
                    assert_int_equal(cell.style, TUI_STYLE_COUNT - 1);
                }
        tui_canvas_done(&canvas);
    }
}

static void ascii_canvas_holds_ascii_only(void **state)
{
    (void)state;
    struct tui_canvas canvas;
    assert_true(tui_canvas_init(&canvas, 8, 40, false));
    for (int round = 0; round < 2000; round++) {
        something_draw(&canvas, tui_canvas_whole(&canvas));
        for (int i = 0; i < 8 * 40; i++)
            assert_in_range(canvas.cells[i].point, ' ', '~');
    }
    tui_canvas_done(&canvas);
}

static void expect_text(const struct tui_canvas *canvas, const char *expected)
{
    char *text = tui_canvas_text(canvas);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void controls_are_shown_and_do_nothing(void **state)
{
    (void)state;
    struct tui_canvas canvas;
    assert_true(tui_canvas_init(&canvas, 2, 20, true));
    struct tui_rect whole = tui_canvas_whole(&canvas);
    assert_int_equal(tui_put(&canvas, whole, 0, 1, TUI_PLAIN, "a\x1b[2J"), 9);
    tui_put(&canvas, whole, 1, 0, TUI_PLAIN, "a\nb\xff");
    expect_text(&canvas, " a\\x1b[2J\na b\\xff\n");
    tui_canvas_done(&canvas);
}

static void wide_characters_take_two_columns_and_are_never_halved(void **state)
{
    (void)state;
    struct tui_canvas canvas;
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        skip();
    assert_true(tui_canvas_init(&canvas, 3, 5, true));
    struct tui_rect whole = tui_canvas_whole(&canvas);
    assert_int_equal(tui_put(&canvas, whole, 0, 0, TUI_PLAIN,
                             "\xe4\xb8\x96"
                             "a\xe4\xb8\x96"),
                     5);
    assert_int_equal(tui_put(&canvas, whole, 1, 4, TUI_PLAIN, "\xe4\xb8\x96"), 6);
    tui_put(&canvas, whole, 2, 0, TUI_PLAIN, "\xe4\xb8\x96\xe4\xb8\x96");
    tui_put(&canvas, whole, 2, 1, TUI_PLAIN, "xy");
    expect_text(&canvas, "\xe4\xb8\x96"
                         "a\xe4\xb8\x96\n\n xy\n");
    tui_canvas_done(&canvas);
    setlocale(LC_CTYPE, "C");
}

static void text_right_aligned_ends_before_its_column(void **state)
{
    (void)state;
    struct tui_canvas canvas;
    assert_true(tui_canvas_init(&canvas, 1, 10, false));
    tui_put_right(&canvas, tui_canvas_whole(&canvas), 0, 8, TUI_PLAIN, "1.5\xc3\x97");
    expect_text(&canvas, "    1.5x\n");
    tui_canvas_done(&canvas);
}

static void rule_holds_title_and_right_text_and_drops_what_has_no_room(void **state)
{
    (void)state;
    struct tui_canvas canvas;
    assert_true(tui_canvas_init(&canvas, 1, 24, false));
    tui_rule(&canvas, tui_canvas_whole(&canvas), 0, "STEP", "ms");
    expect_text(&canvas, "-- STEP ---------- ms --\n");
    assert_true(tui_canvas_resize(&canvas, 1, 4));
    tui_rule(&canvas, tui_canvas_whole(&canvas), 0, "STEP", "ms");
    expect_text(&canvas, "-- S\n");
    tui_canvas_done(&canvas);
}

static void sizes_below_one_make_an_empty_canvas(void **state)
{
    (void)state;
    static const int sizes[][2] = {{0, 0}, {0, 5}, {5, 0}, {-1, 5}, {5, -1}, {INT_MIN, INT_MIN}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct tui_canvas canvas;
        assert_true(tui_canvas_init(&canvas, sizes[i][0], sizes[i][1], true));
        assert_int_equal(canvas.rows * canvas.columns, 0);
        tui_put(&canvas, tui_canvas_whole(&canvas), 0, 0, TUI_PLAIN, "text");
        expect_text(&canvas, "");
        tui_canvas_done(&canvas);
    }
}

static void size_beyond_memory_is_refused_and_leaves_an_empty_canvas(void **state)
{
    (void)state;
    struct tui_canvas canvas;
    assert_false(tui_canvas_init(&canvas, INT_MAX, INT_MAX, true));
    assert_int_equal(canvas.rows, 0);
    assert_null(canvas.cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_drawn_outside_of_a_rectangle),
        cmocka_unit_test(ascii_canvas_holds_ascii_only),
        cmocka_unit_test(controls_are_shown_and_do_nothing),
        cmocka_unit_test(wide_characters_take_two_columns_and_are_never_halved),
        cmocka_unit_test(text_right_aligned_ends_before_its_column),
        cmocka_unit_test(rule_holds_title_and_right_text_and_drops_what_has_no_room),
        cmocka_unit_test(sizes_below_one_make_an_empty_canvas),
        cmocka_unit_test(size_beyond_memory_is_refused_and_leaves_an_empty_canvas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
