/* The summary of a report: each placement against the usual one of the same GPUs and batch, with a verdict. */
#include "app/cli/plot_charts.h"
#include "app/cli/report_html.h"
#include "app/cli/report_page.h"
#include "app/session/judge.h"
#include "app/session/rank.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <mgb/text.h>

/* Same work: model, machine, backend, GPUs and batch. */
static bool same_work(const struct plot_cell *a, const struct plot_cell *b)
{
    return plot_same_subject(a, b) && a->gpus == b->gpus && a->global_batch == b->global_batch;
}

static const enum plot_dimension fixed[] = {PLOT_MODEL,      PLOT_OPTIONS,       PLOT_MACHINE,
                                            PLOT_BACKEND,    PLOT_PRECISION,     PLOT_GPUS,
                                            PLOT_BATCH_MODE, PLOT_BATCH_PER_GPU, PLOT_GLOBAL_BATCH};
static const enum plot_dimension always[] = {PLOT_PLACES};

/* The one to compare with: the defaults' placement, else the first that was measured. */
static size_t base_find(const struct plot_cells *cells, const struct plot_panel *panel)
{
    size_t first = panel->count;
    for (size_t i = 0; i < panel->count; i++) {
        const struct plot_cell *cell = &cells->all[panel->members[i]];
        if (cell->oom)
            continue;
        first = first == panel->count ? i : first;
        if (strcmp(cell->values[PLOT_STRATEGY], "outputs") == 0 &&
            strstr(cell->values[PLOT_PLACES], "merge /cpu:0") &&
            !strstr(cell->values[PLOT_PLACES], "weights /cpu:0"))
            return i;
    }
    return first;
}

static bool side_fill(struct mgb_selection *out, const struct plot_cell *cell)
{
    out->count = (size_t)cell->count;
    out->segments = calloc((size_t)cell->count, sizeof *out->segments);
    for (int i = 0; out->segments && i < cell->count; i++)
        out->segments[i] = (struct mgb_selected){cell->run, cell->segments[i], -1, 0};
    return out->segments != NULL;
}

struct pairs {
    struct mgb_selection *a, *b;
    struct mgb_judgement *judgements;
    const struct plot_cell **base, **cell;
    size_t count;
};

static void pairs_done(struct pairs *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->a[i].segments);
        free(p->b[i].segments);
    }
    free(p->a);
    free(p->b);
    free(p->judgements);
    free(p->base);
    free(p->cell);
}

static bool pairs_init(struct pairs *p, size_t most)
{
    *p = (struct pairs){.a = calloc(most, sizeof *p->a),
                        .b = calloc(most, sizeof *p->b),
                        .judgements = calloc(most, sizeof *p->judgements),
                        .base = calloc(most, sizeof *p->base),
                        .cell = calloc(most, sizeof *p->cell)};
    return p->a && p->b && p->judgements && p->base && p->cell;
}

static bool panel_pairs(struct pairs *p, const struct plot_cells *cells,
                        const struct plot_panel *panel)
{
    size_t base = base_find(cells, panel);
    for (size_t i = 0; base < panel->count && i < panel->count; i++) {
        const struct plot_cell *cell = &cells->all[panel->members[i]];
        if (i == base || cell->oom)
            continue;
        p->base[p->count] = &cells->all[panel->members[base]];
        p->cell[p->count] = cell;
        bool good =
            side_fill(&p->a[p->count], p->base[p->count]) && side_fill(&p->b[p->count], cell);
        p->count++;
        if (!good)
            return false;
    }
    return true;
}

/* "1.344 [1.21, 1.5] n=2x30", as everywhere on the page. */
static void time_text(char out[200], const struct plot_cell *cell)
{
    char ms[40], low[40], high[40], interval[100] = "";
    if (isfinite(cell->low_ms) && isfinite(cell->high_ms))
        snprintf(interval, sizeof interval, " [%s, %s]", mgb_format_figure(low, cell->low_ms),
                 mgb_format_figure(high, cell->high_ms));
    snprintf(out, 200, "%s%s n=%dx%lld", mgb_format_figure(ms, cell->ms), interval, cell->count,
             (long long)cell->steps);
}

static void pair_row(FILE *out, const struct mgb_judgement *j, const struct plot_cell *cell,
                     const char *label)
{
    const struct mgb_comparison *c = &j->comparison;
    const char *verdict = mgb_verdict_name(c->verdict), *why;
    char time[200], ratio[40], low[40], high[40], reason[600], odd[240];
    time_text(time, cell);
    mgb_judge_reason(reason, sizeof reason, j);
    why = strncmp(reason, verdict, strlen(verdict)) == 0 ? reason + strlen(verdict) : reason;
    fputs("<tr>", out);
    report_cell(out, label);
    report_figure(out, "%s", time);
    report_figure(out, "%s [%s, %s]", mgb_format_figure(ratio, c->ratio),
                  mgb_format_figure(low, c->low), mgb_format_figure(high, c->high));
    fprintf(out, "<td><strong>%s</strong>%s", verdict, why == reason && *why ? ": " : "");
    report_text(out, why);
    mgb_judge_odd(odd, sizeof odd, j, &j->b, "B");
    fputs(*odd ? "; " : "", out);
    report_text(out, odd);
    fputs("</td></tr>\n", out);
}

