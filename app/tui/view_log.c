/* The log screen: what was done and said, newest last; follows the end until one walks up. Keeps a copy of the lines it has
 * seen, so that drawing reads only what is new. */
#include "app/tui/desk.h"
#include "app/tui/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READ_MOST = 64, TIME_COLUMNS = 9, TEXT_COLUMN = 12 };

struct log_state {
    struct tui_list list;
    bool stays;                          /* else it follows the end */
    struct tui_log_line *lines;          /* owned ring of TUI_LOG_LINES, texts too */
    int64_t first, next;                 /* numbers of the oldest line kept and of the next one */
    int *order;                          /* owned: kept lines that pass, as offsets from `first` */
    int64_t ordered_first, ordered_next; /* what `order` was made of */
    char filter[128];
    struct tui_rect rows; /* where the list was drawn */
};

static struct tui_log_line *line_at(const struct log_state *state, int64_t number)
{
    return &state->lines[number % TUI_LOG_LINES];
}

static bool state_make(struct log_state *state)
{
    if (!state->lines)
        state->lines = calloc(TUI_LOG_LINES, sizeof *state->lines);
    if (!state->order)
        state->order = calloc(TUI_LOG_LINES, sizeof *state->order);
    return state->lines && state->order;
}

static void line_keep(struct log_state *state, int64_t number, struct tui_log_line line)
{
    while (state->first < state->next && state->first <= number - TUI_LOG_LINES)
        state->first++;
    if (state->next != number) /* the log has lost what was between */
        state->first = number;
    free(line_at(state, number)->text);
    *line_at(state, number) = line;
    state->next = number + 1;
}

/* Takes in what is new; true: there was something. */
static bool lines_read(struct log_state *state, struct tui_log *log)
{
    struct tui_log_line lines[READ_MOST];
    int64_t before = state->next;
    int count = READ_MOST; /* a log that grows while it is read must not keep the screen */
    for (int read = 0; count == READ_MOST && read <= 2 * TUI_LOG_LINES; read += count) {
        int64_t first = state->next;
        count = tui_log_read(log, lines, READ_MOST, &first);
        for (int i = 0; i < count; i++)
            line_keep(state, first + i, lines[i]);
    }
    return state->next != before;
}

static bool line_passes(const struct tui_log_line *line, const char *filter)
{
    static const char *const kinds[] = {[MGB_LINE_NOTE] = "note",
                                        [MGB_LINE_WARNING] = "warning",
                                        [MGB_LINE_FAULT] = "fault",
                                        [MGB_LINE_OUTPUT] = "output"};
    const char *const texts[] = {line->text ? line->text : "", kinds[line->kind]};
    return tui_filter_finds(filter, texts, sizeof texts / sizeof *texts);
}

