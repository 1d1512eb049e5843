/* The bench's placement: what is in force, and what each key would change. */
#include "app/tui/bench.h"

#include "app/tui/words.h"

#include <mgb/placement.h>
#include <stdio.h>
#include <string.h>

/* Where the columns of a line are, counted from the corner of the area. */
struct columns {
    int name, now, next, end; /* end: before which the effect ends */
    int note;                 /* 0: no room */
};

static struct columns columns_make(int width)
{
    if (width < 44)
        return (struct columns){.name = 3, .now = 15, .next = 24, .end = width};
    if (width < 72)
        return (struct columns){.name = 3, .now = 15, .next = 25, .end = width < 56 ? width : 50};
    return (struct columns){.name = 3, .now = 17, .next = 29, .end = 54, .note = 56};
}

static struct tui_rect cut(struct tui_rect row, int from, int to)
{
    row.x += from;
    row.columns = (to < row.columns ? to : row.columns) - from;
    return row;
}

static bool is_set(const struct tui_scene *scene, enum mgb_option_id option)
{
    return option < MGB_OPTION_COUNT && scene->pending && scene->pending->options >> option & 1;
}

/* It, or the place that it is short for. */
static bool is_pending(const struct tui_scene *scene, enum mgb_option_id option)
{
    return is_set(scene, option) || is_set(scene, mgb_toggle_twin(option));
}

/* The value on its way, in the words that the line has for it. */
static const char *pending_words(const struct tui_scene *scene, enum mgb_option_id option,
                                 const struct mgb_pressed_row *row)
{
    enum mgb_option_id twin = mgb_toggle_twin(option);
    const char *value = scene->pending->value[option];
    bool flag = option == MGB_OPTION_CPU_RELOCATION || option == MGB_OPTION_CPU_MERGE;
    if (is_set(scene, twin) && *scene->pending->value[twin])
        return tui_device_words(scene->pending->value[twin]);
    if (!is_set(scene, option) || !*value)
        return "default";
    if (row && *row->next && strcmp(row->value, value) == 0)
        return row->next;
    if (flag)
        return strcmp(value, "true") == 0 ? "cpu:0" : "gpu:0";
    return tui_device_words(value);
}

/* What stands after the value in force: the next one and its effect, or what is on its way. */
static void next_draw(struct tui_canvas *canvas, struct tui_rect part,
                      const struct tui_scene *scene, enum mgb_option_id option,
                      const struct mgb_pressed_row *row)
{
    char effect[32];
    if (is_pending(scene, option)) {
        tui_put(canvas, part, 0, 0, TUI_WARN, pending_words(scene, option, row));
        tui_put_right(canvas, part, 0, part.columns, TUI_WARN, "pending");
        return;
    }
    if (!row)
        return;
    size_t next = strlen(row->next) < 10 ? strlen(row->next) : 10;
    size_t most = part.columns > (int)next ? (size_t)part.columns - next - 1 : 0;
    tui_bench_effect(effect, sizeof effect, row, most);
    struct tui_rect value = cut(part, 0, part.columns - (int)strlen(effect) - 1);
    bool moves = row->from != MGB_PRESSED_PARKED && row->from != MGB_PRESSED_REFUSED;
    bool number = *row->next >= '0' && *row->next <= '9'; /* half a number would be another one */
    if (!number || (int)strlen(row->next) <= value.columns)
        tui_put(canvas, value, 0, 0, moves ? TUI_PLAIN : TUI_DIM, row->next);
    tui_put_right(canvas, part, 0, part.columns, tui_bench_effect_style(row), effect);
}

static void note_draw(struct tui_canvas *canvas, struct tui_rect row, const struct columns *at,
                      const struct mgb_pressed_row *pressed)
{
    char note[320];
    if (at->note && pressed && pressed->from != MGB_PRESSED_NONE)
        tui_put(canvas, row, 0, at->note, TUI_DIM, tui_bench_known(note, sizeof note, pressed));
}

