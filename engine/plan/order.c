/* Waits. Tasks are gone through in issue order with a map of every arena's bytes: who wrote them last and who has read them
 * since. A task waits for the writer of what it reads, and for readers and writer of what it writes; that covers data as
 * well as bytes that change hands. Waits that others imply are left out: every task has a clock that says how far each queue
 * is known to have come when it ends. */
#include "engine/plan/build.h"

#include <stdlib.h>
#include <string.h>

#define CLOCKS_MOST (48 << 20) /* entries; beyond that only a queue's newest clock is kept */

struct touch { /* a task's use of a buffer */
    int task, buffer, group;
    bool by_rows;
};

struct reader { /* a list that segments may share tails of */
    int touch, next;
};

struct segment { /* bytes [begin, next segment's begin) */
    int64_t begin;
    int writer; /* touch, or -1 */
    int readers;
};

struct map {
    mgb_vector(struct segment) segments;
};

struct need { /* of the task at hand: it waits for `task` of `queue` */
    int queue, tower, task;
};

struct order {
    struct mgb_planner *planner;
    struct map *maps; /* by group: lasting, step */
    mgb_vector(struct touch) touches;
    mgb_vector(struct reader) readers;
    mgb_vector(struct need) needs;
    int *
        newest; /* [queue * queues + q]: the clock of the newest task of a queue; -1: nothing of q */
    int *clocks; /* [task * queues + q]; NULL: too many */
    int *clock;  /* of the task at hand */
};

/* One queue runs all instances of a task before the next task: of a device's queue the latest task will do. */
static void need_add(struct order *o, int task, int on, int tower)
{
    struct mgb_planner *planner = o->planner;
    int queue = planner->queue_of[on], class = planner->tasks.at[on].class;
    bool one = planner->queues.at[queue].class == MGB_ROOT;
    if (class == MGB_ROOT || planner->plan->classes[class].tower_count == 1)
        tower = MGB_OWN;
    if (queue == planner->queue_of[task] && (one || tower == MGB_OWN))
        return;
    for (int i = 0; i < o->needs.count; i++) {
        struct need *need = &o->needs.at[i];
        if (need->queue != queue || (!one && need->tower != tower))
            continue;
        if (on > need->task || (on == need->task && tower == MGB_EACH_TOWER))
            *need = (struct need){queue, tower, on};
        return;
    }
    if (!mgb_vector_push(&o->needs, ((struct need){queue, tower, on})))
        planner->failed = true;
}

/* Which instances of `other`'s task the instances of `touch`'s task have to wait for. */
static int tower_of(const struct order *o, const struct touch *touch, const struct touch *other)
{
    const struct mgb_planner *planner = o->planner;
    int class = planner->tasks.at[touch->task].class, on = planner->tasks.at[other->task].class;
    if (on == MGB_ROOT)
        return MGB_OWN;
    if (class != on)
        return MGB_EACH_TOWER;
    bool own_arena = touch->group >= planner->plan->topology->device_count;
    bool own_part =
        touch->buffer == other->buffer && (planner->buffers.at[touch->buffer].class != MGB_ROOT ||
                                           (touch->by_rows && other->by_rows));
    return own_arena || own_part || planner->plan->classes[class].tower_count == 1 ? MGB_OWN
                                                                                   : MGB_EACH_TOWER;
}

static void need_touch(struct order *o, const struct touch *touch, int other)
{
    const struct touch *before = &o->touches.at[other];
    if (before->task == touch->task)
        return;
    need_add(o, touch->task, before->task, tower_of(o, touch, before));
}

/* The segment that begins at `offset`, split off if need be; -1 when memory is exhausted. */
static int segment_begin(struct order *o, struct map *map, int64_t offset)
{
    int low = 0, high = map->segments.count;
    while (low < high) { /* first segment that begins after offset */
        int middle = (low + high) / 2;
        if (map->segments.at[middle].begin > offset)
            high = middle;
        else
            low = middle + 1;
    }
    if (low > 0 && map->segments.at[low - 1].begin == offset)
        return low - 1;
    if (!mgb_vector_reserve(&map->segments, 1)) {
        o->planner->failed = true;
        return -1;
    }
    struct segment *at = &map->segments.at[low];
    memmove(at + 1, at, (size_t)(map->segments.count - low) * sizeof *at);
    *at = low > 0 ? at[-1] : (struct segment){.writer = -1, .readers = -1};
    at->begin = offset;
    map->segments.count++;
    return low;
}

