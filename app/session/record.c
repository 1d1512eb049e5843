/* What is stored when a run or a segment begins and ends. */
#include "app/session/effective_columns.h"
#include "app/session/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum mgb_status mgb_hub_recorder(struct mgb_hub *hub, struct mgb_recorder **out)
{
    struct mgb_recorder_options options = {
        .store = {.blocked = hub->options.blocked, .context = hub->options.context}};
    *out = hub->recorder;
    if (*out || !hub->options.database)
        return MGB_OK;
    MGB_TRY(mgb_recorder_open(out, hub->options.database, &options));
    hub->recorder = *out;
    return MGB_OK;
}

static enum mgb_status tags_put(struct mgb_recorder *recorder, int64_t run,
                                const struct mgb_hub *hub,
                                const struct script_open_request *request)
{
    const char *const tags[] = {hub->options.tag, request->tag};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (tags[i])
            MGB_TRY(mgb_recorder_put_tag(recorder, run, tags[i]));
    return MGB_OK;
}

enum mgb_status mgb_session_begin_run(struct script_session *session,
                                      const struct script_open_request *request)
{
    struct mgb_recorder *recorder;
    char why[512];
    MGB_TRY(mgb_hub_recorder(session->hub, &recorder));
    session->began_ns = session->sim ? 0 : session_clock_ns();
    if (!recorder)
        return MGB_OK;
    struct session_description *description = malloc(sizeof *description);
    if (!description)
        return mgb_fail(MGB_NO_MEMORY, "describing the run: memory is exhausted");
    mgb_session_describe(description, session->hub, request, mgb_run_topology(session->run),
                         mgb_run_backend(session->run));
    enum mgb_status measured = mgb_session_describe_links(description, session);
    if (measured == MGB_OK)
        measured = mgb_session_describe_peak(description, session);
    snprintf(why, sizeof why, "%s", measured == MGB_OK ? "" : mgb_message_get());
    enum mgb_status status =
        mgb_recorder_begin_run(&session->run_id, recorder, &description->run_row);
    free(description);
    if (status == MGB_OK && request->point && session->run_id)
        status = mgb_hub_sweep_point(session->hub, session->run_id, request->point);
    if (status == MGB_OK && measured != MGB_OK)
        status = mgb_fail(measured, "%s", why);
    return status == MGB_OK && session->run_id
               ? tags_put(recorder, session->run_id, session->hub, request)
               : status;
}

static void oom_fill(struct mgb_record_segment_end *end, const struct mgb_oom *oom)
{
    if (end->outcome != MGB_OUTCOME_OOM || !oom->device[0])
        return;
    end->oom_device = oom->device;
    end->oom_needed_bytes = oom->needed;
    end->oom_available_bytes = oom->available;
}

int64_t mgb_session_record_refused(struct mgb_hub *hub, const struct script_open_request *request,
                                   enum mgb_outcome outcome, const char *message)
{
    struct mgb_recorder *recorder;
    struct session_description *description = malloc(sizeof *description);
    struct session_placement_texts *texts = malloc(sizeof *texts);
    int64_t run = 0, segment = 0;
    struct mgb_oom oom = mgb_oom_get();
    struct mgb_record_segment_end end = {.outcome = outcome, .message = message};
    oom_fill(&end, &oom);
    const char *chosen = mgb_hub_backend(hub, request->backend);
    if (description && texts && mgb_hub_recorder(hub, &recorder) == MGB_OK && recorder) {
        mgb_session_describe(description, hub, request, NULL, chosen ? chosen : request->backend);
        struct mgb_record_segment row = {0};
        mgb_session_placement_asked(&row.asked, texts, &request->placement);
        row.effective = row.asked;
        if (mgb_recorder_begin_run(&run, recorder, &description->run_row) == MGB_OK && run) {
            row.run = run;
            if (request->point)
                mgb_hub_sweep_point(hub, run, request->point);
            (void)tags_put(recorder, run, hub, request);
            if (mgb_recorder_begin_segment(&segment, recorder, &row) == MGB_OK)
                mgb_recorder_finish_segment(NULL, recorder, segment, &end);
            mgb_recorder_finish_run(recorder, run, outcome, message);
        }
    }
    free(description);
    free(texts);
    return run;
}

void mgb_session_optimizer_text(char *out, size_t size, const struct mgb_optimizer *o)
{
    int used = snprintf(out, size, "%s(lr=%g", mgb_optimizer_name(o->kind), (double)o->lr);
    if (o->kind == MGB_SGD && o->momentum != 0)
        used += snprintf(out + used, size - (size_t)used, ", momentum=%g%s", (double)o->momentum,
                         o->nesterov ? ", nesterov" : "");
    if (o->decay != 0)
        used += snprintf(out + used, size - (size_t)used, ", decay=%g", (double)o->decay);
    if (o->clip_norm != 0)
        used += snprintf(out + used, size - (size_t)used, ", clip_norm=%g", (double)o->clip_norm);
    snprintf(out + used, size - (size_t)used, ")");
}

/* "[33,33,34]", cut for thousands. */
static void rows_text(char *out, size_t size, const struct mgb_plan *plan)
{
    size_t used = (size_t)snprintf(out, size, "[");
    for (int i = 0; i < plan->tower_count && used + 24 < size; i++)
        used +=
            (size_t)snprintf(out + used, size - used, "%s%d", i ? "," : "", plan->towers[i].rows);
    snprintf(out + used, size - used, "]");
}

