/* Gradients that are applied one step late: what is left to sum is summed after the update, which does not wait for it, and
 * every sum is kept for the step that follows. */
#include "engine/plan/build.h"

static void bucket_keep(struct mgb_planner *planner, const struct mgb_bucket *bucket, int number)
{
    const char *name = mgb_plan_name(planner, "keep gradients %d", number);
    if (!planner->mirrored) {
        mgb_plan_add_copy(planner, MGB_PHASE_UPDATE, MGB_ROOT, bucket->update, bucket->update,
                          mgb_plan_whole(planner, bucket->pending[0]), bucket->total, name);
        return;
    }
    for (int c = 0; c < planner->plan->class_count; c++)
        if (bucket->buffers[c] >= 0)
            mgb_plan_add_copy(planner, MGB_PHASE_UPDATE, c, MGB_SELF, MGB_SELF,
                              mgb_plan_whole(planner, bucket->pending[c]),
                              mgb_plan_whole(planner, bucket->buffers[c]), name);
}

enum mgb_status mgb_plan_keep(struct mgb_planner *planner)
{
    if (!planner->training || !planner->plan->stale)
        return MGB_OK;
    MGB_TRY(mgb_plan_sum(planner, -1));
    mgb_plan_widen_all(planner);
    for (int k = 0; k < planner->buckets.count && !planner->failed; k++)
        bucket_keep(planner, &planner->buckets.at[k], k);
    return MGB_OK;
}
