/* The devices screen: what there is, what lies on it against what it holds, what moves between. Draws the snapshot's facts
 * and measured memory; devices.h has the lines. */
#include "app/tui/desk.h"
#include "app/tui/devices.h"
#include "app/tui/words.h"

#include <stdio.h>
#include <stdlib.h>

struct devices_state {
    struct tui_list list;
    struct devices_line *lines; /* owned; of the newest draw or key */
    int count, capacity, used;  /* used: how many lines are of what is in use */
    struct tui_rect rows;       /* where the list was drawn */
};

static void line_add(struct devices_state *state, enum devices_kind kind, int index)
{
    if (state->count == state->capacity) {
        int larger = state->capacity ? 2 * state->capacity : 64;
        struct devices_line *lines = realloc(state->lines, (size_t)larger * sizeof *lines);
        if (!lines)
            return; /* what fits is shown */
        state->lines = lines;
        state->capacity = larger;
    }
    state->lines[state->count++] = (struct devices_line){kind, index};
}

/* The heading at `rule` learns how many lines came after it and `heads`; one with none goes. */
static void section_end(struct devices_state *state, int rule, int heads)
{
    int lines = state->count - rule - heads;
    if (lines <= 0)
        state->count = rule;
    else
        state->lines[rule].index = lines;
}

static bool device_passes(const struct mgb_facts_device *device, const char *filter)
{
    const char *const texts[] = {device->name, tui_class_words(device->class), device->label,
                                 device->uuid, device->pci};
    return tui_filter_finds(filter, texts, sizeof texts / sizeof *texts);
}

static bool link_passes(const struct mgb_facts *facts, const struct mgb_facts_link *link,
                        const char *filter)
{
    const char *const texts[] = {tui_device_at(facts, link->from), tui_device_at(facts, link->to),
                                 tui_devices_peer_words(facts, link), "->"};
    return (link->bytes > 0 || link->there) &&
           tui_filter_finds(filter, texts, sizeof texts / sizeof *texts);
}

static void devices_add(struct devices_state *state, const struct tui_scene *scene, bool used)
{
    const struct mgb_facts *facts = scene->snapshot->facts;
    int rule = state->count;
    line_add(state, used ? DEVICES_RULE : DEVICES_IDLE_RULE, 0);
    if (used)
        line_add(state, DEVICES_HEAD, 0);
    for (int i = 0; i < facts->device_count; i++)
        if (facts->devices[i].used == used && device_passes(&facts->devices[i], scene->filter))
            line_add(state, DEVICES_DEVICE, i);
    section_end(state, rule, used ? 2 : 1);
}

static void links_add(struct devices_state *state, const struct tui_scene *scene, bool used)
{
    const struct mgb_facts *facts = scene->snapshot->facts;
    int rule = state->count;
    line_add(state, used ? DEVICES_LINKS_RULE : DEVICES_IDLE_LINKS_RULE, 0);
    if (used)
        line_add(state, DEVICES_LINKS_HEAD, 0);
    for (int i = 0; i < facts->link_count; i++)
        if ((facts->links[i].bytes > 0) == used &&
            link_passes(facts, &facts->links[i], scene->filter))
            line_add(state, DEVICES_LINK, i);
    section_end(state, rule, used ? 2 : 1);
}

/* Where one GPU is in use it has no peer in use either: then all of them are told with those that are not. */
static void peers_add(struct devices_state *state, const struct tui_scene *scene, bool used)
{
    const struct mgb_facts *facts = scene->snapshot->facts;
    int rule = state->count, gpus = 0, busy = 0;
    for (int i = 0; i < facts->device_count; i++) {
        gpus += tui_device_is_gpu(&facts->devices[i]);
        busy += tui_device_is_gpu(&facts->devices[i]) && facts->devices[i].used;
    }
    line_add(state, used ? DEVICES_PEERS_RULE : DEVICES_IDLE_PEERS_RULE, 0);
    line_add(state, DEVICES_PEERS_HEAD, used);
    for (int i = 0; gpus > 1 && i < facts->device_count; i++)
        if (tui_device_is_gpu(&facts->devices[i]) && (facts->devices[i].used && busy > 1) == used &&
            device_passes(&facts->devices[i], scene->filter))
            line_add(state, DEVICES_PEER, i);
    section_end(state, rule, 2);
}

/* A machine may have many more devices than a placement takes: those in use come first. */
static void lines_make(struct devices_state *state, const struct tui_scene *scene)
{
    state->count = 0;
    if (!scene->snapshot->facts)
        return;
    devices_add(state, scene, true);
    links_add(state, scene, true);
    peers_add(state, scene, true);
    state->used = state->count;
    devices_add(state, scene, false);
    links_add(state, scene, false);
    peers_add(state, scene, false);
}

