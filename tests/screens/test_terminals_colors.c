/* Colour is never needed: NO_COLOR, --no-color and terminals without it have bold, reverse and letters instead; --ascii has
 * no other character anywhere; and the colours there are lie apart for those who see no red beside green.
 * (reference/ecosystem.md, section 2, rows 42 to 44.) */
#include "tests/screens/emulator.h"
#include "tests/screens/visit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void has_no_color(struct terminal *t, const struct visit_place *place, void *unused)
{
    (void)unused;
    if (terminal_colored(t) != 0)
        terminal_fail(t, "%d cells of %s have a colour", terminal_colored(t), place->name);
    if (visit_bold(t) == 0 || visit_reversed(t) == 0)
        terminal_fail(t, "%s has %d bold and %d reversed cells", place->name, visit_bold(t),
                      visit_reversed(t));
}

/* A change is seen: a new segment beside the one before it, and a verdict in letters. */
static void is_changed_and_judged(struct terminal *t)
{
    terminal_press(t, "r");
    live_await_segment(t, 2);
    terminal_await_match(t, "weights at +cpu:0");
    terminal_press(t, "u");
    live_await_segment(t, 3);
    terminal_await_match(t, "weights at +gpu:0");
}

static void everything_works_without(struct program *p, const char *term, const char *setting,
                                     const char *word)
{
    const char *const settings[] = {setting, NULL};
    struct terminal_options options = {.term = term, .environment = settings};
    struct terminal *t = visit_start(p, &options, NULL, word, NULL);
    visit_all(t, has_no_color, NULL);
    live_run(t);
    is_changed_and_judged(t);
    live_pause(t);
    visit_all(t, has_no_color, NULL);
    live_command(t, "nonsense(");
    terminal_await(t, "unexpected symbol");
    assert_int_equal(terminal_colored(t), 0);
    live_quit(t);
    assert_int_equal(visit_color_sequences(t), 0);
}

static void no_color_leaves_none(void **state)
{
    everything_works_without(*state, "xterm-256color", "NO_COLOR=1", NULL);
}

static void no_color_as_a_flag_leaves_none(void **state)
{
    everything_works_without(*state, "xterm-256color", "A=1", "--no-color");
}

static void a_vt100_works_without(void **state)
{
    everything_works_without(*state, "vt100", "LANG=C", NULL);
}

/* https://no-color.org: "when present and not an empty string". */
static void an_empty_no_color_says_nothing(void **state)
{
    static const char *const settings[] = {"NO_COLOR=", NULL};
    struct terminal_options options = {.environment = settings};
    struct terminal *t = visit_start(*state, &options, NULL, NULL);
    visit_go(t, &visit_places[1]);
    assert_true(terminal_colored(t) > 0);
    live_quit(t);
    assert_true(visit_color_sequences(t) > 0);
}

struct colors {
    bool red, green;
    int count;
};

/* Index of the palette of 256: 16 of the terminal, a cube of 6 x 6 x 6, greys. */
static void color_judge(struct colors *colors, int index)
{
    static const int levels[] = {0, 95, 135, 175, 215, 255};
    if (index < 0 || index >= 232)
        return;
    colors->count++;
    if (index < 16) {
        colors->red |= index % 8 == 1;
        colors->green |= index % 8 == 2;
        return;
    }
    int r = levels[(index - 16) / 36], g = levels[(index - 16) / 6 % 6],
        b = levels[(index - 16) % 6];
    colors->red |= r >= g + 150 && r >= b + 150;
    colors->green |= g >= r + 80 && g >= b + 80;
}

static void colors_collect(struct terminal *t, const struct visit_place *place, void *colors)
{
    (void)place;
    int y = 0, x = 0;
    for (y = 0; y < 24; y++)
        for (x = 0; x < 80; x++) {
            struct terminal_cell cell = terminal_cell(t, y, x);
            color_judge(colors, cell.front);
            color_judge(colors, cell.back);
        }
}

static void red_never_stands_beside_green(void **state)
{
    static const char *const terms[] = {"xterm-256color", "linux"};
    for (size_t i = 0; i < sizeof terms / sizeof *terms; i++) {
        struct colors colors = {.count = 0};
        struct terminal_options options = {.term = terms[i]};
        struct terminal *t = visit_start(*state, &options, NULL, NULL);
        live_run(t);
        is_changed_and_judged(t);
        colors_collect(t, NULL, &colors);
        live_pause(t);
        visit_all(t, colors_collect, &colors);
        live_command(t, "nonsense(");
        terminal_await(t, "unexpected symbol");
        colors_collect(t, NULL, &colors);
        assert_true(colors.count > 100);
        assert_false(colors.red && colors.green);
        live_quit(t);
    }
}

/* Menus, what is said, the help: nowhere another character, though the locale has them. */
static void ascii_is_ascii_everywhere(void **state)
{
    static const char *const settings[] = {"LC_ALL=C.UTF-8", NULL};
    struct terminal_options options = {.environment = settings};
    struct terminal *t = visit_start(*state, &options, NULL, "--ascii", NULL);
    visit_all(t, NULL, NULL);
    live_run(t);
    is_changed_and_judged(t);
    terminal_press(t, "o");
    terminal_await(t, "OPTIONS");
    terminal_press(t, "Esc,w");
    terminal_await(t, "WHAT");
    terminal_press(t, "Esc,M");
    terminal_await(t, "MODEL");
    terminal_press(t, "Esc");
    terminal_await_gone(t, "MODEL");
    live_pause(t);
    visit_all(t, NULL, NULL);
    live_command(t, "print('\303\244\342\234\223')");
    visit_go(t, &visit_places[6]);
    terminal_await_match(t, "> ");
    live_quit(t);
    assert_int_equal(visit_bytes_beyond_ascii(t), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_color_leaves_none, live_begin, live_end),
        cmocka_unit_test_setup_teardown(no_color_as_a_flag_leaves_none, live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_vt100_works_without, live_begin, live_end),
        cmocka_unit_test_setup_teardown(an_empty_no_color_says_nothing, live_begin, live_end),
        cmocka_unit_test_setup_teardown(red_never_stands_beside_green, live_begin, live_end),
        cmocka_unit_test_setup_teardown(ascii_is_ascii_everywhere, live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
