/* The desk: who asked what, when it is due, and the thread that has it answered; see judged.h. Questions themselves are in
 * judged_private.h. */
#include "app/session/workbench/judged_private.h"

#include <mgb/thread.h>

#include "app/session/workbench/results_file.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    APART_NS = 1000000000, /* between two judgings of the same segments, at least */
    GROWTH = 16,           /* one step in so many makes another judging worth it */
    SHARE = 100            /* judging takes one part in so many of the time, at most */
};

struct desk_pair {
    int64_t run, now, before, steps;
};

enum lookup_state { LOOKUP_WAITS, LOOKUP_READY, LOOKUP_TAKEN };

struct desk_lookup {
    struct mgb_lookup asked;
    struct mgb_looked_up answer;
    enum lookup_state state;
    bool blind; /* the segment in force had no figures: asked again when it has */
};

struct mgb_judge_desk {
    pthread_t thread;
    pthread_mutex_t lock; /* held for copies only */
    pthread_cond_t asked_cond;
    void (*changed)(void *context);
    void *context;
    struct mgb_results_file file; /* the thread's; path NULL: there is no thread */
    struct mgb_judged_base base;  /* the thread's */
    atomic_bool stop, abandon;    /* abandon: what is being worked on is of no use any more */

    struct desk_pair asked, judged; /* judged.now 0: nothing is */
    bool whole;                     /* no more steps than those asked about are coming */
    struct timespec due;            /* of the next judging of the same segments */
    struct mgb_bench_answer answer; /* of `judged` */
    struct desk_lookup *lookups;
    int lookup_count;
    int64_t lookup_now;
    uint64_t lookup_version;
    struct mgb_stand_in stand_in; /* at.column_count 0: there is none */

