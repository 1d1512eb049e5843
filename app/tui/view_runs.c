/* The runs screen: what the results database holds, filtered and sorted by the archive, which gives a window of the list at
 * a time; marks, comparison, tags, notes, baselines, deletion are commands of mgbench. */
#include "app/tui/desk.h"
#include "app/tui/runs.h"
#include "app/tui/screen_private.h"

#include <stdio.h>
#include <string.h>

enum { WINDOW = 400, MARKS = 2 };

struct mark {
    int64_t run; /* 0: none */
    int number;
};

struct runs_state {
    struct tui_list list; /* of all that pass the filter */
    bool sorts;           /* `sort` and `ascending` were chosen */
    enum mgb_list_column sort;
    bool ascending;
    char asked[128]; /* the filter that was asked for */
    int64_t first;   /* of the window that was asked for */
    struct mark marks[MARKS];
    struct mark target;  /* of the question that is asked */
    bool target_is_ours; /* it is the run on the bench: the workbench writes to it */
    struct tui_table table;
    struct tui_rect rows;
};

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
    state->list.at = state->list.top = 0;
    list_ask(state, scene, desk);
}

static bool is_marked(const struct runs_state *state, const struct mgb_list_row *row)
{
    for (int i = 0; i < MARKS; i++)
        if (state->marks[i].run == row->run && state->marks[i].number == row->number)
            return true;
    return false;
}

static const char *mark_name(char *out, size_t size, const struct mark *mark)
{
    snprintf(out, size, mark->number > 0 ? "%lld.%d" : "%lld", (long long)mark->run, mark->number);
    return out;
}

static void rule_draw(const struct runs_state *state, struct tui_canvas *canvas,
                      struct tui_rect area, const struct tui_scene *scene)
{
    char right[120] = "", a[40], b[40];
    const struct mgb_list *runs = scene->runs;
    int marked = (state->marks[0].run != 0) + (state->marks[1].run != 0);
    if (marked == 2)
        snprintf(right, sizeof right, "marked %s, %s: c compares",
                 mark_name(a, sizeof a, &state->marks[0]),
                 mark_name(b, sizeof b, &state->marks[1]));
    else if (marked == 1)
        snprintf(right, sizeof right, "marked %s: c compares it with the one in hand",
                 mark_name(a, sizeof a, &state->marks[0]));
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
    return *scene->runs->filter ? "no run is like that; Esc shows all"
                                : "no run is stored yet: 1, then Space, makes the first";
}

static void runs_draw(void *private, struct tui_canvas *canvas, struct tui_rect area,
                      const struct tui_scene *scene)
{
    struct runs_state *state = private;
    const char *nothing = nothing_words(scene);
    int64_t total = scene->runs && !nothing ? scene->runs->total : 0;
    state->rows = tui_rect_inside(area, 2, 0);
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
}

/* Marks and unmarks; of three the oldest goes. */
static void mark(struct runs_state *state, const struct mgb_list_row *row)
{
    struct mark *marks = state->marks, fresh = {row->run, row->number};
    for (int i = 0; i < MARKS; i++)
        if (marks[i].run == row->run && marks[i].number == row->number) {
            marks[i] = marks[1];
            marks[1] = (struct mark){0};
            return;
        }
    if (marks[1].run != 0)
        marks[0] = marks[1];
    marks[marks[0].run == 0 ? 0 : 1] = fresh;
}

static void compare(struct runs_state *state, const struct mgb_list_row *row, struct tui_desk *desk)
{
    char line[120], a[40], b[40];
    struct mark here = {row ? row->run : 0, row ? row->number : 0};
    const struct mark *first = &state->marks[0];
    const struct mark *second = state->marks[1].run ? &state->marks[1] : &here;
    bool same = first->run == second->run && first->number == second->number;
    if (first->run == 0 || second->run == 0 || same) {
        desk->say(desk, MGB_LINE_WARNING,
                  "m marks a run; c compares two marked ones, or the "
                  "marked one with the one in hand");
        return;
    }
    snprintf(line, sizeof line, "compare %s %s", mark_name(a, sizeof a, first),
             mark_name(b, sizeof b, second));
    desk->command(desk, line);
}

/* A word as tui_command_split takes it: quoted, whatever is in it. Stops where there is no room. */
static size_t word_quote(char *out, size_t size, const char *word, size_t length)
{
    size_t used = 0;
    out[used++] = '\'';
    for (size_t i = 0; i < length && used + 6 < size; i++) {
        if (word[i] == '\'') {
            memcpy(out + used, "'\\''", 4);
            used += 4;
        } else {
            out[used++] = word[i];
        }
    }
    out[used++] = '\'';
    out[used] = '\0';
    return used;
}

static void wish(struct tui_desk *desk, enum mgb_wish_kind kind, const char *text)
{
    desk->ask(desk, &(struct mgb_wish){.kind = kind, .text = text});
}

static void tag(struct runs_state *state, struct tui_desk *desk, const char *name, size_t length,
                bool remove)
{
    char line[2100], quoted[2000];
    if (state->target_is_ours && !remove) {
        snprintf(quoted, sizeof quoted, "%.*s", (int)length, name);
        wish(desk, MGB_WISH_TAG, quoted);
        return;
    }
    word_quote(quoted, sizeof quoted, name, length);
    snprintf(line, sizeof line, "tag %lld %s%s", (long long)state->target.run, quoted,
             remove ? " --remove" : "");
    desk->command(desk, line);
}

