/* Steps: played on the worker, recorded as they end, and watched meanwhile. */
#include "app/session/rows.h"
#include "app/session/sensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STOPPED_NS INT64_C(2000000000)

/* What is said about a segment at its end. */
static void step_count(struct script_session *session, const struct mgb_record_step *row,
                       const struct mgb_step_result *result)
{
    if (session->odd_step < 0 && !session->sim && !isfinite(result->loss)) {
        session->odd_step = result->index;
        session->odd_loss = result->loss;
    }
    session->skipped += result->skipped;
    session->loss_scale = result->loss_scale;
    for (int i = 0; i < result->device_count && !row->warmup; i++)
        session->towers[result->devices[i].device].forward_ns +=
            result->devices[i].busy[MGB_PHASE_FORWARD];
    mgb_session_trace_add(&session->trace, result, row->warmup);
    mgb_session_series_add(&session->series, row, result);
}

/* Room for one more; false when memory is exhausted: that loss is not kept. */
static bool losses_grow(struct script_session *session)
{
    if (session->loss_count < session->loss_capacity)
        return true;
    int64_t capacity = session->loss_capacity ? 2 * session->loss_capacity : 256;
    double *more = realloc(session->losses, (size_t)capacity * sizeof *more);
    if (!more)
        return false;
    session->losses = more;
    session->loss_capacity = capacity;
    return true;
}

static void step_keep(struct script_session *session, const struct mgb_step_result *result)
{
    if (!session->sim && losses_grow(session))
        session->losses[session->loss_count++] = result->loss;
    session->loss = result->loss;
    session->metric_count = result->metric_count < 16 ? result->metric_count : 16;
    for (int i = 0; i < session->metric_count; i++)
        session->metrics[i] = result->metrics[i];
}

/* Whoever asked for the steps has something else to do. */
static bool is_yielding(const struct script_session *session)
{
    return session->call_yields && atomic_load(&session->hub->yields);
}

/* The sink of the engine: on the worker. False when a run's time is up, or whoever drives it wants it to end. */
static bool step_done(void *context, const struct mgb_step_result *result)
{
    struct script_session *session = context;
    const struct mgb_hub *hub = session->hub;
    struct mgb_record record = {.kind = MGB_RECORD_STEP};
    record.step = (struct mgb_record_step){
        .segment = session->segment_id,
        .step = result->index,
        .epoch = result->epoch,
        .start_ns = result->start_ns - session->began_ns,
        .wall_ns = result->wall_ns,
        .examples = result->rows,
        .loss = result->loss,
        .has_loss = !session->sim,
        .warmup = session->segment_steps++ < session->warmup,
    };
    step_keep(session, result);
    step_count(session, &record.step, result);
    if (session->segment_id)
        mgb_session_push_step(session, &record, result);
    mgb_session_spill_traced(session);
    if (hub->options.stepped)
        hub->options.stepped(hub->options.context, result);
    atomic_store(&session->heartbeat_ns, session_clock_ns());
    atomic_fetch_add(&session->call_steps, 1);
    if (result->epoch_end && session->epochs_left > 0) /* the engine stops by itself after each */
        session->epochs_left--;
    return !mgb_session_goal_late(&session->goal, &session->series) &&
           !atomic_load(&hub->interrupted) && !is_yielding(session);
}

/* How far the call is, after what a script said of itself. A run may go on beyond the steps it has at least. */
static void step_tell(struct script_session *session)
{
    const struct mgb_hub *hub = session->hub;
    char line[320], of[32] = "", most[48] = "";
    long long steps = atomic_load(&session->call_steps);
    if (!hub->options.progress)
        return;
    if (steps <= session->call_asked)
        snprintf(of, sizeof of, " of %lld", (long long)session->call_asked);
    if (session->goal.max_time_ns)
        snprintf(most, sizeof most, ", %.4g s at most", (double)session->goal.max_time_ns / 1e9);
    snprintf(line, sizeof line, "%s%sstep %lld%s%s", hub->cell, *hub->cell ? ", " : "", steps, of,
             most);
    hub->options.progress(hub->options.context, line);
}

/* Stores how a run ended that may never come back. */
static void run_give_up(struct script_session *session, enum mgb_outcome outcome,
                        const char *message)
{
    struct mgb_recorder *recorder = session->hub->recorder;
    if (!session->run_id)
        return;
    session->outcome = outcome;
    struct mgb_record_segment_end end = {
        .outcome = outcome, .message = message, .auto_warmup = session->automatic};
    mgb_recorder_finish_segment(NULL, recorder, session->segment_id, &end);
    mgb_recorder_finish_run(recorder, session->run_id, outcome, message);
    mgb_recorder_flush(recorder);
}

