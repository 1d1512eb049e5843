/* Pictures as text, to the character. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "app/plot/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect(struct mgb_picture *picture, bool utf8, int width, const char *wanted)
{
    struct mgb_text_style style = {width, utf8};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(mgb_picture_print(picture, &style, out), MGB_OK);
    fclose(out);
    assert_string_equal(text, wanted);
    free(text);
    mgb_picture_done(picture);
}

static void say(char **text, const char *words)
{
    bool failed = false;
    mgb_picture_say(text, &failed, "%s", words);
    assert_false(failed);
}

static void bars_make(struct mgb_picture *picture)
{
    mgb_picture_init(picture);
    say(&picture->title, "Step time");
    say(&picture->note, "The foot.");
    struct mgb_chart *chart = mgb_picture_add(picture, MGB_CHART_BARS);
    say(&chart->y_label, "ms (lower is better)");
    int series = mgb_chart_add_series(chart, "");
    mgb_chart_add_point(chart, series, mgb_chart_add_category(chart, "near"), 1.5, 1.25, 1.75);
    mgb_chart_add_point(chart, series, mgb_chart_add_category(chart, "far away"), 3, NAN, NAN);
    mgb_chart_add_mark(chart, MGB_MARK_NOTE, mgb_chart_add_category(chart, "huge"), series,
                       "out of memory");
}

static void bars_are_rows_with_their_figures(void **state)
{
    (void)state;
    struct mgb_picture picture;
    bars_make(&picture);
    expect(&picture, false, 53,
           "Step time\n\n"
           "ms (lower is better)\n"
           "near     ########## 1.5 [1.25, 1.75]\n"
           "far away #################### 3\n"
           "huge     out of memory\n"
           "\nThe foot.\n");
}

static void blocks_are_an_eighth_of_a_column(void **state)
{
    (void)state;
    struct mgb_picture picture;
    bars_make(&picture);
    picture.panels[0]->series[0].points[0].y = 1.51875; /* 10.125 of 20 columns */
    expect(&picture, true, 53,
           "Step time\n\n"
           "ms (lower is better)\n"
           "near     ██████████▏ 1.519 [1.25, 1.75]\n"
           "far away ████████████████████ 3\n"
           "huge     out of memory\n"
           "\nThe foot.\n");
}

static void bars_of_several_series_stand_under_their_category(void **state)
{
    (void)state;
    struct mgb_picture picture;
    mgb_picture_init(&picture);
    struct mgb_chart *chart = mgb_picture_add(&picture, MGB_CHART_BARS);
    say(&chart->title, "two");
    int a = mgb_chart_add_series(chart, "old"), b = mgb_chart_add_series(chart, "new");
    int one = mgb_chart_add_category(chart, "one"), two = mgb_chart_add_category(chart, "two");
    mgb_chart_add_point(chart, a, one, 4, NAN, NAN);
    mgb_chart_add_point(chart, b, one, 2, NAN, NAN);
    mgb_chart_add_point(chart, a, two, 1, NAN, NAN);
    expect(&picture, false, 34,
           "\ntwo\n"
           "one\n"
           "  old #################### 4\n"
           "  new ########## 2\n"
           "two\n"
           "  old ##### 1\n");
}

static void parts_of_a_row_are_told_in_figures_too(void **state)
{
    (void)state;
    struct mgb_picture picture;
    mgb_picture_init(&picture);
    struct mgb_chart *chart = mgb_picture_add(&picture, MGB_CHART_STACKED);
    int weights = mgb_chart_add_series(chart, "weights");
    int slots = mgb_chart_add_series(chart, "slots");
    int gpu = mgb_chart_add_category(chart, "/gpu:0");
    mgb_chart_add_point(chart, weights, gpu, 3, NAN, NAN);
    mgb_chart_add_point(chart, slots, gpu, 1, NAN, NAN);
    mgb_chart_add_mark(chart, MGB_MARK_LIMIT, gpu, 5, "capacity");
    expect(&picture, false, 35,
           "\n/gpu:0 ############==== 4\n"
           "       weights 3, slots 1;\n"
           "       capacity 5\n"
           "  # weights  = slots\n");
}

