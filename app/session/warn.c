/* Remarks about a run that people should see once: told through the hub, kept as a note of the run. */
#include "app/session/rows.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void remark_keep(const struct script_session *session, const char *line)
{
    if (session->run_id) /* a store that cannot write is no failure of the run */
        (void)mgb_recorder_put_note(session->hub->recorder, session->run_id, line);
}

void mgb_session_warn(struct script_session *session, const char *name, const char *format, ...)
{
    char line[512], named[560];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    mgb_remark_write(named, sizeof named, name, line);
    remark_keep(session, named);
    mgb_hub_tell(session->hub, name, named);
}

/* Told once by a program, kept with every run. */
void mgb_session_warn_crowded(struct script_session *session)
{
    const struct mgb_effective *effective = mgb_run_effective(session->run);
    char line[256], named[320];
    if (!effective->oversubscribed || session->crowded)
        return;
    snprintf(line, sizeof line,
             "%d towers with %d CPU thread%s each want more cores than there are: they take turns, "
             "and times say so",
             effective->tower_count, effective->threads, effective->threads == 1 ? "" : "s");
    mgb_remark_write(named, sizeof named, "crowded", line);
    remark_keep(session, named);
    if (!session->hub->crowded)
        mgb_hub_tell(session->hub, "crowded", named);
    session->crowded = true;
    session->hub->crowded = true;
}

/* Which towers as "1 to 7" or "3". They are the last ones: the first take the rows that are over. */
void mgb_session_warn_one_row(struct script_session *session)
{
    const struct mgb_plan *plan = mgb_run_plan(session->run);
    int count = 0, first = -1, last = -1;
    char which[48];
    for (int t = 0; t < plan->tower_count; t++) {
        if (plan->towers[t].rows != 1)
            continue;
        first = first < 0 ? t : first;
        last = t;
        count++;
    }
    bool together = mgb_run_effective(session->run)->bn == MGB_BN_SYNC && plan->global_rows > 1;
    const char *layer = count > 0 && !together ? mgb_graph_find_batch_norm(plan->graph) : NULL;
    if (!layer || session->one_row == count)
        return;
    session->one_row = count;
    snprintf(which, sizeof which, first == last ? "tower %d has" : "towers %d to %d have", first,
             last);
    mgb_session_warn(
        session, "one-row",
        "%s one row, and batch_norm '%s' nothing to normalise over there: its output is "
        "its beta whatever the input; give each tower two rows or more, or fewer towers",
        which, layer);
}

/* The worker saw it, the caller's thread tells. */
void mgb_session_warn_diverged(struct script_session *session)
{
    if (session->odd_step < 0 || session->odd_told)
        return;
    session->odd_told = true;
    mgb_session_warn(session, "diverged", "loss is not finite from step %lld on: it is %s",
                     (long long)session->odd_step,
                     isnan(session->odd_loss) ? "not a number"
                     : session->odd_loss > 0  ? "infinite"
                                              : "minus infinite");
}

void mgb_session_warn_overflow(struct script_session *session)
{
    if (session->skipped == 0)
        return;
    mgb_session_warn(session, "overflow",
                     "%lld of %lld steps changed no weights: their gradients were not finite in "
                     "f16; the loss scale, halved each time, was %g in the last one",
                     (long long)session->skipped, (long long)session->segment_steps,
                     (double)session->loss_scale);
}

void mgb_session_count_idle(struct script_session *session)
{
    const struct mgb_plan *plan = mgb_run_plan(session->run);
    size_t devices = (size_t)mgb_run_topology(session->run)->device_count;
    memset(session->towers, 0, devices * sizeof *session->towers);
    for (int t = 0; t < plan->tower_count; t++) {
        struct session_tower *tower = &session->towers[plan->towers[t].device];
        tower->rows += plan->towers[t].rows;
        tower->there = true;
    }
}

void mgb_session_warn_idle(struct script_session *session)
{
    char list[256] = "";
    bool empty = false;
    if (session->segment_steps <= session->warmup)
        return;
    for (int d = 0; d < mgb_run_topology(session->run)->device_count; d++) {
        const struct session_tower *tower = &session->towers[d];
        size_t used = strlen(list);
        if (!tower->there || tower->forward_ns > 0)
            continue;
        empty = empty || tower->rows == 0;
        if (used + MGB_DEVICE_NAME_MAX + 2 < sizeof list)
            snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
                     session_device(session, d));
    }
    if (list[0])
        mgb_session_warn(session, "idle", "%s computed nothing in %lld timed steps%s", list,
                         (long long)(session->segment_steps - session->warmup),
                         empty ? ": the batch has fewer rows than there are devices" : "");
}

void mgb_session_warn_file(struct script_session *session)
{
    struct mgb_hub *hub = session->hub;
    struct mgb_recorder_state state;
    if (!hub->recorder)
        return;
    mgb_hub_warn_stopped(hub);
    mgb_recorder_get_state(&state, hub->recorder);
    if (strcmp(state.warning, hub->file_warning) == 0)
        return;
    snprintf(hub->file_warning, sizeof hub->file_warning, "%s", state.warning);
    if (state.warning[0])
        mgb_session_warn(session, "log", "%s", state.warning);
}

void mgb_session_warn_figures(struct script_session *session)
{
    struct script_figures f;
    if (session->segment_steps == 0)
        return;
    mgb_session_figures(&f, session, true);
    if (f.ring_waits > 0)
        mgb_session_warn(session, "log", "recording kept steps waiting %lld times: times say so",
                         (long long)f.ring_waits);
    if (!session->goal.reason) /* a script decides how far it goes */
        return;
    if (session->automatic && f.steady == 0)
        mgb_session_warn(session, "not-steady", "%s: no verdict can rest on this run",
                         f.not_steady);
    if (f.target_noise > 0 && strcmp(f.stop_reason, "time") == 0 && isnan(f.noise))
        mgb_session_warn(session, "noise",
                         "after %.4g s: too few steps to tell the noise, %.3g %% was asked (not "
                         "met)",
                         f.max_time_ms / 1e3, 100 * f.target_noise);
    else if (f.target_noise > 0 && strcmp(f.stop_reason, "time") == 0)
        mgb_session_warn(session, "noise",
                         "after %.4g s: noise %.2g %%, %.3g %% was asked (not met)",
                         f.max_time_ms / 1e3, 100 * f.noise, 100 * f.target_noise);
}
