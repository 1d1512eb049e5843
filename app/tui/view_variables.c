/* The variables screen: every storage of every variable, where it lies and as what; what is stored more often than the
 * placement says is marked and summed. Draws the snapshot's facts. */
#include "app/tui/desk.h"
#include "app/tui/list.h"
#include "app/tui/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum variable_column { COLUMN_NAME, COLUMN_SHAPE, COLUMN_BYTES, COLUMN_DEVICE, COLUMN_ROLE };
static const struct tui_column columns[] = {
    [COLUMN_NAME] = {"name", 14, 0, false, 9},  [COLUMN_SHAPE] = {"shape", 9, 12, false, 2},
    [COLUMN_BYTES] = {"bytes", 9, 10, true, 8}, [COLUMN_DEVICE] = {"device", 6, 13, false, 7},
    [COLUMN_ROLE] = {"role", 11, 11, false, 6},
};
enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

struct variables_state {
    struct tui_list list;
    struct tui_keep keep;
    int sorted; /* 0: the graph's order, else column + 1 */
    bool descending;
    int *order; /* owned: rows of the facts that pass, as shown; of the newest draw or key */
    int capacity;
    int64_t bytes;          /* of those */
    struct tui_rect rows;   /* where the list was drawn */
    struct tui_table table; /* as drawn above it */
};

static bool is_extra(const struct mgb_facts_variable *variable)
{
    return strcmp(variable->role, "duplicate") == 0 || strcmp(variable->role, "leftover") == 0;
}

struct ordering {
    const struct mgb_facts *facts;
    int column;
    bool descending;
};

static int compare(const void *a, const void *b, void *context)
{
    const struct ordering *ordering = context;
    int i = *(const int *)a, k = *(const int *)b, sign = 0;
    const struct mgb_facts_variable *x = &ordering->facts->variables[i];
    const struct mgb_facts_variable *y = &ordering->facts->variables[k];
    switch ((enum variable_column)ordering->column) {
    case COLUMN_NAME:
        sign = strcmp(x->name, y->name);
        break;
    case COLUMN_SHAPE:
        sign = strcmp(x->shape, y->shape);
        break;
    case COLUMN_BYTES:
        sign = (x->bytes > y->bytes) - (x->bytes < y->bytes);
        break;
    case COLUMN_DEVICE:
        sign = (x->device > y->device) - (x->device < y->device);
        break;
    case COLUMN_ROLE:
        sign = strcmp(x->role, y->role);
        break;
    }
    sign = ordering->descending ? -sign : sign;
    return sign ? sign : (i > k) - (i < k);
}

static bool passes(const struct mgb_facts *facts, const struct mgb_facts_variable *variable,
                   const char *filter)
{
    const char *const texts[] = {variable->name, tui_device_at(facts, variable->device),
                                 variable->role, variable->shape};
    return tui_filter_finds(filter, texts, sizeof texts / sizeof *texts);
}

static void order_turn(int *order, int count)
{
    for (int i = 0; i < count / 2; i++) {
        int kept = order[i];
        order[i] = order[count - 1 - i];
        order[count - 1 - i] = kept;
    }
}

static int order_make(struct variables_state *state, const struct tui_scene *scene)
{
    const struct mgb_facts *facts = scene->snapshot->facts;
    int all = facts ? facts->variable_count : 0, count = 0;
    if (all > state->capacity) {
        int *order = realloc(state->order, (size_t)all * sizeof *order);
        if (!order)
            return 0;
        state->order = order;
        state->capacity = all;
    }
    state->bytes = 0;
    for (int i = 0; i < all; i++)
        if (passes(facts, &facts->variables[i], scene->filter)) {
            state->order[count++] = i;
            state->bytes += facts->variables[i].bytes;
        }
    struct ordering ordering = {facts, state->sorted - 1, state->descending};
    if (state->sorted && count)
        qsort_r(state->order, (size_t)count, sizeof *state->order, compare, &ordering);
    else if (state->descending)
        order_turn(state->order, count);
    return count;
}

