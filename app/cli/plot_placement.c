/* Step time by placement: a panel a number of GPUs and batch, in it a bar a placement, fastest first. */
#include "app/cli/plot_charts.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <mgb/text.h>

static const enum plot_dimension fixed[] = {PLOT_MODEL,      PLOT_OPTIONS,       PLOT_MACHINE,
                                            PLOT_BACKEND,    PLOT_PRECISION,     PLOT_GPUS,
                                            PLOT_BATCH_MODE, PLOT_BATCH_PER_GPU, PLOT_GLOBAL_BATCH};
enum { FIXED = sizeof fixed / sizeof *fixed };
static const enum plot_dimension always[] = {PLOT_PLACES};

static bool same_panel(const struct plot_cell *a, const struct plot_cell *b)
{
    return plot_alike(a, b, fixed, FIXED);
}

struct bar {
    const struct plot_cell *cell;
    char *label;
};

static int bar_compare(const void *one, const void *other)
{
    const struct bar *a = one, *b = other;
    if (a->cell->oom != b->cell->oom)
        return a->cell->oom ? 1 : -1;
    return (a->cell->ms > b->cell->ms) - (a->cell->ms < b->cell->ms);
}

/* The answer in words. A winner is named only when its interval ends before the next one's begins. */
static void verdict_print(FILE *out, const struct bar *bars, size_t count)
{
    if (count < 2 || bars[1].cell->oom) {
        if (count >= 2 && !bars[0].cell->oom)
            fprintf(out, ". Only %s fits into memory", bars[0].label);
        return;
    }
    const struct plot_cell *first = bars[0].cell, *second = bars[1].cell;
    if (first->high_ms < second->low_ms)
        fprintf(out, ". Fastest: %s, by %.3g %%", bars[0].label,
                100 * (second->ms / first->ms - 1));
    else
        fprintf(out, ". The fastest two (%s; %s) are not told apart: %s", bars[0].label,
                bars[1].label,
                isfinite(first->high_ms) && isfinite(second->low_ms) ? "their intervals overlap"
                                                                     : "too few steps");
}

/* The fastest one-GPU cell of the same batch. */
static const struct plot_cell *single_find(const struct plot_cells *cells,
                                           const struct plot_cell *cell)
{
    bool weak = strcmp(cell->values[PLOT_BATCH_MODE], "weak") == 0;
    const struct plot_cell *best = NULL;
    for (size_t i = 0; i < cells->count && cell->gpus > 1; i++) {
        const struct plot_cell *c = &cells->all[i];
        if (c->gpus == 1 && !c->oom && plot_same_subject(c, cell) &&
            plot_same(c, cell, PLOT_BATCH_MODE) &&
            (weak ? c->batch_per_gpu == cell->batch_per_gpu
                  : c->global_batch == cell->global_batch) &&
            (!best || c->ms < best->ms))
            best = c;
    }
    return best;
}

static void panel_title(struct mgb_chart *chart, const struct plot_cells *cells,
                        const struct bar *bars, size_t count)
{
    const struct plot_cell *cell = bars[0].cell, *single = single_find(cells, cell);
    char *prefix = plot_prefix(cells, cell), *text = NULL, number[40];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out || !prefix) {
        chart->failed = true;
        free(prefix);
        return;
    }
    fprintf(out, "%s%lld GPU%s, %s %lld: %lld examples a step", prefix, (long long)cell->gpus,
            cell->gpus == 1 ? "" : "s",
            strcmp(cell->values[PLOT_BATCH_MODE], "weak") == 0 ? "weak scaling, batch per GPU"
                                                               : "strong scaling, global batch",
            (long long)(strcmp(cell->values[PLOT_BATCH_MODE], "weak") == 0 ? cell->batch_per_gpu
                                                                           : cell->global_batch),
            (long long)cell->global_batch);
    verdict_print(out, bars, count);
    if (single)
        fprintf(out, ". One GPU with %lld examples: %s ms", (long long)single->global_batch,
                mgb_format_figure(number, single->ms));
    chart->failed = fclose(out) != 0 || chart->failed;
    mgb_picture_say(&chart->title, &chart->failed, "%s", text ? text : "");
    free(text);
    free(prefix);
}

