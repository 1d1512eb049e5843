/* The stable text of a plan in class form: towers, memory, buffers, tasks, results, traffic. */
#include "engine/base/text.h"

#include <mgb/plan.h>

const char *mgb_task_kind_name(enum mgb_task_kind kind)
{
    static const char *const names[] = {
        [MGB_TASK_COMPUTE] = "compute", [MGB_TASK_COPY] = "copy",
        [MGB_TASK_REDUCE] = "reduce",   [MGB_TASK_ALLREDUCE] = "allreduce",
        [MGB_TASK_FILL] = "fill",       [MGB_TASK_NORM] = "norm",
        [MGB_TASK_CLIP] = "clip",       [MGB_TASK_UPDATE] = "update",
        [MGB_TASK_CAST] = "cast",       [MGB_TASK_MERGE] = "merge"};
    return names[kind];
}

static const char *strategy_name(enum mgb_strategy strategy)
{
    static const char *const names[] = {"outputs", "gradients", "allreduce", "independent"};
    return names[strategy];
}

static void device_text(struct mgb_text *text, const struct mgb_plan *plan, int device)
{
    char name[MGB_DEVICE_NAME_MAX];
    mgb_text_add(text, "%s",
                 device == MGB_SELF
                     ? "self"
                     : mgb_device_format(name, plan->topology->devices[device].name));
}

static void class_text(struct mgb_text *text, int class)
{
    if (class == MGB_ROOT)
        mgb_text_add(text, "root");
    else
        mgb_text_add(text, "c%d", class);
}

static void head_text(struct mgb_text *text, const struct mgb_plan *plan)
{
    static const char *const kinds[] = {"train", "evaluate", "move"};
    mgb_text_add(text, "plan %s '%s' %s: %d rows, %d towers in %d classes", kinds[plan->kind],
                 mgb_graph_name(plan->graph), strategy_name(plan->strategy), plan->global_rows,
                 plan->tower_count, plan->class_count);
    if (plan->precision != MGB_PRECISION_F32)
        mgb_text_add(text, ", products in %s",
                     mgb_placement_options()[MGB_OPTION_PRECISION].values[(int)plan->precision]);
    mgb_text_add(text, "\n");
    for (int c = 0; c < plan->class_count; c++) {
        mgb_text_add(text, "class c%d: %d rows on %d towers, first ", c, plan->classes[c].rows,
                     plan->classes[c].tower_count);
        mgb_text_add(text, "%d at ", plan->classes[c].first_tower);
        device_text(text, plan, plan->classes[c].lead);
        mgb_text_add(text, "\n");
    }
}

static void uses_text(struct mgb_text *text, const struct mgb_plan *plan)
{
    for (int i = 0; i < plan->use_count; i++) {
        const struct mgb_device_use *use = &plan->uses[i];
        mgb_text_add(text, "memory ");
        device_text(text, plan, use->device);
        mgb_text_add(text, ": %lld lasting, %lld step;", (long long)use->lasting_bytes,
                     (long long)use->step_bytes);
        for (int c = 0; c < MGB_MEMORY_CATEGORY_COUNT; c++)
            if (use->peak[c] > 0)
                mgb_text_add(text, " %s %lld",
                             mgb_memory_category_name((enum mgb_memory_category)c),
                             (long long)use->peak[c]);
        mgb_text_add(text, "\n");
    }
}

static void buffers_text(struct mgb_text *text, const struct mgb_plan *plan)
{
    static const char *const arenas[] = {"lasting", "step", "old"};
    for (int b = 0; b < plan->buffer_count; b++) {
        const struct mgb_buffer *buffer = &plan->buffers[b];
        mgb_text_add(text, "buffer b%d ", b);
        class_text(text, buffer->class);
        mgb_text_add(text, " ");
        device_text(text, plan, buffer->device);
        mgb_text_add(text, " %s %s @%lld +%lld", arenas[buffer->arena],
                     mgb_memory_category_name(buffer->category), (long long)buffer->offset,
                     (long long)buffer->bytes);
        if (buffer->stride > 0)
            mgb_text_add(text, " stride %lld", (long long)buffer->stride);
        if (buffer->flip > 0)
            mgb_text_add(text, " flip %lld", (long long)buffer->flip);
        mgb_text_add(text, " t%d..t%d '%s'\n", buffer->first, buffer->last, buffer->name);
    }
}

