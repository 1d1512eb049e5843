/* The sweep screen: the grid that is edited, the table that a start makes of it, and a sweep that fills in. */
#include "app/tui/sweep_grid.h"
#include "tests/app/script/run_text.h"
#include "tests/app/tui/fixture.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sweep_grid grid_of(const char *name)
{
    struct sweep_grid grid = {.steps = 50, .repeats = 5};
    snprintf(grid.name, sizeof grid.name, "%s", name);
    return grid;
}

static void grid_set(struct sweep_grid *grid, enum mgb_option_id option, const char *values)
{
    assert_ok(sweep_grid_check(NULL, option, values));
    snprintf(grid->values[option], SWEEP_VALUES, "%s", values);
}

static void written(const struct sweep_grid *grid, const char *wanted)
{
    char *text;
    assert_ok(sweep_grid_write(&text, grid));
    assert_string_equal(text, wanted);
    free(text);
}

static void values_are_written_as_lua_takes_them(void **state)
{
    (void)state;
    struct sweep_grid grid = grid_of("t");
    grid_set(&grid, MGB_OPTION_GPUS, "1, 2,4");
    grid_set(&grid, MGB_OPTION_CPU_MERGE, "true,false");
    grid_set(&grid, MGB_OPTION_STRATEGY, "outputs, allreduce");
    written(&grid,
            "{ name = \"t\", steps = 50, repeats = 5, resume = true, grid = { gpus = {1, 2, 4}, "
            "cpu_merge = {true, false}, strategy = {\"outputs\", \"allreduce\"}, } }");
    assert_int_equal(sweep_grid_cells(&grid), 12);
}

static void every_kind_of_option_has_its_form(void **state)
{
    (void)state;
    struct sweep_grid grid = grid_of("a \"b\" \\ c\n");
    grid_set(&grid, MGB_OPTION_GPUS, "{2,0}, 1, {0}");
    grid_set(&grid, MGB_OPTION_WEIGHTS_AT, "/gpu:0, cpu:0, spread");
    grid_set(&grid, MGB_OPTION_BUCKET_MIB, "0.5, 25");
    grid_set(&grid, MGB_OPTION_PEER_ACCESS, "auto, on, off");
    grid_set(&grid, MGB_OPTION_GPU_MEMORY, "4GiB, 512MiB");
    grid_set(&grid, MGB_OPTION_THREADS, "auto, 2");
    char *text, script[2000];
    assert_ok(sweep_grid_write(&text, &grid));
    snprintf(script, sizeof script,
             "local t = %s\n"
             "assert(t.name == 'a \"b\" \\\\ c\\n', t.name)\n"
             "local g = t.grid\n"
             "assert(#g.gpus == 3 and g.gpus[1][1] == 2 and g.gpus[1][2] == 0 and g.gpus[2] == 1)\n"
             "assert(g.gpus[3][1] == 0)\n"
             "assert(g.weights_at[1] == '/gpu:0' and g.weights_at[3] == 'spread')\n"
             "assert(g.bucket_mib[1] == 0.5 and g.bucket_mib[2] == 25)\n"
             "assert(g.peer_access[1] == 'auto' and g.peer_access[2] == true)\n"
             "assert(g.peer_access[3] == false)\n"
             "assert(g.gpu_memory[1] == '4GiB' and g.threads[1] == 'auto' and g.threads[2] == 2)\n",
             text);
    free(text);
    passes(script);
}

/* What mgb.sweep makes of it: it gets as far as the model, which is what a bench would give. */
static void the_sweep_takes_the_table(void **state)
{
    (void)state;
    struct sweep_grid grid = grid_of("t");
    char *text, script[2000];
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        const struct mgb_option *o = &mgb_placement_options()[i];
        if (o->kind == MGB_KIND_BOOL || o->kind == MGB_KIND_CHOICE)
            grid_set(&grid, o->id, "true, false");
    }
    assert_ok(sweep_grid_write(&text, &grid));
    snprintf(script, sizeof script,
             "local ok, message = pcall(mgb.sweep, %s)\n"
             "assert(not ok and not tostring(message):find('grid'), message)\n",
             text);
    free(text);
    passes(script);
}

