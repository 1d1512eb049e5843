/* Captures and replays. The streams of a step are forked from the first one and joined to it again; in between the backend
 * enqueues as ever, but what would change from step to step is left for kernels to read when they run. */
#include "engine/cuda/replay.h"

#include "engine/base/memory.h"
#include <math.h>

float mgb_cuda_rate(const struct mgb_optimizer *optimizer, const struct mgb_step_values *values)
{
    double t = (double)(values->updates + 1);
    if (optimizer->kind != MGB_ADAM)
        return values->lr;
    double correction =
        sqrt(1.0 - pow((double)optimizer->beta2, t)) / (1.0 - pow((double)optimizer->beta1, t));
    return (float)((double)values->lr * correction);
}

static enum mgb_status replay_make(struct mgb_replay **out, struct mgb_cuda *cuda,
                                   struct mgb_queue *const *queues, int count)
{
    struct mgb_replay *replay = mgb_alloc(sizeof *replay);
    if (!replay)
        return mgb_fail(MGB_NO_MEMORY, "no memory to keep a step");
    replay->cuda = cuda;
    replay->origin = queues[0];
    replay->queues = queues;
    replay->queue_count = count;
    replay->number = ++cuda->captures;
    cudaError_t error =
        cudaHostAlloc((void **)&replay->values, MGB_CUDA_REPLAY_VALUES * sizeof *replay->values,
                      cudaHostAllocPortable);
    if (error != cudaSuccess) {
        mgb_release(replay);
        return mgb_cuda_fail(cuda, error, "cudaHostAlloc of a step's values");
    }
    *out = replay;
    return MGB_OK;
}

void mgb_cuda_replay_free(struct mgb_replay *replay)
{
    if (!replay)
        return;
    if (replay->graph)
        cudaGraphExecDestroy(replay->graph);
    if (replay->fork)
        cudaEventDestroy(replay->fork);
    cudaFreeHost(replay->values);
    mgb_cuda_jobs_done(&replay->jobs);
    mgb_release(replay->events);
    mgb_release(replay);
}

static enum mgb_status streams_begin(struct mgb_cuda *cuda, struct mgb_replay *replay)
{
    struct mgb_queue *origin = replay->origin;
    MGB_CUDA_TRY(cuda, cudaEventCreateWithFlags(&replay->fork, cudaEventDisableTiming));
    MGB_CUDA_TRY(cuda, cudaStreamBeginCapture(origin->stream, cudaStreamCaptureModeThreadLocal));
    replay->begun = true;
    origin->capture = replay->number;
    MGB_CUDA_TRY(cuda, cudaEventRecord(replay->fork, origin->stream));
    return MGB_OK;
}

enum mgb_status mgb_cuda_capture_enter(struct mgb_queue *queue)
{
    struct mgb_cuda *cuda = queue->cuda;
    if (queue->capture == cuda->capture->number)
        return MGB_OK;
    MGB_CUDA_TRY(cuda, cudaStreamWaitEvent(queue->stream, cuda->capture->fork, 0));
    queue->capture = cuda->capture->number;
    return MGB_OK;
}

static enum mgb_status streams_join(struct mgb_cuda *cuda, const struct mgb_replay *replay)
{
    for (int i = 1; i < replay->queue_count; i++) {
        struct mgb_queue *queue = replay->queues[i];
        if (queue->capture != replay->number)
            continue;
        MGB_TRY(mgb_cuda_begin(queue, queue->last));
        MGB_CUDA_TRY(cuda, cudaEventRecord(queue->served, queue->stream));
        MGB_CUDA_TRY(cuda, cudaStreamWaitEvent(replay->origin->stream, queue->served, 0));
    }
    return mgb_cuda_begin(replay->origin, replay->origin->last);
}

enum mgb_status mgb_cuda_capture_begin(void *context, struct mgb_queue *const *queues, int count)
{
    struct mgb_cuda *cuda = context;
    if (cuda->sticky)
        return mgb_fail(MGB_DEVICE, "CUDA: a GPU was lost earlier; only closing is left");
    MGB_TRY(mgb_cuda_use(cuda, queues[0]->gpu));
    MGB_TRY(replay_make(&cuda->capture, cuda, queues, count));
    cuda->cpu.jobs = &cuda->capture->jobs;
    enum mgb_status status = streams_begin(cuda, cuda->capture);
    if (status != MGB_OK)
        mgb_cuda_capture_drop(cuda);
    return status;
}