static int order_follow(struct variables_state *state, const struct tui_scene *scene)
{
    int count = order_make(state, scene);
    tui_list_keep(&state->list, &state->keep, state->order, count, scene->filter, false);
    return count;
}

static void hand_moved(struct variables_state *state, const struct tui_scene *scene)
{
    tui_list_keep(&state->list, &state->keep, state->order, state->list.count, scene->filter, true);
}

static void totals_draw(struct tui_canvas *canvas, struct tui_rect area,
                        const struct mgb_facts *facts)
{
    char bytes[32];
    bool clean = !facts->duplicate_count && !facts->leftover_count;
    int x =
        tui_print(canvas, area, 1, 1, facts->duplicate_count ? TUI_BAD : TUI_GOOD,
                  "%sduplicates %d, %s", facts->duplicate_count ? "! " : "", facts->duplicate_count,
                  tui_bytes(bytes, sizeof bytes, facts->duplicate_bytes));
    x = tui_print(canvas, area, 1, x + 2, facts->leftover_count ? TUI_BAD : TUI_GOOD,
                  "%sleftovers %d, %s", facts->leftover_count ? "! " : "", facts->leftover_count,
                  tui_bytes(bytes, sizeof bytes, facts->leftover_bytes));
    tui_put(canvas, area, 1, x + 2, clean ? TUI_GOOD : TUI_BAD,
            clean ? "ok: stored as the placement says" : "stored more often than it says");
}

/* "stored on  cpu:0 91.0 MiB  gpu:0 ..."; as many as fit, and how many more. */
static void devices_draw(struct tui_canvas *canvas, struct tui_rect area,
                         const struct mgb_facts *facts)
{
    char bytes[32], text[80];
    int x = tui_put(canvas, area, 2, 1, TUI_DIM, "bytes on"), left = 0;
    for (int device = 0; device < facts->device_count; device++) {
        int64_t sum = 0;
        for (int i = 0; i < facts->variable_count; i++)
            sum += facts->variables[i].device == device ? facts->variables[i].bytes : 0;
        if (!sum)
            continue;
        snprintf(text, sizeof text, "%s %s", tui_device_at(facts, device),
                 tui_bytes(bytes, sizeof bytes, sum));
        if (left || x + 2 + tui_text_width(canvas, text) > area.columns - 9)
            left++;
        else
            x = tui_put(canvas, area, 2, x + 2, TUI_PLAIN, text);
    }
    if (left)
        tui_print(canvas, area, 2, x + 2, TUI_DIM, "+%d more", left);
}

static void row_draw(struct tui_canvas *canvas, struct tui_rect row, const struct tui_table *table,
                     const struct mgb_facts *facts, const struct mgb_facts_variable *variable)
{
    char bytes[32], role[32];
    enum tui_style style = is_extra(variable) ? TUI_BAD : TUI_PLAIN;
    struct tui_rect inner = tui_rect_inside(row, 0, 1);
    snprintf(role, sizeof role, "%s%s", is_extra(variable) ? "! " : "", variable->role);
    tui_table_cell(table, columns, COLUMN_NAME, canvas, inner, style, variable->name);
    tui_table_cell(table, columns, COLUMN_SHAPE, canvas, inner, style, variable->shape);
    tui_table_cell(table, columns, COLUMN_BYTES, canvas, inner, style,
                   tui_bytes(bytes, sizeof bytes, variable->bytes));
    tui_table_cell(table, columns, COLUMN_DEVICE, canvas, inner, style,
                   tui_device_at(facts, variable->device));
    tui_table_cell(table, columns, COLUMN_ROLE, canvas, inner, style, role);
}

