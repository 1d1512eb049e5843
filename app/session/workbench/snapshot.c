/* See snapshot.h. */
#include "app/session/workbench/snapshot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void snapshot_free(void *part)
{
    struct mgb_snapshot *snapshot = part;
    mgb_shared_drop(snapshot->facts);
    mgb_shared_drop(snapshot->pressed);
    mgb_shared_drop(snapshot->history);
    mgb_shared_drop(snapshot->traced);
    mgb_shared_drop(snapshot->sweep);
    free(snapshot);
}

static struct mgb_snapshot *snapshot_new(void)
{
    struct mgb_snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (!snapshot)
        return NULL;
    atomic_init(&snapshot->shared.holders, 1);
    snapshot->shared.free = snapshot_free;
    return snapshot;
}

static void segment_forget(struct mgb_bench_segment *segment)
{
    segment->gpus = segment->batch_per_gpu = segment->global_batch = -1;
    segment->traffic_bytes = -1;
    segment->figures = mgb_script_figures_unknown();
}

struct mgb_snapshot *mgb_snapshot_make(void)
{
    const double unknown = (double)NAN;
    struct mgb_snapshot *snapshot = snapshot_new();
    if (!snapshot)
        return NULL;
    segment_forget(&snapshot->now);
    segment_forget(&snapshot->before);
    snapshot->answer = (struct mgb_bench_answer){.ratio = unknown,
                                                 .low = unknown,
                                                 .high = unknown,
                                                 .speedup = unknown,
                                                 .efficiency = unknown};
    snapshot->observer_share = unknown;
    snapshot->phases.slowest = -1;
    return snapshot;
}

/* Not the holders: others count them up and down meanwhile. */
static void contents_copy(struct mgb_snapshot *to, const struct mgb_snapshot *from)
{
    const size_t head = sizeof to->shared;
    memcpy((char *)to + head, (const char *)from + head, sizeof *to - head);
}

struct mgb_snapshot *mgb_snapshot_copy(const struct mgb_snapshot *from)
{
    struct mgb_snapshot *snapshot = snapshot_new();
    if (!snapshot)
        return NULL;
    contents_copy(snapshot, from);
    mgb_shared_hold(snapshot->facts);
    mgb_shared_hold(snapshot->pressed);
    mgb_shared_hold(snapshot->history);
    mgb_shared_hold(snapshot->traced);
    mgb_shared_hold(snapshot->sweep);
    return snapshot;
}

void mgb_answer_doubt(struct mgb_bench_answer *answer, const struct mgb_bench_segment *now)
{
    enum { ENOUGH = 3 }; /* one among so many repetitions: their spread has it */
    static const char said[] = "not steady: "; /* what is known begins with it */
    const char *why = now->figures.not_steady ? now->figures.not_steady : "";
    if (!answer->there || !*answer->verdict || strcmp(answer->verdict, "refused") == 0 ||
        now->figures.steady != 0 || now->figures.steps == 0 || answer->now_count >= ENOUGH)
        return;
    why += strncmp(why, said, strlen(said)) == 0 ? strlen(said) : 0;
    snprintf(answer->verdict, sizeof answer->verdict, "refused");
    snprintf(answer->reason, sizeof answer->reason, "seg %d unsteady%s%.180s", now->number,
             *why ? ": " : "", why);
}

bool mgb_answer_busy(char *out, size_t size, double load, int own, int cpus)
{
    double others = cpus > 2 ? (double)cpus / 2 : 1;
    bool busy = cpus > 0 && load > own + others;
    *out = '\0';
    if (busy)
        snprintf(out, size, "machine busy: load %.2f on %d CPU%s", load, cpus,
                 cpus == 1 ? "" : "s");
    return busy;
}

/* With a segment a side nothing tells a placement from what else ran meanwhile. */
static void verdict_withhold(struct mgb_bench_answer *answer)
{
    bool differs = strcmp(answer->verdict, "faster") == 0 || strcmp(answer->verdict, "slower") == 0;
    if (differs && (answer->now_count < 2 || answer->before_count < 2))
        snprintf(answer->verdict, sizeof answer->verdict, "undecided");
}

void mgb_answer_blame(struct mgb_bench_answer *answer, const char *busy)
{
    char reason[2 * sizeof answer->reason];
    if (!*busy || !answer->there)
        return;
    verdict_withhold(answer);
    bool settled =
        strcmp(answer->verdict, "undecided") != 0 && strcmp(answer->verdict, "refused") != 0;
    if (settled || strncmp(answer->reason, busy, 12) == 0)
        return;
    snprintf(reason, sizeof reason, "%s%s%s", busy, *answer->reason ? "; " : "", answer->reason);
    memcpy(answer->reason, reason, sizeof answer->reason - 1);
    answer->reason[sizeof answer->reason - 1] = '\0';
}
