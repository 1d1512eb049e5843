/* The bench's devices: where each one's time went in a step, when it was done, and how full it is. */
#include "app/tui/bench.h"

#include "app/tui/chart.h"
#include "app/tui/list.h"
#include "app/tui/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Columns of a row, counted from the right: what there is no room for is left out. */
struct tail {
    int ms, memory, capacity, mark; /* columns wide; 0: left out */
};

static struct tail tail_make(int width)
{
    if (width < 56)
        return (struct tail){.ms = 6, .memory = 0, .mark = 2};
    if (width < 72)
        return (struct tail){.ms = 7, .memory = 12, .mark = 2};
    return (struct tail){.ms = 7, .memory = 12, .capacity = 8, .mark = 10};
}

static const struct mgb_bench_device_times *times_find(const struct mgb_snapshot *s,
                                                       const char *device)
{
    for (int i = 0; s->phases.steps > 0 && i < s->phases.count; i++)
        if (strcmp(s->phases.devices[i].device, device) == 0)
            return &s->phases.devices[i];
    return NULL;
}

static const struct mgb_bench_memory *memory_find(const struct mgb_snapshot *s, const char *device)
{
    for (int i = 0; s->now.number > 0 && i < s->now.memory_count; i++)
        if (strcmp(s->now.memory[i].device, device) == 0)
            return &s->now.memory[i];
    return NULL;
}

static void bar_draw(struct tui_canvas *canvas, struct tui_rect row, int x, int columns,
                     const struct mgb_bench_device_times *times, int64_t wall_ns)
{
    struct tui_bar_part parts[MGB_PHASE_COUNT];
    double total = 0;
    for (int i = 0; i < MGB_PHASE_COUNT; i++)
        total += (double)times->busy_ns[i];
    total =
        fmax(total, (double)wall_ns); /* copies beside computation: busy for longer than the step */
    for (int i = 0; i < MGB_PHASE_COUNT; i++)
        parts[i] =
            (struct tui_bar_part){.letter = tui_phase_letter(i),
                                  .style = tui_phase_style(i),
                                  .share = total > 0 ? (double)times->busy_ns[i] / total : 0};
    tui_chart_bar(canvas, row, 0, x, columns, parts, MGB_PHASE_COUNT);
}

static void unit_text(char *out, size_t size, int64_t bytes, double unit)
{
    double value = (double)bytes / unit;
    if (bytes < 0)
        snprintf(out, size, "-");
    else
        snprintf(out, size, value < 99.995 ? "%.2f" : "%.0f", value);
}

static int memory_draw(struct tui_canvas *canvas, struct tui_rect row, int x, struct tail tail,
                       const struct mgb_snapshot *s, const struct mgb_facts_device *device)
{
    const struct mgb_bench_memory *memory = memory_find(s, device->name);
    char peak[24], planned[24], text[60];
    double unit = tui_bench_unit(s);
    unit_text(peak, sizeof peak, memory ? memory->peak : -1, unit);
    unit_text(planned, sizeof planned, memory ? memory->planned : device->planned_bytes, unit);
    bool over = memory && memory->peak > memory->planned;
    snprintf(text, sizeof text, "%s/%s%s", peak, planned, over ? "!" : "");
    if (tail.memory)
        tui_put_right(canvas, row, 0, x + tail.memory, over ? TUI_WARN : TUI_PLAIN, text);
    x += tail.memory;
    int64_t capacity = memory ? memory->capacity : device->capacity_bytes;
    if (tail.capacity && capacity > 0)
        tui_print(canvas, row, 0, x + 1, TUI_DIM, "of %.*f", (double)capacity < 10 * unit ? 1 : 0,
                  (double)capacity / unit);
    return x + tail.capacity;
}

