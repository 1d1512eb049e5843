/* Events and their times. CUDA tells only the time between two events of a GPU, as a float of milliseconds; so each GPU
 * has an anchor, an event whose time on the session clock was measured, never much older than what is measured by it. */
#include "engine/cuda/replay.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"

#define ANCHOR_AGE_NS 1000000000LL
#define GOOD_NS 20000 /* a measurement that was not disturbed */
#define ANCHOR_TRIES 4

static enum mgb_status anchor_measure(struct mgb_cuda *cuda, struct mgb_cuda_gpu *gpu,
                                      struct mgb_cuda_anchor *anchor)
{
    int64_t before = mgb_clock_ns();
    MGB_CUDA_TRY(cuda, cudaEventRecord(anchor->event, gpu->service));
    MGB_CUDA_TRY(cuda, cudaEventSynchronize(anchor->event));
    int64_t after = mgb_clock_ns();
    anchor->ns = before + (after - before) / 2;
    anchor->uncertainty_ns = (after - before + 1) / 2;
    return MGB_OK;
}

enum mgb_status mgb_cuda_anchor_make(struct mgb_cuda *cuda, struct mgb_cuda_gpu *gpu)
{
    struct mgb_cuda_anchor *anchor = &gpu->anchors[(gpu->generation + 1) % 2];
    if (!anchor->event)
        MGB_CUDA_TRY(cuda, cudaEventCreate(&anchor->event));
    int tries = 0;
    do
        MGB_TRY(anchor_measure(cuda, gpu, anchor));
    while (anchor->uncertainty_ns > GOOD_NS && ++tries < ANCHOR_TRIES);
    gpu->generation++;
    return MGB_OK;
}

enum mgb_status mgb_cuda_anchors_renew(struct mgb_cuda *cuda)
{
    for (int i = 0; i < cuda->gpu_count; i++) {
        struct mgb_cuda_gpu *gpu = &cuda->gpus[i];
        if (!gpu->open || mgb_clock_ns() - gpu->anchors[gpu->generation % 2].ns < ANCHOR_AGE_NS)
            continue;
        MGB_TRY(mgb_cuda_use(cuda, i));
        MGB_TRY(mgb_cuda_anchor_make(cuda, gpu));
    }
    return MGB_OK;
}

enum mgb_status mgb_cuda_event_make(void *context, struct mgb_event **out, int device)
{
    struct mgb_event *event = mgb_alloc(sizeof *event);
    if (!event)
        return mgb_fail(MGB_NO_MEMORY, "no memory for an event");
    event->cuda = context;
    event->device = device;
    event->gpu = -1;
    *out = event;
    return MGB_OK;
}

void mgb_cuda_event_free(struct mgb_event *event)
{
    if (event && event->handle)
        cudaEventDestroy(event->handle);
    if (event && event->knot)
        cudaEventDestroy(event->knot);
    mgb_release(event);
}

/* The CUDA event, on the GPU of the queue that records it. */
static enum mgb_status event_bind(struct mgb_event *event, const struct mgb_queue *queue)
{
    if (event->handle && event->gpu == queue->gpu)
        return MGB_OK;
    if (event->knot)
        MGB_CUDA_TRY(event->cuda, cudaEventDestroy(event->knot));
    event->knot = NULL;
    if (event->handle)
        MGB_CUDA_TRY(event->cuda, cudaEventDestroy(event->handle));
    event->handle = NULL;
    event->recorded = false;
    MGB_CUDA_TRY(event->cuda, cudaEventCreate(&event->handle));
    event->gpu = queue->gpu;
    return MGB_OK;
}

/* Within a capture: an event of its own, since one whose record was captured has no time. */
static enum mgb_status knot_record(struct mgb_queue *queue, struct mgb_event *event)
{
    struct mgb_cuda *cuda = queue->cuda;
    if (!event->knot)
        MGB_CUDA_TRY(cuda, cudaEventCreateWithFlags(&event->knot, cudaEventDisableTiming));
    MGB_CUDA_TRY(cuda, cudaEventRecord(event->knot, queue->stream));
    event->capture = cuda->capture->number;
    return MGB_OK;
}

static enum mgb_status event_capture(struct mgb_queue *queue, struct mgb_event *event, bool timed)
{
    struct mgb_cuda *cuda = queue->cuda;
    MGB_TRY(knot_record(queue, event));
    if (!timed)
        return MGB_OK;
    MGB_CUDA_TRY(cuda,
                 cudaEventRecordWithFlags(event->handle, queue->stream, cudaEventRecordExternal));
    return mgb_cuda_replay_add_event(cuda->capture, event);
}

static enum mgb_status event_record(struct mgb_queue *queue, struct mgb_event *event, bool timed)
{
    struct mgb_cuda *cuda = queue->cuda;
    MGB_TRY(mgb_cuda_begin(queue, queue->last));
    MGB_TRY(event_bind(event, queue));
    if (cuda->capture)
        return event_capture(queue, event, timed);
    MGB_CUDA_TRY(cuda, cudaEventRecord(event->handle, queue->stream));
    event->generation = cuda->gpus[queue->gpu].generation;
    event->recorded = true;
    return MGB_OK;
}

enum mgb_status mgb_cuda_record(struct mgb_queue *queue, struct mgb_event *event)
{
    return event_record(queue, event, true);
}

enum mgb_status mgb_cuda_mark(struct mgb_queue *queue, struct mgb_event *event)
{
    return event_record(queue, event, false);
}

/* What was recorded before a capture began has happened long before its first launch. */
static enum mgb_status knot_wait(struct mgb_queue *queue, struct mgb_event *event)
{
    struct mgb_cuda *cuda = queue->cuda;
    if (event->capture != cuda->capture->number)
        return MGB_OK;
    MGB_CUDA_TRY(cuda, cudaStreamWaitEvent(queue->stream, event->knot, 0));
    queue->capture = cuda->capture->number; /* the wait has made it a part */
    return MGB_OK;
}

enum mgb_status mgb_cuda_wait(struct mgb_queue *queue, struct mgb_event *event)
{
    struct mgb_cuda *cuda = queue->cuda;
    if (cuda->capture)
        return knot_wait(queue, event);
    if (!event->recorded)
        return MGB_OK;
    MGB_TRY(mgb_cuda_begin(queue, queue->last));
    MGB_CUDA_TRY(cuda, cudaStreamWaitEvent(queue->stream, event->handle, 0));
    return MGB_OK;
}

enum mgb_status mgb_cuda_event_time(struct mgb_event *event, int64_t *ns, int64_t *uncertainty_ns)
{
    struct mgb_cuda *cuda = event->cuda;
    float ms;
    if (!event->recorded)
        return mgb_fail(MGB_STATE, "the time of an event that nothing has recorded");
    struct mgb_cuda_gpu *gpu = &cuda->gpus[event->gpu];
    /* Of the two anchors the one that was newest at the record, unless it is long gone. */
    uint64_t generation =
        event->generation + 1 >= gpu->generation ? event->generation : gpu->generation;
    const struct mgb_cuda_anchor *anchor = &gpu->anchors[generation % 2];
    MGB_CUDA_TRY(cuda, cudaEventElapsedTime(&ms, anchor->event, event->handle));
    *ns = anchor->ns + (int64_t)((double)ms * 1e6);
    if (uncertainty_ns)
        *uncertainty_ns =
            anchor->uncertainty_ns + 500; /* CUDA's own resolution is about half a microsecond */
    return MGB_OK;
}
