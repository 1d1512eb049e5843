/* The layout at every size: parts lie inside the screen and beside each other, and the least that is needed is there. */
#include "app/tui/layout.h"

#include "tests/support/check.h"

enum { MOST_ROWS = 80, MOST_COLUMNS = 250, MOST_DEVICES = 16 };

static void assert_inside(struct tui_rect rect, struct tui_rect within)
{
    assert_true(rect.rows >= 0 && rect.columns >= 0);
    if (rect.rows == 0 || rect.columns == 0)
        return;
    assert_true(rect.y >= within.y && rect.y + rect.rows <= within.y + within.rows);
    assert_true(rect.x >= within.x && rect.x + rect.columns <= within.x + within.columns);
}

static bool overlap(struct tui_rect a, struct tui_rect b)
{
    struct tui_rect both = tui_rect_clip(a, b);
    return both.rows > 0 && both.columns > 0;
}

static void assert_apart(const struct tui_rect *rects, int count, struct tui_rect within)
{
    for (int i = 0; i < count; i++) {
        assert_inside(rects[i], within);
        for (int k = 0; k < i; k++)
            assert_false(overlap(rects[i], rects[k]));
    }
}

static void screen_parts_lie_apart_at_every_size(void **state)
{
    (void)state;
    for (int rows = 1; rows <= MOST_ROWS; rows++)
        for (int columns = 1; columns <= MOST_COLUMNS; columns++) {
            struct tui_layout at = tui_layout_screen(rows, columns);
            struct tui_rect whole = {.rows = rows, .columns = columns};
            assert_int_equal(at.too_small, rows < 10 || columns < 40);
            struct tui_rect parts[] = {at.head, at.tabs, at.body, at.hint, at.foot};
            assert_apart(parts, 5, whole);
            int sum = 0;
            for (int i = 0; i < 5; i++)
                sum += parts[i].rows;
            assert_int_equal(sum, rows);
            assert_true(at.too_small || (at.body.rows >= 6 && at.body.columns >= 40));
        }
}

static void bench_check(int rows, int columns, int devices, int towers)
{
    struct tui_layout screen = tui_layout_screen(rows, columns);
    struct tui_layout_bench at = tui_layout_bench_make(screen.body, devices, towers);
    struct tui_rect parts[] = {at.placement, at.answer, at.chart, at.phases, at.facts};
    assert_apart(parts, 5, screen.body);
    assert_true(at.phase_rows <= at.phases.rows && at.phase_rows >= 0);
    assert_true(at.chart.rows == 0 || at.chart.rows >= 3);
    if (screen.too_small)
        return;
    assert_true(at.placement.rows >= 2 && at.answer.rows >= 3);
    assert_true(at.phase_rows >= 1); /* the rest scrolls */
    assert_true(at.phase_rows <= devices);
}

static void bench_parts_lie_apart_at_every_size_and_count_of_devices(void **state)
{
    (void)state;
    for (int devices = 1; devices <= MOST_DEVICES + 1; devices++)
        for (int rows = 1; rows <= MOST_ROWS; rows++)
            for (int columns = 1; columns <= MOST_COLUMNS; columns++)
                bench_check(rows, columns, devices, devices > 1 ? devices - 1 : 1);
}

static void at_80_by_24_everything_is_there_with_four_gpus(void **state)
{
    (void)state;
    struct tui_rect body = tui_layout_screen(24, 80).body;
    for (int gpus = 1; gpus <= 4; gpus++) {
        struct tui_layout_bench at = tui_layout_bench_make(body, gpus + 1, gpus);
        assert_int_equal(at.placement.rows, 9);
        assert_int_equal(at.answer.rows, 9);
        assert_true(at.chart.rows >= 3);
        assert_true(at.phase_rows >= gpus);
        assert_true(at.phases.rows > at.phase_rows);
        assert_true(at.facts.rows >= 3);
    }
}

static void a_large_screen_shows_all_of_16_gpus(void **state)
{
    (void)state;
    struct tui_layout_bench at = tui_layout_bench_make(tui_layout_screen(60, 200).body, 17, 16);
    assert_int_equal(at.phase_rows, 17);
    assert_true(at.chart.rows >= 6);
}

static void a_body_of_no_size_has_no_parts(void **state)
{
    (void)state;
    struct tui_layout_bench at =
        tui_layout_bench_make((struct tui_rect){.rows = -3, .columns = -1}, 4, 3);
    assert_int_equal(at.placement.rows + at.answer.rows + at.chart.rows + at.phases.rows +
                         at.facts.rows + at.phase_rows,
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(screen_parts_lie_apart_at_every_size),
        cmocka_unit_test(bench_parts_lie_apart_at_every_size_and_count_of_devices),
        cmocka_unit_test(at_80_by_24_everything_is_there_with_four_gpus),
        cmocka_unit_test(a_large_screen_shows_all_of_16_gpus),
        cmocka_unit_test(a_body_of_no_size_has_no_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
