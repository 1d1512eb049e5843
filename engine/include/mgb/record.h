/* Everything that is recorded about a run, as plain structs: the border between those who measure (executor, simulator,
 * session) and the one who stores (db/). Neither needs to know the other; a struct here is a row of db/schema.sql, which
 * documents each column. This header knows no SQLite and no engine type.
 *
 * Unknown is not zero. What may be unknown or without meaning is a struct mgb_maybe_int or mgb_maybe_real whose zeroed
 * form says "unknown", a text that may be NULL, or is named as nullable. So `{0}` plus the fields one knows is always
 * right, and unknown becomes NULL in the store.
 *
 * Two speeds. What comes every step (record_step.h) is of fixed size, is copied through the recorder's ring and
 * costs the step thread well under a microsecond. What is rare is passed by pointer to the recorder's functions, which
 * return when it is stored.
 *
 * Texts are borrowed. Texts of rare records are read before the function returns. Texts inside ring records must stay
 * valid until the segment is finished or a flush that was begun after the push has returned; device, queue and operator
 * names live in topology and plan, which do.
 *
 * Times named start are nanoseconds on the session clock since the run began; durations are nanoseconds; sizes are bytes;
 * times named *_ms are UTC milliseconds since 1970. */
#ifndef MGB_RECORD_H
#define MGB_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <mgb/phase.h>
#include <mgb/record_held.h>
#include <mgb/record_step.h>

enum mgb_outcome {
    MGB_OUTCOME_RUNNING,
    MGB_OUTCOME_OK,
    MGB_OUTCOME_OOM,
    MGB_OUTCOME_ERROR,
    MGB_OUTCOME_INTERRUPTED,
    MGB_OUTCOME_CRASHED, /* written by whoever finds the run of a dead process, or by a process that must end by a lost GPU */
    MGB_OUTCOME_TIMEOUT, /* written by the watchdog */
};
/* "running", "ok", ...; never NULL. */
const char *mgb_outcome_name(enum mgb_outcome outcome);

/* ---- what it ran on ---- */

struct mgb_record_device {
    const char *name;                  /* "/gpu:0" */
    const char *kind;                  /* "cpu", "cuda", "sim" */
    const char *product;               /* "NVIDIA H100 80GB HBM3" */
    const char *uuid;                  /* NULL unless the vendor gives one */
    const char *pci;                   /* "0000:65:00.0" */
    const char *compute_capability;    /* "9.0" */
    const char *driver_version;        /* of this device */
    struct mgb_maybe_int memory_bytes; /* physical */
    struct mgb_maybe_int cores;        /* CPU cores or multiprocessors */
    struct mgb_maybe_real
        memory_gbps; /* measured by the start-up probe, or from the machine file; 1e9 bytes/s */
    struct mgb_maybe_real f32_tflops;  /* likewise */
    struct mgb_maybe_int driver_index; /* as the driver numbers GPUs */
    struct mgb_maybe_int clock_mhz;    /* the highest of its compute units */
};

struct mgb_record_link {
    const char *from; /* device or switch name */
    const char *to;
    const char *kind;                 /* "memory", "pcie", "nvlink", "network" */
    struct mgb_maybe_int peer_access; /* 0 or 1 */
    struct mgb_maybe_real
        gbps; /* one way, measured by the start-up probe, or from the machine file */
    struct mgb_maybe_int latency_ns;
    const char
        *peer_verdict; /* "good", "slow", "bad", "refused"; NULL: peer access was not tried */
    struct mgb_maybe_real peer_gbps, staged_gbps; /* with it and by way of the host */
    struct mgb_maybe_int peer_latency_ns, staged_latency_ns;
};

/* Found again by `key`, so that runs of one machine share a row; newer readings of devices and links replace older. */
struct mgb_record_machine {
    const char *
        key; /* what makes it the same machine: a digest of its description, without versions or probes */
    const char *name; /* host name, or the machine file's name */
    bool simulated;
    const char *source; /* of a machine file: where its figures come from */
    const char *cpu;
    const char *os;
    const char *kernel;
    struct mgb_maybe_int cores, threads;
    struct mgb_maybe_int memory_bytes;
    const struct mgb_record_device *devices;
    int device_count;
    const struct mgb_record_link *links;
    int link_count;
};

/* Found again by name, options and graph digest. */
struct mgb_record_model {
    const char *name;
    const char *options; /* JSON object, keys sorted; "{}" if none */
    const char *graph_digest;
    struct mgb_maybe_int parameters;
    struct mgb_maybe_int forward_flops; /* an example */
};

/* ---- run and segment ---- */

/* Process identity, host name, start time and uuid are filled in by the store. */
struct mgb_record_run {
    const struct mgb_record_machine *machine;
    const struct mgb_record_model *model;
    const char *backend; /* "host", "cuda", "sim" */
    bool simulated;
    struct mgb_maybe_int seed;
    const char *script; /* path, or NULL for a run without one */
    const char *script_digest;
    const char *command; /* what repeats it, quoted for a shell */
    const char *program_version;
    const char *
        versions; /* JSON object: driver, CUDA, cuDNN, NCCL, oneDNN, compiler; what this run really used */
    const char *environment; /* JSON object: variables and settings that can change the figures */
    const char *data;        /* what it trained on, as a short text */
};

