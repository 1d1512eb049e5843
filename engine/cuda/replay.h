/* A step kept as one executable graph of CUDA. While it is captured, what queues are given is kept and nothing runs; all of
 * it hangs on the stream of the first queue, where each replay is launched. Other streams come in where they have work that
 * waits for no stream of the capture. */
#ifndef MGB_CUDA_REPLAY_H
#define MGB_CUDA_REPLAY_H

#include "engine/cuda/queue.h"
#include "engine/cuda/values.h"

#define MGB_CUDA_REPLAY_VALUES 4 /* pairs of step values and optimizer that a replay knows */

struct mgb_cuda_replay_source { /* what a place of `values` is written from */
    const struct mgb_step_values *values;
    const struct mgb_optimizer *optimizer; /* NULL: none */
};

struct mgb_replay {
    struct mgb_cuda *cuda;
    struct mgb_queue *origin;
    cudaGraphExec_t graph;
    cudaEvent_t fork; /* where the capture begins: streams come into it by waiting for that */
    struct mgb_gpu_values *values; /* pinned, written before each launch */
    struct mgb_cuda_replay_source sources[MGB_CUDA_REPLAY_VALUES];
    int source_count;
    struct mgb_cuda_jobs jobs; /* of host functions */
    struct mgb_event **events; /* that a launch records anew */
    int event_count, event_room;
    uint64_t number;                 /* of captures: an event of an older one is no part of this */
    bool begun;                      /* the streams are capturing */
    struct mgb_queue *const *queues; /* while it is captured */
    int queue_count;
};

enum mgb_status mgb_cuda_capture_begin(void *context, struct mgb_queue *const *queues, int count);
/* Makes the queue's stream part of the capture, before its first work there. */
enum mgb_status mgb_cuda_capture_enter(struct mgb_queue *queue);
enum mgb_status mgb_cuda_capture_end(void *context, struct mgb_replay **out);
void mgb_cuda_capture_drop(void *context);
enum mgb_status mgb_cuda_replay(struct mgb_replay *replay);
void mgb_cuda_replay_free(struct mgb_replay *replay);

/* While a step is captured: where kernels will find the values (the rate under `optimizer`, which may be NULL); else NULL. */
enum mgb_status mgb_cuda_values_later(const struct mgb_gpu_values **out, struct mgb_queue *queue,
                                      const struct mgb_step_values *values,
                                      const struct mgb_optimizer *optimizer);
/* The event is one that a launch records. */
enum mgb_status mgb_cuda_replay_add_event(struct mgb_replay *replay, struct mgb_event *event);
/* The learning rate with adam's bias correction, in double as on CPU devices. */
float mgb_cuda_rate(const struct mgb_optimizer *optimizer, const struct mgb_step_values *values);

#endif
