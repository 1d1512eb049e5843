/* Charts: what stands where, that segments and warm-up can be told apart without colour, and that nothing is drawn beside
 * the area. */
#include "app/tui/chart.h"

#include "tests/support/check.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct mgb_bench_history *history_make(void)
{
    struct mgb_bench_history *h = calloc(1, sizeof *h);
    assert_non_null(h);
    return h;
}

static void steps_add(struct mgb_bench_history *h, int count, double ms, int segment, bool warmup)
{
    for (int i = 0; i < count; i++, h->count++) {
        assert_true(h->count < MGB_BENCH_STEPS);
        h->at[h->count] = (struct mgb_bench_step){.step = h->count + 1,
                                                  .wall_ns = (int64_t)(ms * 1e6),
                                                  .segment = segment,
                                                  .warmup = warmup};
    }
}

/* Draws into a canvas of that size; the text is to be freed. */
static char *chart_text(const struct mgb_bench_history *h, double before_ms, int rows, int columns,
                        bool utf8, int *pool)
{
    struct tui_canvas canvas;
    assert_true(tui_canvas_init(&canvas, rows, columns, utf8));
    *pool = tui_chart_steps(&canvas, tui_canvas_whole(&canvas),
                            &(struct tui_chart_request){.history = h, .before_ms = before_ms});
    char *text = tui_canvas_text(&canvas);
    assert_non_null(text);
    tui_canvas_done(&canvas);
    return text;
}

static void a_segment_begins_with_a_line_and_warm_up_is_dots(void **state)
{
    (void)state;
    struct mgb_bench_history *h = history_make();
    int pool;
    steps_add(h, 5, 340, 2, false);
    steps_add(h, 2, 400, 3, true);
    steps_add(h, 6, 240, 3, false);
    char *text = chart_text(h, 340, 2, 24, false, &pool);
    assert_int_equal(pool, 1);
    assert_string_equal(text, " 340.0|#####|..------\n"
                              " 240.0|     |  ######\n");
    free(text);
    text = chart_text(h, 340, 2, 24, true, &pool);
    assert_string_equal(text, " 340.0\u2502\u2809\u2809\u2801\u2502.\u2504\u2504\u2504\n"
                              " 240.0\u2502   \u2502 \u28c0\u28c0\u28c0\n");
    free(text);
    free(h);
}

static void the_newest_steps_stay_when_not_all_fit(void **state)
{
    (void)state;
    struct mgb_bench_history *h = history_make();
    int pool;
    steps_add(h, 30, 100, 1, false);
    steps_add(h, 3, 200, 2, false);
    char *text = chart_text(h, NAN, 2, 17, false, &pool); /* ten columns, three are held back */
    assert_int_equal(pool, 1);
    assert_string_equal(text, " 200.0|    |###\n"
                              " 100.0|####|\n");
    free(text);
    free(h);
}

static void many_steps_become_medians(void **state)
{
    (void)state;
    struct mgb_bench_history *h = history_make();
    int pool;
    for (int i = 0; i < 500; i++) {
        steps_add(h, 3, 10, 1, false);
        steps_add(h, 1, 1000, 1, false); /* one of four would hide the others if it was a mean */
    }
    char *text = chart_text(h, NAN, 3, 60, false, &pool);
    assert_true(pool >= 4);
    assert_null(strstr(text, "1000"));
    assert_non_null(strstr(text, "10.5"));
    free(text);
    free(h);
}

static void noise_is_not_blown_up(void **state)
{
    (void)state;
    struct mgb_bench_history *h = history_make();
    int pool;
    for (int i = 0; i < 20; i++)
        steps_add(h, 1, 100 + .1 * (i % 2), 1, false);
    char *text = chart_text(h, NAN, 3, 60, false, &pool);
    int lines = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        lines += strchr(line, '#') != NULL;
    assert_int_equal(lines, 1);
    free(text);
    free(h);
}