/* A placement, as asked or as in effect. NULL or unknown: not asked for, or without meaning under the strategy. */
struct mgb_record_placement {
    const char *strategy;
    const char *like;     /* asked only */
    const char *merge_at; /* asked only: short for the next three */
    struct mgb_maybe_int gpus;
    const char *gpu_list;   /* JSON array of device names in merge order */
    const char *batch_mode; /* "weak": batch per GPU was given; "strong": the global batch */
    struct mgb_maybe_int batch_per_gpu, global_batch;
    struct mgb_maybe_int cpu_relocation, cpu_merge; /* 0 or 1 */
    const char *weights_at, *join_at, *loss_at, *sum_at, *update_at;
    const char *relocation;
    const char *allreduce;
    struct mgb_maybe_real bucket_mib;
    struct mgb_maybe_int overlap, staged, stale; /* 0 or 1 */
    const char *wire_type;
    const char *peer_access, *pinned, *graph; /* "auto", "true", "false" */
    const char *bn;
    const char *precision;
    const char *recompute;
    struct mgb_maybe_int logical; /* 0 or 1 */
    struct mgb_maybe_int gpu_memory_bytes;
    struct mgb_maybe_int threads; /* CPU threads a device */
    struct mgb_maybe_int hosts;
};

struct mgb_record_segment {
    int64_t run;
    struct mgb_record_placement asked;
    struct mgb_record_placement effective;
    const char *gave_way;    /* what of the asked could not be had and why, a line each */
    const char *tower_rows;  /* JSON array: rows a tower, in tower order */
    const char *warmup_rule; /* "fixed", "auto" */
    struct mgb_maybe_int warmup_steps;
    const char *optimizer; /* "sgd(lr=0.01, momentum=0.9)" */
    const char *plan_digest;
    struct mgb_maybe_int oversubscribed; /* 0 or 1: the towers' threads are more than the cores */
    int64_t first_step;                  /* index in the run of its first step */
    struct mgb_maybe_real target_noise;  /* fraction to stop at; unknown: none was asked for */
    struct mgb_maybe_int max_time_ns;    /* limit on its steps; unknown: none */
};

struct mgb_record_segment_end {
    enum mgb_outcome outcome;    /* not RUNNING */
    const char *message;         /* NULL if ok */
    struct mgb_maybe_int steady; /* 0 or 1, of who knows better; unknown: judged by the steps */
    struct mgb_maybe_int warmup_steps; /* how many there were, if the rule found it out meanwhile */
    const char *digest;                /* of weights and slots; NULL: not known */
    const char *oom_device;            /* of MGB_OUTCOME_OOM; NULL: not known, nor what follows */
    int64_t oom_needed_bytes, oom_available_bytes;
    const char *stop_reason; /* "steps", "epochs", "noise", "time", "stopped"; NULL: not known */
    struct mgb_maybe_int ring_waits; /* times a step waited for the recorder */
    struct mgb_maybe_int
        replicas_agree; /* 0 or 1: all copies of the weights alike; unknown: not compared */
    bool
        auto_warmup; /* the store finds the warm-up by rule and sets the steps' flags; wins over warmup_steps */
};

/* The boiled-down figures of the timed (not warm-up) steps; computed by the store from the step rows. With no timed step
 * only the counts are set. */
struct mgb_record_segment_stat {
    int64_t segment;
    int64_t timed_steps, warmup_steps;
    int64_t examples; /* of the timed steps */
    int64_t timed_ns; /* sum of their wall times */
    struct mgb_maybe_int median_ns, p5_ns, p95_ns, mean_ns, min_ns, max_ns;
    struct mgb_maybe_int p99_ns;                    /* from 100 timed steps on */
    struct mgb_maybe_int ci95_low_ns, ci95_high_ns; /* of the median, from 20 timed steps on */
    const char *interval_method;                    /* static text; NULL without an interval */
    struct mgb_maybe_int interval_seed;             /* of the resampling */
    struct mgb_maybe_real noise;                    /* half width of the interval over the median */
    struct mgb_maybe_int steady;                    /* unknown: too few steps to judge */
    const char *not_steady;                         /* why steady is 0, static text; else NULL */
    struct mgb_maybe_real
        drift; /* second half of the timed steps over the first, medians, less 1 */
    struct mgb_maybe_int outliers_mild, outliers_far; /* timed steps beyond 1.5 and 3 IQR */
    struct mgb_maybe_int
        unaccounted_ns; /* time between the timed steps: first start to last end, less timed_ns */
    struct mgb_maybe_real loss_last;
};

/* ---- sweeps; notes, tags and baselines are plain arguments of the store ---- */

struct mgb_record_sweep {
    const char *name;
    const char *script;
    const char *script_digest;
    const char *settings; /* JSON: grid, repeats, what is common to all points */
    struct mgb_maybe_int order_seed;
};

/* A point is deleted with the run that measured it, so that resuming measures it again. */
struct mgb_record_sweep_point {
    int64_t sweep;
    int64_t run;
    int64_t point;               /* index in grid order, from 0 */
    int64_t repeat;              /* from 0 */
    int64_t position;            /* in the order in which they ran, from 0 */
    const char *settings;        /* JSON object of the grid's values */
    const char *settings_digest; /* of everything that makes it the same point */
};

#endif