static void tag_answer(void *context, struct tui_desk *desk, const char *text)
{
    for (const char *at = text; at && *at;) {
        at += strspn(at, " ");
        size_t length = strcspn(at, " ");
        bool remove = *at == '-';
        if (length > (size_t)remove)
            tag(context, desk, at + remove, length - remove, remove);
        at += length;
    }
}

static void note_answer(void *context, struct tui_desk *desk, const char *text)
{
    struct runs_state *state = context;
    char line[4200], quoted[4100];
    if (!text || text[strspn(text, " ")] == '\0')
        return;
    if (state->target_is_ours) {
        wish(desk, MGB_WISH_NOTE, text);
        return;
    }
    word_quote(quoted, sizeof quoted, text, strlen(text));
    snprintf(line, sizeof line, "note %lld -- %s", (long long)state->target.run, quoted);
    desk->command(desk, line);
}

static void baseline_answer(void *context, struct tui_desk *desk, const char *text)
{
    struct runs_state *state = context;
    char line[2100], quoted[2000], name[40];
    if (!text || !*text)
        return;
    word_quote(quoted, sizeof quoted, text, strlen(text));
    snprintf(line, sizeof line, "baseline set %s %s", quoted,
             mark_name(name, sizeof name, &state->target));
    desk->command(desk, line);
}

static void delete_answer(void *context, struct tui_desk *desk, const char *text)
{
    struct runs_state *state = context;
    char line[80];
    if (!text)
        return;
    for (int i = MARKS - 1; i >= 0; i--)
        if (state->marks[i].run == state->target.run) {
            state->marks[i] = state->marks[1];
            state->marks[1] = (struct mark){0};
        }
    snprintf(line, sizeof line, "rm %lld --yes", (long long)state->target.run);
    desk->command(desk, line);
}

/* The name of a model without its options. */
static void model_word(char *out, size_t size, const char *model)
{
    snprintf(out, size, "%.*s", (int)strcspn(model, " ?"), model);
}

static bool ask_about(struct runs_state *state, enum tui_action action,
                      const struct mgb_list_row *row, struct tui_desk *desk)
{
    char question[200], name[80];
    if (action == TUI_ACT_TAG) {
        snprintf(question, sizeof question,
                 "tag run %lld (-NAME takes one off): ", (long long)row->run);
        desk->prompt(desk, question, "", tag_answer, state);
    } else if (action == TUI_ACT_NOTE) {
        snprintf(question, sizeof question, "note to run %lld: ", (long long)row->run);
        desk->prompt(desk, question, "", note_answer, state);
    } else if (action == TUI_ACT_BASELINE) {
        snprintf(question, sizeof question,
                 "run %lld is the baseline called: ", (long long)row->run);
        model_word(name, sizeof name, row->model);
        desk->prompt(desk, question, name, baseline_answer, state);
    } else if (state->target_is_ours) {
        desk->say(desk, MGB_LINE_FAULT,
                  "this run is on the bench: x there ends it, then it can go");
    } else {
        snprintf(question, sizeof question, "delete run %lld (%.60s, %s) for good? y/N",
                 (long long)row->run, row->model, row->outcome);
        desk->confirm(desk, question, delete_answer, state);
    }
    return true;
}

/* Placements are "name=value" pairs where the archive has them as asked; a title in words is none. */
static void use(const struct mgb_list_row *row, struct tui_desk *desk)
{
    wish(desk, MGB_WISH_MODEL, row->model);
    if (strchr(row->placement, '='))
        wish(desk, MGB_WISH_SET, row->placement);
    desk->go(desk, TUI_ON_BENCH);
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
    state->target = (struct mark){row->run, row->number};
    state->target_is_ours = scene->snapshot->recorded && scene->snapshot->now.run_id == row->run &&
                            scene->snapshot->state != MGB_BENCH_READY;
    switch ((int)action) {
    case TUI_ACT_MARK:
        mark(state, row);
        tui_list_act(&state->list, TUI_ACT_DOWN);
        window_follow(state, scene, desk);
        return true;
    case TUI_ACT_OPEN:
        snprintf(line, sizeof line, "show %s", mark_name(name, sizeof name, &state->target));
        desk->command(desk, line);
        return true;
    case TUI_ACT_USE:
        use(row, desk);
        return true;
    }
    return ask_about(state, action, row, desk);
}

static void sort_by(struct runs_state *state, int sort)
{
    bool again = (int)state->sort == sort;
    state->ascending = again ? !ascends(state) : tui_runs_ascends((enum mgb_list_column)sort);
    state->sort = (enum mgb_list_column)sort;
    state->sorts = true;
    state->list.at = state->list.top = 0;
}

static bool runs_act(void *private, enum tui_action action, const struct tui_scene *scene,
                     struct tui_desk *desk)
{
    struct runs_state *state = private;
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
    window_follow(state, scene, desk);
    return true;
}

static void runs_click(void *private, int y, int x, int wheel, const struct tui_scene *scene,
                       struct tui_desk *desk)
{
    struct runs_state *state = private;
    if (tui_list_click(&state->list, state->rows, y, x, wheel)) {
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

const struct tui_view tui_view_runs = {
    .name = "Runs",
    .place = TUI_ON_RUNS,
    .state_size = sizeof(struct runs_state),
    .draw = runs_draw,
    .act = runs_act,
    .click = runs_click,
    .save = runs_save,
    .load = runs_load,
};
