/* Running the sections of the graph: forward and backward on every class of towers, node by node with the classes side by
 * side, so that all towers get work from the first task on; the head on the root or on the towers. */
#include "engine/plan/build.h"

static enum mgb_status node_run(struct mgb_planner *planner, int node)
{
    for (int c = 0; c < planner->plan->class_count; c++)
        if (planner->stages[c].rows > 0)
            MGB_TRY(mgb_plan_node(planner, &planner->stages[c],
                                  mgb_plan_instead(planner, &planner->stages[c], node)));
    mgb_plan_exchange(planner, node);
    return MGB_OK;
}

static enum mgb_status section_run(struct mgb_planner *planner, enum mgb_section section)
{
    for (int n = 0; n < planner->graph->node_count; n++)
        if (planner->runs[n] && planner->graph->nodes[n].section == section && !planner->failed)
            MGB_TRY(node_run(planner, n));
    return MGB_OK;
}

enum mgb_status mgb_plan_forward(struct mgb_planner *planner)
{
    return section_run(planner, MGB_SECTION_FORWARD);
}

static void results_make(struct mgb_planner *planner, struct mgb_stage *stage)
{
    if (planner->result_count > 0)
        stage->results =
            mgb_plan_add_buffer(planner, "results", stage->class, stage->place, MGB_MEMORY_MERGE,
                                (int64_t)(planner->result_count - 1) * MGB_ALIGNMENT + 4);
}

enum mgb_status mgb_plan_head(struct mgb_planner *planner)
{
    if (planner->placement->strategy != MGB_OUTPUTS) {
        for (int c = 0; c < planner->plan->class_count; c++)
            if (planner->stages[c].rows > 0)
                results_make(planner, &planner->stages[c]);
        return section_run(planner, MGB_SECTION_HEAD);
    }
    results_make(planner, &planner->root);
    for (int n = 0; n < planner->graph->node_count; n++)
        if (planner->runs[n] && planner->graph->nodes[n].section == MGB_SECTION_HEAD &&
            !planner->failed)
            MGB_TRY(mgb_plan_node(planner, &planner->root, n));
    return MGB_OK;
}

enum mgb_status mgb_plan_backward(struct mgb_planner *planner)
{
    bool overlap = planner->placement->overlap;
    for (int n = 0; n < planner->graph->node_count; n++) {
        if (!planner->runs[n] || planner->graph->nodes[n].section != MGB_SECTION_BACKWARD ||
            planner->failed)
            continue;
        MGB_TRY(mgb_plan_again(planner, n));
        MGB_TRY(node_run(planner, n));
        if (overlap)
            MGB_TRY(mgb_plan_sum(planner, n));
    }
    if (!planner->plan->stale) /* then the update comes first: mgb_plan_keep */
        MGB_TRY(mgb_plan_sum(planner, -1));
    for (int k = 0; k < planner->buckets.count; k++)
        for (int c = 0; c < planner->plan->class_count; c++)
            if (planner->buckets.at[k].buffers[c] >= 0)
                planner->drafts.at[planner->buckets.at[k].buffers[c]].keep =
                    planner->stages[c].last;
    return MGB_OK;
}