static void range_touch(struct order *o, int touch, int64_t begin, int64_t end, bool write,
                        bool step)
{
    struct touch t = o->touches.at[touch];
    struct map *map = &o->maps[2 * t.group + step];
    int first = segment_begin(o, map, begin);
    int last = first < 0 ? -1 : segment_begin(o, map, end);
    if (last < 0)
        return;
    for (int i = first; i < last; i++) {
        struct segment *s = &map->segments.at[i];
        if (s->writer >= 0 && (!write || s->readers < 0))
            need_touch(o, &t, s->writer);
        for (int r = s->readers; write && r >= 0; r = o->readers.at[r].next)
            need_touch(o, &t, o->readers.at[r].touch);
        if (write)
            continue;
        if (!mgb_vector_push(&o->readers, ((struct reader){touch, s->readers})))
            o->planner->failed = true;
        else
            s->readers = o->readers.count - 1;
    }
    if (!write || last == first)
        return;
    struct segment *at = &map->segments.at[first];
    *at = (struct segment){.begin = begin, .writer = touch, .readers = -1};
    memmove(at + 1, at + (last - first), (size_t)(map->segments.count - last) * sizeof *at);
    map->segments.count -= last - first - 1;
}

/* Rows of neighbouring towers of a class are one range. */
static void rows_touch(struct order *o, int touch, const struct mgb_operand *operand, int64_t base,
                       bool write, bool step)
{
    const struct mgb_plan *plan = o->planner->plan;
    int class = o->planner->tasks.at[o->touches.at[touch].task].class;
    int64_t begin = 0, end = -1;
    int left = plan->classes[class].tower_count;
    for (int t = plan->classes[class].first_tower; left > 0 && t < plan->tower_count; t++) {
        if (plan->towers[t].class != class)
            continue;
        int64_t from = base + operand->offset + plan->towers[t].first_row * operand->row_bytes;
        if (end != from) {
            if (end > begin)
                range_touch(o, touch, begin, end, write, step);
            begin = from;
        }
        end = from + operand->bytes;
        left--;
    }
    if (end > begin)
        range_touch(o, touch, begin, end, write, step);
}

static void operand_touch(struct order *o, int task, const struct mgb_operand *operand, bool write)
{
    struct mgb_planner *planner = o->planner;
    const struct mgb_buffer *buffer = &planner->buffers.at[operand->buffer];
    struct touch touch = {task, operand->buffer, mgb_plan_group(planner, operand->buffer),
                          operand->row_bytes > 0};
    if (!mgb_vector_push(&o->touches, touch)) {
        planner->failed = true;
        return;
    }
    int index = o->touches.count - 1;
    bool step = buffer->arena == MGB_ARENA_STEP;
    if (operand->row_bytes > 0)
        rows_touch(o, index, operand, buffer->offset, write, step);
    else if (buffer->stride > 0 && planner->plan->classes[buffer->class].tower_count > 1)
        range_touch(o, index, buffer->offset,
                    buffer->offset + mgb_plan_extent(planner, operand->buffer), write, step);
    else
        range_touch(o, index, buffer->offset + operand->offset,
                    buffer->offset + operand->offset + operand->bytes, write, step);
}

static int need_compare(const void *a, const void *b)
{
    const struct need *x = a, *y = b;
    return x->task != y->task ? (x->task < y->task ? -1 : 1)
                              : (x->tower > y->tower) - (x->tower < y->tower);
}

static void clock_join(int *clock, const int *other, int queues)
{
    for (int q = 0; q < queues; q++)
        clock[q] = other[q] > clock[q] ? other[q] : clock[q];
}

/* A clock speaks of a tower's own instances to its class, of all instances to everybody else; so a class cannot learn from
 * it that all of its own have come so far. */
