/* The plan screen: every task of a step by queue, and above it the newest traced step as a timeline. Draws the snapshot's
 * facts and traced step. */
#include "app/tui/desk.h"
#include "app/tui/list.h"
#include "app/tui/timeline.h"
#include "app/tui/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum plan_column {
    COLUMN_NUMBER,
    COLUMN_QUEUE,
    COLUMN_KIND,
    COLUMN_PHASE,
    COLUMN_NAME,
    COLUMN_BYTES,
    COLUMN_WAITS
};
static const struct tui_column columns[] = {
    [COLUMN_NUMBER] = {"task", 5, 5, true, 2}, [COLUMN_QUEUE] = {"queue", 11, 27, false, 8},
    [COLUMN_KIND] = {"kind", 9, 9, false, 4},  [COLUMN_PHASE] = {"phase", 8, 8, false, 6},
    [COLUMN_NAME] = {"name", 12, 0, false, 9}, [COLUMN_BYTES] = {"bytes", 9, 10, true, 5},
    [COLUMN_WAITS] = {"waits", 5, 5, true, 3},
};
enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

struct plan_state {
    struct tui_list list;
    struct tui_keep keep;
    struct timeline_view view;
    int *order, *scratch, *counts; /* owned; order: tasks that pass, by queue */
    int capacity, buckets;
    const struct mgb_facts *facts; /* held: whose tasks `order` has */
    char *filter;                  /* owned: that they passed; NULL: not known */
    int passed;
    struct tui_rect rows; /* where the list was drawn */
};

static bool is_link(const struct mgb_facts_task *task)
{
    return task->from >= 0 && task->from != task->device;
}

static bool is_collective(const struct mgb_facts_task *task)
{
    return task->copy_queue && !is_link(task);
}

static struct timeline_queue queue_of(const struct mgb_facts_task *task)
{
    return (struct timeline_queue){task->device, is_link(task) ? task->from : -1,
                                   is_collective(task)};
}

static void queue_write(char *out, size_t size, const struct mgb_facts *facts,
                        const struct mgb_facts_task *task)
{
    if (is_link(task))
        snprintf(out, size, "from %s", tui_device_at(facts, task->from));
    else
        snprintf(out, size, "%s", is_collective(task) ? "collective" : "compute");
}

static bool passes(const struct mgb_facts *facts, const struct mgb_facts_task *task,
                   const char *filter)
{
    if (!*filter)
        return true;
    const char *const texts[] = {tui_device_at(facts, task->device),
                                 task->kind,
                                 mgb_phase_name(task->phase),
                                 task->name,
                                 is_collective(task) ? "collective"
                                 : is_link(task)     ? "from"
                                                     : "compute",
                                 is_link(task) ? tui_device_at(facts, task->from) : ""};
    return tui_filter_finds(filter, texts, sizeof texts / sizeof *texts);
}

static bool state_reserve(struct plan_state *state, const struct mgb_facts *facts)
{
    int buckets = facts->device_count + 4;
    if (facts->task_count <= state->capacity && buckets <= state->buckets)
        return true;
    size_t count = (size_t)facts->task_count + 1;
    int *order = realloc(state->order, count * sizeof *order);
    state->order = order ? order : state->order;
    int *scratch = realloc(state->scratch, count * sizeof *scratch);
    state->scratch = scratch ? scratch : state->scratch;
    int *counts = realloc(state->counts, (size_t)buckets * sizeof *counts);
    state->counts = counts ? counts : state->counts;
    if (!order || !scratch || !counts) {
        state->capacity = state->buckets = 0;
        return false;
    }
    state->capacity = facts->task_count;
    state->buckets = buckets;
    return true;
}

enum key { KEY_FROM, KEY_DEVICE, KEY_KIND };

static int key_of(const struct mgb_facts *facts, const struct mgb_facts_task *task, enum key key)
{
    struct timeline_queue queue = queue_of(task);
    int kind = queue.from >= 0 ? 2 : queue.collective ? 1 : 0;
    int value = key == KEY_FROM ? queue.from : key == KEY_DEVICE ? queue.device : kind;
    return value < 0 ? 0 : value > facts->device_count + 2 ? facts->device_count + 2 : value;
}

