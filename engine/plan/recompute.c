/* recompute = block: activations inside of blocks are not kept for backward but made again by a second run of the block's
 * operators, before the first gradient that reads one of them. The second run gives the same bits: same operators, inputs,
 * layouts and threads, and dropout masks that are counted, not drawn. */
#include "engine/plan/recompute.h"

static void back_count(const struct mgb_planner *planner, int *back)
{
    const struct mgb_graph *graph = planner->graph;
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; planner->runs[n] && i < graph->nodes[n].input_count; i++)
            back[graph->nodes[n].inputs[i]] += graph->nodes[n].section == MGB_SECTION_BACKWARD;
}

/* What is dropped has no reads beyond forward; what second runs read has theirs besides. */
static void reads_change(struct mgb_planner *planner, const struct mgb_rerun *r)
{
    const struct mgb_graph *graph = planner->graph;
    for (int c = 0; c < planner->plan->class_count; c++)
        for (int i = 0; planner->stages[c].rows > 0 && i < graph->tensor_count; i++)
            planner->stages[c].reads[i] +=
                r->again[graph->tensors[i].node] ? -r->back[i] : r->second[i];
}

enum mgb_status mgb_plan_recompute(struct mgb_planner *planner)
{
    const struct mgb_graph *graph = planner->graph;
    size_t nodes = (size_t)graph->node_count, tensors = (size_t)graph->tensor_count;
    if (!planner->training || planner->placement->recompute == MGB_RECOMPUTE_NONE)
        return MGB_OK;
    struct mgb_rerun *r = mgb_plan_alloc(planner, 1, sizeof *r);
    if (!r)
        return MGB_OK;
    r->back = mgb_plan_alloc(planner, tensors, sizeof *r->back);
    r->second = mgb_plan_alloc(planner, tensors, sizeof *r->second);
    r->block = mgb_plan_alloc(planner, nodes, sizeof *r->block);
    r->again = mgb_plan_alloc(planner, nodes, sizeof *r->again);
    r->issued = mgb_plan_alloc(planner, nodes, sizeof *r->issued);
    if (planner->failed)
        return MGB_OK;
    back_count(planner, r->back);
    if (!mgb_recompute_choose(planner, r))
        return MGB_OK;
    reads_change(planner, r);
    planner->recompute = r;
    return MGB_OK;
}

static enum mgb_status node_again(struct mgb_planner *planner, int n)
{
    const struct mgb_rerun *r = planner->recompute;
    const struct mgb_node *node = &planner->graph->nodes[n];
    for (int c = 0; c < planner->plan->class_count && !planner->failed; c++) {
        struct mgb_stage *stage = &planner->stages[c];
        if (stage->rows == 0)
            continue;
        for (int o = 0; o < node->output_count; o++)
            if (node->outputs[o] >= 0)
                stage->reads[node->outputs[o]] =
                    r->back[node->outputs[o]] + r->second[node->outputs[o]];
        stage->again = true;
        MGB_TRY(mgb_plan_node(planner, stage, n));
        stage->again = false;
    }
    return MGB_OK;
}

enum mgb_status mgb_plan_again(struct mgb_planner *planner, int gradient)
{
    const struct mgb_rerun *r = planner->recompute;
    const struct mgb_graph *graph = planner->graph;
    for (int i = 0; r && i < graph->nodes[gradient].input_count; i++) {
        int maker = graph->tensors[graph->nodes[gradient].inputs[i]].node, block = r->block[maker];
        if (!r->again[maker] || r->issued[block])
            continue;
        r->issued[block] = true;
        for (int n = 0; n < graph->node_count; n++)
            if (r->again[n] && r->block[n] == block)
                MGB_TRY(node_again(planner, n));
    }
    return MGB_OK;
}