static bool need_is_implied(const struct order *o, const struct mgb_task *task,
                            const struct need *need)
{
    int class = o->planner->tasks.at[need->task].class;
    bool all_of_own = class != MGB_ROOT && class == task->class && need->tower == MGB_EACH_TOWER;
    return !all_of_own && o->clock[need->queue] >= need->task;
}

static void wait_add(struct order *o, struct mgb_task *task, const struct need *need)
{
    struct mgb_planner *planner = o->planner;
    int class = planner->tasks.at[need->task].class, queues = planner->queues.count;
    bool own = class == MGB_ROOT || (class == task->class && need->tower == MGB_OWN);
    struct mgb_wait wait = {need->task, own ? MGB_OWN : MGB_EACH_TOWER};
    if (!mgb_vector_push(&planner->waits, wait)) {
        planner->failed = true;
        return;
    }
    task->wait_count++;
    if (o->clocks)
        clock_join(o->clock, o->clocks + (size_t)need->task * (size_t)queues, queues);
    if (o->clock[need->queue] < need->task)
        o->clock[need->queue] = need->task;
}

/* Newest first: what came last implies most. */
static void waits_write(struct order *o, int index)
{
    struct mgb_planner *planner = o->planner;
    struct mgb_task *task = &planner->tasks.at[index];
    int queue = planner->queue_of[index], queues = planner->queues.count;
    int *newest = o->newest + (size_t)queue * (size_t)queues;
    o->clock = o->clocks ? o->clocks + (size_t)index * (size_t)queues : newest;
    if (o->clocks)
        memcpy(o->clock, newest, (size_t)queues * sizeof *newest);
    task->wait_begin = planner->waits.count;
    if (o->needs.count > 1)
        qsort(o->needs.at, (size_t)o->needs.count, sizeof *o->needs.at, need_compare);
    for (int i = o->needs.count - 1; i >= 0; i--)
        if (!need_is_implied(o, task, &o->needs.at[i]))
            wait_add(o, task, &o->needs.at[i]);
    o->clock[queue] = index;
    if (o->clocks)
        memcpy(newest, o->clock, (size_t)queues * sizeof *newest);
}

static void task_order(struct order *o, int index, int *extra)
{
    struct mgb_planner *planner = o->planner;
    const struct mgb_task *task = &planner->tasks.at[index];
    o->needs.count = 0;
    for (int write = 0; write < 2; write++) /* reads first: an operand may be both */
        for (int k = 0; k < task->operand_count; k++)
            if (mgb_plan_access(task, k, planner->slot_count) & (write ? MGB_WRITES : MGB_READS))
                operand_touch(o, index, &planner->operands.at[task->operand_begin + k], write);
    for (; *extra < planner->extras.count && planner->extras.at[*extra].task == index; ++*extra) {
        struct mgb_wait on = planner->extras.at[*extra].on;
        need_add(o, index, on.task, on.tower);
    }
    if (!planner->failed)
        waits_write(o, index);
}

static void order_done(struct order *o, int maps)
{
    for (int i = 0; o->maps && i < maps; i++)
        mgb_vector_done(&o->maps[i].segments);
    mgb_release(o->maps);
    mgb_release(o->newest);
    mgb_release(o->clocks);
    mgb_vector_done(&o->touches);
    mgb_vector_done(&o->readers);
    mgb_vector_done(&o->needs);
}

enum mgb_status mgb_plan_order(struct mgb_planner *planner)
{
    int maps = 2 * mgb_plan_group_count(planner), extra = 0;
    size_t queues = (size_t)planner->queues.count, tasks = (size_t)planner->tasks.count;
    bool few = tasks * queues <= CLOCKS_MOST;
    struct order o = {.planner = planner};
    o.maps = mgb_alloc((size_t)maps * sizeof *o.maps);
    o.newest = mgb_alloc((queues * queues + 1) * sizeof *o.newest);
    o.clocks = few ? mgb_alloc((tasks * queues + 1) * sizeof *o.clocks) : NULL;
    if (!o.maps || !o.newest || (few && !o.clocks))
        planner->failed = true;
    else
        memset(o.newest, -1, queues * queues * sizeof *o.newest);
    for (int i = 0; i < planner->tasks.count && !planner->failed; i++)
        task_order(&o, i, &extra);
    order_done(&o, maps);
    return MGB_OK;
}
