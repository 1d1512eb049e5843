/* The mouse: a click takes a row in hand, the wheel moves through a list, a click on a title sorts; what is clicked outside of
 * everything is nobody's; --no-mouse leaves it to the terminal. (reference/ecosystem.md, section 2, row 45.) */
#include "tests/screens/emulator.h"
#include "tests/screens/visit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void text_click(struct terminal *t, const char *text)
{
    int y = 0, x = 0;
    terminal_await(t, text);
    assert_true(terminal_find(t, text, &y, &x));
    terminal_click(t, y, x, 1);
}

static void a_click_takes_a_row_in_hand(void **state)
{
    struct terminal *t = visit_start(*state, NULL, NULL, NULL);
    assert_int_not_equal(terminal_state(t).mouse, 0);
    visit_go(t, &visit_places[2]);
    terminal_await(t, ">dense_1/kernel");
    text_click(t, "dense_2/bias");
    terminal_await(t, ">dense_2/bias");
    terminal_await(t, "dense_2/bias 128: master"); /* and tells of it below */
    assert_false(terminal_has(t, ">dense_1/kernel"));
    text_click(t, "logits/bias");
    terminal_await(t, ">logits/bias");
    live_quit(t);
}

static void the_wheel_moves_through_a_list(void **state)
{
    struct terminal *t = visit_start(*state, NULL, NULL, NULL);
    visit_go(t, &visit_places[2]);
    terminal_await(t, ">dense_1/kernel");
    terminal_click(t, 8, 10, 5);
    terminal_await_gone(t, ">dense_1/kernel");
    for (int i = 0; i < 20; i++) /* beyond the end is the end */
        terminal_click(t, 8, 10, 5);
    terminal_await(t, ">logits/bias");
    for (int i = 0; i < 20; i++)
        terminal_click(t, 8, 10, 4);
    terminal_await(t, ">dense_1/kernel");
    live_quit(t);
}

/* A burst that comes in one piece: each counts, in their order. */
static void none_of_many_at_once_is_lost(void **state)
{
    struct terminal *t = visit_start(*state, NULL, NULL, NULL);
    int y = 0, x;
    char burst[200];
    visit_go(t, &visit_places[2]);
    assert_true(terminal_find(t, "dense_1/kernel", &y, &x));
    snprintf(burst, sizeof burst, "\033[<0;6;%dM\033[<0;6;%dm\033[<65;6;%dM\033[<64;6;%dM", y + 3,
             y + 3, y + 1, y + 1);
    terminal_type(t, burst); /* to the third; three down to the last; three up */
    terminal_await(t, ">dense_2/kernel");
    snprintf(burst, sizeof burst, "\033[<65;6;%dM\033[<0;6;%dM\033[<0;6;%dm", y + 1, y + 2, y + 2);
    terminal_type(t, burst);
    terminal_await(t, ">dense_1/bias");
    live_quit(t);
}

static void a_click_on_a_title_sorts(void **state)
{
    struct terminal *t = visit_start(*state, NULL, NULL, NULL);
    int y = 0, first = 0, x;
    visit_go(t, &visit_places[2]);
    assert_true(terminal_find(t, "dense_1/kernel", &first, &x));
    assert_true(terminal_find(t, " bytes device", &y, &x));
    assert_true(y < first);
    terminal_click(t, y, x + 2, 1);
    terminal_await_match(t, "^>?.logits/bias +.*\n>?.dense_1/bias +.*\n>?.dense_2/bias ");
    live_quit(t);
}

static void a_click_on_a_name_shows_that_screen(void **state)
{
    struct terminal *t = visit_start(*state, NULL, NULL, NULL);
    text_click(t, "4Plan");
    terminal_await(t, "[4]Plan");
    text_click(t, "2Devices");
    terminal_await(t, "[2]Devices");
    live_quit(t);
}

/* Two runs, made by the command line program. */
static void a_run_is_taken_in_hand(void **state)
{
    struct program *p = *state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(program_run(p, "run mlp --backend host --steps 2 --batch 8 >/dev/null"),
                         0);
    struct terminal *t = visit_start(p, NULL, "m mark  c compare", "--screen", "runs", NULL);
    terminal_await_match(t, "^> *2\\.1 mlp");
    text_click(t, "1.1 mlp");
    terminal_await_match(t, "^> *1\\.1 mlp");
    text_click(t, "2.1 mlp");
    terminal_await_match(t, "^> *2\\.1 mlp");
    terminal_click(t, 8, 4, 5);
    terminal_await_match(t, "^> *1\\.1 mlp");
    live_quit(t);
}

/* Nothing moves: told by a key that is answered after them all. */
static void clicks_outside_are_nobodys(void **state)
{
    struct terminal *t = visit_start(*state, NULL, NULL, NULL);
    visit_go(t, &visit_places[2]);
    text_click(t, "dense_2/kernel");
    terminal_await(t, ">dense_2/kernel");
    terminal_click(t, 23, 79, 1);
    terminal_click(t, 22, 0, 1);
    terminal_click(t, 0, 0, 1);
    terminal_click(t, 15, 40, 1); /* below the last row */
    terminal_click(t, 23, 0, 5);
    terminal_type(t, "\033[<0;5000;5000M\033[<0;5000;5000m"); /* beyond the terminal */
    terminal_type(t, "\033[<0;1;223M\033[<0;0;0M\033[<2;9;9M\033[<2;9;9m\033[<35;7;7M");
    terminal_type(t, "\033[<64;999;999M\033[<99999999999;1;1M\033[<;;M");
    terminal_press(t, "Down");
    terminal_await(t, ">dense_2/bias");
    assert_false(terminal_has(t, "RUNNING"));
    live_quit(t);
}

static void no_mouse_leaves_it_to_the_terminal(void **state)
{
    struct terminal *t = visit_start(*state, NULL, NULL, "--no-mouse", NULL);
    size_t size;
    visit_all(t, NULL, NULL);
    assert_int_equal(terminal_state(t).mouse, 0);
    live_quit(t);
    assert_null(strstr(terminal_output(t, &size), "\033[?100"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_click_takes_a_row_in_hand, live_begin, live_end),
        cmocka_unit_test_setup_teardown(the_wheel_moves_through_a_list, live_begin, live_end),
        cmocka_unit_test_setup_teardown(none_of_many_at_once_is_lost, live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_click_on_a_title_sorts, live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_click_on_a_name_shows_that_screen, live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_run_is_taken_in_hand, live_begin, live_end),
        cmocka_unit_test_setup_teardown(clicks_outside_are_nobodys, live_begin, live_end),
        cmocka_unit_test_setup_teardown(no_mouse_leaves_it_to_the_terminal, live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