/* It was due a second after it was last left: the process was stopped meanwhile, or the machine stood still, and the step
 * with it. */
static void step_watch_stopped(struct script_session *session, int64_t now)
{
    if (now - session->watched_ns > STOPPED_NS)
        atomic_store(&session->heartbeat_ns, now);
}

/* The watchdog: called about once a second on the thread that waits. The engine's own deadline comes first; this one is
 * for a device so stuck that the engine's thread does not come back. */
static void step_watch(void *context)
{
    struct script_session *session = context;
    int64_t now = session_clock_ns(), limit = session->hub->options.step_timeout_ns;
    step_watch_stopped(session, now);
    if (session->segment_id)
        mgb_session_push_sample(session, now);
    if (limit && now - atomic_load(&session->heartbeat_ns) > limit + limit / 4 + 1000000000)
        mgb_session_die(session,
                        "a device got stuck: the step did not end and the engine does not answer");
    if (atomic_load(&session->hub->cut) && session->outcome == MGB_OUTCOME_RUNNING)
        run_give_up(session, MGB_OUTCOME_INTERRUPTED, "ended by a signal during a step");
    mgb_hub_warn_stopped(session->hub);
    step_tell(session);
    session->watched_ns = session_clock_ns();
}

void mgb_session_die(struct script_session *session, const char *message)
{
    run_give_up(session, MGB_OUTCOME_TIMEOUT, message);
    session->hub->options.die(session->hub->options.context, message);
}

struct step_work {
    struct script_session *session;
    struct mgb_step_request request; /* steps: so many more at most */
    bool epochs, whole;
};

/* The next steps that are alike: all traced, or none. */
static struct mgb_step_request piece_next(const struct step_work *work, int64_t steps)
{
    const struct script_session *session = work->session;
    struct mgb_step_request piece = work->request;
    piece.steps = steps;
    if (piece.trace_every > 0 || !session->segment_id)
        return piece;
    bool traced;
    int64_t most = mgb_session_trace_alike(&session->trace, session->segment_steps, &traced);
    piece.steps = piece.steps < most ? piece.steps : most;
    piece.trace_every = traced;
    return piece;
}

/* Steps until a whole run is looked at again, at most those that have a rate; 0: it is done. */
static int64_t goal_steps(const struct step_work *work)
{
    struct script_session *session = work->session;
    struct session_goal *goal = &session->goal;
    while (!goal->reason && session->segment_steps >= goal->next)
        mgb_session_goal_look(goal, &session->series);
    if (goal->reason)
        return 0;
    int64_t left = goal->next - session->segment_steps;
    return work->request.lr && work->request.steps < left ? work->request.steps : left;
}

static enum mgb_status pieces_run(struct step_work *work, int64_t steps)
{
    struct mgb_step_sink sink = {work->session, step_done};
    while (steps > 0 && (!work->epochs || work->session->epochs_left > 0)) {
        int64_t done;
        struct mgb_step_request piece = piece_next(work, steps);
        enum mgb_status status = mgb_run_step(work->session->run, &done, &piece, &sink);
        steps -= done;
        work->request.steps -= done;
        if (work->request.lr)
            work->request.lr += done;
        MGB_TRY(status);
    }
    return MGB_OK;
}

static enum mgb_status step_run(void *argument)
{
    struct step_work *work = argument;
    struct script_session *session = work->session;
    bool chunks = work->whole && !work->epochs;
    enum mgb_status status = MGB_OK;
    if (!chunks)
        status = pieces_run(work, work->request.steps);
    for (int64_t steps; status == MGB_OK && chunks && (steps = goal_steps(work)) > 0;) {
        status = pieces_run(work, steps);
        atomic_store(&session->heartbeat_ns, session_clock_ns());
    }
    if (status == MGB_INTERRUPTED && (session->goal.reason || session->call_yields) &&
        !atomic_load(&session->hub->interrupted))
        return MGB_OK; /* its own time was up */
    if (status == MGB_OK && work->whole && work->epochs)
        session->goal.reason = "epochs";
    return status;
}

