/* Events. Each cudaEventRecord makes a fresh record, so that a wait orders after that one recording and no later one. */
#include "tests/fake_cuda/capture.h"
#include "tests/fake_cuda/fake.h"

#include <stdlib.h>

struct CUevent_st {
    struct CUevent_st *next;
    struct fake_record *record; /* the latest recording, or NULL */
    int device;
    bool timed;
    unsigned capture; /* that it was last recorded in; 0: none */
    int mark;         /* which recording there */
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
        event->record = NULL;
        event->capture = 0;
        if (fake_stream_chain(stream)) {
            event->mark = fake_chain_mark(fake_stream_chain(stream), &event->capture);
        } else {
            event->record = fake_record_make(2);
            fake_stream_record(stream, event->record);
        }
        error = cudaSuccess;
    }
    fake_unlock();
    return fake_error(error);
}

void fake_event_record(cudaEvent_t event, cudaStream_t stream)
{
    if (!event_live(event))
        return;
    fake_record_drop(event->record);
    event->capture = 0;
    event->record = fake_record_make(2);
    fake_stream_record(stream, event->record);
}

/* External: a node of the graph that records the event at each launch; of captured streams only (CUDA driver API,
 * "CU_EVENT_RECORD_EXTERNAL"). */
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    if (flags == cudaEventRecordDefault)
        return cudaEventRecord(event, stream);
    FAKE_ENTER(cudaErrorUnknown);
    cudaError_t error = cudaErrorInvalidResourceHandle;
    fake_lock();
    if (event_live(event) && fake_stream_device(stream) == event->device)
        error = flags == cudaEventRecordExternal && fake_stream_chain(stream)
                    ? cudaSuccess
                    : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        fake_chain_add_event(fake_stream_chain(stream), event);
    fake_unlock();
    return fake_error(error);
}

/* Caller holds the lock. */
static cudaError_t event_await(cudaStream_t stream, cudaEvent_t event)
{
    if (event->capture)
        return fake_capture_wait(stream, event->capture, event->mark);
    if (!event->record)
        return cudaSuccess;
    if (fake_stream_chain(stream))
        return fake_chain_spoil(fake_stream_chain(stream), cudaErrorStreamCaptureIsolation);
    fake_stream_wait(stream, event->record);
    return cudaSuccess;
}

/* A wait for an event that was never recorded waits for nothing, as in CUDA. */
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    FAKE_ENTER(cudaErrorUnknown);
    if (flags != 0)
        return fake_error(cudaErrorInvalidValue);
    cudaError_t error = cudaErrorInvalidResourceHandle;
    fake_lock();
    if (event_live(event) && fake_stream_device(stream) >= 0)
        error = event_await(stream, event);
    fake_unlock();
    return fake_error(error);
}

/* The event's record with a reference of its own; none when the handle is dead or its last recording was captured. */
static cudaError_t record_borrow(struct fake_record **record, int *device, cudaEvent_t event)
{
    *record = NULL;
    fake_lock();
    cudaError_t error = event_live(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
    if (error == cudaSuccess && event->capture) {
        fake_capture_spoil(event->capture);
        error = cudaErrorCapturedEvent;
    }
    if (error == cudaSuccess) {
        *device = event->device;
        *record = event->record;
        if (*record)
            atomic_fetch_add(&(*record)->refs, 1);
    }
    fake_unlock();
    return error;
}

/* As record_borrow, where captures allow the host to ask. */
static cudaError_t event_ask(struct fake_record **record, int *device, cudaEvent_t event)
{
    cudaError_t error = record_borrow(record, device, event);
    if (error != cudaSuccess)
        return error;
    error = fake_capture_unsafe();
    if (error != cudaSuccess)
        fake_record_drop(*record);
    return error;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    FAKE_ENTER(cudaErrorUnknown);
    struct fake_record *record;
    int device;
    cudaError_t error = event_ask(&record, &device, event);
    if (error != cudaSuccess)
        return fake_error(error);
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
    cudaError_t error = event_ask(&record, &device, event);
    if (error != cudaSuccess)
        return fake_error(error);
    bool done = !record || fake_record_poll(record);
    fake_record_drop(record);
    int fault = atomic_load(&fake_device_get(device)->fault);
    return fake_error(done ? (cudaError_t)fault : cudaErrorNotReady);
}

/* Caller holds the lock. */
static cudaError_t times_get(long long *from_ns, long long *to_ns, cudaEvent_t from, cudaEvent_t to)
{
    if (!event_live(from) || !event_live(to) || from->device != to->device || !from->timed ||
        !to->timed)
        return cudaErrorInvalidResourceHandle;
    if (from->capture || to->capture)
        return cudaErrorCapturedEvent;
    if (!from->record || !to->record)
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
