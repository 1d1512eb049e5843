/* Verdicts on the cells of a sweep: the repetitions of each against those of what it is measured by. */
#include "app/session/judge.h"
#include "app/session/private.h"
#include "app/session/rank.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cells {
    struct mgb_selection *cell, *base; /* of those with a base first, then of those without */
    struct mgb_selected *selected;     /* what they are made of */
    struct mgb_judgement *judgements;
    int *number; /* in the list of requests */
    int judged;  /* how many have a base */
};

static struct mgb_selection selection_make(struct mgb_selected **free_ones, const int64_t *segments,
                                           int count)
{
    struct mgb_selection out = {.segments = *free_ones, .count = (size_t)count};
    for (int i = 0; i < count; i++)
        *(*free_ones)++ = (struct mgb_selected){.segment = segments[i], .point = -1};
    return out;
}

static bool cells_make(struct cells *out, const struct script_judge_request *requests, int count)
{
    size_t all = 1, n = (size_t)count + 1;
    for (int i = 0; i < count; i++)
        all += 2 * (size_t)requests[i].cell_count + (size_t)requests[i].base_count;
    *out = (struct cells){.cell = calloc(n, sizeof *out->cell),
                          .base = calloc(n, sizeof *out->base),
                          .selected = calloc(all, sizeof *out->selected),
                          .judgements = calloc(n, sizeof *out->judgements),
                          .number = calloc(n, sizeof *out->number)};
    if (!out->cell || !out->base || !out->selected || !out->judgements || !out->number)
        return false;
    struct mgb_selected *free_ones = out->selected;
    int at = 0;
    for (int with_base = 1; with_base >= 0; with_base--) {
        for (int i = 0; i < count; i++) {
            const struct script_judge_request *r = &requests[i];
            if ((r->base_count > 0) != (with_base == 1))
                continue;
            out->cell[at] = selection_make(&free_ones, r->cell, r->cell_count);
            out->base[at] = with_base ? selection_make(&free_ones, r->base, r->base_count)
                                      : selection_make(&free_ones, r->cell, r->cell_count);
            out->number[at++] = i;
        }
        if (with_base)
            out->judged = at;
    }
    return true;
}

static void cells_done(struct cells *cells)
{
    free(cells->cell);
    free(cells->base);
    free(cells->selected);
    free(cells->judgements);
    free(cells->number);
}

static struct script_judged judged_make(const struct mgb_judgement *j, bool has_base)
{
    const struct mgb_comparison *c = &j->comparison;
    const double none = (double)NAN;
    double scale = 1e-6 * (j->per_example && j->b.global_batch > 0 ? (double)j->b.global_batch : 1);
    struct script_judged out = {.step_ms = c->b.ns * scale,
                                .low_ms = c->b.low_ns * scale,
                                .high_ms = c->b.high_ns * scale,
                                .ratio = none,
                                .ratio_low = none,
                                .ratio_high = none,
                                .floor = c->floor};
    strcpy(out.floor_source, j->floor_source);
    mgb_judge_odd(out.odd, sizeof out.odd, j, &j->b, NULL);
    if (!has_base)
        return out;
    out.ratio = c->ratio;
    out.ratio_low = c->low;
    out.ratio_high = c->high;
    out.verdict = mgb_verdict_name(c->verdict);
    out.more_repetitions = (int64_t)c->more_repetitions;
    mgb_judge_reason(out.reason, sizeof out.reason, j);
    return out;
}

/* Cells without a base are compared with themselves for their interval, and count for nothing in Holm's correction. */
static enum mgb_status cells_compare(struct cells *cells, struct mgb_reader *reader, int count)
{
    struct mgb_judge_options options = {.across_backends = true};
    MGB_TRY(mgb_judge_cells(cells->judgements, reader, cells->base, cells->cell,
                            (size_t)cells->judged, &options));
    for (int i = cells->judged; i < count; i++)
        MGB_TRY(
            mgb_judge(&cells->judgements[i], reader, &cells->base[i], &cells->cell[i], &options));
    return MGB_OK;
}

enum mgb_status mgb_hub_judge(void *context, struct script_judged *out,
                              const struct script_judge_request *requests, int count)
{
    struct mgb_reader *reader;
    struct cells cells;
    MGB_TRY(mgb_hub_reader(context, &reader));
    enum mgb_status status =
        cells_make(&cells, requests, count)
            ? cells_compare(&cells, reader, count)
            : mgb_fail(MGB_NO_MEMORY, "comparing %d cells: memory is exhausted", count);
    for (int i = 0; status == MGB_OK && i < count; i++)
        out[cells.number[i]] = judged_make(&cells.judgements[i], i < cells.judged);
    cells_done(&cells);
    return status;
}

enum mgb_status mgb_hub_rank(void *context, struct script_ranking *out,
                             const struct script_judge_request *cells, const char *const *labels,
                             int count)
{
    struct mgb_judge_options options = {.across_backends = true};
    struct mgb_ranking ranking = {.fastest = (size_t)count};
    struct mgb_reader *reader;
    struct cells made;
    MGB_TRY(mgb_hub_reader(context, &reader));
    enum mgb_status status = MGB_OK;
    if (!cells_make(&made, cells, count))
        status = mgb_fail(MGB_NO_MEMORY, "comparing %d cells: memory is exhausted", count);
    if (status == MGB_OK) /* without bases they are in the order of `cells` */
        status = mgb_rank_points(&ranking, reader, made.cell, labels, (size_t)count, &options);
    cells_done(&made);
    out->fastest = ranking.fastest < (size_t)count ? (int)ranking.fastest : -1;
    snprintf(out->text, sizeof out->text, "%s", ranking.text);
    snprintf(out->headline, sizeof out->headline, "%s", ranking.headline);
    return status;
}
