/* A stream is a thread and a queue. The only order it makes: an operation comes after its enqueuing and after the
 * operations before it in the same stream. */
#include "tests/fake_cuda/block.h"
#include "tests/fake_cuda/capture.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct CUstream_st {
    struct CUstream_st *next;
    struct fake_op *head, *tail; /* under `guard` */
    atomic_int guard;
    atomic_int pushed;    /* grows with each operation; what the thread sleeps on */
    atomic_int finished;  /* the stream is idle when it equals `pushed` */
    atomic_int abandoned; /* cudaStreamDestroy's last touch: the thread may free it */
    int device;
    unsigned random;
    bool inner;               /* a graph's: no caller has it */
    struct fake_chain *chain; /* while it is captured */
};

struct record_op { /* a record or a wait for it */
    struct fake_op op;
    struct fake_record *record;
};

/* What streams that were destroyed still have to do: who waits for the device waits for that too. */
struct rest {
    struct rest *next;
    int device;
    struct fake_record *record;
};

static struct CUstream_st *streams; /* under the lock, as all below */
static unsigned streams_made;
static struct rest *rests;

/* The queue has a lock of its own, since the thread must not wait for callers that hold the big one. */
static void guard_take(cudaStream_t stream)
{
    while (atomic_exchange(&stream->guard, 1))
        sched_yield();
}

static void guard_give(cudaStream_t stream)
{
    atomic_store(&stream->guard, 0);
}

static struct fake_op *op_take(cudaStream_t stream)
{
    for (;;) {
        int seen = atomic_load(&stream->pushed);
        guard_take(stream);
        struct fake_op *op = stream->head;
        if (op)
            stream->head = op->next;
        if (!stream->head)
            stream->tail = NULL;
        guard_give(stream);
        if (op)
            return op;
        fake_futex_wait(&stream->pushed, seen);
    }
}

static void delay_some(cudaStream_t stream)
{
    const struct fake_config *config = fake_config_get();
    unsigned most = config->delay_us;
    long us = config->physical[stream->device] == config->slow_device ? (long)config->slow_us : 0;
    if (most > 0 && fake_random(&stream->random) % 3 == 0)
        us += (long)(fake_random(&stream->random) % most);
    if (us == 0)
        return;
    struct timespec time = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

static void *stream_main(void *argument)
{
    cudaStream_t stream = argument;
    for (;;) {
        struct fake_op *op = op_take(stream);
        fake_order_acquire(op);
        if (!op->run) {
            free(op);
            break;
        }
        delay_some(stream);
        if (!op->work || !atomic_load(&fake_device_get(stream->device)->fault))
            op->run(op);
        free(op);
        fake_order_release(&stream->finished);
        atomic_fetch_add(&stream->finished, 1);
    }
    fake_grid_end();
    while (!atomic_load(&stream->abandoned))
        sched_yield();
    free(stream);
    return NULL;
}

static void op_queue(cudaStream_t stream, struct fake_op *op)
{
    fake_order_release(op);
    guard_take(stream);
    if (stream->tail)
        stream->tail->next = op;
    else
        stream->head = op;
    stream->tail = op;
    guard_give(stream);
    atomic_fetch_add(&stream->pushed, 1);
    fake_futex_wake(&stream->pushed);
}

static void op_place(cudaStream_t stream, struct fake_op *op)
{
    if (stream->chain)
        fake_chain_append(stream->chain, op);
    else
        op_queue(stream, op);
}

/* What a test wished for the operation of this call goes before it; true where the device is lost there. */
static bool injection_place(cudaStream_t stream)
{
    struct fake_injection wish = fake_injection_take();
    if (wish.fault)
        op_place(stream, fake_fault_make(stream->device, wish.fault));
    if (wish.hangs)
        op_place(stream, fake_hang_make(NULL));
    return wish.fault != 0;
}

void fake_stream_push(cudaStream_t stream, struct fake_op *op)
{
    if (injection_place(stream) && op->work)
        free(op);
    else
        op_place(stream, op);
}

int fake_stream_device(cudaStream_t stream)
{
    for (const struct CUstream_st *it = streams; it; it = it->next)
        if (it == stream)
            return it->inner ? -1 : it->device;
    return -1;
}

struct fake_chain *fake_stream_chain(cudaStream_t stream)
{
    return stream->chain;
}

void fake_stream_chain_set(cudaStream_t stream, struct fake_chain *chain)
{
    stream->chain = chain;
}

static void record_run(struct fake_op *op)
{
    struct fake_record *record = ((struct record_op *)op)->record;
    fake_record_finish(record);
    fake_record_drop(record);
}

void fake_stream_record(cudaStream_t stream, struct fake_record *record)
{
    struct record_op *op = fake_allocate(sizeof *op);
    *op = (struct record_op){.op.run = record_run, .record = record};
    injection_place(stream);
    op_queue(stream, &op->op);
}

static void wait_run(struct fake_op *op)
{
    struct fake_record *record = ((struct record_op *)op)->record;
    fake_record_wait(record);
    fake_record_drop(record);
}

void fake_stream_wait(cudaStream_t stream, struct fake_record *record)
{
    struct record_op *op = fake_allocate(sizeof *op);
    *op = (struct record_op){.op.run = wait_run, .record = record};
    atomic_fetch_add(&record->refs, 1);
    injection_place(stream);
    op_queue(stream, &op->op);
}

static void record_await(struct fake_record *record)
{
    fake_record_wait(record);
    fake_record_drop(record);
}

/* NULL when there is none of the device. */
static struct fake_record *rest_take(int device)
{
    struct fake_record *record = NULL;
    fake_lock();
    struct rest **link = &rests;
    while (*link && (*link)->device != device)
        link = &(*link)->next;
    struct rest *rest = *link;
    if (rest) {
        record = rest->record;
        *link = rest->next;
        free(rest);
    }
    fake_unlock();
    return record;
}

void fake_streams_wait(int device)
{
    for (struct fake_record *rest = rest_take(device); rest; rest = rest_take(device))
        record_await(rest);
    struct fake_record *records[64];
    int count;
    int skip = 0;
    do {
        count = 0;
        int seen = 0;
        fake_lock();
        for (struct CUstream_st *it = streams; it && count < 64; it = it->next) {
            if (it->device != device || seen++ < skip)
                continue;
            records[count] = fake_record_make(2);
            fake_stream_record(it, records[count++]);
        }
        fake_unlock();
        for (int i = 0; i < count; i++)
            record_await(records[i]);
        skip += count;
    } while (count == 64);
}

/* NULL when there is no thread for it. Caller holds the lock. */
static cudaStream_t stream_add(int device, bool inner)
{
    struct CUstream_st *stream = fake_allocate(sizeof *stream);
    pthread_t thread;
    stream->device = device;
    stream->inner = inner;
    stream->random = fake_config_get()->seed * 7919 + ++streams_made;
    if (pthread_create(&thread, NULL, stream_main, stream) != 0) {
        free(stream);
        return NULL;
    }
    pthread_detach(thread);
    stream->next = streams;
    streams = stream;
    return stream;
}

static cudaError_t stream_make(cudaStream_t *out)
{
    int device = fake_device_current();
    fake_lock();
    cudaStream_t stream = stream_add(device, false);
    if (stream) {
        fake_device_get(device)->streams++;
        fake_device_get(device)->touched = true;
    }
    fake_unlock();
    *out = stream;
    return stream ? cudaSuccess : cudaErrorUnknown;
}

cudaStream_t fake_stream_inner(int device)
{
    return stream_add(device, true);
}

/* Takes it out of the list; the thread ends after what is queued. */
static void stream_end(struct CUstream_st **link)
{
    cudaStream_t stream = *link;
    struct rest *rest = fake_allocate(sizeof *rest);
    *link = stream->next;
    *rest = (struct rest){.next = rests, .device = stream->device, .record = fake_record_make(2)};
    rests = rest;
    fake_stream_record(stream, rest->record);
    op_queue(stream, fake_allocate(sizeof(struct fake_op)));
    atomic_store(&stream->abandoned, 1);
}

static struct CUstream_st **stream_link(cudaStream_t stream)
{
    struct CUstream_st **link = &streams;
    while (*link && *link != stream)
        link = &(*link)->next;
    return link;
}

void fake_stream_inner_end(cudaStream_t stream)
{
    stream_end(stream_link(stream));
}

/* Streams that wait for the default stream and are waited for by it hide missing waits; code under test makes others. */
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
    FAKE_ENTER(cudaErrorUnknown);
    (void)priority; /* out of range is clamped, says the manual; here nothing runs ahead */
    if (flags != cudaStreamNonBlocking)
        return fake_error(cudaErrorNotSupported);
    return fake_error(stream_make(out));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    FAKE_ENTER(cudaErrorUnknown);
    if (flags != cudaStreamNonBlocking)
        return fake_error(cudaErrorNotSupported);
    return fake_error(stream_make(out));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    FAKE_ENTER(cudaErrorUnknown);
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}