/* A pass of counting sort. */
static void order_by(const struct plan_state *state, int *to, const int *from, int count,
                     const struct mgb_facts *facts, enum key key)
{
    memset(state->counts, 0, (size_t)state->buckets * sizeof *state->counts);
    for (int i = 0; i < count; i++)
        state->counts[key_of(facts, &facts->tasks[from[i]], key) + 1]++;
    for (int k = 1; k < state->buckets; k++)
        state->counts[k] += state->counts[k - 1];
    for (int i = 0; i < count; i++)
        to[state->counts[key_of(facts, &facts->tasks[from[i]], key)]++] = from[i];
}

static int tasks_order(const struct plan_state *state, const struct mgb_facts *facts,
                       const char *filter)
{
    int count = 0;
    for (int i = 0; i < facts->task_count; i++)
        if (passes(facts, &facts->tasks[i], filter))
            state->scratch[count++] = i;
    order_by(state, state->order, state->scratch, count, facts, KEY_FROM);
    order_by(state, state->scratch, state->order, count, facts, KEY_DEVICE);
    order_by(state, state->order, state->scratch, count, facts, KEY_KIND);
    return count;
}

static void order_forget(struct plan_state *state)
{
    mgb_shared_drop(state->facts);
    free(state->filter);
    state->facts = NULL;
    state->filter = NULL;
    state->passed = 0;
}

/* How many pass. There may be tens of thousands: they are looked through when they or the filter change, not for every
 * picture. */
static int order_make(struct plan_state *state, const struct tui_scene *scene)
{
    const struct mgb_facts *facts = scene->snapshot->facts;
    if (facts && state->facts == facts && state->filter && !strcmp(state->filter, scene->filter))
        return state->passed;
    order_forget(state);
    if (!facts || !facts->task_count || !state_reserve(state, facts))
        return 0;
    state->facts = mgb_shared_hold(facts);
    state->filter = strdup(scene->filter);
    state->passed = tasks_order(state, facts, scene->filter);
    return state->passed;
}

static int order_follow(struct plan_state *state, const struct tui_scene *scene)
{
    int count = order_make(state, scene);
    tui_list_keep(&state->list, &state->keep, state->order, count, scene->filter, false);
    return count;
}

static void hand_moved(struct plan_state *state, const struct tui_scene *scene)
{
    tui_list_keep(&state->list, &state->keep, state->order, state->list.count, scene->filter, true);
}

static const struct mgb_facts_task *in_hand(const struct plan_state *state,
                                            const struct tui_scene *scene)
{
    bool there = state->list.at >= 0 && state->list.at < state->list.count;
    return there ? &scene->snapshot->facts->tasks[state->order[state->list.at]] : NULL;
}

static void row_draw(struct tui_canvas *canvas, struct tui_rect row, const struct tui_table *table,
                     const struct mgb_facts *facts, int number)
{
    const struct mgb_facts_task *task = &facts->tasks[number];
    struct tui_rect inner = tui_rect_inside(row, 0, 1);
    char queue[64], bytes[32], text[16], waits[16];
    tui_timeline_name(queue, sizeof queue, facts, queue_of(task));
    snprintf(text, sizeof text, "%d", number);
    snprintf(waits, sizeof waits, task->wait_count > 0 ? "%d" : "-", task->wait_count);
    const char *const texts[COLUMN_COUNT] = {
        [COLUMN_NUMBER] = text,
        [COLUMN_QUEUE] = queue,
        [COLUMN_KIND] = task->kind,
        [COLUMN_PHASE] = mgb_phase_name(task->phase),
        [COLUMN_NAME] = task->name,
        [COLUMN_BYTES] = task->bytes ? tui_bytes(bytes, sizeof bytes, task->bytes) : "-",
        [COLUMN_WAITS] = waits,
    };
    for (int i = 0; i < COLUMN_COUNT; i++)
        tui_table_cell(table, columns, i, canvas, inner, TUI_PLAIN, texts[i]);
}