static const struct mgb_facts_variable *in_hand(const struct variables_state *state,
                                                const struct tui_scene *scene)
{
    bool there = state->list.at >= 0 && state->list.at < state->list.count;
    return there ? &scene->snapshot->facts->variables[state->order[state->list.at]] : NULL;
}

/* The whole name of what is in hand, and why it is a finding. */
static void foot_draw(const struct variables_state *state, struct tui_canvas *canvas,
                      struct tui_rect row, const struct tui_scene *scene)
{
    const struct mgb_facts_variable *variable = in_hand(state, scene);
    if (variable && is_extra(variable))
        tui_print(canvas, row, 0, 0, TUI_BAD, " ! %s: %s", variable->role,
                  variable->why ? variable->why : "not expected here");
    else if (variable)
        tui_print(canvas, row, 0, 0, TUI_DIM, " %s %s: %s on %s", variable->name, variable->shape,
                  variable->role, tui_device_at(scene->snapshot->facts, variable->device));
}

static void head_draw(const struct variables_state *state, struct tui_canvas *canvas,
                      struct tui_rect area, const struct tui_scene *scene)
{
    const struct mgb_facts *facts = scene->snapshot->facts;
    char title[96], right[96], bytes[32];
    snprintf(title, sizeof title, "VARIABLES %d, %s", facts->distinct_variables,
             tui_bytes(bytes, sizeof bytes, facts->variable_bytes));
    if (area.rows < 8 || area.columns < 60)
        snprintf(right, sizeof right, "%d/%d", state->list.at + 1, state->list.count);
    else if (state->list.count == facts->variable_count)
        snprintf(right, sizeof right, "%d stored, %s", state->list.count,
                 tui_bytes(bytes, sizeof bytes, state->bytes));
    else
        snprintf(right, sizeof right, "%d of %d stored, %s", state->list.count,
                 facts->variable_count, tui_bytes(bytes, sizeof bytes, state->bytes));
    tui_rule(canvas, area, 0, title, right);
}

static void variables_draw(void *private, struct tui_canvas *canvas, struct tui_rect area,
                           const struct tui_scene *scene)
{
    struct variables_state *state = private;
    const struct mgb_facts *facts = scene->snapshot->facts;
    int count = order_follow(state, scene), above = area.rows >= 8 ? 4 : 2;
    state->rows = tui_rect_inside(area, above, 0);
    state->rows.rows -= area.rows >= 7;
    tui_list_fit(&state->list, count, state->rows.rows);
    if (!facts) {
        tui_rule(canvas, area, 0, "VARIABLES", NULL);
        tui_put(canvas, area, 1, 1, TUI_DIM, "no model yet: M on the bench chooses one");
        return;
    }
    head_draw(state, canvas, area, scene);
    if (above == 4) {
        totals_draw(canvas, area, facts);
        devices_draw(canvas, area, facts);
    }
    struct tui_rect head = tui_rect_inside(tui_rect_row(area, above - 1), 0, 1);
    struct tui_column fitted[COLUMN_COUNT];
    memcpy(fitted, columns, sizeof fitted);
    fitted[COLUMN_DEVICE].most = tui_device_columns(facts);
    tui_table_fit(&state->table, fitted, COLUMN_COUNT, head.columns);
    tui_table_head(&state->table, columns, canvas, head, state->sorted - 1, !state->descending);
    if (above == 4)
        tui_list_mark(&state->list, canvas, area, 2);
    for (int y = 0; y < state->rows.rows && state->list.top + y < count; y++) {
        struct tui_rect row = tui_rect_row(state->rows, y);
        row_draw(canvas, row, &state->table, facts,
                 &facts->variables[state->order[state->list.top + y]]);
        if (state->list.top + y == state->list.at)
            tui_list_hand(canvas, row);
    }
    if (!count)
        tui_print(canvas, state->rows, 0, 1, TUI_DIM, "nothing has \"%s\"", scene->filter);
    if (area.rows >= 7)
        foot_draw(state, canvas, tui_rect_row(area, area.rows - 1), scene);
}

