/* A model in training under a placement that can change between steps. This is what app/session drives on a thread of
 * its own; it knows no Lua, no database and no screen.
 *
 * All calls come from one thread, except mgb_run_stop. A refused call leaves the run as it was. */
#ifndef MGB_RUN_H
#define MGB_RUN_H

#include <mgb/check.h>
#include <mgb/data.h>
#include <mgb/plan.h>

struct mgb_run;
struct mgb_backend; /* engine/backend/backend.h */
struct mgb_virtual; /* mgb/virtual.h */

struct mgb_run_options {
    const struct mgb_graph *graph; /* borrowed, outlives the run */
    const char *backend;           /* "auto", "host", "cuda" */
    struct mgb_placement placement;
    uint64_t fresh; /* options given in this call, for mgb_placement_resolve */
    struct mgb_optimizer optimizer;
    uint64_t seed;
    struct mgb_source *source; /* borrowed, outlives the run; NULL: mgb_source_random */
    int cores;                 /* CPU cores to divide; 0: those this process may use */
    int64_t step_timeout_ns;   /* a step that takes longer is a stuck device; 0: none */
    bool guarded; /* tests: task by task, every arena a task does not name inaccessible */
    const struct mgb_backend *play_on; /* tests: this backend instead of a named one; else NULL */
    /* Borrowed, outlives the run; NULL: none. Steps are played by it in virtual time and nothing is computed: start_ns counts
     * virtual time from 0, losses are NaN, there are no metrics, values are MGB_UNSUPPORTED, the cost of a change is the
     * virtual time of its copies. `backend`, `play_on`, `guarded` and `step_timeout_ns` do not matter. */
    const struct mgb_virtual *play_virtual;
};

enum mgb_status mgb_run_open(struct mgb_run **out, const struct mgb_run_options *options);
void mgb_run_close(struct mgb_run *run);

/* Times of one device in one step, nanoseconds. busy: some queue of the device worked in that phase. exposed: the
 * partition of the step's wall time by what the device was doing that nothing of higher rank hid (forward, backward,
 * update, sum, join, fetch, input, then wait); sums to wall exactly. */
struct mgb_device_times {
    int device;
    int64_t finish_ns; /* end of its tower's last task, from the step's start; 0 without a tower */
    int64_t busy[MGB_PHASE_COUNT], exposed[MGB_PHASE_COUNT];
};

struct mgb_task_time { /* traced steps only */
    int task, tower, device, from;
    int64_t start_ns, duration_ns; /* from the step's start */
};

struct mgb_step_result {
    int64_t index; /* over the whole run, from 0 */
    int64_t epoch;
    bool epoch_end; /* the last rows of the epoch were in this step */
    int64_t start_ns,
        wall_ns; /* session clock; from the request for the batch to the last result */
    int64_t
        gap_ns; /* from the end of the step before (in this call or an earlier one) to this start */
    int rows;
    double loss; /* mean over the global batch, losses weighted and added */
    int metric_count;
    const double *metrics; /* means, in the graph's order */
    int device_count;
    const struct mgb_device_times *devices;
    int task_count; /* 0 unless traced */
    const struct mgb_task_time *tasks;
    const struct mgb_plan *plan; /* that was played: the full step's, or the remainder's */
    float lr;
    float loss_scale; /* of f16: that of this step; 0: none */
    bool skipped;     /* of f16: gradients were not finite, weights and slots stayed as they were */
};

struct mgb_step_sink {
    void *context;
    /* After every step; false stops after it (as mgb_run_stop). The result is valid during the call. */
    bool (*step)(void *context, const struct mgb_step_result *result);
};

struct mgb_step_request {
    int64_t steps;    /* at most this many */
    bool whole_epoch; /* or until the epoch ends */
    const float *lr;  /* steps of them, or NULL: the optimizer's lr; decay still applies */
    int trace_every;  /* 0: none; n: every n-th step is traced */
};
/* Runs steps; *done counts the finished ones even on failure. MGB_INTERRUPTED after mgb_run_stop. After a failure that
 * is not sticky the weights are those before the failed step, and the run can go on. With stale = true the first step, and
 * the first one after a failure, a change of placement or mgb_run_write, applies no gradients (and counts no update). */
enum mgb_status mgb_run_step(struct mgb_run *run, int64_t *done,
                             const struct mgb_step_request *request,
                             const struct mgb_step_sink *sink);
/* From any thread or signal handler: the current step ends, then mgb_run_step returns. */
void mgb_run_stop(struct mgb_run *run);
void mgb_run_clear_stop(struct mgb_run *run);

/* What a change cost. */
struct mgb_change {
    bool changed; /* false: the effective placement is the same; no new segment is due */
    int64_t plan_ns, move_ns, total_ns;
    int64_t moved_bytes;    /* between devices */
    int64_t copied_bytes;   /* all bytes the move plan copied */
    bool gradients_dropped; /* stale: those of the last step, not yet applied, are gone */
};
/* Takes effect now (between steps): plans, admits, moves weights and slots, frees what the old placement held. */
enum mgb_status mgb_run_set(struct mgb_run *run, struct mgb_change *change,
                            const struct mgb_placement *placement, uint64_t fresh);
