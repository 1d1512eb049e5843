/* Plans for tests: a machine of /cpu:0 and N GPUs without limits, and effective placements made by hand, so that a test
 * of the planner depends on nothing that resolves options. Device 0 is /cpu:0, device k + 1 is /gpu:k. */
#ifndef MGB_TESTS_PLAN_H
#define MGB_TESTS_PLAN_H

#include <mgb/plan.h>

#define PLAN_CPU 0
#define PLAN_GPU(k) ((k) + 1)
#define PLAN_SPREAD -2 /* variable i on GPU i modulo their number */

struct plan_setup {
    enum mgb_strategy strategy;
    int gpus;  /* 0: one tower on /cpu:0 */
    int batch; /* global */
    int rows;  /* of this plan; 0: the batch */
    int home, join, loss, sum, update;
    int original; /* where the weights were; relocated when it differs from home */
    bool clone, no_overlap, evaluate, sync;
    int64_t bucket_bytes; /* 0: 25 MiB */
    enum mgb_allreduce allreduce;
    struct mgb_optimizer optimizer; /* zero: sgd without momentum */
    const int *order;               /* GPU ids of the towers; NULL: 0, 1, ... */
    const struct mgb_fact_source *facts;
};

/* The machine alone; free it with mgb_topology_done. */
void plan_machine_make(struct mgb_topology *out, int gpus);

struct plan_world { /* what a plan borrows; may be moved */
    struct mgb_topology *topology;
    struct mgb_effective *placement;
    struct mgb_plan_request request;
};

void plan_world_make(struct plan_world *out, const struct mgb_graph *graph,
                     const struct plan_setup *setup);
void plan_world_done(struct plan_world *world);
/* World and plan in one; frees neither graph nor world. */
struct mgb_plan *plan_make(struct plan_world *world, const struct mgb_graph *graph,
                           const struct plan_setup *setup);

/* Bytes over a link in the plan's traffic; 0 when it has none. */
int64_t plan_traffic(const struct mgb_plan *plan, int from, int to);
const struct mgb_device_use *plan_use(const struct mgb_plan *plan,
                                      int device); /* fails the test when there is none */
/* Index of the n-th task of that kind and phase, or -1. */
int plan_find_task(const struct mgb_plan *plan, enum mgb_task_kind kind, enum mgb_phase phase,
                   int n);
int plan_count_tasks(const struct mgb_plan *plan, enum mgb_task_kind kind, enum mgb_phase phase);

/* Compares with tests/golden/plans/<name>.txt; MGB_UPDATE_GOLDEN=1 in the environment rewrites the file. */
void plan_check_golden(const struct mgb_plan *plan, const char *name);

#endif
