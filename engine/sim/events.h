/* What the event engine keeps while it plays: the next moment of each queue, who holds engines, who shares what. */
#ifndef MGB_SIM_EVENTS_H
#define MGB_SIM_EVENTS_H

#include "engine/sim/program.h"

/* What happens at one moment happens in this order, then in issue order: ends make room for what is ready. */
enum mgb_sim_moment { MGB_SIM_END, MGB_SIM_JOIN, MGB_SIM_READY };

struct mgb_sim_slot { /* what is at the head of a queue that queues or shares */
    int task;
    bool active;    /* takes its share */
    bool changed;   /* in `dirty` */
    double share;   /* of its speed alone */
    double left;    /* bytes, or ns of work */
    int64_t since;  /* when `left` was that */
    int64_t turn;   /* its place among those that wait for engines */
    int64_t solved; /* number of the solution it was last in */
};

struct mgb_sim_link { /* of a list of queues; -1: none */
    int before, after;
};

struct mgb_sim_short {        /* a resource */
    int64_t capacity, demand; /* demand: of all active ones at full speed */
    int first;                /* use; -1 */
    bool loose;               /* in `loosened` */
    int open;                 /* while solving: those without a share yet */
    double left, slope;
    int64_t solved;
};

struct mgb_sim_events {
    struct mgb_sim_program *program;
    const int64_t *ns;
    int64_t now;
    int *waiting;      /* by task: how many it still waits for */
    int *stack, depth; /* tasks whose end is known and not yet told */
    int *meet_left;    /* by collective */
    int leaves;        /* of the tree, a power of two */
    int *winners;      /* tree: winners[1] is next, queues are leaves */
    int64_t *times;    /* by queue; INT64_MAX: nothing to come */
    uint64_t *ties;
    struct mgb_sim_slot *slots; /* by queue */
    int *busy;                  /* by engine */
    int *engine_first, *engine_last;
    struct mgb_sim_link *engine_links; /* by queue * 2 + side */
    int64_t turns;
    struct mgb_sim_short *shorts;   /* by resource */
    struct mgb_sim_link *use_links; /* by use */
    int *use_queues;                /* by use: whose it is */
    int *board_next;                /* by queue: the next one of its board, around; -1 */
    int *dirty, dirty_count;        /* queues that need a share */
    int *loosened, loosened_count;  /* resources that were short and lost one */
    int *part, part_count;          /* queues of the component at hand */
    int *part_shorts, part_short_count;
    int64_t solution;
};

/* events.c: what comes next at a queue. */
void mgb_sim_schedule(struct mgb_sim_events *e, int queue, int64_t ns, enum mgb_sim_moment what);

/* share.c: a queue's task begins or ceases to take its share; new shares for all whom that touches. */
void mgb_sim_join(struct mgb_sim_events *e, int queue);
void mgb_sim_leave(struct mgb_sim_events *e, int queue);
void mgb_sim_resolve(struct mgb_sim_events *e);

/* engines.c: takes a queue's engines, or a place in their lines; gives them back and begins what waited. */
bool mgb_sim_engines_take(struct mgb_sim_events *e, int queue);
void mgb_sim_engines_give(struct mgb_sim_events *e, int queue,
                          void (*begin)(struct mgb_sim_events *e, int queue));

#endif