static void line_draw(struct tui_canvas *canvas, struct tui_rect row, const struct tui_scene *scene,
                      int number)
{
    struct columns at = columns_make(row.columns);
    const struct mgb_snapshot *s = scene->snapshot;
    struct bench_line line = tui_bench_line(number, s);
    bool both = line.keys[1] != '\0';
    const struct mgb_pressed_row *up = tui_bench_row(s, line.option, 1);
    const struct mgb_pressed_row *down = both ? tui_bench_row(s, line.option, -1) : NULL;
    const struct mgb_pressed_row *any = up ? up : down;
    char now[96];
    tui_put(canvas, row, 0, 0, TUI_KEY, line.keys);
    tui_put(canvas, cut(row, 0, at.now - 1), 0, at.name, TUI_PLAIN, line.name);
    if (any && *any->now)
        snprintf(now, sizeof now, "%s", any->now);
    else
        tui_bench_value(now, sizeof now, s->facts, line.option);
    tui_put(canvas, cut(row, 0, at.next - 1), 0, at.now, TUI_STRONG, now);
    if (!both || is_pending(scene, line.option)) {
        next_draw(canvas, cut(row, at.next, at.end), scene, line.option, up);
        note_draw(canvas, row, &at, up);
        return;
    }
    int middle = at.next + (at.end - at.next - 1) / 2;
    next_draw(canvas, cut(row, at.next, middle), scene, line.option, down);
    if (down && up)
        tui_put(canvas, row, 0, middle, TUI_DIM, "|");
    next_draw(canvas, cut(row, middle + 1, at.end), scene, line.option, up);
    note_draw(canvas, row, &at, up && *up->reason ? up : down);
}

static void global_draw(struct tui_canvas *canvas, struct tui_rect row,
                        const struct tui_scene *scene)
{
    struct columns at = columns_make(row.columns);
    const struct mgb_facts *f = scene->snapshot->facts;
    if (!f)
        return;
    bool weak = f->batch_mode == MGB_BATCH_PER_GPU;
    tui_put(canvas, row, 0, at.name, TUI_PLAIN, weak ? "global" : "per GPU");
    tui_print(canvas, row, 0, at.now, TUI_PLAIN, "%d", weak ? f->global_batch : f->batch_per_gpu);
    int64_t largest = scene->snapshot->pressed ? scene->snapshot->pressed->largest_batch : 0;
    if (largest > 0 && !at.note)
        tui_print(canvas, row, 0, at.next, TUI_DIM, "most that fits: %lld", (long long)largest);
    else
        tui_put(canvas, row, 0, at.next, TUI_DIM,
                weak ? "weak: grows with GPUs" : "strong: is shared out");
    if (largest > 0 && at.note)
        tui_print(canvas, row, 0, at.note, TUI_DIM, "largest batch for each GPU that fits: %lld",
                  (long long)largest);
}

/* "sum cpu:0, update cpu:0": the places that the lines above do not tell; what is pending elsewhere comes first. */
static void more_draw(struct tui_canvas *canvas, struct tui_rect row, const struct tui_scene *scene)
{
    static const enum mgb_option_id shown[] = {MGB_OPTION_SUM_AT,    MGB_OPTION_UPDATE_AT,
                                               MGB_OPTION_ALLREDUCE, MGB_OPTION_WIRE_TYPE,
                                               MGB_OPTION_PRECISION, MGB_OPTION_RECOMPUTE};
    static const char *const words[] = {"sum", "update", "", "wire", "", "recompute"};
    struct columns at = columns_make(row.columns);
    const struct mgb_facts *facts = scene->snapshot->facts;
    int x = tui_put(canvas, row, 0, 0, TUI_KEY, "o");
    x = tui_put(canvas, row, 0, at.name, TUI_PLAIN, "more...");
    x = at.now;
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        if (tui_bench_has_line(i, scene->snapshot) || !is_set(scene, i))
            continue;
        const char *value = scene->pending->value[i];
        x = tui_print(canvas, row, 0, x, TUI_WARN, "%s=%s pending ",
                      mgb_placement_options()[i].name, *value ? value : "default");
    }
    for (size_t i = 0; facts && i < sizeof shown / sizeof *shown; i++) {
        const char *value = facts->options[shown[i]].effective;
        if (*value)
            x = tui_print(canvas, row, 0, x, TUI_PLAIN, "%s%s%s%s", x > at.now ? ", " : "",
                          words[i], *words[i] ? " " : "", tui_device_words(value));
    }
}

