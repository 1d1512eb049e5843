/* The bench's answer: the segment in force beside the one before, and whether it is faster. Nothing stands here as measured
 * that is not: steps of the warm-up count for nothing, and what only the plan says is called plan. */
#include "app/tui/bench.h"

#include "app/tui/list.h"
#include "app/tui/words.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum line {
    LINE_STEP,
    LINE_INTERVAL,
    LINE_RATE,
    LINE_GPU,
    LINE_CPU,
    LINE_LINK,
    LINE_RATIO,
    LINE_SPEEDUP,
    LINE_COUNT,
    /* where there is more room */
    LINE_REASON = LINE_COUNT,
    LINE_STEPS,
    LINE_STEADY,
    LINE_P95,
    LINE_NOISE,
    LINE_OUTLIERS,
    LINE_SEGMENTS,
    LINE_LOSS,
    LINE_SCALING,
    LINE_TITLE,
    LINE_ALL
};

/* Lines that are there with so many rows: the first of these. */
static const enum line worth[LINE_COUNT] = {LINE_STEP,     LINE_RATIO, LINE_RATE, LINE_GPU,
                                            LINE_INTERVAL, LINE_LINK,  LINE_CPU,  LINE_SPEEDUP};

struct cells {
    char label[24], before[32], now[32];
};

/* "336..340" in ten columns; where both ends would read the same, how far they are from the middle. */
static void range_write(char *out, size_t size, double low, double high)
{
    char a[16], b[16];
    int digits = high < 9.995 ? 2 : high < 99.95 ? 1 : 0;
    snprintf(a, sizeof a, "%.*f", digits, low);
    snprintf(b, sizeof b, "%.*f", digits, high);
    if (isnan(low) || isnan(high))
        snprintf(out, size, "-");
    else if (strcmp(a, b) == 0 || strlen(a) + strlen(b) > 8)
        snprintf(out, size, "+-%.2g%%", high + low > 0 ? 100 * (high - low) / (high + low) : 0);
    else
        snprintf(out, size, "%.14s..%.14s", a, b);
}

static bool is_measured(const struct mgb_bench_segment *segment)
{
    return segment->number > 0 && segment->figures.steps > 0;
}

static void memory_text(char *out, size_t size, int64_t peak, int64_t planned, double unit)
{
    double value = (double)(peak >= 0 ? peak : planned) / unit;
    if (peak < 0 && planned <= 0)
        snprintf(out, size, "-");
    else
        snprintf(out, size, "%.*f%s", value < 99.995 ? 2 : 0, value, peak < 0 ? " plan" : "");
}

static bool is_cpu(const char *device)
{
    return strstr(device, "cpu:") != NULL;
}

/* The fullest GPU of a segment, or its /cpu:0; NULL: it has none. */
static const struct mgb_bench_memory *memory_find(const struct mgb_bench_segment *segment, bool cpu)
{
    const struct mgb_bench_memory *best = NULL;
    for (int i = 0; segment->number > 0 && i < segment->memory_count; i++) {
        const struct mgb_bench_memory *m = &segment->memory[i];
        int64_t bytes = m->peak >= 0 ? m->peak : m->planned;
        if (is_cpu(m->device) == cpu &&
            (!best || bytes > (best->peak >= 0 ? best->peak : best->planned)))
            best = m;
    }
    return best;
}

/* Before anything ran the plan is all there is. */
static const struct mgb_facts_device *planned_find(const struct mgb_facts *facts, bool cpu)
{
    const struct mgb_facts_device *best = NULL;
    for (int i = 0; facts && i < facts->device_count; i++) {
        const struct mgb_facts_device *d = &facts->devices[i];
        if (d->used && is_cpu(d->name) == cpu && (!best || d->planned_bytes > best->planned_bytes))
            best = d;
    }
    return best;
}

static void memory_write(struct cells *out, const struct mgb_snapshot *s, bool cpu)
{
    const struct mgb_bench_memory *now = memory_find(&s->now, cpu);
    const struct mgb_bench_memory *before = memory_find(&s->before, cpu);
    const struct mgb_facts_device *planned = s->now.number ? NULL : planned_find(s->facts, cpu);
    const char *device = now ? now->device : planned ? planned->name : cpu ? "/cpu:0" : "/gpu";
    double unit = tui_bench_unit(s);
    snprintf(out->label, sizeof out->label, "%.14s %s", tui_device_words(device),
             unit > 1 << 20 ? "GiB" : "MiB");
    if (now)
        memory_text(out->now, sizeof out->now, now->peak, now->planned, unit);
    else if (planned)
        memory_text(out->now, sizeof out->now, -1, planned->planned_bytes, unit);
    if (before)
        memory_text(out->before, sizeof out->before, before->peak, before->planned, unit);
}

static void traffic_write(char *out, size_t size, int64_t bytes)
{
    double mb = (double)bytes / 1e6;
    if (bytes < 0)
        snprintf(out, size, "-");
    else if (mb >= 99.95 || bytes == 0)
        snprintf(out, size, "%.0f", mb);
    else
        tui_number(out, size, mb);
}

