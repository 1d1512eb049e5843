/* A plan compiled without being expanded: tasks in class form, and what is known of each tower apart. Memory is in
 * proportion to the plan's operators and to its GPUs, never to their product.
 *
 * Singles are tasks that are played once: the root's, and those of a class of one tower whose device the root uses. All
 * others are played by each tower of their class. A tower's tasks depend on its own ones, and on what is common to all:
 * singles, and where towers meet. So a step falls into stages: towers one after the other up to where they need something
 * common of this stage, then that, then the next stage. */
#ifndef MGB_SIM_CLASSES_H
#define MGB_SIM_CLASSES_H

#include "engine/sim/classes_form.h"
#include "engine/sim/program.h"

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
