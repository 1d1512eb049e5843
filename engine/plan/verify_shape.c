/* What can be seen without order: every index in range, every task and buffer on a device, rows that add up, copies of
 * equal size, operands inside their buffers. */
#include "engine/plan/verify.h"

static bool device_known(const struct mgb_plan *plan, int device, bool self)
{
    return (self && device == MGB_SELF) || (device >= 0 && device < plan->topology->device_count);
}

static bool class_known(const struct mgb_plan *plan, int class)
{
    return class >= MGB_ROOT && class < plan->class_count;
}

static enum mgb_status towers_check(const struct mgb_plan *plan)
{
    int row = 0;
    for (int t = 0; t < plan->tower_count; t++) {
        const struct mgb_tower *tower = &plan->towers[t];
        if (!device_known(plan, tower->device, false) || tower->class < 0 ||
            tower->class >= plan->class_count)
            return mgb_fail(MGB_CORRUPT, "plan: tower %d has no device or no class", t);
        if (tower->first_row != row || tower->rows != plan->classes[tower->class].rows)
            return mgb_fail(MGB_CORRUPT,
                            "plan: tower %d has rows %d to %d, expected to start at %d", t,
                            tower->first_row, tower->first_row + tower->rows, row);
        row += tower->rows;
    }
    if (row != plan->global_rows && plan->kind != MGB_PLAN_MOVE)
        return mgb_fail(MGB_CORRUPT, "plan: the towers take %d of %d rows", row, plan->global_rows);
    return MGB_OK;
}

static enum mgb_status buffer_check(const struct mgb_plan *plan, int index)
{
    const struct mgb_buffer *b = &plan->buffers[index];
    const char *name = b->name ? b->name : "";
    if (!class_known(plan, b->class))
        return mgb_fail(MGB_CORRUPT, "plan: buffer b%d '%s' belongs to no class", index, name);
    if (!device_known(plan, b->device, b->class != MGB_ROOT))
        return mgb_fail(MGB_CORRUPT, "plan: buffer b%d '%s' has no device", index, name);
    if (b->offset < 0 || b->bytes < 0 || b->stride < 0 || b->flip < 0 || b->offset % 64 != 0)
        return mgb_fail(MGB_CORRUPT,
                        "plan: buffer b%d '%s' lies at %lld, %lld bytes: not aligned to 64", index,
                        name, (long long)b->offset, (long long)b->bytes);
    bool several =
        b->class != MGB_ROOT && b->device != MGB_SELF && plan->classes[b->class].tower_count > 1;
    if (several && b->stride < b->bytes)
        return mgb_fail(MGB_CORRUPT, "plan: instances of buffer b%d '%s' lie on each other", index,
                        name);
    if (b->first > b->last || b->first < 0 || (plan->task_count > 0 && b->last >= plan->task_count))
        return mgb_fail(MGB_CORRUPT, "plan: buffer b%d '%s' lives from t%d to t%d", index, name,
                        b->first, b->last);
    return MGB_OK;
}

static enum mgb_status operand_check(const struct mgb_plan *plan, const struct mgb_task *task,
                                     int index, int k)
{
    const struct mgb_operand *o = &plan->operands[task->operand_begin + k];
    if (o->buffer < 0 || o->buffer >= plan->buffer_count)
        return mgb_fail(MGB_CORRUPT, "plan: task t%d '%s': operand %d has no buffer", index,
                        task->name, k);
    const struct mgb_buffer *b = &plan->buffers[o->buffer];
    bool tower = o->tower >= 0 && o->tower < plan->tower_count && b->class != MGB_ROOT &&
                 plan->towers[o->tower].class == b->class;
    bool own = o->tower == MGB_OWN && (b->class == MGB_ROOT || b->class == task->class);
    bool each = o->tower == MGB_EACH_TOWER && b->class != MGB_ROOT && task->class == MGB_ROOT;
    if (!tower && !own && !each)
        return mgb_fail(MGB_CORRUPT,
                        "plan: task t%d '%s': operand %d names no instance of buffer b%d", index,
                        task->name, k, o->buffer);
    int64_t before =
        task->class == MGB_ROOT ? 0 : plan->global_rows - plan->classes[task->class].rows;
    int64_t end = o->offset + o->bytes + o->row_bytes * before;
    if (o->offset < 0 || o->bytes <= 0 || end > b->bytes ||
        (o->row_bytes > 0 && b->class != MGB_ROOT))
        return mgb_fail(MGB_CORRUPT,
                        "plan: task t%d '%s': operand %d lies outside of buffer b%d '%s'", index,
                        task->name, k, o->buffer, b->name);
    return MGB_OK;
}

