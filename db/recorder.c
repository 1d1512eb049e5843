/* What other threads ask of the recorder; see recorder.h. Its own thread is in recorder_thread.c, storing functions are in
 * recorder_rows.c. */
#include "db/recorder.h"

#include <mgb/thread.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "db/recorder_private.h"
#include "db/ring.h"
#include "db/store_private.h"

#define COMMIT_MS 100
#define RING_CAPACITY 16384
#define FULL_PAUSE_NS 100000

static void thread_wake(struct mgb_recorder *recorder)
{
    pthread_mutex_lock(&recorder->mutex);
    recorder->half_full = true;
    pthread_cond_signal(&recorder->wanted);
    pthread_mutex_unlock(&recorder->mutex);
}

static enum mgb_status call_wait(struct mgb_recorder *recorder, struct mgb_recorder_call *call)
{
    while (!call->done)
        pthread_cond_wait(&recorder->served, &recorder->mutex);
    pthread_mutex_unlock(&recorder->mutex);
    return call->status == MGB_OK ? MGB_OK : mgb_fail(call->status, "%s", call->message);
}

enum mgb_status mgb_recorder_call(struct mgb_recorder *recorder, mgb_request_do *what,
                                  const struct mgb_request *request, enum mgb_request_when when)
{
    struct mgb_recorder_call call = {
        .what = what, .request = request, .when = when, .until = mgb_ring_claimed(&recorder->ring)};
    pthread_mutex_lock(&recorder->mutex);
    if (recorder->last)
        recorder->last->next = &call;
    else
        recorder->first = &call;
    recorder->last = &call;
    pthread_cond_signal(&recorder->wanted);
    return call_wait(recorder, &call);
}

enum mgb_status mgb_recorder_seal(struct mgb_recorder *recorder, int64_t limit_ms)
{
    struct timespec until = mgb_recorder_time_after(limit_ms);
    pthread_mutex_lock(&recorder->mutex);
    recorder->seal_asked = true;
    recorder->half_full = true;
    pthread_cond_signal(&recorder->wanted);
    int code = 0;
    while (!recorder->sealed && code == 0)
        code = pthread_cond_timedwait(&recorder->served, &recorder->mutex, &until);
    bool sealed = recorder->sealed;
    pthread_mutex_unlock(&recorder->mutex);
    return sealed ? MGB_OK
                  : mgb_fail(MGB_TIMEOUT, "%s: what is left could not be stored in time",
                             recorder->path);
}

bool mgb_recorder_is_lost(const struct mgb_recorder *recorder, int64_t segment)
{
    return segment <= atomic_load_explicit(&recorder->last_lost, memory_order_relaxed);
}

enum mgb_status mgb_recorder_flush(struct mgb_recorder *recorder)
{
    return mgb_recorder_call(recorder, NULL, NULL, MGB_REQUEST_RECORDING);
}

/* False: recording stopped while it waited. */
static bool push_wait(struct mgb_recorder *recorder, const struct mgb_record *record)
{
    uint64_t position;
    atomic_fetch_add(&recorder->waits, 1);
    while (!mgb_ring_push(&position, &recorder->ring, record)) {
        if (atomic_load(&recorder->stopped))
            return false;
        thread_wake(recorder);
        nanosleep(&(struct timespec){.tv_nsec = FULL_PAUSE_NS}, NULL);
    }
    return true;
}

void mgb_recorder_push(struct mgb_recorder *recorder, const struct mgb_record *record)
{
    /* Every kind begins with its segment. */
    if (mgb_recorder_is_lost(recorder, record->step.segment) ||
        atomic_load_explicit(&recorder->stopped, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&recorder->lost, 1, memory_order_relaxed);
        return;
    }
    uint64_t position;
    uint64_t half = (recorder->ring.mask + 1) / 2;
    if (!mgb_ring_push(&position, &recorder->ring, record)) {
        if (!push_wait(recorder, record))
            atomic_fetch_add_explicit(&recorder->lost, 1, memory_order_relaxed);
    } else if ((position & (half - 1)) == half - 1) {
        thread_wake(recorder);
    }
}

