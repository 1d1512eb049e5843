/* Waits. Tasks are gone through in issue order with a map of every arena's bytes: who wrote them last and who has read them
 * since. A task waits for the writer of what it reads, and for readers and writer of what it writes; that covers data as
 * well as bytes that change hands. Tasks of one queue run in order anyway, and a queue that has waited for a task need not
 * wait for it, or for an earlier one of the same queue, again. */
#include "engine/plan/build.h"

#include <stdlib.h>
#include <string.h>

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

struct known { /* queue `queue` has been waited for up to `task` */
    int queue, tower, task;
};

struct order {
    struct mgb_planner *planner;
    struct map *maps; /* by group: lasting, step */
    mgb_vector(struct touch) touches;
    mgb_vector(struct reader) readers;
    mgb_vector(struct known) needs; /* of the task at hand */
    struct map_known {
        mgb_vector(struct known) list;
    } * known; /* by queue */
};

/* A queue of one device has no instances to tell apart: its latest task will do. */
static void need_add(struct order *o, int task, int on, int tower)
{
    struct mgb_planner *planner = o->planner;
    int queue = planner->queue_of[on];
    if (planner->queues.at[queue].class == MGB_ROOT)
        tower = MGB_OWN;
    if (queue == planner->queue_of[task] && tower == MGB_OWN)
        return;
    for (int i = 0; i < o->needs.count; i++) {
        struct known *need = &o->needs.at[i];
        if (need->queue == queue && need->tower == tower) {
            need->task = on > need->task ? on : need->task;
            return;
        }
    }
    if (!mgb_vector_push(&o->needs, ((struct known){queue, tower, on})))
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
    const struct known *x = a, *y = b;
    return x->task != y->task ? (x->task < y->task ? -1 : 1)
                              : (x->tower > y->tower) - (x->tower < y->tower);
}

/* True when the task's queue has seen `need` already; else remembers it. */
static bool need_is_known(struct order *o, int queue, const struct known *need)
{
    struct map_known *known = &o->known[queue];
    for (int i = 0; i < known->list.count; i++) {
        struct known *k = &known->list.at[i];
        if (k->queue != need->queue || (k->tower != need->tower && k->tower != MGB_EACH_TOWER))
            continue;
        if (k->task >= need->task)
            return true;
        if (k->tower == need->tower) {
            k->task = need->task;
            return false;
        }
    }
    if (!mgb_vector_push(&known->list, *need))
        o->planner->failed = true;
    return false;
}

static void waits_write(struct order *o, int index)
{
    struct mgb_planner *planner = o->planner;
    struct mgb_task *task = &planner->tasks.at[index];
    task->wait_begin = planner->waits.count;
    if (o->needs.count > 1)
        qsort(o->needs.at, (size_t)o->needs.count, sizeof *o->needs.at, need_compare);
    for (int i = 0; i < o->needs.count; i++) {
        const struct known *need = &o->needs.at[i];
        int class = planner->tasks.at[need->task].class;
        bool own = class == MGB_ROOT || (class == task->class && need->tower == MGB_OWN);
        if (need_is_known(o, planner->queue_of[index], need))
            continue;
        if (!mgb_vector_push(&planner->waits,
                             ((struct mgb_wait){need->task, own ? MGB_OWN : MGB_EACH_TOWER})))
            planner->failed = true;
        else
            task->wait_count++;
    }
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

static void order_done(struct order *o, int maps, int queues)
{
    for (int i = 0; o->maps && i < maps; i++)
        mgb_vector_done(&o->maps[i].segments);
    for (int i = 0; o->known && i < queues; i++)
        mgb_vector_done(&o->known[i].list);
    mgb_release(o->maps);
    mgb_release(o->known);
    mgb_vector_done(&o->touches);
    mgb_vector_done(&o->readers);
    mgb_vector_done(&o->needs);
}

enum mgb_status mgb_plan_order(struct mgb_planner *planner)
{
    int maps = 2 * mgb_plan_group_count(planner), queues = planner->queues.count, extra = 0;
    struct order o = {.planner = planner};
    o.maps = mgb_alloc((size_t)maps * sizeof *o.maps);
    o.known = mgb_alloc(((size_t)queues + 1) * sizeof *o.known);
    if (!o.maps || !o.known)
        planner->failed = true;
    for (int i = 0; i < planner->tasks.count && !planner->failed; i++)
        task_order(&o, i, &extra);
    order_done(&o, maps, queues);
    return MGB_OK;
}
