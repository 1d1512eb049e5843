/* Inside of the live display: one file keeps steps, one makes means of them, one takes traced steps apart. */
#ifndef APP_SESSION_WORKBENCH_LIVE_PRIVATE_H
#define APP_SESSION_WORKBENCH_LIVE_PRIVATE_H

#include "app/session/tasks.h"
#include "app/session/workbench/live.h"

#include <pthread.h>

enum { MGB_LIVE_BUCKETS = 10 }; /* of an eighth of a second or a step each: more than a second */

struct live_times { /* of one device, sums */
    int device;     /* of the topology */
    int64_t finish_ns, busy_ns[MGB_PHASE_COUNT], exposed_ns[MGB_PHASE_COUNT];
};
struct live_bucket {
    int64_t wall_ns, steps;
    int count;
    struct live_times devices[MGB_BENCH_DEVICES];
};

struct mgb_live {
    pthread_mutex_t lock; /* over all but `waits` */
    const struct mgb_facts *facts;
    int number;     /* of the segment */
    int64_t warmup; /* steps at its start */
    int64_t steps, segment_steps;
    uint64_t version; /* of the ring */
    struct mgb_bench_step ring[MGB_BENCH_STEPS];
    struct mgb_bench_history *copied; /* of `copied_version` */
    uint64_t copied_version;
    struct live_bucket buckets[MGB_LIVE_BUCKETS];
    int bucket;         /* the newest */
    bool bucket_warmup; /* its steps are of the warm-up, and the other ones are empty */
    const struct mgb_bench_traced *traced;
    struct
        live_waits { /* the engine's thread's, and while no step runs the caller's: of the plan traced last */
        int rows; /* global ones of the plan: under one placement they say which it is; 0: none */
        struct session_task_waits list;
    } waits;
};

/* live_traced.c: on the engine's thread. NULL: no memory. */
struct mgb_bench_traced *mgb_live_trace(struct mgb_live *live,
                                        const struct mgb_step_result *result);
void mgb_live_waits_forget(struct mgb_live *live);

#endif
