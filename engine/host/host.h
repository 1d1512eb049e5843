/* The context of the CPU devices: what all files of the host backend share. The submitter's thread owns everything that
 * is not atomic. Queues and their commands are in queue.h. */
#ifndef MGB_HOST_HOST_H
#define MGB_HOST_HOST_H

#include "engine/backend/backend.h"
#include "engine/host/crowd.h"
#include "engine/host/fault.h"
#include "engine/host/gate.h"
#include "engine/host/kernel.h"
#include <pthread.h>

struct mgb_host_device {
    char name[MGB_DEVICE_NAME_MAX];
    int64_t limit, used;   /* bytes of arenas; limit 0: what the machine has */
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
    struct mgb_crowd crowd;
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

/* A meeting of queues: all arrive, each adds its share of the range over all buffers, all leave. */
struct mgb_host_collective {
    void *const *buffers;
    int64_t count;
    int queues;
    enum mgb_allreduce algorithm;
    enum mgb_wire_type type;
    atomic_int arrived, finished, left; /* left == queues: free again */
    atomic_bool skip;                   /* decided by the last to arrive */
    struct mgb_gate gate, free;
};

/* peak.c: as mgb_backend.core_peak. */
enum mgb_status mgb_host_peak(double *tflops, int64_t budget_ns);

/* failure.c */
/* Keeps the calling thread's message, unless a failure is kept already, and makes all queues skip what is left. */
void mgb_host_poison(struct mgb_host *host, enum mgb_status status);
/* The kept failure, on the calling thread. */
enum mgb_status mgb_host_failure_get(struct mgb_host *host);
void mgb_host_failure_clear(struct mgb_host *host);

/* collective.c; while idle */
enum mgb_status mgb_host_collectives_grow(struct mgb_host *host);

/* arena.c */
enum mgb_status mgb_host_arena_make(void *context, void **base, int device, int64_t bytes);
void mgb_host_arena_free(void *context, int device, void *base, int64_t bytes);
enum mgb_status mgb_host_protect(void *context, void *base, int64_t bytes, bool accessible);

/* versions.c */
void mgb_host_versions(char *out, size_t size);

/* probe.c */
enum mgb_status mgb_host_probe(struct mgb_topology *out);

#endif
