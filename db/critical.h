/* The critical path of a step: of all that ran, the chain that nothing could have ended earlier without. Pure: knows times
 * and what waits for what, no phases, devices or tables. */
#ifndef MGB_DB_CRITICAL_H
#define MGB_DB_CRITICAL_H

#include <stdint.h>

#include <mgb/status.h>

struct mgb_critical_task {
    int queue; /* from 0, dense; tasks of one run one after the other, in the order of the list */
    int64_t start_ns, duration_ns; /* from the step's start */
    int wait_begin, wait_count;    /* into waits */
};

struct mgb_critical_request {
    const struct mgb_critical_task *tasks;
    int count;
    const int *
        waits; /* indices of the tasks that had to end first; those that are none are passed over */
    int64_t wall_ns; /* the path goes from 0 to here */
};

/* A stretch of the path. `task`: what ran; -1: nothing that the rest waited for did, then `before` is the task that came
 * next, -1 for the end of the step. */
struct mgb_critical_part {
    int task, before;
    int64_t begin_ns, end_ns;
};

/* Walks back from the task that ended last, each time to the one of its queue's and its explicit predecessors that ended
 * last; of equal ones the queue's. A task counts from when the one before it ended, so that parts never overlap. They are
 * in order of time, each begins where the one before ends, and they add up to `wall_ns` exactly, whatever the clocks of the
 * tasks say. `parts` is to be freed; none when wall_ns is 0. MGB_NO_MEMORY. */
enum mgb_status mgb_critical_find(struct mgb_critical_part **parts, int *part_count,
                                  const struct mgb_critical_request *request);

#endif
