/* Inside of app/session. */
#ifndef APP_SESSION_PRIVATE_H
#define APP_SESSION_PRIVATE_H

#include "app/session/calls.h"
#include "app/session/clock.h"
#include "app/session/goal.h"
#include "app/session/hub.h"
#include "app/session/sim.h"
#include "app/session/trace.h"
#include "app/session/worker.h"
#include "db/query.h"
#include "db/recorder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

struct mgb_hub {
    struct mgb_hub_options options;
    /* NULL until the first run, or when nothing is recorded; read by whoever seals it */
    _Atomic(struct mgb_recorder *) recorder;
    struct mgb_reader *reader;
    atomic_bool interrupted, cut, yields;
    _Atomic(struct mgb_run *) active; /* the run that steps now: read by the signal handler */
    struct script_session *sessions;  /* open ones */
    bool crowded;                     /* too many towers for the cores: told */
    char file_warning[256];           /* what was told last of the results file */
    bool stop_told;                   /* that recording has stopped */
    bool enter_refused;               /* points found done cannot be entered */
    bool held;                        /* the results file, for a sweep */
    char cell[200];                   /* the line of progress that a script last gave */
    const char *automatic;            /* the backend that "auto" is here; NULL: not known yet */
    struct mgb_hub_sweep {
        char *name, *settings; /* owned: a definition */
        int64_t id;            /* 0: not stored */
        struct mgb_hub_sweep *next;
    } * sweeps;
};

/* The newest state for displays and the watchdog; written by the worker, read by the caller. */
struct script_session {
    struct mgb_hub *hub;
    struct script_session *next;
    struct session_worker *worker;
    struct session_sensors *sensors; /* NULL: the devices have none */
    bool unlike_told;                /* of GPUs */
    int path_count,
        paths_told[16 * 15]; /* pairs of GPUs whose way was tried and told, from << 16 | to */
    struct mgb_run *run;
    struct mgb_sim *sim; /* that plays the run; NULL: it is on devices */
    const struct mgb_graph *graph;
    int64_t run_id, segment_id;
    int64_t began_ns; /* session clock when the run's row was made; 0 of virtual time */
    bool finished;    /* the run's record is closed */
    enum mgb_outcome outcome;
    char message[512];
    struct mgb_oom oom; /* of outcome oom */
    int64_t warmup;     /* steps a segment that are flagged; of an automatic one its floor */
    bool automatic;
    int64_t segment_steps; /* done in this segment */
    struct session_series series;
    struct session_judgement { /* of the series when it had `steps`; renewed as it grows */
        size_t steps;
        struct mgb_record_segment_stat stat;
    } judged;
    struct session_goal goal; /* of a whole run */
    uint64_t ring_waits;      /* of the recorder when the segment began */
    struct session_trace trace;
    struct session_tower { /* of the segment */
        bool there;
        int rows;
        int64_t forward_ns; /* busy in forward, all timed steps */
    } * towers;             /* by topology index */
    bool crowded;           /* noted that towers share cores */
    int one_row;            /* towers with one row, noted */
    int64_t odd_step;       /* the first whose loss is not finite; -1: none */
    double odd_loss;
    int64_t
        skipped; /* steps of the segment that changed no weights: gradients of f16 were not finite */
    float loss_scale; /* of the newest step; 0: none */
    bool odd_told;
    double loss;
    int metric_count;
    double metrics[16];
    double *losses;
    int64_t loss_count, loss_capacity;
    int64_t epochs_left;       /* of the step call in progress; 0 when steps were asked */
    atomic_llong heartbeat_ns; /* when the last step ended */
    int64_t watched_ns;        /* when the watchdog last let go of the thread that waits */
    atomic_llong call_steps;   /* done in the step call in progress */
    int64_t call_asked;        /* of how many */
    bool call_yields;          /* it may end before */
    int64_t source_rows;       /* of an epoch; 0: endless */
    char (*device_names)[MGB_DEVICE_NAME_MAX]; /* by topology index; ring records borrow them */
};

/* Name of a topology index, as ring records may borrow it. */
static inline const char *session_device(const struct script_session *session, int device)
{
    return session->device_names[device];
}

#endif
