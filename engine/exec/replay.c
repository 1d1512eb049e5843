/* Steps that are kept by the backend and replayed: a program is enqueued as ever until both of its input slots have been
 * played, then kept, once a slot. What cannot be kept is enqueued for good, or refused where replay was insisted on. */
#include "engine/exec/play.h"

#include "engine/base/text.h"
#include <string.h>

#define PLAYS_BEFORE 2 /* work may need memory when it runs first */

void mgb_program_drop_replays(struct mgb_program *program)
{
    for (int slot = 0; slot < 2; slot++) {
        if (program->replays[slot])
            program->site->backend->replay_free(program->replays[slot]);
        program->replays[slot] = NULL;
    }
}

bool mgb_program_replays(const struct mgb_program *program, const struct mgb_play *play)
{
    return program->replay != MGB_CHOICE_NO && !play->trace && !play->hold &&
           program->plays >= PLAYS_BEFORE && program->queue_count > 0;
}

static enum mgb_status program_capture(struct mgb_program *program, const struct mgb_play *play)
{
    const struct mgb_site *site = program->site;
    const struct mgb_backend *backend = site->backend;
    for (int i = 0; i < program->queue_count; i++)
        program->capture_queues[i] = program->queues[i].queue;
    MGB_TRY(backend->capture_begin(site->context, program->capture_queues, program->queue_count));
    for (int i = 0; i < program->count; i++) {
        enum mgb_status status = mgb_command_enqueue(program, &program->commands[i], play);
        if (status != MGB_OK) {
            backend->capture_drop(site->context);
            return status;
        }
    }
    return backend->capture_end(site->context, &program->replays[play->slot]);
}

/* A factor of the optimizer may have changed: kernels have it in their arguments. */
static void replays_check(struct mgb_program *program)
{
    const struct mgb_optimizer *now = &program->plan->optimizer;
    if (memcmp(&program->replay_optimizer, now, sizeof *now) == 0)
        return;
    mgb_program_drop_replays(program);
    memcpy(&program->replay_optimizer, now, sizeof *now);
}

enum mgb_status mgb_program_replay(struct mgb_program *program, const struct mgb_play *play,
                                   bool *enqueued)
{
    *enqueued = false;
    replays_check(program);
    if (!program->replays[play->slot]) {
        enum mgb_status status = program_capture(program, play);
        if (status != MGB_OK && program->replay == MGB_CHOICE_YES)
            return mgb_fail_in(status, "graph = true: a step that cannot be replayed");
        if (status != MGB_OK) {
            mgb_format(program->replay_refusal, sizeof program->replay_refusal,
                       "graph = auto: steps are not replayed: %s", mgb_message_get());
            mgb_program_drop_replays(program);
            program->replay = MGB_CHOICE_NO;
            return MGB_OK;
        }
    }
    *enqueued = true;
    return program->site->backend->replay(program->replays[play->slot]);
}
