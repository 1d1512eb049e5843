/* A sweep from its screen: the grid is edited, cells come in, the best is marked, and what stands there is what is in the file;
 * stopped, it goes on where it was. */
#include "tests/screens/emulator.h"
#include "tests/screens/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The row of the grid that is called so gets the value. */
static void grid_set(struct terminal *t, const char *row, const char *value)
{
    char text[80];
    int first, y, x;
    terminal_press(t, "Home");
    terminal_await(t, "> name ");
    assert_true(terminal_find(t, "> name ", &first, &x));
    snprintf(text, sizeof text, "  %s ", row);
    assert_true(terminal_find(t, text, &y, &x));
    while (y-- > first)
        terminal_press(t, "Down");
    snprintf(text, sizeof text, "> %s ", row);
    terminal_await(t, text);
    terminal_press(t, "e");
    terminal_await_match(t, "(commas|cell|repeats):");
    terminal_press(t, "Ctrl-U");
    terminal_type(t, value);
    terminal_press(t, "Enter");
    terminal_await(t, value);
}

static struct terminal *sweep_ready(struct program *p, const char *steps, const char *repeats)
{
    struct terminal_options options = {.rows = 40, .columns = 120};
    struct terminal *t = program_start(p, &options, "mlp", "--backend", "host", "--gpus", "2",
                                       "--batch", "8", "--screen", "sweep", NULL);
    terminal_await(t, "READY");
    terminal_await(t, "nothing varies yet");
    grid_set(t, "steps a cell", steps);
    grid_set(t, "repeats", repeats);
    grid_set(t, "batch", "4, 8");
    grid_set(t, "cpu_relocation", "true, false");
    return t;
}

static double cell_ms(struct program *p, const char *batch, const char *relocation)
{
    return database_number(
        p,
        "SELECT step_ms_median FROM run_summary JOIN sweep_point p ON p.run_id = "
        "run_summary.run_id WHERE batch_per_gpu = %s AND cpu_relocation = %d",
        batch, strcmp(relocation, "yes") == 0);
}

/* The line of a cell; borrowed. "": it is not there. */
static const char *cell_line(struct terminal *t, const char *batch, const char *relocation)
{
    for (int y = 0; y < 40; y++) {
        char a[40], b[40];
        const char *line = terminal_line(t, y);
        if (sscanf(line + strspn(line, " *>"), "%39s %39s", a, b) == 2 && strcmp(a, batch) == 0 &&
            strcmp(b, relocation) == 0)
            return line;
    }
    return "";
}

static void a_grid_runs_through_and_its_best_is_marked(void **state)
{
    static const char *const batches[] = {"4", "8"}, *const places[] = {"yes", "no"};
    struct program *p = *state;
    struct terminal *t = sweep_ready(p, "40", "1");
    terminal_await(t, "4 cells x 1 repeat = 4 runs of 40 steps");
    terminal_press(t, "s");
    terminal_await(t, "all cells have ended");
    terminal_await(t, "READY");
    live_rest(t);
    assert_true(terminal_has(t, "4 of 4"));
    assert_true(terminal_has(t, "Fastest"));
    int best = 0;
    for (int i = 0; i < 4; i++) {
        const char *line = cell_line(t, batches[i / 2], places[i % 2]);
        const char *ms = number_text(cell_ms(p, batches[i / 2], places[i % 2]));
        if (!strstr(line, ms))
            terminal_fail(t, "no %s in '%s'", ms, line);
        best += line[strspn(line, " >")] == '*';
    }
    assert_int_equal(best, 1);
    assert_string_equal(database_text(p, "SELECT count(*) FROM sweep_point"), "4");
    assert_string_equal(database_text(p, "SELECT group_concat(DISTINCT outcome) FROM run"), "ok");
    assert_string_equal(database_text(p, "SELECT finished_ms IS NOT NULL FROM sweep"), "1");
    terminal_press(t, "1");
    live_run(t); /* the bench is as it was */
    terminal_await_match(t, "batch/GPU +8 ");
    live_quit(t);
}