/* Steps that `epochs` epochs take from here, at most; 0 when data is endless. */
static int64_t epoch_steps(const struct script_session *session, int64_t epochs)
{
    int batch = mgb_run_effective(session->run)->global_batch;
    return session->source_rows ? epochs * ((session->source_rows + batch - 1) / batch) + 1 : 0;
}

static enum mgb_outcome outcome_of(enum mgb_status status)
{
    return status == MGB_OK            ? MGB_OUTCOME_OK
           : status == MGB_OOM         ? MGB_OUTCOME_OOM
           : status == MGB_INTERRUPTED ? MGB_OUTCOME_INTERRUPTED
           : status == MGB_TIMEOUT     ? MGB_OUTCOME_TIMEOUT
                                       : MGB_OUTCOME_ERROR;
}

enum mgb_status mgb_session_check_stuck(struct script_session *session, enum mgb_status status)
{
    bool lost = status == MGB_DEVICE && mgb_backend_lost();
    if (status != MGB_TIMEOUT && !lost)
        return status;
    session->outcome = lost ? MGB_OUTCOME_CRASHED : MGB_OUTCOME_TIMEOUT;
    snprintf(session->message, sizeof session->message, "%s", mgb_message_get());
    run_give_up(session, session->outcome, session->message);
    session->hub->options.die(session->hub->options.context, session->message);
    return status;
}

static void step_after(struct script_session *session, enum mgb_status status)
{
    if (status == MGB_OK)
        return;
    session->outcome = outcome_of(status);
    snprintf(session->message, sizeof session->message, "%s", mgb_message_get());
    session->oom = mgb_oom_get();
    if (status == MGB_INTERRUPTED)
        session->goal.reason = "stopped";
    (void)mgb_session_check_stuck(session, status);
}

static enum mgb_status step_play(struct script_session *session,
                                 const struct script_step_request *request, int64_t most)
{
    struct step_work work = {session,
                             {.steps = most,
                              .whole_epoch = request->epochs > 0,
                              .lr = request->lr,
                              .trace_every = request->trace_every},
                             request->epochs > 0,
                             request->whole};
    struct mgb_hub *hub = session->hub;
    session->epochs_left = request->epochs;
    session->call_asked = request->epochs ? most - 1 : request->steps;
    session->call_yields = request->yields;
    session->loss_count = 0;
    if (request->whole && session->segment_steps == 0)
        mgb_session_goal_begin(&session->goal,
                               request->steps - (session->automatic ? 0 : session->warmup));
    atomic_store(&session->call_steps, 0);
    session->watched_ns = session_clock_ns();
    atomic_store(&session->heartbeat_ns, session->watched_ns);
    atomic_store(&hub->active, session->run);
    enum mgb_status status = MGB_INTERRUPTED;
    if (!atomic_load(&hub->interrupted))
        status = mgb_session_worker_call(session->worker, step_run, &work, step_watch, session);
    else
        mgb_fail(MGB_INTERRUPTED, "interrupted");
    atomic_store(&hub->active, (struct mgb_run *)NULL);
    step_after(session, status);
    if (hub->options.progress) /* what stood there before */
        hub->options.progress(hub->options.context, hub->cell);
    return status;
}

enum mgb_status mgb_session_step(struct script_session *session, struct script_figures *figures,
                                 struct script_losses *losses,
                                 const struct script_step_request *request)
{
    if (session->finished)
        return mgb_fail(MGB_STATE, "step: this run has ended; open a session to train on");
    int64_t most = request->epochs                 ? epoch_steps(session, request->epochs)
                   : request->whole && request->lr ? request->lr_count
                                                   : request->steps;
    if (request->epochs && !most)
        return mgb_fail(MGB_INVALID, "epochs: %s has no end; give steps instead", "synthetic data");
    enum mgb_status status = step_play(session, request, most);
    char message[sizeof session->message];
    snprintf(message, sizeof message, "%s", mgb_message_get());
    mgb_session_record_traced(session);
    if (session->segment_id) {
        mgb_session_sensors_push(session, true);
        mgb_session_push_sample(session, session_clock_ns());
        mgb_recorder_flush(
            session->hub->recorder); /* a store that cannot write is in the figures */
    }
    mgb_session_warn_diverged(session);
    mgb_session_figures(figures, session, session->goal.reason != NULL);
    *losses = (struct script_losses){session->loss_count, session->losses};
    return status == MGB_OK ? MGB_OK : mgb_fail(status, "%s", message);
}
