/* Which queue each task is on, in class form, and what a task does with its operands. */
#include "engine/plan/build.h"

#include "engine/base/hash.h"

int mgb_plan_access(const struct mgb_task *task, int index, int slot_count)
{
    int group = 2 + slot_count;
    switch (task->kind) {
    case MGB_TASK_COMPUTE:
        return index < task->input_count ? MGB_READS : MGB_WRITES;
    case MGB_TASK_COPY:
    case MGB_TASK_REDUCE:
    case MGB_TASK_NORM:
    case MGB_TASK_CLIP:
    case MGB_TASK_CAST:
        return index == 0 ? MGB_WRITES : MGB_READS;
    case MGB_TASK_MERGE:
        return index < 2 ? MGB_WRITES : MGB_READS;
    case MGB_TASK_FILL:
        return MGB_WRITES;
    case MGB_TASK_ALLREDUCE:
        return MGB_READS | MGB_WRITES;
    case MGB_TASK_UPDATE:
        if (task->states)
            return index % 2 == 1 ? MGB_READS : MGB_READS | MGB_WRITES;
        if (index % group == 1 || index == task->operand_count / group * group)
            return MGB_READS;
        return MGB_READS | MGB_WRITES;
    }
    return 0;
}

/* Classes of one tower share their device's queues with the root, and what a class computes on a device that is not its
 * towers' own is on that device's queue. */
static struct mgb_lane lane_of(const struct mgb_planner *planner, const struct mgb_task *task)
{
    struct mgb_lane lane = {
        .class = task->class, .device = task->device, .from = task->from, .kind = task->queue};
    bool alone = task->class == MGB_ROOT || planner->plan->classes[task->class].tower_count == 1;
    if (!alone && (lane.device == MGB_SELF || lane.kind == MGB_QUEUE_COPY))
        return lane;
    if (lane.device == MGB_SELF)
        lane.device = planner->stages[task->class].device;
    if (lane.kind == MGB_QUEUE_COPY && lane.from == MGB_SELF)
        lane.from = planner->stages[task->class].device;
    lane.class = MGB_ROOT;
    return lane;
}

static bool lane_equal(struct mgb_lane a, struct mgb_lane b)
{
    return a.class == b.class && a.device == b.device && a.from == b.from && a.kind == b.kind;
}

/* `table` maps hashes to queue numbers + 1; its size is a power of two above twice the tasks. */
static int lane_number(struct mgb_planner *planner, int *table, size_t size, struct mgb_lane lane)
{
    int words[4] = {lane.class, lane.device, lane.from, (int)lane.kind};
    size_t at = (size_t)mgb_hash(0, words, sizeof words) & (size - 1);
    while (table[at] != 0) {
        if (lane_equal(planner->queues.at[table[at] - 1], lane))
            return table[at] - 1;
        at = (at + 1) & (size - 1);
    }
    if (!mgb_vector_push(&planner->queues, lane)) {
        planner->failed = true;
        return 0;
    }
    table[at] = planner->queues.count;
    return planner->queues.count - 1;
}

enum mgb_status mgb_plan_queues(struct mgb_planner *planner)
{
    size_t size = 16;
    while (size < 2 * (size_t)planner->tasks.count + 2)
        size *= 2;
    planner->queue_of =
        mgb_plan_alloc(planner, (size_t)planner->tasks.count, sizeof *planner->queue_of);
    int *table = mgb_alloc(size * sizeof *table);
    if (!table || !planner->queue_of) {
        mgb_release(table);
        planner->failed = true;
        return MGB_OK;
    }
    for (int i = 0; i < planner->tasks.count && !planner->failed; i++)
        planner->queue_of[i] =
            lane_number(planner, table, size, lane_of(planner, &planner->tasks.at[i]));
    mgb_release(table);
    return MGB_OK;
}
