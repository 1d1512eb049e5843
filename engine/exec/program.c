/* Makes a program from a plan: commands, waits, address slots. What a plan's words mean for a backend is decided here and in
 * the passes beside it; playing only walks the lists. */
#include "engine/exec/program.h"

#include <string.h>

static enum mgb_status no_memory(void)
{
    return mgb_fail(MGB_NO_MEMORY, "no memory to prepare a step plan");
}

/* CPU threads of a device's compute queue: /cpu:0 has its own number unless a tower runs there. */
static int threads_of(const struct mgb_plan *plan, int device)
{
    if (device != 0)
        return plan->threads;
    for (int i = 0; i < plan->tower_count; i++)
        if (plan->towers[i].device == 0)
            return plan->threads;
    return plan->cpu_threads;
}

static struct mgb_queue_request queue_of(const struct mgb_plan *plan,
                                         const struct mgb_command *command)
{
    if (command->task->queue == MGB_QUEUE_COPY)
        return (struct mgb_queue_request){
            .use = MGB_USE_COPY, .device = command->device, .from = command->from};
    return (struct mgb_queue_request){.use = MGB_USE_COMPUTE,
                                      .device = command->device,
                                      .from = command->device,
                                      .threads = threads_of(plan, command->device)};
}

static int queue_find(struct mgb_program *program, const struct mgb_queue_request *request)
{
    int i = 0;
    for (; i < program->queue_count; i++) {
        const struct mgb_queue_request *have = &program->queues[i].request;
        if (have->use == request->use && have->device == request->device &&
            have->from == request->from)
            return i;
    }
    program->queues[program->queue_count++] = (struct mgb_program_queue){.request = *request};
    return i;
}

/* Queues are few: one a device and at most one a pair of devices that the plan's traffic names, plus a device's own. */
static enum mgb_status queues_add(struct mgb_program *program)
{
    const struct mgb_plan *plan = program->plan;
    int devices = plan->topology->device_count;
    size_t most = (size_t)devices * (size_t)(devices + 1);
    if (most > (size_t)program->count + 1)
        most = (size_t)program->count + 1;
    program->queues = mgb_pool_alloc(&program->pool, most * sizeof *program->queues);
    if (!program->queues)
        return no_memory();
    for (int i = 0; i < program->count; i++) {
        struct mgb_command *command = &program->commands[i];
        const struct mgb_flat_task *flat = &program->flat.tasks[i];
        command->task = &plan->tasks[flat->task];
        command->tower = flat->tower;
        command->device = flat->device;
        command->from = flat->from;
        if (command->task->queue == MGB_QUEUE_COPY && command->from < 0)
            command->from = command->device;
        command->bytes = command->task->bytes;
        struct mgb_queue_request request = queue_of(plan, command);
        command->queue = queue_find(program, &request);
    }
    program->capture_queues = mgb_pool_alloc(
        &program->pool, (size_t)program->queue_count * sizeof *program->capture_queues + 1);
    return program->capture_queues ? MGB_OK : no_memory();
}

static bool instance_wanted(const struct mgb_wait *wait, int own, int tower)
{
    if (wait->tower == MGB_EACH_TOWER)
        return true;
    return wait->tower == MGB_OWN ? tower == own || tower == -1 : tower == wait->tower;
}

/* The commands of other queues that command `index` waits for; `out` may be NULL. */
static int waits_list(struct mgb_program *program, int index, int *out)
{
    const struct mgb_command *command = &program->commands[index];
    const struct mgb_flat *flat = &program->flat;
    int count = 0;
    for (int w = 0; w < command->task->wait_count; w++) {
        const struct mgb_wait *wait = &program->plan->waits[command->task->wait_begin + w];
        for (int k = flat->first[wait->task]; k < flat->first[wait->task + 1]; k++) {
            if (!instance_wanted(wait, command->tower, flat->tasks[k].tower) ||
                program->commands[k].queue == command->queue)
                continue;
            if (out)
                out[count] = k;
            count++;
        }
    }
    return count;
}

static enum mgb_status waits_add(struct mgb_program *program)
{
    int total = 0;
    for (int i = 0; i < program->count; i++)
        total += waits_list(program, i, NULL);
    program->waits = mgb_pool_alloc(&program->pool, ((size_t)total + 1) * sizeof *program->waits);
    if (!program->waits)
        return no_memory();
    total = 0;
    for (int i = 0; i < program->count; i++) {
        struct mgb_command *command = &program->commands[i];
        command->wait_begin = total;
        command->wait_count = waits_list(program, i, program->waits + total);
        for (int k = 0; k < command->wait_count; k++) {
            int on = program->waits[total + k];
            if (on >= i)
                return mgb_fail(MGB_CORRUPT, "the plan lets task '%s' wait for the later task '%s'",
                                command->task->name, program->commands[on].task->name);
            program->commands[on].awaited = true;
        }
        total += command->wait_count;
    }
    return MGB_OK;
}