/* Which of a panel's placements is the fastest, in the words of mgbench compare. */
static void answer_print(const struct report *r, const struct plot_panel *panel,
                         const struct pairs *p, struct plot_scope *scope)
{
    const struct plot_cell *first = &r->cells->all[panel->members[0]];
    struct mgb_judge_options options = {0};
    struct mgb_selection *points = calloc(p->count + 1, sizeof *points);
    char **labels = calloc(p->count + 1, sizeof *labels);
    struct mgb_ranking ranking;
    size_t count = 0;
    for (size_t i = 0; points && labels && i < p->count; i++) {
        if (!same_work(p->base[i], first))
            continue;
        if (count == 0) {
            points[0] = p->a[i];
            labels[count++] = plot_label(scope, p->base[i]);
        }
        points[count] = p->b[i];
        labels[count++] = plot_label(scope, p->cell[i]);
    }
    bool good = count > 1;
    for (size_t i = 0; i < count; i++)
        good = good && labels[i];
    if (good &&
        mgb_rank_points(&ranking, r->reader, points, (const char *const *)labels, count,
                        &options) == MGB_OK &&
        *ranking.text)
        report_element(r->out, "p", "%s.", ranking.text);
    for (size_t i = 0; i < count; i++)
        free(labels[i]);
    free(labels);
    free(points);
}

/* The verdicts of one panel. */
static void panel_print(const struct report *r, const struct plot_panel *panel,
                        const struct pairs *p)
{
    static const char *const head[] = {"B", "B, ms a step [95 %]", "B / A", "B is", NULL};
    struct plot_scope scope = {r->cells, panel->members, panel->count, always, fixed, 1, 9, {0}, 0};
    const struct plot_cell *first = &r->cells->all[panel->members[0]], *base = NULL;
    char *prefix = plot_prefix(r->cells, first), time[200];
    plot_scope_settle(&scope);
    report_element(r->out, "h3", "%s%lld GPU%s, global batch %lld", prefix ? prefix : "",
                   (long long)first->gpus, first->gpus == 1 ? "" : "s",
                   (long long)first->global_batch);
    free(prefix);
    answer_print(r, panel, p, &scope);
    for (size_t i = 0; i < p->count; i++) {
        if (!same_work(p->base[i], first))
            continue;
        char *a = plot_label(&scope, p->base[i]), *b = plot_label(&scope, p->cell[i]);
        time_text(time, p->base[i]);
        if (!base) {
            char odd[240];
            mgb_judge_odd(odd, sizeof odd, &p->judgements[i], &p->judgements[i].a, "A");
            report_element(r->out, "p", "A: %s. Its step, ms: %s%s%s", a ? a : "", time,
                           *odd ? "; " : "", odd);
            report_table_begin(r->out, head);
        }
        base = p->base[i];
        pair_row(r->out, &p->judgements[i], p->cell[i], b ? b : "");
        free(a);
        free(b);
    }
    report_table_end(r->out);
}

static bool has_pairs(const struct pairs *p, const struct plot_cell *cell)
{
    for (size_t i = 0; i < p->count; i++)
        if (same_work(p->base[i], cell))
            return true;
    return false;
}

static void verdicts_count(FILE *out, const struct pairs *p)
{
    static const enum mgb_verdict all[] = {MGB_VERDICT_FASTER, MGB_VERDICT_SLOWER, MGB_VERDICT_SAME,
                                           MGB_VERDICT_UNDECIDED, MGB_VERDICT_REFUSED};
    fputs("<p>", out);
    fprintf(out, "%zu comparison%s", p->count, p->count == 1 ? "" : "s");
    for (size_t v = 0; v < sizeof all / sizeof *all; v++) {
        size_t found = 0;
        for (size_t i = 0; i < p->count; i++)
            found += p->judgements[i].comparison.verdict == all[v];
        if (found > 0)
            fprintf(out, "%s %zu %s", v == 0 ? ":" : ",", found, mgb_verdict_name(all[v]));
    }
    fputs(". B is compared with A of the same work; below 1 is faster. Noise floor ", out);
    fprintf(out, "%g %% (%s); corrected for their number (Holm).</p>\n",
            100 * p->judgements[0].comparison.floor, p->judgements[0].floor_source);
}

static void fits_print(const struct report *r)
{
    size_t full = 0;
    for (size_t i = 0; i < r->cells->count; i++)
        full += r->cells->all[i].oom;
    if (full > 0)
        report_element(r->out, "p", "%zu of %zu placements did not fit into memory.", full,
                       r->cells->count);
}

static enum mgb_status pairs_judge(const struct report *r, const struct plot_panels *panels,
                                   struct pairs *p)
{
    struct mgb_judge_options options = {0};
    bool good = true;
    for (size_t i = 0; good && i < panels->count; i++)
        good = panel_pairs(p, r->cells, &panels->all[i]);
    if (!good)
        return mgb_fail(MGB_NO_MEMORY, "writing a report: memory is exhausted");
    if (p->count == 0)
        return MGB_OK;
    return mgb_judge_cells(p->judgements, r->reader, p->a, p->b, p->count, &options);
}

enum mgb_status report_summary(const struct report *r)
{
    struct plot_panels panels;
    struct pairs pairs;
    MGB_TRY(plot_panels_make(&panels, r->cells, same_work));
    enum mgb_status status = pairs_init(&pairs, r->cells->count)
                                 ? pairs_judge(r, &panels, &pairs)
                                 : mgb_fail(MGB_NO_MEMORY, "writing a report: memory is exhausted");
    if (status == MGB_OK) {
        report_element(r->out, "h2", "Summary");
        fits_print(r);
        if (pairs.count > 0)
            verdicts_count(r->out, &pairs);
        else
            report_element(r->out, "p",
                           "No two placements of the same work are measured here: "
                           "nothing to compare.");
        for (size_t i = 0; i < panels.count; i++)
            if (has_pairs(&pairs, &r->cells->all[panels.all[i].members[0]]))
                panel_print(r, &panels.all[i], &pairs);
    }
    pairs_done(&pairs);
    plot_panels_done(&panels);
    return status;
}
