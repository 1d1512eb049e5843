/* See timeline.h. */
#include "app/tui/timeline.h"

#include "app/tui/chart.h"
#include "app/tui/list.h"
#include "app/tui/words.h"

#include <stdio.h>
#include <string.h>

enum {
    MOST_QUEUES = 512,
    MOST_CELLS = 512,
    FOOT_ROWS = 4, /* critical path, time, bound by, critical path by phase */
    BUSY_COLUMNS = 5
};

struct queues {
    int count;
    struct timeline_queue at[MOST_QUEUES];
    int64_t busy_ns[MOST_QUEUES];
};

bool tui_timeline_same(struct timeline_queue a, struct timeline_queue b)
{
    return a.device == b.device && a.from == b.from && a.collective == b.collective;
}

void tui_timeline_name(char *out, size_t size, const struct mgb_facts *facts,
                       struct timeline_queue queue)
{
    if (queue.from >= 0)
        snprintf(out, size, "%s>%s", tui_device_at(facts, queue.from),
                 tui_device_at(facts, queue.device));
    else
        snprintf(out, size, "%s%s", tui_device_at(facts, queue.device),
                 queue.collective ? " all" : "");
}

/* A task that names its own device as the source moves nothing between devices. */
static struct timeline_queue queue_of(const struct mgb_bench_task *task)
{
    bool link = task->from >= 0 && task->from != task->device;
    return (struct timeline_queue){task->device, link ? task->from : -1,
                                   !link && strcmp(task->kind, "allreduce") == 0};
}

/* Compute queues first, then collectives, then links: what computes is seen even where few rows are there. */
static int64_t queue_rank(struct timeline_queue queue)
{
    int64_t kind = queue.from >= 0 ? 2 : queue.collective ? 1 : 0;
    return kind << 60 | (int64_t)(unsigned)queue.device << 30 |
           (queue.from >= 0 ? queue.from & 0x3fffffff : 0);
}

/* Where the queue is, or would be, among the sorted ones. */
static int queue_place(const struct queues *queues, struct timeline_queue queue)
{
    int at = 0;
    while (at < queues->count && queue_rank(queues->at[at]) < queue_rank(queue))
        at++;
    return at;
}

static void queues_make(struct queues *queues, const struct mgb_bench_traced *traced)
{
    int last = 0; /* tasks of one queue come one after the other, mostly */
    queues->count = 0;
    for (int i = 0; i < traced->count; i++) {
        struct timeline_queue queue = queue_of(&traced->at[i]);
        if (last >= queues->count || !tui_timeline_same(queues->at[last], queue)) {
            last = queue_place(queues, queue);
            bool there = last < queues->count && tui_timeline_same(queues->at[last], queue);
            if (!there && queues->count == MOST_QUEUES)
                continue;
            if (!there) {
                size_t behind = (size_t)(queues->count++ - last);
                memmove(&queues->at[last + 1], &queues->at[last], behind * sizeof *queues->at);
                memmove(&queues->busy_ns[last + 1], &queues->busy_ns[last],
                        behind * sizeof *queues->busy_ns);
                queues->at[last] = queue;
                queues->busy_ns[last] = 0;
            }
        }
        queues->busy_ns[last] += traced->at[i].end_ns - traced->at[i].begin_ns;
    }
}

static int64_t whole_ns(const struct mgb_bench_traced *traced)
{
    int64_t end = traced->wall_ns;
    for (int i = 0; i < traced->count; i++)
        end = traced->at[i].end_ns > end ? traced->at[i].end_ns : end;
    return end > 0 ? end : 1;
}

static int64_t shown_ns(const struct timeline_view *view, int64_t whole)
{
    int64_t shown = whole >> view->zoom;
    return shown > 0 ? shown : 1;
}

static void view_clamp(struct timeline_view *view, int64_t whole)
{
    int64_t most = whole - shown_ns(view, whole);
    view->begin_ns = view->begin_ns > most ? most : view->begin_ns;
    view->begin_ns = view->begin_ns < 0 ? 0 : view->begin_ns;
}

