/* Summing gradients over the towers, bucket by bucket: copies to the summing device and a sum in tower order there, or an
 * all-reduce. With overlap a bucket starts on its way as soon as backward has finished it. Where the summing device runs a
 * tower itself, the addition waits for the next bucket, lest its own backward stand still for the others' copies. */
#include "engine/plan/build.h"

static bool towers_meet(const struct mgb_planner *planner)
{
    return planner->placement->strategy == MGB_ALLREDUCE && planner->plan->tower_count > 1;
}

/* Without overlap nothing leaves a tower before its backward has ended. */
static void backward_await(struct mgb_planner *planner, int class, int task)
{
    if (!planner->placement->overlap && planner->stages[class].last >= 0)
        mgb_plan_add_wait(planner, task, planner->stages[class].last, MGB_OWN);
}

static void bucket_allreduce(struct mgb_planner *planner, struct mgb_bucket *bucket, int number)
{
    const char *name = mgb_plan_name(planner, "allreduce %d", number);
    for (int c = 0; c < planner->plan->class_count; c++) {
        if (planner->stages[c].rows == 0) {
            mgb_plan_add_task(planner, MGB_TASK_FILL, MGB_PHASE_SUM, c, MGB_SELF,
                              mgb_plan_name(planner, "zero gradients %d", number));
            mgb_plan_add_operand(planner, mgb_plan_whole(planner, bucket->buffers[c]));
        }
        (void)mgb_plan_narrow(planner, bucket, c, number);
    }
    for (int c = 0; c < planner->plan->class_count; c++) {
        struct mgb_operand at =
            mgb_plan_whole(planner, bucket->wires[c] >= 0 ? bucket->wires[c] : bucket->buffers[c]);
        int index =
            mgb_plan_add_task(planner, MGB_TASK_ALLREDUCE, MGB_PHASE_SUM, c, MGB_SELF, name);
        struct mgb_task *task = &planner->tasks.at[index];
        task->queue = MGB_QUEUE_COPY;
        task->from = MGB_SELF;
        task->collective = planner->plan->collective_count;
        task->states = bucket->states;
        task->bytes = at.bytes;
        mgb_plan_add_operand(planner, at);
        backward_await(planner, c, index);
    }
    planner->plan->collective_count++;
    bucket->moved = bucket->done = true;
}

static void bucket_move(struct mgb_planner *planner, struct mgb_bucket *bucket, int number)
{
    const char *names[] = {mgb_plan_name(planner, "sum gradients %d", number),
                           mgb_plan_name(planner, "sum rows %d", number)};
    bucket->copy = -1;
    for (int c = 0; c < planner->plan->class_count; c++) {
        bucket->arrivals[c] = bucket->buffers[c];
        if (bucket->buffers[c] < 0 || planner->stages[c].device == bucket->sum)
            continue;
        int leaving =
            bucket->packed[c] ? bucket->buffers[c] : mgb_plan_narrow(planner, bucket, c, number);
        int arriving =
            mgb_plan_add_buffer(planner, mgb_plan_name(planner, "arriving %d", number), c,
                                bucket->sum, MGB_MEMORY_MERGE, planner->buffers.at[leaving].bytes);
        bucket->copy = mgb_plan_add_copy(
            planner, MGB_PHASE_SUM, c, bucket->sum, MGB_SELF, mgb_plan_whole(planner, arriving),
            mgb_plan_whole(planner, leaving), names[bucket->packed[c]]);
        bucket->arrivals[c] = arriving;
        if (leaving != bucket->buffers[c])
            bucket->wires[c] = arriving;
        backward_await(planner, c, bucket->copy);
    }
    bucket->moved = true;
}

/* How many towers add to the bucket; *class and *tower are the last such. */
static int contributors(const struct mgb_planner *planner, const struct mgb_bucket *bucket,
                        int *class, int *tower)
{
    int count = 0;
    for (int c = 0; c < planner->plan->class_count; c++) {
        if (bucket->buffers[c] < 0)
            continue;
        count += planner->plan->classes[c].tower_count;
        *class = c;
        *tower = planner->stages[c].tower;
    }
    return count;
}

static void commit_add(struct mgb_planner *planner, int task, int tower)
{
    if (task >= 0 && !mgb_vector_push(&planner->commits, ((struct mgb_wait){task, tower})))
        planner->failed = true;
}

