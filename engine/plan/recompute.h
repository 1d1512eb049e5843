/* Blocks whose forward part is run again: what the choice of blocks (recompute_blocks.c) hands to the pass. */
#ifndef MGB_PLAN_RECOMPUTE_H
#define MGB_PLAN_RECOMPUTE_H

#include "engine/plan/build.h"

struct mgb_rerun {
    int *back;  /* by tensor: reads by nodes of the backward section */
    int *block; /* by node: its block; -1: sources, head and gradients */
    bool *
        again; /* by node: it is run a second time, before the first gradient of its block that reads what it makes */
    int *second;  /* by tensor: reads by those second runs */
    bool *issued; /* by block: it was */
    int count;    /* of blocks */
};

/* Fills in all but `issued` for the blocks by which a step is estimated to hold least; false: by none less than without. */
bool mgb_recompute_choose(struct mgb_planner *planner, struct mgb_rerun *out);

#endif
