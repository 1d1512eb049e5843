/* The recorder's own thread: opens the store, stores what is in the ring, carries calls out in order with it, and stops
 * recording where it cannot. */
#include "db/recorder_private.h"
#include "db/store_private.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#define SETTLE_MS 1000 /* between attempts to store what is owed */

/* What is left in the ring belongs to a log that ended; its texts may be gone. */
static void ring_discard(struct mgb_recorder *recorder)
{
    const struct mgb_record *records;
    size_t count;
    while ((count = mgb_ring_peek(&records, &recorder->ring, UINT64_MAX)) > 0) {
        mgb_ring_release(&recorder->ring, count);
        atomic_fetch_add(&recorder->lost, count);
    }
}

static void recording_stop(struct mgb_recorder *recorder)
{
    pthread_mutex_lock(&recorder->mutex);
    snprintf(recorder->message, sizeof recorder->message, "%s", mgb_message_get());
    pthread_mutex_unlock(&recorder->mutex);
    mgb_store_break(recorder->store, mgb_message_get());
    atomic_store(&recorder->last_lost, recorder->store->last_segment);
    atomic_store(&recorder->incomplete, true);
    atomic_store(&recorder->stopped, true);
    ring_discard(recorder);
}

/* Stores the ring up to `until`. A record claimed by a writer but not yet published is waited for if `wait`. */
static void ring_store(struct mgb_recorder *recorder, uint64_t until, bool wait)
{
    while (!atomic_load(&recorder->stopped)) {
        const struct mgb_record *records;
        size_t count = mgb_ring_peek(&records, &recorder->ring, until);
        if (count == 0 && (!wait || atomic_load(&recorder->ring.stored) >= until))
            return;
        if (count == 0) {
            sched_yield();
            continue;
        }
        if (mgb_store_put_steps(recorder->store, records, count) != MGB_OK) {
            recording_stop(recorder);
            return;
        }
        mgb_ring_release(&recorder->ring, count);
    }
}

static bool status_stops(enum mgb_status status)
{
    return status == MGB_IO || status == MGB_CORRUPT || status == MGB_NO_MEMORY;
}

/* Carries a call out while recording is stopped. */
static enum mgb_status call_stopped(struct mgb_recorder *recorder,
                                    const struct mgb_recorder_call *call)
{
    if (call->when == MGB_REQUEST_ALWAYS) {
        (void)call->what(recorder->store,
                         call->request); /* once; that it may fail is why we are here */
        return MGB_OK;
    }
    if (call->when != MGB_REQUEST_RESUMES)
        return MGB_OK;
    ring_discard(recorder);
    enum mgb_status status = call->what(recorder->store, call->request);
    if (status == MGB_OK)
        atomic_store(&recorder->stopped, false);
    if (!status_stops(status))
        return status;
    recording_stop(recorder);
    return MGB_OK;
}

static enum mgb_status call_serve(struct mgb_recorder *recorder,
                                  const struct mgb_recorder_call *call)
{
    ring_store(recorder, call->until, true);
    bool stopped = atomic_load(&recorder->stopped);
    struct mgb_store *store = recorder->store;
    if (!call->what && !stopped &&
        mgb_presence_check(&store->presence, store->sql.path) != MGB_OK) {
        recording_stop(recorder);
        stopped = true;
    }
    if (!call->what)
        return stopped ? mgb_fail(MGB_IO, "%s", recorder->message) : MGB_OK;
    if (stopped)
        return call_stopped(recorder, call);
    enum mgb_status status = call->what(recorder->store, call->request);
    if (!status_stops(status))
        return status;
    recording_stop(recorder);
    return MGB_OK;
}

static void call_finish(struct mgb_recorder *recorder, struct mgb_recorder_call *call,
                        enum mgb_status status)
{
    call->status = status;
    if (status != MGB_OK)
        snprintf(call->message, sizeof call->message, "%s", mgb_message_get());
    pthread_mutex_lock(&recorder->mutex);
    call->done = true;
    pthread_cond_broadcast(&recorder->served);
    pthread_mutex_unlock(&recorder->mutex);
}

