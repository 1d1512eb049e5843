/* Every screen is whole on a small, a usual and a large terminal; on a smaller one a notice says which size there is and which
 * is needed, and goes when there is room again. (reference/ecosystem.md, section 2, row 40.) */
#include "tests/screens/emulator.h"
#include "tests/screens/visit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    int rows, columns;
} sizes[] = {{24, 80}, {10, 40}, {60, 200}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* The lines that a screen has whatever its size: the head at the top with its state at the right, the screens, the rule, and
 * the line of keys over that of messages. */
static void is_whole(struct terminal *t, const struct visit_place *place, void *state)
{
    const char *head = terminal_line(t, 0);
    if (!strstr(head, "mlp") || !strstr(head, state))
        terminal_fail(t, "%s: line 0 is no head", place->name);
    const char *rule = terminal_line(t, 2);
    if (strncmp(rule, "──", 6) != 0)
        terminal_fail(t, "%s: line 2 is no rule", place->name);
    if (!*terminal_line(t, t->rows - 2))
        terminal_fail(t, "%s: nothing says what can be pressed", place->name);
}

static void every_screen_is_whole_at_every_size(void **state)
{
    for (int i = 0; i < SIZES; i++) {
        struct terminal_options options = {.rows = sizes[i].rows, .columns = sizes[i].columns};
        struct terminal *t = visit_start(*state, &options, NULL, NULL);
        visit_all(t, is_whole, (void *)"READY");
        live_run(t);
        live_pause(t);
        visit_all(t, is_whole, (void *)"PAUSED");
        live_quit(t);
    }
}

/* What the lines of the smallest one must still answer: what is set, what it costs, what can be pressed. */
static void the_smallest_bench_still_answers(void **state)
{
    struct terminal_options options = {.rows = 10, .columns = 40};
    struct terminal *t = visit_start(*state, &options, NULL, NULL);
    terminal_await_match(t, "weights at +gpu:0");
    live_run(t);
    terminal_press(t, "r");
    terminal_await_match(t, "weights at +cpu:0");
    terminal_await_match(t, "step ms +([0-9.]+|warm-up) +[0-9.]+");
    live_quit(t);
}

static void is_told(struct terminal *t, int rows, int columns)
{
    char size[60];
    terminal_resize(t, rows, columns);
    snprintf(size, sizeof size, "mgbench: %d x %d", columns, rows);
    terminal_await(t, size);
    terminal_await(t, "needs 40 x 10");
}

/* It runs on meanwhile; keys that nobody can see to are not taken. */
static void too_small_a_terminal_is_told_both_sizes_and_recovers(void **state)
{
    struct program *p = *state;
    struct terminal *t = visit_start(p, NULL, NULL, NULL);
    live_run(t);
    is_told(t, 9, 80);
    is_told(t, 24, 39);
    is_told(t, 3, 30);
    terminal_press(t, "3");
    terminal_resize(t, 10, 40);
    terminal_await(t, "[1]Bench");
    terminal_press(t, "2");
    terminal_await(t, "[2]Devices");
    terminal_await_match(t, "^── DEVICES");
    is_told(t, 9, 40);
    terminal_resize(t, 24, 80);
    terminal_await(t, "[2]Devices  3Variables");
    terminal_await(t, "RUNNING");
    live_quit(t);
    assert_string_equal(program_ask(p, "select outcome from run"), "ok");
}

static void it_starts_and_ends_on_a_terminal_that_is_too_small(void **state)
{
    struct terminal_options options = {.rows = 5, .columns = 30};
    struct terminal *t = visit_start(*state, &options, "needs 40 x 10", NULL);
    terminal_await(t, "mgbench: 30 x 5");
    terminal_await(t, "q quits");
    live_quit(t);
}

/* One cell has no room for a notice; the program is there all the same. It may not have seen the one cell when it is over:
 * what the terminal has lost meanwhile must come back nevertheless. */
static void one_cell_does_no_harm(void **state)
{
    struct terminal *t = visit_start(*state, NULL, NULL, NULL);
    live_run(t);
    for (int i = 0; i < 10; i++) {
        terminal_resize(t, 1, 1);
        terminal_look(t, i * 10);
        terminal_resize(t, 24, 80);
        terminal_await(t, "[1]Bench  2Devices  3Variables");
        terminal_await(t, "PLACEMENT");
        terminal_await_match(t, visit_places[0].hint);
    }
    terminal_resize(t, 1, 1);
    live_quit(t);
}

/* A serial line tells 0 x 0. */
static void a_terminal_that_does_not_tell_its_size_has_the_usual_one(void **state)
{
    static const char *const words[] = {
        "sh", "-c", "stty rows 0 cols 0; exec mgbench-tui mlp --backend host", NULL};
    struct terminal *t = program_start_words(*state, NULL, words);
    terminal_await(t, "READY");
    terminal_await(t, "?help  :cmd");
    live_quit(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_screen_is_whole_at_every_size, live_begin, live_end),
        cmocka_unit_test_setup_teardown(the_smallest_bench_still_answers, live_begin, live_end),
        cmocka_unit_test_setup_teardown(too_small_a_terminal_is_told_both_sizes_and_recovers,
                                        live_begin, live_end),
        cmocka_unit_test_setup_teardown(it_starts_and_ends_on_a_terminal_that_is_too_small,
                                        live_begin, live_end),
        cmocka_unit_test_setup_teardown(one_cell_does_no_harm, live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_terminal_that_does_not_tell_its_size_has_the_usual_one,
                                        live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
