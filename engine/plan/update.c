/* The optimizer: one task a device over all weights that are updated there, on every tower when weights are mirrored.
 * Weights that live elsewhere come and go back. Nothing here starts before every gradient of the step is complete; when
 * gradients are applied one step late, before every tower has ended its backward: what can fail in a step is behind it. */
#include "engine/plan/update.h"

#include "engine/plan/build.h"

bool mgb_plan_updates(const struct mgb_planner *planner, int variable, int device)
{
    int bucket = planner->bucket_of[variable];
    return bucket >= 0 && planner->buckets.at[bucket].update == device &&
           !planner->buckets.at[bucket].states;
}

bool mgb_plan_updates_here(const struct mgb_planner *planner, int device)
{
    for (int k = 0; k < planner->buckets.count; k++)
        if (planner->buckets.at[k].update == device && !planner->buckets.at[k].states)
            return true;
    return false;
}

bool mgb_plan_class_updates(const struct mgb_planner *planner, const struct mgb_stage *stage)
{
    for (int k = 0; k < planner->buckets.count; k++)
        if (!planner->buckets.at[k].states)
            return planner->buckets.at[k].buffers[stage->class] >= 0;
    return false;
}

struct mgb_operand mgb_plan_gradient(const struct mgb_planner *planner,
                                     const struct mgb_stage *stage, int variable)
{
    const struct mgb_bucket *bucket = &planner->buckets.at[planner->bucket_of[variable]];
    int owner = stage ? stage->class : 0;
    struct mgb_operand at = planner->plan->stale ? mgb_plan_whole(planner, bucket->pending[owner])
                            : stage              ? mgb_plan_whole(planner, bucket->buffers[owner])
                                                 : bucket->total;
    at.offset += planner->bucket_offset[variable];
    at.bytes = planner->graph->variables[variable].info.bytes;
    return at;
}

/* Weight, gradient, slots; with weights at `work` when they are visiting. */
static void variable_update(struct mgb_planner *planner, const struct mgb_stage *stage,
                            int variable)
{
    const struct mgb_bundle *bundle = &planner->bundles.at[planner->bundle_of[variable]];
    int owner = stage ? stage->class : 0;
    int64_t offset = planner->bundle_offset[variable],
            bytes = planner->graph->variables[variable].info.bytes;
    mgb_plan_add_operand(
        planner,
        mgb_plan_part(bundle->work >= 0 ? bundle->work : bundle->buffers[owner], offset, bytes));
    mgb_plan_add_operand(planner, mgb_plan_gradient(planner, stage, variable));
    for (int s = 0; s < planner->slot_count && mgb_plan_trains(planner, variable); s++)
        mgb_plan_add_operand(
            planner, mgb_plan_part(bundle->slots[s * planner->owners + owner], offset, bytes));
}

static int update_add(struct mgb_planner *planner, const struct mgb_stage *stage, int device)
{
    int class = stage ? stage->class : MGB_ROOT;
    int task = mgb_plan_add_task(planner, MGB_TASK_UPDATE, MGB_PHASE_UPDATE, class,
                                 stage ? MGB_SELF : device, "update");
    for (int v = 0; v < planner->graph->variable_count; v++)
        if (mgb_plan_updates(planner, v, device))
            variable_update(planner, stage, v);
    int factor = planner->clip_factor[stage ? class : device];
    if (factor >= 0)
        mgb_plan_add_operand(planner, mgb_plan_whole(planner, factor));
    return task;
}

static void bundle_visit(struct mgb_planner *planner, struct mgb_bundle *bundle, bool back)
{
    if (bundle->home == bundle->update || !mgb_plan_changes(planner, bundle->first))
        return;
    const char *first = planner->graph->variables[bundle->first].info.name;
    if (!back)
        bundle->work =
            mgb_plan_add_buffer(planner, mgb_plan_name(planner, "visiting %s", first), MGB_ROOT,
                                bundle->update, MGB_MEMORY_REPLICAS, bundle->bytes);
    struct mgb_operand home = mgb_plan_whole(planner, bundle->buffers[0]);
    struct mgb_operand work = mgb_plan_whole(planner, bundle->work);
    mgb_plan_add_copy(planner, MGB_PHASE_UPDATE, MGB_ROOT, back ? bundle->home : bundle->update,
                      back ? bundle->update : bundle->home, back ? home : work, back ? work : home,
                      mgb_plan_name(planner, back ? "return %s" : "visit %s", first));
}

static void commit_await(struct mgb_planner *planner, int task)
{
    for (int i = 0; i < planner->commits.count; i++)
        mgb_plan_add_wait(planner, task, planner->commits.at[i].task, planner->commits.at[i].tower);
}

/* Does `variable` move at `device`, or in the class? */
static bool moves_here(const struct mgb_planner *planner, const struct mgb_stage *stage, int device,
                       int variable)
{
    int bucket = planner->bucket_of[variable];
    return bucket >= 0 && planner->buckets.at[bucket].states &&
           planner->buckets.at[bucket].update == device &&
           (!stage || planner->buckets.at[bucket].buffers[stage->class] >= 0);
}

