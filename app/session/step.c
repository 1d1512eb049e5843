/* Steps: played on the worker, recorded as they end, and watched meanwhile. */
#include "app/session/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void push_devices(struct script_session *session, const struct mgb_step_result *result)
{
    struct mgb_record record = {.kind = MGB_RECORD_STEP_DEVICE};
    for (int i = 0; i < result->device_count; i++) {
        const struct mgb_device_times *times = &result->devices[i];
        record.step_device = (struct mgb_record_step_device){
            .segment = session->segment_id,
            .step = result->index,
            .device = session_device(session, times->device),
            .finish_ns = times->finish_ns,
            .has_finish = times->finish_ns > 0,
        };
        memcpy(record.step_device.busy_ns, times->busy, sizeof times->busy);
        memcpy(record.step_device.exposed_ns, times->exposed, sizeof times->exposed);
        mgb_recorder_push(session->hub->recorder, &record);
    }
}

static void push_metrics(struct script_session *session, const struct mgb_step_result *result)
{
    struct mgb_record record = {.kind = MGB_RECORD_METRIC};
    for (int i = 0; i < result->metric_count; i++) {
        const char *name;
        mgb_graph_metric_at(session->graph, i, &name);
        record.metric = (struct mgb_record_metric){.segment = session->segment_id,
                                                   .step = result->index,
                                                   .split = "train",
                                                   .name = name,
                                                   .value = result->metrics[i]};
        mgb_recorder_push(session->hub->recorder, &record);
    }
}

static const char *task_kind_name(enum mgb_task_kind kind)
{
    switch (kind) {
    case MGB_TASK_COMPUTE:
        return "compute";
    case MGB_TASK_COPY:
        return "copy";
    case MGB_TASK_REDUCE:
        return "reduce";
    case MGB_TASK_ALLREDUCE:
        return "allreduce";
    case MGB_TASK_FILL:
        return "fill";
    case MGB_TASK_NORM:
        return "norm";
    case MGB_TASK_CLIP:
        return "clip";
    case MGB_TASK_UPDATE:
        return "update";
    case MGB_TASK_CAST:
        return "cast";
    }
    return "compute";
}

static void push_tasks(struct script_session *session, const struct mgb_step_result *result)
{
    const struct mgb_plan *plan = result->plan;
    struct mgb_record record = {.kind = MGB_RECORD_TASK};
    const struct session_task_texts *texts =
        result->task_count > 0 ? mgb_session_task_texts(&session->trace, plan) : NULL;
    for (int i = 0; i < result->task_count; i++) {
        const struct mgb_task_time *time = &result->tasks[i];
        const struct mgb_task *task = &plan->tasks[time->task];
        bool link = task->queue == MGB_QUEUE_COPY && time->from >= 0;
        bool collective = task->queue == MGB_QUEUE_COPY && time->from < 0;
        record.task = (struct mgb_record_task){
            .segment = session->segment_id,
            .step = result->index,
            .device = session_device(session, time->device),
            .queue = collective ? "collective"
                                : session_device(session, link ? time->from : time->device),
            .kind = task_kind_name(task->kind),
            .name = texts ? texts->name[i] : "?",
            .phase = task->phase,
            .start_ns = time->start_ns,
            .duration_ns = time->duration_ns,
            .bytes = task->bytes,
            .task = i,
            .waits_for = texts ? texts->waits_for[i] : NULL,
        };
        mgb_recorder_push(session->hub->recorder, &record);
    }
}

/* What is said about a segment at its end. */
static void step_count(struct script_session *session, const struct mgb_step_result *result,
                       bool warmup)
{
    if (session->odd_step < 0 && !isfinite(result->loss)) {
        session->odd_step = result->index;
        session->odd_loss = result->loss;
    }
    for (int i = 0; i < result->device_count && !warmup; i++)
        session->towers[result->devices[i].device].forward_ns +=
            result->devices[i].busy[MGB_PHASE_FORWARD];
    mgb_session_trace_add(&session->trace, result, warmup);
}

static void step_keep(struct script_session *session, const struct mgb_step_result *result)
{
    if (session->loss_count < session->loss_capacity)
        session->losses[session->loss_count++] = result->loss;
    session->loss = result->loss;
    session->metric_count = result->metric_count < 16 ? result->metric_count : 16;
    memcpy(session->metrics, result->metrics, (size_t)session->metric_count * sizeof(double));
}