static void a_value_that_cannot_be_is_told(void **state)
{
    (void)state;
    int count;
    assert_status(sweep_grid_check(&count, MGB_OPTION_BATCH, "32, 0"), MGB_INVALID);
    assert_message("batch");
    assert_status(sweep_grid_check(&count, MGB_OPTION_STRATEGY, "output"), MGB_INVALID);
    assert_status(sweep_grid_check(&count, MGB_OPTION_GPUS, "1,,2"), MGB_INVALID);
    assert_message("between two commas");
    assert_status(sweep_grid_check(&count, MGB_OPTION_PEER_ACCESS, "on, true"), MGB_INVALID);
    assert_message("twice");
    assert_ok(sweep_grid_check(&count, MGB_OPTION_GPUS, " 1 , {0,1} "));
    assert_int_equal(count, 2);
    assert_ok(sweep_grid_check(&count, MGB_OPTION_GPUS, ""));
    assert_int_equal(count, 0);
}

static void a_grid_that_is_none_is_refused_with_the_reason(void **state)
{
    (void)state;
    char *text;
    struct sweep_grid grid = grid_of("t");
    assert_status(sweep_grid_write(&text, &grid), MGB_INVALID);
    assert_message("nothing varies");
    grid_set(&grid, MGB_OPTION_BATCH, "32");
    grid_set(&grid, MGB_OPTION_GLOBAL_BATCH, "64");
    assert_status(sweep_grid_write(&text, &grid), MGB_INVALID);
    assert_message("exclude");
    grid = grid_of("t");
    char numbers[SWEEP_VALUES] = "1";
    for (int i = 2; i < 50; i++)
        snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), ",%d", i);
    grid_set(&grid, MGB_OPTION_BATCH, numbers);
    grid_set(&grid, MGB_OPTION_GPUS, numbers);
    grid_set(&grid, MGB_OPTION_THREADS, numbers);
    assert_int_equal(sweep_grid_cells(&grid), 49 * 49 * 49);
    assert_status(sweep_grid_write(&text, &grid), MGB_INVALID);
    assert_message("more than");
}

/* --- the view --- */
struct screen {
    struct fixture *fixture;
    struct tui_scene scene;
    struct fixture_desk desk;
    void *state;
};

static struct screen view_make(bool with_sweep)
{
    struct screen s = {.fixture = fixture_make(4), .state = calloc(1, tui_view_sweep.state_size)};
    assert_non_null(s.fixture);
    assert_non_null(s.state);
    if (!with_sweep) {
        mgb_shared_drop(s.fixture->snapshot.sweep);
        s.fixture->snapshot.sweep = NULL;
        s.fixture->snapshot.state = MGB_BENCH_READY;
    }
    fixture_scene(&s.scene, s.fixture);
    return s;
}

static void view_free(struct screen *s)
{
    free(s->state);
    fixture_free(s->fixture);
}

static char *drawn(struct screen *s, int rows, int columns)
{
    struct tui_canvas canvas;
    assert_true(tui_canvas_init(&canvas, rows, columns, false));
    tui_view_sweep.draw(s->state, &canvas, tui_canvas_whole(&canvas), &s->scene);
    char *text = tui_canvas_text(&canvas);
    tui_canvas_done(&canvas);
    assert_non_null(text);
    return text;
}

static void shows(struct screen *s, const char *words)
{
    char *text = drawn(s, 20, 80);
    if (!strstr(text, words))
        fail_msg("'%s' is not in\n%s", words, text);
    free(text);
}

static void act(struct screen *s, enum tui_action action)
{
    tui_view_sweep.act(s->state, action, &s->scene, &s->desk.desk);
}

