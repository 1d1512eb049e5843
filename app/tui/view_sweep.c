/* The sweep screen: a grid is edited, started, and seen to fill in. */
#include "app/tui/desk.h"
#include "app/tui/screen_private.h"
#include "app/tui/sweep_grid.h"
#include "app/tui/sweep_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_NAME, ROW_STEPS, ROW_REPEATS, ROW_OPTIONS, MOST_ROWS = ROW_OPTIONS + MGB_OPTION_COUNT };
enum { NAME_AT = 2, VALUES_AT = 18, LEAST_EDITOR = 5 };

struct sweep_state {
    bool made; /* the grid has its first figures */
    struct sweep_grid grid;
    struct tui_list editor, table;
    bool table_has_keys;
    int shown[MOST_ROWS], shown_count; /* rows of the editor that pass the filter */
    char filter[128];                  /* that they passed */
    int editing;                       /* the row a prompt is about */
    struct tui_rect editor_rows, table_rows;
};

static void grid_begin(struct sweep_state *state)
{
    if (state->made)
        return;
    state->made = true;
    if (!*state->grid.name)
        strcpy(state->grid.name, "bench");
    if (!state->grid.steps)
        state->grid.steps = 50;
    if (!state->grid.repeats)
        state->grid.repeats = 5;
}

static const char *row_name(int row)
{
    static const char *const own[] = {"name", "steps a cell", "repeats"};
    return row < ROW_OPTIONS ? own[row] : mgb_placement_options()[row - ROW_OPTIONS].name;
}

static const char *row_help(int row)
{
    static const char *const own[] = {
        "cells of this name that have ended are not run again",
        "how many steps every cell runs; warm-up is told apart by itself",
        "how often the grid is run, in another order each time; verdicts need 5"};
    return row < ROW_OPTIONS ? own[row] : mgb_placement_options()[row - ROW_OPTIONS].help;
}

static void row_text(char *out, size_t size, const struct sweep_state *state, int row)
{
    if (row == ROW_NAME)
        snprintf(out, size, "%s", state->grid.name);
    else if (row < ROW_OPTIONS)
        snprintf(out, size, "%d", row == ROW_STEPS ? state->grid.steps : state->grid.repeats);
    else
        snprintf(out, size, "%s", state->grid.values[row - ROW_OPTIONS]);
}

static int row_in_hand(const struct sweep_state *state)
{
    return state->editor.at >= 0 && state->editor.at < state->shown_count
               ? state->shown[state->editor.at]
               : -1;
}

/* A new filter takes the first row that passes in hand; one that ends leaves the row that was. */
static void rows_choose(struct sweep_state *state, const struct tui_scene *scene)
{
    char text[320];
    int hand = row_in_hand(state);
    bool changed = strncmp(state->filter, scene->filter, sizeof state->filter - 1) != 0;
    snprintf(state->filter, sizeof state->filter, "%s", scene->filter);
    state->editor.at = changed ? 0 : state->editor.at;
    state->shown_count = 0;
    for (int row = 0; row < MOST_ROWS; row++) {
        snprintf(text, sizeof text, "%s %s", row_name(row), row_help(row));
        if (!tui_filter_passes(scene->filter, text))
            continue;
        if (changed && row == hand && !*scene->filter)
            state->editor.at = state->shown_count;
        state->shown[state->shown_count++] = row;
    }
    tui_list_fit(&state->editor, state->shown_count, state->editor.fits);
}

static void row_draw(const struct sweep_state *state, struct tui_canvas *canvas,
                     struct tui_rect row, int which, const struct tui_scene *scene)
{
    char text[240], count_text[24];
    row_text(text, sizeof text, state, which);
    bool option = which >= ROW_OPTIONS, varies = option && *text;
    tui_put(canvas, row, 0, 1, TUI_MARKED, varies ? "+" : " ");
    tui_put(canvas, row, 0, NAME_AT, varies ? TUI_STRONG : TUI_PLAIN, row_name(which));
    if (option && !varies) {
        sweep_grid_fixed(text, sizeof text, &state->grid, scene->snapshot->facts,
                         (enum mgb_option_id)(which - ROW_OPTIONS));
        tui_put(canvas, row, 0, VALUES_AT, TUI_DIM, text);
        return;
    }
    tui_put(canvas, row, 0, VALUES_AT, TUI_STRONG, text);
    int count = 0;
    if (!varies || sweep_grid_check(&count, (enum mgb_option_id)(which - ROW_OPTIONS), text))
        return;
    snprintf(count_text, sizeof count_text, count == 1 ? "  1 value " : "  %d values", count);
    tui_put_right(canvas, row, 0, row.columns, TUI_DIM, count_text);
}