static void lines_are_points_on_a_grid(void **state)
{
    (void)state;
    struct mgb_picture picture;
    mgb_picture_init(&picture);
    struct mgb_chart *chart = mgb_picture_add(&picture, MGB_CHART_LINES);
    say(&chart->x_label, "GPUs");
    say(&chart->y_label, "examples/s");
    int a = mgb_chart_add_series(chart, "a"), b = mgb_chart_add_series(chart, "b");
    mgb_chart_add_point(chart, a, 4, 7, NAN, NAN);
    mgb_chart_add_point(chart, a, 1, 1, NAN, NAN);
    mgb_chart_add_point(chart, b, 1, 1, NAN, NAN);
    mgb_chart_add_point(chart, b, 2, 14, NAN, NAN);
    mgb_chart_add_mark(chart, MGB_MARK_EDGE, 4, 0, "out of memory: b");
    chart->x_log = true;
    expect(&picture, false, 40,
           "\nexamples/s\n"
           "     14 +               x            |\n"
           "        |                            |\n"
           "        |                            |\n"
           "        |                            |\n"
           "        |                            |\n"
           "        |                            |\n"
           "        |                            |\n"
           "      7 +                            o\n"
           "        |                            |\n"
           "        |                            |\n"
           "        |                            |\n"
           "        |                            |\n"
           "        |                            |\n"
           "        | ?                          |\n"
           "      0 +                            |\n"
           "        +-------------------------------\n"
           "          1             2            4\n"
           "         GPUs\n"
           "       o a\n"
           "       x b\n"
           "       ? several of them\n"
           "       | 4: out of memory: b\n");
}

static void the_ideal_line_lies_behind_the_points(void **state)
{
    (void)state;
    struct mgb_picture picture;
    char *text = NULL;
    size_t size;
    struct mgb_text_style style = {60, false};
    mgb_picture_init(&picture);
    struct mgb_chart *chart = mgb_picture_add(&picture, MGB_CHART_LINES);
    int a = mgb_chart_add_series(chart, "a");
    mgb_chart_add_point(chart, a, 1, 10, NAN, NAN);
    mgb_chart_add_point(chart, a, 2, 20, NAN, NAN);
    mgb_chart_add_ideal(chart, "ideal", 1, 10);
    mgb_chart_add_ideal(chart, "ideal", 2, 20);
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(mgb_picture_print(&picture, &style, out), MGB_OK);
    fclose(out);
    assert_non_null(strstr(text, "     20 +                                              ..o\n"));
    assert_non_null(strstr(text, "       . ideal\n"));
    free(text);
    mgb_picture_done(&picture);
}

static void long_headings_are_wrapped_between_words(void **state)
{
    (void)state;
    struct mgb_picture picture;
    mgb_picture_init(&picture);
    say(&picture.title, "two GPUs take 12 % longer than-a-very-long-word");
    expect(&picture, false, 16, "two GPUs take\n12 % longer\nthan-a-very-long-word\n");
}

static void an_empty_chart_is_drawn_without_points(void **state)
{
    (void)state;
    struct mgb_picture picture;
    char *text = NULL;
    size_t size;
    struct mgb_text_style style = {40, true};
    mgb_picture_init(&picture);
    mgb_picture_add(&picture, MGB_CHART_POINTS);
    mgb_picture_add(&picture, MGB_CHART_BARS);
    mgb_picture_add(&picture, MGB_CHART_STACKED);
    mgb_chart_add_point(picture.panels[0], mgb_chart_add_series(picture.panels[0], "a"), NAN, 1,
                        NAN, NAN);
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(mgb_picture_print(&picture, &style, out), MGB_OK);
    fclose(out);
    assert_true(size > 0);
    free(text);
    mgb_picture_done(&picture);
}

static void without_a_terminal_the_screen_that_asks_tells_the_width(void **state)
{
    (void)state;
    if (isatty(STDOUT_FILENO))
        skip();
    unsetenv("MGBENCH_COLUMNS");
    setenv("COLUMNS", "50", 1);
    assert_int_equal(mgb_text_style_find().width, 80);
    setenv("MGBENCH_COLUMNS", "132", 1);
    assert_int_equal(mgb_text_style_find().width, 132);
    setenv("MGBENCH_COLUMNS", "7", 1);
    assert_int_equal(mgb_text_style_find().width, 80);
    unsetenv("MGBENCH_COLUMNS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_terminal_the_screen_that_asks_tells_the_width),
        cmocka_unit_test(bars_are_rows_with_their_figures),
        cmocka_unit_test(blocks_are_an_eighth_of_a_column),
        cmocka_unit_test(bars_of_several_series_stand_under_their_category),
        cmocka_unit_test(parts_of_a_row_are_told_in_figures_too),
        cmocka_unit_test(lines_are_points_on_a_grid),
        cmocka_unit_test(the_ideal_line_lies_behind_the_points),
        cmocka_unit_test(long_headings_are_wrapped_between_words),
        cmocka_unit_test(an_empty_chart_is_drawn_without_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