/* Edits the row of this name. */
static void edit(struct screen *s, const char *name, const char *values)
{
    s->scene.filter = name;
    free(drawn(s, 20, 80));
    act(s, TUI_ACT_FIRST);
    act(s, TUI_ACT_EDIT_GRID);
    fixture_desk_answer(&s->desk, values);
    s->scene.filter = "";
}

static void a_grid_is_edited_counted_and_started(void **state)
{
    (void)state;
    struct screen s = view_make(false);
    fixture_desk_init(&s.desk);
    shows(&s, "nothing varies yet");
    act(&s, TUI_ACT_START_SWEEP);
    assert_int_equal(s.desk.asked, 0);
    assert_non_null(strstr(s.desk.said_text, "nothing varies"));
    edit(&s, "gpus", "1, 2, 4");
    edit(&s, "peer_access", "on, off");
    edit(&s, "repeats", "3");
    edit(&s, "steps", "20");
    shows(&s, "6 cells x 3 repeats = 18 runs of 20 steps");
    shows(&s, "+gpus");
    act(&s, TUI_ACT_START_SWEEP);
    assert_int_equal(s.desk.asked, 1);
    assert_int_equal(s.desk.wish.kind, MGB_WISH_SWEEP);
    assert_string_equal(
        s.desk.wish_text,
        "{ name = \"bench\", steps = 20, repeats = 3, resume = true, grid = { gpus = "
        "{1, 2, 4}, peer_access = {true, false}, } }");
    view_free(&s);
}

static void what_may_be_typed_is_offered(void **state)
{
    (void)state;
    struct screen s = view_make(false);
    fixture_desk_init(&s.desk);
    edit(&s, "cpu_merge", NULL);
    assert_string_equal(s.desk.question, "cpu_merge (false, true), values with commas: ");
    assert_string_equal(s.desk.initial, "false, true");
    edit(&s, "strategy", "outputs, gradients");
    assert_string_equal(s.desk.initial, "outputs, gradients, allreduce, independent");
    edit(&s, "strategy", NULL);
    assert_string_equal(s.desk.initial, "outputs, gradients");
    edit(&s, "gpus", NULL);
    assert_string_equal(s.desk.initial, "");
    view_free(&s);
}

/* The row of the grid has these words. */
static void row_shows(struct screen *s, const char *name, const char *words)
{
    s->scene.filter = name;
    shows(s, words);
    s->scene.filter = "";
}

static void rows_that_do_not_vary_say_what_is_in_force(void **state)
{
    (void)state;
    struct screen s = view_make(false);
    struct mgb_facts_option *of = s.fixture->facts.options;
    fixture_desk_init(&s.desk);
    strcpy(of[MGB_OPTION_WEIGHTS_AT].asked, "/gpu:1");
    strcpy(of[MGB_OPTION_WEIGHTS_AT].effective, "/gpu:1");
    strcpy(of[MGB_OPTION_BATCH].asked, "32");
    strcpy(of[MGB_OPTION_BATCH].effective, "32");
    strcpy(of[MGB_OPTION_GLOBAL_BATCH].asked, "");
    strcpy(of[MGB_OPTION_GLOBAL_BATCH].effective, "128");
    s.fixture->facts.batch_mode = MGB_BATCH_PER_GPU;
    strcpy(of[MGB_OPTION_BUCKET_MIB].asked, "25");
    of[MGB_OPTION_BUCKET_MIB].effective[0] = '\0';
    row_shows(&s, "weights_at", "weights_at      /gpu:1\n");
    row_shows(&s, "global_batch", "n/a: follows from batch (on the bench 128)");
    row_shows(&s, "bucket_mib", "bucket_mib      n/a\n");
    edit(&s, "cpu_relocation", "true, false");
    row_shows(&s, "weights_at", "left out: cpu_relocation varies (on the bench /gpu:1)");
    edit(&s, "global_batch", "64, 128");
    s.scene.filter = "batch";
    shows(&s, "n/a: follows from global_batch");
    view_free(&s);
}