void tui_timeline_zoom(struct timeline_view *view, const struct mgb_bench_traced *traced, int by)
{
    int64_t whole = whole_ns(traced), middle = view->begin_ns + shown_ns(view, whole) / 2;
    view->zoom += by;
    view->zoom = view->zoom > TIMELINE_MOST_ZOOM ? TIMELINE_MOST_ZOOM : view->zoom;
    view->zoom = view->zoom < 0 ? 0 : view->zoom;
    view->begin_ns = middle - shown_ns(view, whole) / 2;
    view_clamp(view, whole);
}

void tui_timeline_move(struct timeline_view *view, const struct mgb_bench_traced *traced, int by)
{
    int64_t whole = whole_ns(traced);
    view->begin_ns += by * (shown_ns(view, whole) / 4 + 1);
    view_clamp(view, whole);
}

int tui_timeline_rows(const struct mgb_bench_traced *traced)
{
    struct queues queues;
    queues_make(&queues, traced);
    return 1 + queues.count + FOOT_ROWS;
}

struct window {
    int64_t begin_ns, shown_ns;
    int cells;
};
struct cells { /* how long each phase runs within the time of each cell, ns */
    int64_t ns[MOST_CELLS][MGB_PHASE_COUNT];
    bool critical[MOST_CELLS];
};

static int64_t cell_begin(const struct window *window, int cell)
{
    return window->begin_ns +
           (int64_t)((double)window->shown_ns * cell / (window->cells > 0 ? window->cells : 1));
}

static int cell_of(const struct window *window, int64_t ns)
{
    double at = (double)(ns - window->begin_ns) / (double)window->shown_ns * window->cells;
    int cell = at <= 0 ? 0 : at >= window->cells ? window->cells - 1 : (int)at;
    return cell;
}

static void task_spread(struct cells *cells, const struct window *window,
                        const struct mgb_bench_task *task)
{
    int64_t end = window->begin_ns + window->shown_ns;
    if (task->end_ns < window->begin_ns || task->begin_ns >= end)
        return;
    int first = cell_of(window, task->begin_ns), last = cell_of(window, task->end_ns);
    for (int cell = first; cell <= last; cell++) {
        int64_t from = cell_begin(window, cell), to = cell_begin(window, cell + 1);
        from = task->begin_ns > from ? task->begin_ns : from;
        to = task->end_ns < to ? task->end_ns : to;
        if (to <= from && first < last)
            continue; /* ends on a border */
        cells->ns[cell][task->phase] += to > from ? to - from : 1;
        cells->critical[cell] |= task->critical;
    }
}

static char capital(char letter)
{
    return letter >= 'a' && letter <= 'z' ? (char)(letter - 'a' + 'A') : letter;
}

/* Each cell has the letter of what took most of it; one that anything ran in is never blank. */
static void cells_draw(struct tui_canvas *canvas, struct tui_rect row, int x,
                       const struct window *window, const struct cells *cells, bool capitals)
{
    for (int cell = 0; cell < window->cells; cell++) {
        int most = 0;
        for (int phase = 1; phase < MGB_PHASE_COUNT; phase++)
            if (cells->ns[cell][phase] > cells->ns[cell][most])
                most = phase;
        if (cells->ns[cell][most] <= 0)
            continue;
        char letter = tui_phase_letter((enum mgb_phase)most);
        letter = capitals && cells->critical[cell] ? capital(letter) : letter;
        tui_fill(canvas, row, 0, x + cell, 1, tui_phase_style((enum mgb_phase)most),
                 (unsigned char)letter, letter);
    }
}

struct drawing {
    struct tui_canvas *canvas;
    const struct mgb_facts *facts;
    const struct mgb_bench_traced *traced;
    struct window window;
    int64_t whole_ns;
    int name_columns;
    struct cells cells;
};