static void tasks_draw(const struct plan_state *state, struct tui_canvas *canvas,
                       struct tui_rect area, const struct tui_scene *scene)
{
    const struct mgb_facts *facts = scene->snapshot->facts;
    struct tui_rect head = tui_rect_inside(tui_rect_row(area, 1), 0, 1);
    struct tui_column fitted[COLUMN_COUNT];
    struct tui_table table;
    char title[96], right[64];
    memcpy(fitted, columns, sizeof fitted);
    fitted[COLUMN_QUEUE].most = 2 * tui_device_columns(facts) + 1;
    if (facts->all_tasks > facts->task_count)
        snprintf(title, sizeof title, "TASKS %lld, the first %d", (long long)facts->all_tasks,
                 facts->task_count);
    else
        snprintf(title, sizeof title, "TASKS %d by queue", facts->task_count);
    snprintf(right, sizeof right, "%d/%d", state->list.at + 1, state->list.count);
    tui_rule(canvas, area, 0, title, right);
    tui_table_fit(&table, fitted, COLUMN_COUNT, head.columns);
    tui_table_head(&table, columns, canvas, head, -1, true);
    for (int y = 0; y < state->rows.rows && state->list.top + y < state->list.count; y++) {
        struct tui_rect row = tui_rect_row(state->rows, y);
        row_draw(canvas, row, &table, facts, state->order[state->list.top + y]);
        if (state->list.top + y == state->list.at)
            tui_list_hand(canvas, row);
    }
    if (!state->list.count && *scene->filter)
        tui_print(canvas, state->rows, 0, 1, TUI_DIM, "nothing has \"%s\"", scene->filter);
    else if (!state->list.count)
        tui_put(canvas, state->rows, 0, 1, TUI_DIM, "the plan has no task");
}

static int timeline_rows(struct tui_rect area, const struct tui_scene *scene)
{
    enum { TASK_ROWS = 8, SHORT_ROWS = 3, LEAST_ROWS = 2 };
    if (!scene->snapshot->traced)
        return LEAST_ROWS;
    int wanted = tui_timeline_rows(scene->snapshot->traced), most = area.rows - TASK_ROWS;
    if (most <= 5)
        return area.rows >= 9 ? SHORT_ROWS : LEAST_ROWS;
    return wanted < most ? wanted : most;
}

static void timeline_draw(const struct plan_state *state, struct tui_canvas *canvas,
                          struct tui_rect area, const struct tui_scene *scene)
{
    const struct mgb_facts_task *task = in_hand(state, scene);
    struct timeline_queue hand = {-1, -1, false};
    if (task)
        hand = queue_of(task);
    if (scene->snapshot->traced) {
        tui_timeline_draw(canvas, area, scene->snapshot->facts, scene->snapshot->traced,
                          &state->view, hand);
        return;
    }
    tui_rule(canvas, area, 0, "TIMELINE", NULL);
    int x = tui_print(canvas, area, 1, 1, TUI_DIM, "no traced step yet%s",
                      scene->readonly ? "" : ": t traces the next one");
    if (*scene->snapshot->phases.bound)
        tui_print(canvas, area, 1, x, TUI_PLAIN, "; bound by %s", scene->snapshot->phases.bound);
}

static void plan_draw(void *private, struct tui_canvas *canvas, struct tui_rect area,
                      const struct tui_scene *scene)
{
    struct plan_state *state = private;
    int count = order_follow(state, scene);
    if (!scene->snapshot->facts) {
        tui_list_fit(&state->list, 0, 0);
        tui_rule(canvas, area, 0, "PLAN", NULL);
        tui_put(canvas, area, 1, 1, TUI_DIM, "no model yet: M on the bench chooses one");
        return;
    }
    struct tui_rect above = area;
    above.rows = timeline_rows(area, scene);
    struct tui_rect tasks = tui_rect_inside(area, above.rows, 0);
    state->rows = tui_rect_inside(tasks, 2, 0);
    tui_list_fit(&state->list, count, state->rows.rows);
    timeline_draw(state, canvas, above, scene);
    tasks_draw(state, canvas, tasks, scene);
}