/* The row of a line that was in hand, or of the next one that is still there and passes. */
static int row_of(const struct log_state *state, int count, int64_t number)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (state->first + state->order[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void order_make(struct log_state *state, const char *filter)
{
    int at = state->list.at, count = 0;
    bool had = at >= 0 && at < state->list.count && state->ordered_next > 0;
    int64_t number = had ? state->ordered_first + state->order[at] : 0;
    snprintf(state->filter, sizeof state->filter, "%s", filter);
    for (int64_t n = state->first; n < state->next; n++)
        if (line_passes(line_at(state, n), state->filter))
            state->order[count++] = (int)(n - state->first);
    state->ordered_first = state->first;
    state->ordered_next = state->next;
    state->list.count = count;
    if (had && state->stays)
        state->list.at = row_of(state, count, number);
}

static void state_update(struct log_state *state, const struct tui_scene *scene)
{
    if (!scene->log || !state_make(state))
        return;
    char filter[sizeof state->filter];
    snprintf(filter, sizeof filter, "%s", scene->filter);
    if (lines_read(state, scene->log) || strcmp(filter, state->filter) != 0)
        order_make(state, filter);
    if (!state->stays)
        state->list.at = state->list.count - 1;
}

static char kind_letter(enum mgb_line_kind kind)
{
    switch (kind) {
    case MGB_LINE_NOTE:
        return ' ';
    case MGB_LINE_WARNING:
        return 'W';
    case MGB_LINE_FAULT:
        return 'E';
    case MGB_LINE_OUTPUT:
        return '>';
    }
    return '?';
}

static enum tui_style kind_style(enum mgb_line_kind kind)
{
    switch (kind) {
    case MGB_LINE_NOTE:
        return TUI_PLAIN;
    case MGB_LINE_WARNING:
        return TUI_WARN;
    case MGB_LINE_FAULT:
        return TUI_BAD;
    case MGB_LINE_OUTPUT:
        return TUI_DIM;
    }
    return TUI_PLAIN;
}

static void time_write(char out[16], int64_t at_ms)
{
    int64_t second = at_ms / 1000 % 86400;
    second += second < 0 ? 86400 : 0;
    snprintf(out, 16, "%02d:%02d:%02d", (int)(second / 3600), (int)(second / 60 % 60),
             (int)(second % 60));
}

static void row_draw(const struct log_state *state, struct tui_canvas *canvas, struct tui_rect row,
                     const struct tui_log_line *line)
{
    char time[16];
    time_write(time, line->at_ms);
    tui_put(canvas, row, 0, 1, TUI_DIM, time);
    tui_print(canvas, row, 0, 1 + TIME_COLUMNS, kind_style(line->kind), "%c",
              kind_letter(line->kind));
    struct tui_rect text = tui_rect_inside(row, 0, TEXT_COLUMN);
    tui_put(canvas, text, 0, -state->list.left, kind_style(line->kind),
            line->text ? line->text : "");
}

static void log_draw(void *private, struct tui_canvas *canvas, struct tui_rect area,
                     const struct tui_scene *scene)
{
    struct log_state *state = private;
    char title[64], right[64];
    state_update(state, scene);
    state->rows = tui_rect_inside(area, 1, 0);
    tui_list_fit(&state->list, state->list.count, state->rows.rows);
    snprintf(title, sizeof title, "LOG (UTC)  W warning  E fault  > output");
    snprintf(right, sizeof right, "%d/%d %s", state->list.at + 1, state->list.count,
             state->stays ? "f follows" : "following");
    tui_rule(canvas, area, 0, area.columns >= 60 ? title : "LOG", right);
    for (int y = 0; y < state->rows.rows && state->list.top + y < state->list.count; y++) {
        int n = state->list.top + y;
        struct tui_rect row = tui_rect_row(state->rows, y);
        row_draw(state, canvas, row, line_at(state, state->first + state->order[n]));
        if (n == state->list.at)
            tui_list_hand(canvas, row);
    }
    if (!state->list.count && *scene->filter)
        tui_print(canvas, state->rows, 0, 1, TUI_DIM, "nothing has \"%s\"", scene->filter);
    else if (!state->list.count)
        tui_put(canvas, state->rows, 0, 1, TUI_DIM, "nothing yet");
}

static bool line_show(const struct log_state *state, struct tui_desk *desk)
{
    if (state->list.at >= 0 && state->list.at < state->list.count) {
        const struct tui_log_line *line =
            line_at(state, state->first + state->order[state->list.at]);
        desk->show(desk, "a line of the log", line->text ? line->text : "");
    }
    return true;
}

static bool log_act(void *private, enum tui_action action, const struct tui_scene *scene,
                    struct tui_desk *desk)
{
    struct log_state *state = private;
    state_update(state, scene);
    if (action == TUI_ACT_OPEN)
        return line_show(state, desk);
    if (action == TUI_ACT_FOLLOW) {
        state->stays = !state->stays;
        state_update(state, scene);
        return true;
    }
    if (!tui_list_act(&state->list, action))
        return false;
    if (action != TUI_ACT_LEFT && action != TUI_ACT_RIGHT)
        state->stays = state->list.at < state->list.count - 1;
    return true;
}

static void log_click(void *private, int y, int x, int wheel, const struct tui_scene *scene,
                      struct tui_desk *desk)
{
    struct log_state *state = private;
    (void)desk;
    state_update(state, scene);
    if (tui_list_click(&state->list, state->rows, y, x, wheel))
        state->stays = state->list.at < state->list.count - 1;
}

static void log_done(void *private)
{
    struct log_state *state = private;
    for (int i = 0; state->lines && i < TUI_LOG_LINES; i++)
        free(state->lines[i].text);
    free(state->lines);
    free(state->order);
    *state = (struct log_state){0};
}

const struct tui_view tui_view_log = {
    .name = "Log",
    .place = TUI_ON_LOG,
    .state_size = sizeof(struct log_state),
    .draw = log_draw,
    .act = log_act,
    .click = log_click,
    .done = log_done,
};
