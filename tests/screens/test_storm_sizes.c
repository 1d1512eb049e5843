/* The window changes its size again and again while the program steps, is toggled and has menus open. */
#include "tests/screens/storm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { MOST_ROWS = 80, MOST_COLUMNS = 250 };

static const char *const keys[] = {"r", "m",   "s",   "g", "G", "b",    "B",         "p",    "u",
                                   "o", "M",   "K",   "?", ":", "Down", "Up",        "PgDn", "Esc",
                                   "t", "Tab", "Esc", "w", "1", "4",    "Shift-Tab", "3",    "Esc"};

static void resize_at_random(struct storm *storm)
{
    bool tiny = storm_draw(storm, 5) == 0;
    int rows = 1 + (int)storm_draw(storm, tiny ? 12 : MOST_ROWS);
    int columns = 1 + (int)storm_draw(storm, tiny ? 42 : MOST_COLUMNS);
    terminal_resize(storm->terminal, rows, columns);
}

struct further {
    struct storm *storm;
    int64_t than;
};

static bool is_further(struct terminal *t, void *context)
{
    struct further *further = context;
    (void)t;
    storm_look(further->storm, 20);
    return further->storm->steps > further->than;
}

/* It steps, and the screen says so. */
static void goes_on(struct storm *storm)
{
    storm_calm(storm);
    if (!terminal_has(storm->terminal, "RUNNING"))
        storm_run(storm);
    storm_look(storm, 20);
    struct further further = {storm, storm->steps};
    terminal_await_that(storm->terminal, is_further, &further, "more steps");
}

static void any_size_at_any_time(void **state)
{
    struct storm *storm = *state;
    int count = storm_count(100, 1000);
    storm_start(storm, 24, 80);
    storm_run(storm);
    for (int i = 0; i < count; i++) {
        resize_at_random(storm);
        if (storm_draw(storm, 2) == 0)
            terminal_press(storm->terminal, keys[storm_draw(storm, sizeof keys / sizeof *keys)]);
        storm_look(storm, (int)storm_draw(storm, 40));
        storm_revive(storm);
    }
    goes_on(storm);
    storm_quit(storm);
    assert_int_equal(storm->begun, 1);
}

static void a_thousand_sizes_at_once(void **state)
{
    struct storm *storm = *state;
    storm_start(storm, 24, 80);
    storm_run(storm);
    for (int i = 0; i < 1000; i++) {
        resize_at_random(storm);
        terminal_look(storm->terminal, 0);
    }
    goes_on(storm);
    storm_quit(storm);
}

static void shrinks_to_one_cell_and_grows_again(void **state)
{
    struct storm *storm = *state;
    storm_start(storm, 60, 200);
    storm_run(storm);
    for (int i = 0; i < 200; i++) {
        int rows = 60 - i * 60 / 200, columns = 200 - i;
        terminal_resize(storm->terminal, rows, columns);
        storm_look(storm, 5);
    }
    for (int i = 0; i < 200; i += 4) {
        terminal_resize(storm->terminal, 1 + i * 60 / 200, 1 + i);
        storm_look(storm, 5);
    }
    goes_on(storm);
    storm_quit(storm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_size_at_any_time, storm_begin, storm_end),
        cmocka_unit_test_setup_teardown(a_thousand_sizes_at_once, storm_begin, storm_end),
        cmocka_unit_test_setup_teardown(shrinks_to_one_cell_and_grows_again, storm_begin,
                                        storm_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