enum mgb_status mgb_run_set_optimizer(struct mgb_run *run, const struct mgb_optimizer *optimizer);

const struct mgb_placement *mgb_run_placement(const struct mgb_run *run);
const struct mgb_effective *mgb_run_effective(const struct mgb_run *run);
const struct mgb_plan *mgb_run_plan(const struct mgb_run *run); /* of the full step */
const struct mgb_topology *mgb_run_topology(const struct mgb_run *run);
const char *mgb_run_backend(const struct mgb_run *run); /* "host", "cuda" or "sim" */
const char *mgb_run_remark(const struct mgb_run *run);  /* why this backend; "" */
int64_t mgb_run_step_index(const struct mgb_run *run);  /* steps done */
int64_t mgb_run_epoch(const struct mgb_run *run);

struct mgb_evaluation {
    int64_t rows;
    double loss;
    int metric_count;
    double metrics[16];
};
/* Every row of `source` once, no update, dropout off, same devices; the training position is not disturbed. */
enum mgb_status mgb_run_evaluate(struct mgb_run *run, struct mgb_evaluation *out,
                                 const struct mgb_source *source);

/* Digest of master weights and slots in variable order, independent of placement. */
enum mgb_status mgb_run_digest(struct mgb_run *run, uint64_t *digest);
/* Master values, count floats; slot -1: the weight, else optimizer slot. */
enum mgb_status mgb_run_read(struct mgb_run *run, float *out, int variable, int slot);
enum mgb_status mgb_run_write(struct mgb_run *run, const float *values, int variable, int slot);
/* Whether a variable has such a slot now: frozen ones have none; another tower's own copy is only there with that tower. */
bool mgb_run_has(const struct mgb_run *run, int variable, int slot);

/* How far training has come: what a run goes on from, beside weights and slots. */
struct mgb_progress {
    int64_t step, updates; /* done; they differ under stale */
    int64_t epoch, row;    /* of the next batch */
    int64_t rows;          /* of an epoch; 0: endless */
    uint64_t seed;         /* of data order, dropout and initial values */
    float loss_scale;      /* of f16, a power of two; 0: none yet */
    int32_t scale_steps;   /* good ones since it changed */
};
struct mgb_progress mgb_run_progress(const struct mgb_run *run);
/* Between steps. Seed and rows are the run's own: in data of another size the epoch begins anew. */
enum mgb_status mgb_run_set_progress(struct mgb_run *run, const struct mgb_progress *progress);
const struct mgb_optimizer *mgb_run_optimizer(const struct mgb_run *run);
/* The mean gradient of a variable as the last step summed it; a test hook: only when the run was opened guarded. */
enum mgb_status mgb_run_read_gradient(struct mgb_run *run, float *out, int variable);

/* The check of the plan, and in value: every replica equal to its master (MGB_CORRUPT names the first that is not). */
enum mgb_status mgb_run_check(struct mgb_run *run, struct mgb_check *out);

/* Bytes held now, a device of the topology; 0 for devices not in use. `peak`: high-water mark by canaries; -1 in virtual time,
 * where `held` is as planned. */
struct mgb_memory_use {
    int device;
    int64_t planned_bytes, held_bytes, measured_peak_bytes;
};
enum mgb_status mgb_run_memory(struct mgb_run *run, struct mgb_memory_use *out, int capacity,
                               int *count);

/* What one core of the CPU devices reaches at best in f32 (products of matrices in its caches), 1e12 floating point operations
 * a second, a multiply-add being 2. MGB_UNSUPPORTED: the backend has no such devices. Between steps only. */
enum mgb_status mgb_run_measure_peak(struct mgb_run *run, double *tflops, int64_t budget_ns);

/* Measures links (from and to are given; gbps and latency_us are filled in) with copies of 16 MiB and of 64 bytes on
 * queues and arenas of their own, until `budget_ns` is over; *measured: so many of them, from the first on. A link whose
 * devices have no memory left for it stays 0. Between steps only. */
enum mgb_status mgb_run_measure_links(struct mgb_run *run, struct mgb_link *links, int count,
                                      int64_t budget_ns, int *measured);

/* Tries peer access along a link if that was not done yet, and fills in what it showed; leaves alone what is not known.
 * Between steps only. */
enum mgb_status mgb_run_path(struct mgb_run *run, struct mgb_link *link);

/* Versions of the libraries and drivers behind a backend ("host", "cuda") as members of a JSON object, "" when it knows
 * none. MGB_MISSING as for a run on it. */
enum mgb_status mgb_backend_versions(char *out, size_t size, const char *backend);

/* Whether a fault has cost this process its GPUs for good: only a new process can go on. */
bool mgb_backend_lost(void);

/* What the sensors of a device of that backend say now; any thread, one at a time; may take seconds on a driver in trouble.
 * MGB_UNSUPPORTED: it has none, or they cannot be read. */
enum mgb_status mgb_backend_sense(struct mgb_sensed *out, const char *backend,
                                  const struct mgb_device *device);

/* Where the CUDA plugin lies, without loading it. MGB_MISSING: nowhere; the message tells where it was looked for. */
enum mgb_status mgb_backend_plugin_find(char *out, size_t size);

#endif
