/* See hub.h. */
#include "app/session/checkpoint.h"
#include "app/session/private.h"
#include "app/session/sensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum mgb_status mgb_hub_open(struct mgb_hub **out, const struct mgb_hub_options *options)
{
    struct mgb_hub *hub = calloc(1, sizeof *hub);
    if (!hub)
        return mgb_fail(MGB_NO_MEMORY, "starting: memory is exhausted");
    hub->options = *options;
    *out = hub;
    return MGB_OK;
}

void mgb_hub_close(struct mgb_hub *hub)
{
    if (!hub)
        return;
    while (hub->sessions)
        mgb_session_close(hub->sessions);
    mgb_reader_close(hub->reader);
    mgb_recorder_close(hub->recorder);
    while (hub->sweeps) {
        struct mgb_hub_sweep *next = hub->sweeps->next;
        free(hub->sweeps->name);
        free(hub->sweeps->settings);
        free(hub->sweeps);
        hub->sweeps = next;
    }
    free(hub);
}

enum mgb_status mgb_hub_seal(struct mgb_hub *hub, int64_t limit_ms)
{
    struct mgb_recorder *recorder = hub->recorder;
    return recorder ? mgb_recorder_seal(recorder, limit_ms) : MGB_OK;
}

void mgb_hub_interrupt(struct mgb_hub *hub)
{
    atomic_store(&hub->interrupted, true);
    struct mgb_run *run = atomic_load(&hub->active);
    if (run)
        mgb_run_stop(run);
}

void mgb_hub_stop(struct mgb_hub *hub)
{
    atomic_store(&hub->interrupted, true);
}

void mgb_hub_yield(struct mgb_hub *hub, bool wanted)
{
    atomic_store(&hub->yields, wanted);
}

void mgb_hub_cut(struct mgb_hub *hub)
{
    atomic_store(&hub->cut, true);
    mgb_hub_stop(hub);
}

void mgb_hub_resume(struct mgb_hub *hub)
{
    atomic_store(&hub->interrupted, false);
    for (struct script_session *session = hub->sessions; session; session = session->next) {
        mgb_run_clear_stop(session->run);
        if (session->finished || session->outcome != MGB_OUTCOME_INTERRUPTED)
            continue;
        session->outcome = MGB_OUTCOME_RUNNING;
        session->message[0] = '\0';
        session->goal.reason = NULL;
    }
}

struct mgb_hub *mgb_hub_of(const struct script_session *session)
{
    return session->hub;
}

void *mgb_hub_context(const struct mgb_hub *hub)
{
    return hub->options.context;
}

enum mgb_status mgb_hub_note(struct mgb_hub *hub, int64_t run, const char *text)
{
    return hub->recorder && run ? mgb_recorder_put_note(hub->recorder, run, text) : MGB_OK;
}

enum mgb_status mgb_hub_label(struct mgb_hub *hub, int64_t run, const char *tag, const char *note)
{
    struct mgb_recorder *recorder;
    struct mgb_recorder_state state;
    MGB_TRY(mgb_hub_recorder(hub, &recorder));
    if (!recorder)
        return mgb_fail(MGB_STATE, "nothing is recorded: there is no results file");
    mgb_recorder_get_state(&state, recorder);
    if (state.stopped)
        return mgb_fail(MGB_IO, "nothing is recorded at present: %s", state.message);
    if (tag)
        MGB_TRY(mgb_recorder_put_tag(recorder, run, tag));
    return note ? mgb_recorder_put_note(recorder, run, note) : MGB_OK;
}

void mgb_hub_fail(struct mgb_hub *hub, const char *message)
{
    for (struct script_session *session = hub->sessions; session; session = session->next)
        mgb_session_fail(session, message);
}

bool mgb_hub_recorded(const struct mgb_hub *hub)
{
    return hub->recorder != NULL;
}

bool mgb_hub_log_complete(struct mgb_hub *hub, char *message, size_t size)
{
    message[0] = '\0';
    if (!hub->recorder)
        return true;
    struct mgb_recorder_state state;
    mgb_recorder_get_state(&state, hub->recorder);
    snprintf(message, size, "%s", state.reason);
    return !state.incomplete;
}

bool mgb_hub_log_stopped(struct mgb_hub *hub)
{
    struct mgb_recorder_state state = {0};
    if (hub->recorder)
        mgb_recorder_get_state(&state, hub->recorder);
    return state.stopped;
}

bool mgb_hub_log_end(struct mgb_hub *hub, char *message, size_t size)
{
    if (hub->recorder)
        mgb_recorder_flush(hub->recorder); /* what it finds is in the state */
    return mgb_hub_log_complete(hub, message, size);
}

static enum mgb_status hub_figures(struct script_session *session, struct script_figures *out)
{
    mgb_session_figures(out, session, true);
    return MGB_OK;
}

static void hub_progress(void *context, const char *line)
{
    struct mgb_hub *hub = context;
    if (!strchr(line, '\n'))
        snprintf(hub->cell, sizeof hub->cell, "%s", line);
    if (hub->options.progress)
        hub->options.progress(hub->options.context, line);
}

static void hub_remark(void *context, const char *name, const char *line)
{
    char named[560];
    mgb_remark_write(named, sizeof named, name, line);
    mgb_hub_tell(context, name, named);
}

static void hub_restartable(void *context, const char *point)
{
    struct mgb_hub *hub = context;
    if (hub->options.restartable)
        hub->options.restartable(hub->options.context, point);
}

static enum mgb_status hub_tag(void *context, int64_t run, const char *name)
{
    struct mgb_hub *hub = context;
    return hub->recorder ? mgb_recorder_put_tag(hub->recorder, run, name) : MGB_OK;
}

static bool hub_interrupted(void *context)
{
    struct mgb_hub *hub = context;
    return atomic_load(&hub->interrupted);
}

void mgb_hub_services(struct script_services *out, struct mgb_hub *hub)
{
    *out = (struct script_services){
        .context = hub,
        .open = mgb_session_open,
        .close = mgb_session_close,
        .fail = mgb_session_fail,
        .finish = mgb_session_end,
        .step = mgb_session_step,
        .trace = mgb_session_ask_trace,
        .set = mgb_session_set,
        .engine = mgb_session_engine,
        .sensed = mgb_session_sensed,
        .played = mgb_session_played,
        .evaluate = mgb_session_evaluate,
        .save = mgb_session_save,
        .load = mgb_session_load,
        .figures = hub_figures,
        .sweep_find = mgb_hub_sweep_find,
        .sweep_finish = mgb_hub_sweep_finish,
        .sweep_hold = mgb_hub_sweep_hold,
        .sweep_release = mgb_hub_sweep_release,
        .forecast = mgb_hub_forecast,
        .largest_batch = mgb_hub_largest_batch,
        .judge = hub->options.database ? mgb_hub_judge : NULL,
        .rank = hub->options.database ? mgb_hub_rank : NULL,
        .progress = hub_progress,
        .remark = hub_remark,
        .restartable = hub_restartable,
        .restarted = hub->options.after_crash,
        .find_segment = mgb_hub_find_segment,
        .critical = mgb_hub_critical,
        .critical_free = mgb_hub_critical_free,
        .query = mgb_hub_query,
        .tag = hub->options.database ? hub_tag : NULL,
        .compare = mgb_hub_compare,
        .interrupted = hub_interrupted,
    };
}
