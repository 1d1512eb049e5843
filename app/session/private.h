/* Inside of app/session. */
#ifndef APP_SESSION_PRIVATE_H
#define APP_SESSION_PRIVATE_H

#include "app/session/goal.h"
#include "app/session/hub.h"
#include "app/session/trace.h"
#include "app/session/worker.h"
#include "db/query.h"
#include "db/recorder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

struct mgb_hub {
    struct mgb_hub_options options;
    struct mgb_recorder *recorder; /* NULL until the first run, or when nothing is recorded */
    struct mgb_reader *reader;
    atomic_bool interrupted;
    _Atomic(struct mgb_run *) active; /* the run that steps now: read by the signal handler */
    struct script_session *sessions;  /* open ones */
    bool crowded;                     /* too many towers for the cores: told */
    char cell[200];                   /* the line of progress that a script last gave */
    const char *automatic;            /* the backend that "auto" is here; NULL: not known yet */
    struct mgb_hub_sweep {
        char *name;
        int64_t id;
        struct mgb_hub_sweep *next;
    } * sweeps;
};

/* The newest state for displays and the watchdog; written by the worker, read by the caller. */
struct script_session {
    struct mgb_hub *hub;
    struct script_session *next;
    struct session_worker *worker;
    struct mgb_run *run;
    const struct mgb_graph *graph;
    int64_t run_id, segment_id;
    int64_t began_ns; /* session clock when the run's row was made */
    bool finished;    /* the run's record is closed */
    enum mgb_outcome outcome;
    char message[512];
    struct mgb_oom oom;    /* of outcome oom */
    int64_t warmup; /* steps a segment that are flagged; of an automatic one its floor */
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
    int64_t odd_step;       /* the first whose loss is not finite; -1: none */
    double odd_loss;
    bool odd_told;
    double loss;
    int metric_count;
    double metrics[16];
    double *losses;
    int64_t loss_count, loss_capacity;
    int64_t epochs_left;       /* of the step call in progress; 0 when steps were asked */
    atomic_llong heartbeat_ns; /* when the last step ended */
    atomic_llong call_steps;   /* done in the step call in progress */
    int64_t call_asked;        /* of how many */
    int64_t source_rows;       /* of an epoch; 0: endless */
    char (*device_names)[MGB_DEVICE_NAME_MAX]; /* by topology index; ring records borrow them */
};

/* The engine's session clock. */
static inline int64_t session_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Name of a topology index, as ring records may borrow it. */
static inline const char *session_device(const struct script_session *session, int device)
{
    return session->device_names[device];
}

/* session.c: the services of one session. */
enum mgb_status mgb_session_open(void *context, struct script_session **out,
                                 const struct script_open_request *request);
void mgb_session_close(struct script_session *session);
void mgb_session_fail(struct script_session *session, const char *message);
enum mgb_status mgb_session_end(struct script_session *session);
enum mgb_status mgb_session_set(struct script_session *session, struct mgb_change *change,
                                const struct mgb_placement *placement, uint64_t fresh);
enum mgb_status mgb_session_evaluate(struct script_session *session, struct mgb_evaluation *out,
                                     const struct mgb_source *source);
struct mgb_run *mgb_session_engine(struct script_session *session);

/* critical.c: for mgb.explain */
enum mgb_status mgb_hub_find_segment(void *context, int64_t *run, int64_t *segment,
                                     const char *words);
enum mgb_status mgb_hub_critical(void *context, struct script_path *out, int64_t segment,
                                 int64_t step);
void mgb_hub_critical_free(struct script_path *path);

/* traced.c */
void mgb_session_ask_trace(struct script_session *session, int64_t first, int64_t last);

/* step.c */
enum mgb_status mgb_session_step(struct script_session *session, struct script_figures *figures,
                                 struct script_losses *losses,
                                 const struct script_step_request *request);
/* figures.c: of the segment in force. The interval and what is judged of the steps together are renewed when there are a
 * sixteenth more of them, or if `exact`. */
void mgb_session_figures(struct script_figures *out, struct script_session *session, bool exact);

/* Stores the outcome "timeout" and ends the process by the hub's `die`. */
void mgb_session_die(struct script_session *session, const char *message);

/* remark.c: "line [name]"; tells such a line unless its name is silenced. */
void mgb_remark_write(char *out, size_t size, const char *name, const char *line);
void mgb_hub_tell(const struct mgb_hub *hub, const char *name, const char *named);

/* compare.c: for mgb.compare */
enum mgb_status mgb_hub_compare(void *context, struct script_comparison *out,
                                const struct script_compare_request *request);

/* sweep.c and query.c */
enum mgb_status mgb_hub_sweep_find(void *context, bool *found, struct script_figures *out,
                                   const struct script_point *point);
enum mgb_status mgb_hub_sweep_finish(void *context, const char *sweep);
enum mgb_status mgb_hub_sweep_point(struct mgb_hub *hub, int64_t run,
                                    const struct script_point *point);
/* forecast.c and sweep_judge.c: as in services.h */
enum mgb_status mgb_hub_forecast(void *context, struct script_forecast *out,
                                 const struct script_open_request *request);
enum mgb_status mgb_hub_judge(void *context, struct script_judged *out,
                              const struct script_judge_request *requests, int count);
enum mgb_status
mgb_hub_query(void *context, const char *sql, const char *const *parameters, int parameter_count,
              bool (*row)(void *, int, const char *const *, const char *const *, const int *),
              void *row_context);
enum mgb_status mgb_hub_reader(struct mgb_hub *hub, struct mgb_reader **out);

#endif
