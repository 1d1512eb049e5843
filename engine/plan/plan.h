/* The planner from inside: what the passes share while a plan is made. Each pass is one function in one file; they run in
 * the order of mgb_plan_make and only add tasks, operands and buffers, in issue order.
 *
 * Memory failures are sticky: the adders below set `failed` and go on harmlessly; mgb_plan_make looks after each pass.
 *
 * Passes know sections, layouts and facts, never what an operator computes. */
#ifndef MGB_PLAN_PLAN_H
#define MGB_PLAN_PLAN_H

#include "engine/base/memory.h"
#include "engine/base/vector.h"
#include "engine/graph/facts.h"
#include <mgb/plan.h>

#define MGB_ALIGNMENT 64 /* of buffers, of weights in a bundle, of gradients in a bucket */
#define MGB_BUNDLE_BYTES                                                                           \
    (1 << 20) /* weights travel in bundles of at most this, or a larger one alone */

/* Who runs nodes: a class of towers, or the root (the head under `outputs`). */
struct mgb_stage {
    int class;  /* MGB_ROOT or a class */
    int device; /* topology index; of the first instance */
    int place;  /* what its tasks say: MGB_SELF, or the device */
    int tower;  /* first tower; 0 for the root */
    int rows;
    int last;                    /* its newest node's task; -1: none yet */
    int results;                 /* buffer of its losses and metrics; -1: it takes none */
    struct mgb_operand *tensors; /* by tensor: where it is; buffer -1: nowhere yet */
    struct mgb_operand
        *weights; /* by variable: where this stage reads it; buffer -1: it does not */
    int *reads;   /* by tensor: how often it is still to be read here */
    bool again;   /* what runs now ran before: see recompute.c */
};

/* Consecutive variables that agree in all places: stored and moved as one. */
struct mgb_bundle {
    int first, count; /* variables */
    int scope;        /* which towers use them: mgb_plan_scope */
    int home, update; /* devices; -1: mirrored */
    int64_t bytes;
    int *buffers; /* [0] of the root; mirrored: one a class. Weights */
    int *slots;   /* [slot * owners + k] likewise */
    int *staged;  /* by class: its lasting copy there; -1: none. NULL: nothing is fetched early */
    int work;     /* its copy where it is updated, when that is not its home; else -1 */
};

/* Gradients that travel together, in order of readiness. */
struct mgb_bucket {
    int scope;        /* as in its bundles */
    int sum, update;  /* devices; -1: all-reduced or kept */
    int ready;        /* the node after which it is complete */
    int first, count; /* into members */
    int64_t bytes;
    bool states;      /* holds shares of moving statistics: always f32, no optimizer */
    bool moved, done; /* copies to `sum` are issued; the sum is */
    int copy;         /* the newest of those copies; -1: none was needed */
    int table;        /* the variable it holds alone, whose gradient may travel as rows; -1 */
    bool *packed;     /* by class: it does, and lies so in the tower's buffer */
    int *buffers;     /* by class; -1: that class has none */
    int *arrivals;    /* by class: where it is read for the sum */
    int *wires; /* by class: as it travels, in the wire type, where it lies there; -1: as f32 */
    struct mgb_operand total; /* where the sum is, at `update` in the end */
    int *pending; /* stale: the sum of the step before; [0] of the root; mirrored: one a class */
};

struct mgb_draft {    /* beside each buffer */
    int pending;      /* reads still to come of tensors that lie in it */
    bool overwritten; /* an operator may write its result over it */
    int keep;         /* lifetime reaches at least this task */
};

struct
    mgb_lane { /* a queue in class form: one for each tower of the class, or a single one (MGB_ROOT) */
    int class, device, from; /* MGB_SELF or devices; from -1 on compute queues */
    enum mgb_queue_kind kind;
};

struct mgb_arena_size { /* of a group: the buffers that share an arena, in class form */
    int64_t lasting, step;
};

struct mgb_extra { /* an ordering that data alone would not give */
    int task;
    struct mgb_wait on;
};

struct mgb_planner {
    const struct mgb_plan_request *request;
    const struct mgb_graph *graph;
    const struct mgb_effective *placement;
    struct mgb_plan *plan;
    struct mgb_pool *pool;
    struct mgb_fact_source facts;
    bool failed, mirrored, training;
    int slot_count, bundle_count, member_count, owners; /* owners of a mirrored bundle: classes */
    struct mgb_stage *stages;                           /* by class */
    struct mgb_stage root;
    bool *rooted;   /* by device: root work or a home lies there */
    bool *runs;     /* by node */
    bool *answers;  /* by node: losses or metrics depend on it */
    int *result_of; /* by tensor: its place among the results of a stage; -1 */
    int result_count;
    bool *joined, *returned; /* by tensor: crosses to the head, comes back from it */
    int *bundle_of;          /* by variable; -1 for none */
    int64_t *bundle_offset;  /* by variable */
    int *bucket_of;          /* by variable; -1: nothing changes it */
    int *gradient_first;     /* by tensor: the first variable that it is the gradient of; -1 */
    int *gradient_next;      /* by variable: the next one with the same gradient; -1 */
    int64_t *bucket_offset;
    int *members;                /* variables in bucket order */
    struct mgb_rerun *recompute; /* NULL: nothing is run again */
    mgb_vector(struct mgb_bundle) bundles;
    mgb_vector(struct mgb_bucket) buckets;
    mgb_vector(struct mgb_task) tasks;
    mgb_vector(struct mgb_buffer) buffers;
    mgb_vector(struct mgb_draft) drafts;
    mgb_vector(struct mgb_operand) operands;
    mgb_vector(struct mgb_wait) waits;
    mgb_vector(struct mgb_extra) extras;
    int *queue_of; /* by task */
    mgb_vector(struct mgb_lane) queues;
    struct mgb_arena_size *arenas; /* by group */
    mgb_vector(struct mgb_storage) storages;
    mgb_vector(struct mgb_result) results;
    int *clip_factor; /* buffer, by device updating or by class when mirrored; -1: no clipping */
    mgb_vector(struct mgb_wait) commits; /* what must be done before the first update */
};

typedef enum mgb_status mgb_pass(struct mgb_planner *planner);
mgb_pass mgb_plan_classes, mgb_plan_needs, mgb_plan_recompute, mgb_plan_homes, mgb_plan_buckets,
    mgb_plan_input, mgb_plan_fetch, mgb_plan_forward, mgb_plan_join, mgb_plan_head,
    mgb_plan_results, mgb_plan_scatter, mgb_plan_backward, mgb_plan_receive, mgb_plan_clip,
    mgb_plan_update, mgb_plan_stage, mgb_plan_keep, mgb_plan_queues, mgb_plan_lifetimes,
    mgb_plan_layout, mgb_plan_order, mgb_plan_peak, mgb_plan_traffic;

#endif
