/* Captures: while one is on, the operations of its streams are kept and not played.
 *
 * What a chain has seen of each other one (how many of its operations come before) tells at the end whether all of them
 * are joined to the stream where the capture began. */
#include "tests/fake_cuda/capture.h"

#include <stdlib.h>
#include <string.h>

struct fake_chain {
    struct capture *capture;
    cudaStream_t stream; /* NULL once destroyed */
    int index;
    size_t seen[FAKE_MAX_CHAINS];
};

struct mark {
    size_t seen[FAKE_MAX_CHAINS];
    int chain;
};

struct capture {
    struct capture *next;
    unsigned number;
    enum cudaStreamCaptureMode mode;
    const void *thread;
    bool spoiled;
    struct fake_body *body;
    struct fake_chain *chains[FAKE_MAX_CHAINS]; /* the first is where it began */
    struct mark *marks;
};

static struct capture *captures; /* under the lock, as all below */
static struct fake_body *bodies;
static unsigned captures_made;
static _Thread_local char thread_key; /* its address names a thread */
static _Thread_local enum cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

static struct fake_step *step_add(struct capture *capture, enum fake_step_kind kind, int chain)
{
    struct fake_body *body = capture->body;
    if (body->step_count == body->step_room) {
        size_t room = body->step_room ? body->step_room * 2 : 64;
        struct fake_step *steps = fake_allocate(room * sizeof *steps);
        if (body->steps)
            memcpy(steps, body->steps, body->step_count * sizeof *steps);
        free(body->steps);
        body->steps = steps;
        body->step_room = room;
    }
    struct fake_step *step = &body->steps[body->step_count++];
    *step = (struct fake_step){.kind = kind, .chain = chain};
    return step;
}

static struct fake_chain *chain_make(struct capture *capture, cudaStream_t stream)
{
    struct fake_body *body = capture->body;
    if (body->chain_count == FAKE_MAX_CHAINS)
        return NULL;
    struct fake_chain *chain = fake_allocate(sizeof *chain);
    *chain =
        (struct fake_chain){.capture = capture, .stream = stream, .index = body->chain_count++};
    body->device[chain->index] = fake_stream_device(stream);
    capture->chains[chain->index] = chain;
    fake_stream_chain_set(stream, chain);
    return chain;
}

void fake_chain_append(struct fake_chain *chain, struct fake_op *op)
{
    step_add(chain->capture, FAKE_STEP_OP, chain->index)->op = op;
    chain->capture->body->node_count++;
    chain->seen[chain->index]++;
}

void fake_chain_add_event(struct fake_chain *chain, cudaEvent_t event)
{
    step_add(chain->capture, FAKE_STEP_EVENT, chain->index)->event = event;
    chain->capture->body->node_count++;
    chain->seen[chain->index]++;
}

int fake_chain_mark(struct fake_chain *chain, unsigned *number)
{
    struct capture *capture = chain->capture;
    int mark = capture->body->mark_count++;
    struct mark *marks = fake_allocate((size_t)capture->body->mark_count * sizeof *marks);
    if (mark > 0)
        memcpy(marks, capture->marks, (size_t)mark * sizeof *marks);
    free(capture->marks);
    capture->marks = marks;
    memcpy(marks[mark].seen, chain->seen, sizeof chain->seen);
    step_add(capture, FAKE_STEP_MARK, chain->index)->mark = mark;
    *number = capture->number;
    return mark;
}

static struct capture *capture_find(unsigned number)
{
    struct capture *capture = captures;
    while (capture && capture->number != number)
        capture = capture->next;
    return capture;
}

cudaError_t fake_chain_spoil(struct fake_chain *chain, cudaError_t why)
{
    chain->capture->spoiled = true;
    return why;
}

void fake_capture_spoil(unsigned number)
{
    struct capture *capture = capture_find(number);
    if (capture)
        capture->spoiled = true;
}

cudaError_t fake_capture_wait(cudaStream_t stream, unsigned number, int mark)
{
    struct capture *capture = capture_find(number);
    struct fake_chain *chain = fake_stream_chain(stream);
    if (!capture) /* an event of a capture that has ended is good for nothing until it is recorded anew */
        return chain ? fake_chain_spoil(chain, cudaErrorCapturedEvent) : cudaErrorCapturedEvent;
    if (chain && chain->capture != capture) {
        capture->spoiled = true;
        return fake_chain_spoil(chain, cudaErrorStreamCaptureMerge);
    }
    if (!chain)
        chain = chain_make(capture, stream);
    if (!chain) {
        capture->spoiled = true;
        return cudaErrorNotSupported;
    }
    step_add(capture, FAKE_STEP_WAIT, chain->index)->mark = mark;
    for (int i = 0; i < FAKE_MAX_CHAINS; i++)
        if (capture->marks[mark].seen[i] > chain->seen[i])
            chain->seen[i] = capture->marks[mark].seen[i];
    return cudaSuccess;
}