/* Leaves the message as it was: the reason is told, not what ending it says. */
void mgb_cuda_capture_drop(void *context)
{
    struct mgb_cuda *cuda = context;
    struct mgb_replay *replay = cuda->capture;
    cudaGraph_t kept = NULL;
    if (!replay)
        return;
    if (replay->begun && cudaSetDevice(cuda->gpus[replay->origin->gpu].physical) == cudaSuccess)
        (void)cudaStreamEndCapture(replay->origin->stream, &kept);
    cuda->current = -1;
    if (kept)
        cudaGraphDestroy(kept);
    if (!cuda->sticky)
        (void)cudaGetLastError();
    cuda->capture = NULL;
    cuda->cpu.jobs = &cuda->cpu.step_jobs;
    mgb_cuda_replay_free(replay);
}

static enum mgb_status graph_make(struct mgb_cuda *cuda, struct mgb_replay *replay)
{
    cudaGraph_t kept = NULL;
    MGB_TRY(streams_join(cuda, replay));
    cudaError_t error = cudaStreamEndCapture(replay->origin->stream, &kept);
    if (error != cudaSuccess)
        return mgb_cuda_fail(cuda, error, "cudaStreamEndCapture");
    replay->begun = false;
    error = cudaGraphInstantiate(&replay->graph, kept, 0);
    cudaGraphDestroy(kept);
    return error == cudaSuccess ? MGB_OK : mgb_cuda_fail(cuda, error, "cudaGraphInstantiate");
}

enum mgb_status mgb_cuda_capture_end(void *context, struct mgb_replay **out)
{
    struct mgb_cuda *cuda = context;
    struct mgb_replay *replay = cuda->capture;
    enum mgb_status status = graph_make(cuda, replay);
    if (status != MGB_OK) {
        mgb_cuda_capture_drop(cuda);
        return status;
    }
    replay->queues = NULL;
    cuda->capture = NULL;
    cuda->cpu.jobs = &cuda->cpu.step_jobs;
    *out = replay;
    return MGB_OK;
}

enum mgb_status mgb_cuda_values_later(const struct mgb_gpu_values **out, struct mgb_queue *queue,
                                      const struct mgb_step_values *values,
                                      const struct mgb_optimizer *optimizer)
{
    struct mgb_replay *replay = queue->cuda->capture;
    *out = NULL;
    if (!replay)
        return MGB_OK;
    int i = 0;
    while (i < replay->source_count &&
           (replay->sources[i].values != values || replay->sources[i].optimizer != optimizer))
        i++;
    if (i == MGB_CUDA_REPLAY_VALUES)
        return mgb_fail(MGB_UNSUPPORTED, "a step of more than %d kinds of changing values",
                        MGB_CUDA_REPLAY_VALUES);
    if (i == replay->source_count)
        replay->sources[replay->source_count++] =
            (struct mgb_cuda_replay_source){values, optimizer};
    *out = &replay->values[i];
    return MGB_OK;
}

enum mgb_status mgb_cuda_replay_add_event(struct mgb_replay *replay, struct mgb_event *event)
{
    if (replay->event_count == replay->event_room) {
        int room = replay->event_room ? 2 * replay->event_room : 64;
        struct mgb_event **grown =
            mgb_realloc(replay->events, (size_t)room * sizeof *replay->events);
        if (!grown)
            return mgb_fail(MGB_NO_MEMORY, "no memory to keep a step of %d events", room);
        replay->events = grown;
        replay->event_room = room;
    }
    replay->events[replay->event_count++] = event;
    return MGB_OK;
}

enum mgb_status mgb_cuda_replay(struct mgb_replay *replay)
{
    struct mgb_cuda *cuda = replay->cuda;
    MGB_TRY(mgb_cuda_begin(replay->origin, "a replayed step"));
    for (int i = 0; i < replay->source_count; i++) {
        const struct mgb_cuda_replay_source *source = &replay->sources[i];
        replay->values[i] = (struct mgb_gpu_values){
            .step = source->values->step,
            .seed = source->values->seed,
            .rate = source->optimizer ? mgb_cuda_rate(source->optimizer, source->values)
                                      : source->values->lr};
    }
    MGB_CUDA_TRY(cuda, cudaGraphLaunch(replay->graph, replay->origin->stream));
    for (int i = 0; i < replay->event_count; i++) {
        replay->events[i]->generation = cuda->gpus[replay->events[i]->gpu].generation;
        replay->events[i]->recorded = true;
    }
    return MGB_OK;
}