static enum mgb_status counts_check(const struct mgb_plan *plan, const struct mgb_task *task,
                                    int index)
{
    int wanted = task->kind == MGB_TASK_COPY || task->kind == MGB_TASK_CAST        ? 2
                 : task->kind == MGB_TASK_FILL || task->kind == MGB_TASK_ALLREDUCE ? 1
                                                                                   : 0;
    if ((wanted > 0 && task->operand_count != wanted) || task->operand_count < 1)
        return mgb_fail(MGB_CORRUPT, "plan: task t%d '%s' has %d operands", index, task->name,
                        task->operand_count);
    if (task->kind == MGB_TASK_COMPUTE &&
        (task->node < 0 || task->output_count < 1 || task->input_count < 0 ||
         task->input_count + task->output_count > task->operand_count))
        return mgb_fail(MGB_CORRUPT,
                        "plan: task t%d '%s' has %d inputs and %d outputs in %d operands", index,
                        task->name, task->input_count, task->output_count, task->operand_count);
    if (task->kind == MGB_TASK_MERGE && (task->operand_count < 4 || task->operand_count % 2 != 0))
        return mgb_fail(MGB_CORRUPT, "plan: task t%d '%s' merges %d operands, not pairs of them",
                        index, task->name, task->operand_count);
    const struct mgb_operand *o = &plan->operands[task->operand_begin];
    if (task->kind == MGB_TASK_CAST && o[0].bytes != o[1].bytes && 2 * o[0].bytes != o[1].bytes &&
        o[0].bytes != 2 * o[1].bytes)
        return mgb_fail(MGB_CORRUPT, "plan: task t%d '%s' casts %lld bytes to %lld", index,
                        task->name, (long long)o[1].bytes, (long long)o[0].bytes);
    for (int k = 1; k < task->operand_count; k++)
        if ((task->kind == MGB_TASK_COPY || task->kind == MGB_TASK_REDUCE ||
             task->kind == MGB_TASK_MERGE) &&
            o[k].bytes != o[0].bytes)
            return mgb_fail(
                MGB_CORRUPT,
                "plan: task t%d '%s' makes %lld bytes from %lld: copies are of equal size", index,
                task->name, (long long)o[0].bytes, (long long)o[k].bytes);
    return MGB_OK;
}

static enum mgb_status task_check(const struct mgb_plan *plan, int index)
{
    const struct mgb_task *task = &plan->tasks[index];
    bool self = task->class != MGB_ROOT;
    if (!class_known(plan, task->class) || !device_known(plan, task->device, self))
        return mgb_fail(MGB_CORRUPT, "plan: task t%d '%s' has no device", index, task->name);
    if (task->queue == MGB_QUEUE_COPY && !device_known(plan, task->from, self))
        return mgb_fail(MGB_CORRUPT, "plan: task t%d '%s' comes from no device", index, task->name);
    if (task->operand_begin < 0 || task->operand_count < 0 ||
        task->operand_begin + task->operand_count > plan->operand_count)
        return mgb_fail(MGB_CORRUPT, "plan: task t%d '%s': operands out of range", index,
                        task->name);
    if ((int)task->phase < 0 || task->phase >= MGB_PHASE_WAIT)
        return mgb_fail(MGB_CORRUPT, "plan: task t%d '%s' has no phase", index, task->name);
    for (int k = 0; k < task->operand_count; k++)
        MGB_TRY(operand_check(plan, task, index, k));
    return counts_check(plan, task, index);
}

enum mgb_status mgb_verify_shape(const struct mgb_plan *plan)
{
    MGB_TRY(towers_check(plan));
    for (int b = 0; b < plan->buffer_count; b++)
        MGB_TRY(buffer_check(plan, b));
    for (int i = 0; i < plan->task_count; i++)
        MGB_TRY(task_check(plan, i));
    return MGB_OK;
}