static void capture_free(struct capture *capture)
{
    struct capture **link = &captures;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    for (int i = 0; i < capture->body->chain_count; i++) {
        if (capture->chains[i]->stream)
            fake_stream_chain_set(capture->chains[i]->stream, NULL);
        free(capture->chains[i]);
    }
    free(capture->marks);
    free(capture);
}

/* A capture that lost a stream is spoiled; without the first one nobody can end it. */
void fake_chain_leave(struct fake_chain *chain)
{
    struct capture *capture = chain->capture;
    capture->spoiled = true;
    chain->stream = NULL;
    if (chain->index == 0)
        capture_free(capture);
}

cudaError_t fake_capture_unsafe(void)
{
    cudaError_t error = cudaSuccess;
    fake_lock();
    for (struct capture *it = captures; it; it = it->next) {
        bool own = it->thread == &thread_key && it->mode != cudaStreamCaptureModeRelaxed;
        bool forbidden = thread_mode == cudaStreamCaptureModeGlobal
                             ? own || it->mode == cudaStreamCaptureModeGlobal
                             : own && thread_mode == cudaStreamCaptureModeThreadLocal;
        if (!forbidden)
            continue;
        it->spoiled = true;
        error = cudaErrorStreamCaptureUnsupported;
    }
    fake_unlock();
    return error;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    FAKE_ENTER(cudaErrorUnknown);
    enum cudaStreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return cudaSuccess;
}

/* Caller holds the lock. */
static void capture_begin(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    struct capture *capture = fake_allocate(sizeof *capture);
    capture->body = fake_allocate(sizeof *capture->body);
    capture->body->next = bodies;
    bodies = capture->body;
    capture->number = ++captures_made;
    capture->mode = mode;
    capture->thread = &thread_key;
    capture->next = captures;
    captures = capture;
    chain_make(capture, stream);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    FAKE_ENTER(cudaErrorUnknown);
    cudaError_t error = cudaErrorInvalidResourceHandle;
    fake_lock();
    if (fake_stream_device(stream) >= 0)
        error = fake_stream_chain(stream) ? cudaErrorIllegalState : cudaSuccess;
    if (error == cudaSuccess)
        capture_begin(stream, mode);
    fake_unlock();
    return fake_error(error);
}

/* The manual leaves open whether a capture that was ended in the wrong place goes on; here it does. */
static cudaError_t end_check(const struct fake_chain *chain)
{
    const struct capture *capture = chain->capture;
    if (chain->index != 0)
        return cudaErrorStreamCaptureUnmatched;
    if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != &thread_key)
        return cudaErrorStreamCaptureWrongThread;
    if (capture->spoiled)
        return cudaErrorStreamCaptureInvalidated;
    for (int i = 0; i < capture->body->chain_count; i++)
        if (chain->seen[i] < capture->chains[i]->seen[i])
            return cudaErrorStreamCaptureUnjoined;
    return cudaSuccess;
}

/* Caller holds the lock. */
static cudaError_t capture_end(cudaStream_t stream, cudaGraph_t *out)
{
    if (fake_stream_device(stream) < 0)
        return cudaErrorInvalidResourceHandle;
    struct fake_chain *chain = fake_stream_chain(stream);
    if (!chain)
        return cudaErrorIllegalState;
    cudaError_t error = end_check(chain);
    if (error == cudaErrorStreamCaptureUnmatched || error == cudaErrorStreamCaptureWrongThread)
        return fake_chain_spoil(chain, error);
    if (error == cudaSuccess)
        *out = fake_graph_make(chain->capture->body);
    capture_free(chain->capture);
    return error;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out)
{
    FAKE_ENTER(cudaErrorUnknown);
    *out = NULL;
    fake_lock();
    cudaError_t error = capture_end(stream, out);
    fake_unlock();
    return fake_error(error);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    FAKE_ENTER(cudaErrorUnknown);
    fake_lock();
    bool live = fake_stream_device(stream) >= 0;
    const struct fake_chain *chain = live ? fake_stream_chain(stream) : NULL;
    *status = !chain                    ? cudaStreamCaptureStatusNone
              : chain->capture->spoiled ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
    fake_unlock();
    return fake_error(live ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
