/* The thread of the judge's desk: what is due, having it answered, and keeping what was found. Questions themselves are in
 * judged_private.h. */
#include "app/session/workbench/judged_desk.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum {
    APART_NS = 1000000000, /* between two judgings of the same segments, at least */
    GROWTH = 16,           /* one step in so many makes another judging worth it */
    SHARE = 100            /* judging takes one part in so many of the time, at most */
};

struct desk_work { /* copied out, so that nothing is held while it is done */
    enum { WORK_PAIR, WORK_LOOKUP } kind;
    struct desk_pair pair;
    int index;
    uint64_t version;
    int64_t now;
    struct mgb_lookup lookup;
    struct mgb_stand_in stand_in; /* while `now` is 0 */
};

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool mgb_desk_is_of(const struct desk_pair *a, const struct desk_pair *b)
{
    return a->run == b->run && a->now == b->now && a->before == b->before;
}

bool mgb_desk_has_grown(const struct mgb_judge_desk *desk)
{
    int64_t least = desk->judged.steps / GROWTH;
    return desk->asked.now != 0 && mgb_desk_is_of(&desk->asked, &desk->judged) &&
           desk->asked.steps - desk->judged.steps >= (least > 1 ? least : 1);
}

bool mgb_desk_is_due(const struct mgb_judge_desk *desk)
{
    if (desk->asked.now == 0)
        return false;
    if (!mgb_desk_is_of(&desk->asked, &desk->judged))
        return true;
    if (desk->whole && desk->asked.steps != desk->judged.steps)
        return true;
    return mgb_desk_has_grown(desk) && clock_ns(CLOCK_MONOTONIC) >= desk->due_ns;
}

static bool work_take(struct mgb_judge_desk *desk, struct desk_work *out)
{
    atomic_store(&desk->abandon, false);
    if (mgb_desk_is_due(desk)) {
        out->kind = WORK_PAIR;
        out->pair = desk->asked;
        return true;
    }
    for (int i = 0; i < desk->lookup_count; i++)
        if (desk->lookups[i].state == LOOKUP_WAITS) {
            out->kind = WORK_LOOKUP;
            out->index = i;
            out->version = desk->lookup_version;
            out->now = desk->lookup_now;
            out->lookup = desk->lookups[i].asked;
            if (out->now == 0)
                out->stand_in = desk->stand_in;
            return true;
        }
    return false;
}

static bool is_abandoned(void *context)
{
    struct mgb_judge_desk *desk = context;
    return atomic_load(&desk->abandon) || atomic_load(&desk->stop);
}

/* After a failure the file is opened anew. */
static enum mgb_status reader_get(struct mgb_reader **out, struct mgb_judge_desk *desk)
{
    MGB_TRY(mgb_results_file_get(out, &desk->file));
    mgb_reader_watch(*out, is_abandoned, desk);
    return MGB_OK;
}

static enum mgb_status pair_answer(struct mgb_judge_desk *desk, struct mgb_bench_answer *out,
                                   const struct desk_pair *pair)
{
    struct mgb_reader *reader;
    MGB_TRY(reader_get(&reader, desk));
    MGB_TRY(mgb_judged_verdict(out, reader, pair->run, pair->now, pair->before));
    return mgb_judged_scaling(out, reader, pair->now, &desk->base);
}

/* `cost_ns`: processor time that it took; many steps are judged less often. */
static void pair_keep(struct mgb_judge_desk *desk, const struct desk_pair *pair,
                      const struct mgb_bench_answer *answer, int64_t cost_ns)
{
    int64_t apart = cost_ns * SHARE > APART_NS ? cost_ns * SHARE : APART_NS;
    int64_t due_ns = clock_ns(CLOCK_MONOTONIC) + apart;
    pthread_mutex_lock(&desk->lock);
    desk->judged = *pair;
    desk->answer = *answer;
    desk->due_ns = due_ns;
    for (int i = 0; i < desk->lookup_count && desk->lookup_now == pair->now; i++)
        if (desk->lookups[i].blind)
            desk->lookups[i].state = LOOKUP_WAITS;
    pthread_mutex_unlock(&desk->lock);
}

