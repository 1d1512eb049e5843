/* The help screen: what can be pressed on the screen one came from, then everywhere else, then what signs, letters and
 * words mean. A filter narrows it while it is typed; Enter does what is in hand. */
#include "app/tui/desk.h"
#include "app/tui/help.h"
#include "app/tui/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 1024, NARROW = 64 };

struct help_line {          /* as drawn: an entry may need several */
    enum tui_action action; /* TUI_ACT_NONE: a word */
    int word;               /* of tui_help_words; -1: a heading of keys, or an action */
    int begin, bytes;       /* of the entry's text that stand in this line */
    const char *heading;    /* NULL: none */
};

struct help_state {
    struct tui_list list;
    struct help_line *lines; /* owned: MOST_LINES */
    int count;
    struct tui_rect rows; /* where the list was drawn */
    char filter[128];
};

static const char *action_help(enum tui_action action)
{
    return *tui_actions[action].help ? tui_actions[action].help : "moves";
}

static void action_keys(char *out, size_t size, enum tui_action action)
{
    const struct tui_action_info *info = &tui_actions[action];
    snprintf(out, size, *info->other ? "%s %s" : "%s", info->key, info->other);
}

static void line_add(struct help_state *state, struct help_line line)
{
    if (state->count < MOST_LINES)
        state->lines[state->count++] = line;
}

/* Breaks at blanks where a line would get wider than `width`; texts are plain ASCII. */
static void entry_add(struct help_state *state, struct help_line line, const char *text, int width)
{
    int length = (int)strlen(text), begin = 0;
    do {
        int end = length;
        if (length - begin > width) {
            end = begin + width;
            while (end > begin && text[end] != ' ')
                end--;
            end = end > begin ? end : begin + width;
        }
        line.begin = begin;
        line.bytes = end - begin;
        line_add(state, line);
        begin = end + (text[end] == ' ');
    } while (begin < length);
}

static bool action_passes(enum tui_action action, const char *filter)
{
    const struct tui_action_info *info = &tui_actions[action];
    const char *const texts[] = {info->key, info->other, info->name, action_help(action)};
    return tui_filter_finds(filter, texts, sizeof texts / sizeof *texts);
}

static bool word_passes(const struct tui_help_word *word, const char *filter)
{
    const char *const texts[] = {word->word, word->text};
    return tui_filter_finds(filter, texts, sizeof texts / sizeof *texts);
}

/* A heading under which nothing passes goes. */
static void heading_add(struct help_state *state, const char *heading)
{
    if (state->count && state->lines[state->count - 1].heading)
        state->count--;
    if (heading)
        line_add(state, (struct help_line){.action = TUI_ACT_NONE, .word = -1, .heading = heading});
}

struct
    section { /* keys that work on one of `any` and on none of `not`; general: on all screens or lists */
    unsigned any, not ;
    bool general, particular;
};

static bool section_has(const struct section *section, enum tui_action action)
{
    unsigned where = tui_actions[action].where;
    bool general = (where & TUI_ON_LISTS) == TUI_ON_LISTS;
    return (where & section->any) && !(where & section->not ) &&
           (general ? section->general : section->particular);
}

static void actions_add(struct help_state *state, const char *heading,
                        const struct section *section, int width)
{
    heading_add(state, heading);
    for (int i = 0; i < TUI_ACT_COUNT; i++) {
        struct help_line line = {.action = (enum tui_action)i, .word = -1};
        if (section_has(section, line.action) && action_passes(line.action, state->filter))
            entry_add(state, line, action_help(line.action), width);
    }
}

static void words_add(struct help_state *state, const char *filter, int width)
{
    for (int i = 0; i < tui_help_word_count; i++) {
        const struct tui_help_word *word = &tui_help_words[i];
        struct help_line line = {.action = TUI_ACT_NONE, .word = i};
        if (!word->text)
            heading_add(state, word->word);
        else if (word_passes(word, filter))
            entry_add(state, line, word->text, width);
    }
    heading_add(state, NULL);
}

static const struct {
    enum tui_place place;
    const char *heading;
} screens[] = {{TUI_ON_BENCH, "KEYS on Bench"},
               {TUI_ON_DEVICES, "KEYS on Devices"},
               {TUI_ON_VARIABLES, "KEYS on Variables"},
               {TUI_ON_PLAN, "KEYS on Plan"},
               {TUI_ON_RUNS, "KEYS on Runs"},
               {TUI_ON_SWEEP, "KEYS on Sweep"},
               {TUI_ON_LOG, "KEYS on Log"},
               {TUI_ON_OUTPUT, "KEYS on Output"}};
enum { SCREEN_COUNT = sizeof screens / sizeof *screens };

static unsigned place_before(const struct tui_scene *scene)
{
    unsigned from = scene->from;
    return from && from != TUI_ON_HELP ? from : TUI_ON_BENCH;
}

static int text_indent(int columns)
{
    return columns >= NARROW ? 28 : 13;
}