/* Address slots: a compute task's inputs, MGB_MAX_OUTPUTS outputs and the workspace; else one an operand. */
static enum mgb_status slots_add(struct mgb_program *program)
{
    int total = 0, most = 1, updates = 0;
    for (int i = 0; i < program->count; i++) {
        struct mgb_command *command = &program->commands[i];
        const struct mgb_flat_task *flat = &program->flat.tasks[i];
        int operands = mgb_plan_operands(program->plan, flat->task, flat->tower, NULL);
        command->slot_begin = total;
        command->slot_count = command->task->kind == MGB_TASK_COMPUTE
                                  ? command->task->input_count + MGB_MAX_OUTPUTS + 1
                                  : operands;
        total += command->slot_count;
        most = operands > most ? operands : most;
        updates += command->task->kind == MGB_TASK_UPDATE ? operands : 0;
    }
    struct mgb_pool *pool = &program->pool;
    program->slot_count = total;
    program->addresses[0] = mgb_pool_alloc(pool, ((size_t)total + 1) * sizeof(void *));
    program->addresses[1] = mgb_pool_alloc(pool, ((size_t)total + 1) * sizeof(void *));
    program->counts = mgb_pool_alloc(pool, ((size_t)total + 1) * sizeof *program->counts);
    program->rows = mgb_pool_alloc(pool, ((size_t)total + 1) * sizeof *program->rows);
    program->scratch = mgb_pool_alloc(pool, (size_t)most * sizeof *program->scratch);
    program->items = mgb_pool_alloc(pool, ((size_t)updates / 2 + 1) * sizeof *program->items);
    return program->addresses[0] && program->addresses[1] && program->counts && program->rows &&
                   program->scratch && program->items
               ? MGB_OK
               : no_memory();
}

/* Takes the plan over, on failure too. */
static enum mgb_status program_begin(struct mgb_program **out, struct mgb_plan *plan)
{
    struct mgb_program *program = mgb_alloc(sizeof *program);
    if (!program) {
        mgb_plan_free(plan);
        return no_memory();
    }
    program->plan = plan;
    program->replay = MGB_CHOICE_NO;
    mgb_pool_init(&program->pool);
    *out = program;
    return MGB_OK;
}

enum mgb_status mgb_program_make(struct mgb_program **out, struct mgb_site *site,
                                 struct mgb_plan *plan)
{
    struct mgb_program *program = NULL;
    enum mgb_status status;
    MGB_TRY(program_begin(&program, plan));
    program->site = site;
    MGB_TRY_GOTO(status, mgb_plan_expand(&program->flat, plan), failed);
    program->count = program->flat.count;
    program->commands =
        mgb_pool_alloc(&program->pool, ((size_t)program->count + 1) * sizeof *program->commands);
    MGB_TRY_GOTO(status, program->commands ? MGB_OK : no_memory(), failed);
    MGB_TRY_GOTO(status, queues_add(program), failed);
    MGB_TRY_GOTO(status, waits_add(program), failed);
    MGB_TRY_GOTO(status, slots_add(program), failed);
    MGB_TRY_GOTO(status, mgb_program_add_meets(program), failed);
    MGB_TRY_GOTO(status, mgb_program_add_spans(program), failed);
    MGB_TRY_GOTO(status, mgb_program_add_kernels(program), failed);
    MGB_TRY_GOTO(status, mgb_program_add_readings(program), failed);
    *out = program;
    return MGB_OK;
failed:
    mgb_program_free(program);
    return status;
}

enum mgb_status mgb_program_make_virtual(struct mgb_program **out,
                                         const struct mgb_virtual *play_virtual,
                                         struct mgb_plan *plan)
{
    MGB_TRY(program_begin(out, plan));
    (*out)->play_virtual = play_virtual;
    return MGB_OK;
}

void mgb_program_free(struct mgb_program *program)
{
    if (!program)
        return;
    if (program->play_virtual)
        program->play_virtual->forget(program->play_virtual->context, program->plan);
    mgb_program_unbind(program);
    mgb_flat_done(&program->flat);
    mgb_pool_done(&program->pool);
    mgb_plan_free(program->plan);
    mgb_release(program);
}
