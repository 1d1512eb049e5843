/* A session: a model in training under a placement that changes, on a worker thread, with its record. */
#include "app/session/checkpoint.h"
#include "app/session/preview.h"
#include "app/session/rows.h"
#include "app/session/sensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct open_work {
    struct script_session *session;
    const struct mgb_run_options *options;
};

static enum mgb_status run_open(void *argument)
{
    struct open_work *work = argument;
    return mgb_run_open(&work->session->run, work->options);
}

static enum mgb_status run_close(void *argument)
{
    mgb_run_close(argument);
    return MGB_OK;
}

static enum mgb_status names_make(struct script_session *session)
{
    const struct mgb_topology *topology = mgb_run_topology(session->run);
    session->device_names = calloc((size_t)topology->device_count, sizeof *session->device_names);
    session->towers = calloc((size_t)topology->device_count, sizeof *session->towers);
    if (!session->device_names || !session->towers)
        return mgb_fail(MGB_NO_MEMORY, "naming devices: memory is exhausted");
    for (int i = 0; i < topology->device_count; i++)
        mgb_device_format(session->device_names[i], topology->devices[i].name);
    return MGB_OK;
}

static void hub_link(struct mgb_hub *hub, struct script_session *session)
{
    session->next = hub->sessions;
    hub->sessions = session;
}

static void hub_unlink(struct mgb_hub *hub, struct script_session *session)
{
    struct script_session **at = &hub->sessions;
    while (*at && *at != session)
        at = &(*at)->next;
    if (*at)
        *at = session->next;
}

static void session_free(struct script_session *session)
{
    mgb_session_sensors_stop(session->sensors);
    if (session->run)
        mgb_session_worker_call(session->worker, run_close, session->run, NULL, NULL);
    mgb_sim_close(session->sim);
    mgb_session_worker_free(session->worker);
    mgb_session_series_done(&session->series);
    mgb_session_trace_done(&session->trace);
    hub_unlink(session->hub, session);
    free(session->towers);
    free(session->device_names);
    free(session->losses);
    free(session);
}

static enum mgb_status session_start(struct script_session *session,
                                     const struct script_open_request *request)
{
    MGB_TRY(mgb_session_sim_open(&session->sim, request));
    struct mgb_run_options options = {
        .graph = request->graph,
        .backend = request->backend,
        .placement = request->placement,
        .fresh = request->fresh,
        .optimizer = request->optimizer,
        .seed = request->seed,
        .source = request->source,
        .step_timeout_ns = session->hub->options.step_timeout_ns,
        .play_virtual = mgb_session_sim_virtual(session->sim),
    };
    MGB_TRY(mgb_session_worker_make(&session->worker));
    MGB_TRY(mgb_session_worker_call(session->worker, run_open,
                                    &(struct open_work){session, &options}, NULL, NULL));
    MGB_TRY(names_make(session));
    if (request->load)
        MGB_TRY(mgb_session_read_checkpoint(session, request->load));
    MGB_TRY(mgb_session_begin_run(session, request));
    MGB_TRY(mgb_session_begin_segment(session));
    if (session->run_id)
        session->sensors = mgb_session_sensors_start(session);
    if (request->load)
        mgb_session_note_checkpoint(session, request->load);
    return MGB_OK;
}

enum mgb_status mgb_session_open(void *context, struct script_session **out,
                                 const struct script_open_request *request)
{
    struct mgb_hub *hub = context;
    if (atomic_load(&hub->interrupted))
        return mgb_fail(MGB_INTERRUPTED, "interrupted");
    struct script_session *session = calloc(1, sizeof *session);
    if (!session)
        return mgb_fail(MGB_NO_MEMORY, "opening a session: memory is exhausted");
    session->hub = hub;
    session->graph = request->graph;
    int64_t warmup = request->machine ? 0 : request->warmup; /* simulated steps need none */
    session->automatic = warmup == MGB_WARMUP_AUTO;
    session->warmup = session->automatic ? MGB_STEADY_FLOOR_STEPS : warmup;
    session->goal = (struct session_goal){
        .warmup = warmup,
        .target_noise = request->target_noise,
        .max_time_ns = request->max_time_ns || !(request->target_noise > 0) ? request->max_time_ns
                                                                            : MGB_GOAL_DEFAULT_NS,
    };
    session->loss = (double)NAN;
    session->odd_step = -1;
    session->source_rows = request->source ? request->source->rows : 0;
    hub_link(hub, session);
    enum mgb_status status = session_start(session, request);
    if (status == MGB_OK) {
        *out = session;
        return MGB_OK;
    }
    char message[512];
    struct mgb_oom oom = mgb_oom_get();
    snprintf(message, sizeof message, "%s", mgb_message_get());
    bool lost = status == MGB_DEVICE && mgb_backend_lost();
    if ((status == MGB_TIMEOUT || lost) && !session->run_id && request->point)
        mgb_session_record_refused(hub, request, lost ? MGB_OUTCOME_CRASHED : MGB_OUTCOME_TIMEOUT,
                                   message);
    (void)mgb_session_check_stuck(session, mgb_fail(status, "%s", message));
    int64_t refused = session->run_id;
    if (session->run_id)
        mgb_session_finish_run(session, MGB_OUTCOME_ERROR, message);
    else if (status == MGB_OOM || request->point) /* a point of a sweep always has its row */
        refused = mgb_session_record_refused(
            hub, request, status == MGB_OOM ? MGB_OUTCOME_OOM : MGB_OUTCOME_ERROR, message);
    if (request->refused_run)
        *request->refused_run = refused;
    session_free(session);
    if (status == MGB_OOM)
        mgb_fail_oom(oom.device, oom.needed, oom.available, "");
    return mgb_fail(status, "%s", message);
}

