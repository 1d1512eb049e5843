/* The type of gradients while they travel. Every tower's contribution is rounded to it once and so is their sum, which is
 * made in f32: whether they travel or not, so that places do not change the arithmetic. */
#include "engine/plan/build.h"

static void operands_cast(struct mgb_planner *planner, int class, int place, struct mgb_operand to,
                          struct mgb_operand from, const char *name)
{
    mgb_plan_add_task(planner, MGB_TASK_CAST, MGB_PHASE_SUM, class, place, name);
    mgb_plan_add_operand(planner, to);
    mgb_plan_add_operand(planner, from);
}

/* Shares of moving statistics travel as they are: they are no gradients, whose noise the rounding would hide in. */
static bool bucket_narrows(const struct mgb_planner *planner, const struct mgb_bucket *bucket)
{
    return planner->plan->wire_type != MGB_WIRE_F32 && !bucket->states;
}

static void cast_add(struct mgb_planner *planner, int class, int place, int to, int from,
                     const char *name)
{
    operands_cast(planner, class, place, mgb_plan_whole(planner, to), mgb_plan_whole(planner, from),
                  name);
}

int mgb_plan_narrow(struct mgb_planner *planner, struct mgb_bucket *bucket, int class, int number)
{
    if (!bucket_narrows(planner, bucket))
        return bucket->buffers[class];
    const char *name = mgb_plan_name(planner, "narrow gradients %d", number);
    int wire = mgb_plan_add_buffer(planner, name, class, MGB_SELF, MGB_MEMORY_GRADIENTS,
                                   bucket->bytes / 2);
    cast_add(planner, class, MGB_SELF, wire, bucket->buffers[class], name);
    bucket->wires[class] = wire;
    return wire;
}

void mgb_plan_widen(struct mgb_planner *planner, struct mgb_bucket *bucket, int class, int number)
{
    if (!bucket_narrows(planner, bucket) || bucket->buffers[class] < 0)
        return;
    int from = bucket->wires[class];
    if (bucket->packed[class]) {
        cast_add(planner, class, bucket->sum, bucket->arrivals[class], bucket->arrivals[class],
                 mgb_plan_name(planner, "round gradients %d", number));
        return;
    }
    if (from < 0) {
        cast_add(planner, class, MGB_SELF, bucket->buffers[class], bucket->buffers[class],
                 mgb_plan_name(planner, "round gradients %d", number));
        return;
    }
    const char *name = mgb_plan_name(planner, "widen gradients %d", number);
    bucket->arrivals[class] =
        mgb_plan_add_buffer(planner, name, class, bucket->sum, MGB_MEMORY_MERGE, bucket->bytes);
    cast_add(planner, class, bucket->sum, bucket->arrivals[class], from, name);
}

struct mgb_operand mgb_plan_narrow_sum(struct mgb_planner *planner, const struct mgb_bucket *bucket,
                                       int number)
{
    if (!bucket_narrows(planner, bucket))
        return bucket->total;
    const char *name = mgb_plan_name(planner, "narrow sum %d", number);
    int wire = mgb_plan_add_buffer(planner, name, MGB_ROOT, bucket->sum, MGB_MEMORY_MERGE,
                                   bucket->bytes / 2);
    operands_cast(planner, MGB_ROOT, bucket->sum, mgb_plan_whole(planner, wire), bucket->total,
                  name);
    return mgb_plan_whole(planner, wire);
}

void mgb_plan_widen_sum(struct mgb_planner *planner, struct mgb_bucket *bucket, int number)
{
    if (!bucket_narrows(planner, bucket))
        return;
    const char *name = mgb_plan_name(planner, "widen sum %d", number);
    int wide = mgb_plan_add_buffer(planner, name, MGB_ROOT, bucket->update, MGB_MEMORY_GRADIENTS,
                                   bucket->bytes);
    operands_cast(planner, MGB_ROOT, bucket->update, mgb_plan_whole(planner, wide), bucket->total,
                  name);
    bucket->total = mgb_plan_whole(planner, wide);
}

void mgb_plan_round_sum(struct mgb_planner *planner, const struct mgb_bucket *bucket, int number)
{
    if (bucket_narrows(planner, bucket) && bucket->total.tower == MGB_OWN)
        operands_cast(planner, MGB_ROOT, bucket->sum, bucket->total, bucket->total,
                      mgb_plan_name(planner, "round sum %d", number));
}

/* In the phase that uses it: other towers need not be so far before the first of them updates. */
static void update_cast(struct mgb_planner *planner, int class, int to, int from, const char *name)
{
    cast_add(planner, class, MGB_SELF, to, from, name);
    planner->tasks.at[planner->tasks.count - 1].phase = MGB_PHASE_UPDATE;
}

/* After an all-reduce, where the tower's own optimizer reads it; not sooner, lest backward wait for the meeting. */
void mgb_plan_widen_all(struct mgb_planner *planner)
{
    if (!planner->mirrored || planner->plan->wire_type == MGB_WIRE_F32)
        return;
    for (int k = 0; k < planner->buckets.count; k++) {
        const struct mgb_bucket *bucket = &planner->buckets.at[k];
        const char *name = mgb_plan_name(planner, "widen gradients %d", k);
        for (int c = 0; c < planner->plan->class_count && !planner->failed; c++)
            if (bucket->wires[c] >= 0)
                update_cast(planner, c, bucket->buffers[c], bucket->wires[c], name);
    }
}

enum mgb_status mgb_plan_receive(struct mgb_planner *planner)
{
    if (!planner->plan->stale)
        mgb_plan_widen_all(planner);
    return MGB_OK;
}