/* Moving statistics: a task for each momentum, which is as a rule one. `last`: the collective to wait for; -1. */
static void states_move(struct mgb_planner *planner, const struct mgb_stage *stage, int device,
                        int last)
{
    const struct mgb_variable *variables = planner->graph->variables;
    int count = planner->graph->variable_count;
    for (int first = 0; first < count && !planner->failed; first++) {
        bool begun = !moves_here(planner, stage, device, first);
        for (int v = 0; v < first && !begun; v++)
            begun = moves_here(planner, stage, device, v) &&
                    variables[v].momentum == variables[first].momentum;
        if (begun)
            continue;
        int task = mgb_plan_add_task(planner, MGB_TASK_UPDATE, MGB_PHASE_UPDATE,
                                     stage ? stage->class : MGB_ROOT, stage ? MGB_SELF : device,
                                     "move statistics");
        planner->tasks.at[task].states = true;
        planner->tasks.at[task].scale = variables[first].momentum;
        for (int v = first; v < count; v++)
            if (moves_here(planner, stage, device, v) &&
                variables[v].momentum == variables[first].momentum)
                variable_update(planner, stage, v);
        commit_await(planner, task);
        if (last >= 0)
            mgb_plan_add_wait(planner, task, last, MGB_OWN);
    }
}

static void root_update(struct mgb_planner *planner)
{
    for (int b = 0; b < planner->bundles.count; b++)
        bundle_visit(planner, &planner->bundles.at[b], false);
    if (planner->root.last >= 0 &&
        !mgb_vector_push(&planner->commits, ((struct mgb_wait){planner->root.last, MGB_OWN})))
        planner->failed = true;
    for (int d = 0; d < planner->plan->topology->device_count; d++) {
        if (mgb_plan_updates_here(planner, d))
            commit_await(planner, update_add(planner, NULL, d));
        states_move(planner, NULL, d, -1);
    }
    for (int b = 0; b < planner->bundles.count; b++)
        bundle_visit(planner, &planner->bundles.at[b], true);
}

/* Towers that exchange nothing, or not yet, still wait for each other before they change their weights. */
static void independents_meet(struct mgb_planner *planner)
{
    bool meets = planner->placement->strategy != MGB_INDEPENDENT && !planner->plan->stale;
    if (meets || planner->plan->tower_count == 1)
        return;
    int buffer =
        mgb_plan_add_buffer(planner, "commit", MGB_ROOT, MGB_HOST_DEVICE, MGB_MEMORY_WORKSPACE, 4);
    int task = mgb_plan_add_task(planner, MGB_TASK_FILL, MGB_PHASE_UPDATE, MGB_ROOT,
                                 MGB_HOST_DEVICE, "commit");
    mgb_plan_add_operand(planner, mgb_plan_whole(planner, buffer));
    for (int c = 0; c < planner->plan->class_count; c++)
        if (planner->stages[c].last >= 0)
            mgb_plan_add_wait(planner, task, planner->stages[c].last, MGB_EACH_TOWER);
    if (!mgb_vector_push(&planner->commits, ((struct mgb_wait){task, MGB_OWN})))
        planner->failed = true;
}

/* The last of each class's collectives: they run in order, and each meets all towers. */
static int collective_last(const struct mgb_planner *planner, int class)
{
    for (int i = planner->tasks.count - 1; i >= 0; i--)
        if (planner->tasks.at[i].kind == MGB_TASK_ALLREDUCE && planner->tasks.at[i].class == class)
            return i;
    return -1;
}

static void mirrors_update(struct mgb_planner *planner)
{
    independents_meet(planner);
    for (int c = 0; c < planner->plan->class_count; c++) {
        int last = planner->plan->stale ? -1 : collective_last(planner, c);
        states_move(planner, &planner->stages[c], -1, last);
        if (!mgb_plan_class_updates(planner, &planner->stages[c]))
            continue;
        int task = update_add(planner, &planner->stages[c], -1);
        commit_await(planner, task);
        if (last >= 0)
            mgb_plan_add_wait(planner, task, last, MGB_OWN);
    }
}

/* Stale: the end of every backward instead of the sums. Mirrors meet in a task of its own. */
static void commits_replace(struct mgb_planner *planner)
{
    planner->commits.count = 0;
    for (int c = 0; !planner->mirrored && c < planner->plan->class_count; c++) {
        struct mgb_wait last = {planner->stages[c].last, MGB_EACH_TOWER};
        if (last.task >= 0 && !mgb_vector_push(&planner->commits, last))
            planner->failed = true;
    }
}

enum mgb_status mgb_plan_update(struct mgb_planner *planner)
{
    if (!planner->training || planner->member_count == 0)
        return MGB_OK;
    if (planner->plan->stale)
        commits_replace(planner);
    if (planner->mirrored)
        mirrors_update(planner);
    else
        root_update(planner);
    return MGB_OK;
}
