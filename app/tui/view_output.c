/* Lines of text to be read: what a command of mgbench printed. Prose is broken to the width, tables scroll. */
#include "app/tui/desk.h"
#include "app/tui/fold.h"
#include "app/tui/list.h"
#include "app/tui/screen_private.h"
#include "app/tui/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct output_state {
    char title[160];
    char *text, **lines; /* owned; lines are parts of the text */
    int count;
    struct tui_fold fold; /* of the lines, for `width` columns */
    int width;            /* 0: not folded yet */
    struct tui_list list; /* of those pieces whose line passes the filter */
    struct tui_rect rows;
};

static void output_done(void *private)
{
    struct output_state *state = private;
    free(state->text);
    free(state->lines);
    tui_fold_done(&state->fold);
    state->text = NULL;
    state->lines = NULL;
    state->count = state->width = 0;
}

/* Blanks for tabs, every eight columns, so that tables stay tables. */
static char *text_copy(const char *text)
{
    size_t size = 1, used = 0, column = 0;
    for (const char *c = text; *c; c++)
        size += *c == '\t' ? 8 : 1;
    char *copy = malloc(size);
    for (const char *c = text; copy && *c; c++) {
        column = *c == '\n' ? 0 : column + 1;
        copy[used++] = *c;
        if (*c != '\t')
            continue;
        copy[used - 1] = ' ';
        for (; column % 8; column++)
            copy[used++] = ' ';
    }
    if (copy)
        copy[used] = '\0';
    return copy;
}

bool tui_output_put(void *private, const char *title, const char *text)
{
    struct output_state *state = private;
    int count = 0;
    char *copy = text_copy(text);
    for (const char *c = copy; c && *c; c++)
        count += *c == '\n' || c[1] == '\0';
    char **lines = malloc((size_t)(count + 1) * sizeof *lines);
    if (!copy || !lines) {
        free(copy);
        free(lines);
        return false;
    }
    output_done(state);
    *state = (struct output_state){.text = copy, .lines = lines, .count = count};
    snprintf(state->title, sizeof state->title, "%s", title);
    for (int i = 0; i < count; i++) {
        lines[i] = copy;
        copy += strcspn(copy, "\n");
        if (*copy)
            *copy++ = '\0';
    }
    return true;
}

/* Unless lines are filtered out, the row in hand stays on its line when the width changes. */
static void output_fold(struct output_state *state, const struct tui_canvas *canvas, int width,
                        const char *filter)
{
    if (state->width == width)
        return;
    int at = state->list.at, line = -1;
    if (at >= 0 && at < state->fold.count && !*filter)
        line = state->fold.pieces[at].line;
    state->width =
        tui_fold_make(&state->fold, canvas, state->lines, state->count, width) ? width : 0;
    for (int i = 0; i < state->fold.count; i++)
        if (state->fold.pieces[i].line <= line)
            state->list.at = i;
}

static bool piece_passes(const struct output_state *state, int piece, const char *filter)
{
    return tui_filter_passes(filter, state->lines[state->fold.pieces[piece].line]);
}

static void piece_draw(struct tui_canvas *canvas, struct tui_rect row,
                       const struct tui_piece *piece, int left)
{
    const char *text = piece->text;
    int hidden = left - piece->indent, length = piece->length;
    for (; hidden > 0 && length > 0; hidden--) {
        int used = (int)tui_utf8_after(text, 0);
        text += used;
        length -= used;
    }
    if (length > 0)
        tui_print(canvas, row, 0, hidden < 0 ? -hidden : 0, TUI_PLAIN, "%.*s", length, text);
}

static void output_draw(void *private, struct tui_canvas *canvas, struct tui_rect area,
                        const struct tui_scene *scene)
{
    struct output_state *state = private;
    struct tui_rect rows = tui_rect_inside(area, 1, 0);
    int passing = 0, y = 0;
    output_fold(state, canvas, rows.columns, scene->filter);
    for (int i = 0; i < state->fold.count; i++)
        passing += piece_passes(state, i, scene->filter);
    tui_list_fit(&state->list, passing, rows.rows);
    state->rows = rows;
    tui_rule(canvas, area, 0, *state->title ? state->title : "OUTPUT", "");
    if (passing > 0)
        tui_list_mark(&state->list, canvas, area, 0);
    for (int i = 0, number = 0; i < state->fold.count && y < rows.rows; i++) {
        if (!piece_passes(state, i, scene->filter))
            continue;
        if (number++ < state->list.top)
            continue;
        struct tui_rect row = tui_rect_row(rows, y++);
        piece_draw(canvas, row, &state->fold.pieces[i], state->list.left);
        if (number - 1 == state->list.at) /* no sign in front: lines are as wide as the screen */
            tui_restyle(canvas, row, TUI_SELECTED);
    }
    if (passing == 0)
        tui_put(canvas, rows, 0, 1, TUI_DIM,
                state->count > 0 ? "no line is like that; Esc shows all"
                                 : "nothing was printed yet; : runs a command");
}

/* q leaves what is read, as readers of text do, not the program. */
static bool output_act(void *private, enum tui_action action, const struct tui_scene *scene,
                       struct tui_desk *desk)
{
    struct output_state *state = private;
    (void)scene;
    if (action == TUI_ACT_QUIT) {
        desk->go(desk, scene->from);
        return true;
    }
    return tui_list_act(&state->list, action);
}

static void output_click(void *private, int y, int x, int wheel, const struct tui_scene *scene,
                         struct tui_desk *desk)
{
    struct output_state *state = private;
    (void)scene, (void)desk;
    tui_list_click(&state->list, state->rows, y, x, wheel);
}

static void output_hint(void *private, struct tui_canvas *canvas, struct tui_rect row,
                        const struct tui_scene *scene)
{
    static const struct tui_hint keys[] = {
        {"Esc", "closes it"}, {"/", "filter"}, {"Up Down Left Right", "scroll"}, {"?", "help"}};
    (void)private, (void)scene;
    tui_hints_draw(canvas, row, keys, 4);
}

const struct tui_view tui_view_output = {
    .name = "Output",
    .place = TUI_ON_OUTPUT,
    .state_size = sizeof(struct output_state),
    .draw = output_draw,
    .act = output_act,
    .click = output_click,
    .hint = output_hint,
    .done = output_done,
};
