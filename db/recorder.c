/* The recorder's thread, ring and calls; see recorder.h. Its storing functions are in recorder_rows.c. */
#include "db/recorder.h"

#include <mgb/thread.h>

#include <pthread.h>
#include <sched.h>
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
#define SETTLE_MS 1000 /* between attempts to store what is owed */

struct call {
    mgb_request_do *what; /* NULL: a flush */
    const struct mgb_request *request;
    enum mgb_request_when when;
    uint64_t until; /* everything pushed before this position is stored first */
    enum mgb_status status;
    char message[512];
    bool done;
    struct call *next;
};

struct mgb_recorder {
    struct mgb_recorder_options options;
    char *path;
    struct mgb_ring ring;
    struct mgb_store *store; /* the thread's alone, but for its atomics */
    pthread_t thread;
    pthread_mutex_t mutex; /* guards what follows, up to the atomics */
    pthread_cond_t wanted; /* to the thread: a call, a ring half full, closing */
    pthread_cond_t served; /* from the thread: some call is done */
    struct call *first, *last;
    bool half_full, closing;
    bool seal_asked, sealed;
    char message[512]; /* why it stopped, the last time */
    char warning[256]; /* the store's, as of its last work */
    atomic_bool stopped, incomplete;
    atomic_int_fast64_t last_lost; /* segments up to this one are of runs that have gaps */
    atomic_uint_fast64_t waits, lost;
    int64_t settled_ms; /* the thread's; monotonic */
};

static void thread_wake(struct mgb_recorder *recorder)
{
    pthread_mutex_lock(&recorder->mutex);
    recorder->half_full = true;
    pthread_cond_signal(&recorder->wanted);
    pthread_mutex_unlock(&recorder->mutex);
}

/* ---- the thread ---- */

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
static enum mgb_status call_stopped(struct mgb_recorder *recorder, const struct call *call)
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

static enum mgb_status call_serve(struct mgb_recorder *recorder, const struct call *call)
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

static void call_finish(struct mgb_recorder *recorder, struct call *call, enum mgb_status status)
{
    call->status = status;
    if (status != MGB_OK)
        snprintf(call->message, sizeof call->message, "%s", mgb_message_get());
    pthread_mutex_lock(&recorder->mutex);
    call->done = true;
    pthread_cond_broadcast(&recorder->served);
    pthread_mutex_unlock(&recorder->mutex);
}

static struct timespec time_after(int64_t ms)
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
static struct call *work_wait(bool *closing, struct mgb_recorder *recorder)
{
    bool idle = recorder->store->active_runs == 0;
    bool owes = recorder->store->owed_count > 0;
    struct timespec until = time_after(idle ? SETTLE_MS : recorder->options.commit_ms);
    pthread_mutex_lock(&recorder->mutex);
    int code = 0;
    while (!recorder->first && !recorder->closing && !recorder->half_full && code == 0)
        code = idle && !owes ? pthread_cond_wait(&recorder->wanted, &recorder->mutex)
                             : pthread_cond_timedwait(&recorder->wanted, &recorder->mutex, &until);
    struct call *call = recorder->first;
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
    struct timespec now = time_after(0);
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

static void *recorder_main(void *context)
{
    struct mgb_recorder *recorder = context;
    struct call *opening = recorder->first;
    recorder->first = recorder->last = NULL;
    enum mgb_status status =
        mgb_store_open(&recorder->store, recorder->path, &recorder->options.store);
    if (status == MGB_OK)
        warning_take(recorder);
    call_finish(recorder, opening, status);
    if (status != MGB_OK)
        return NULL;
    for (bool closing = false; !closing;) {
        struct call *call = work_wait(&closing, recorder);
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

/* ---- its callers ---- */

static enum mgb_status call_wait(struct mgb_recorder *recorder, struct call *call)
{
    while (!call->done)
        pthread_cond_wait(&recorder->served, &recorder->mutex);
    pthread_mutex_unlock(&recorder->mutex);
    return call->status == MGB_OK ? MGB_OK : mgb_fail(call->status, "%s", call->message);
}

enum mgb_status mgb_recorder_call(struct mgb_recorder *recorder, mgb_request_do *what,
                                  const struct mgb_request *request, enum mgb_request_when when)
{
    struct call call = {
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
    struct timespec until = time_after(limit_ms);
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

/* ---- opening and closing ---- */

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
    struct call opening = {0};
    recorder->first = recorder->last = &opening;
    int code = mgb_thread_start(&recorder->thread, "recorder", recorder_main, recorder);
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
