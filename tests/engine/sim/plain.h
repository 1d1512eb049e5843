/* A simulation without a thought for speed: at every moment it looks at every task, and shares out every rate anew. What
 * the event engine does locally and lazily is compared with it. */
#ifndef MGB_TESTS_SIM_PLAIN_H
#define MGB_TESTS_SIM_PLAIN_H

#include "engine/sim/program.h"

/* Ends of all tasks of a compiled plan without collectives; resources by the machine's own paths. */
void plain_play(int64_t *ends, const struct mgb_sim *sim, const struct mgb_sim_program *program);

#endif