static void times_write(struct cells *out, const struct mgb_bench_segment *segment, char *cell,
                        enum line line)
{
    const struct script_figures *g = &segment->figures;
    size_t size = sizeof out->now;
    if (!is_measured(segment)) {
        snprintf(cell, size, "%s", segment->number > 0 && line == LINE_STEP ? "warm-up" : "-");
        return;
    }
    if (line == LINE_INTERVAL)
        range_write(cell, size, g->ci95_low_ms, g->ci95_high_ms);
    else
        tui_number(cell, size,
                   line == LINE_STEP ? g->median_ms
                   : line == LINE_P95
                       ? g->p95_ms
                       : segment->global_batch * 1e3 / g->median_ms); /* as lists have it */
}

static void count_write(char *cell, size_t size, const struct mgb_bench_segment *segment,
                        enum line line)
{
    const struct script_figures *g = &segment->figures;
    if (segment->number <= 0)
        snprintf(cell, size, "-");
    else if (line == LINE_STEPS)
        snprintf(cell, size, "%lld+%lld", (long long)g->steps, (long long)g->warmup_steps);
    else if (line == LINE_STEADY)
        snprintf(cell, size, "%s", g->steady < 0 ? "-" : g->steady ? "yes" : "NO");
    else if (line == LINE_NOISE && !isnan(g->noise))
        snprintf(cell, size, "%.2g%%", g->noise * 100);
    else if (line == LINE_OUTLIERS && g->outliers >= 0)
        snprintf(cell, size, "%lld", (long long)g->outliers);
    else if (line == LINE_LOSS)
        tui_number(cell, size, g->loss);
    else
        snprintf(cell, size, "-");
}

static void cells_write(struct cells *out, const struct mgb_snapshot *s, enum line line)
{
    static const char *const labels[LINE_ALL] = {
        [LINE_STEP] = "step ms",      [LINE_INTERVAL] = "95% int.",   [LINE_RATE] = "examples/s",
        [LINE_LINK] = "link MB/step", [LINE_STEPS] = "timed+warm",    [LINE_STEADY] = "steady",
        [LINE_P95] = "95th pct ms",   [LINE_NOISE] = "noise",         [LINE_OUTLIERS] = "outliers",
        [LINE_LOSS] = "last loss",    [LINE_SEGMENTS] = "repetitions"};
    *out = (struct cells){.before = "-", .now = "-"};
    if (labels[line])
        snprintf(out->label, sizeof out->label, "%s", labels[line]);
    if (line == LINE_GPU || line == LINE_CPU) {
        memory_write(out, s, line == LINE_CPU);
    } else if (line == LINE_LINK) {
        int64_t planned = s->facts ? s->facts->traffic_bytes : -1;
        traffic_write(out->now, sizeof out->now, s->now.number ? s->now.traffic_bytes : planned);
        if (s->before.number)
            traffic_write(out->before, sizeof out->before, s->before.traffic_bytes);
    } else if (line == LINE_SEGMENTS) {
        if (s->answer.there)
            snprintf(out->now, sizeof out->now, "%d", s->answer.now_count);
        if (s->answer.there)
            snprintf(out->before, sizeof out->before, "%d", s->answer.before_count);
    } else if (line <= LINE_RATE || line == LINE_P95) {
        times_write(out, &s->now, out->now, line);
        times_write(out, &s->before, out->before, line);
    } else {
        count_write(out->now, sizeof out->now, &s->now, line);
        count_write(out->before, sizeof out->before, &s->before, line);
    }
}

/* ".731", "1.037", "12.3": a ratio as short as four digits are. */
static char *ratio_short(char *out, size_t size, double ratio)
{
    char text[24];
    tui_number(text, sizeof text, ratio);
    snprintf(out, size, "%s", text[0] == '0' && text[1] == '.' ? text + 1 : text);
    return out;
}

/* `room`: there is a line for the reason. */
static void ratio_draw(struct tui_canvas *canvas, struct tui_rect row, const struct mgb_snapshot *s,
                       bool room)
{
    const struct mgb_bench_answer *a = &s->answer;
    char text[120], ratio[24], low[24], high[24], word[16] = "", sign[24] = "";
    if (!s->before.number) {
        tui_put(canvas, row, 0, 0, TUI_DIM,
                s->now.number ? "toggle something to compare" : "nothing is measured yet");
        return;
    }
    if (!a->there || !*a->verdict) {
        tui_print(canvas, row, 0, 0, TUI_DIM, "seg %d/%d not judged yet", s->now.number,
                  s->before.number);
        return;
    }
    for (size_t i = 0; a->verdict[i] && i + 1 < sizeof word; i++)
        word[i] = (char)toupper((unsigned char)a->verdict[i]), word[i + 1] = '\0';
    bool faster = strcmp(word, "FASTER") == 0, slower = strcmp(word, "SLOWER") == 0;
    if (faster || slower)
        snprintf(sign, sizeof sign, " %+.0f%%", (a->ratio - 1) * 100);
    int x = snprintf(text, sizeof text, "%d/%d%s %s [%s,%s]", s->now.number, s->before.number,
                     a->per_example ? " ex" : "", ratio_short(ratio, sizeof ratio, a->ratio),
                     ratio_short(low, sizeof low, a->low), ratio_short(high, sizeof high, a->high));
    int verdict = (int)strlen(word) + 1;
    bool fits = x + (int)strlen(sign) + verdict <= row.columns;
    bool refused = strcmp(word, "REFUSED") == 0;
    if (refused || x + verdict > row.columns) /* the verdict goes before the interval */
        snprintf(text, sizeof text, "%d/%d %s", s->now.number, s->before.number, ratio);
    x = tui_print(canvas, row, 0, 0, TUI_PLAIN, "%s%s ", text, fits ? sign : "");
    x = tui_put(canvas, row, 0, x, faster ? TUI_GOOD : slower ? TUI_BAD : TUI_STRONG, word);
    bool open = refused || strcmp(word, "UNDECIDED") == 0;
    if (open && !room)
        tui_put(canvas, row, 0, x + 1, TUI_DIM, a->reason);
}

