/* What the files of the host backend share: the context, its queues, events and collectives. The submitter's thread owns
 * everything that is not atomic; a queue's thread reads a command only after the submitter has published it. */
#ifndef MGB_HOST_HOST_H
#define MGB_HOST_HOST_H

#include "engine/backend/backend.h"
#include "engine/host/fault.h"
#include "engine/host/gate.h"
#include "engine/host/kernel.h"
#include <pthread.h>

struct mgb_host_device {
    char name[MGB_DEVICE_NAME_MAX];
    int64_t limit, used; /* bytes of arenas; limit 0: what the machine has */
    atomic_llong launches; /* since open; what fault injection counts */
};

struct mgb_host_failure {
    enum mgb_status status;
    struct mgb_oom oom;
    char message[4096];
};

struct mgb_host {
    int device_count;
    struct mgb_host_device *devices;
    struct mgb_host_faults faults;
    struct mgb_kernel_cache kernels;
    struct mgb_queue *queues; /* a list; the submitter's */
    /* Work that failed: `poisoned` is set once `failure` is complete. */
    pthread_mutex_t failure_lock;
    struct mgb_host_failure failure;
    atomic_bool poisoned;
    atomic_bool abandoned; /* a drain gave up: waits end, only closing is allowed */
    bool sticky;           /* the submitter's: a failure that only closing ends */
    struct mgb_host_collective *collectives; /* a ring, handed out in turn */
    int collective_capacity;
    uint64_t collective_count;
    uint64_t collective_mark; /* of the last drain */
};

struct mgb_event {
    uint64_t recorded;        /* number of record calls so far; the submitter's */
    _Atomic uint64_t reached; /* the newest of them that happened */
    _Atomic int64_t time_ns;
    struct mgb_gate gate;
};

/* A meeting of queues: all arrive, each adds its share of the range over all buffers, all leave. */
struct mgb_host_collective {
    float *const *buffers;
    int64_t count;
    int queues;
    atomic_int arrived, finished, left; /* left == queues: free again */
    atomic_bool skip;                   /* decided by the last to arrive */
    struct mgb_gate gate, free;
};

enum mgb_command_kind {
    MGB_COMMAND_RECORD, MGB_COMMAND_WAIT, MGB_COMMAND_LAUNCH, MGB_COMMAND_COPY, MGB_COMMAND_FILL, MGB_COMMAND_REDUCE,
    MGB_COMMAND_NORM, MGB_COMMAND_CLIP, MGB_COMMAND_UPDATE, MGB_COMMAND_ALLREDUCE,
};

struct mgb_command {
    enum mgb_command_kind kind;
    union {
        struct { struct mgb_event *event; uint64_t generation; } order; /* record, wait */
        struct { struct mgb_kernel *kernel; struct mgb_launch launch; } launch;
        struct { void *to; const void *from; int64_t bytes; } copy; /* fill too */
        struct { /* reduce, norm, clip */
            float *to;
            const float *const *sources;
            const int64_t *counts;
            int64_t count;
            int source_count;
            float clip_norm;
        } sum;
        struct mgb_update update;
        struct { struct mgb_host_collective *meeting; int index; } collective;
    };
};

struct mgb_queue {
    struct mgb_host *host;
    struct mgb_queue *next;
    struct mgb_queue_request request;
    pthread_t thread;
    bool started;
    uint64_t mark, waited; /* tail at the last drain; pushes that found the ring full since */
    struct mgb_command *ring;
    uint64_t capacity; /* a power of two */
    _Atomic uint64_t head, tail;
    _Atomic uint64_t wake_at; /* value of head that the submitter waits for */
    atomic_bool stop;
    atomic_int doing; /* the command under way (kind), -1: none */
    _Atomic(const char *) doing_name;
    struct mgb_gate work, moved;
};

/* queue.c */
enum mgb_status mgb_host_queue_make(void *context, struct mgb_queue **out, const struct mgb_queue_request *request);
void mgb_host_queue_free(struct mgb_queue *queue);
/* Appends a command; waits while the ring is full. Fails when the backend may only be closed. */
enum mgb_status mgb_host_push(struct mgb_queue *queue, const struct mgb_command *command);
enum mgb_status mgb_host_drain(void *context, int64_t timeout_ns);

/* work.c: runs a command in its queue's thread. */
enum mgb_status mgb_host_perform(struct mgb_queue *queue, const struct mgb_command *command);
const char *mgb_host_command_name(const struct mgb_command *command);

/* failure.c */
/* Keeps the calling thread's message, unless a failure is kept already, and makes all queues skip what is left. */
void mgb_host_poison(struct mgb_host *host, enum mgb_status status);
/* The kept failure, on the calling thread. */
enum mgb_status mgb_host_failure_get(struct mgb_host *host);
void mgb_host_failure_clear(struct mgb_host *host);

/* collective.c */
enum mgb_status mgb_host_allreduce(struct mgb_queue *const *queues, float *const *buffers, int count_of_queues,
                                   int64_t count, enum mgb_allreduce algorithm);
void mgb_host_meet(struct mgb_queue *queue, const struct mgb_command *command);
enum mgb_status mgb_host_collectives_grow(struct mgb_host *host); /* while idle */

/* arena.c */
enum mgb_status mgb_host_arena_make(void *context, void **base, int device, int64_t bytes);
void mgb_host_arena_free(void *context, int device, void *base, int64_t bytes);
enum mgb_status mgb_host_protect(void *context, void *base, int64_t bytes, bool accessible);

/* probe.c */
enum mgb_status mgb_host_probe(struct mgb_topology *out);

#endif
