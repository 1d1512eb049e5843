/* What a script asks of a session, and what it learns of it: the structs of services.h that are about one run. */
#ifndef APP_SCRIPT_SERVICES_RUN_H
#define APP_SCRIPT_SERVICES_RUN_H

#include <mgb/checkpoint.h>
#include <mgb/machine.h>
#include <mgb/run.h>

struct script_point; /* services_sweep.h */

#define MGB_WARMUP_AUTO (-1)

/* A checkpoint to be read. `loaded` receives what came of it and is the caller's to be done with; `new_segment` whether one
 * began (NULL: nobody asks). */
struct script_load {
    const char *path;
    struct mgb_checkpoint_options options;
    struct mgb_checkpoint_loaded *loaded;
    bool *new_segment;
};

struct script_open_request {
    const struct mgb_graph *graph; /* borrowed until close */
    const char *model;             /* name of the model */
    const char *model_options;     /* JSON object, keys sorted; "{}" */
    const char *data;              /* description; "" for the default */
    struct mgb_source *source;     /* borrowed until close; NULL: synthetic */
    struct mgb_placement placement;
    uint64_t fresh; /* options given in this call */
    struct mgb_optimizer optimizer;
    uint64_t seed;
    const char *backend; /* "auto", "host", "cuda", "sim" */
    const struct mgb_machine
        *machine; /* that is simulated, borrowed until close; NULL: none was named */
    /* Steps at the start of every segment that train and are logged, but are not timed; MGB_WARMUP_AUTO: the rule of
     * db/steady.h finds them. */
    int64_t warmup;
    double target_noise; /* see script_step_request.whole; a fraction of the median; 0: none */
    int64_t max_time_ns; /* likewise, since the first step; 0: none */
    const struct script_point *point; /* of a sweep, or NULL */
    const char *tag;                  /* the run gets it; NULL: none */
    bool expect_oom;
    const struct script_load *load; /* what the run begins with, or NULL: initial values */
    int64_t *refused_run; /* NULL, or receives the id of the row that a refused run left; 0: none */
};

/* The figures of one segment so far (timed steps only), as r.step_ms and friends show them. Unknown numbers are NaN. */
struct script_figures {
    int64_t run_id, segment_id;  /* 0 when nothing is recorded */
    int64_t steps, warmup_steps; /* timed, and before them */
    double median_ms, p95_ms, mean_ms, ci95_low_ms, ci95_high_ms;
    double examples_per_s; /* examples / seconds over the timed steps */
    double loss;           /* of the last step; NaN before the first */
    int metric_count;
    double metrics[16];     /* of the last step */
    const char *outcome;    /* "ok", "oom", "error", "interrupted", "timeout"; static */
    double noise;           /* half width of the interval over the median */
    int steady;             /* 1, 0, or -1: no rule judged it */
    const char *not_steady; /* why steady is 0; static, else NULL */
    /* Of a run: "steps", "epochs", "noise", "time", "stopped"; static; NULL: goes on. */
    const char *stop_reason;
    double target_noise, max_time_ms; /* what was asked; 0: nothing */
    /* Timed steps beyond 1.5 interquartile ranges, and of these beyond 3; -1: not known. */
    int64_t outliers, outliers_far;
    double worst_ratio;                       /* of the longest timed step, over the median */
    double unaccounted_ms, unaccounted_share; /* between timed steps: of first start to last end */
    double first_ratio; /* of the segment's first step, over the median; set when it is warm-up */
    const char *first_phase; /* what grew most in it; static, NULL: not known */
    int64_t ring_waits;      /* how often the record kept a step of this segment waiting */
    bool log_complete;       /* false: the store failed, what it said is in log_message */
    char log_message[256];
};

/* Of a segment without a step: outcome "ok", all that can be unknown is, the rest 0. */
struct script_figures mgb_script_figures_unknown(void);

struct script_step_request {
    int64_t steps;  /* exactly so many, those of the segment's warm-up included; 0 with epochs */
    int64_t epochs; /* until so many epochs have ended */
    /* A whole run: `steps` are the least number, those of a warm-up of given length included. Goes on until the automatic
     * warm-up has ended and the target noise is met, or a bound is: max_time_ns, or four times the steps and the warm-up's
     * floor. Figures say what ended it. With `lr` it returns when the rates are used up, without a stop_reason when it
     * should go on. */
    bool whole;
    int64_t lr_count; /* with whole */
    const float *lr;  /* a learning rate for each of `steps` steps, or NULL */
    int trace_every;  /* 0: none */
    bool yields;      /* mgb_hub_yield ends it early, with what was done by then */
};

/* Losses of the steps of this call, warm-up included, in order; owned by the session until the next call. */
struct script_losses {
    int64_t count;
    const double *at;
};

/* The critical path of a traced step; see db/critical.h. */
struct script_part {
    int64_t begin_ns, end_ns; /* from the step's start */
    bool gap; /* nothing ran that the rest waited for; what follows is of the task that came next */
    const char *phase, *kind, *name, *device; /* NULL in the gap at the step's end */
    /* Of a copy between devices: where its bytes leave; "" of an all-reduce; else NULL. */
    const char *from;
    int64_t bytes;
};
struct script_path {
    int count;
    struct script_part *parts; /* in order, without holes */
    int64_t wall_ns;           /* what they add up to */
    bool waits_known; /* false: an older version stored it, only the order of queues counts */
    void *memory;     /* owns it all */
};

#endif