/* The sink of the engine: on the worker. */
static bool step_done(void *context, const struct mgb_step_result *result)
{
    struct script_session *session = context;
    struct mgb_record record = {.kind = MGB_RECORD_STEP};
    record.step = (struct mgb_record_step){
        .segment = session->segment_id,
        .step = result->index,
        .epoch = result->epoch,
        .start_ns = result->start_ns - session->began_ns,
        .wall_ns = result->wall_ns,
        .examples = result->rows,
        .loss = result->loss,
        .has_loss = true,
        .warmup = session->segment_steps++ < session->warmup,
    };
    step_keep(session, result);
    step_count(session, result, record.step.warmup);
    mgb_stats_add(&session->stats, &record.step);
    if (session->segment_id) {
        mgb_recorder_push(session->hub->recorder, &record);
        push_devices(session, result);
        push_metrics(session, result);
        push_tasks(session, result);
    }
    atomic_store(&session->heartbeat_ns, session_clock_ns());
    atomic_fetch_add(&session->call_steps, 1);
    if (result->epoch_end && session->epochs_left > 0) /* the engine stops by itself after each */
        session->epochs_left--;
    return true;
}

/* Resident bytes of this process, or unknown. */
static int64_t process_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return MGB_NO_READING;
    int got = fscanf(file, "%*d %ld", &pages);
    fclose(file);
    return got == 1 ? pages * sysconf(_SC_PAGESIZE) : MGB_NO_READING;
}

/* The largest it ever was; 0 when the kernel does not say. */
static int64_t process_peak_bytes(void)
{
    long long kib = 0;
    char line[128];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file) && sscanf(line, "VmHWM: %lld kB", &kib) != 1)
        ;
    if (file)
        fclose(file);
    return kib * 1024;
}

static void push_sample(struct script_session *session, int64_t now)
{
    struct mgb_record record = {.kind = MGB_RECORD_SAMPLE};
    record.sample = (struct mgb_record_sample){
        .run = session->run_id,
        .segment = session->segment_id,
        .device = "/cpu:0",
        .at_ns = now - session->began_ns,
        .clock_khz = MGB_NO_READING,
        .memory_clock_khz = MGB_NO_READING,
        .power_mw = MGB_NO_READING,
        .temperature_mc = MGB_NO_READING,
        .utilisation_ppm = MGB_NO_READING,
        .memory_used_bytes = MGB_NO_READING,
        .process_bytes = process_bytes(),
        .process_peak_bytes = process_peak_bytes(),
    };
    mgb_recorder_push(session->hub->recorder, &record);
}

/* How far the call is, after what a script said of itself. */
static void step_tell(struct script_session *session)
{
    const struct mgb_hub *hub = session->hub;
    char line[280];
    if (!hub->options.progress)
        return;
    snprintf(line, sizeof line, "%s%sstep %lld of %lld", hub->cell, *hub->cell ? ", " : "",
             atomic_load(&session->call_steps), (long long)session->call_asked);
    hub->options.progress(hub->options.context, line);
}

/* The watchdog: called about once a second on the thread that waits. The engine's own deadline comes first; this one is
 * for a device so stuck that the engine's thread does not come back. */
static void step_watch(void *context)
{
    struct script_session *session = context;
    int64_t now = session_clock_ns(), limit = session->hub->options.step_timeout_ns;
    if (session->segment_id)
        push_sample(session, now);
    if (limit && now - atomic_load(&session->heartbeat_ns) > limit + limit / 4 + 1000000000)
        mgb_session_die(session,
                        "a device got stuck: the step did not end and the engine does not answer");
    step_tell(session);
}

void mgb_session_die(struct script_session *session, const char *message)
{
    struct mgb_hub *hub = session->hub;
    if (session->run_id) {
        session->outcome = MGB_OUTCOME_TIMEOUT;
        struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_TIMEOUT, .message = message};
        mgb_recorder_finish_segment(NULL, hub->recorder, session->segment_id, &end);
        mgb_recorder_finish_run(hub->recorder, session->run_id, MGB_OUTCOME_TIMEOUT, message);
        mgb_recorder_flush(hub->recorder);
    }
    hub->options.die(hub->options.context, message);
}

struct step_work {
    struct script_session *session;
    struct mgb_step_request request;
    bool epochs;
};

/* The next steps that are alike: all traced, or none. */
static struct mgb_step_request piece_next(const struct step_work *work)
{
    const struct script_session *session = work->session;
    struct mgb_step_request piece = work->request;
    if (piece.trace_every > 0 || !session->segment_id)
        return piece;
    bool traced;
    int64_t most = mgb_session_trace_alike(&session->trace, session->segment_steps, &traced);
    piece.steps = piece.steps < most ? piece.steps : most;
    piece.trace_every = traced;
    return piece;
}

static enum mgb_status step_run(void *argument)
{
    struct step_work *work = argument;
    struct script_session *session = work->session;
    struct mgb_step_sink sink = {session, step_done};
    while (work->request.steps > 0 && (!work->epochs || session->epochs_left > 0)) {
        int64_t done;
        struct mgb_step_request piece = piece_next(work);
        MGB_TRY(mgb_run_step(session->run, &done, &piece, &sink));
        work->request.steps -= done;
        if (work->request.lr)
            work->request.lr += done;
    }
    return MGB_OK;
}