static void title_draw(const struct sweep_state *state, struct tui_canvas *canvas,
                       struct tui_rect area, const struct tui_scene *scene)
{
    char right[120];
    int64_t cells = sweep_grid_cells(&state->grid);
    const struct sweep_grid *g = &state->grid;
    if (cells == 0)
        snprintf(right, sizeof right, "nothing varies yet");
    else
        snprintf(right, sizeof right, "%lld cell%s x %d repeat%s = %lld run%s of %d steps%s",
                 (long long)cells, cells == 1 ? "" : "s", g->repeats, g->repeats == 1 ? "" : "s",
                 (long long)cells * g->repeats, cells * g->repeats == 1 ? "" : "s", g->steps,
                 sweep_time_write((char[40]){0}, 40, g, scene->snapshot));
    tui_rule(canvas, area, 0, "GRID", right);
}

static void editor_draw(struct sweep_state *state, struct tui_canvas *canvas, struct tui_rect area,
                        const struct tui_scene *scene)
{
    struct tui_rect rows = tui_rect_inside(area, 1, 0);
    rows.rows -= rows.rows > 1; /* the help of the row in hand */
    state->editor_rows = rows;
    tui_list_fit(&state->editor, state->shown_count, rows.rows);
    title_draw(state, canvas, area, scene);
    for (int y = 0; y < rows.rows && state->editor.top + y < state->shown_count; y++) {
        struct tui_rect row = tui_rect_row(rows, y);
        row_draw(state, canvas, row, state->shown[state->editor.top + y], scene);
        if (!state->table_has_keys && state->editor.top + y == state->editor.at)
            tui_list_hand(canvas, row);
    }
    int which = row_in_hand(state);
    if (which >= 0)
        tui_put(canvas, area, area.rows - 1, NAME_AT, TUI_DIM, row_help(which));
    else
        tui_put(canvas, rows, 0, 1, TUI_DIM, "no option is like that; Esc shows all");
}

static void sweep_draw(void *private, struct tui_canvas *canvas, struct tui_rect area,
                       const struct tui_scene *scene)
{
    struct sweep_state *state = private;
    struct tui_rect editor = area;
    grid_begin(state);
    rows_choose(state, scene);
    if (!scene->snapshot->sweep) {
        state->table_has_keys = false;
        editor_draw(state, canvas, editor, scene);
        return;
    }
    editor.rows = area.rows / 3 > LEAST_EDITOR ? area.rows / 3 : LEAST_EDITOR;
    if (state->table_has_keys && area.rows < 12)
        editor.rows = 0; /* one of the two, the other with Left and Right */
    if (editor.rows > 0)
        editor_draw(state, canvas, editor, scene);
    sweep_table_draw(canvas, tui_rect_inside(area, editor.rows, 0), &state->table,
                     &state->table_rows, scene, state->table_has_keys);
}

static bool number_read(int *out, const char *text, int most)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (end == text || end[strspn(end, " ")] || number < 1 || number > most)
        return false;
    *out = (int)number;
    return true;
}

static void figure_answer(struct sweep_state *state, struct tui_desk *desk, const char *text)
{
    bool steps = state->editing == ROW_STEPS;
    char line[120];
    int most = steps ? SWEEP_MOST_STEPS : SWEEP_MOST_REPEATS;
    if (number_read(steps ? &state->grid.steps : &state->grid.repeats, text, most))
        return;
    snprintf(line, sizeof line, "%s: a number from 1 to %d expected, got '%.40s'",
             row_name(state->editing), most, text);
    desk->say(desk, MGB_LINE_FAULT, line);
}

static void values_answer(struct sweep_state *state, struct tui_desk *desk, const char *text)
{
    enum mgb_option_id option = (enum mgb_option_id)(state->editing - ROW_OPTIONS);
    int count;
    text += strspn(text, " ");
    if (strlen(text) >= SWEEP_VALUES)
        desk->say(desk, MGB_LINE_FAULT, "the list is too long; the values are as they were");
    else if (sweep_grid_check(&count, option, text) != MGB_OK)
        desk->say(desk, MGB_LINE_FAULT, mgb_message_get());
    else
        strcpy(state->grid.values[option], text);
}

static void row_answer(void *context, struct tui_desk *desk, const char *text)
{
    struct sweep_state *state = context;
    if (!text)
        return;
    if (state->editing >= ROW_OPTIONS)
        values_answer(state, desk, text);
    else if (state->editing != ROW_NAME)
        figure_answer(state, desk, text);
    else if (mgb_name_check("sweep", text) == MGB_OK)
        strcpy(state->grid.name, text);
    else
        desk->say(desk, MGB_LINE_FAULT, mgb_message_get());
}

/* "cpu_merge (false, true), values with commas: ": what may be typed is there, and all of it where nothing varies yet. */
static void question_write(char *out, size_t size, char initial[SWEEP_VALUES],
                           enum mgb_option_id option)
{
    char choices[SWEEP_VALUES];
    sweep_grid_choices(choices, sizeof choices, option);
    snprintf(out, size, *choices ? "%s (%s), values with commas: " : "%s%s, values with commas: ",
             mgb_placement_options()[option].name, choices);
    if (!*initial)
        strcpy(initial, choices);
}

