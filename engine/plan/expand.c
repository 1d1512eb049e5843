/* The flat form: every instance of every task in issue order, and where the instances of buffers and operands are. */
#include "engine/base/memory.h"

#include <mgb/plan.h>
#include <string.h>

struct mgb_place mgb_plan_place(const struct mgb_plan *plan, int buffer, int tower)
{
    const struct mgb_buffer *b = &plan->buffers[buffer];
    struct mgb_place place = {b->device, b->arena, b->offset};
    if (b->class == MGB_ROOT || tower < 0)
        return place;
    if (b->device == MGB_SELF)
        place.device = plan->towers[tower].device;
    place.offset += b->stride * plan->towers[tower].instance;
    return place;
}

static struct mgb_flat_operand operand_flat(const struct mgb_plan *plan, int index, int task_tower,
                                            int tower)
{
    const struct mgb_operand *operand = &plan->operands[index];
    const struct mgb_buffer *buffer = &plan->buffers[operand->buffer];
    if (buffer->class == MGB_ROOT)
        tower = -1;
    struct mgb_flat_operand flat = {.operand = index,
                                    .tower = tower,
                                    .bytes = operand->bytes,
                                    .flip = buffer->flip,
                                    .layout = operand->layout,
                                    .place = mgb_plan_place(plan, operand->buffer, tower)};
    flat.place.offset += operand->offset;
    if (task_tower >= 0)
        flat.place.offset += plan->towers[task_tower].first_row * operand->row_bytes;
    return flat;
}

/* One a tower from operands[begin ..], at most `count` of them, one a class; *used says how many those were. */
static int each_tower(const struct mgb_plan *plan, int begin, int count, int *used,
                      struct mgb_flat_operand *out)
{
    int n = 0, written = 0;
    while (n < count && plan->operands[begin + n].tower == MGB_EACH_TOWER) {
        bool again = false;
        for (int i = 0; i < n; i++)
            again |= plan->buffers[plan->operands[begin + i].buffer].class ==
                     plan->buffers[plan->operands[begin + n].buffer].class;
        if (again)
            break;
        n++;
    }
    *used = n;
    for (int t = 0; t < plan->tower_count; t++) {
        for (int i = 0; i < n; i++) {
            if (plan->buffers[plan->operands[begin + i].buffer].class != plan->towers[t].class)
                continue;
            if (out)
                out[written] = operand_flat(plan, begin + i, -1, t);
            written++;
        }
    }
    return written;
}

int mgb_plan_operands(const struct mgb_plan *plan, int task, int tower,
                      struct mgb_flat_operand *out)
{
    const struct mgb_task *t = &plan->tasks[task];
    int count = 0;
    for (int k = 0; k < t->operand_count;) {
        int index = t->operand_begin + k, used = 1;
        int of = plan->operands[index].tower;
        if (of == MGB_EACH_TOWER) {
            count += each_tower(plan, index, t->operand_count - k, &used, out ? out + count : NULL);
        } else {
            if (out)
                out[count] = operand_flat(plan, index, tower, of == MGB_OWN ? tower : of);
            count++;
        }
        k += used;
    }
    return count;
}

static struct mgb_flat_task flat_task(const struct mgb_plan *plan, int task, int tower)
{
    const struct mgb_task *t = &plan->tasks[task];
    int self = tower >= 0 ? plan->towers[tower].device : -1;
    struct mgb_flat_task flat = {task, tower, t->device == MGB_SELF ? self : t->device, -1};
    if (t->kind == MGB_TASK_COPY && t->queue == MGB_QUEUE_COPY)
        flat.from = t->from == MGB_SELF ? self : t->from;
    return flat;
}

/* Towers of class c: order[begin[c]] .. order[begin[c + 1]], in tower order. */
static void towers_sort(const struct mgb_plan *plan, int *order, int *begin)
{
    for (int c = 0; c < plan->class_count; c++)
        begin[c + 1] = begin[c] + plan->classes[c].tower_count;
    for (int t = 0; t < plan->tower_count; t++)
        order[begin[plan->towers[t].class] + plan->towers[t].instance] = t;
}

static int64_t flat_count(const struct mgb_plan *plan)
{
    int64_t count = 0;
    for (int i = 0; i < plan->task_count; i++)
        count +=
            plan->tasks[i].class == MGB_ROOT ? 1 : plan->classes[plan->tasks[i].class].tower_count;
    return count;
}

static void flat_fill(struct mgb_flat *out, const struct mgb_plan *plan, const int *order,
                      const int *begin)
{
    for (int i = 0; i < plan->task_count; i++) {
        int class = plan->tasks[i].class;
        out->first[i] = out->count;
        if (class == MGB_ROOT)
            out->tasks[out->count++] = flat_task(plan, i, -1);
        for (int k = 0; class != MGB_ROOT && k < plan->classes[class].tower_count; k++)
            out->tasks[out->count++] = flat_task(plan, i, order[begin[class] + k]);
    }
    out->first[plan->task_count] = out->count;
}

enum mgb_status mgb_plan_expand(struct mgb_flat *out, const struct mgb_plan *plan)
{
    int64_t count = flat_count(plan);
    *out = (struct mgb_flat){0};
    int *order = mgb_alloc(((size_t)plan->tower_count + 1) * sizeof *order);
    int *begin = mgb_alloc(((size_t)plan->class_count + 1) * sizeof *begin);
    if (count < INT32_MAX) {
        out->tasks = mgb_alloc(((size_t)count + 1) * sizeof *out->tasks);
        out->first = mgb_alloc(((size_t)plan->task_count + 1) * sizeof *out->first);
    }
    bool made = order && begin && out->tasks && out->first;
    if (made) {
        towers_sort(plan, order, begin);
        flat_fill(out, plan, order, begin);
    }
    mgb_release(order);
    mgb_release(begin);
    if (made)
        return MGB_OK;
    mgb_flat_done(out);
    return mgb_fail(MGB_NO_MEMORY, "expanding a plan to %lld tasks: the host's memory is exhausted",
                    (long long)count);
}

void mgb_flat_done(struct mgb_flat *flat)
{
    mgb_release(flat->tasks);
    mgb_release(flat->first);
    *flat = (struct mgb_flat){0};
}
