/* Examples per second over GPUs with the ideal line, and over the batch with the edge of memory. */
#include "app/cli/plot_charts.h"
#include "db/scaling.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mgb/text.h>

static bool is_weak(const struct plot_cell *cell)
{
    return strcmp(cell->values[PLOT_BATCH_MODE], "weak") == 0;
}

static bool same_scaling(const struct plot_cell *a, const struct plot_cell *b)
{
    return plot_same_subject(a, b) && plot_same(a, b, PLOT_BATCH_MODE) &&
           (is_weak(a) ? a->batch_per_gpu == b->batch_per_gpu : a->global_batch == b->global_batch);
}

static double rate_of(const struct plot_cell *cell)
{
    return (double)cell->global_batch / cell->ms * 1e3;
}

/* A series of a chart by its label, made when it is new. */
static int series_find(struct mgb_chart *chart, const char *label)
{
    for (size_t i = 0; i < chart->series_count; i++)
        if (strcmp(chart->series[i].label, label) == 0)
            return (int)i;
    return mgb_chart_add_series(chart, label);
}

static void rate_add(struct mgb_chart *chart, int series, double x, const struct plot_cell *cell)
{
    double examples = (double)cell->global_batch * 1e3;
    mgb_chart_add_point(chart, series, x, rate_of(cell), examples / cell->high_ms,
                        examples / cell->low_ms);
}

/* Takes out of the scope whatever would be a single point of its line, when others are more. Returns how many. */
static size_t lonely_drop(struct plot_scope *scope, size_t *members)
{
    size_t kept = 0, count = scope->member_count;
    bool *lonely = calloc(count + 1, sizeof *lonely);
    for (size_t i = 0; lonely && i < count; i++) {
        const struct plot_cell *cell = &scope->cells->all[members[i]];
        lonely[i] = !cell->oom; /* where memory ends is always worth a line */
        for (size_t k = 0; lonely[i] && k < count; k++) {
            const struct plot_cell *other = &scope->cells->all[members[k]];
            lonely[i] = cell->global_batch == other->global_batch ||
                        !plot_alike(cell, other, scope->told, scope->told_count);
        }
        kept += !lonely[i] && !cell->oom;
    }
    size_t at = 0;
    for (size_t i = 0; lonely && kept > 0 && i < count; i++)
        if (!lonely[i])
            members[at++] = members[i];
    scope->member_count = at > 0 ? at : count;
    free(lonely);
    return count - scope->member_count;
}

static const enum plot_dimension scaling_fixed[] = {
    PLOT_MODEL, PLOT_OPTIONS,    PLOT_MACHINE,       PLOT_BACKEND,     PLOT_PRECISION,
    PLOT_GPUS,  PLOT_BATCH_MODE, PLOT_BATCH_PER_GPU, PLOT_GLOBAL_BATCH};
static const enum plot_dimension scaling_always[] = {PLOT_STRATEGY};

struct scaling {
    const struct plot_cells *cells;
    size_t *members; /* of more than one GPU */
    size_t count;
    const struct plot_cell *single; /* of one GPU */
    struct mgb_chart *chart;
};

static const struct plot_cell *best_find(const struct scaling *s, int64_t gpus);

/* The baseline: with the threads of what is measured against it if there is one, then the fastest. */
static void single_find(struct scaling *s, const struct plot_panel *panel)
{
    const struct plot_cell *best = best_find(s, 0);
    for (size_t i = 0; i < panel->count; i++) {
        const struct plot_cell *cell = &s->cells->all[panel->members[i]], *old = s->single;
        if (cell->gpus != 1 || cell->oom)
            continue;
        bool alike = best && cell->threads == best->threads;
        bool old_alike = best && old && old->threads == best->threads;
        if (!old || alike > old_alike || (alike == old_alike && cell->ms < old->ms))
            s->single = cell;
    }
}

static void members_sort(struct scaling *s, const struct plot_panel *panel)
{
    for (size_t i = 0; i < panel->count; i++)
        if (s->cells->all[panel->members[i]].gpus > 1)
            s->members[s->count++] = panel->members[i];
    single_find(s, panel);
}

/* The fastest of `gpus` GPUs (0: of any number above 1), without those that exchange nothing. */
static const struct plot_cell *best_find(const struct scaling *s, int64_t gpus)
{
    const struct plot_cell *best = NULL;
    for (size_t i = 0; i < s->count; i++) {
        const struct plot_cell *cell = &s->cells->all[s->members[i]];
        if (cell->oom || strcmp(cell->values[PLOT_STRATEGY], "independent") == 0 ||
            (gpus > 0 && cell->gpus != gpus))
            continue;
        if (!best || rate_of(cell) > rate_of(best))
            best = cell;
    }
    return best;
}