static void row_draw(struct tui_canvas *canvas, struct tui_rect row, int name,
                     const struct mgb_snapshot *s, const struct mgb_facts_device *device)
{
    struct tail tail = tail_make(row.columns);
    int bar = row.columns - name - tail.ms - tail.memory - tail.capacity - tail.mark;
    const struct mgb_bench_device_times *times = times_find(s, device->name);
    bool slowest = times && s->phases.slowest == times - s->phases.devices;
    char text[24];
    struct tui_rect left = row;
    left.columns = name - 1;
    tui_put(canvas, left, 0, 1, slowest ? TUI_STRONG : TUI_PLAIN, tui_device_words(device->name));
    if (times)
        bar_draw(canvas, row, name, bar, times, s->phases.wall_ns);
    else
        tui_put(canvas, row, 0, name, TUI_DIM,
                !s->now.number          ? "not run yet"
                : !s->now.figures.steps ? "warm-up"
                                        : "not timed yet");
    int x = name + bar + tail.ms;
    tui_put_right(canvas, row, 0, x, TUI_PLAIN,
                  tui_number(text, sizeof text,
                             times && times->finish_ns > 0 ? (double)times->finish_ns / 1e6 : NAN));
    if (tail.mark > 2) {
        x = memory_draw(canvas, row, x, tail, s, device);
        tui_put(canvas, row, 0, x + 1, TUI_WARN, slowest ? "* slowest" : "");
    } else {
        tui_put(canvas, row, 0, x, TUI_WARN, slowest ? "*" : "");
        memory_draw(canvas, row, x + 2, tail, s, device);
    }
}

static void rule_draw(struct tui_canvas *canvas, struct tui_rect area,
                      const struct bench_state *state, const struct mgb_snapshot *s)
{
    char title[120];
    const struct mgb_facts *f = s->facts;
    const char *what = "";
    if (f && f->simulated)
        what = " (SIMULATED)";
    else if (f && strcmp(f->backend, "host") == 0)
        what = " (host: CPU devices)";
    char steps[60] = "one step";
    double median = s->now.figures.median_ms * 1e6;
    if (s->phases.warmup && s->phases.steps > 0)
        snprintf(steps, sizeof steps, "a warm-up step");
    else if (s->phases.steps > 1 && (double)s->phases.wall_ns > 1.25 * median)
        snprintf(steps, sizeof steps, "mean of %lld steps, with outliers",
                 (long long)s->phases.steps);
    int used = snprintf(title, sizeof title, "PHASES %s, ms%s", steps, what);
    if (state->rows > state->fits && used > 0)
        snprintf(title + used, sizeof title - (size_t)used, " %d-%d of %d", state->top + 1,
                 state->top + state->fits, state->rows);
    bool wide = area.columns >= 72;
    tui_rule(canvas, area, 0, title,
             !wide                         ? NULL
             : tui_bench_unit(s) > 1 << 20 ? "peak/planned GiB"
                                           : "peak/planned MiB");
}

void tui_bench_draw_phases(struct tui_canvas *canvas, struct tui_rect area, int rows,
                           struct bench_state *state, const struct tui_scene *scene)
{
    const struct mgb_snapshot *s = scene->snapshot;
    int devices[MGB_BENCH_DEVICES], towers, longest = 5;
    state->rows = tui_bench_devices(devices, &towers, s->facts);
    state->fits = rows;
    if (state->top > state->rows - rows)
        state->top = state->rows - rows;
    if (state->top < 0)
        state->top = 0;
    int y = area.rows > rows ? 1 : 0;
    if (y)
        rule_draw(canvas, area, state, s);
    for (int i = 0; i < state->rows; i++) {
        int length = (int)strlen(tui_device_words(s->facts->devices[devices[i]].name));
        longest = length > longest ? length : longest;
    }
    longest = longest < area.columns / 5 ? longest : area.columns / 5;
    for (int i = 0; i < rows && state->top + i < state->rows; i++)
        row_draw(canvas, tui_rect_row(area, y + i), longest + 2, s,
                 &s->facts->devices[devices[state->top + i]]);
}
