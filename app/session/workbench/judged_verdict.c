/* The segment in force against the one before; see judged_private.h. */
#include "app/session/workbench/judged_private.h"

#include "app/session/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_REPETITIONS = 64 }; /* of a side, the newest */

/* What decides how fast a step is. The batch mode does not: two ways to ask for the same. */
#define PLACED(t)                                                                                  \
    "(" t ".strategy, " t ".gpus, " t ".gpu_list, " t ".batch_per_gpu, " t ".global_batch, " t     \
    ".tower_rows, " t ".weights_at, " t ".join_at, " t ".loss_at, " t ".sum_at, " t                \
    ".update_at, " t ".relocation, " t ".allreduce, " t ".bucket_mib, " t ".overlap, " t           \
    ".wire_type, " t ".staged, " t ".stale, " t ".peer_access, " t ".pinned, " t ".graph, " t      \
    ".bn, " t ".precision, " t ".recompute, " t ".logical, " t ".gpu_memory_bytes, " t             \
    ".threads, " t ".hosts, " t ".optimizer)"

/* Oldest first; ?1 the segment, ?2 how many, the newest. */
static const char side_sql[] =
    "SELECT * FROM (SELECT s.run_id, s.id, coalesce((SELECT steady FROM segment_stat WHERE "
    "segment_id = s.id), 1) FROM segment AS k JOIN segment AS s ON s.run_id = k.run_id"
    "   AND " PLACED("s") " IS " PLACED(
        "k") "  WHERE k.id = ?1"
             "   AND EXISTS (SELECT 1 FROM step WHERE segment_id = s.id AND warmup = 0)"
             " ORDER BY s.id DESC LIMIT ?2) ORDER BY 2";

struct side {
    struct mgb_selected at[MOST_REPETITIONS];
    bool steady[MOST_REPETITIONS]; /* or not judged */
    int left_out;
    struct mgb_selection selection;
};

static enum mgb_status side_take(void *context, const struct mgb_value *v, int count)
{
    struct side *side = context;
    (void)count;
    side->steady[side->selection.count] = mgb_value_int(&v[2]) != 0;
    side->at[side->selection.count++] = (struct mgb_selected){
        .run = mgb_value_int(&v[0]), .segment = mgb_value_int(&v[1]), .point = -1};
    return MGB_OK;
}

static enum mgb_status side_find(struct side *out, struct mgb_reader *reader, int64_t segment)
{
    struct mgb_query_sink sink = {.context = out, .row = side_take};
    struct mgb_value values[] = {mgb_value_of_int(segment), mgb_value_of_int(MOST_REPETITIONS)};
    out->selection = (struct mgb_selection){.segments = out->at};
    return mgb_query_run(reader, side_sql, values, 2, &sink);
}

static bool side_has(const struct side *side, int64_t segment)
{
    for (size_t i = 0; i < side->selection.count; i++)
        if (side->at[i].segment == segment)
            return true;
    return false;
}

/* Both with the same placement in effect: then they are compared, and nothing else. */
static void side_narrow(struct side *side, int64_t segment)
{
    for (size_t i = 0; i < side->selection.count; i++)
        if (side->at[i].segment == segment) {
            side->at[0] = side->at[i];
            side->selection.count = 1;
            return;
        }
    side->selection.count = 0;
}

/* Where two repetitions or more have settled, the others say nothing that these do not. */
static void side_settle(struct side *side)
{
    size_t steady = 0, kept = 0;
    for (size_t i = 0; i < side->selection.count; i++)
        steady += side->steady[i];
    if (steady < 2)
        return;
    for (size_t i = 0; i < side->selection.count; i++)
        if (side->steady[i])
            side->at[kept++] = side->at[i];
    side->left_out = (int)(side->selection.count - kept);
    side->selection.count = kept;
}

static const char again[] = "toggle back and forth for repetitions";