/* What exchanging costs `cell`: its step beside that of as many GPUs that exchange nothing. "" when they are not there. */
static void exchange_print(FILE *out, const struct scaling *s, const struct plot_cell *cell)
{
    char ms[40];
    for (size_t i = 0; i < s->count; i++) {
        const struct plot_cell *alone = &s->cells->all[s->members[i]];
        if (alone->oom || alone->gpus != cell->gpus ||
            strcmp(alone->values[PLOT_STRATEGY], "independent") != 0)
            continue;
        struct mgb_scaling_point merged = {cell->gpus, cell->global_batch, cell->ms * 1e6};
        struct mgb_scaling_point apart = {alone->gpus, alone->global_batch, alone->ms * 1e6};
        struct mgb_scaling_exchange cost = mgb_scaling_exchange(&merged, &apart);
        bool told = mgb_scaling_exchange_told(cost.cost_ns.value / 1e6, cell->low_ms, cell->high_ms,
                                              alone->low_ms, alone->high_ms);
        if (cost.cost_ns.known && !told)
            fputs(". What exchanging costs it is below noise", out);
        else if (cost.cost_ns.known && cost.share.known)
            fprintf(out, ". Exchanging costs it %s ms, %.0f %% of the step",
                    mgb_format_figure(ms, cost.cost_ns.value / 1e6), 100 * cost.share.value);
        return;
    }
}

static void answer_print(FILE *out, const struct scaling *s)
{
    const struct plot_cell *best = best_find(s, 0), *most;
    int64_t gpus = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->cells->all[s->members[i]].gpus > gpus && !s->cells->all[s->members[i]].oom)
            gpus = s->cells->all[s->members[i]].gpus;
    if (!s->single)
        fputs(". No ideal line: one GPU with this batch is not measured", out);
    if (!best || !s->single)
        return;
    double times = rate_of(best) / rate_of(s->single);
    if (times <= 1)
        fputs(". One GPU is the fastest", out);
    fprintf(out, ". %lld GPUs give %.3g times the rate of one (%s): efficiency %.0f %%",
            (long long)best->gpus, times, best->values[PLOT_STRATEGY],
            100 * times / (double)best->gpus);
    if (times / (double)best->gpus > 1.05)
        fputs(", more than ideal: look for other threads, or data that fits the caches only when "
              "split",
              out);
    exchange_print(out, s, best);
    if (s->single->threads != best->threads)
        fprintf(
            out,
            ". The one-GPU baseline ran %lld thread%s a device, these %lld: give threads = "
            "%lld to all",
            (long long)s->single->threads, s->single->threads == 1 ? "" : "s",
            (long long)best->threads,
            (long long)(s->single->threads < best->threads ? s->single->threads : best->threads));
    most = best_find(s, gpus);
    if (most && most->gpus != best->gpus)
        fprintf(out, ". That is the best: %lld GPUs give %.3g times", (long long)most->gpus,
                rate_of(most) / rate_of(s->single));
}

static void scaling_title(struct scaling *s, const struct plot_cell *any)
{
    char *prefix = plot_prefix(s->cells, any), *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    s->chart->failed = s->chart->failed || !prefix || !out;
    if (out) {
        fprintf(out, "%s%s scaling, %s %lld", prefix ? prefix : "",
                is_weak(any) ? "Weak" : "Strong", is_weak(any) ? "batch per GPU" : "global batch",
                (long long)(is_weak(any) ? any->batch_per_gpu : any->global_batch));
        answer_print(out, s);
        s->chart->failed = fclose(out) != 0 || s->chart->failed;
        mgb_picture_say(&s->chart->title, &s->chart->failed, "%s", text ? text : "");
        free(text);
    }
    free(prefix);
}

static void scaling_points(struct scaling *s)
{
    struct plot_scope scope = {s->cells, s->members, s->count, scaling_always, scaling_fixed, 1,
                               9,        {0},        0};
    plot_scope_settle(&scope);
    for (size_t i = 0; i < s->count; i++) {
        const struct plot_cell *cell = &s->cells->all[s->members[i]];
        char *label = plot_label(&scope, cell), mark[200];
        s->chart->failed = s->chart->failed || !label;
        int series = label ? series_find(s->chart, label) : -1;
        snprintf(mark, sizeof mark, "out of memory: %s", label ? label : "");
        if (cell->oom)
            mgb_chart_add_mark(s->chart, MGB_MARK_EDGE, (double)cell->gpus, 0, mark);
        else
            rate_add(s->chart, series, (double)cell->gpus, cell);
        free(label);
    }
    for (size_t k = 0; s->single && k < s->chart->series_count; k++)
        rate_add(s->chart, (int)k, 1, s->single);
}