/* `columns`: of the area. First what works on the screen one came from alone, then what works everywhere, then others. */
static void lines_make(struct help_state *state, const struct tui_scene *scene, int columns)
{
    unsigned from = place_before(scene), told = from;
    int width = columns - text_indent(columns) - 1;
    width = width < 10 ? 10 : width;
    if (!state->lines)
        state->lines = calloc(MOST_LINES, sizeof *state->lines);
    state->count = 0;
    if (!state->lines)
        return;
    for (int i = 0; i < SCREEN_COUNT; i++)
        if (screens[i].place == from)
            actions_add(state, screens[i].heading,
                        &(struct section){.any = from, .particular = true}, width);
    actions_add(state, "KEYS everywhere", &(struct section){.any = from, .general = true}, width);
    for (int i = 0; i < SCREEN_COUNT; i++) {
        struct section section = {screens[i].place, told, true, true};
        if (screens[i].place != from)
            actions_add(state, screens[i].heading, &section, width);
        told |= screens[i].place;
    }
    words_add(state, state->filter, width);
}

static void line_draw(struct tui_canvas *canvas, struct tui_rect row, const struct help_line *line,
                      int columns)
{
    char keys[64];
    int indent = text_indent(columns);
    struct tui_rect left = tui_rect_inside(row, 0, 1);
    if (line->heading) {
        tui_rule(canvas, row, 0, line->heading, NULL);
        return;
    }
    bool action = line->action != TUI_ACT_NONE;
    const char *text = action ? action_help(line->action) : tui_help_words[line->word].text;
    left.columns = indent - 2;
    if (line->begin == 0 && action) {
        action_keys(keys, sizeof keys, line->action);
        tui_put(canvas, left, 0, 0, TUI_KEY, keys);
        if (columns >= NARROW)
            tui_put(canvas, tui_rect_inside(left, 0, 12), 0, 0, TUI_DIM,
                    tui_actions[line->action].name);
    } else if (line->begin == 0) {
        tui_put(canvas, left, 0, 0, TUI_STRONG, tui_help_words[line->word].word);
    }
    tui_print(canvas, row, 0, indent, TUI_PLAIN, "%.*s", line->bytes, text + line->begin);
}

static void hand_settle(struct help_state *state, int direction)
{
    struct tui_list *list = &state->list;
    while (list->at >= 0 && list->at < state->count && state->lines[list->at].heading &&
           list->at + direction >= 0 && list->at + direction < state->count)
        list->at += direction;
    if (list->at >= 0 && state->lines[list->at].heading)
        list->at = 1; /* the first line is a heading, the last one is none */
    tui_list_fit(list, state->count, list->fits);
    if (list->at == 1 && list->fits > 1)
        list->top = 0;
}

static void state_update(struct help_state *state, const struct tui_scene *scene, int columns)
{
    bool typed = strncmp(state->filter, scene->filter, sizeof state->filter - 1) != 0;
    if (typed)
        snprintf(state->filter, sizeof state->filter, "%s", scene->filter);
    lines_make(state, scene, columns);
    if (typed)
        state->list.at = state->list.top = 0;
    tui_list_fit(&state->list, state->count, state->list.fits);
    hand_settle(state, 1);
}

static void help_draw(void *private, struct tui_canvas *canvas, struct tui_rect area,
                      const struct tui_scene *scene)
{
    struct help_state *state = private;
    state->rows = area;
    state->list.fits = area.rows;
    state_update(state, scene, area.columns);
    for (int y = 0; y < area.rows && state->list.top + y < state->count; y++) {
        struct tui_rect row = tui_rect_row(area, y);
        line_draw(canvas, row, &state->lines[state->list.top + y], area.columns);
        if (state->list.top + y == state->list.at)
            tui_list_hand(canvas, row);
    }
    if (!state->count) {
        tui_rule(canvas, area, 0, "HELP", NULL);
        tui_print(canvas, area, 1, 1, TUI_DIM, "nothing has \"%s\"", scene->filter);
    }
}

/* The action on the screen where it works: the one before, or the first that has it. */
static void entry_run(const struct help_state *state, const struct tui_scene *scene,
                      struct tui_desk *desk)
{
    if (state->list.at < 0 || state->list.at >= state->count)
        return;
    enum tui_action action = state->lines[state->list.at].action;
    if (action == TUI_ACT_NONE)
        return;
    unsigned where = tui_actions[action].where, place = place_before(scene);
    if (!(where & place))
        place = where & (0u - where);
    desk->go(desk, (enum tui_place)place);
    desk->act(desk, action);
}

static bool help_act(void *private, enum tui_action action, const struct tui_scene *scene,
                     struct tui_desk *desk)
{
    struct help_state *state = private;
    int columns = state->rows.columns ? state->rows.columns : 80;
    state_update(state, scene, columns);
    if (action == TUI_ACT_OPEN) {
        entry_run(state, scene, desk);
        return true;
    }
    int before = state->list.at;
    if (!tui_list_act(&state->list, action))
        return false;
    if (state->count)
        hand_settle(state, action == TUI_ACT_FIRST || state->list.at > before ? 1 : -1);
    return true;
}

static void help_click(void *private, int y, int x, int wheel, const struct tui_scene *scene,
                       struct tui_desk *desk)
{
    struct help_state *state = private;
    (void)desk;
    state_update(state, scene, state->rows.columns ? state->rows.columns : 80);
    if (tui_list_click(&state->list, state->rows, y, x, wheel) && state->count)
        hand_settle(state, wheel < 0 ? -1 : 1);
}

static void help_done(void *private)
{
    struct help_state *state = private;
    free(state->lines);
    state->lines = NULL;
}

const struct tui_view tui_view_help = {
    .name = "Help",
    .place = TUI_ON_HELP,
    .state_size = sizeof(struct help_state),
    .draw = help_draw,
    .act = help_act,
    .click = help_click,
    .done = help_done,
};
