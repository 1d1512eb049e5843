/* The lines around the body: what is trained where and how it goes; the screens; what can be pressed; what was said. */
#include "app/tui/screen_private.h"

#include <stdio.h>
#include <string.h>

static const char *state_word(enum mgb_bench_state state)
{
    switch (state) {
    case MGB_BENCH_EMPTY:
        return "NO MODEL";
    case MGB_BENCH_READY:
        return "READY";
    case MGB_BENCH_OPENING:
        return "OPENING";
    case MGB_BENCH_RUNNING:
        return "RUNNING";
    case MGB_BENCH_PAUSED:
        return "PAUSED";
    case MGB_BENCH_BUSY:
        return "BUSY";
    case MGB_BENCH_SWEEPING:
        return "SWEEPING";
    case MGB_BENCH_FAILED:
        return "FAILED";
    }
    return "";
}

static enum tui_style state_style(enum mgb_bench_state state)
{
    return state == MGB_BENCH_FAILED                                   ? TUI_BAD
           : state == MGB_BENCH_RUNNING || state == MGB_BENCH_SWEEPING ? TUI_GOOD
           : state == MGB_BENCH_OPENING || state == MGB_BENCH_BUSY     ? TUI_WARN
                                                                       : TUI_STRONG;
}

/* Parts of the head line; those of least worth go first when there is no room. */
enum { PART_PROGRAM, PART_MODEL, PART_DATA, PART_WHERE, PART_RUN, PART_MARKS, PARTS };
struct head {
    char text[PARTS][200];
    int width[PARTS];
    bool shown[PARTS];
};

static void head_write(struct head *head, const struct tui_screen *screen,
                       const struct tui_canvas *canvas)
{
    const struct mgb_snapshot *s = screen->snapshot;
    const struct mgb_facts *f = s->facts;
    memset(head, 0, sizeof *head);
    strcpy(head->text[PART_PROGRAM], "mgbench");
    if (f) {
        snprintf(head->text[PART_MODEL], 200, "%s", f->model);
        snprintf(head->text[PART_DATA], 200, "data:%s", *f->data ? f->data : "random");
        if (f->simulated)
            snprintf(head->text[PART_WHERE], 200, "simulated %s: %s", f->machine, s->devices);
        else
            snprintf(head->text[PART_WHERE], 200, "%s %s", f->backend, s->devices);
    } else {
        snprintf(head->text[PART_MODEL], 200, "no model: M chooses one");
    }
    if (s->now.run_id)
        snprintf(head->text[PART_RUN], 200, "run %lld seg %d", (long long)s->now.run_id,
                 s->now.number);
    else if (s->now.number)
        snprintf(head->text[PART_RUN], 200, "seg %d unrecorded", s->now.number);
    if (screen->options.readonly)
        strcpy(head->text[PART_MARKS], "readonly");
    for (int i = 0; i < PARTS; i++) {
        head->width[i] = tui_text_width(canvas, head->text[i]);
        head->shown[i] = head->width[i] > 0;
    }
}

static void head_fit(struct head *head, int room)
{
    static const int order[] = {PART_PROGRAM, PART_DATA, PART_MARKS, PART_RUN, PART_WHERE};
    for (int k = -1; k < (int)(sizeof order / sizeof *order); k++) {
        int width = 0;
        if (k >= 0)
            head->shown[order[k]] = false;
        for (int i = 0; i < PARTS; i++)
            width += head->shown[i] ? head->width[i] + 2 : 0;
        if (width <= room)
            return;
    }
}

static void head_draw(const struct tui_screen *screen, struct tui_canvas *canvas,
                      struct tui_rect row)
{
    const struct mgb_snapshot *s = screen->snapshot;
    struct head head;
    char state[80];
    snprintf(state, sizeof state, s->step > 0 && s->now.number ? "%s %lld" : "%s",
             state_word(s->state), (long long)s->step);
    int x = 0, end = row.columns - (int)strlen(state);
    struct tui_rect left = row;
    left.columns = end > 1 ? end - 1 : 0;
    head_write(&head, screen, canvas);
    head_fit(&head, left.columns);
    for (int i = 0; i < PARTS; i++)
        if (head.shown[i])
            x = tui_put(canvas, left, 0, x,
                        i == PART_MARKS   ? TUI_WARN
                        : i == PART_MODEL ? TUI_STRONG
                                          : TUI_TITLE,
                        head.text[i]) +
                2;
    tui_put(canvas, row, 0, end > 0 ? end : 0, state_style(s->state), state);
}