/* Returns at once, as the real one: what is queued still runs, and nobody has waited for it. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    FAKE_ENTER(cudaErrorUnknown);
    fake_lock();
    cudaError_t error = cudaErrorInvalidResourceHandle;
    if (fake_stream_device(stream) >= 0) {
        if (stream->chain)
            fake_chain_leave(stream->chain);
        fake_device_get(stream->device)->streams--;
        stream_end(stream_link(stream));
        error = cudaSuccess;
    }
    fake_unlock();
    return fake_error(error);
}

/* May the host ask how far the stream is? Not while it is captured, which such a question spoils. Caller holds the lock. */
static cudaError_t stream_askable(cudaStream_t stream)
{
    if (fake_stream_device(stream) < 0)
        return cudaErrorInvalidResourceHandle;
    return stream->chain ? fake_chain_spoil(stream->chain, cudaErrorStreamCaptureUnsupported)
                         : cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    FAKE_ENTER(cudaErrorUnknown);
    FAKE_UNSAFE();
    struct fake_record *record = NULL;
    fake_lock();
    cudaError_t error = stream_askable(stream);
    int device = fake_stream_device(stream);
    if (error == cudaSuccess) {
        record = fake_record_make(2);
        fake_stream_record(stream, record);
    }
    fake_unlock();
    if (error != cudaSuccess)
        return fake_error(error);
    record_await(record);
    return fake_error((cudaError_t)atomic_load(&fake_device_get(device)->fault));
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    FAKE_ENTER(cudaErrorUnknown);
    FAKE_UNSAFE();
    fake_lock();
    int device = fake_stream_device(stream);
    cudaError_t error = stream_askable(stream);
    bool live = error == cudaSuccess;
    if (live)
        error = cudaErrorNotReady;
    if (live && atomic_load(&stream->finished) == atomic_load(&stream->pushed)) {
        fake_order_acquire(&stream->finished);
        error = (cudaError_t)atomic_load(&fake_device_get(device)->fault);
    }
    fake_unlock();
    return fake_error(error);
}
