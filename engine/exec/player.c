/* Plays a program: enqueues every command in plan order and waits for the end. Order between queues is by events on the
 * devices; the host only walks the list. */
#include "engine/exec/play.h"

#include "engine/base/text.h"
#include <limits.h>

static enum mgb_status waits_enqueue(const struct mgb_program *program,
                                     const struct mgb_command *command)
{
    const struct mgb_backend *backend = program->site->backend;
    struct mgb_queue *queue = program->queues[command->queue].queue;
    for (int i = 0; i < command->wait_count; i++)
        MGB_TRY(
            backend->wait(queue, program->commands[program->waits[command->wait_begin + i]].end));
    return MGB_OK;
}

static enum mgb_status begin_record(const struct mgb_program *program,
                                    const struct mgb_command *command, bool trace)
{
    if (!command->begins && !trace)
        return MGB_OK;
    return program->site->backend->record(program->queues[command->queue].queue, command->begin);
}

static enum mgb_status end_record(const struct mgb_program *program,
                                  const struct mgb_command *command, bool trace)
{
    const struct mgb_backend *backend = program->site->backend;
    struct mgb_queue *queue = program->queues[command->queue].queue;
    if (command->ends || trace)
        return backend->record(queue, command->end);
    if (!command->awaited)
        return MGB_OK;
    return backend->mark ? backend->mark(queue, command->end)
                         : backend->record(queue, command->end);
}

static enum mgb_status work_enqueue(struct mgb_program *program, const struct mgb_command *command,
                                    int flip)
{
    const struct mgb_backend *backend = program->site->backend;
    struct mgb_queue *queue = program->queues[command->queue].queue;
    void **at = program->addresses[flip] + command->slot_begin;
    const int64_t *counts = program->counts + command->slot_begin;
    const float *const *sources = (const float *const *)(at + 1);
    switch (command->task->kind) {
    case MGB_TASK_COMPUTE:
        return backend->launch(queue, command->kernel, &command->launch[flip]);
    case MGB_TASK_COPY:
        return at[0] == at[1] ? MGB_OK : backend->copy(queue, at[0], at[1], command->bytes);
    case MGB_TASK_REDUCE:
        return backend->reduce(queue, at[0], sources, command->slot_count - 1, counts[0]);
    case MGB_TASK_MERGE:
        return backend->merge(queue, at[0], at[1], sources + 1,
                              program->rows + command->slot_begin + 2,
                              (command->slot_count - 2) / 2, counts[0]);
    case MGB_TASK_FILL:
        return backend->fill(queue, at[0], command->bytes);
    case MGB_TASK_NORM:
        return backend->norm(queue, at[0], sources, counts + 1, command->slot_count - 1);
    case MGB_TASK_CLIP:
        return backend->clip(queue, at[0], sources, counts + 1, command->slot_count - 1,
                             mgb_program_clip(program));
    case MGB_TASK_UPDATE:
        return program->hold ? MGB_OK : backend->update(queue, &command->update);
    case MGB_TASK_CAST:
        return backend->cast(queue, at[0], at[1], counts[0] > counts[1] ? counts[0] : counts[1],
                             program->plan->wire_type,
                             counts[0] < counts[1]   ? MGB_CAST_NARROW
                             : counts[0] > counts[1] ? MGB_CAST_WIDEN
                                                     : MGB_CAST_ROUND);
    case MGB_TASK_ALLREDUCE:
        break; /* by its last member */
    }
    return MGB_OK;
}

static enum mgb_status meet_work(struct mgb_program *program, const struct mgb_command *last)
{
    const struct mgb_plan *plan = program->plan;
    const struct mgb_backend *backend = program->site->backend;
    struct mgb_queue **queues = program->meet_queues + last->meet_begin;
    float **buffers = program->meet_buffers + last->meet_begin;
    if (plan->wire_type != MGB_WIRE_F32 && !last->task->states)
        return backend->allreduce_wire(queues, (void *const *)buffers, last->meet_count,
                                       last->bytes / 2, plan->algorithm, plan->wire_type);
    return backend->allreduce(queues, buffers, last->meet_count,
                              last->bytes / (int64_t)sizeof(float), plan->algorithm);
}

/* All members at once: each queue waits for its own, then they meet. */
static enum mgb_status meet_enqueue(struct mgb_program *program, const struct mgb_command *last,
                                    bool trace)
{
    const int *members = program->meets + last->meet_begin;
    for (int k = 0; k < last->meet_count; k++) {
        const struct mgb_command *member = &program->commands[members[k]];
        MGB_TRY(waits_enqueue(program, member));
        MGB_TRY(begin_record(program, member, trace));
    }
    MGB_TRY(meet_work(program, last));
    for (int k = 0; k < last->meet_count; k++)
        MGB_TRY(end_record(program, &program->commands[members[k]], trace));
    return MGB_OK;
}