/* "[1]Bench  2Devices": on a narrow screen only the one in front has its name. */
static void tabs_draw(struct tui_screen *screen, struct tui_canvas *canvas, struct tui_rect row)
{
    static const char hint[] = "?help  :cmd";
    int names = 2;
    for (int i = 0; i < SCREEN_TABS; i++)
        names += (int)strlen(screen->views[i].view->name) + 2;
    bool wide = names + 2 <= row.columns;
    int gap = names + SCREEN_TABS + (int)sizeof hint <= row.columns ? 2 : 1, x = 0;
    for (int i = 0; i < SCREEN_TABS; i++) {
        bool front = i == screen->at;
        const char *name = wide || front ? screen->views[i].view->name : "";
        enum tui_style style = front ? TUI_SELECTED : TUI_PLAIN;
        screen->tab_x[i] = row.x + x;
        x = tui_print(canvas, row, 0, x, front ? style : TUI_KEY, front ? "[%d]" : "%d", i + 1);
        x = tui_put(canvas, row, 0, x, style, name) + gap;
    }
    screen->tab_x[SCREEN_TABS] = row.x + x;
    if (screen->at >= SCREEN_TABS)
        x = tui_print(canvas, row, 0, x, TUI_SELECTED, "[%s]",
                      screen->views[screen->at].view->name) +
            1;
    if (x + (int)sizeof hint - 1 <= row.columns)
        tui_put_right(canvas, row, 0, row.columns, TUI_KEY, hint);
}

static int hint_put(struct tui_canvas *canvas, struct tui_rect row, int x, const char *key,
                    const char *name)
{
    if (x + (int)(strlen(key) + strlen(name)) + 1 > row.columns)
        return x;
    x = tui_put(canvas, row, 0, x, TUI_KEY, key) + 1;
    return tui_put(canvas, row, 0, x, TUI_PLAIN, name) + 2;
}

int tui_hints_draw(struct tui_canvas *canvas, struct tui_rect row, const struct tui_hint *hints,
                   int count)
{
    int x = 0;
    for (int i = 0; i < count; i++)
        x = hint_put(canvas, row, x, hints[i].key, hints[i].what);
    return x;
}

const char *tui_run_word(const struct mgb_snapshot *snapshot)
{
    bool runs = snapshot->state == MGB_BENCH_RUNNING || snapshot->state == MGB_BENCH_OPENING;
    return runs ? "pause" : "run";
}

/* What is the screen's own comes first, then what works everywhere, as far as there is room. */
static void hint_draw(const struct tui_screen *screen, struct tui_canvas *canvas,
                      struct tui_rect row)
{
    const struct screen_view *v = &screen->views[screen->at];
    unsigned place = v->view->place;
    int x = 0;
    if (v->view->hint) {
        struct tui_scene scene = screen_scene(screen);
        v->view->hint(v->state, canvas, row, &scene);
        return;
    }
    for (int i = 0; i < TUI_ACT_COUNT; i++)
        if ((tui_actions[i].where & place) && tui_actions[i].where != TUI_EVERYWHERE &&
            *tui_actions[i].help)
            x = hint_put(canvas, row, x, tui_actions[i].key, tui_actions[i].name);
    x = hint_put(canvas, row, x, "Space", tui_run_word(screen->snapshot));
    x = hint_put(canvas, row, x, "?", "help");
    hint_put(canvas, row, x, "q", "quit");
}

static void pending_write(char *out, size_t size, const struct mgb_pending *pending)
{
    size_t used = (size_t)snprintf(out, size, "pending:");
    for (int i = 0; i < MGB_OPTION_COUNT && used < size; i++)
        if (pending->options >> i & 1)
            used +=
                (size_t)snprintf(out + used, size - used, " %s=%s", mgb_placement_options()[i].name,
                                 *pending->value[i] ? pending->value[i] : "default");
    int waiting = pending->wishes - pending->busy;
    if (waiting > 0 && used < size)
        snprintf(out + used, size - used, "%s%d wait%s", pending->options ? ", " : " ", waiting,
                 waiting == 1 ? "s" : "");
}

static enum tui_style line_style(enum mgb_line_kind kind)
{
    return kind == MGB_LINE_FAULT ? TUI_BAD : kind == MGB_LINE_WARNING ? TUI_WARN : TUI_STRONG;
}

/* The first line of a text; what was refused begins with a sign, for those who see no colour. One that is cut says so: all of it
 * is in the log. */
