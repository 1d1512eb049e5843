/* Collectives: their members are issued as one call, when the last of them is reached, and what is timed of a step. */
#include "engine/exec/program.h"

static bool member(const struct mgb_command *command, int collective)
{
    return command->task->kind == MGB_TASK_ALLREDUCE && command->task->collective == collective;
}

/* Members in tower order into meets[begin...]; returns how many. */
static int members_list(struct mgb_program *program, int collective, int begin)
{
    int count = 0;
    for (int tower = 0; tower < program->plan->tower_count; tower++)
        for (int i = 0; i < program->count; i++)
            if (member(&program->commands[i], collective) && program->commands[i].tower == tower)
                program->meets[begin + count++] = i;
    return count;
}

/* Nothing may stand between the first member and the last that waits for a member or runs on a member's queue: the call
 * comes when the last is reached. */
static enum mgb_status meet_check(const struct mgb_program *program, int first, int last)
{
    for (int i = first; i <= last; i++) {
        const struct mgb_command *command = &program->commands[i];
        if (command->task->kind == MGB_TASK_ALLREDUCE)
            continue;
        for (int k = first; k < last; k++) {
            const struct mgb_command *earlier = &program->commands[k];
            if (earlier->task->kind == MGB_TASK_ALLREDUCE && earlier->queue == command->queue)
                return mgb_fail(MGB_CORRUPT,
                                "the plan runs task '%s' between the members of all-reduce '%s'",
                                command->task->name, earlier->task->name);
            for (int w = 0; w < command->wait_count; w++)
                if (program->waits[command->wait_begin + w] == k &&
                    earlier->task->kind == MGB_TASK_ALLREDUCE)
                    return mgb_fail(
                        MGB_CORRUPT,
                        "the plan lets task '%s' wait for one member of all-reduce '%s' "
                        "before the others are issued",
                        command->task->name, earlier->task->name);
        }
    }
    return MGB_OK;
}

enum mgb_status mgb_program_add_meets(struct mgb_program *program)
{
    int total = 0;
    for (int i = 0; i < program->count; i++)
        total += program->commands[i].task->kind == MGB_TASK_ALLREDUCE;
    if (total == 0)
        return MGB_OK;
    if (!program->site->backend->allreduce ||
        (program->plan->wire_type != MGB_WIRE_F32 && !program->site->backend->allreduce_wire))
        return mgb_fail(MGB_UNSUPPORTED, "backend %s has no all-reduce; use strategy = gradients",
                        program->site->backend->name);
    program->meets = mgb_pool_alloc(&program->pool, (size_t)total * sizeof *program->meets);
    program->meet_queues =
        mgb_pool_alloc(&program->pool, (size_t)total * sizeof(struct mgb_queue *));
    program->meet_buffers = mgb_pool_alloc(&program->pool, (size_t)total * sizeof(float *));
    if (!program->meets || !program->meet_queues || !program->meet_buffers)
        return mgb_fail(MGB_NO_MEMORY, "no memory to prepare a step plan");
    int begin = 0;
    for (int c = 0; c < program->plan->collective_count; c++) {
        int count = members_list(program, c, begin), first = program->count, last = -1;
        for (int k = 0; k < count; k++) {
            int index = program->meets[begin + k];
            first = index < first ? index : first;
            last = index > last ? index : last;
        }
        if (count == 0)
            continue;
        MGB_TRY(meet_check(program, first, last));
        program->commands[last].meet_begin = begin;
        program->commands[last].meet_count = count;
        begin += count;
    }
    return MGB_OK;
}

/* A run ends where the phase changes, where a tower's work and the root's meet and before a task that waits: the wait is
 * no work. Members of a collective stand alone: others decide when they begin. */
static bool span_begins(const struct mgb_program *program, const struct mgb_command *command,
                        int last)
{
    if (last < 0 || command->wait_count > 0 || command->task->kind == MGB_TASK_ALLREDUCE)
        return true;
    const struct mgb_command *before = &program->commands[last];
    return before->task->phase != command->task->phase || before->tower != command->tower ||
           before->task->kind == MGB_TASK_ALLREDUCE;
}

static void span_add(struct mgb_program *program, int index)
{
    struct mgb_command *command = &program->commands[index];
    struct mgb_program_queue *queue = &program->queues[command->queue];
    if (span_begins(program, command, queue->last)) {
        if (queue->last >= 0)
            program->commands[queue->last].ends = true;
        command->begins = true;
        queue->span = program->span_count;
        program->spans[program->span_count++] =
            (struct mgb_span){.first = index,
                              .last = index,
                              .device = command->device,
                              .from = command->task->queue == MGB_QUEUE_COPY ? command->from : -1,
                              .phase = command->task->phase,
                              .tower = command->tower};
    }
    program->spans[queue->span].last = index;
    queue->last = index;
}

enum mgb_status mgb_program_add_spans(struct mgb_program *program)
{
    size_t most = (size_t)program->count + 1;
    program->spans = mgb_pool_alloc(&program->pool, most * sizeof *program->spans);
    program->boundaries =
        mgb_pool_alloc(&program->pool, MGB_BOUNDARIES(most) * sizeof *program->boundaries);
    if (!program->spans || !program->boundaries)
        return mgb_fail(MGB_NO_MEMORY, "no memory to prepare a step plan");
    for (int i = 0; i < program->queue_count; i++)
        program->queues[i].last = -1;
    for (int i = 0; i < program->count; i++)
        span_add(program, i);
    for (int i = 0; i < program->queue_count; i++)
        if (program->queues[i].last >= 0)
            program->commands[program->queues[i].last].ends = true;
    return MGB_OK;
}