static void ideal_add(const struct scaling *s)
{
    struct mgb_chart_range x = mgb_chart_x_range(s->chart);
    for (double gpus = 1; s->single && gpus <= x.high; gpus++) /* straight on either axis */
        mgb_chart_add_ideal(s->chart, "ideal: N times one GPU", gpus, gpus * rate_of(s->single));
}

static enum mgb_status scaling_draw(struct mgb_picture *picture, const struct plot_cells *cells,
                                    const struct plot_panel *panel)
{
    struct scaling s = {.cells = cells, .members = calloc(panel->count, sizeof(size_t))};
    if (!s.members)
        return mgb_fail(MGB_NO_MEMORY, "making a plot: memory is exhausted");
    members_sort(&s, panel);
    s.chart = mgb_picture_add(picture, MGB_CHART_LINES);
    scaling_title(&s, &cells->all[panel->members[0]]);
    mgb_picture_say(&s.chart->x_label, &s.chart->failed, "number of %s",
                    plot_device_word(&cells->all[panel->members[0]]));
    mgb_picture_say(&s.chart->y_label, &s.chart->failed, "examples per second (higher is better)");
    scaling_points(&s);
    ideal_add(&s);
    free(s.members);
    return MGB_OK;
}

/* Counts of GPUs in a panel. */
static size_t counts_of(const struct plot_cells *cells, const struct plot_panel *panel)
{
    size_t found = 0;
    for (size_t i = 0; i < panel->count; i++) {
        bool told = cells->all[panel->members[i]].gpus < 1 || cells->all[panel->members[i]].oom;
        for (size_t k = 0; k < i; k++)
            told = told || cells->all[panel->members[k]].gpus == cells->all[panel->members[i]].gpus;
        found += !told;
    }
    return found;
}

enum mgb_status plot_scaling(struct mgb_picture *out, const struct plot_cells *cells)
{
    struct plot_panels panels;
    char count[120];
    size_t drawn = 0;
    bool weak = false, strong = false;
    enum mgb_status status = MGB_OK;
    MGB_TRY(plot_panels_make(&panels, cells, same_scaling));
    for (size_t i = 0; status == MGB_OK && i < panels.count; i++)
        if (counts_of(cells, &panels.all[i]) > 1 && drawn++ < PLOT_PANELS) {
            status = scaling_draw(out, cells, &panels.all[i]);
            weak = weak || is_weak(&cells->all[panels.all[i].members[0]]);
            strong = strong || !is_weak(&cells->all[panels.all[i].members[0]]);
        }
    plot_panels_done(&panels);
    if (status == MGB_OK && drawn == 0)
        return mgb_fail(
            MGB_MISSING,
            "scaling needs one batch on several numbers of GPUs, and %s is not measured "
            "so; to do it: mgbench -e scaling.lua --model %s --gpus 1,2,4",
            cells->all[0].values[PLOT_MODEL], cells->all[0].values[PLOT_MODEL]);
    plot_title(out, "Throughput by number of GPUs", cells);
    mgb_picture_say(&out->subtitle, &out->failed,
                    "Higher is better. Point: global batch / %s; stroke: its 95 %% "
                    "interval (block bootstrap); %s. Efficiency%s%s%s%s.",
                    plot_step_text(cells), plot_count_text(count, cells), weak ? ", " : "",
                    weak ? MGB_SCALING_WEAK_TEXT : "", strong ? "; " : "",
                    strong ? MGB_SCALING_STRONG_TEXT : "");
    plot_note(out, cells, drawn > PLOT_PANELS ? drawn - PLOT_PANELS : 0);
    return status;
}

static const enum plot_dimension batch_fixed[] = {
    PLOT_MODEL,     PLOT_OPTIONS,    PLOT_MACHINE,       PLOT_BACKEND,
    PLOT_PRECISION, PLOT_BATCH_MODE, PLOT_BATCH_PER_GPU, PLOT_GLOBAL_BATCH};
static const enum plot_dimension batch_always[] = {PLOT_GPUS};