static void a_wrong_value_leaves_the_old_ones(void **state)
{
    (void)state;
    struct screen s = view_make(false);
    fixture_desk_init(&s.desk);
    edit(&s, "gpus", "1, 2");
    edit(&s, "gpus", "1, two");
    assert_int_equal(s.desk.said_kind, MGB_LINE_FAULT);
    assert_non_null(strstr(s.desk.said_text, "gpus"));
    edit(&s, "gpus", NULL);
    edit(&s, "steps", "0");
    assert_non_null(strstr(s.desk.said_text, "1 to"));
    edit(&s, "name", "");
    assert_non_null(strstr(s.desk.said_text, "sweep: a name without commas"));
    edit(&s, "name", "a,b");
    assert_non_null(strstr(s.desk.said_text, "sweep: a name without commas"));
    shows(&s, "bench");
    shows(&s, "2 cells x 5 repeats = 10 runs of 50 steps");
    edit(&s, "gpus", "");
    shows(&s, "nothing varies yet");
    view_free(&s);
}

static void a_sweep_that_runs_shows_how_far_it_is(void **state)
{
    (void)state;
    struct screen s = view_make(true);
    fixture_desk_init(&s.desk);
    shows(&s, "scaling: 6 of 8");
    shows(&s, "2:11, 52 s left");
    shows(&s, "now gpus=4 cpu_relocation=true");
    shows(&s, "* Fastest so far: gpus=4 cpu_relocation=false, 1.871 ms an example");
    shows(&s, "base ");
    shows(&s, "refused ");
    shows(&s, "out of memory: /gpu:0 needs");
    shows(&s, "same       before");
    char *text = drawn(&s, 20, 80);
    const char *row = strstr(text, "Fastest so far:");
    assert_non_null(row);
    row = strchr(row, '*'); /* that of the table */
    assert_non_null(row);
    assert_int_equal(strncmp(row, "* 4", 3), 0);
    free(text);
    s.fixture->snapshot.state = MGB_BENCH_SWEEPING;
    act(&s, TUI_ACT_START_SWEEP);
    assert_int_equal(s.desk.asked, 0);
    assert_non_null(strstr(s.desk.said_text, "Ctrl-C"));
    s.fixture->sweep.cell[0] = '\0';
    shows(&s, "looking for cells that have ended");
    s.fixture->snapshot.state = MGB_BENCH_READY;
    shows(&s, "stopped; s goes on");
    s.fixture->sweep.done = true;
    s.fixture->sweep.ran = 6;
    shows(&s, "done in 2:11");
    shows(&s, "all cells have ended");
    s.fixture->sweep.ran = 0;
    shows(&s, "all ended before: change the grid or the name");
    view_free(&s);
}

static void right_goes_to_the_cells_and_enter_shows_one(void **state)
{
    (void)state;
    struct screen s = view_make(true);
    fixture_desk_init(&s.desk);
    free(drawn(&s, 20, 80));
    act(&s, TUI_ACT_RIGHT);
    free(drawn(&s, 20, 80));
    for (int i = 0; i < 3; i++)
        act(&s, TUI_ACT_DOWN);
    act(&s, TUI_ACT_OPEN);
    assert_int_equal(s.desk.shown, 1);
    assert_non_null(strstr(s.desk.shown_text, "gpus=2"));
    assert_non_null(strstr(s.desk.shown_text, "out of memory"));
    act(&s, TUI_ACT_LAST);
    act(&s, TUI_ACT_OPEN);
    assert_non_null(strstr(s.desk.shown_text, "verdict   refused: repetition 2 never"));
    assert_non_null(strstr(s.desk.shown_text, "placement in effect\n  gpus            4\n"));
    act(&s, TUI_ACT_LEFT);
    act(&s, TUI_ACT_OPEN);
    assert_int_equal(s.desk.prompted, 1);
    view_free(&s);
}