static void row_edit(struct sweep_state *state, struct tui_desk *desk)
{
    char question[120], initial[SWEEP_VALUES];
    int row = row_in_hand(state);
    if (row < 0)
        return;
    state->editing = row;
    row_text(initial, sizeof initial, state, row);
    if (row < ROW_OPTIONS)
        snprintf(question, sizeof question, "%s: ", row_name(row));
    else
        question_write(question, sizeof question, initial, (enum mgb_option_id)(row - ROW_OPTIONS));
    desk->prompt(desk, question, initial, row_answer, state);
}

static void start(struct sweep_state *state, const struct tui_scene *scene, struct tui_desk *desk)
{
    char *text;
    if (scene->snapshot->state == MGB_BENCH_SWEEPING) {
        desk->say(desk, MGB_LINE_WARNING, "a sweep runs already; Ctrl-C stops it");
    } else if (sweep_grid_write(&text, &state->grid) != MGB_OK) {
        desk->say(desk, MGB_LINE_FAULT, mgb_message_get());
    } else {
        desk->ask(desk, &(struct mgb_wish){.kind = MGB_WISH_SWEEP, .text = text});
        free(text);
    }
}

static void cell_show(const struct sweep_state *state, const struct mgb_bench_sweep *sweep,
                      struct tui_desk *desk)
{
    char text[3000];
    sweep_table_detail(text, sizeof text, sweep, state->table.at);
    if (*text)
        desk->show(desk, "a cell of the sweep", text);
}

static bool sweep_act(void *private, enum tui_action action, const struct tui_scene *scene,
                      struct tui_desk *desk)
{
    struct sweep_state *state = private;
    const struct mgb_bench_sweep *sweep = scene->snapshot->sweep;
    grid_begin(state);
    rows_choose(state, scene);
    state->table_has_keys &= sweep != NULL;
    if (action == TUI_ACT_START_SWEEP)
        start(state, scene, desk);
    else if (sweep && (action == TUI_ACT_LEFT || action == TUI_ACT_RIGHT))
        state->table_has_keys = action == TUI_ACT_RIGHT;
    else if (action == TUI_ACT_OPEN && state->table_has_keys)
        cell_show(state, sweep, desk);
    else if (action == TUI_ACT_EDIT_GRID || action == TUI_ACT_OPEN)
        row_edit(state, desk);
    else
        return tui_list_act(state->table_has_keys ? &state->table : &state->editor, action);
    return true;
}

static void sweep_click(void *private, int y, int x, int wheel, const struct tui_scene *scene,
                        struct tui_desk *desk)
{
    struct sweep_state *state = private;
    (void)desk;
    bool table = scene->snapshot->sweep && y >= state->table_rows.y;
    if (!wheel)
        state->table_has_keys = table;
    if (table)
        tui_list_click(&state->table, state->table_rows, y, x, wheel);
    else
        tui_list_click(&state->editor, state->editor_rows, y, x, wheel);
}

static void sweep_save(void *private, void (*put)(void *, const char *, const char *),
                       void *context)
{
    struct sweep_state *state = private;
    char text[256], figure[24];
    grid_begin(state);
    put(context, "name", state->grid.name);
    snprintf(figure, sizeof figure, "%d", state->grid.steps);
    put(context, "steps", figure);
    snprintf(figure, sizeof figure, "%d", state->grid.repeats);
    put(context, "repeats", figure);
    sweep_grid_save(text, sizeof text, &state->grid);
    put(context, "grid", text);
}

static bool sweep_load(void *private, const char *name, const char *value)
{
    struct sweep_state *state = private;
    if (strcmp(name, "steps") == 0)
        return number_read(&state->grid.steps, value, SWEEP_MOST_STEPS);
    if (strcmp(name, "repeats") == 0)
        return number_read(&state->grid.repeats, value, SWEEP_MOST_REPEATS);
    if (strcmp(name, "grid") == 0)
        return sweep_grid_load(&state->grid, value);
    if (strcmp(name, "name") != 0 || mgb_name_check("sweep", value) != MGB_OK)
        return false;
    strcpy(state->grid.name, value);
    return true;
}

static void sweep_hint(void *private, struct tui_canvas *canvas, struct tui_rect row,
                       const struct tui_scene *scene)
{
    static const struct tui_hint of_grid[] = {
        {"e", "edit"},   {"s", "start, go on"}, {"Ctrl-C", "stop"}, {"Left Right", "grid, cells"},
        {"/", "filter"}, {"?", "help"},         {"q", "quit"}};
    static const struct tui_hint of_cells[] = {
        {"Enter", "all of a cell"}, {"s", "start, go on"}, {"Ctrl-C", "stop"},
        {"Left", "grid"},           {"?", "help"},         {"q", "quit"}};
    const struct sweep_state *state = private;
    (void)scene;
    if (state->table_has_keys)
        tui_hints_draw(canvas, row, of_cells, 6);
    else
        tui_hints_draw(canvas, row, of_grid, 7);
}

const struct tui_view tui_view_sweep = {
    .name = "Sweep",
    .place = TUI_ON_SWEEP,
    .state_size = sizeof(struct sweep_state),
    .draw = sweep_draw,
    .act = sweep_act,
    .click = sweep_click,
    .hint = sweep_hint,
    .save = sweep_save,
    .load = sweep_load,
};