/* Every storage of the variable in hand. */
static bool storages_show(const struct variables_state *state, const struct tui_scene *scene,
                          struct tui_desk *desk)
{
    const struct mgb_facts *facts = scene->snapshot->facts;
    const struct mgb_facts_variable *variable = in_hand(state, scene);
    char *text = NULL, bytes[32];
    size_t size;
    FILE *out = variable ? open_memstream(&text, &size) : NULL;
    if (!out)
        return true;
    fprintf(out, "%s  %s\n\n", variable->name, variable->shape);
    for (int i = 0; i < facts->variable_count; i++) {
        const struct mgb_facts_variable *other = &facts->variables[i];
        if (strcmp(other->name, variable->name) != 0)
            continue;
        fprintf(out, "%-13s %-10s %10s%s%s%s\n", tui_device_at(facts, other->device), other->role,
                tui_bytes(bytes, sizeof bytes, other->bytes), is_extra(other) ? "  ! " : "",
                is_extra(other) && other->why ? other->why : "",
                is_extra(other) && !other->why ? "not expected here" : "");
    }
    if (fclose(out) == 0)
        desk->show(desk, "where it is stored", text);
    free(text);
    return true;
}

static bool variables_act(void *private, enum tui_action action, const struct tui_scene *scene,
                          struct tui_desk *desk)
{
    struct variables_state *state = private;
    tui_list_fit(&state->list, order_follow(state, scene), state->list.fits);
    if (action == TUI_ACT_SORT)
        state->sorted = (state->sorted + 1) % (COLUMN_COUNT + 1);
    else if (action == TUI_ACT_REVERSE)
        state->descending = !state->descending;
    else if (action == TUI_ACT_OPEN)
        return storages_show(state, scene, desk);
    else if (!tui_list_act(&state->list, action))
        return false;
    else
        hand_moved(state, scene);
    return true;
}

/* A click on a column's title sorts by it, a second one turns it round. */
static void variables_click(void *private, int y, int x, int wheel, const struct tui_scene *scene,
                            struct tui_desk *desk)
{
    struct variables_state *state = private;
    (void)desk;
    tui_list_fit(&state->list, order_follow(state, scene), state->list.fits);
    if (tui_list_click(&state->list, state->rows, y, x, wheel) || wheel) {
        hand_moved(state, scene);
        return;
    }
    int column =
        y == state->rows.y - 1 ? tui_table_column_at(&state->table, x - state->rows.x - 1) : -1;
    if (column < 0)
        return;
    state->descending = state->sorted == column + 1 && !state->descending;
    state->sorted = column + 1;
}

static void variables_save(void *private, void (*put)(void *, const char *, const char *),
                           void *context)
{
    struct variables_state *state = private;
    put(context, "sort", state->sorted ? columns[state->sorted - 1].title : "graph");
    put(context, "descending", state->descending ? "yes" : "no");
}

static bool variables_load(void *private, const char *name, const char *value)
{
    struct variables_state *state = private;
    if (strcmp(name, "descending") == 0) {
        state->descending = strcmp(value, "yes") == 0;
        return state->descending || strcmp(value, "no") == 0;
    }
    if (strcmp(name, "sort") != 0)
        return false;
    state->sorted = 0;
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (strcmp(columns[i].title, value) == 0)
            state->sorted = i + 1;
    return state->sorted || strcmp(value, "graph") == 0;
}

static void variables_done(void *private)
{
    struct variables_state *state = private;
    free(state->order);
    state->order = NULL;
    state->capacity = 0;
}

const struct tui_view tui_view_variables = {
    .name = "Variables",
    .place = TUI_ON_VARIABLES,
    .state_size = sizeof(struct variables_state),
    .draw = variables_draw,
    .act = variables_act,
    .click = variables_click,
    .save = variables_save,
    .load = variables_load,
    .done = variables_done,
};