static bool pair_do(struct mgb_judge_desk *desk, const struct desk_pair *pair)
{
    struct mgb_bench_answer answer;
    const double none = (double)NAN;
    int64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    enum mgb_status status = pair_answer(desk, &answer, pair);
    if (status != MGB_OK && is_abandoned(desk))
        return false;
    if (status != MGB_OK) {
        answer = (struct mgb_bench_answer){
            .ratio = none, .low = none, .high = none, .speedup = none, .efficiency = none};
        snprintf(answer.reason, sizeof answer.reason, "%s", mgb_message_get());
        desk->base.of = 0;
        mgb_results_file_close(&desk->file);
    }
    pair_keep(desk, pair, &answer, clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin);
    return true;
}

/* Against the stand-in where nothing was run yet; it is looked for once for all that is asked together. */
static enum mgb_status lookup_answer(struct mgb_judge_desk *desk, struct mgb_looked_up *out,
                                     const struct desk_work *work)
{
    struct mgb_reader *reader;
    MGB_TRY(reader_get(&reader, desk));
    if (work->now != 0)
        return mgb_judged_look_up(out, reader, work->now, &work->lookup);
    if (work->stand_in.at.column_count > 0 && desk->stands.version != work->version) {
        MGB_TRY(
            mgb_judged_stand_in(&desk->stands.segment, &desk->stands.run, reader, &work->stand_in));
        desk->stands.version = work->version;
    }
    bool found = work->stand_in.at.column_count > 0 && desk->stands.segment != 0;
    MGB_TRY(mgb_judged_look_up(out, reader, found ? desk->stands.segment : 0, &work->lookup));
    out->base_run = out->ratio > 0 ? desk->stands.run : 0;
    return MGB_OK;
}

static bool lookup_do(struct mgb_judge_desk *desk, const struct desk_work *work)
{
    const double none = (double)NAN;
    struct mgb_looked_up answer;
    enum mgb_status status = lookup_answer(desk, &answer, work);
    if (status != MGB_OK && is_abandoned(desk))
        return false;
    if (status != MGB_OK) {
        answer =
            (struct mgb_looked_up){.id = work->lookup.id, .ratio = none, .low = none, .high = none};
        if (status != MGB_INVALID)
            mgb_results_file_close(&desk->file);
    }
    pthread_mutex_lock(&desk->lock);
    bool wanted = work->version == desk->lookup_version;
    if (wanted) {
        struct desk_lookup *lookup = &desk->lookups[work->index];
        bool told = lookup->blind && isnan(answer.ratio); /* the same once more is no news */
        lookup->answer = answer;
        lookup->blind = answer.segments > 0 && isnan(answer.ratio);
        lookup->state = told && lookup->blind ? LOOKUP_TAKEN : LOOKUP_READY;
    }
    pthread_mutex_unlock(&desk->lock);
    return wanted;
}

/* Until somebody asks, or until what has grown may be judged once more. */
static void desk_wait(struct mgb_judge_desk *desk)
{
    struct timespec due = {desk->due_ns / 1000000000, desk->due_ns % 1000000000};
    if (mgb_desk_has_grown(desk))
        pthread_cond_timedwait(&desk->asked_cond, &desk->lock, &due);
    else
        pthread_cond_wait(&desk->asked_cond, &desk->lock);
}

void *mgb_desk_main(void *argument)
{
    struct mgb_judge_desk *desk = argument;
    struct desk_work work;
    pthread_mutex_lock(&desk->lock);
    while (!atomic_load(&desk->stop)) {
        if (!work_take(desk, &work)) {
            desk_wait(desk);
            continue;
        }
        pthread_mutex_unlock(&desk->lock);
        bool news = work.kind == WORK_PAIR ? pair_do(desk, &work.pair) : lookup_do(desk, &work);
        if (news && desk->changed)
            desk->changed(desk->context);
        pthread_mutex_lock(&desk->lock);
    }
    pthread_mutex_unlock(&desk->lock);
    mgb_results_file_close(&desk->file);
    return NULL;
}