static void queue_draw(struct drawing *drawing, struct tui_rect row, struct timeline_queue queue,
                       int64_t busy_ns, bool in_hand)
{
    char name[80];
    memset(&drawing->cells, 0, sizeof drawing->cells);
    for (int i = 0; i < drawing->traced->count; i++)
        if (tui_timeline_same(queue_of(&drawing->traced->at[i]), queue))
            task_spread(&drawing->cells, &drawing->window, &drawing->traced->at[i]);
    tui_timeline_name(name, sizeof name, drawing->facts, queue);
    struct tui_rect label = row;
    label.columns = drawing->name_columns;
    tui_put(drawing->canvas, label, 0, 0, TUI_SELECTED, in_hand ? ">" : "");
    tui_put(drawing->canvas, label, 0, 1, in_hand ? TUI_STRONG : TUI_PLAIN, name);
    cells_draw(drawing->canvas, row, drawing->name_columns, &drawing->window, &drawing->cells,
               true);
    char busy[16];
    snprintf(busy, sizeof busy, "%.0f%%", 100.0 * (double)busy_ns / (double)drawing->whole_ns);
    tui_put_right(drawing->canvas, row, 0, row.columns, TUI_DIM, busy);
}

static void critical_draw(struct drawing *drawing, struct tui_rect row)
{
    memset(&drawing->cells, 0, sizeof drawing->cells);
    for (int i = 0; i < drawing->traced->count; i++)
        if (drawing->traced->at[i].critical)
            task_spread(&drawing->cells, &drawing->window, &drawing->traced->at[i]);
    tui_put(drawing->canvas, row, 0, 1, TUI_STRONG, "critical");
    cells_draw(drawing->canvas, row, drawing->name_columns, &drawing->window, &drawing->cells,
               true);
}

static void time_draw(struct drawing *drawing, struct tui_rect row)
{
    char text[64];
    struct tui_rect bar = tui_rect_inside(row, 0, drawing->name_columns);
    bar.columns = drawing->window.cells;
    tui_put(drawing->canvas, row, 0, 1, TUI_DIM, "ms");
    tui_fill(drawing->canvas, bar, 0, 0, bar.columns, TUI_DIM, 0xb7, '.');
    tui_print(drawing->canvas, bar, 0, 0, TUI_DIM, "%.1f ", (double)drawing->window.begin_ns / 1e6);
    snprintf(text, sizeof text, " %.1f",
             (double)(drawing->window.begin_ns + drawing->window.shown_ns) / 1e6);
    tui_put_right(drawing->canvas, bar, 0, bar.columns, TUI_DIM, text);
}

/* "path ms: backward 152.0 61%  forward 73.0 29%": the critical path, the largest first. Returns the column after it. */
static int path_put(struct drawing *drawing, struct tui_rect row, bool words)
{
    enum { MUCH = 10, LEAST_NS = 50000 }; /* percent that are worth telling; what is not "0.0" */
    const struct mgb_bench_traced *traced = drawing->traced;
    int64_t sum = traced->critical_gap_ns;
    bool told[MGB_PHASE_COUNT] = {false};
    for (int phase = 0; phase < MGB_PHASE_COUNT; phase++)
        sum += traced->critical_ns[phase];
    int x = tui_put(drawing->canvas, row, 0, 1, TUI_STRONG, "path ms:") - 1;
    for (int n = 0; n < MGB_PHASE_COUNT; n++) {
        int most = -1;
        for (int phase = 0; phase < MGB_PHASE_COUNT; phase++)
            if (!told[phase] && traced->critical_ns[phase] >= LEAST_NS &&
                (most < 0 || traced->critical_ns[phase] > traced->critical_ns[most]))
                most = phase;
        if (most < 0)
            break;
        enum mgb_phase phase = (enum mgb_phase)most;
        double percent = 100.0 * (double)traced->critical_ns[most] / (double)sum;
        char letter[2] = {tui_phase_letter(phase), '\0'};
        told[most] = true;
        x = tui_print(drawing->canvas, row, 0, x + 2, tui_phase_style(phase), "%s %.1f",
                      words ? mgb_phase_name(phase) : letter,
                      (double)traced->critical_ns[most] / 1e6);
        if (percent >= MUCH)
            x = tui_print(drawing->canvas, row, 0, x, tui_phase_style(phase), " %.0f%%", percent);
    }
    if (traced->critical_gap_ns >= LEAST_NS)
        x = tui_print(drawing->canvas, row, 0, x + 2, TUI_DIM, "gaps %.1f",
                      (double)traced->critical_gap_ns / 1e6);
    return x;
}

