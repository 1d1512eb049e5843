/* Clipping by the global norm: sums of squares where each gradient is, one factor from all of them in variable order (so
 * that it has the same bits wherever things lie), and the factor to every device that updates. */
#include "engine/plan/update.h"

#include "engine/plan/build.h"

static bool clips(const struct mgb_planner *planner)
{
    bool trains = false;
    for (int k = 0; k < planner->buckets.count; k++)
        trains = trains || !planner->buckets.at[k].states;
    bool scaled =
        planner->plan->precision == MGB_PRECISION_F16; /* the factor takes the scale out */
    return planner->training && trains && (planner->request->optimizer.clip_norm > 0 || scaled);
}

/* NORM over the gradients that are updated at `device` (-1: all, by `stage`); returns the buffer, number its parts. */
static int norms_take(struct mgb_planner *planner, const struct mgb_stage *stage, int device,
                      int *place)
{
    int class = stage ? stage->class : MGB_ROOT, count = 0;
    for (int v = 0; v < planner->graph->variable_count; v++)
        if (mgb_plan_updates(planner, v, device))
            place[v] = count++;
    int buffer = mgb_plan_add_buffer(planner, "norms", class, stage ? MGB_SELF : device,
                                     MGB_MEMORY_WORKSPACE, (int64_t)count * 4);
    mgb_plan_add_task(planner, MGB_TASK_NORM, MGB_PHASE_UPDATE, class, stage ? MGB_SELF : device,
                      "norm");
    mgb_plan_add_operand(planner, mgb_plan_whole(planner, buffer));
    for (int v = 0; v < planner->graph->variable_count; v++)
        if (mgb_plan_updates(planner, v, device))
            mgb_plan_add_operand(planner, mgb_plan_gradient(planner, stage, v));
    return buffer;
}

static void stage_clip(struct mgb_planner *planner, const struct mgb_stage *stage, int *place)
{
    int norms = norms_take(planner, stage, -1, place);
    int factor = mgb_plan_add_buffer(planner, "clip factor", stage->class, MGB_SELF,
                                     MGB_MEMORY_WORKSPACE, 4);
    mgb_plan_add_task(planner, MGB_TASK_CLIP, MGB_PHASE_UPDATE, stage->class, MGB_SELF, "clip");
    mgb_plan_add_operand(planner, mgb_plan_whole(planner, factor));
    mgb_plan_add_operand(planner, mgb_plan_whole(planner, norms));
    planner->clip_factor[stage->class] = factor;
}

/* Operands of the factor: the norms in variable order, neighbours in one buffer as one operand. */
static void factor_read(struct mgb_planner *planner, const int *norms, const int *place)
{
    struct mgb_operand run = mgb_plan_nowhere();
    for (int v = 0; v < planner->graph->variable_count; v++) {
        if (planner->bucket_of[v] < 0 || planner->buckets.at[planner->bucket_of[v]].states)
            continue;
        int buffer = norms[planner->placement->update[v]];
        if (run.buffer == buffer && run.offset + run.bytes == (int64_t)place[v] * 4) {
            run.bytes += 4;
            continue;
        }
        if (run.buffer >= 0)
            mgb_plan_add_operand(planner, run);
        run = mgb_plan_part(buffer, (int64_t)place[v] * 4, 4);
    }
    mgb_plan_add_operand(planner, run);
}

static int scalar_bring(struct mgb_planner *planner, int buffer, int from, int to, const char *name)
{
    if (from == to)
        return buffer;
    int64_t bytes = planner->buffers.at[buffer].bytes;
    int there = mgb_plan_add_buffer(planner, name, MGB_ROOT, to, MGB_MEMORY_WORKSPACE, bytes);
    mgb_plan_add_copy(planner, MGB_PHASE_UPDATE, MGB_ROOT, to, from, mgb_plan_whole(planner, there),
                      mgb_plan_whole(planner, buffer), name);
    return there;
}

static void root_clip(struct mgb_planner *planner, int *place, int *norms)
{
    int devices = planner->plan->topology->device_count, at = -1;
    for (int d = 0; d < devices; d++) {
        norms[d] = -1;
        if (!mgb_plan_updates_here(planner, d))
            continue;
        at = at < 0 ? d : at;
        norms[d] = scalar_bring(planner, norms_take(planner, NULL, d, place), d, at, "norms here");
    }
    int factor = mgb_plan_add_buffer(planner, "clip factor", MGB_ROOT, at, MGB_MEMORY_WORKSPACE, 4);
    mgb_plan_add_task(planner, MGB_TASK_CLIP, MGB_PHASE_UPDATE, MGB_ROOT, at, "clip");
    mgb_plan_add_operand(planner, mgb_plan_whole(planner, factor));
    factor_read(planner, norms, place);
    for (int d = 0; d < devices; d++)
        if (mgb_plan_updates_here(planner, d))
            planner->clip_factor[d] = scalar_bring(planner, factor, at, d, "clip factor here");
}

enum mgb_status mgb_plan_clip(struct mgb_planner *planner)
{
    const struct mgb_plan *plan = planner->plan;
    int devices = plan->topology->device_count;
    size_t count = (size_t)(devices > plan->class_count ? devices : plan->class_count);
    planner->clip_factor = mgb_plan_alloc(planner, count, sizeof *planner->clip_factor);
    if (planner->failed)
        return MGB_OK;
    for (size_t i = 0; i < count; i++)
        planner->clip_factor[i] = -1;
    int *place = mgb_plan_alloc(planner, (size_t)planner->graph->variable_count, sizeof *place);
    int *norms = mgb_plan_alloc(planner, (size_t)devices, sizeof *norms);
    if (planner->failed || !clips(planner))
        return MGB_OK;
    if (!planner->mirrored) {
        root_clip(planner, place, norms);
        return MGB_OK;
    }
    for (int c = 0; c < plan->class_count; c++)
        if (mgb_plan_class_updates(planner, &planner->stages[c]))
            stage_clip(planner, &planner->stages[c], place);
    return MGB_OK;
}
