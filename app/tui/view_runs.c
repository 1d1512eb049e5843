/* The runs screen: what the results database holds, filtered and sorted by the archive, which gives a window of the list at
 * a time; marks, comparison, tags, notes, baselines, deletion are commands of mgbench. */
#include "app/tui/command.h"
#include "app/tui/runs.h"
#include "app/tui/screen_private.h"

#include <stdio.h>
#include <string.h>

enum { WINDOW = 400, LABELS_LEAST = 8 /* rows, to have one for labels */ };

static bool ascends(const struct runs_state *state)
{
    return state->sorts ? state->ascending : tui_runs_ascends(state->sort);
}

static void list_ask(struct runs_state *state, const struct tui_scene *scene, struct tui_desk *desk)
{
    snprintf(state->asked, sizeof state->asked, "%s", scene->filter);
    int64_t first = state->list.top - (WINDOW - state->list.fits) / 2;
    state->first = first > 0 ? first : 0;
    struct mgb_list_request request = {.filter = state->asked,
                                       .sort = state->sort,
                                       .ascending = ascends(state),
                                       .first = state->first,
                                       .most = WINDOW};
    desk->list(desk, &request);
}

static const struct mgb_list_row *row_at(const struct tui_scene *scene, int at)
{
    const struct mgb_list *runs = scene->runs;
    int64_t index = runs && at >= 0 ? at - runs->first : -1;
    return index >= 0 && index < runs->count ? &runs->rows[index] : NULL;
}

/* What is seen lies outside of the window: the next one is asked for, once. */
static void window_follow(struct runs_state *state, const struct tui_scene *scene,
                          struct tui_desk *desk)
{
    const struct tui_list *list = &state->list;
    int last = list->top + list->fits - 1;
    if (!scene->runs || *scene->runs->message || list->count == 0)
        return;
    last = last < list->count ? last : list->count - 1;
    bool here = row_at(scene, list->top) && row_at(scene, last);
    bool asked = list->top >= state->first && last < state->first + WINDOW;
    if (!here && (!asked || scene->runs->first == state->first))
        list_ask(state, scene, desk);
}

void tui_runs_filter(void *private, const struct tui_scene *scene, struct tui_desk *desk)
{
    struct runs_state *state = private;
    if (strncmp(state->asked, scene->filter, sizeof state->asked) == 0)
        return;
    const struct mgb_list_row *row = row_at(scene, state->list.at);
    if (row && !state->keep.run)
        state->keep = (struct runs_mark){row->run, row->number};
    state->list.at = state->list.top = 0;
    list_ask(state, scene, desk);
}

/* What was in hand is taken again where the filter lets it pass; where not, once it does, unless something else was taken. */
static void hand_find(struct runs_state *state, const struct tui_scene *scene)
{
    const struct mgb_list *runs = scene->runs;
    if (!state->keep.run || !runs || strcmp(runs->filter, scene->filter) != 0)
        return;
    for (int i = 0; i < runs->count; i++)
        if (runs->rows[i].run == state->keep.run && runs->rows[i].number == state->keep.number) {
            state->list.at = (int)runs->first + i;
            state->list.count = (int)runs->total;
            state->keep.run = 0;
            return;
        }
    if (!*scene->filter) /* it is not among them */
        state->keep.run = 0;
}

static bool is_marked(const struct runs_state *state, const struct mgb_list_row *row)
{
    for (int i = 0; i < RUNS_MARKS; i++)
        if (state->marks[i].run == row->run && state->marks[i].number == row->number)
            return true;
    return false;
}

static void rule_draw(const struct runs_state *state, struct tui_canvas *canvas,
                      struct tui_rect area, const struct tui_scene *scene)
{
    char right[120] = "", a[40], b[40];
    const struct mgb_list *runs = scene->runs;
    int marked = (state->marks[0].run != 0) + (state->marks[1].run != 0);
    if (marked == 2)
        snprintf(right, sizeof right, "marked %s, %s: c compares",
                 tui_runs_name(a, sizeof a, &state->marks[0]),
                 tui_runs_name(b, sizeof b, &state->marks[1]));
    else if (marked == 1)
        snprintf(right, sizeof right, "marked %s: c compares it with the one in hand",
                 tui_runs_name(a, sizeof a, &state->marks[0]));
    else if (runs && strcmp(runs->filter, scene->filter) != 0)
        snprintf(right, sizeof right, "looking for them...");
    tui_rule(canvas, area, 0, "RUNS", right);
    int x = 8;
    if (runs && runs->total > 0 && !*runs->message)
        tui_print(canvas, area, 0, x, TUI_DIM, " %d/%lld%s ", state->list.at + 1,
                  (long long)runs->total, *runs->filter ? " like that" : "");
}