enum mgb_status mgb_session_end(struct script_session *session)
{
    bool well = session->outcome == MGB_OUTCOME_RUNNING;
    return mgb_session_finish_run(session, well ? MGB_OUTCOME_OK : session->outcome,
                                  well ? NULL : session->message);
}

void mgb_session_fail(struct script_session *session, const char *message)
{
    if (session->finished || session->outcome != MGB_OUTCOME_RUNNING ||
        atomic_load(&session->hub->interrupted))
        return;
    session->outcome = MGB_OUTCOME_ERROR;
    snprintf(session->message, sizeof session->message, "%s", message);
}

void mgb_session_close(struct script_session *session)
{
    /* Whoever was interrupted did not come to the end, though the interrupt hit between two steps. */
    if (atomic_load(&session->hub->interrupted) && session->outcome == MGB_OUTCOME_RUNNING) {
        session->outcome = MGB_OUTCOME_INTERRUPTED;
        snprintf(session->message, sizeof session->message, "interrupted between two steps");
    }
    mgb_session_end(session);
    session_free(session);
}

struct set_work {
    struct script_session *session;
    struct mgb_change *change;
    const struct mgb_placement *placement;
    uint64_t fresh;
};

static enum mgb_status run_set(void *argument)
{
    struct set_work *work = argument;
    return mgb_run_set(work->session->run, work->change, work->placement, work->fresh);
}

enum mgb_status mgb_session_set(struct script_session *session, struct mgb_change *change,
                                const struct mgb_placement *placement, uint64_t fresh)
{
    if (session->finished)
        return mgb_fail(MGB_STATE, "set: this run has ended");
    if (session->segment_id) /* records in the ring borrow the plan's names */
        mgb_recorder_flush(session->hub->recorder);
    mgb_session_record_measured(session);
    struct set_work work = {session, change, placement, fresh};
    MGB_TRY(mgb_session_check_stuck(
        session, mgb_session_worker_call(session->worker, run_set, &work, NULL, NULL)));
    if (!change->changed)
        return MGB_OK;
    bool well = session->outcome == MGB_OUTCOME_RUNNING; /* else the segment keeps what befell it */
    MGB_TRY(mgb_session_finish_segment(session, well ? MGB_OUTCOME_OK : session->outcome,
                                       well ? NULL : session->message));
    return mgb_session_begin_segment(session);
}

struct evaluate_work {
    struct script_session *session;
    struct mgb_evaluation *out;
    const struct mgb_source *source;
};

static enum mgb_status run_evaluate(void *argument)
{
    struct evaluate_work *work = argument;
    return mgb_run_evaluate(work->session->run, work->out, work->source);
}

static void push_evaluation(struct script_session *session, const struct mgb_evaluation *evaluation)
{
    struct mgb_record record = {.kind = MGB_RECORD_METRIC};
    int64_t last = mgb_run_step_index(session->run) - 1;
    for (int i = -1; i < evaluation->metric_count; i++) {
        const char *name = "loss";
        if (i >= 0)
            mgb_graph_metric_at(session->graph, i, &name);
        record.metric = (struct mgb_record_metric){
            .segment = session->segment_id,
            .step = last < 0 ? 0 : last,
            .split = "test",
            .name = name,
            .value = i < 0 ? evaluation->loss : evaluation->metrics[i],
        };
        mgb_recorder_push(session->hub->recorder, &record);
    }
    mgb_recorder_flush(session->hub->recorder); /* the names are the graph's, which may go now */
}

enum mgb_status mgb_session_evaluate(struct script_session *session, struct mgb_evaluation *out,
                                     const struct mgb_source *source)
{
    struct evaluate_work work = {session, out, source};
    MGB_TRY(mgb_session_check_stuck(
        session, mgb_session_worker_call(session->worker, run_evaluate, &work, NULL, NULL)));
    if (session->segment_id)
        push_evaluation(session, out);
    return MGB_OK;
}

bool mgb_session_played(struct script_session *session, struct mgb_sim_effort *out)
{
    if (session->sim)
        *out = mgb_sim_effort_get(session->sim);
    return session->sim != NULL;
}

struct mgb_run *mgb_session_engine(struct script_session *session)
{
    return session->run;
}
