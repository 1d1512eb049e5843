/* The simulator from inside: what an open one keeps, and a plan compiled for it.
 *
 * Times are integer nanoseconds from the step's start. Rates are bytes a nanosecond (1e9 bytes a second), or shares of the
 * speed that something has alone. Compiled once, a plan is played without an allocation. */
#ifndef MGB_SIM_SIM_H
#define MGB_SIM_SIM_H

#include "engine/base/memory.h"
#include "engine/base/vector.h"
#include "engine/graph/facts.h"
#include <mgb/run.h>
#include <mgb/sim.h>

struct mgb_sim_learned { /* sorted by key */
    uint64_t key;
    double ns;
    int count; /* it is the mean of so many */
};

struct mgb_sim {
    const struct mgb_machine *machine;
    struct mgb_sim_options options;
    struct mgb_topology topology;
    struct mgb_fact_source facts;
    struct mgb_virtual face;
    struct mgb_sim_effort effort;
    int *profile;     /* by device: the first one that computes as fast */
    double *slowness; /* by device: of its compute tasks, for good; NULL: none is drawn */
    mgb_vector(struct mgb_sim_learned) learned;
    struct mgb_sim_program *programs; /* the newest first */
};

/* What copies and cores share. Amounts are integers, so that they add up the same in any order: bytes a second, or
 * millionths of a core. */
struct mgb_sim_use {
    int resource, times; /* a byte that is copied passes it so often */
    int64_t amount;      /* taken by one that goes on as fast as alone */
};

/* The way of copies from one device to another. */
#define MGB_SIM_USES_MOST (2 * MGB_ROUTE_MOST + 2)
struct mgb_sim_path {
    double rate; /* alone */
    int64_t latency_ns;
    bool staged; /* by way of /cpu:0 */
    int use_count;
    struct mgb_sim_use uses[MGB_SIM_USES_MOST];
};

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

struct mgb_sim_span { /* a run of tasks of one phase on a queue, as the executor has them */
    int first, last;
    int device, from;
    enum mgb_phase phase;
    int tower;
};

struct mgb_sim_boundary { /* scratch of times.c */
    int64_t ns;
    int phase, step;
};

struct mgb_sim_program {
    struct mgb_sim_program *next;
    const struct mgb_plan *plan;         /* borrowed */
    enum mgb_choice peer, pinned, graph; /* of the placement it is compiled for */
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
    struct mgb_sim_span *spans;
    bool shared; /* some queue queues or shares: only events tell its times */

    /* of the last play */
    int64_t *scaled; /* ns with what was drawn; NULL: nothing is */
    int64_t *ends;
    int64_t *starts; /* events alone; replay: ends less times */
    bool played;
    int64_t wall_ns, events, solves;
    enum mgb_sim_engine engine;
    struct mgb_device_times *times;      /* by index into plan->uses */
    struct mgb_sim_boundary *boundaries; /* scratch of times.c */
    struct mgb_task_time *trace;         /* made when first asked for */
    struct mgb_sim_events *state;        /* of the event engine, made when first played by it */
};

/* Nearest, and never below 0. */
static inline int64_t mgb_sim_round(double ns)
{
    return ns > 0 ? (int64_t)(ns + 0.5) : 0;
}

/* sim.c: everything compiled goes. */
void mgb_sim_forget_all(struct mgb_sim *sim);

/* cost.c: what a task of a compute queue takes on a device, as this machine says, in ns. */
double mgb_sim_task_ns(const struct mgb_sim *sim, const struct mgb_plan *plan, int task,
                       int device);
/* Bytes that a task reads and writes, all its operands together. */
int64_t mgb_sim_task_bytes(const struct mgb_plan *plan, int task);
int mgb_sim_threads(const struct mgb_plan *plan, int device);

/* learn.c: what was measured of such a task; false: nothing. */
bool mgb_sim_learned_find(double *ns, const struct mgb_sim *sim, const struct mgb_plan *plan,
                          int task, int device);

/* path.c */
enum mgb_status mgb_sim_path_make(struct mgb_sim_path *out, const struct mgb_sim *sim,
                                  const struct mgb_sim_program *program, int from, int to);
/* What resources a machine has: wires both ways, then the host's memory, then its cores. Amounts of INT64_MAX: no bound. */
int mgb_sim_resource_count(const struct mgb_machine *machine);
int64_t mgb_sim_capacity(const struct mgb_machine *machine, int resource);
int mgb_sim_memory_resource(const struct mgb_machine *machine);
int mgb_sim_core_resource(const struct mgb_machine *machine);
#define MGB_SIM_CORE 1000000 /* amount of one core */

/* collective.c: the towers of a plan as a ring in device order, and what an all-reduce among them takes. */
struct mgb_sim_ring {
    int count, nodes, inside; /* towers; hosts; towers of the host that has most */
    double rate;              /* of the narrowest place; 1e18: nothing is narrow */
    double network_rate;      /* of those between hosts alone, `inside_rate` of the others */
    double inside_rate;
};
enum mgb_status mgb_sim_ring_make(struct mgb_sim_ring *out, const struct mgb_sim *sim,
                                  const struct mgb_sim_program *program);
double mgb_sim_allreduce_ns(const struct mgb_sim_ring *ring, const struct mgb_machine *machine,
                            enum mgb_allreduce algorithm, int64_t bytes);

/* compile.c, queues.c */
enum mgb_status mgb_sim_compile(struct mgb_sim_program **out, const struct mgb_sim *sim,
                                const struct mgb_virtual_request *request);
void mgb_sim_program_free(struct mgb_sim_program *program);
enum mgb_status mgb_sim_queues_add(struct mgb_sim_program *program, const struct mgb_sim *sim);

/* When the host issues a task. */
static inline int64_t mgb_sim_issued(const struct mgb_sim_program *program, int task)
{
    return program->step_ns + mgb_sim_round(program->submit_ns * task);
}

/* replay.c, events.c: ends of all tasks for these times; both count events. */
void mgb_sim_replay(struct mgb_sim_program *program, const int64_t *ns);
enum mgb_status mgb_sim_events_play(struct mgb_sim_program *program, const int64_t *ns);

/* jitter.c */
enum mgb_status mgb_sim_slowness_make(struct mgb_sim *sim);
/* A factor of mean 1, the logarithm of which is normal with that standard deviation; the same on every machine. */
double mgb_sim_draw(double sigma, uint64_t seed, uint64_t number, uint64_t step);

/* times.c */
enum mgb_status mgb_sim_spans_add(struct mgb_sim_program *program);
void mgb_sim_times_fill(struct mgb_sim_program *program);
enum mgb_status mgb_sim_trace_fill(struct mgb_sim_program *program);

#endif