/* Adds up what has arrived; what comes from one tower only is the sum already. */
static enum mgb_status bucket_add(struct mgb_planner *planner, struct mgb_bucket *bucket,
                                  int number)
{
    int class = 0, tower = 0;
    int count = contributors(planner, bucket, &class, &tower);
    for (int c = 0; c < planner->plan->class_count; c++) {
        MGB_TRY(mgb_plan_unpack(planner, bucket, c));
        mgb_plan_widen(planner, bucket, c, number);
    }
    bucket->done = true;
    if (count == 1) {
        bucket->total = mgb_plan_whole(planner, bucket->arrivals[class]);
        bucket->total.tower = tower;
        return MGB_OK;
    }
    const char *name = mgb_plan_name(planner, "sum %d", number);
    int buffer = mgb_plan_add_buffer(planner, name, MGB_ROOT, bucket->sum, MGB_MEMORY_GRADIENTS,
                                     bucket->bytes);
    mgb_plan_add_task(planner, MGB_TASK_REDUCE, MGB_PHASE_SUM, MGB_ROOT, bucket->sum, name);
    mgb_plan_add_operand(planner, mgb_plan_whole(planner, buffer));
    for (int c = 0; c < planner->plan->class_count; c++) {
        if (bucket->buffers[c] < 0)
            continue;
        struct mgb_operand from = mgb_plan_whole(planner, bucket->arrivals[c]);
        from.tower = MGB_EACH_TOWER;
        mgb_plan_add_operand(planner, from);
    }
    bucket->total = mgb_plan_whole(planner, buffer);
    return MGB_OK;
}

static void bucket_forward(struct mgb_planner *planner, struct mgb_bucket *bucket, int number)
{
    if (bucket->sum == bucket->update) {
        mgb_plan_round_sum(planner, bucket, number);
        return;
    }
    const char *name = mgb_plan_name(planner, "summed %d", number);
    struct mgb_operand leaving = mgb_plan_narrow_sum(planner, bucket, number);
    int buffer = mgb_plan_add_buffer(planner, name, MGB_ROOT, bucket->update, MGB_MEMORY_GRADIENTS,
                                     leaving.bytes);
    mgb_plan_add_copy(planner, MGB_PHASE_SUM, MGB_ROOT, bucket->update, bucket->sum,
                      mgb_plan_whole(planner, buffer), leaving, name);
    bucket->total = mgb_plan_whole(planner, buffer);
    mgb_plan_widen_sum(planner, bucket, number);
}

/* What completed the bucket: the newest task, or where there was nothing to add the copy, or backward itself. */
static enum mgb_status bucket_finish(struct mgb_planner *planner, struct mgb_bucket *bucket,
                                     int number)
{
    int before = planner->tasks.count;
    MGB_TRY(bucket_add(planner, bucket, number));
    bucket_forward(planner, bucket, number);
    int class = 0, tower = 0;
    contributors(planner, bucket, &class, &tower);
    int newest = planner->tasks.count - 1;
    if (newest >= before)
        commit_add(planner, newest,
                   planner->tasks.at[newest].class == MGB_ROOT ? MGB_OWN : MGB_EACH_TOWER);
    else
        commit_add(planner, bucket->copy >= 0 ? bucket->copy : planner->stages[class].last,
                   MGB_EACH_TOWER);
    return MGB_OK;
}

static bool sum_device_works(const struct mgb_planner *planner, int device)
{
    for (int c = 0; c < planner->plan->class_count; c++)
        if (planner->stages[c].device == device && planner->stages[c].rows > 0)
            return true;
    return false;
}

enum mgb_status mgb_plan_sum(struct mgb_planner *planner, int node)
{
    if (planner->mirrored && !towers_meet(planner))
        return MGB_OK;
    bool arrived = false;
    for (int k = 0; k < planner->buckets.count && !planner->failed; k++)
        arrived |=
            !planner->buckets.at[k].moved && (node < 0 || planner->buckets.at[k].ready <= node);
    for (int k = 0; arrived && k < planner->buckets.count && !planner->failed; k++) {
        struct mgb_bucket *bucket = &planner->buckets.at[k];
        if (bucket->moved && !bucket->done && planner->placement->overlap)
            MGB_TRY(bucket_finish(planner, bucket, k));
    }
    for (int k = 0; k < planner->buckets.count && !planner->failed; k++) {
        struct mgb_bucket *bucket = &planner->buckets.at[k];
        bool ready = !bucket->moved && (node < 0 || bucket->ready <= node);
        if (ready && towers_meet(planner))
            bucket_allreduce(planner, bucket, k);
        else if (ready)
            bucket_move(planner, bucket, k);
        if (bucket->moved && !bucket->done && (node < 0 || !sum_device_works(planner, bucket->sum)))
            MGB_TRY(bucket_finish(planner, bucket, k));
    }
    return MGB_OK;
}