static void times_print(FILE *out, const struct mgb_bench_traced *traced,
                        const struct mgb_facts_task *task)
{
    int count = 0;
    for (int i = 0; i < traced->count; i++) {
        const struct mgb_bench_task *timed = &traced->at[i];
        if (timed->device != task->device || (is_link(task) && timed->from != task->from) ||
            timed->phase != task->phase || strcmp(timed->name, task->name) != 0)
            continue;
        double ms = (double)(timed->end_ns - timed->begin_ns) / 1e6;
        fprintf(out, "step %lld: from %.3f to %.3f ms, %.3f ms%s", (long long)traced->step,
                (double)timed->begin_ns / 1e6, (double)timed->end_ns / 1e6, ms,
                timed->critical ? ", on the critical path" : "");
        if (timed->bytes > 0 && ms > 0)
            fprintf(out, ", %.2f GB/s", (double)timed->bytes / ms / 1e6);
        fputc('\n', out);
        count++;
    }
    if (!count)
        fprintf(out, "step %lld, which was traced, has no such task\n", (long long)traced->step);
}

static bool task_show(const struct plan_state *state, const struct tui_scene *scene,
                      struct tui_desk *desk)
{
    const struct mgb_facts *facts = scene->snapshot->facts;
    const struct mgb_facts_task *task = in_hand(state, scene);
    char *text = NULL, queue[64], bytes[32];
    size_t size;
    FILE *out = task ? open_memstream(&text, &size) : NULL;
    if (!out)
        return true;
    queue_write(queue, sizeof queue, facts, task);
    fprintf(out, "%s\n\nkind    %s\nphase   %s\ndevice  %s\nqueue   %s\n", task->name, task->kind,
            mgb_phase_name(task->phase), tui_device_at(facts, task->device), queue);
    if (task->tower >= 0)
        fprintf(out, "tower   %d\n", task->tower);
    else
        fprintf(out, "tower   none: it is done once for all\n");
    fprintf(out, "bytes   %s\nwaits   for %d task%s of other queues\n\n",
            tui_bytes(bytes, sizeof bytes, task->bytes), task->wait_count,
            task->wait_count == 1 ? "" : "s");
    if (scene->snapshot->traced)
        times_print(out, scene->snapshot->traced, task);
    else
        fprintf(out, "no traced step yet: t traces the next one\n");
    if (fclose(out) == 0)
        desk->show(desk, "a task of the plan", text);
    free(text);
    return true;
}

static bool plan_act(void *private, enum tui_action action, const struct tui_scene *scene,
                     struct tui_desk *desk)
{
    struct plan_state *state = private;
    const struct mgb_bench_traced *traced = scene->snapshot->traced;
    tui_list_fit(&state->list, order_follow(state, scene), state->list.fits);
    if (action == TUI_ACT_OPEN)
        return task_show(state, scene, desk);
    if (action == TUI_ACT_ZOOM_IN || action == TUI_ACT_ZOOM_OUT) {
        if (traced)
            tui_timeline_zoom(&state->view, traced, action == TUI_ACT_ZOOM_IN ? 1 : -1);
        return true;
    }
    if (action == TUI_ACT_LEFT || action == TUI_ACT_RIGHT) {
        if (traced)
            tui_timeline_move(&state->view, traced, action == TUI_ACT_LEFT ? -1 : 1);
        return true;
    }
    if (!tui_list_act(&state->list, action))
        return false;
    hand_moved(state, scene);
    return true;
}

static void plan_click(void *private, int y, int x, int wheel, const struct tui_scene *scene,
                       struct tui_desk *desk)
{
    struct plan_state *state = private;
    (void)desk;
    tui_list_fit(&state->list, order_follow(state, scene), state->list.fits);
    if (tui_list_click(&state->list, state->rows, y, x, wheel))
        hand_moved(state, scene);
}

static void plan_done(void *private)
{
    struct plan_state *state = private;
    order_forget(state);
    free(state->order);
    free(state->scratch);
    free(state->counts);
    *state = (struct plan_state){0};
}

const struct tui_view tui_view_plan = {
    .name = "Plan",
    .place = TUI_ON_PLAN,
    .state_size = sizeof(struct plan_state),
    .draw = plan_draw,
    .act = plan_act,
    .click = plan_click,
    .done = plan_done,
};