static void a_filter_takes_what_it_finds_in_hand_and_leaves_it_there(void **state)
{
    (void)state;
    struct screen s = view_make(false);
    fixture_desk_init(&s.desk);
    shows(&s, "> name");
    act(&s, TUI_ACT_DOWN);
    act(&s, TUI_ACT_DOWN);
    s.scene.filter = "global";
    shows(&s, "> global_batch");
    act(&s, TUI_ACT_DOWN);
    shows(&s, "  global_batch");
    act(&s, TUI_ACT_UP);
    s.scene.filter = "";
    shows(&s, "> global_batch");
    act(&s, TUI_ACT_DOWN);
    shows(&s, "> cpu_relocation");
    view_free(&s);
}

static char kept[40][2][300];
static int kept_count;

static void keep(void *context, const char *name, const char *value)
{
    (void)context;
    assert_true(kept_count < 40);
    snprintf(kept[kept_count][0], 300, "%s", name);
    snprintf(kept[kept_count++][1], 300, "%s", value);
}

static void a_grid_comes_back_from_the_settings(void **state)
{
    (void)state;
    struct screen s = view_make(false), again = view_make(false);
    fixture_desk_init(&s.desk);
    fixture_desk_init(&again.desk);
    edit(&s, "gpus", "{0,1}, 2");
    edit(&s, "strategy", "outputs, gradients");
    edit(&s, "name", "mine");
    kept_count = 0;
    tui_view_sweep.save(s.state, keep, NULL);
    for (int i = 0; i < kept_count; i++)
        assert_true(tui_view_sweep.load(again.state, kept[i][0], kept[i][1]));
    act(&s, TUI_ACT_START_SWEEP);
    act(&again, TUI_ACT_START_SWEEP);
    assert_int_equal(again.desk.asked, 1);
    assert_string_equal(s.desk.wish_text, again.desk.wish_text);
    assert_false(tui_view_sweep.load(again.state, "grid", "gpus=nonsense"));
    assert_false(tui_view_sweep.load(again.state, "steps", "-1"));
    assert_false(tui_view_sweep.load(again.state, "colour", "red"));
    view_free(&s);
    view_free(&again);
}

static void any_size_is_drawn_without_a_fault(void **state)
{
    (void)state;
    for (int with = 0; with < 2; with++) {
        struct screen s = view_make(with);
        fixture_desk_init(&s.desk);
        fixture_set_unknown(s.fixture);
        for (int rows = 6; rows < 30; rows++)
            for (int columns = 40; columns < 130; columns += 7) {
                free(drawn(&s, rows, columns));
                act(&s, rows % 2 ? TUI_ACT_PAGE_DOWN : columns % 2 ? TUI_ACT_RIGHT : TUI_ACT_UP);
            }
        view_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_written_as_lua_takes_them),
        cmocka_unit_test(every_kind_of_option_has_its_form),
        cmocka_unit_test(the_sweep_takes_the_table),
        cmocka_unit_test(a_value_that_cannot_be_is_told),
        cmocka_unit_test(a_grid_that_is_none_is_refused_with_the_reason),
        cmocka_unit_test(a_grid_is_edited_counted_and_started),
        cmocka_unit_test(what_may_be_typed_is_offered),
        cmocka_unit_test(rows_that_do_not_vary_say_what_is_in_force),
        cmocka_unit_test(a_wrong_value_leaves_the_old_ones),
        cmocka_unit_test(a_sweep_that_runs_shows_how_far_it_is),
        cmocka_unit_test(right_goes_to_the_cells_and_enter_shows_one),
        cmocka_unit_test(a_filter_takes_what_it_finds_in_hand_and_leaves_it_there),
        cmocka_unit_test(a_grid_comes_back_from_the_settings),
        cmocka_unit_test(any_size_is_drawn_without_a_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
