/* A plan compiled for a machine: what the players play. Made once a plan and placement; playing it allocates nothing, but for
 * what the first play of its kind needs. */
#ifndef MGB_SIM_PROGRAM_H
#define MGB_SIM_PROGRAM_H

#include "engine/plan/device_times.h"
#include "engine/sim/path.h"

struct mgb_sim_queue {
    int device, from;   /* from -1: the compute queue; `device`: collectives */
    double rate;        /* of copies alone; compute queues: 1, work being counted in ns */
    double grows;       /* how fast its share of `rate` grows when rates are shared out */
    int64_t latency_ns; /* within a copy's time, before it shares anything */
    int engines[2];     /* copy engines held; -1 */
    int board;          /* whose devices slow each other down; -1 */
    double slowed;      /* share of speed while another of the board works */
    bool copies;
    bool queues;              /* may have to wait for an engine */
    bool shares;              /* its rate may change on the way */
    int use_begin, use_count; /* into uses: of what may be short */
};

struct mgb_sim_task { /* a flat task, in issue order */
    int queue;
    int before;     /* the task before it on its queue; -1 */
    int wait_begin; /* into waits, up to the next task's */
    int next_begin; /* into nexts: who waits for it, its queue's next one included */
    int waiting;    /* for so many, the one before it included */
    int meet;       /* a collective; -1 */
};

struct mgb_sim_meet {
    int begin, end; /* tasks */
    int64_t ns;
};

struct mgb_sim_program {
    struct mgb_sim_program *next;
    const struct mgb_plan *plan; /* borrowed */
    struct mgb_sim_how how;      /* of the placement it is compiled for; `graph` likewise */
    enum mgb_choice graph;
    struct mgb_pool pool;
    int count;
    struct mgb_flat flat;
    struct mgb_sim_task *tasks; /* and one behind the last */
    int64_t *ns;                /* alone */
    int64_t *bytes;             /* of copies between devices */
    int64_t step_ns;            /* before anything is issued */
    double submit_ns;           /* a task */
    int *waits, *nexts;
    int queue_count;
    struct mgb_sim_queue *queues;
    struct mgb_sim_use *uses;
    int resource_count, engine_count;
    int64_t *capacities; /* of resources */
    int *engines;        /* how many copies each takes at once */
    int meet_count;
    struct mgb_sim_meet *meets;
    int span_count;
    struct mgb_span *spans;
    bool shared; /* some queue queues or shares: only events tell its times */

    /* of the last play */
    int64_t *scaled; /* ns with what was drawn; NULL: nothing is */
    int64_t *ends;
    int64_t *starts; /* events alone; replay: ends less times */
    bool played;
    int64_t wall_ns, events, solves;
    enum mgb_sim_engine engine;
    struct mgb_device_times *times;  /* by index into plan->uses */
    struct mgb_boundary *boundaries; /* scratch of times.c */
    struct mgb_task_time *trace;     /* made when first asked for */
    struct mgb_sim_events *state;    /* of the event engine, made when first played by it */
};

/* compile.c, queues.c */
enum mgb_status mgb_sim_compile(struct mgb_sim_program **out, const struct mgb_sim *sim,
                                const struct mgb_virtual_request *request);
void mgb_sim_program_free(struct mgb_sim_program *program);
enum mgb_status mgb_sim_queues_add(struct mgb_sim_program *program, const struct mgb_sim *sim);

/* compile.c: the host submits the plan's tasks one by one. */
bool mgb_sim_is_submitted(const struct mgb_sim_program *program, const struct mgb_machine *machine);

/* When the host issues a task. */
static inline int64_t mgb_sim_issued(const struct mgb_sim_program *program, int task)
{
    return program->step_ns + mgb_sim_round(program->submit_ns * task);
}

/* replay.c, events.c: ends of all tasks for these times; both count events. */
void mgb_sim_replay(struct mgb_sim_program *program, const int64_t *ns);
enum mgb_status mgb_sim_events_play(struct mgb_sim_program *program, const int64_t *ns);

/* times.c */
enum mgb_status mgb_sim_spans_add(struct mgb_sim_program *program);
void mgb_sim_times_fill(struct mgb_sim_program *program);
enum mgb_status mgb_sim_trace_fill(struct mgb_sim_program *program);

#endif