/* Why there is no row; NULL: there are some. */
static const char *nothing_words(const struct tui_scene *scene)
{
    if (!scene->runs)
        return "reading the results database...";
    if (*scene->runs->message)
        return scene->runs->message;
    if (scene->runs->total > 0)
        return NULL;
    return *scene->runs->filter
               ? "no run is like that; Esc shows all. Words, or tag=NAME gpus=2 step_ms<50"
               : "no run is stored yet: 1, then Space, makes the first";
}

static void runs_draw(void *private, struct tui_canvas *canvas, struct tui_rect area,
                      const struct tui_scene *scene)
{
    struct runs_state *state = private;
    const char *nothing = nothing_words(scene);
    int64_t total = scene->runs && !nothing ? scene->runs->total : 0;
    bool labels = area.rows >= LABELS_LEAST;
    state->rows = tui_rect_inside(area, 2, 0);
    state->rows.rows -= labels;
    hand_find(state, scene);
    tui_list_fit(&state->list, (int)total, state->rows.rows);
    rule_draw(state, canvas, area, scene);
    if (nothing) {
        bool failed = scene->runs && *scene->runs->message;
        tui_print(canvas, area, 2, 1, failed ? TUI_BAD : TUI_DIM, "%s%s", failed ? "! " : "",
                  nothing);
        return;
    }
    struct tui_rect head = tui_rect_inside(tui_rect_row(area, 1), 0, 1);
    tui_table_fit(&state->table, tui_runs_columns, RUNS_COLUMNS, head.columns);
    tui_table_head(&state->table, tui_runs_columns, canvas, head,
                   tui_runs_column_of(scene->runs->sort), scene->runs->ascending);
    for (int y = 0; y < state->rows.rows && state->list.top + y < state->list.count; y++) {
        struct tui_rect row = tui_rect_row(state->rows, y);
        const struct mgb_list_row *run = row_at(scene, state->list.top + y);
        if (run)
            tui_runs_draw(canvas, tui_rect_inside(row, 0, 1), &state->table, run,
                          is_marked(state, run));
        else
            tui_put(canvas, row, 0, 1, TUI_DIM, "...");
        if (state->list.top + y == state->list.at)
            tui_list_hand(canvas, row);
    }
    const struct mgb_list_row *in_hand = row_at(scene, state->list.at);
    if (labels && in_hand)
        tui_runs_draw_labels(canvas, tui_rect_row(area, area.rows - 1), in_hand);
}

/* Marks and unmarks; of three the oldest goes. */
static void mark(struct runs_state *state, const struct mgb_list_row *row)
{
    struct runs_mark *marks = state->marks, fresh = {row->run, row->number};
    for (int i = 0; i < RUNS_MARKS; i++)
        if (marks[i].run == row->run && marks[i].number == row->number) {
            marks[i] = marks[1];
            marks[1] = (struct runs_mark){0};
            return;
        }
    if (marks[1].run != 0)
        marks[0] = marks[1];
    marks[marks[0].run == 0 ? 0 : 1] = fresh;
}

static void compare(struct runs_state *state, const struct mgb_list_row *row, struct tui_desk *desk)
{
    char line[120], a[40], b[40];
    struct runs_mark here = {row ? row->run : 0, row ? row->number : 0};
    const struct runs_mark *first = &state->marks[0];
    const struct runs_mark *second = state->marks[1].run ? &state->marks[1] : &here;
    bool same = first->run == second->run && first->number == second->number;
    if (first->run == 0 || second->run == 0 || same) {
        desk->say(desk, MGB_LINE_WARNING,
                  "m marks a run; c compares two marked ones, or the "
                  "marked one with the one in hand");
        return;
    }
    snprintf(line, sizeof line, "compare %s %s", tui_runs_name(a, sizeof a, first),
             tui_runs_name(b, sizeof b, second));
    desk->command(desk, line);
}

static bool row_act(struct runs_state *state, enum tui_action action, const struct tui_scene *scene,
                    struct tui_desk *desk)
{
    const struct mgb_list_row *row = row_at(scene, state->list.at);
    char line[80], name[40];
    if (action == TUI_ACT_COMPARE_MARKED) {
        compare(state, row, desk);
        return true;
    }
    if (!row) {
        desk->say(desk, MGB_LINE_WARNING, "there is no run in hand");
        return true;
    }
    state->target = (struct runs_mark){row->run, row->number};
    state->target_is_ours = scene->snapshot->recorded && scene->snapshot->now.run_id == row->run &&
                            scene->snapshot->state != MGB_BENCH_READY;
    state->recording = tui_is_recording(scene->snapshot);
    switch ((int)action) {
    case TUI_ACT_MARK:
        mark(state, row);
        state->keep.run = 0;
        tui_list_act(&state->list, TUI_ACT_DOWN);
        window_follow(state, scene, desk);
        return true;
    case TUI_ACT_OPEN:
        snprintf(line, sizeof line, "show %s", tui_runs_name(name, sizeof name, &state->target));
        desk->command(desk, line);
        return true;
    case TUI_ACT_USE:
        tui_runs_use(row, desk);
        return true;
    }
    return tui_runs_ask(state, action, row, desk);
}

