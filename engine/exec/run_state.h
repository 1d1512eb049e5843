/* What a run consists of. Shared by the files of engine/exec that implement <mgb/run.h>. */
#ifndef MGB_EXEC_RUN_STATE_H
#define MGB_EXEC_RUN_STATE_H

#include "engine/exec/loss_scale.h"
#include "engine/exec/play.h"
#include "engine/exec/setting.h"
#include "engine/exec/stage.h"
#include <stdatomic.h>

struct mgb_position { /* of the next batch */
    int64_t epoch, first;
};

struct mgb_run {
    const struct mgb_graph *graph;
    const struct mgb_stage *stage;
    const struct mgb_virtual *play_virtual; /* NULL: on devices */
    int64_t virtual_ns;                     /* of virtual time: now */
    const struct mgb_backend *backend;      /* NULL: in virtual time */
    struct mgb_topology topology;
    char remark[256];
    int cores;
    uint64_t seed;
    int64_t step_timeout_ns;
    bool guarded;
    atomic_bool stop;
    bool dead;  /* a device failed for good: only closing is left */
    bool stuck; /* some work never ended: not even queues can be freed */

    struct mgb_site *site; /* NULL: in virtual time */
    struct mgb_settings settings;
    struct mgb_setting *setting; /* the one in effect */
    struct mgb_placement asked;
    struct mgb_optimizer optimizer;

    struct mgb_source own_source; /* synthetic, when none was given */
    const struct mgb_source *source;
    struct mgb_prefetch *prefetch; /* NULL: made before the next step */
    struct mgb_position position;
    int slot; /* input slot of the next step */

    int64_t step, updates;
    struct mgb_loss_scale loss_scale;
    bool pending;        /* stale: the gradients of the step before are there to be applied */
    int64_t last_end_ns; /* of the step before; 0: none */
    double *metrics;
    struct mgb_device_times *times; /* by device of the topology */
    struct mgb_task_time *trace;
    int trace_capacity;
    float **gradients; /* guarded: by variable, as the last step summed them */
};

/* MGB_DEVICE once the run can only be closed. */
enum mgb_status mgb_run_usable(const struct mgb_run *run);
/* Notes what a failure means for the run; returns `status`. */
enum mgb_status mgb_run_failed(struct mgb_run *run, enum mgb_status status);

/* MGB_UNSUPPORTED in virtual time, where nothing has a value; `what` cannot be had. */
enum mgb_status mgb_run_needs_values(const struct mgb_run *run, const char *what);

/* CPU cores that this process may use. */
int mgb_run_count_cores(void);
/* Those that a run of these options divides. */
int mgb_run_options_cores(const struct mgb_run_options *options);

/* The batch at a position, and the position after it. */
struct mgb_batch_request mgb_position_batch(const struct mgb_run *run, struct mgb_position at);
struct mgb_position mgb_position_after(const struct mgb_run *run, struct mgb_position at);

/* Makes the programs that training from the present position needs. */
enum mgb_status mgb_run_prepare(struct mgb_run *run, struct mgb_setting *setting);
/* Step arenas as large as the setting's programs need, no larger. After a failure some are missing. */
enum mgb_status mgb_run_arrange_step(struct mgb_run *run, const struct mgb_setting *setting);
enum mgb_status mgb_run_arrange_lasting(struct mgb_run *run, const struct mgb_plan *plan);
/* Memory of graph input `index` in input slot `slot`. */
void *mgb_run_input(const struct mgb_run *run, int slot, int index);
/* A prefetcher over a source for the run's input slots. */
enum mgb_status mgb_run_make_prefetch(struct mgb_run *run, struct mgb_prefetch **out,
                                      const struct mgb_source *source);
void mgb_run_free_prefetch(struct mgb_run *run);

/* One entry of plan->storages for one tower: where it is now. */
struct mgb_held {
    const struct mgb_storage *storage;
    int tower;
    struct mgb_place place;
    void *address;
};
/* The next one after `*index`, `*tower` (start with 0, 0); false at the end. */
bool mgb_held_next(const struct mgb_run *run, int *index, int *tower, struct mgb_held *out);
/* The authoritative storage; false when there is none. */
bool mgb_held_find(const struct mgb_run *run, int variable, enum mgb_role role, int slot,
                   struct mgb_held *out);
/* Writes initial weights and empty slots everywhere. */
enum mgb_status mgb_run_initialise(struct mgb_run *run);

/* Scalars of a played program: losses (weighted and added) and metrics, sums over rows. */
enum mgb_status mgb_run_read_results(struct mgb_run *run, const struct mgb_program *program,
                                     double *loss, double *metrics);
/* Guarded runs keep the gradients that an update is about to use. */
enum mgb_status mgb_run_keep_gradients(void *run, const struct mgb_command *command);
/* Plays on the run's terms: guarded or not, with its deadline. */
enum mgb_status mgb_run_play(struct mgb_run *run, struct mgb_program *program,
                             const struct mgb_play *play);

/* The backend's options under a placement, and whether two differ. */
struct mgb_backend_options mgb_effective_options(const struct mgb_effective *effective);
bool mgb_options_equal(const struct mgb_backend_options *a, const struct mgb_backend_options *b);

#endif
