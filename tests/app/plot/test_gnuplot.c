/* Pictures through gnuplot: the script, the file, and what happens without the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "app/plot/gnuplot.h"
#include "tests/support/locale.h"
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <mgb/text.h>

static char folder[] = "/tmp/mgb-plot-XXXXXX";

static void say(char **text, const char *words)
{
    bool failed = false;
    mgb_picture_say(text, &failed, "%s", words);
}

/* Bars with an interval, a stack with a stroke, lines with ideal and edge; words that could break a script. */
static void picture_make(struct mgb_picture *picture)
{
    mgb_picture_init(picture);
    say(&picture->title, "it's `a` \"title\"\nof <b>two</b> lines & {more} _here_");
    struct mgb_chart *bars = mgb_picture_add(picture, MGB_CHART_BARS);
    int row = mgb_chart_add_category(bars, "weights /cpu:0");
    mgb_chart_add_point(bars, mgb_chart_add_series(bars, ""), row, 1.5, 1.25, 1.75);
    struct mgb_chart *stack = mgb_picture_add(picture, MGB_CHART_STACKED);
    row = mgb_chart_add_category(stack, "/gpu:0");
    mgb_chart_add_point(stack, mgb_chart_add_series(stack, "slots"), row, 2, NAN, NAN);
    mgb_chart_add_point(stack, mgb_chart_add_series(stack, "merge"), row, 2, NAN, NAN);
    mgb_chart_add_mark(stack, MGB_MARK_LIMIT, row, 5, "capacity");
    struct mgb_chart *lines = mgb_picture_add(picture, MGB_CHART_LINES);
    int series = mgb_chart_add_series(lines, "outputs");
    mgb_chart_add_point(lines, series, 1, 10.5, 10, 11);
    mgb_chart_add_point(lines, series, 2, 20, NAN, NAN);
    mgb_chart_add_ideal(lines, "ideal", 1, 10.5);
    mgb_chart_add_ideal(lines, "ideal", 2, 21);
    mgb_chart_add_mark(lines, MGB_MARK_EDGE, 4, 0, "out of memory");
    lines->x_log = true;
}

static char *script_make(enum mgb_picture_format format, const struct mgb_picture_size *size)
{
    struct mgb_picture picture;
    char *text = NULL;
    size_t length;
    picture_make(&picture);
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(mgb_gnuplot_script(&picture, format, size, out), MGB_OK);
    fclose(out);
    mgb_picture_done(&picture);
    return text;
}

static void expect(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("not there: %s\nin:\n%s", part, text);
}

static void the_script_draws_what_the_picture_says(void **state)
{
    (void)state;
    char *script = script_make(MGB_PICTURE_SVG, NULL);
    expect(script, "set terminal svg size 920,");
    expect(script, "set label 'it''s `a` \"title\"' at screen ");
    expect(script, "set label 'of <b>two</b> lines & {more} _here_' at screen ");
    expect(script, "noenhanced");
    expect(script, "'weights /cpu:0'");
    expect(script, "'1.5 [1.25, 1.75]'");
    expect(script, "$range0_0 << EOD\n1.5 0 1.25 1.75\nEOD\n");
    expect(script, "$bars1_1 << EOD\n3 0 2 4 -0.39 0.39\nEOD\n"); /* after the first of 2 */
    expect(script, "'capacity'");
    expect(script, "$line2_0 << EOD\n1 10.5\n2 20\nEOD\n");
    expect(script, "$range2_0 << EOD\n1 10 0 1\nEOD\n");
    expect(script, "$ideal2 << EOD\n1 10.5\n2 21\nEOD\n");
    expect(script, "set logscale x 2\n");
    expect(script, "'out of memory' at first 4,graph");
    free(script);
}