static void operand_text(struct mgb_text *text, const struct mgb_operand *operand)
{
    mgb_text_add(text, " b%d", operand->buffer);
    if (operand->tower == MGB_EACH_TOWER)
        mgb_text_add(text, "*");
    else if (operand->tower >= 0)
        mgb_text_add(text, ".%d", operand->tower);
    mgb_text_add(text, "[%lld", (long long)operand->offset);
    if (operand->row_bytes > 0)
        mgb_text_add(text, "+row*%lld", (long long)operand->row_bytes);
    mgb_text_add(text, " +%lld]", (long long)operand->bytes);
    if (operand->layout != 0)
        mgb_text_add(text, "/%d", operand->layout);
}

static void place_text(struct mgb_text *text, const struct mgb_plan *plan,
                       const struct mgb_task *task)
{
    if (task->queue == MGB_QUEUE_COPY) {
        device_text(text, plan, task->from);
        mgb_text_add(text, "->");
    }
    device_text(text, plan, task->device);
}

static void task_text(struct mgb_text *text, const struct mgb_plan *plan, int index)
{
    const struct mgb_task *task = &plan->tasks[index];
    mgb_text_add(text, "task t%d ", index);
    class_text(text, task->class);
    mgb_text_add(text, " %s %s ", mgb_phase_name(task->phase), mgb_task_kind_name(task->kind));
    place_text(text, plan, task);
    mgb_text_add(text, " '%s'", task->name);
    if (task->rows > 0)
        mgb_text_add(text, " rows %d", task->rows);
    if (task->scale != 1)
        mgb_text_add(text, " scale %.9g", (double)task->scale);
    if (task->collective >= 0)
        mgb_text_add(text, " collective %d", task->collective);
    mgb_text_add(text, ":");
    for (int k = 0; k < task->operand_count; k++) {
        if (task->kind == MGB_TASK_COMPUTE && k == task->input_count)
            mgb_text_add(text, " ->");
        operand_text(text, &plan->operands[task->operand_begin + k]);
    }
    for (int k = 0; k < task->wait_count; k++) {
        const struct mgb_wait *wait = &plan->waits[task->wait_begin + k];
        mgb_text_add(text, "%s t%d%s", k == 0 ? " after" : "", wait->task,
                     wait->tower == MGB_EACH_TOWER ? "*" : "");
    }
    mgb_text_add(text, "\n");
}

static void ends_text(struct mgb_text *text, const struct mgb_plan *plan)
{
    for (int i = 0; i < plan->result_count; i++) {
        const struct mgb_result *result = &plan->results[i];
        mgb_text_add(text, "result %s %d:", result->metric ? "metric" : "loss", result->index);
        operand_text(text, &result->part);
        mgb_text_add(text, "\n");
    }
    for (int i = 0; i < plan->traffic_count; i++) {
        mgb_text_add(text, "traffic ");
        device_text(text, plan, plan->traffic[i].from);
        mgb_text_add(text, "->");
        device_text(text, plan, plan->traffic[i].to);
        mgb_text_add(text, ": %lld\n", (long long)plan->traffic[i].bytes);
    }
}

enum mgb_status mgb_plan_text(char **out, const struct mgb_plan *plan)
{
    struct mgb_text text = {0};
    head_text(&text, plan);
    uses_text(&text, plan);
    buffers_text(&text, plan);
    for (int i = 0; i < plan->task_count; i++)
        task_text(&text, plan, i);
    ends_text(&text, plan);
    return mgb_text_take(out, &text);
}
