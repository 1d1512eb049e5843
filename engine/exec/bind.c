/* Binds a program to the site's arenas, queues and events. */
#include "engine/exec/program.h"

void *mgb_program_address(const struct mgb_program *program, struct mgb_place place)
{
    if (!program->site)
        return NULL;
    const struct mgb_arena *arena = mgb_site_arena(program->site, place.arena, place.device);
    return arena->base ? (unsigned char *)arena->base + place.offset : NULL;
}

static void slot_set(struct mgb_program *program, int slot, const struct mgb_flat_operand *operand)
{
    unsigned char *address = mgb_program_address(program, operand->place);
    program->addresses[0][slot] = address;
    program->addresses[1][slot] = address ? address + operand->flip : NULL;
    program->counts[slot] = operand->bytes / (int64_t)sizeof(float);
    program->rows[slot] = operand->tower >= 0 ? program->plan->towers[operand->tower].rows : 0;
}

/* Inputs, then outputs by their number in the node, then the workspace. */
static void compute_place(struct mgb_program *program, struct mgb_command *command, int operands)
{
    const struct mgb_task *task = command->task;
    const struct mgb_node *node = &program->plan->graph->nodes[task->node];
    int slot = command->slot_begin, next = 0;
    for (; next < task->input_count; next++)
        slot_set(program, slot + next, &program->scratch[next]);
    for (int k = 0; k < node->output_count; k++)
        if (node->outputs[k] >= 0 && next < task->input_count + task->output_count)
            slot_set(program, slot + task->input_count + k, &program->scratch[next++]);
    int workspace = slot + task->input_count + MGB_MAX_OUTPUTS;
    if (next < operands)
        slot_set(program, workspace, &program->scratch[next]);
    for (int flip = 0; flip < 2; flip++) {
        void **addresses = program->addresses[flip];
        command->launch[flip] = (struct mgb_launch){
            .inputs = addresses + slot,
            .outputs = addresses + slot + task->input_count,
            .workspace = addresses[workspace],
            .name = node->name,
            .first_row = command->tower >= 0 ? program->plan->towers[command->tower].first_row : 0,
            .scale = mgb_program_scale(program, task),
            .values = &program->values};
    }
}

/* Operands: weight, gradient, slots... a weight, then the clip factor; of states value and share. */
static int update_place(struct mgb_program *program, struct mgb_command *command, int item)
{
    const struct mgb_plan *plan = program->plan;
    const struct mgb_optimizer *optimizer = &plan->optimizer;
    bool states = command->task->states;
    int slots = states ? 0 : mgb_optimizer_slots(optimizer),
        clip = !states && (optimizer->clip_norm > 0.0f || plan->precision == MGB_PRECISION_F16);
    int count = (command->slot_count - clip) / (2 + slots);
    void **address = program->addresses[0] + command->slot_begin;
    const int64_t *counts = program->counts + command->slot_begin;
    command->update = (struct mgb_update){.optimizer = optimizer,
                                          .items = program->items + item,
                                          .item_count = count,
                                          .momentum = states ? &command->task->scale : NULL,
                                          .values = &program->values};
    for (int i = 0; i < count; i++, address += 2 + slots, counts += 2 + slots) {
        struct mgb_update_item *to = &program->items[item + i];
        *to = (struct mgb_update_item){
            .weight = address[0], .gradient = address[1], .count = counts[0]};
        for (int k = 0; k < slots; k++)
            to->slots[k] = address[2 + k];
    }
    command->update.clip = clip ? address[0] : NULL;
    return item + count;
}

void mgb_program_place_operands(struct mgb_program *program)
{
    int item = 0;
    for (int i = 0; i < program->count; i++) {
        struct mgb_command *command = &program->commands[i];
        const struct mgb_flat_task *flat = &program->flat.tasks[i];
        int operands = mgb_plan_operands(program->plan, flat->task, flat->tower, program->scratch);
        if (command->task->kind == MGB_TASK_COMPUTE) {
            compute_place(program, command, operands);
            continue;
        }
        for (int k = 0; k < operands; k++)
            slot_set(program, command->slot_begin + k, &program->scratch[k]);
        command->bytes = operands > 0 ? program->scratch[0].bytes : 0;
        if (command->task->kind == MGB_TASK_UPDATE)
            item = update_place(program, command, item);
    }
}

static void meets_place(struct mgb_program *program)
{
    for (int i = 0; i < program->count; i++) {
        const struct mgb_command *command = &program->commands[i];
        for (int k = command->meet_begin; k < command->meet_begin + command->meet_count; k++) {
            const struct mgb_command *member = &program->commands[program->meets[k]];
            program->meet_queues[k] = program->queues[member->queue].queue;
            program->meet_buffers[k] = program->addresses[0][member->slot_begin];
        }
    }
}

static enum mgb_status events_make(struct mgb_program *program, bool traced)
{
    const struct mgb_site *site = program->site;
    for (int i = 0; i < program->count; i++) {
        struct mgb_command *command = &program->commands[i];
        if (!command->begin && (command->begins || traced))
            MGB_TRY(site->backend->event_make(site->context, &command->begin, command->device));
        if (!command->end && (command->ends || command->awaited || traced))
            MGB_TRY(site->backend->event_make(site->context, &command->end, command->device));
    }
    program->traced = program->traced || traced;
    return MGB_OK;
}

static enum mgb_status program_bind(struct mgb_program *program, bool traced)
{
    for (int i = 0; i < program->queue_count; i++) {
        struct mgb_program_queue *queue = &program->queues[i];
        if (!queue->queue)
            MGB_TRY(mgb_site_queue_get(program->site, &queue->queue, &queue->request));
    }
    MGB_TRY(events_make(program, traced));
    if (program->generation == program->site->generation)
        return MGB_OK;
    mgb_program_drop_replays(program);
    mgb_program_place_operands(program);
    meets_place(program);
    MGB_TRY(mgb_program_add_readings(program));
    program->generation = program->site->generation;
    return MGB_OK;
}

enum mgb_status mgb_program_bind(struct mgb_program *program, bool traced)
{
    if (program->generation == program->site->generation && (program->traced || !traced))
        return MGB_OK;
    enum mgb_status status = program_bind(program, traced);
    if (status != MGB_OK)
        mgb_program_unbind(program);
    return status;
}

void mgb_program_unbind(struct mgb_program *program)
{
    mgb_program_drop_replays(program);
    program->plays = 0;
    for (int i = 0; i < program->count && program->commands; i++) {
        struct mgb_command *command = &program->commands[i];
        if (command->begin)
            program->site->backend->event_free(command->begin);
        if (command->end)
            program->site->backend->event_free(command->end);
        command->begin = command->end = NULL;
    }
    for (int i = 0; i < program->queue_count; i++) {
        if (program->queues[i].queue)
            mgb_site_queue_put(program->site, program->queues[i].queue);
        program->queues[i].queue = NULL;
    }
    program->generation = 0;
    program->traced = false;
}