void mgb_recorder_get_state(struct mgb_recorder_state *out, struct mgb_recorder *recorder)
{
    *out = (struct mgb_recorder_state){.stopped = atomic_load(&recorder->stopped),
                                       .incomplete = atomic_load(&recorder->incomplete),
                                       .blocked = atomic_load(&recorder->store->blocked),
                                       .stored = atomic_load(&recorder->ring.stored),
                                       .pushed = mgb_ring_claimed(&recorder->ring),
                                       .waits = atomic_load(&recorder->waits),
                                       .lost = atomic_load(&recorder->lost)};
    pthread_mutex_lock(&recorder->mutex);
    snprintf(out->message, sizeof out->message, "%s", out->stopped ? recorder->message : "");
    snprintf(out->reason, sizeof out->reason, "%s", recorder->message);
    snprintf(out->warning, sizeof out->warning, "%s", recorder->warning);
    pthread_mutex_unlock(&recorder->mutex);
}

static void recorder_free(struct mgb_recorder *recorder)
{
    pthread_cond_destroy(&recorder->wanted);
    pthread_cond_destroy(&recorder->served);
    pthread_mutex_destroy(&recorder->mutex);
    mgb_ring_done(&recorder->ring);
    free(recorder->path);
    free(recorder);
}

static void recorder_init(struct mgb_recorder *recorder, const struct mgb_recorder_options *options)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&recorder->wanted, &monotonic);
    pthread_cond_init(&recorder->served, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&recorder->mutex, NULL);
    if (options)
        recorder->options = *options;
    if (recorder->options.commit_ms == 0)
        recorder->options.commit_ms = COMMIT_MS;
    if (recorder->options.ring_capacity == 0)
        recorder->options.ring_capacity = RING_CAPACITY;
}

/* The opening of the store is the first call, put in the queue before the thread exists. */
static enum mgb_status thread_start(struct mgb_recorder *recorder)
{
    struct mgb_recorder_call opening = {0};
    recorder->first = recorder->last = &opening;
    int code = mgb_thread_start(&recorder->thread, "recorder", mgb_recorder_main, recorder);
    if (code != 0)
        return mgb_fail(MGB_NO_MEMORY, "cannot start the recorder's thread: %s", strerror(code));
    pthread_mutex_lock(&recorder->mutex);
    enum mgb_status status = call_wait(recorder, &opening);
    if (status != MGB_OK)
        pthread_join(recorder->thread, NULL);
    return status;
}

enum mgb_status mgb_recorder_open(struct mgb_recorder **out, const char *path,
                                  const struct mgb_recorder_options *options)
{
    *out = NULL;
    struct mgb_recorder *recorder = calloc(1, sizeof *recorder);
    if (!recorder)
        return mgb_fail(MGB_NO_MEMORY, "no memory for the recorder of %s", path);
    recorder_init(recorder, options);
    recorder->path = strdup(path);
    enum mgb_status status =
        recorder->path ? mgb_ring_init(&recorder->ring, recorder->options.ring_capacity)
                       : mgb_fail(MGB_NO_MEMORY, "no memory for the recorder of %s", path);
    if (status == MGB_OK)
        status = thread_start(recorder);
    if (status != MGB_OK) {
        recorder_free(recorder);
        return status;
    }
    *out = recorder;
    return MGB_OK;
}

void mgb_recorder_close(struct mgb_recorder *recorder)
{
    if (!recorder)
        return;
    pthread_mutex_lock(&recorder->mutex);
    recorder->closing = true;
    pthread_cond_signal(&recorder->wanted);
    pthread_mutex_unlock(&recorder->mutex);
    pthread_join(recorder->thread, NULL);
    recorder_free(recorder);
}
