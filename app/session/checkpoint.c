/* Checkpoints of a session: the engine's run is where their values come from and go to; what was saved and loaded is a
 * note of the run. */
#include "app/session/checkpoint.h"
#include "app/session/rows.h"

#include <stdio.h>
#include <stdlib.h>

static bool value_has(void *run, int variable, int slot)
{
    return mgb_run_has(run, variable, slot);
}

static enum mgb_status value_read(void *run, float *out, int variable, int slot)
{
    return mgb_run_read(run, out, variable, slot);
}

static enum mgb_status value_write(void *run, const float *values, int variable, int slot)
{
    return mgb_run_write(run, values, variable, slot);
}

static struct mgb_checkpoint_values values_of(struct mgb_run *run)
{
    return (struct mgb_checkpoint_values){
        .context = run, .has = value_has, .read = value_read, .write = value_write};
}

/* What batch norm's moving statistics are moved by, under the placement in effect; in the file it names no places. */
static const char *statistics_of(const struct mgb_run *run)
{
    const struct mgb_effective *effective = mgb_run_effective(run);
    if (effective->tower_count == 1 || effective->bn == MGB_BN_SYNC)
        return "global batch";
    return effective->strategy == MGB_INDEPENDENT ? "first part of the batch alone"
                                                  : "parts of the batch, mean by rows";
}

static struct mgb_checkpoint_state state_of(const struct mgb_run *run)
{
    return (struct mgb_checkpoint_state){.optimizer = *mgb_run_optimizer(run),
                                         .progress = mgb_run_progress(run),
                                         .statistics = statistics_of(run)};
}

/* A store that cannot write is no failure of what is noted. */
static void note_put(struct script_session *session, const char *what, const char *path)
{
    uint64_t digest;
    char *note = NULL;
    if (!session->run_id || mgb_run_digest(session->run, &digest) != MGB_OK)
        return;
    if (asprintf(&note, "%s %.4000s at step %lld, digest %016llx", what, path,
                 (long long)mgb_run_step_index(session->run), (unsigned long long)digest) < 0)
        return;
    (void)mgb_hub_note(session->hub, session->run_id, note);
    free(note);
}

struct save_work {
    struct script_session *session;
    const char *path;
};

static enum mgb_status run_save(void *argument)
{
    struct save_work *work = argument;
    struct mgb_run *run = work->session->run;
    struct mgb_checkpoint_values values = values_of(run);
    struct mgb_checkpoint_state state = state_of(run);
    return mgb_checkpoint_save(work->path, work->session->graph, &state, &values);
}

enum mgb_status mgb_session_save(struct script_session *session, const char *path)
{
    struct save_work work = {session, path};
    MGB_TRY(mgb_session_worker_call(session->worker, run_save, &work, NULL, NULL));
    note_put(session, "saved", path);
    return MGB_OK;
}

struct load_work {
    struct script_session *session;
    const struct script_load *load;
};

/* Without its state the optimizer starts anew, and steps are counted on. */
static enum mgb_status run_load(void *argument)
{
    struct load_work *work = argument;
    struct mgb_run *run = work->session->run;
    struct mgb_checkpoint_values values = values_of(run);
    struct mgb_checkpoint_state state = state_of(run);
    MGB_TRY(mgb_checkpoint_load(work->load->loaded, work->load->path, work->session->graph, &state,
                                &values, &work->load->options));
    struct mgb_progress progress = state.progress;
    progress.updates = 0;
    enum mgb_status status = mgb_run_set_progress(
        run, work->load->loaded->resumed ? &work->load->loaded->progress : &progress);
    if (status != MGB_OK)
        mgb_checkpoint_loaded_done(work->load->loaded);
    return status;
}

enum mgb_status mgb_session_read_checkpoint(struct script_session *session,
                                            const struct script_load *load)
{
    struct load_work work = {session, load};
    return mgb_session_worker_call(session->worker, run_load, &work, NULL, NULL);
}

void mgb_session_note_checkpoint(struct script_session *session, const struct script_load *load)
{
    note_put(session, load->loaded->resumed ? "loaded" : "loaded the weights of", load->path);
}

/* No segment holds steps of two trainings, nor the same step twice. */
static enum mgb_status segment_renew(struct script_session *session)
{
    bool well = session->outcome == MGB_OUTCOME_RUNNING;
    MGB_TRY(mgb_session_finish_segment(session, well ? MGB_OUTCOME_OK : session->outcome,
                                       well ? NULL : session->message));
    return mgb_session_begin_segment(session);
}

enum mgb_status mgb_session_load(struct script_session *session, const struct script_load *load)
{
    if (session->finished)
        return mgb_fail(MGB_STATE, "load: this run has ended; open a session to train on");
    int64_t before = mgb_run_step_index(session->run);
    if (session->segment_id) /* records in the ring borrow the plan's names */
        mgb_recorder_flush(session->hub->recorder);
    mgb_session_record_measured(session);
    MGB_TRY(mgb_session_read_checkpoint(session, load));
    bool renew = session->segment_steps > 0 || mgb_run_step_index(session->run) != before;
    enum mgb_status status = renew ? segment_renew(session) : MGB_OK;
    if (load->new_segment)
        *load->new_segment = renew;
    if (status != MGB_OK)
        mgb_checkpoint_loaded_done(load->loaded);
    else
        mgb_session_note_checkpoint(session, load);
    return status;
}