/* Steps that `epochs` epochs take from here, at most; 0 when data is endless. */
static int64_t epoch_steps(const struct script_session *session, int64_t epochs)
{
    int batch = mgb_run_effective(session->run)->global_batch;
    return session->source_rows ? epochs * ((session->source_rows + batch - 1) / batch) + 1 : 0;
}

static enum mgb_status losses_reserve(struct script_session *session, int64_t steps)
{
    session->loss_count = 0;
    if (steps > session->loss_capacity) {
        double *more = realloc(session->losses, (size_t)steps * sizeof *more);
        if (!more)
            return mgb_fail(MGB_NO_MEMORY, "keeping %lld losses: memory is exhausted",
                            (long long)steps);
        session->losses = more;
        session->loss_capacity = steps;
    }
    return MGB_OK;
}

static enum mgb_outcome outcome_of(enum mgb_status status)
{
    return status == MGB_OK            ? MGB_OUTCOME_OK
           : status == MGB_OOM         ? MGB_OUTCOME_OOM
           : status == MGB_INTERRUPTED ? MGB_OUTCOME_INTERRUPTED
           : status == MGB_TIMEOUT     ? MGB_OUTCOME_TIMEOUT
                                       : MGB_OUTCOME_ERROR;
}

static void step_after(struct script_session *session, enum mgb_status status)
{
    if (status == MGB_OK)
        return;
    session->outcome = outcome_of(status);
    snprintf(session->message, sizeof session->message, "%s", mgb_message_get());
    session->oom = mgb_oom_get();
    if (status == MGB_TIMEOUT)
        mgb_session_die(session, session->message);
}

static enum mgb_status step_play(struct script_session *session,
                                 const struct script_step_request *request, int64_t most)
{
    struct step_work work = {session,
                             {.steps = request->epochs ? most : request->steps,
                              .whole_epoch = request->epochs > 0,
                              .lr = request->lr,
                              .trace_every = request->trace_every},
                             request->epochs > 0};
    struct mgb_hub *hub = session->hub;
    session->epochs_left = request->epochs;
    session->call_asked = request->epochs ? most - 1 : request->steps;
    atomic_store(&session->call_steps, 0);
    atomic_store(&session->heartbeat_ns, session_clock_ns());
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
    int64_t most = request->epochs ? epoch_steps(session, request->epochs) : request->steps;
    if (request->epochs && !most)
        return mgb_fail(MGB_INVALID, "epochs: %s has no end; give steps instead", "synthetic data");
    MGB_TRY(losses_reserve(session, most));
    enum mgb_status status = step_play(session, request, most);
    char message[sizeof session->message];
    snprintf(message, sizeof message, "%s", mgb_message_get());
    mgb_session_record_traced(session);
    if (session->segment_id) {
        push_sample(session, session_clock_ns());
        mgb_recorder_flush(
            session->hub->recorder); /* a store that cannot write is in the figures */
    }
    mgb_session_warn_diverged(session);
    mgb_session_figures(figures, session);
    *losses = (struct script_losses){session->loss_count, session->losses};
    return status == MGB_OK ? MGB_OK : mgb_fail(status, "%s", message);
}

static double known_ms(struct mgb_maybe_int ns)
{
    return ns.known ? (double)ns.value / 1e6 : (double)NAN;
}

void mgb_session_figures(struct script_figures *out, struct script_session *session)
{
    struct mgb_record_segment_stat stat = {0};
    mgb_stats_boil(&stat, &session->stats);
    *out = (struct script_figures){
        .run_id = session->run_id,
        .segment_id = session->segment_id,
        .steps = stat.timed_steps,
        .warmup_steps = stat.warmup_steps,
        .median_ms = known_ms(stat.median_ns),
        .p95_ms = known_ms(stat.p95_ns),
        .mean_ms = known_ms(stat.mean_ns),
        .ci95_low_ms = known_ms(stat.ci95_low_ns),
        .ci95_high_ms = known_ms(stat.ci95_high_ns),
        .examples_per_s =
            stat.timed_ns ? (double)stat.examples / ((double)stat.timed_ns / 1e9) : (double)NAN,
        .loss = session->loss,
        .metric_count = session->metric_count,
        .outcome =
            session->outcome == MGB_OUTCOME_RUNNING ? "ok" : mgb_outcome_name(session->outcome),
    };
    memcpy(out->metrics, session->metrics, sizeof out->metrics);
    out->log_complete =
        mgb_hub_log_complete(session->hub, out->log_message, sizeof out->log_message);
}