/* A line of an option that has none above, on large screens. */
static void other_draw(struct tui_canvas *canvas, struct tui_rect row,
                       const struct tui_scene *scene, const struct mgb_pressed_row *pressed)
{
    struct columns at = columns_make(row.columns);
    char now[96];
    tui_put(canvas, cut(row, 0, at.now - 1), 0, at.name, TUI_DIM,
            mgb_placement_options()[pressed->option].name);
    if (*pressed->now)
        snprintf(now, sizeof now, "%s", pressed->now);
    else
        tui_bench_value(now, sizeof now, scene->snapshot->facts, pressed->option);
    tui_put(canvas, cut(row, 0, at.next - 1), 0, at.now, TUI_PLAIN, now);
    next_draw(canvas, cut(row, at.next, at.end), scene, pressed->option, pressed);
    note_draw(canvas, row, &at, pressed);
}

static void others_draw(struct tui_canvas *canvas, struct tui_rect area, int y,
                        const struct tui_scene *scene)
{
    const struct mgb_snapshot *s = scene->snapshot;
    for (int i = 0; s->pressed && i < s->pressed->count && y < area.rows; i++) {
        const struct mgb_pressed_row *row = &s->pressed->rows[i];
        if (row->direction > 0 && !tui_bench_has_line(row->option, s))
            other_draw(canvas, tui_rect_row(area, y++), scene, row);
    }
}

/* Are the times those of stored runs on either side? */
static bool is_stored(const struct mgb_pressed *pressed)
{
    for (int i = 0; pressed && i < pressed->count; i++)
        if (pressed->rows[i].from == MGB_PRESSED_MEASURED && pressed->rows[i].base_run)
            return true;
    return false;
}

static void head_draw(struct tui_canvas *canvas, struct tui_rect area,
                      const struct mgb_snapshot *snapshot)
{
    const struct mgb_pressed *pressed = snapshot->pressed;
    bool simulated = snapshot->facts && snapshot->facts->simulated;
    struct columns at = columns_make(area.columns);
    tui_rule(canvas, area, 0, "PLACEMENT", NULL);
    tui_put(canvas, area, 0, at.now - 1, TUI_PLAIN, " now ");
    bool stored = is_stored(pressed), wide = at.end - at.next >= 21;
    tui_put(canvas, area, 0, at.next - 1, TUI_PLAIN,
            simulated && wide ? " if pressed ~simulated"
            : simulated       ? " pressed ~sim "
            : stored && wide  ? " if pressed *stored "
            : stored          ? " pressed *stored "
            : wide            ? " if pressed *measured"
                              : " if pressed ");
}

void tui_bench_draw_placement(struct tui_canvas *canvas, struct tui_rect area,
                              const struct tui_scene *scene)
{
    int y = 1, left = area.rows - 1;
    head_draw(canvas, area, scene->snapshot);
    if (!scene->snapshot->facts) {
        tui_put(canvas, area, 1, 1, TUI_PLAIN, "no model yet");
        tui_put(canvas, area, 2, 1, TUI_PLAIN, "M chooses one, or :model NAME");
        return;
    }
    /* What goes first when there is little room: the global batch, then the last lines. */
    bool global = left >= BENCH_LINES + 2, more = left >= BENCH_LINES + 1;
    for (int i = 0; i < BENCH_LINES; i++) {
        if (i == BENCH_LINES - 1 && global)
            global_draw(canvas, tui_rect_row(area, y++), scene);
        if (y < area.rows)
            line_draw(canvas, tui_rect_row(area, y++), scene, i);
    }
    if (more)
        more_draw(canvas, tui_rect_row(area, y++), scene);
    others_draw(canvas, area, y, scene);
}