static void sort_by(struct runs_state *state, int sort)
{
    bool again = (int)state->sort == sort;
    state->ascending = again ? !ascends(state) : tui_runs_ascends((enum mgb_list_column)sort);
    state->sort = (enum mgb_list_column)sort;
    state->sorts = true;
    state->keep.run = 0;
    state->list.at = state->list.top = 0;
}

static bool runs_act(void *private, enum tui_action action, const struct tui_scene *scene,
                     struct tui_desk *desk)
{
    struct runs_state *state = private;
    if (action != TUI_ACT_RELOAD)
        hand_find(state, scene);
    switch ((int)action) {
    case TUI_ACT_SORT:
        sort_by(state, ((int)state->sort + 1) % MGB_LIST_COLUMN_COUNT);
        list_ask(state, scene, desk);
        return true;
    case TUI_ACT_REVERSE:
        sort_by(state, (int)state->sort);
        list_ask(state, scene, desk);
        return true;
    case TUI_ACT_RELOAD:
        list_ask(state, scene, desk);
        return true;
    case TUI_ACT_MARK:
    case TUI_ACT_COMPARE_MARKED:
    case TUI_ACT_OPEN:
    case TUI_ACT_USE:
    case TUI_ACT_TAG:
    case TUI_ACT_NOTE:
    case TUI_ACT_BASELINE:
    case TUI_ACT_DELETE:
        return row_act(state, action, scene, desk);
    }
    if (!tui_list_act(&state->list, action))
        return false;
    state->keep.run = 0;
    window_follow(state, scene, desk);
    return true;
}

static void runs_click(void *private, int y, int x, int wheel, const struct tui_scene *scene,
                       struct tui_desk *desk)
{
    struct runs_state *state = private;
    if (tui_list_click(&state->list, state->rows, y, x, wheel)) {
        state->keep.run = 0;
        window_follow(state, scene, desk);
        return;
    }
    int column = !wheel && y == state->rows.y - 1
                     ? tui_table_column_at(&state->table, x - state->rows.x - 1)
                     : -1;
    int sort = column >= 0 ? tui_runs_sort_of(column) : -1;
    if (sort < 0)
        return;
    sort_by(state, sort);
    list_ask(state, scene, desk);
}

static void runs_save(void *private, void (*put)(void *, const char *, const char *), void *context)
{
    struct runs_state *state = private;
    put(context, "sort", tui_runs_sort_name(state->sort));
    put(context, "descending", ascends(state) ? "no" : "yes");
}

static bool runs_load(void *private, const char *name, const char *value)
{
    struct runs_state *state = private;
    int sort = strcmp(name, "sort") == 0 ? tui_runs_sort_find(value) : -1;
    if (sort >= 0) {
        bool ascending =
            state->sorts ? state->ascending : tui_runs_ascends((enum mgb_list_column)sort);
        state->sort = (enum mgb_list_column)sort;
        state->ascending = ascending;
        return state->sorts = true;
    }
    if (strcmp(name, "descending") != 0)
        return false;
    state->sorts = true;
    state->ascending = strcmp(value, "no") == 0;
    return state->ascending || strcmp(value, "yes") == 0;
}

static void runs_hint(void *private, struct tui_canvas *canvas, struct tui_rect row,
                      const struct tui_scene *scene)
{
    static const struct tui_hint keys[] = {{"m", "mark"},   {"c", "compare"}, {"s S", "sort"},
                                           {"t", "tag"},    {"n", "note"},    {"b", "baseline"},
                                           {"d", "delete"}, {"u", "use"},     {"/", "filter"}};
    (void)private, (void)scene;
    tui_hints_draw(canvas, row, keys, 9);
}

const struct tui_view tui_view_runs = {
    .name = "Runs",
    .place = TUI_ON_RUNS,
    .state_size = sizeof(struct runs_state),
    .draw = runs_draw,
    .act = runs_act,
    .click = runs_click,
    .hint = runs_hint,
    .save = runs_save,
    .load = runs_load,
};
