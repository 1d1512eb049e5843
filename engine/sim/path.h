/* The ways of copies over a machine, what they share, and what that makes of collectives. */
#ifndef MGB_SIM_PATH_H
#define MGB_SIM_PATH_H

#include "engine/sim/sim.h"

/* What copies and cores share. Amounts are integers, so that they add up the same in any order: bytes a second, or
 * millionths of a core. */
struct mgb_sim_use {
    int resource, times; /* a byte that is copied passes it so often */
    int64_t amount;      /* taken by one that goes on as fast as alone */
};

/* What a placement says of copies. */
struct mgb_sim_how {
    enum mgb_choice peer, pinned;
};

/* The way of copies from one device to another. */
#define MGB_SIM_USES_MOST (2 * MGB_ROUTE_MOST + 2)
struct mgb_sim_path {
    double rate; /* alone */
    int64_t latency_ns;
    int use_count;
    struct mgb_sim_use uses[MGB_SIM_USES_MOST];
};

/* path.c */
enum mgb_status mgb_sim_path_make(struct mgb_sim_path *out, const struct mgb_sim *sim,
                                  const struct mgb_sim_how *how, int from, int to);
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
                                  const struct mgb_sim_how *how, const struct mgb_plan *plan);
double mgb_sim_allreduce_ns(const struct mgb_sim_ring *ring, const struct mgb_machine *machine,
                            enum mgb_allreduce algorithm, int64_t bytes);

#endif
