/* The simulator: plays step plans on a virtual clock, on a machine described by data. */
#ifndef MGB_SIM_H
#define MGB_SIM_H

#include <mgb/machine.h>
#include <mgb/virtual.h>

enum mgb_sim_engine {
    MGB_SIM_AUTO,   /* the fastest that is exact for the plan */
    MGB_SIM_REPLAY, /* a sweep in issue order; refused where copies or cores are shared */
    MGB_SIM_EVENTS, /* an event queue, rates re-solved where links are shared */
    MGB_SIM_CLASSES /* replay of the plan as it is, no instance kept: time O(towers) at most, refused as replay */
};

struct mgb_sim_options {
    enum mgb_sim_engine engine;
    uint64_t seed; /* of jitter */
    /* Of a plan's towers so many are not waited for: the last to have their gradients (Chen et al. 2016, revisiting
     * distributed synchronous SGD). Their work up to the end of the step is wasted. All-reduces only. */
    int backups;
};

struct mgb_sim;
/* The machine is borrowed until close and was checked. */
enum mgb_status mgb_sim_open(struct mgb_sim **out, const struct mgb_machine *machine,
                             const struct mgb_sim_options *options);
void mgb_sim_close(struct mgb_sim *sim); /* NULL is fine */
/* Borrowed from it, for mgb_run_options and mgb_preview_make. */
const struct mgb_virtual *mgb_sim_virtual(struct mgb_sim *sim);

/* What playing cost, since it was opened. */
struct mgb_sim_effort {
    int64_t tasks, events; /* task instances costed; events handled (replay: tasks) */
    int64_t solves;        /* of shared rates */
    int64_t virtual_ns, real_ns;
    enum mgb_sim_engine engine; /* that played last */
};
struct mgb_sim_effort mgb_sim_effort_get(const struct mgb_sim *sim);

/* Durations that were measured are used instead of the machine's costs: by task of a plan, those alike share them. For
 * what-if: `tasks` as a traced step of `plan` showed them. Copied. */
enum mgb_status mgb_sim_learn(struct mgb_sim *sim, const struct mgb_plan *plan,
                              const struct mgb_task_time *tasks, int task_count);

/* How far off a machine's figures may be: standard deviations as shares. */
struct mgb_sim_doubt {
    double compute, wires,
        host; /* of GPUs; of wires, pairs and collectives; of /cpu:0, its memory and thread */
};
/* The machine with its figures drawn: one factor for all GPUs of a kind, one for all wires of a kind, and so on. The same
 * seed and number draw the same. It borrows from `machine`, which outlives it; mgb_sim_vary_end frees it. */
enum mgb_status mgb_sim_vary(struct mgb_machine **out, const struct mgb_machine *machine,
                             const struct mgb_sim_doubt *doubt, uint64_t seed, uint64_t number);
void mgb_sim_vary_end(struct mgb_machine *varied); /* NULL is fine */

/* What an operator is, apart from its rows: equal for two nodes of any graphs that do the same work an example. */
uint64_t mgb_sim_signature(const struct mgb_graph *graph, int node);

#endif