static void foot_put(struct tui_canvas *canvas, struct tui_rect row, enum tui_style style,
                     const char *text)
{
    char line[640];
    struct tui_rect left = row;
    snprintf(line, sizeof line, "%s%.*s", style == TUI_BAD ? "! " : "", (int)strcspn(text, "\n"),
             text);
    if (tui_text_width(canvas, line) > row.columns)
        tui_put(canvas, row, 0, --left.columns, style, canvas->utf8 ? "…" : "~");
    tui_put(canvas, left, 0, 0, style, line);
}

/* What the log has of a fault may be the message of the workbench: then it stands there as that, once. */
static void warning_put(const struct tui_screen *screen, struct tui_canvas *canvas,
                        struct tui_rect row)
{
    char first[sizeof screen->snapshot->message];
    const char *message = screen->snapshot->message;
    bool fault = screen->warning_kind == MGB_LINE_FAULT;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(message, "\n"), message);
    bool same =
        fault && *first && (strstr(screen->warning, first) || strstr(first, screen->warning));
    foot_put(canvas, row, fault ? TUI_BAD : TUI_WARN, same ? message : screen->warning);
}

static void foot_draw(const struct tui_screen *screen, struct tui_canvas *canvas,
                      struct tui_rect row)
{
    const struct mgb_snapshot *s = screen->snapshot;
    const char *filter = screen->views[screen->at].filter;
    if (*screen->message) {
        foot_put(canvas, row, line_style(screen->message_kind), screen->message);
    } else if (screen->pending.blocked) {
        foot_put(canvas, row, TUI_WARN,
                 "rows wait: another program writes to the results file; none is lost");
    } else if (screen->pending.options || screen->pending.wishes > screen->pending.busy) {
        char text[600];
        pending_write(text, sizeof text, &screen->pending);
        foot_put(canvas, row, TUI_WARN, text);
    } else if (*screen->warning) {
        warning_put(screen, canvas, row);
    } else if (*s->message) {
        foot_put(canvas, row, TUI_BAD, s->message);
    } else if (*s->log_message) {
        foot_put(canvas, row, TUI_WARN, s->log_message);
    } else if (*filter) {
        tui_print(canvas, row, 0, 0, TUI_STRONG, "/%s   (Esc ends the filter)", filter);
    } else if (*s->doing) {
        foot_put(canvas, row, TUI_DIM, s->doing);
    }
}

static void too_small_draw(const struct tui_screen *screen, struct tui_canvas *canvas)
{
    struct tui_rect whole = tui_canvas_whole(canvas);
    tui_print(canvas, whole, 0, 0, TUI_STRONG, "mgbench: %d x %d", canvas->columns, canvas->rows);
    tui_print(canvas, whole, 1, 0, TUI_PLAIN, "needs %d x %d", TUI_LEAST_COLUMNS, TUI_LEAST_ROWS);
    tui_put(canvas, whole, 2, 0, TUI_PLAIN,
            screen->confirm.open ? screen->confirm.question : "q quits");
}

/* The line at the foot that is typed into, or the question that waits. */
static bool question_draw(struct tui_screen *screen, struct tui_canvas *canvas, struct tui_rect row,
                          int *cursor_y, int *cursor_x)
{
    if (screen->prompt.open) {
        int column;
        tui_prompt_draw(&screen->prompt, canvas, row, &column);
        *cursor_y = row.y;
        *cursor_x = row.x + column;
        return true;
    }
    if (screen->confirm.open) {
        int x = tui_put(canvas, row, 0, 0, TUI_WARN, screen->confirm.question);
        *cursor_y = row.y;
        *cursor_x = row.x + (x < row.columns ? x : row.columns - 1);
        return true;
    }
    return false;
}

void tui_screen_draw(struct tui_screen *screen, struct tui_canvas *canvas, int *cursor_y,
                     int *cursor_x)
{
    const struct screen_view *v = &screen->views[screen->at];
    struct tui_scene scene = screen_scene(screen);
    struct tui_layout *layout = &screen->layout;
    *layout = tui_layout_screen(canvas->rows, canvas->columns);
    *cursor_y = -1;
    *cursor_x = 0;
    tui_canvas_blank(canvas);
    if (layout->too_small) {
        too_small_draw(screen, canvas);
        return;
    }
    head_draw(screen, canvas, layout->head);
    tabs_draw(screen, canvas, layout->tabs);
    v->view->draw(v->state, canvas, layout->body, &scene);
    if (screen->menu.open)
        tui_menu_draw(&screen->menu, canvas, layout->body);
    hint_draw(screen, canvas, layout->hint);
    if (!question_draw(screen, canvas, layout->foot, cursor_y, cursor_x))
        foot_draw(screen, canvas, layout->foot);
}
