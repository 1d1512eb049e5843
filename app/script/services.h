/* What a script needs of its surroundings: sessions, the database, sweeps. A table of functions that app/session fills, so
 * that app/script sees neither threads nor SQLite, and its bindings can be tested against a fake.
 *
 * Why one session type for mgb.run and mgb.session: a run is a session with one segment. Why `record` is not here: what
 * is stored, when and how is the session's matter; a script only ever waits for it (step returns after the commit).
 *
 * Called from the script's thread only. Nothing here raises; statuses and messages as everywhere. */
#ifndef APP_SCRIPT_SERVICES_H
#define APP_SCRIPT_SERVICES_H

#include "app/script/services_sweep.h"

#include <mgb/run.h>

struct script_session; /* opaque; app/session's */

#define MGB_WARMUP_AUTO (-1)

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
    const char *machine; /* NULL or a machine file */
    int64_t warmup; /* steps at the start of every segment that train and are logged, but are not
                       timed; MGB_WARMUP_AUTO: the rule of db/steady.h finds them */
    double target_noise; /* see script_step_request.whole; a fraction of the median; 0: none */
    int64_t max_time_ns; /* likewise, since the first step; 0: none */
    const struct script_point *point; /* of a sweep, or NULL */
    bool expect_oom;
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
    const char *
        stop_reason; /* of a run: "steps", "epochs", "noise", "time", "stopped"; static; NULL: goes on */
    double target_noise, max_time_ms; /* what was asked; 0: nothing */
    int64_t outliers,
        outliers_far; /* timed steps beyond 1.5 interquartile ranges, and of these beyond 3; -1: not known */
    double worst_ratio; /* of the longest timed step, over the median */
    double unaccounted_ms,
        unaccounted_share; /* between the timed steps: of first start to last end */
    double first_ratio; /* of the segment's first step, over the median; set when it is warm-up */
    const char *first_phase; /* what grew most in it; static, NULL: not known */
    int64_t ring_waits;      /* how often the record kept a step of this segment waiting */
    bool log_complete;       /* false: the store failed, what it said is in log_message */
    char log_message[256];
};

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
    const char *
        from; /* of a copy between devices: where its bytes leave; "" of an all-reduce; else NULL */
    int64_t bytes;
};
struct script_path {
    int count;
    struct script_part *parts; /* in order, without holes */
    int64_t wall_ns;           /* what they add up to */
    bool waits_known; /* false: an older version stored it, only the order of queues counts */
    void *memory;     /* owns it all */
};

struct script_services {
    void *context;
    bool restarted; /* this process took over after a crash: sweeps go on where it happened */

    /* MGB_OOM: the placement does not fit; the run row says so, nothing is held. */
    enum mgb_status (*open)(void *context, struct script_session **out,
                            const struct script_open_request *request);
    /* Ends the run (outcome "ok" unless something failed before) and frees everything. */
    void (*close)(struct script_session *session);
    /* The script failed while this was open: the run ends with outcome "error" and this message, unless something befell it
     * or it ended before. */
    void (*fail)(struct script_session *session, const char *message);
    /* Ends the run's record but keeps weights for evaluate, save, digest and check: what mgb.run does at its end. */
    enum mgb_status (*finish)(struct script_session *session);

    /* Returns after the commit of every step it reports. MGB_INTERRUPTED keeps what was done. */
    enum mgb_status (*step)(struct script_session *session, struct script_figures *figures,
                            struct script_losses *losses,
                            const struct script_step_request *request);
    /* Timed steps `first` to `last` of the segment in force, from 0, are to be traced when they come. */
    void (*trace)(struct script_session *session, int64_t first, int64_t last);
    /* One new segment if anything changed; refused: the old one stays in force. */
    enum mgb_status (*set)(struct script_session *session, struct mgb_change *change,
                           const struct mgb_placement *placement, uint64_t fresh);
    /* The engine's run, for what only reads: plan, check, digest, memory, effective placement. Borrowed; valid between
     * calls, because the session's thread is idle then. */
    struct mgb_run *(*engine)(struct script_session *session);
    enum mgb_status (*evaluate)(struct script_session *session, struct mgb_evaluation *out,
                                const struct mgb_source *source);
    /* The newest figures (after step): of the segment in force. */
    enum mgb_status (*figures)(struct script_session *session, struct script_figures *out);

    /* Sweeps: is this point stored as done (finished or out of memory; crashed too when this process is a restart after a
     * crash)? Gives its figures. */
    enum mgb_status (*sweep_find)(void *context, bool *found, struct script_figures *out,
                                  const struct script_point *point);
    enum mgb_status (*sweep_finish)(void *context, const char *sweep);
    enum script_sweep_mode sweep_mode;
    /* NULL: nobody wants to know. */
    void (*cell)(void *context, const struct script_cell *cell);
    /* What opening `request` would come to; fails only where a run could not even be looked at. NULL with sessions that
     * are not the program's own. */
    enum mgb_status (*forecast)(void *context, struct script_forecast *out,
                                const struct script_open_request *request);
    /* Judges cells together (Holm over all with a base). NULL: no database. */
    enum mgb_status (*judge)(void *context, struct script_judged *out,
                             const struct script_judge_request *requests, int count);
    /* One line of progress ("cell 3 of 12, gpus=2 batch=32, 41 s left"); shown on a terminal's stderr only. */
    void (*progress)(void *context, const char *line);
    /* A remark for people about what they may not have meant, by its name in mgb_remarks (app/session/hub.h), which may be
     * silenced; NULL: nobody wants one. */
    void (*remark)(void *context, const char *name, const char *line);
    /* The script is a sweep and stands at `point` ("sweep placement, point 12 of 48"): after a crash it may be started
     * again from the top. NULL: no longer. */
    void (*restartable)(void *context, const char *point);

    /* The one segment that `words` name ("12", "last", see db/select.h), and the critical path of a traced step. NULL: no
     * database. */
    enum mgb_status (*find_segment)(void *context, int64_t *run, int64_t *segment,
                                    const char *words);
    enum mgb_status (*critical)(void *context, struct script_path *out, int64_t segment,
                                int64_t step);
    void (*critical_free)(struct script_path *path);

    /* Read-only SQL; `row` is called for each row with `columns` texts (NULL for NULL) and types. */
    enum mgb_status (*query)(
        void *context, const char *sql, const char *const *parameters, int parameter_count,
        bool (*row)(void *row_context, int columns, const char *const *names,
                    const char *const *values,
                    const int *types /* SQLite's: 1 int, 2 real, 3 text, 5 null */),
        void *row_context);
    /* Is b faster than a? MGB_INVALID, MGB_MISSING: what words name is not there. */
    enum mgb_status (*compare)(void *context, struct script_comparison *out,
                               const struct script_compare_request *request);
    /* True when Ctrl-C was pressed: loops of the script's own end early. */
    bool (*interrupted)(void *context);
};

#endif