static enum mgb_status record_segment(struct script_session *session,
                                      struct session_placement_texts texts[2])
{
    const struct mgb_plan *plan = mgb_run_plan(session->run);
    const struct mgb_effective *effective = mgb_run_effective(session->run);
    const struct session_goal *goal = &session->goal;
    char rows[1024], optimizer[128], digest[24];
    uint64_t hash;
    MGB_TRY(mgb_plan_digest(&hash, plan));
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)hash);
    rows_text(rows, sizeof rows, plan);
    mgb_session_optimizer_text(optimizer, sizeof optimizer, &plan->optimizer);
    struct mgb_record_segment row = {
        .run = session->run_id,
        .gave_way = effective->gave_way[0] ? effective->gave_way : NULL,
        .tower_rows = rows,
        .warmup_rule = session->automatic ? "auto" : "fixed",
        .warmup_steps = {.known = !session->automatic, .value = session->warmup},
        .target_noise = {.known = goal->target_noise > 0, .value = goal->target_noise},
        .max_time_ns = {.known = goal->max_time_ns > 0, .value = goal->max_time_ns},
        .optimizer = optimizer,
        .plan_digest = digest,
        .oversubscribed = MGB_KNOWN_INT(effective->oversubscribed),
        .first_step = mgb_run_step_index(session->run),
    };
    mgb_session_placement_asked(&row.asked, &texts[0], mgb_run_placement(session->run));
    mgb_session_placement_effective(&row.effective, &texts[1], effective,
                                    mgb_run_topology(session->run));
    return mgb_recorder_begin_segment(&session->segment_id, session->hub->recorder, &row);
}

/* Pushes of this recorder that had to wait so far. */
static uint64_t ring_waits(const struct script_session *session)
{
    struct mgb_recorder_state state = {0};
    if (session->hub->recorder)
        mgb_recorder_get_state(&state, session->hub->recorder);
    return state.waits;
}

int64_t mgb_session_ring_waits(const struct script_session *session)
{
    if (session->sim) /* no step of virtual time waits for the record */
        return 0;
    return (int64_t)(ring_waits(session) - session->ring_waits);
}

enum mgb_status mgb_session_begin_segment(struct script_session *session)
{
    mgb_session_series_begin(&session->series, session->automatic);
    session->judged = (struct session_judgement){0};
    session->goal.reason = NULL;
    session->ring_waits = ring_waits(session);
    session->segment_id = 0;
    session->segment_steps = 0;
    session->skipped = 0;
    session->outcome = MGB_OUTCOME_RUNNING;
    mgb_session_count_idle(session);
    mgb_session_trace_begin(&session->trace, mgb_run_plan(session->run), session->warmup);
    if (session->sim)
        mgb_session_trace_simulated(&session->trace);
    mgb_session_warn_crowded(session);
    mgb_session_warn_one_row(session);
    mgb_session_warn_paths(session);
    mgb_session_warn_unlike(session);
    if (!session->run_id)
        return MGB_OK;
    struct session_placement_texts *texts = malloc(2 * sizeof *texts);
    if (!texts)
        return mgb_fail(MGB_NO_MEMORY, "describing the segment: memory is exhausted");
    enum mgb_status status = record_segment(session, texts);
    free(texts);
    if (status == MGB_OK)
        mgb_session_record_holdings(session);
    return status;
}

enum mgb_status mgb_session_finish_segment(struct script_session *session, enum mgb_outcome outcome,
                                           const char *message)
{
    session->outcome = outcome;
    mgb_session_warn_idle(session);
    mgb_session_warn_overflow(session);
    if (outcome == MGB_OUTCOME_OK)
        mgb_session_warn_figures(session);
    mgb_session_warn_traced(session);
    mgb_session_warn_file(session);
    if (!session->segment_id)
        return MGB_OK;
    int64_t warm =
        session->segment_steps < session->warmup ? session->segment_steps : session->warmup;
    struct mgb_record_segment_end end = {
        .outcome = outcome,
        .message = message,
        .warmup_steps = {.known = !session->automatic, .value = warm},
        .auto_warmup = session->automatic,
        .stop_reason = session->goal.reason,
        .ring_waits = MGB_KNOWN_INT(mgb_session_ring_waits(session)),
    };
    char digest[24];
    uint64_t hash;
    oom_fill(&end, &session->oom);
    /* of the last segment only: reading all weights would make a toggle slow */
    if (session->finished && outcome == MGB_OUTCOME_OK &&
        mgb_run_digest(session->run, &hash) == MGB_OK) {
        snprintf(digest, sizeof digest, "%016llx", (unsigned long long)hash);
        end.digest = digest;
    }
    if (session->finished && outcome == MGB_OUTCOME_OK)
        end.replicas_agree = mgb_session_compare_replicas(session);
    int64_t segment = session->segment_id;
    session->segment_id = 0;
    return mgb_recorder_finish_segment(NULL, session->hub->recorder, segment, &end);
}

enum mgb_status mgb_session_finish_run(struct script_session *session, enum mgb_outcome outcome,
                                       const char *message)
{
    if (session->finished)
        return MGB_OK;
    session->finished = true;
    mgb_session_record_measured(session);
    int64_t segment = session->segment_id;
    enum mgb_status status = mgb_session_finish_segment(session, outcome, message);
    session->segment_id = segment; /* figures name it still */
    if (session->run_id && status == MGB_OK)
        status = mgb_recorder_finish_run(session->hub->recorder, session->run_id, outcome, message);
    return status;
}
