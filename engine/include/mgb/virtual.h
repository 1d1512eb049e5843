/* What plays plans in virtual time for a run that has no backend: no arithmetic, no memory, only times. A run is given one
 * (struct mgb_run_options); the simulator is what there is. */
#ifndef MGB_VIRTUAL_H
#define MGB_VIRTUAL_H

#include <mgb/plan.h>

struct mgb_device_times; /* mgb/run.h */
struct mgb_task_time;

struct mgb_virtual_request {
    const struct mgb_plan *plan;
    const struct mgb_effective *placement; /* peer access, pinned, graph */
    int64_t step;                          /* over the whole run: key of jitter */
    bool trace;                            /* wants tasks */
};

struct mgb_virtual_step { /* valid until the next call */
    int64_t wall_ns;
    const struct mgb_device_times *devices; /* by index into plan->uses */
    double
        wasted_share; /* of forward and backward, what was done by replicas that the step did not wait for */
    /* 0 unless traced; of more than a million tasks those of one tower of each kind, and what happens once. */
    int task_count;
    const struct mgb_task_time *tasks;
};

struct mgb_virtual {
    void *context;
    const char *name;                    /* "sim" */
    const struct mgb_topology *topology; /* borrowed */
    const struct mgb_fact_source *facts; /* borrowed */
    int cores;                           /* of the simulated host */
    /* Pure function of its request and the machine: the same one gives the same times. Train, evaluation and move plans. */
    enum mgb_status (*play)(void *context, struct mgb_virtual_step *out,
                            const struct mgb_virtual_request *request);
    /* The plan is about to be freed: what was kept of it goes. */
    void (*forget)(void *context, const struct mgb_plan *plan);
};

#endif