/* What must be said beside the number is said in its label. */
static char *bar_label(const struct plot_scope *scope, const struct plot_cell *cell)
{
    char *label = plot_label(scope, cell), *longer;
    if (!label || !cell->unsteady)
        return label;
    if (asprintf(&longer, "%s (not steady)", label) < 0)
        longer = NULL;
    free(label);
    return longer;
}

static enum mgb_status panel_draw(struct mgb_picture *picture, const struct plot_cells *cells,
                                  const struct plot_panel *panel)
{
    struct plot_scope scope = {cells, panel->members, panel->count, always, fixed,
                               1,     FIXED,          {0},          0};
    struct bar *bars = calloc(panel->count, sizeof *bars);
    plot_scope_settle(&scope);
    bool good = bars;
    for (size_t i = 0; good && i < panel->count; i++) {
        bars[i].cell = &cells->all[panel->members[i]];
        good = (bars[i].label = bar_label(&scope, bars[i].cell)) != NULL;
    }
    if (good) {
        struct mgb_chart *chart = mgb_picture_add(picture, MGB_CHART_BARS);
        qsort(bars, panel->count, sizeof *bars, bar_compare);
        panel_title(chart, cells, bars, panel->count);
        mgb_picture_say(&chart->y_label, &chart->failed, "step time, ms (lower is better)");
        int series = mgb_chart_add_series(chart, "");
        for (size_t i = 0; i < panel->count; i++) {
            int row = mgb_chart_add_category(chart, bars[i].label);
            const struct plot_cell *cell = bars[i].cell;
            if (cell->oom)
                mgb_chart_add_mark(chart, MGB_MARK_NOTE, row, series, "out of memory");
            else
                mgb_chart_add_point(chart, series, row, cell->ms, cell->low_ms, cell->high_ms);
        }
    }
    for (size_t i = 0; bars && i < panel->count; i++)
        free(bars[i].label);
    free(bars);
    return good ? MGB_OK : mgb_fail(MGB_NO_MEMORY, "making a plot: memory is exhausted");
}

/* Panels of a single placement answer nothing here, unless there are no others. */
static size_t panels_with(const struct plot_panels *panels, size_t least)
{
    size_t found = 0;
    for (size_t i = 0; i < panels->count; i++)
        found += panels->all[i].count >= least;
    return found;
}

enum mgb_status plot_placement(struct mgb_picture *out, const struct plot_cells *cells)
{
    struct plot_panels panels;
    char count[120];
    enum mgb_status status = MGB_OK;
    MGB_TRY(plot_panels_make(&panels, cells, same_panel));
    size_t least = panels_with(&panels, 2) > 0 ? 2 : 1, drawn = 0;
    if (least == 1 && cells->count == 1) {
        plot_panels_done(&panels);
        return mgb_fail(MGB_MISSING,
                        "only one placement of %s is measured there; the others: mgbench -e "
                        "placement.lua --model %s",
                        cells->all[0].values[PLOT_MODEL], cells->all[0].values[PLOT_MODEL]);
    }
    plot_title(out, "Step time by placement", cells);
    mgb_picture_say(&out->subtitle, &out->failed,
                    "Lower is better. Bar: %s; [ ]: its 95 %% interval (block bootstrap); "
                    "%s.",
                    plot_step_text(cells), plot_count_text(count, cells));
    for (size_t i = 0; status == MGB_OK && i < panels.count; i++)
        if (panels.all[i].count >= least && drawn++ < PLOT_PANELS)
            status = panel_draw(out, cells, &panels.all[i]);
    plot_note(out, cells, drawn > PLOT_PANELS ? drawn - PLOT_PANELS : 0);
    plot_panels_done(&panels);
    return status;
}