    struct { /* the thread's: what was found for the stand-in of a version */
        uint64_t version;
        int64_t segment, run;
    } stands;
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

static bool is_of(const struct desk_pair *a, const struct desk_pair *b)
{
    return a->run == b->run && a->now == b->now && a->before == b->before;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static bool has_grown(const struct mgb_judge_desk *desk)
{
    int64_t least = desk->judged.steps / GROWTH;
    return desk->asked.now != 0 && is_of(&desk->asked, &desk->judged) &&
           desk->asked.steps - desk->judged.steps >= (least > 1 ? least : 1);
}

static bool pair_is_due(const struct mgb_judge_desk *desk)
{
    struct timespec now;
    if (desk->asked.now == 0)
        return false;
    if (!is_of(&desk->asked, &desk->judged))
        return true;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (desk->whole && desk->asked.steps != desk->judged.steps)
        return true;
    return has_grown(desk) && !is_before(&now, &desk->due);
}

static bool work_take(struct mgb_judge_desk *desk, struct desk_work *out)
{
    atomic_store(&desk->abandon, false);
    if (pair_is_due(desk)) {
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

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* `cost_ns`: processor time that it took; many steps are judged less often. */
static void pair_keep(struct mgb_judge_desk *desk, const struct desk_pair *pair,
                      const struct mgb_bench_answer *answer, int64_t cost_ns)
{
    int64_t apart = cost_ns * SHARE > APART_NS ? cost_ns * SHARE : APART_NS;
    int64_t due = clock_ns(CLOCK_MONOTONIC) + apart;
    pthread_mutex_lock(&desk->lock);
    desk->judged = *pair;
    desk->answer = *answer;
    desk->due = (struct timespec){due / 1000000000, due % 1000000000};
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
    if (has_grown(desk))
        pthread_cond_timedwait(&desk->asked_cond, &desk->lock, &desk->due);
    else
        pthread_cond_wait(&desk->asked_cond, &desk->lock);
}

static void *desk_main(void *argument)
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

static enum mgb_status desk_start(struct mgb_judge_desk *desk)
{
    int failed = mgb_thread_start(&desk->thread, "judge", desk_main, desk);
    return failed
               ? mgb_fail(MGB_NO_MEMORY, "starting the thread that compares: %s", strerror(failed))
               : MGB_OK;
}

static void desk_free(struct mgb_judge_desk *desk)
{
    pthread_mutex_destroy(&desk->lock);
    pthread_cond_destroy(&desk->asked_cond);
    free(desk->lookups);
    free(desk->file.path);
    free(desk);
}

enum mgb_status mgb_judge_desk_open(struct mgb_judge_desk **out, const char *path,
                                    void (*changed)(void *context), void *context)
{
    *out = NULL;
    struct mgb_judge_desk *desk = calloc(1, sizeof *desk);
    if (!desk)
        return mgb_fail(MGB_NO_MEMORY, "no memory to compare segments");
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&desk->lock, NULL);
    pthread_cond_init(&desk->asked_cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
    desk->changed = changed;
    desk->context = context;
    enum mgb_status status = MGB_OK;
    if (path && !(desk->file.path = strdup(path)))
        status = mgb_fail(MGB_NO_MEMORY, "no memory to compare segments");
    if (status == MGB_OK && path)
        status = desk_start(desk);
    if (status != MGB_OK) {
        desk_free(desk);
        return status;
    }
    *out = desk;
    return MGB_OK;
}

void mgb_judge_desk_close(struct mgb_judge_desk *desk)
{
    if (!desk)
        return;
    if (desk->file.path) {
        pthread_mutex_lock(&desk->lock);
        atomic_store(&desk->stop, true);
        pthread_cond_signal(&desk->asked_cond);
        pthread_mutex_unlock(&desk->lock);
        pthread_join(desk->thread, NULL);
    }
    desk_free(desk);
}

static void pair_ask(struct mgb_judge_desk *desk, const struct desk_pair *pair, bool whole)
{
    if (!desk->file.path)
        return;
    pthread_mutex_lock(&desk->lock);
    if (!is_of(&desk->asked, pair))
        atomic_store(&desk->abandon, true);
    bool grew = has_grown(desk);
    desk->asked = *pair;
    desk->whole = whole;
    if (!is_of(&desk->asked, &desk->judged) || (!grew && has_grown(desk)) ||
        (whole && pair_is_due(desk)))
        pthread_cond_signal(&desk->asked_cond);
    pthread_mutex_unlock(&desk->lock);
}

void mgb_judge_desk_ask(struct mgb_judge_desk *desk, int64_t run, int64_t now, int64_t before,
                        int64_t steps)
{
    pair_ask(desk, &(struct desk_pair){run, now, before, steps}, false);
}

void mgb_judge_desk_ask_all(struct mgb_judge_desk *desk, int64_t run, int64_t now, int64_t before,
                            int64_t steps)
{
    pair_ask(desk, &(struct desk_pair){run, now, before, steps}, true);
}

bool mgb_judge_desk_look(struct mgb_judge_desk *desk, struct mgb_bench_answer *out, int64_t now,
                         int64_t before)
{
    pthread_mutex_lock(&desk->lock);
    bool there = now != 0 && desk->judged.now == now && desk->judged.before == before;
    if (there)
        *out = desk->answer;
    pthread_mutex_unlock(&desk->lock);
    return there;
}

/* Without a database the answer is known at once: nothing is stored. */
static struct desk_lookup *lookups_make(const struct mgb_lookup *lookups, int count, bool stored)
{
    struct desk_lookup *made = calloc((size_t)count + 1, sizeof *made);
    for (int i = 0; made && i < count; i++) {
        made[i].asked = lookups[i];
        made[i].answer = (struct mgb_looked_up){
            .id = lookups[i].id, .ratio = (double)NAN, .low = (double)NAN, .high = (double)NAN};
        made[i].state = stored ? LOOKUP_WAITS : LOOKUP_READY;
    }
    return made;
}

void mgb_judge_desk_look_up(struct mgb_judge_desk *desk, int64_t now,
                            const struct mgb_lookup *lookups, int count)
{
    struct desk_lookup *fresh = lookups_make(lookups, count, desk->file.path != NULL);
    pthread_mutex_lock(&desk->lock);
    struct desk_lookup *old = desk->lookups;
    desk->lookups = fresh;
    desk->lookup_count = fresh ? count : 0;
    desk->lookup_now = now;
    desk->lookup_version++;
    pthread_cond_signal(&desk->asked_cond);
    pthread_mutex_unlock(&desk->lock);
    free(old);
}

void mgb_judge_desk_stand_in(struct mgb_judge_desk *desk, const struct mgb_stand_in *stand_in)
{
    pthread_mutex_lock(&desk->lock);
    desk->stand_in = *stand_in;
    pthread_mutex_unlock(&desk->lock);
}

int mgb_judge_desk_take(struct mgb_judge_desk *desk, struct mgb_looked_up *out, int most)
{
    int taken = 0;
    pthread_mutex_lock(&desk->lock);
    for (int i = 0; i < desk->lookup_count && taken < most; i++)
        if (desk->lookups[i].state == LOOKUP_READY) {
            out[taken++] = desk->lookups[i].answer;
            desk->lookups[i].state = LOOKUP_TAKEN;
        }
    pthread_mutex_unlock(&desk->lock);
    return taken;
}
