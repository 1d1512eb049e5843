/* Comparisons for scripts: what they name becomes two sides, and the judgement the plain struct they are handed. */
#include "app/session/judge.h"
#include "app/session/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What words name, and segments behind them. */
static enum mgb_status side_make(struct mgb_selection *out, struct mgb_reader *reader,
                                 const struct script_compare_side *side)
{
    *out = (struct mgb_selection){0};
    if (side->words)
        MGB_TRY(mgb_select(out, reader, side->words));
    size_t count = out->count + (size_t)side->segment_count;
    struct mgb_selected *grown = realloc(out->segments, (count + 1) * sizeof *grown);
    if (!grown) {
        mgb_selection_done(out);
        return mgb_fail(MGB_NO_MEMORY, "comparing %zu runs: memory is exhausted", count);
    }
    out->segments = grown;
    for (int i = 0; i < side->segment_count; i++)
        grown[out->count++] = (struct mgb_selected){.segment = side->segments[i], .point = -1};
    return MGB_OK;
}

static void comparison_fill(struct script_comparison *out, const struct mgb_judgement *j)
{
    const struct mgb_comparison *c = &j->comparison;
    const double none = (double)NAN;
    bool known = c->ratio > 0, ranked = c->a.repetitions > 1 && c->b.repetitions > 1;
    bool bounded = known && c->reason != MGB_REASON_SINGLE && c->reason != MGB_REASON_FEW_STEPS;
    *out = (struct script_comparison){.verdict = mgb_verdict_name(c->verdict),
                                      .ratio = known ? c->ratio : none,
                                      .low = bounded ? c->low : none,
                                      .high = bounded ? c->high : none,
                                      .p = c->p,
                                      .p_rank = ranked ? c->rank_p : none,
                                      .floor = c->floor,
                                      .a_ms = c->a.ns > 0 ? c->a.ns / 1e6 : none,
                                      .a_low_ms = c->a.ns > 0 ? c->a.low_ns / 1e6 : none,
                                      .a_high_ms = c->a.ns > 0 ? c->a.high_ns / 1e6 : none,
                                      .b_ms = c->b.ns > 0 ? c->b.ns / 1e6 : none,
                                      .b_low_ms = c->b.ns > 0 ? c->b.low_ns / 1e6 : none,
                                      .b_high_ms = c->b.ns > 0 ? c->b.high_ns / 1e6 : none,
                                      .per_example = j->per_example,
                                      .more_repetitions = (int64_t)c->more_repetitions};
    mgb_judge_line(out->text, sizeof out->text, j);
    mgb_judge_reason(out->reason, sizeof out->reason, j);
    strcpy(out->remarks, j->remarks);
    strcpy(out->floor_source, j->floor_source);
}

enum mgb_status mgb_hub_compare(void *context, struct script_comparison *out,
                                const struct script_compare_request *request)
{
    struct mgb_judge_options options = {.floor = request->floor,
                                        .across_backends = request->across_backends};
    struct mgb_selection a, b = {0};
    struct mgb_judgement judgement;
    struct mgb_reader *reader;
    MGB_TRY(mgb_hub_reader(context, &reader));
    MGB_TRY(side_make(&a, reader, &request->a));
    enum mgb_status status = side_make(&b, reader, &request->b);
    if (status == MGB_OK)
        status = mgb_judge(&judgement, reader, &a, &b, &options);
    mgb_selection_done(&a);
    mgb_selection_done(&b);
    if (status == MGB_OK)
        comparison_fill(out, &judgement);
    return status;
}
