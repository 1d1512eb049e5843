/* Machines made by hand and plans played on them. A machine has /cpu:0 and some GPUs, each joined to it by a wire of its
 * own (10 GB/s both ways, no latency); a GPU does 1 TFLOPS, moves 100 GB/s and launches in no time. A test changes what it
 * is about before opening the simulator. */
#ifndef MGB_TESTS_SIM_RIGGED_H
#define MGB_TESTS_SIM_RIGGED_H

#include "tests/support/plan.h"
#include <mgb/run.h>
#include <mgb/sim.h>

struct mgb_machine *rigged_machine(int gpus);
/* One more wire; ends as in struct mgb_machine_wire. */
void rigged_wire(struct mgb_machine *machine, int a, int b, double gbps);
void rigged_pair(struct mgb_machine *machine, int from, int to, double on_gbps, double off_gbps);
/* Checks the machine and opens a simulator on it. */
struct mgb_sim *rigged_open(struct mgb_machine *machine, enum mgb_sim_engine engine);

/* One step of a plan, traced; the answer is valid until the next one. */
struct mgb_virtual_step rigged_play(struct mgb_sim *sim, const struct mgb_plan *plan,
                                    const struct mgb_effective *placement);
/* A graph of one loss over `layers` dense layers of `width`, for tests of formulas. */
struct mgb_graph *rigged_graph(int layers, int width);

/* A plan written by hand: tasks on queues with waits, no buffers but those that tasks name. */
struct hand_task {
    enum mgb_task_kind kind;
    int device, from; /* from -1: on the compute queue */
    int64_t bytes;
    int waits[4]; /* task + 1; 0 ends the list */
    int collective;
    enum mgb_phase phase;
};
struct hand_plan {
    struct mgb_plan plan;
    struct mgb_effective placement;
    struct mgb_topology topology;
};
/* Every task is the root's but all-reduces, which are their device's tower's. */
void hand_plan_make(struct hand_plan *out, int gpus, const struct hand_task *tasks, int count);
void hand_plan_done(struct hand_plan *plan);

#endif
