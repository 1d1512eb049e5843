/* The bench's last lines: what bounds the step, whether every variable is there once, whether a toggle changed what is
 * computed, and what is wrong. */
#include "app/tui/bench.h"

#include "app/tui/list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of all devices the longest, by phase; 0: too short to be told. */
static void exposed_find(int64_t out[MGB_PHASE_WAIT], const struct mgb_bench_phases *phases)
{
    for (int k = 0; k < MGB_PHASE_WAIT; k++) {
        out[k] = 0;
        for (int i = 0; i < phases->count; i++)
            if (phases->devices[i].exposed_ns[k] > out[k])
                out[k] = phases->devices[i].exposed_ns[k];
        if (k == MGB_PHASE_FORWARD || k == MGB_PHASE_BACKWARD || out[k] < phases->wall_ns / 250)
            out[k] = 0;
    }
}

static void exposed_write(char *out, size_t size, const int64_t most[MGB_PHASE_WAIT])
{
    size_t used = 0;
    *out = '\0';
    for (int k = 0; k < MGB_PHASE_WAIT && used < size; k++)
        if (most[k] > 0)
            used += (size_t)snprintf(out + used, size - used, "%s%s %.*f",
                                     used ? "  " : "  exposed: ", mgb_phase_name((enum mgb_phase)k),
                                     most[k] < 950000    ? 2
                                     : most[k] < 9950000 ? 1
                                                         : 0,
                                     (double)most[k] / 1e6);
    if (used > 0 && used < size)
        snprintf(out + used, size - used, " ms");
}

/* Whole numbers only: where there is no room, the shortest are left out. */
static void bound_exposed(struct tui_canvas *canvas, struct tui_rect row, int x,
                          const struct mgb_bench_phases *phases)
{
    int64_t most[MGB_PHASE_WAIT];
    char text[200];
    exposed_find(most, phases);
    exposed_write(text, sizeof text, most);
    while (x + (int)strlen(text) > row.columns && *text) {
        int least = -1;
        for (int k = 0; k < MGB_PHASE_WAIT; k++)
            if (most[k] > 0 && (least < 0 || most[k] < most[least]))
                least = k;
        most[least] = 0;
        exposed_write(text, sizeof text, most);
    }
    tui_put(canvas, row, 0, x, TUI_PLAIN, text);
}

static void bound_draw(struct tui_canvas *canvas, struct tui_rect row, const struct mgb_snapshot *s)
{
    int x = 1;
    switch (s->state) {
    case MGB_BENCH_EMPTY:
        tui_put(canvas, row, 0, x, TUI_PLAIN,
                "M chooses a model; no device is touched before it runs");
        return;
    case MGB_BENCH_READY:
        tui_put(canvas, row, 0, x, TUI_PLAIN,
                "planned only: no device is touched, nothing is held; space runs it");
        return;
    case MGB_BENCH_FAILED:
        tui_put(canvas, row, 0, x, TUI_BAD, "FAILED: space opens a new run");
        return;
    case MGB_BENCH_OPENING:
    case MGB_BENCH_BUSY:
    case MGB_BENCH_SWEEPING:
        if (*s->doing)
            x = tui_print(canvas, row, 0, x, TUI_WARN, "%s...  ", s->doing);
        break;
    case MGB_BENCH_RUNNING:
    case MGB_BENCH_PAUSED:
        if (*s->doing)
            x = tui_print(canvas, row, 0, x, TUI_WARN, "%s  ", s->doing);
        break;
    }
    x = tui_put(canvas, row, 0, x, TUI_PLAIN, "bound by: ");
    if (s->phases.steps == 0 || !*s->phases.bound) {
        tui_put(canvas, row, 0, x, TUI_DIM, "not known before a timed step");
        return;
    }
    x = tui_put(canvas, row, 0, x, TUI_STRONG, s->phases.bound);
    bound_exposed(canvas, row, x, &s->phases);
}

static int count_draw(struct tui_canvas *canvas, struct tui_rect row, int x, const char *what,
                      int count, int64_t bytes)
{
    char text[32];
    enum tui_style style = count ? TUI_BAD : TUI_PLAIN;
    x = tui_print(canvas, row, 0, x, style, " | %s %d%s", what, count, count ? "!" : "");
    if (count)
        x = tui_print(canvas, row, 0, x, style, " %s", tui_bytes(text, sizeof text, bytes));
    return x;
}

static void variables_draw(struct tui_canvas *canvas, struct tui_rect row,
                           const struct mgb_snapshot *s)
{
    const struct mgb_facts *f = s->facts;
    char text[32];
    if (!f)
        return;
    bool once = !f->duplicate_count && !f->leftover_count;
    int x = tui_print(canvas, row, 0, 1, TUI_PLAIN, "vars %d, %s%s", f->distinct_variables,
                      tui_bytes(text, sizeof text, f->variable_bytes), once ? " stored once" : "");
    if (s->now.number && !isnan(s->now.figures.loss))
        x = tui_print(canvas, row, 0, x, TUI_PLAIN, " | loss %.*f",
                      s->now.figures.loss < 100 ? 4 : 1, s->now.figures.loss);
    else
        x = tui_put(canvas, row, 0, x, TUI_PLAIN, " | loss -");
    x = count_draw(canvas, row, x, "duplicates", f->duplicate_count, f->duplicate_bytes);
    count_draw(canvas, row, x, "leftovers", f->leftover_count, f->leftover_bytes);
}

static void verify_draw(struct tui_canvas *canvas, struct tui_rect row,
                        const struct mgb_snapshot *s)
{
    const struct mgb_bench_verified *v = &s->verified;
    int x = tui_put(canvas, row, 0, 1, TUI_KEY, "v");
    x = tui_put(canvas, row, 0, x + 1, TUI_PLAIN, "verify ");
    if (!v->there) {
        tui_put(canvas, row, 0, x, TUI_DIM,
                "not done; it proves that this trains the same as the one before");
        return;
    }
    x = tui_put(canvas, row, 0, x, v->equal ? TUI_GOOD : TUI_BAD,
                v->equal ? "OK: " : "DIFFERENT: ");
    tui_put(canvas, row, 0, x, TUI_PLAIN, v->text);
}

void tui_bench_draw_facts(struct tui_canvas *canvas, struct tui_rect area,
                          const struct tui_scene *scene)
{
    const struct mgb_snapshot *s = scene->snapshot;
    const struct mgb_facts *f = s->facts;
    int y = 0;
    bound_draw(canvas, tui_rect_row(area, y++), s);
    if (area.rows > 1)
        variables_draw(canvas, tui_rect_row(area, y++), s);
    if (area.rows > 2 && f)
        verify_draw(canvas, tui_rect_row(area, y++), s);
    const struct {
        const char *head, *text;
        enum tui_style style;
    } notes[] = {{"! ", s->message, TUI_BAD},
                 {"! record: ", s->log_message, TUI_WARN},
                 {"gave way: ", f ? f->gave_way : "", TUI_WARN},
                 {"remark: ", f ? f->remark : "", TUI_PLAIN},
                 {"placement: ", f ? f->title : "", TUI_DIM}};
    for (size_t i = 0; i < sizeof notes / sizeof *notes && y < area.rows; i++)
        if (*notes[i].text) {
            int x = tui_put(canvas, area, y, 1, notes[i].style, notes[i].head);
            tui_put(canvas, area, y++, x, notes[i].style, notes[i].text);
        }
}
