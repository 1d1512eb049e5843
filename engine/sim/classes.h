/* A plan compiled without being expanded: tasks in class form, and what is known of each tower apart. Memory is in
 * proportion to the plan's operators and to its GPUs, never to their product.
 *
 * Singles are tasks that are played once: the root's, and those of a class of one tower whose device the root uses. All
 * others are played by each tower of their class. A tower's tasks depend on its own ones, and on what is common to all:
 * singles, and where towers meet. So a step falls into stages: towers one after the other up to where they need something
 * common of this stage, then that, then the next stage. */
#ifndef MGB_SIM_CLASSES_H
#define MGB_SIM_CLASSES_H

#include "engine/sim/program.h"

#define MGB_SIM_BLOCK 8 /* towers that are swept side by side */

struct mgb_sim_lane { /* a queue in class form */
    int class;        /* one for each of its towers; MGB_ROOT: a single one */
    int device, from; /* MGB_SELF or devices; as in struct mgb_sim_queue */
    int first, count; /* into ways.queues */
    int last;         /* its newest item */
    bool copies;
};

struct mgb_sim_item {  /* a task of the plan */
    int class;         /* MGB_ROOT: a single */
    int tower;         /* of a single: of which tower, -1: the root */
    int lane, before;  /* the item before it there; -1 */
    int wait_begin;    /* into waits, up to the next item's */
    int stage, member; /* member: its number in members, if it is a class's */
    int meet;          /* -1: none */
    int count;         /* instances */
    int64_t first;     /* number of its first instance in issue order */
    int64_t extra_ns;  /* what all-reduces beside it take */
    bool free;         /* takes no time */
};

struct mgb_sim_await {
    int item;
    bool own; /* the instance of this very tower */
};

struct mgb_sim_member { /* an item of a class; in order of class, stage, plan */
    int item;
    int ref_begin, ref_count; /* into refs: members that it waits for in its own tower */
    int slot;                 /* into carried: a later stage reads it; -1 */
    bool slowed, drawn;       /* factors of the device, of device and step */
    bool folded;              /* the last end of all towers is asked for */
    bool gives;               /* a meeting waits for it */
};

struct mgb_sim_kind { /* towers of a class with equal times */
    int class, tower; /* the first of them */
    int begin, count; /* into order, begin a multiple of MGB_SIM_BLOCK */
    double *ns;       /* by member, from the class's first */
};

struct mgb_sim_crowd { /* a class */
    int member_begin, member_end;
    int *stage_begin;         /* stage_count + 1, into members */
    int span_begin, span_end; /* into spans: of any of its towers, in members */
};

struct mgb_sim_classes {
    struct mgb_sim_classes *next;
    struct mgb_sim_program ways; /* its queues alone: every lane's */
    const struct mgb_plan *plan;
    int lane_count, stage_count, meet_count, slot_count, member_count, ref_count, kind_count;
    int order_count, single_count, span_count;
    int64_t flat_count;
    struct mgb_sim_lane *lanes;
    struct mgb_sim_item *items; /* by task, and one behind the last */
    mgb_vector(struct mgb_sim_await) waits;
    struct mgb_sim_meet *meets; /* begin, end: items */
    int *meet_stage;
    struct mgb_sim_member *members;
    int *refs;
    struct mgb_sim_kind *kinds;
    struct mgb_sim_crowd *crowds; /* by class */
    int *order;                   /* towers by kind, blocks filled up with the last one */
    int *singles;           /* items in order of stage: singles, and last members of meetings */
    double *single_ns;      /* by item */
    struct mgb_span *spans; /* of crowds; from single_spans on of singles */
    int single_spans;
    int *kind_of;           /* by tower; -1: its class is no crowd */
    int *tower_of, *use_of; /* by device; -1 */
    bool alike;             /* towers of a kind end at the same moments */
    int backups;

    /* of the last play */
    int64_t *ready;             /* by member: when what is common lets it begin */
    int64_t *most;              /* by member: the last end of all towers; folded ones */
    int64_t *ends, *starts;     /* by item: of singles and meetings */
    int64_t *carried;           /* slot * order_count + place in order */
    int64_t *rows, *row_starts; /* of a block: by member from the first that is swept, then tower */
    int64_t *finish;            /* by place in order: with backups */
    bool *dropped, *late;       /* by place in order, by tower: with backups */
    double *drawn;              /* by device; NULL: nothing is drawn */
    bool played;
    int64_t wall_ns;
    double wasted;
    struct mgb_device_times *times;
    struct mgb_task_time *trace; /* made when first asked for */
    int trace_count;
};

/* classes.c: MGB_UNSUPPORTED says why the plan has no such form on this machine. */
enum mgb_status mgb_sim_classes_make(struct mgb_sim_classes **out, const struct mgb_sim *sim,
                                     const struct mgb_virtual_request *request);
void mgb_sim_classes_free(struct mgb_sim_classes *classes);

/* classes_order.c: stages, members and what they read of each other. */
enum mgb_status mgb_sim_classes_order(struct mgb_sim_classes *classes);
/* classes_ways.c: queues, what is shared, kinds, times alone. */
enum mgb_status mgb_sim_classes_cost(struct mgb_sim_classes *classes, const struct mgb_sim *sim);

/* classes_play.c */
enum mgb_status mgb_sim_classes_play(struct mgb_sim_classes *classes, const struct mgb_sim *sim,
                                     int64_t step);
/* Starts and ends of all tasks of the block of towers at a place in order, into row_starts and rows; all is known that is
 * common. */
void mgb_sim_classes_block(struct mgb_sim_classes *classes, const struct mgb_sim *sim,
                           const struct mgb_sim_kind *kind, int at);

/* classes_times.c */
enum mgb_status mgb_sim_classes_spans(struct mgb_sim_classes *classes);
enum mgb_status mgb_sim_classes_times(struct mgb_sim_classes *classes, const struct mgb_sim *sim);
enum mgb_status mgb_sim_classes_trace(struct mgb_sim_classes *classes, const struct mgb_sim *sim);

static inline int64_t mgb_sim_classes_issued(const struct mgb_sim_classes *classes, int64_t number)
{
    return classes->ways.step_ns + mgb_sim_round(classes->ways.submit_ns * (double)number);
}

#endif