static bool has_cell(struct terminal *t, void *program)
{
    (void)t;
    return database_number(program, "SELECT count(*) FROM run WHERE outcome = 'ok'") >= 1;
}

static void a_stopped_sweep_goes_on_where_it_was(void **state)
{
    struct program *p = *state;
    struct terminal *t = sweep_ready(p, "1000", "1");
    terminal_press(t, "s");
    terminal_await(t, "SWEEPING");
    terminal_await(t, "now ");
    terminal_await_that(t, has_cell, p, "a cell that has ended");
    terminal_press(t, "Ctrl-C");
    terminal_await(t, "READY");
    terminal_await(t, "stopped; s goes on");
    assert_false(terminal_has(t, "all cells have ended"));
    double ended = database_number(p, "SELECT count(*) FROM run WHERE outcome = 'ok'");
    assert_true(ended >= 1 && ended < 4);
    assert_string_equal(database_text(p, "SELECT count(*) FROM run WHERE outcome = 'running'"),
                        "0");
    terminal_press(t, "s");
    terminal_await(t, "all cells have ended");
    terminal_await(t, "READY");
    assert_string_equal(database_text(p, "SELECT count(*) FROM run WHERE outcome = 'ok'"), "4");
    assert_string_equal(
        database_text(p, "SELECT count(DISTINCT settings) FROM sweep_point p JOIN run r ON r.id = "
                         "p.run_id WHERE r.outcome = 'ok'"),
        "4");
    terminal_await(t, "before"); /* cells of the first time are told apart */
    live_quit(t);
}

/* The run that is open is ended by a "y" alone; every cell has what the grid shows of options that do not vary. */
static void a_sweep_asks_before_it_ends_a_run_and_keeps_the_bench(void **state)
{
    struct program *p = *state;
    struct terminal_options options = {.rows = 40, .columns = 120};
    struct terminal *t =
        program_start(p, &options, "mlp", "--backend", "host", "--gpus", "2", "--batch", "8",
                      "--strategy", "gradients", "--cpu-relocation", NULL);
    terminal_await(t, "READY");
    live_run(t);
    live_pause(t);
    terminal_press(t, "6");
    terminal_await(t, "nothing varies yet");
    grid_set(t, "steps a cell", "20");
    grid_set(t, "repeats", "1");
    grid_set(t, "cpu_merge", "false, true");
    terminal_press(t, "s");
    terminal_await_match(t,
                         "end run 1 after [0-9]+ steps? and give its devices to the sweep\\? y/N");
    terminal_press(t, "n");
    live_rest(t);
    assert_true(terminal_has(t, "PAUSED"));
    live_command(t, "sweep { grid = { batch = {1, 2} } }"); /* typed, it is the same */
    terminal_await(t, "to the sweep? y/N");
    terminal_press(t, "n");
    live_rest(t);
    terminal_press(t, "s");
    terminal_await(t, "to the sweep? y/N");
    terminal_press(t, "y");
    terminal_await(t, "all cells have ended");
    terminal_await(t, "READY");
    assert_string_equal(
        database_text(p, "SELECT group_concat(DISTINCT gpus || ' ' || batch_per_gpu || ' ' || "
                         "strategy || ' ' || cpu_relocation || ' ' || weights_at) FROM segment"),
        "2 8 gradients 1 /cpu:0");
    assert_string_equal(database_text(p, "SELECT count(*) FROM sweep_point"), "2");
    terminal_press(t, "Right");
    terminal_press(t, "Enter");
    terminal_await(t, "placement in effect");
    assert_true(terminal_has(t, "base, the first cell that ran"));
    terminal_await_match(t, "strategy +gradients");
    terminal_press(t, "Esc");
    terminal_await(t, "GRID");
    terminal_press(t, "s"); /* nothing is left to run */
    terminal_await(t, "nothing was run: all 2 cells had ended before");
    live_quit(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_grid_runs_through_and_its_best_is_marked, live_begin,
                                        live_end),
        cmocka_unit_test_setup_teardown(a_stopped_sweep_goes_on_where_it_was, live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_sweep_asks_before_it_ends_a_run_and_keeps_the_bench,
                                        live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
