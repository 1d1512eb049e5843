/* Events. Each cudaEventRecord makes a fresh record, so that a wait orders after that one recording and no later one. */
#include "tests/fake_cuda/fake.h"

#include <stdlib.h>

struct CUevent_st {
    struct CUevent_st *next;
    struct fake_record *record; /* the latest recording, or NULL */
    int device;
    bool timed;
};

struct wait_op {
    struct fake_op op;
    struct fake_record *record;
};

static struct CUevent_st *events;

/* Caller holds the lock. */
static bool event_live(cudaEvent_t event)
{
    for (const struct CUevent_st *it = events; it; it = it->next)
        if (it == event)
            return true;
    return false;
}

static cudaError_t event_make(cudaEvent_t *out, unsigned flags)
{
    unsigned known = cudaEventBlockingSync | cudaEventDisableTiming;
    if (flags & ~known)
        return cudaErrorInvalidValue;
    struct CUevent_st *event = fake_allocate(sizeof *event);
    event->device = fake_device_current();
    event->timed = !(flags & cudaEventDisableTiming);
    fake_lock();
    event->next = events;
    events = event;
    fake_device_get(event->device)->events++;
    fake_device_get(event->device)->touched = true;
    fake_unlock();
    *out = event;
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    FAKE_ENTER(cudaErrorUnknown);
    return fake_error(event_make(out, flags));
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    FAKE_ENTER(cudaErrorUnknown);
    return fake_error(event_make(out, cudaEventDefault));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    FAKE_ENTER(cudaErrorUnknown);
    fake_lock();
    struct CUevent_st **link = &events;
    while (*link && *link != event)
        link = &(*link)->next;
    cudaError_t error = cudaErrorInvalidResourceHandle;
    if (*link) {
        *link = event->next;
        fake_device_get(event->device)->events--;
        fake_record_drop(event->record);
        free(event);
        error = cudaSuccess;
    }
    fake_unlock();
    return fake_error(error);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    FAKE_ENTER(cudaErrorUnknown);
    cudaError_t error = cudaErrorInvalidResourceHandle;
    fake_lock();
    if (event_live(event) && fake_stream_device(stream) == event->device) {
        fake_record_drop(event->record);
        event->record = fake_record_make(2);
        fake_stream_record(stream, event->record);
        error = cudaSuccess;
    }
    fake_unlock();
    return fake_error(error);
}

static void wait_run(struct fake_op *op)
{
    struct fake_record *record = ((struct wait_op *)op)->record;
    fake_record_wait(record);
    fake_record_drop(record);
}

/* A wait for an event that was never recorded waits for nothing, as in CUDA. */
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    FAKE_ENTER(cudaErrorUnknown);
    if (flags != 0)
        return fake_error(cudaErrorInvalidValue);
    cudaError_t error = cudaErrorInvalidResourceHandle;
    fake_lock();
    if (event_live(event) && fake_stream_device(stream) >= 0) {
        error = cudaSuccess;
        if (event->record) {
            struct wait_op *wait = fake_allocate(sizeof *wait);
            *wait = (struct wait_op){.op.run = wait_run, .record = event->record};
            atomic_fetch_add(&event->record->refs, 1);
            fake_stream_push(stream, &wait->op);
        }
    }
    fake_unlock();
    return fake_error(error);
}

/* The event's record with a reference of its own. False when the handle is dead. */
static bool record_borrow(struct fake_record **record, int *device, cudaEvent_t event)
{
    *record = NULL;
    fake_lock();
    bool live = event_live(event);
    if (live) {
        *device = event->device;
        *record = event->record;
        if (*record)
            atomic_fetch_add(&(*record)->refs, 1);
    }
    fake_unlock();
    return live;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    FAKE_ENTER(cudaErrorUnknown);
    struct fake_record *record;
    int device;
    if (!record_borrow(&record, &device, event))
        return fake_error(cudaErrorInvalidResourceHandle);
    if (record)
        fake_record_wait(record);
    fake_record_drop(record);
    return fake_error((cudaError_t)atomic_load(&fake_device_get(device)->fault));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    FAKE_ENTER(cudaErrorUnknown);
    struct fake_record *record;
    int device;
    if (!record_borrow(&record, &device, event))
        return fake_error(cudaErrorInvalidResourceHandle);
    bool done = !record || fake_record_poll(record);
    fake_record_drop(record);
    int fault = atomic_load(&fake_device_get(device)->fault);
    return fake_error(done ? (cudaError_t)fault : cudaErrorNotReady);
}

/* Caller holds the lock. */
static cudaError_t times_get(long long *from_ns, long long *to_ns, cudaEvent_t from, cudaEvent_t to)
{
    if (!event_live(from) || !event_live(to) || from->device != to->device || !from->timed ||
        !to->timed || !from->record || !to->record)
        return cudaErrorInvalidResourceHandle;
    if (!fake_record_poll(from->record) || !fake_record_poll(to->record))
        return cudaErrorNotReady;
    *from_ns = from->record->at_ns;
    *to_ns = to->record->at_ns;
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    FAKE_ENTER(cudaErrorUnknown);
    long long from_ns;
    long long to_ns;
    fake_lock();
    cudaError_t error = times_get(&from_ns, &to_ns, from, to);
    fake_unlock();
    if (error == cudaSuccess)
        *ms = (float)((double)(to_ns - from_ns) / 1e6);
    return fake_error(error);
}
