/* The verifier from inside. It reads a finished plan afresh: it shares no code with the passes, so that a fault there is
 * not repeated here. Plans of more than MGB_VERIFY_TASKS flat tasks are read with the first two and the last tower of each
 * class instead of all. */
#ifndef MGB_PLAN_VERIFY_H
#define MGB_PLAN_VERIFY_H

#include "engine/base/memory.h"
#include "engine/base/vector.h"
#include "engine/graph/graph.h"
#include <mgb/plan.h>

#define MGB_VERIFY_TASKS 20000
#define MGB_VERIFY_PADDING 64 /* gaps below this between parts of a buffer may be read unwritten */

struct mgb_verify_task { /* an instance */
    int task, tower;
    int device, from; /* resolved; from -1 on compute queues */
    int queue, turn;  /* its place on its queue, from 1 */
};

struct mgb_verify_access {
    int flat, buffer, tower; /* tower -1: the root's buffer */
    int device;
    enum mgb_arena_kind arena;
    int64_t begin, end; /* bytes of the arena */
    bool write;
};

struct mgb_verifier {
    const struct mgb_plan *plan;
    bool *kept; /* by tower */
    int kept_count;
    bool *
        gathered; /* by buffer: written by rows, some of which belong to towers that are not kept */
    int *first;   /* flat tasks of task i: first[i] .. first[i + 1] */
    int flat_count, queue_count;
    struct mgb_verify_task *flats;
    int *clocks; /* [flat * queue_count + q]: what of queue q has ended when the task has */
    mgb_vector(
        struct mgb_verify_access) accesses; /* in issue order, a task's reads before its writes */
};

/* "task t5 'dense' on tower 1" into `out`; returns `out`. */
char *mgb_verify_name(char out[160], const struct mgb_verifier *v, int flat);
/* Does flat task `a` end before `b` starts, by queues and waits alone? */
bool mgb_verify_before(const struct mgb_verifier *v, int a, int b);

/* The rules, in this order. */
enum mgb_status
mgb_verify_shape(const struct mgb_plan *plan); /* indices, rows, devices, equal copies, arenas */
enum mgb_status mgb_verify_clock(struct mgb_verifier *v); /* waits, queues, collectives */
enum mgb_status
mgb_verify_collect(struct mgb_verifier *v); /* accesses; whose memory a task may touch */
enum mgb_status mgb_verify_races(struct mgb_verifier *v); /* every wait that is needed */
enum mgb_status
mgb_verify_contents(struct mgb_verifier *v); /* defined before use, nobody else's bytes */
enum mgb_status
mgb_verify_layout(const struct mgb_verifier *v); /* declared lifetimes, lasting buffers apart */
enum mgb_status
mgb_verify_commit(const struct mgb_verifier *v); /* no update before the last gradient */
enum mgb_status
mgb_verify_rows(const struct mgb_verifier *v); /* rows of a table's gradient are unpacked, once */
enum mgb_status
mgb_verify_updates(const struct mgb_verifier *v); /* every trained variable once, nothing frozen */

#endif