/* A verdict on one segment of a side rests on the spread between its steps alone, and says so. */
static void reason_write(struct mgb_bench_answer *out, const struct mgb_judgement *j)
{
    char why[240] = "";
    const struct mgb_comparison *c = &j->comparison;
    if (*j->refusal)
        snprintf(why, sizeof why, "%.239s", j->refusal);
    else if (c->reason == MGB_REASON_FEW_STEPS)
        snprintf(why, sizeof why, "too few timed steps yet for an interval");
    else if (c->verdict == MGB_VERDICT_UNDECIDED && (out->now_count < 2 || out->before_count < 2))
        snprintf(why, sizeof why, "the interval reaches across the noise floor");
    else
        mgb_judge_reason(why, sizeof why, j);
    bool simulated = j->a.simulated && j->b.simulated; /* repetitions would be the same */
    if (simulated && !*j->refusal)
        snprintf(out->reason, sizeof out->reason, "%.220s%ssimulated", why, *why ? "; " : "");
    else if (*j->refusal || (out->now_count > 1 && out->before_count > 1))
        snprintf(out->reason, sizeof out->reason, "%s", why);
    else if (out->now_count == 1 && out->before_count == 1)
        snprintf(out->reason, sizeof out->reason, "%.120s%sone segment each: %s", why,
                 *why ? "; " : "", again);
    else
        snprintf(out->reason, sizeof out->reason, "%.120s%sone segment of this placement%s: %s",
                 why, *why ? "; " : "", out->now_count == 1 ? "" : " before", again);
}

static void answer_fill(struct mgb_bench_answer *out, const struct mgb_judgement *j)
{
    const struct mgb_comparison *c = &j->comparison;
    bool known = c->ratio > 0;
    bool bounded = known && c->reason != MGB_REASON_FEW_STEPS && c->reason != MGB_REASON_SINGLE;
    out->ratio = known ? c->ratio : (double)NAN;
    out->low = bounded ? c->low : (double)NAN;
    out->high = bounded ? c->high : (double)NAN;
    out->per_example = j->per_example;
    snprintf(out->verdict, sizeof out->verdict, "%s", mgb_verdict_name(c->verdict));
    reason_write(out, j);
}

static bool is_difference(const char *verdict)
{
    return strcmp(verdict, mgb_verdict_name(MGB_VERDICT_FASTER)) == 0 ||
           strcmp(verdict, mgb_verdict_name(MGB_VERDICT_SLOWER)) == 0;
}

/* Steps of one placement that differ show how far two segments lie apart here without any reason in the placement. */
static void repeat_write(struct mgb_bench_answer *out)
{
    if (!is_difference(out->verdict))
        return;
    snprintf(out->verdict, sizeof out->verdict, "%s", mgb_verdict_name(MGB_VERDICT_UNDECIDED));
    snprintf(out->reason, sizeof out->reason,
             "the same placement twice: this difference is the machine's");
}

/* The columns beside it are of the two newest segments, the ratio is of all. */
static void repetitions_write(struct mgb_bench_answer *out, int left_out)
{
    size_t used = strlen(out->reason);
    if (out->now_count > 1 && out->before_count > 1)
        used += (size_t)snprintf(out->reason + used, sizeof out->reason - used,
                                 "%sratio of %d and %d repetitions", used ? "; " : "",
                                 out->now_count, out->before_count);
    if (left_out > 0 && used < sizeof out->reason)
        snprintf(out->reason + used, sizeof out->reason - used,
                 "%s%d unsteady repetition%s left out", used ? "; " : "", left_out,
                 left_out == 1 ? "" : "s");
}

enum mgb_status mgb_judged_verdict(struct mgb_bench_answer *out, struct mgb_reader *reader,
                                   int64_t run, int64_t now, int64_t before)
{
    struct side a = {0}, b = {0};
    struct mgb_judgement judgement;
    struct mgb_judge_options options = {.single_enough = true, .run = run};
    *out = (struct mgb_bench_answer){.ratio = (double)NAN,
                                     .low = (double)NAN,
                                     .high = (double)NAN,
                                     .speedup = (double)NAN,
                                     .efficiency = (double)NAN};
    if (!before)
        return MGB_OK;
    MGB_TRY(side_find(&a, reader, before));
    MGB_TRY(side_find(&b, reader, now));
    bool repeated = side_has(&b, before) || side_has(&a, now);
    if (repeated) {
        side_narrow(&a, before);
        side_narrow(&b, now);
    } else {
        side_settle(&a);
        side_settle(&b);
    }
    out->there = true;
    out->before_count = (int)a.selection.count;
    out->now_count = (int)b.selection.count;
    if (out->before_count == 0 || out->now_count == 0) {
        snprintf(out->reason, sizeof out->reason, "no timed steps %s",
                 out->now_count == 0 ? "yet" : "under the placement before");
        return MGB_OK;
    }
    MGB_TRY(mgb_judge(&judgement, reader, &a.selection, &b.selection, &options));
    answer_fill(out, &judgement);
    if (repeated)
        repeat_write(out);
    repetitions_write(out, a.left_out + b.left_out);
    return MGB_OK;
}
