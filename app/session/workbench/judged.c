/* The desk: who asked what, and what is there to be taken; see judged.h. Answers are found by judged_thread.c. */
#include "app/session/workbench/judged_desk.h"

#include <mgb/thread.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static enum mgb_status desk_start(struct mgb_judge_desk *desk)
{
    int failed = mgb_thread_start(&desk->thread, "judge", mgb_desk_main, desk);
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
    if (!mgb_desk_is_of(&desk->asked, pair))
        atomic_store(&desk->abandon, true);
    bool grew = mgb_desk_has_grown(desk);
    desk->asked = *pair;
    desk->whole = whole;
    if (!mgb_desk_is_of(&desk->asked, &desk->judged) || (!grew && mgb_desk_has_grown(desk)) ||
        (whole && mgb_desk_is_due(desk)))
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
