/* Adding tasks, operands and buffers to a plan in the making. A failed allocation is remembered in the planner; index 0
 * stands in then, so that passes need not look after every call. */
#include "engine/plan/build.h"

#include "engine/base/text.h"
#include <stdarg.h>
#include <stdio.h>

int64_t mgb_plan_align(int64_t bytes)
{
    return (bytes + MGB_ALIGNMENT - 1) / MGB_ALIGNMENT * MGB_ALIGNMENT;
}

void *mgb_plan_alloc(struct mgb_planner *planner, size_t count, size_t size)
{
    void *block = mgb_pool_alloc(planner->pool, (count ? count : 1) * size);
    if (!block)
        planner->failed = true;
    return block;
}

const char *mgb_plan_name(struct mgb_planner *planner, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    mgb_format_list(text, sizeof text, format, args);
    va_end(args);
    const char *name = mgb_pool_copy(planner->pool, text);
    if (!name)
        planner->failed = true;
    return name ? name : "";
}

int mgb_plan_device(const struct mgb_planner *planner, int class, int place)
{
    return place == MGB_SELF ? planner->stages[class].device : place;
}

int mgb_plan_add_buffer(struct mgb_planner *planner, const char *name, int class, int place,
                        enum mgb_memory_category category, int64_t bytes)
{
    bool strided = class != MGB_ROOT && place != MGB_SELF;
    struct mgb_buffer buffer = {.name = name,
                                .class = class,
                                .device = place,
                                .arena = MGB_ARENA_STEP,
                                .category = category,
                                .stride = strided ? mgb_plan_align(bytes) : 0,
                                .bytes = bytes,
                                .first = -1,
                                .last = -1};
    if (!mgb_vector_push(&planner->buffers, buffer) ||
        !mgb_vector_push(&planner->drafts, (struct mgb_draft){.keep = -1})) {
        planner->failed = true;
        return 0;
    }
    return planner->buffers.count - 1;
}

int mgb_plan_add_lasting(struct mgb_planner *planner, const char *name, int class, int place,
                         enum mgb_memory_category category, int64_t bytes)
{
    int buffer = mgb_plan_add_buffer(planner, name, class, place, category, bytes);
    planner->buffers.at[buffer].arena = MGB_ARENA_LASTING;
    return buffer;
}

int mgb_plan_add_task(struct mgb_planner *planner, enum mgb_task_kind kind, enum mgb_phase phase,
                      int class, int place, const char *name)
{
    struct mgb_task task = {.kind = kind,
                            .phase = phase,
                            .class = class,
                            .device = place,
                            .queue = MGB_QUEUE_COMPUTE,
                            .from = -1,
                            .node = -1,
                            .scale = 1,
                            .collective = -1,
                            .operand_begin = planner->operands.count,
                            .name = name};
    if (!mgb_vector_push(&planner->tasks, task)) {
        planner->failed = true;
        return 0;
    }
    return planner->tasks.count - 1;
}

void mgb_plan_add_operand(struct mgb_planner *planner, struct mgb_operand operand)
{
    if (!mgb_vector_push(&planner->operands, operand)) {
        planner->failed = true;
        return;
    }
    planner->tasks.at[planner->tasks.count - 1].operand_count++;
}

void mgb_plan_add_wait(struct mgb_planner *planner, int task, int on, int tower)
{
    struct mgb_extra extra = {task, {on, tower}};
    if (!mgb_vector_push(&planner->extras, extra))
        planner->failed = true;
}

int mgb_plan_add_copy(struct mgb_planner *planner, enum mgb_phase phase, int class, int to,
                      int from, struct mgb_operand dst, struct mgb_operand src, const char *name)
{
    int task = mgb_plan_add_task(planner, MGB_TASK_COPY, phase, class, to, name);
    struct mgb_task *copy = &planner->tasks.at[task];
    bool inside =
        (to == MGB_SELF) == (from == MGB_SELF)
            ? to == from
            : planner->plan->classes[class].tower_count == 1 &&
                  mgb_plan_device(planner, class, to) == mgb_plan_device(planner, class, from);
    copy->bytes = dst.bytes;
    if (!inside) {
        copy->queue = MGB_QUEUE_COPY;
        copy->from = from;
    }
    mgb_plan_add_operand(planner, dst);
    mgb_plan_add_operand(planner, src);
    return task;
}

struct mgb_operand mgb_plan_part(int buffer, int64_t offset, int64_t bytes)
{
    return (struct mgb_operand){
        .buffer = buffer, .tower = MGB_OWN, .offset = offset, .bytes = bytes};
}

struct mgb_operand mgb_plan_whole(const struct mgb_planner *planner, int buffer)
{
    return mgb_plan_part(buffer, 0, planner->buffers.at[buffer].bytes);
}

struct mgb_operand mgb_plan_nowhere(void)
{
    return mgb_plan_part(-1, 0, 0);
}

bool mgb_plan_trains(const struct mgb_planner *planner, int variable)
{
    const struct mgb_variable *v = &planner->graph->variables[variable];
    return v->info.trainable && v->gradient >= 0;
}

bool mgb_plan_moves(const struct mgb_planner *planner, int variable)
{
    const struct mgb_variable *v = &planner->graph->variables[variable];
    return v->info.state && !v->info.frozen && v->gradient >= 0;
}

bool mgb_plan_changes(const struct mgb_planner *planner, int variable)
{
    return mgb_plan_trains(planner, variable) || mgb_plan_moves(planner, variable);
}

int mgb_plan_variable(const struct mgb_planner *planner, const struct mgb_stage *stage,
                      int variable)
{
    return mgb_graph_variable_of(planner->graph, variable, stage->tower);
}

int mgb_plan_scope(const struct mgb_planner *planner, int variable)
{
    const struct mgb_graph *graph = planner->graph;
    if (planner->mirrored || graph->variables[variable].info.tower >= 0)
        return planner->mirrored ? MGB_ALL_TOWERS : graph->variables[variable].info.tower;
    for (int v = 0; v < graph->variable_count; v++)
        if (graph->variables[v].info.twin == variable)
            return -2 - variable;
    return MGB_ALL_TOWERS;
}

bool mgb_plan_concerns(const struct mgb_planner *planner, const struct mgb_stage *stage, int scope)
{
    if (scope >= 0)
        return scope == stage->tower;
    return scope == MGB_ALL_TOWERS || mgb_plan_variable(planner, stage, -2 - scope) == -2 - scope;
}