enum mgb_status mgb_command_enqueue(struct mgb_program *program, const struct mgb_command *command,
                                    const struct mgb_play *play)
{
    if (command->task->kind == MGB_TASK_ALLREDUCE)
        return command->meet_count > 0 ? meet_enqueue(program, command, play->trace) : MGB_OK;
    MGB_TRY(waits_enqueue(program, command));
    MGB_TRY(begin_record(program, command, play->trace));
    MGB_TRY(work_enqueue(program, command, play->slot));
    return end_record(program, command, play->trace);
}

/* What was enqueued before a failure must end before anything else happens; the first message is the one that counts. */
static enum mgb_status drain_after(struct mgb_program *program, enum mgb_status status,
                                   int64_t timeout_ns)
{
    const struct mgb_site *site = program->site;
    char message[1024];
    mgb_format(message, sizeof message, "%s", mgb_message_get());
    struct mgb_oom oom = mgb_oom_get();
    enum mgb_status drained = site->backend->drain(site->context, timeout_ns);
    if (drained == MGB_TIMEOUT || drained == MGB_DEVICE)
        return drained;
    if (status == MGB_OOM)
        (void)mgb_fail_oom(oom.device, oom.needed, oom.available, "");
    return mgb_fail(status, "%s", message);
}

enum mgb_status mgb_program_play(struct mgb_program *program, const struct mgb_play *play)
{
    const struct mgb_site *site = program->site;
    enum mgb_status status = MGB_OK;
    bool enqueued = false;
    program->values = play->values;
    program->hold = play->hold;
    if (mgb_program_replays(program, play))
        status = mgb_program_replay(program, play, &enqueued);
    for (int i = 0; i < program->count && status == MGB_OK && !enqueued; i++)
        status = mgb_command_enqueue(program, &program->commands[i], play);
    if (status != MGB_OK)
        return drain_after(program, status, play->timeout_ns);
    program->plays += program->plays < INT_MAX;
    return site->backend->drain(site->context, play->timeout_ns);
}

/* Every arena that the command, or a member of its collective, names is opened, every other one closed. */
static enum mgb_status arenas_guard(struct mgb_program *program, const struct mgb_command *command)
{
    struct mgb_site *site = program->site;
    int devices = site->topology->device_count;
    int members = command->meet_count > 0 ? command->meet_count : 1;
    for (int i = 0; i < devices * MGB_ARENA_KINDS; i++) {
        struct mgb_arena *arena = &site->arenas[i];
        bool named = false;
        for (int m = 0; m < members && !named; m++) {
            const struct mgb_flat_task *flat =
                &program->flat
                     .tasks[command->meet_count > 0 ? program->meets[command->meet_begin + m]
                                                    : (int)(command - program->commands)];
            int operands =
                mgb_plan_operands(program->plan, flat->task, flat->tower, program->scratch);
            for (int k = 0; k < operands && !named; k++)
                named = arena == mgb_site_arena(site, program->scratch[k].place.arena,
                                                program->scratch[k].place.device);
        }
        MGB_TRY(mgb_site_set_closed(site, arena, !named));
    }
    return MGB_OK;
}

static enum mgb_status guarded_one(struct mgb_program *program, const struct mgb_command *command,
                                   const struct mgb_play *play)
{
    const struct mgb_site *site = program->site;
    MGB_TRY(arenas_guard(program, command));
    enum mgb_status status = mgb_command_enqueue(program, command, play);
    if (status != MGB_OK)
        return drain_after(program, status, play->timeout_ns);
    return site->backend->drain(site->context, play->timeout_ns);
}

enum mgb_status mgb_program_play_guarded(
    struct mgb_program *program, const struct mgb_play *play,
    enum mgb_status (*before)(void *context, const struct mgb_command *command), void *context)
{
    enum mgb_status status = MGB_OK;
    program->values = play->values;
    program->hold = play->hold;
    for (int i = 0; i < program->count && status == MGB_OK; i++) {
        const struct mgb_command *command = &program->commands[i];
        if (command->task->kind == MGB_TASK_ALLREDUCE && command->meet_count == 0)
            continue;
        if (before) {
            MGB_TRY_GOTO(status, mgb_site_open_arenas(program->site), end);
            MGB_TRY_GOTO(status, before(context, command), end);
        }
        status = guarded_one(program, command, play);
    }
end:
    if (status != MGB_OK) {
        char message[1024];
        mgb_format(message, sizeof message, "%s", mgb_message_get());
        (void)mgb_site_open_arenas(program->site);
        return mgb_fail(status, "%s", message);
    }
    return mgb_site_open_arenas(program->site);
}