static void nothing_is_drawn_without_steps_or_room(void **state)
{
    (void)state;
    struct mgb_bench_history *h = history_make();
    int pool;
    char *text = chart_text(h, NAN, 3, 60, true, &pool);
    assert_int_equal(pool, 0);
    assert_null(strpbrk(text, "#."));
    free(text);
    text = chart_text(NULL, 3, 3, 60, true, &pool);
    assert_int_equal(pool, 0);
    free(text);
    steps_add(h, 9, 5, 1, false);
    for (int rows = 0; rows < 5; rows++)
        for (int columns = 0; columns < 30; columns++) {
            text = chart_text(h, 4, rows, columns, columns % 2, &pool);
            free(text);
        }
    free(h);
}

/* A frame of marks around the area must stay whole, whatever the history is like. */
static void nothing_is_drawn_beside_the_area(void **state)
{
    (void)state;
    struct mgb_bench_history *h = history_make();
    unsigned seed = 7;
    for (int round = 0; round < 60; round++) {
        h->count = 0;
        int segments = 1 + round % 40;
        for (int s = 1; s <= segments; s++) {
            seed = seed * 1664525u + 1013904223u;
            steps_add(h, 1 + (int)(seed >> 20) % 45, seed >> 28 ? seed % 1000 / 7. : 0, s,
                      seed & 256);
        }
        struct tui_canvas canvas;
        int rows = 3 + round % 6, columns = 12 + round * 3;
        assert_true(tui_canvas_init(&canvas, rows + 2, columns + 2, round % 2));
        for (int y = 0; y < rows + 2; y++)
            tui_fill(&canvas, tui_canvas_whole(&canvas), y, 0, columns + 2, TUI_PLAIN, '@', '@');
        struct tui_rect area = {.y = 1, .x = 1, .rows = rows, .columns = columns};
        tui_chart_steps(&canvas, area, &(struct tui_chart_request){.history = h, .before_ms = 50});
        for (int y = 0; y < rows + 2; y++)
            for (int x = 0; x < columns + 2; x++)
                if (y == 0 || y > rows || x == 0 || x > columns)
                    assert_int_equal(canvas.cells[y * (columns + 2) + x].point, '@');
        tui_canvas_done(&canvas);
    }
    free(h);
}

static void bar_check(const struct tui_bar_part *parts, int count, int columns, const char *wanted)
{
    struct tui_canvas canvas;
    assert_true(tui_canvas_init(&canvas, 1, 40, true));
    tui_chart_bar(&canvas, tui_canvas_whole(&canvas), 0, 0, columns, parts, count);
    char *text = tui_canvas_text(&canvas);
    text[strcspn(text, "\n")] = '\0';
    assert_string_equal(text, wanted);
    free(text);
    tui_canvas_done(&canvas);
}

static void a_bar_shares_its_columns_out(void **state)
{
    (void)state;
    const struct tui_bar_part parts[] = {{'i', TUI_SERIES, .01},
                                         {'f', TUI_SERIES + 1, .3},
                                         {'b', TUI_SERIES + 2, .59},
                                         {'s', TUI_SERIES + 3, 0},
                                         {'w', TUI_SERIES + 4, .1}};
    bar_check(parts, 5, 10, "ifffbbbbbw");
    bar_check(parts, 5, 20, "iffffffbbbbbbbbbbbww");
    bar_check(parts, 5, 0, "");
    bar_check(parts, 2, 10, "iff");
}

static void phases_have_letters_of_their_own(void **state)
{
    (void)state;
    for (int i = 0; i < MGB_PHASE_COUNT; i++) {
        assert_true(tui_phase_letter(i) > ' ');
        assert_true(tui_phase_style(i) < TUI_STYLE_COUNT);
        for (int k = 0; k < i; k++)
            assert_true(tui_phase_letter(i) != tui_phase_letter(k));
    }
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_segment_begins_with_a_line_and_warm_up_is_dots),
        cmocka_unit_test(the_newest_steps_stay_when_not_all_fit),
        cmocka_unit_test(many_steps_become_medians),
        cmocka_unit_test(noise_is_not_blown_up),
        cmocka_unit_test(nothing_is_drawn_without_steps_or_room),
        cmocka_unit_test(nothing_is_drawn_beside_the_area),
        cmocka_unit_test(a_bar_shares_its_columns_out),
        cmocka_unit_test(phases_have_letters_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
