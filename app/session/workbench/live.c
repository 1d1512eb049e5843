/* See live.h. Phases are summed in buckets of an eighth of a second of steps each, so that a mean over the newest second
 * costs neither memory by step nor a walk over many. */
#include "app/session/workbench/live_private.h"

#include <stdlib.h>
#include <string.h>

#define BUCKET_NS INT64_C(125000000)

enum mgb_status mgb_live_make(struct mgb_live **out)
{
    struct mgb_live *live = calloc(1, sizeof *live);
    if (!live || pthread_mutex_init(&live->lock, NULL) != 0) {
        free(live);
        return mgb_fail(MGB_NO_MEMORY, "watching steps: memory is exhausted");
    }
    *out = live;
    return MGB_OK;
}

void mgb_live_free(struct mgb_live *live)
{
    if (!live)
        return;
    mgb_shared_drop(live->facts);
    mgb_shared_drop(live->traced);
    mgb_shared_drop(live->copied);
    mgb_live_waits_forget(live);
    pthread_mutex_destroy(&live->lock);
    free(live);
}

/* With the lock held; what is to be dropped without it is returned. */
static const struct mgb_bench_traced *segment_forget(struct mgb_live *live)
{
    const struct mgb_bench_traced *traced = live->traced;
    live->traced = NULL;
    live->segment_steps = 0;
    memset(live->buckets, 0, sizeof live->buckets);
    live->bucket = 0;
    live->bucket_warmup = false;
    return traced;
}

void mgb_live_begin_run(struct mgb_live *live)
{
    pthread_mutex_lock(&live->lock);
    const struct mgb_bench_traced *traced = segment_forget(live);
    const struct mgb_facts *facts = live->facts;
    live->facts = NULL;
    live->number = 0;
    live->steps = 0;
    live->version++;
    mgb_live_waits_forget(live);
    pthread_mutex_unlock(&live->lock);
    mgb_shared_drop(traced);
    mgb_shared_drop(facts);
}

void mgb_live_begin_segment(struct mgb_live *live, int number, const struct mgb_facts *facts,
                            int64_t warmup)
{
    const struct mgb_facts *held = mgb_shared_hold(facts);
    pthread_mutex_lock(&live->lock);
    const struct mgb_bench_traced *traced = segment_forget(live);
    const struct mgb_facts *before = live->facts;
    live->facts = held;
    live->number = number;
    live->warmup = warmup;
    mgb_live_waits_forget(live);
    pthread_mutex_unlock(&live->lock);
    mgb_shared_drop(traced);
    mgb_shared_drop(before);
}

static void history_add(struct mgb_live *live, const struct mgb_step_result *result, bool warmup)
{
    live->ring[live->steps % MGB_BENCH_STEPS] = (struct mgb_bench_step){
        .step = result->index,
        .wall_ns = result->wall_ns,
        .segment = live->number,
        .warmup = warmup,
    };
    live->steps++;
    live->segment_steps++;
    live->version++;
}

static void times_add(struct live_bucket *bucket, const struct mgb_step_result *result)
{
    int count = result->device_count < MGB_BENCH_DEVICES ? result->device_count : MGB_BENCH_DEVICES;
    bucket->wall_ns += result->wall_ns;
    bucket->steps++;
    bucket->count = count;
    for (int i = 0; i < count; i++) {
        struct live_times *sum = &bucket->devices[i];
        const struct mgb_device_times *times = &result->devices[i];
        sum->device = times->device;
        sum->finish_ns += times->finish_ns;
        for (int p = 0; p < MGB_PHASE_COUNT; p++) {
            sum->busy_ns[p] += times->busy[p];
            sum->exposed_ns[p] += times->exposed[p];
        }
    }
}

/* The devices of a segment are the same in every step; where they are not, only the newer ones count. */
static bool same_devices(const struct live_bucket *bucket, const struct mgb_step_result *result)
{
    int count = result->device_count < MGB_BENCH_DEVICES ? result->device_count : MGB_BENCH_DEVICES;
    bool same = bucket->count == count;
    for (int i = 0; i < count && same; i++)
        same = bucket->devices[i].device == result->devices[i].device;
    return same;
}