/* The edge of a series is the smallest batch that did not fit. */
static bool is_edge(const struct plot_scope *scope, const struct plot_cell *cell)
{
    for (size_t i = 0; cell->oom && i < scope->member_count; i++) {
        const struct plot_cell *other = &scope->cells->all[scope->members[i]];
        if (other->oom && other->global_batch < cell->global_batch &&
            plot_alike(cell, other, scope->told, scope->told_count))
            return false;
    }
    return cell->oom;
}

static void edges_add(struct mgb_chart *chart, const struct plot_scope *scope)
{
    for (size_t i = 0; i < scope->member_count; i++) {
        const struct plot_cell *cell = &scope->cells->all[scope->members[i]];
        char *label = is_edge(scope, cell) ? plot_label(scope, cell) : NULL, mark[200];
        snprintf(mark, sizeof mark, "out of memory: %s", label ? label : "");
        if (label)
            mgb_chart_add_mark(chart, MGB_MARK_EDGE, (double)cell->global_batch, 0, mark);
        free(label);
    }
}

static void batch_draw(struct mgb_picture *picture, const struct plot_cells *cells,
                       const struct plot_panel *panel, size_t *lonely)
{
    struct mgb_chart *chart = mgb_picture_add(picture, MGB_CHART_LINES);
    struct plot_scope scope = {
        cells, panel->members, panel->count, batch_always, batch_fixed, 1, 8, {0}, 0};
    char *prefix = plot_prefix(cells, &cells->all[panel->members[0]]);
    const struct plot_cell *best = NULL;
    plot_scope_settle(&scope);
    *lonely += lonely_drop(&scope, panel->members);
    plot_scope_settle(&scope);
    for (size_t i = 0; i < scope.member_count; i++) {
        const struct plot_cell *cell = &cells->all[panel->members[i]];
        char *label = plot_label(&scope, cell);
        chart->failed = chart->failed || !label;
        if (label && !cell->oom)
            rate_add(chart, series_find(chart, label), (double)cell->global_batch, cell);
        if (!cell->oom && (!best || rate_of(cell) > rate_of(best)))
            best = cell;
        free(label);
    }
    edges_add(chart, &scope);
    chart->x_log = true;
    mgb_picture_say(&chart->x_label, &chart->failed, "global batch, examples of all GPUs together");
    mgb_picture_say(&chart->y_label, &chart->failed, "examples per second (higher is better)");
    char *label = best ? plot_label(&scope, best) : NULL, number[40];
    if (label)
        mgb_picture_say(&chart->title, &chart->failed,
                        "%sHighest: %s examples/s at global batch %lld (%s)", prefix ? prefix : "",
                        mgb_format_figure(number, rate_of(best)), (long long)best->global_batch,
                        label);
    free(label);
    free(prefix);
}

/* Some number of GPUs is measured with several batches. */
static bool has_batches(const struct plot_cells *cells, const struct plot_panel *panel)
{
    for (size_t i = 0; i < panel->count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct plot_cell *a = &cells->all[panel->members[i]];
            const struct plot_cell *b = &cells->all[panel->members[k]];
            if (!a->oom && !b->oom && a->gpus == b->gpus && a->global_batch != b->global_batch)
                return true;
        }
    return false;
}

enum mgb_status plot_batch(struct mgb_picture *out, const struct plot_cells *cells)
{
    struct plot_panels panels;
    char count[120];
    size_t drawn = 0, lonely = 0;
    MGB_TRY(plot_panels_make(&panels, cells, plot_same_subject));
    for (size_t i = 0; i < panels.count; i++)
        if (has_batches(cells, &panels.all[i]) && drawn++ < PLOT_PANELS)
            batch_draw(out, cells, &panels.all[i], &lonely);
    plot_panels_done(&panels);
    if (drawn == 0)
        return mgb_fail(
            MGB_MISSING,
            "throughput by batch needs several batches, and %s is measured with one; to "
            "do it: mgbench -e batch.lua --model %s",
            cells->all[0].values[PLOT_MODEL], cells->all[0].values[PLOT_MODEL]);
    plot_title(out, "Throughput by batch", cells);
    char left[80] = "";
    if (lonely > 0)
        snprintf(left, sizeof left, " %zu placements with a single batch are left out.", lonely);
    mgb_picture_say(&out->subtitle, &out->failed,
                    "Higher is better. Point: global batch / %s; stroke: its 95 %% "
                    "interval (block bootstrap); %s. Dashed upright line: the smallest batch that "
                    "did not fit into memory.%s",
                    plot_step_text(cells), plot_count_text(count, cells), left);
    plot_note(out, cells, drawn > PLOT_PANELS ? drawn - PLOT_PANELS : 0);
    return MGB_OK;
}