/* A base of few steps or other threads is doubted, and so is more than ideal: a bad moment, or caches help. */
static void speedup_draw(struct tui_canvas *canvas, struct tui_rect row,
                         const struct mgb_snapshot *s, bool room)
{
    const struct mgb_bench_answer *a = &s->answer;
    if (a->there && isnan(a->speedup) && *a->reason && !room) {
        tui_put(canvas, row, 0, 0, TUI_DIM, a->reason);
        return;
    }
    int x = tui_put(canvas, row, 0, 0, TUI_PLAIN, "vs 1 GPU ");
    bool weak = !s->facts || s->facts->batch_mode == MGB_BATCH_PER_GPU;
    bool doubtful = a->doubtful || a->efficiency > 1.05;
    if (a->there && !isnan(a->speedup))
        tui_print(canvas, row, 0, x, TUI_PLAIN, "%.2fx  eff %.0f%%%s (%s)", a->speedup,
                  a->efficiency * 100, doubtful ? "?" : "", weak ? "weak" : "strong");
    else
        tui_print(canvas, row, 0, x, TUI_DIM, "-  %s", a->there ? a->scaling : "");
}

/* A line of words; "" leaves it out. */
static const char *words_of(const struct mgb_snapshot *s, enum line line)
{
    if (line == LINE_REASON)
        return s->answer.reason;
    if (line == LINE_SCALING)
        return s->answer.scaling;
    return line == LINE_TITLE ? s->now.title : "";
}

static void line_draw(struct tui_canvas *canvas, struct tui_rect row, const struct tui_scene *scene,
                      enum line line, bool room)
{
    const struct mgb_snapshot *s = scene->snapshot;
    struct cells cells;
    int middle = row.columns < 33 ? row.columns - 11 : row.columns < 60 ? 22 : 31;
    if (line == LINE_RATIO) {
        ratio_draw(canvas, row, s, room);
    } else if (line == LINE_SPEEDUP) {
        speedup_draw(canvas, row, s, room);
    } else if (line == LINE_REASON || line == LINE_SCALING || line == LINE_TITLE) {
        tui_put(canvas, row, 0, 0, TUI_DIM, words_of(s, line));
    } else {
        cells_write(&cells, s, line);
        tui_put(canvas, row, 0, 0, TUI_PLAIN, cells.label);
        tui_put_right(canvas, row, 0, middle, TUI_PLAIN, cells.before);
        tui_put_right(canvas, row, 0, middle + 11, TUI_STRONG, cells.now);
    }
}

static void head_draw(struct tui_canvas *canvas, struct tui_rect area, int inset,
                      const struct mgb_snapshot *s)
{
    int width = area.columns - inset;
    int middle = inset + (width < 33 ? width - 11 : width < 60 ? 22 : 31);
    char text[24];
    tui_rule(canvas, area, 0, "ANSWER", NULL);
    if (s->before.number > 0) {
        snprintf(text, sizeof text, " seg %d ", s->before.number);
        tui_put_right(canvas, area, 0, middle + 1, TUI_PLAIN, text);
    }
    snprintf(text, sizeof text, s->now.number > 0 ? " seg %d " : " plan ", s->now.number);
    tui_put_right(canvas, area, 0, middle + 12, TUI_PLAIN, text);
}

void tui_bench_draw_answer(struct tui_canvas *canvas, struct tui_rect area,
                           const struct tui_scene *scene)
{
    int rows = area.rows - 1, y = 1, inset = area.columns > 33 ? 1 : 0;
    head_draw(canvas, area, inset, scene->snapshot);
    for (int line = 0; line < LINE_ALL && y < area.rows; line++) {
        bool shown = line >= LINE_COUNT && *words_of(scene->snapshot, line);
        for (int i = 0; i < LINE_COUNT && i < rows && line < LINE_COUNT; i++)
            shown |= worth[i] == (enum line)line;
        shown |= line >= LINE_STEPS && line < LINE_SCALING;
        if (shown)
            line_draw(canvas, tui_rect_inside(tui_rect_row(area, y++), 0, inset), scene, line,
                      rows > LINE_COUNT);
    }
}