static void the_size_is_the_one_that_was_asked_for(void **state)
{
    (void)state;
    struct mgb_picture_size size;
    assert_int_equal(mgb_picture_size_read(&size, "700x1500"), MGB_OK);
    char *script = script_make(MGB_PICTURE_PNG, &size);
    expect(script, "set terminal pngcairo size 700,1500 ");
    free(script);
    static const char *const wrong[] = {"",          "700",      "700x",      "x500",
                                        "700x5",     "7e2x500",  "700x500px", "-700x500",
                                        "99999x500", "700x-500", "700x 500"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(mgb_picture_size_read(&size, wrong[i]), MGB_INVALID);
}

/* A bar of 10 with an interval to `high`. */
static char *bar_script(double high, const struct mgb_picture_size *size, enum mgb_status wanted)
{
    struct mgb_picture picture;
    char *text = NULL;
    size_t length;
    mgb_picture_init(&picture);
    struct mgb_chart *bars = mgb_picture_add(&picture, MGB_CHART_BARS);
    int row = mgb_chart_add_category(bars, "one");
    mgb_chart_add_point(bars, mgb_chart_add_series(bars, ""), row, 10, 9, high);
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(mgb_gnuplot_script(&picture, MGB_PICTURE_SVG, size, out), wanted);
    fclose(out);
    mgb_picture_done(&picture);
    return text;
}

static void an_interval_that_is_cut_ends_in_an_open_arrowhead(void **state)
{
    (void)state;
    char *whole = bar_script(19, NULL, MGB_OK), *cut = bar_script(25, NULL, MGB_OK);
    expect(whole, "$range0_0 << EOD\n10 0 9 19\nEOD\n"); /* the axis goes as far */
    assert_null(strstr(whole, "set arrow"));
    expect(cut, "set arrow from first 9,first 0 to first 14,first 0 front lw 2 lc rgb '#000000' "
                "head nofilled");
    expect(cut, "'10 [9, 25]'");
    assert_null(strstr(cut, "xerrorbars"));
    free(whole);
    free(cut);
}

static void a_size_that_nobody_could_read_is_refused_with_one_that_can_be(void **state)
{
    (void)state;
    int width = 0, height = 0;
    struct mgb_picture_size small = {300, 200};
    free(bar_script(11, &small, MGB_INVALID));
    const char *least = strstr(mgb_message_get(), "it needs ");
    assert_non_null(strstr(mgb_message_get(), "300x200 is too small"));
    assert_non_null(least);
    assert_int_equal(sscanf(least, "it needs %dx%d at least", &width, &height), 2);
    struct mgb_picture_size enough = {width, height}, flat = {width, height - 1};
    free(bar_script(11, &enough, MGB_OK));
    free(bar_script(11, &flat, MGB_INVALID));
}

static void the_format_is_how_the_name_ends(void **state)
{
    (void)state;
    enum mgb_picture_format format;
    assert_int_equal(mgb_picture_format_find(&format, "a.png.SVG"), MGB_OK);
    assert_int_equal(format, MGB_PICTURE_SVG);
    assert_int_equal(mgb_picture_format_find(&format, "a.png"), MGB_OK);
    assert_int_equal(format, MGB_PICTURE_PNG);
    assert_int_equal(mgb_picture_format_find(&format, "a.pdf"), MGB_INVALID);
    assert_int_equal(mgb_picture_format_find(&format, "svg"), MGB_INVALID);
    assert_string_equal(mgb_message_get(), "a picture's file must end in .svg or .png, got 'svg'");
}

static void a_comma_locale_changes_nothing(void **state)
{
    (void)state;
    char *before = script_make(MGB_PICTURE_SVG, NULL);
    if (!mgb_test_comma_locale()) {
        free(before);
        skip();
    }
    char *after = script_make(MGB_PICTURE_SVG, NULL), number[40];
    assert_string_equal(after, before);
    assert_string_equal(mgb_format_figure(number, 1.5), "1.5");
    setlocale(LC_ALL, "C");
    free(before);
    free(after);
}

static char *path_of(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static char *file_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static int files_in(const char *path)
{
    char command[300], count[20] = "";
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", path);
    FILE *out = popen(command, "r");
    assert_non_null(fgets(count, sizeof count, out));
    pclose(out);
    return atoi(count);
}

static void an_svg_holds_the_words(void **state)
{
    (void)state;
    struct mgb_picture picture;
    char *path = path_of("a.svg");
    if (!mgb_gnuplot_there())
        skip();
    picture_make(&picture);
    if (mgb_picture_write(&picture, path, NULL) != MGB_OK)
        fail_msg("%s", mgb_message_get());
    char *text = file_read(path);
    expect(text, "<svg");
    expect(text, "weights /cpu:0");
    expect(text, "1.5 [1.25, 1.75]");
    expect(text, "of &lt;b");
    expect(text, "lines &amp; {more} _here_");
    expect(text, "out of memory");
    expect(text, "</svg>");
    free(text);
    assert_int_equal(files_in(folder), 1); /* nothing beside it */
    unlink(path);
    mgb_picture_done(&picture);
}

static void a_png_is_one(void **state)
{
    (void)state;
    struct mgb_picture picture;
    char *path = path_of("a.png");
    if (!mgb_gnuplot_there())
        skip();
    picture_make(&picture);
    if (mgb_picture_write(&picture, path, NULL) != MGB_OK)
        fail_msg("%s", mgb_message_get());
    char *text = file_read(path);
    assert_memory_equal(text, "\x89PNG\r\n", 6);
    free(text);
    unlink(path);
    mgb_picture_done(&picture);
}

static void ids_of_an_inlined_picture_have_its_prefix(void **state)
{
    (void)state;
    struct mgb_picture picture;
    char *text;
    if (!mgb_gnuplot_there())
        skip();
    picture_make(&picture);
    if (mgb_picture_inline(&text, &picture, "first-") != MGB_OK)
        fail_msg("%s", mgb_message_get());
    assert_memory_equal(text, "<svg", 4);
    int ids = 0;
    for (const char *at = text; (at = strstr(at, " id=")) != NULL; at += 5, ids++)
        assert_memory_equal(at + 5, "first-", 6);
    assert_true(ids > 0);
    for (const char *at = text; (at = strstr(at, "url(#")) != NULL; at += 5)
        assert_memory_equal(at + 5, "first-", 6);
    free(text);
    mgb_picture_done(&picture);
}

static void a_picture_that_cannot_be_written_leaves_nothing(void **state)
{
    (void)state;
    struct mgb_picture picture;
    if (!mgb_gnuplot_there())
        skip();
    picture_make(&picture);
    assert_int_equal(mgb_picture_write(&picture, path_of("none/a.svg"), NULL), MGB_IO);
    expect(mgb_message_get(), "none/a.svg' failed: No such file or directory");
    mkdir(path_of("is.svg"), 0777);
    assert_int_equal(mgb_picture_write(&picture, path_of("is.svg"), NULL), MGB_IO);
    rmdir(path_of("is.svg"));
    assert_int_equal(files_in(folder), 0);
    mgb_picture_done(&picture);
}

/* A gnuplot of our own that only complains. */
static void what_gnuplot_complains_of_is_the_message(void **state)
{
    (void)state;
    struct mgb_picture picture;
    char *path = strdup(getenv("PATH")), changed[4096];
    FILE *program = fopen(path_of("gnuplot"), "w");
    fputs("#!/bin/sh\ncat >/dev/null\necho '\"-\", line 3: undefined thing' >&2\nexit 1\n",
          program);
    fclose(program);
    chmod(path_of("gnuplot"), 0755);
    snprintf(changed, sizeof changed, "%s:%s", folder, path);
    setenv("PATH", changed, 1);
    picture_make(&picture);
    enum mgb_status status = mgb_picture_write(&picture, path_of("a.svg"), NULL);
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(status, MGB_IO);
    assert_string_equal(mgb_message_get(), "gnuplot failed (exit 1): line 3: undefined thing");
    unlink(path_of("gnuplot"));
    assert_int_equal(files_in(folder), 0);
    mgb_picture_done(&picture);
}

static void without_gnuplot_a_file_is_refused(void **state)
{
    (void)state;
    struct mgb_picture picture;
    char *path = strdup(getenv("PATH")), *text;
    picture_make(&picture);
    setenv("PATH", "/nowhere", 1);
    bool there = mgb_gnuplot_there();
    enum mgb_status status = mgb_picture_write(&picture, path_of("a.svg"), NULL);
    char message[300];
    snprintf(message, sizeof message, "%s", mgb_message_get());
    enum mgb_status inlined = mgb_picture_inline(&text, &picture, "a-");
    setenv("PATH", path, 1);
    free(path);
    assert_false(there);
    assert_int_equal(status, MGB_MISSING);
    assert_int_equal(inlined, MGB_MISSING);
    expect(message, "no gnuplot on PATH");
    expect(message, "apt-get install gnuplot-nox");
    assert_int_equal(files_in(folder), 0);
    mgb_picture_done(&picture);
}

static int folder_make(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int folder_remove(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_script_draws_what_the_picture_says),
        cmocka_unit_test(the_size_is_the_one_that_was_asked_for),
        cmocka_unit_test(an_interval_that_is_cut_ends_in_an_open_arrowhead),
        cmocka_unit_test(a_size_that_nobody_could_read_is_refused_with_one_that_can_be),
        cmocka_unit_test(the_format_is_how_the_name_ends),
        cmocka_unit_test(a_comma_locale_changes_nothing),
        cmocka_unit_test(an_svg_holds_the_words),
        cmocka_unit_test(a_png_is_one),
        cmocka_unit_test(ids_of_an_inlined_picture_have_its_prefix),
        cmocka_unit_test(a_picture_that_cannot_be_written_leaves_nothing),
        cmocka_unit_test(what_gnuplot_complains_of_is_the_message),
        cmocka_unit_test(without_gnuplot_a_file_is_refused),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
