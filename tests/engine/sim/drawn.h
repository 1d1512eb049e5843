/* Plans of random models under placements drawn by number, and a machine on which nobody is in anybody's way. */
#ifndef MGB_TESTS_SIM_DRAWN_H
#define MGB_TESTS_SIM_DRAWN_H

#include <mgb/machine.h>
#include <mgb/plan.h>

struct drawn {
    struct mgb_graph *graph;
    struct mgb_effective placement;
    struct mgb_plan *plan;
};

/* False where the draw is no placement. */
bool drawn_make(struct drawn *out, const struct mgb_topology *topology, int gpus, int number);
/* A plan of out->graph: one row a GPU, the defaults of the strategy. */
void drawn_plan(struct drawn *out, const struct mgb_topology *topology, int gpus,
                const char *strategy);
void drawn_done(struct drawn *drawn);

/* Wires for every pair, as many engines as there are devices; up to nine GPUs. Not checked yet. */
struct mgb_machine *drawn_machine(int gpus);

#endif