struct timespec mgb_recorder_time_after(int64_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    int64_t ns = at.tv_nsec + ms % 1000 * 1000000;
    return (struct timespec){.tv_sec = at.tv_sec + ms / 1000 + ns / 1000000000,
                             .tv_nsec = (long)(ns % 1000000000)};
}

/* Whoever asked before is answered, whoever asks later is not. */
static void recorder_seal(struct mgb_recorder *recorder)
{
    ring_store(recorder, mgb_ring_claimed(&recorder->ring), true);
    if (!atomic_load(&recorder->stopped))
        mgb_store_interrupt(recorder->store);
    pthread_mutex_lock(&recorder->mutex);
    recorder->sealed = true;
    pthread_cond_broadcast(&recorder->served);
    pthread_mutex_unlock(&recorder->mutex);
}

static bool is_seal_asked(struct mgb_recorder *recorder)
{
    pthread_mutex_lock(&recorder->mutex);
    bool asked = recorder->seal_asked;
    pthread_mutex_unlock(&recorder->mutex);
    return asked;
}

/* The next call; NULL when it is time to store the ring. *closing: no more calls will come. */
static struct mgb_recorder_call *work_wait(bool *closing, struct mgb_recorder *recorder)
{
    bool idle = recorder->store->active_runs == 0;
    bool owes = recorder->store->owed_count > 0;
    struct timespec until = mgb_recorder_time_after(idle ? SETTLE_MS : recorder->options.commit_ms);
    pthread_mutex_lock(&recorder->mutex);
    int code = 0;
    while (!recorder->first && !recorder->closing && !recorder->half_full && code == 0)
        code = idle && !owes ? pthread_cond_wait(&recorder->wanted, &recorder->mutex)
                             : pthread_cond_timedwait(&recorder->wanted, &recorder->mutex, &until);
    struct mgb_recorder_call *call = recorder->first;
    if (call) {
        recorder->first = call->next;
        if (!recorder->first)
            recorder->last = NULL;
    }
    recorder->half_full = false;
    *closing = !call && recorder->closing;
    pthread_mutex_unlock(&recorder->mutex);
    return call;
}

/* Room may have been made meanwhile. */
static void owed_settle(struct mgb_recorder *recorder)
{
    struct timespec now = mgb_recorder_time_after(0);
    int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (recorder->store->owed_count == 0 || now_ms - recorder->settled_ms < SETTLE_MS)
        return;
    recorder->settled_ms = now_ms;
    mgb_store_settle(recorder->store);
}

static void warning_take(struct mgb_recorder *recorder)
{
    const char *warning = mgb_store_warning(recorder->store);
    pthread_mutex_lock(&recorder->mutex);
    snprintf(recorder->warning, sizeof recorder->warning, "%s", warning ? warning : "");
    pthread_mutex_unlock(&recorder->mutex);
}

void *mgb_recorder_main(void *context)
{
    struct mgb_recorder *recorder = context;
    struct mgb_recorder_call *opening = recorder->first;
    recorder->first = recorder->last = NULL;
    enum mgb_status status =
        mgb_store_open(&recorder->store, recorder->path, &recorder->options.store);
    if (status == MGB_OK)
        warning_take(recorder);
    call_finish(recorder, opening, status);
    if (status != MGB_OK)
        return NULL;
    for (bool closing = false; !closing;) {
        struct mgb_recorder_call *call = work_wait(&closing, recorder);
        if (!call && is_seal_asked(recorder)) {
            recorder_seal(recorder);
            return NULL;
        }
        if (!call) {
            ring_store(recorder, mgb_ring_claimed(&recorder->ring), closing);
            owed_settle(recorder);
            warning_take(recorder);
            continue;
        }
        enum mgb_status served = call_serve(recorder, call);
        warning_take(recorder);
        call_finish(recorder, call, served);
    }
    mgb_store_close(recorder->store);
    return NULL;
}