/* Headings are passed over, on in the direction of the key; at either end back to the nearest line. */
static void hand_settle(struct devices_state *state, int direction)
{
    struct tui_list *list = &state->list;
    for (int turns = 0; turns < 2; turns++, direction = -direction) {
        while (list->at >= 0 && list->at < state->count &&
               tui_devices_is_heading(state->lines[list->at].kind))
            list->at += direction;
        if (list->at >= 0 && list->at < state->count)
            break;
        list->at = list->at < 0 ? 0 : state->count - 1;
    }
    tui_list_fit(list, state->count, list->fits);
    bool first = true; /* the headings above the first line come back into view with it */
    for (int i = 0; first && i < list->at; i++)
        first = tui_devices_is_heading(state->lines[i].kind);
    if (first && list->at < list->fits)
        list->top = 0;
}

static void empty_draw(struct tui_canvas *canvas, struct tui_rect area,
                       const struct tui_scene *scene)
{
    tui_rule(canvas, area, 0, "DEVICES", NULL);
    if (!scene->snapshot->facts)
        tui_put(canvas, area, 1, 1, TUI_DIM, "no model yet: M on the bench chooses one");
    else
        tui_print(canvas, area, 1, 1, TUI_DIM, "nothing has \"%s\"", scene->filter);
}

static void devices_draw(void *private, struct tui_canvas *canvas, struct tui_rect area,
                         const struct tui_scene *scene)
{
    struct devices_state *state = private;
    int detail = area.rows >= 18 ? 6 : area.rows >= 14 ? 5 : 0;
    lines_make(state, scene);
    if (state->used == area.rows - 5) /* that fits, with a line less told of the one in hand */
        detail = detail ? 5 : 0;
    state->rows = area;
    state->rows.rows -= detail;
    tui_list_fit(&state->list, state->count, state->rows.rows);
    hand_settle(state, 1);
    if (!state->count) {
        empty_draw(canvas, area, scene);
        return;
    }
    for (int y = 0; y < state->rows.rows && state->list.top + y < state->count; y++) {
        int n = state->list.top + y;
        struct tui_rect row = tui_rect_row(state->rows, y);
        tui_devices_draw(canvas, row, &state->lines[n], scene, state->list.left);
        if (n == state->list.at)
            tui_list_hand(canvas, row);
    }
    if (detail)
        tui_devices_detail(canvas, tui_rect_inside(area, area.rows - detail, 0),
                           &state->lines[state->list.at], scene);
}

/* The matrix moves by a receiver. */
static bool side_move(struct devices_state *state, const struct tui_scene *scene, int by)
{
    int gpus = 0;
    for (int i = 0; i < scene->snapshot->facts->device_count; i++)
        gpus += tui_device_is_gpu(&scene->snapshot->facts->devices[i]);
    int left = state->list.left + by;
    state->list.left = left < 0 || gpus == 0 ? 0 : left >= gpus ? gpus - 1 : left;
    return true;
}

/* Where the detail has no room on the screen it is shown on one of its own. */
static bool detail_show(const struct devices_state *state, const struct tui_scene *scene,
                        struct tui_desk *desk)
{
    enum { ROWS = 8, COLUMNS = 160 };
    struct tui_canvas canvas;
    if (state->list.at < 0 || !tui_canvas_init(&canvas, ROWS, COLUMNS, !scene->ascii))
        return true;
    tui_devices_detail(&canvas, tui_canvas_whole(&canvas), &state->lines[state->list.at], scene);
    char *text = tui_canvas_text(&canvas);
    if (text)
        desk->show(desk, "device or link", text);
    free(text);
    tui_canvas_done(&canvas);
    return true;
}

static bool devices_act(void *private, enum tui_action action, const struct tui_scene *scene,
                        struct tui_desk *desk)
{
    struct devices_state *state = private;
    lines_make(state, scene);
    if (!state->count)
        return tui_list_act(&state->list, action);
    tui_list_fit(&state->list, state->count, state->list.fits);
    if (action == TUI_ACT_LEFT || action == TUI_ACT_RIGHT)
        return side_move(state, scene, action == TUI_ACT_LEFT ? -1 : 1);
    if (action == TUI_ACT_OPEN)
        return detail_show(state, scene, desk);
    int before = state->list.at;
    if (!tui_list_act(&state->list, action))
        return false;
    hand_settle(state, action == TUI_ACT_FIRST || state->list.at > before ? 1 : -1);
    return true;
}

static void devices_click(void *private, int y, int x, int wheel, const struct tui_scene *scene,
                          struct tui_desk *desk)
{
    struct devices_state *state = private;
    (void)desk;
    lines_make(state, scene);
    tui_list_fit(&state->list, state->count, state->list.fits);
    if (tui_list_click(&state->list, state->rows, y, x, wheel))
        hand_settle(state, wheel < 0 ? -1 : 1);
}

static void devices_done(void *private)
{
    struct devices_state *state = private;
    free(state->lines);
    state->lines = NULL;
}

const struct tui_view tui_view_devices = {
    .name = "Devices",
    .place = TUI_ON_DEVICES,
    .state_size = sizeof(struct devices_state),
    .draw = devices_draw,
    .act = devices_act,
    .click = devices_click,
    .done = devices_done,
};
