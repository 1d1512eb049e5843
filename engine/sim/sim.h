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
    struct mgb_sim_classes *classes;  /* likewise: plans that are played in class form */
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

/* jitter.c */
enum mgb_status mgb_sim_slowness_make(struct mgb_sim *sim);
/* A factor of mean 1, the logarithm of which is normal with that standard deviation; the same on every machine. */
double mgb_sim_draw(double sigma, uint64_t seed, uint64_t number, uint64_t step);

#endif