/* Steps of the warm-up count until the first timed one is there. */
static void phases_add(struct mgb_live *live, const struct mgb_step_result *result, bool warmup)
{
    struct live_bucket *bucket = &live->buckets[live->bucket];
    if (bucket->steps > 0 &&
        (live->bucket_warmup != warmup || warmup || !same_devices(bucket, result)))
        memset(live->buckets, 0, sizeof live->buckets);
    else if (bucket->wall_ns >= BUCKET_NS) {
        live->bucket = (live->bucket + 1) % MGB_LIVE_BUCKETS;
        bucket = &live->buckets[live->bucket];
        memset(bucket, 0, sizeof *bucket);
    }
    live->bucket_warmup = warmup;
    times_add(bucket, result);
}

void mgb_live_step(struct mgb_live *live, const struct mgb_step_result *result)
{
    struct mgb_bench_traced *traced = result->task_count > 0 ? mgb_live_trace(live, result) : NULL;
    const struct mgb_bench_traced *before = NULL;
    pthread_mutex_lock(&live->lock);
    bool warmup = live->segment_steps < live->warmup;
    history_add(live, result, warmup);
    phases_add(live, result, warmup);
    if (traced) {
        traced->warmup = warmup;
        before = live->traced;
        live->traced = traced;
    }
    pthread_mutex_unlock(&live->lock);
    mgb_shared_drop(before);
}

void mgb_live_warmup(struct mgb_live *live, int64_t steps)
{
    pthread_mutex_lock(&live->lock);
    int64_t first = live->steps - live->segment_steps;
    int64_t oldest = live->steps > MGB_BENCH_STEPS ? live->steps - MGB_BENCH_STEPS : 0;
    live->warmup = steps;
    for (int64_t i = first > oldest ? first : oldest; i < live->steps; i++) {
        struct mgb_bench_step *step = &live->ring[i % MGB_BENCH_STEPS];
        live->version += step->warmup != (i - first < steps);
        step->warmup = i - first < steps;
    }
    pthread_mutex_unlock(&live->lock);
}

int64_t mgb_live_steps(struct mgb_live *live)
{
    pthread_mutex_lock(&live->lock);
    int64_t steps = live->steps;
    pthread_mutex_unlock(&live->lock);
    return steps;
}

static void history_free(void *part)
{
    free(part);
}

static void history_copy(struct mgb_bench_history *out, const struct mgb_live *live)
{
    int64_t count = live->steps < MGB_BENCH_STEPS ? live->steps : MGB_BENCH_STEPS;
    int64_t begin = (live->steps - count) % MGB_BENCH_STEPS, head = MGB_BENCH_STEPS - begin;
    if (head > count)
        head = count;
    memcpy(out->at, live->ring + begin, (size_t)head * sizeof *out->at);
    memcpy(out->at + head, live->ring, (size_t)(count - head) * sizeof *out->at);
    out->count = (int)count;
}

struct mgb_bench_history *mgb_live_history(struct mgb_live *live)
{
    pthread_mutex_lock(&live->lock);
    bool known = live->copied && live->copied_version == live->version;
    struct mgb_bench_history *out = known ? mgb_shared_hold(live->copied) : NULL;
    bool none = live->steps == 0;
    pthread_mutex_unlock(&live->lock);
    if (known || none)
        return out;
    out = malloc(sizeof *out);
    if (!out)
        return NULL;
    atomic_init(&out->shared.holders, 2); /* the caller, and here: the next one may want the same */
    out->shared.free = history_free;
    pthread_mutex_lock(&live->lock);
    struct mgb_bench_history *before = live->copied;
    history_copy(out, live);
    live->copied = out;
    live->copied_version = live->version;
    pthread_mutex_unlock(&live->lock);
    mgb_shared_drop(before);
    return out;
}

const struct mgb_bench_traced *mgb_live_traced(struct mgb_live *live)
{
    pthread_mutex_lock(&live->lock);
    const struct mgb_bench_traced *traced = mgb_shared_hold(live->traced);
    pthread_mutex_unlock(&live->lock);
    return traced;
}