static void path_draw(struct drawing *drawing, struct tui_rect row)
{
    struct tui_rect nowhere = {0, 0, 0, 0};
    path_put(drawing, row, path_put(drawing, nowhere, true) <= row.columns);
}

static void bound_draw(struct drawing *drawing, struct tui_rect row)
{
    int x =
        tui_print(drawing->canvas, row, 0, 1, TUI_STRONG, "bound by %s",
                  *drawing->traced->bound ? drawing->traced->bound : "nothing that was measured");
    if (*drawing->traced->bound)
        tui_print(drawing->canvas, row, 0, x, TUI_PLAIN, " of %sstep %lld",
                  drawing->traced->warmup ? "warm-up " : "traced ",
                  (long long)drawing->traced->step);
}

static void rows_draw(struct drawing *drawing, struct tui_rect area, const struct queues *queues,
                      struct timeline_queue hand)
{
    int fits = area.rows - 1 - FOOT_ROWS, y = 1, at = queue_place(queues, hand);
    bool there = at < queues->count && tui_timeline_same(queues->at[at], hand);
    struct tui_list list = {.at = there ? at : 0};
    tui_list_fit(&list, queues->count, fits);
    for (int i = list.top; i < queues->count && i < list.top + fits; i++, y++)
        queue_draw(drawing, tui_rect_row(area, y), queues->at[i], queues->busy_ns[i],
                   there && i == at);
    if (list.fits < queues->count && area.columns >= 70)
        tui_print(drawing->canvas, area, 0, area.columns - 26, TUI_PLAIN, " queues %d-%d of %d ",
                  list.top + 1, list.top + fits, queues->count);
    critical_draw(drawing, tui_rect_row(area, y++));
    time_draw(drawing, tui_rect_row(area, y));
}

static void title_draw(const struct drawing *drawing, struct tui_rect area)
{
    char title[96], ms[24];
    const struct mgb_bench_traced *traced = drawing->traced;
    snprintf(title, sizeof title, "TIMELINE %sstep %lld, %s ms, traced",
             traced->warmup ? "warm-up " : "", (long long)traced->step,
             tui_number(ms, sizeof ms, (double)traced->wall_ns / 1e6));
    tui_rule(drawing->canvas, area, 0, title, NULL);
}

static int names_columns(const struct mgb_facts *facts, const struct queues *queues, int most)
{
    int columns = (int)strlen("critical");
    for (int i = 0; i < queues->count; i++) {
        char name[80];
        tui_timeline_name(name, sizeof name, facts, queues->at[i]);
        columns = (int)strlen(name) > columns ? (int)strlen(name) : columns;
    }
    return (columns > most ? most : columns) + 2;
}

void tui_timeline_draw(struct tui_canvas *canvas, struct tui_rect area,
                       const struct mgb_facts *facts, const struct mgb_bench_traced *traced,
                       const struct timeline_view *view, struct timeline_queue hand)
{
    struct queues queues;
    struct timeline_view now = *view;
    struct drawing drawing = {
        .canvas = canvas, .facts = facts, .traced = traced, .whole_ns = whole_ns(traced)};
    queues_make(&queues, traced);
    view_clamp(&now, drawing.whole_ns);
    drawing.name_columns = names_columns(facts, &queues, area.columns / 4);
    int cells = area.columns - drawing.name_columns - BUSY_COLUMNS;
    drawing.window = (struct window){now.begin_ns, shown_ns(&now, drawing.whole_ns),
                                     cells < 1            ? 1
                                     : cells > MOST_CELLS ? MOST_CELLS
                                                          : cells};
    title_draw(&drawing, area);
    bool rows = area.rows > 1 + FOOT_ROWS; /* else the words alone */
    if (rows)
        rows_draw(&drawing, area, &queues, hand);
    int y = area.rows >= 3 ? area.rows - 2 : area.rows - 1;
    if (rows && y > 1 + FOOT_ROWS - 2 + queues.count)
        y = 1 + FOOT_ROWS - 2 + queues.count;
    bound_draw(&drawing, tui_rect_row(area, y));
    if (area.rows >= 3)
        path_draw(&drawing, tui_rect_row(area, y + 1));
}
