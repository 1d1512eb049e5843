/* Weights on their way to the towers: a bundle is copied from its home to every tower that reads one of its variables and
 * lives elsewhere: when a step begins, or (staged) at the end of the step before, into replicas that last. */
#include "engine/plan/build.h"

/* Does a node of the stage read a variable of the bundle? */
static bool bundle_is_read(const struct mgb_planner *planner, const struct mgb_stage *stage,
                           const struct mgb_bundle *bundle)
{
    const struct mgb_graph *graph = planner->graph;
    for (int n = 0; n < graph->node_count; n++) {
        const struct mgb_node *node = &graph->nodes[n];
        if (node->kind != MGB_OP_READ || stage->reads[node->outputs[0]] == 0)
            continue;
        int v = mgb_plan_variable(planner, stage, node->a.variable);
        if (v >= bundle->first && v < bundle->first + bundle->count)
            return true;
    }
    return false;
}

static void bundle_fetch(struct mgb_planner *planner, struct mgb_stage *stage,
                         const struct mgb_bundle *bundle)
{
    const struct mgb_variable *variables = planner->graph->variables;
    if (stage->weights[bundle->first].buffer >= 0 ||
        !mgb_plan_concerns(planner, stage, bundle->scope) ||
        !bundle_is_read(planner, stage, bundle))
        return;
    const char *name = bundle->count == 1
                           ? mgb_plan_name(planner, "fetch %s", variables[bundle->first].info.name)
                           : mgb_plan_name(planner, "fetch %s +%d",
                                           variables[bundle->first].info.name, bundle->count - 1);
    int buffer = mgb_plan_add_buffer(planner, name, stage->class, MGB_SELF, MGB_MEMORY_REPLICAS,
                                     bundle->bytes);
    mgb_plan_add_copy(planner, MGB_PHASE_FETCH, stage->class, MGB_SELF, bundle->home,
                      mgb_plan_whole(planner, buffer), mgb_plan_whole(planner, bundle->buffers[0]),
                      name);
    for (int v = bundle->first; v < bundle->first + bundle->count; v++)
        stage->weights[v] =
            mgb_plan_part(buffer, planner->bundle_offset[v], variables[v].info.bytes);
}

static void weights_seat(struct mgb_planner *planner, struct mgb_stage *stage)
{
    const struct mgb_graph *graph = planner->graph;
    for (int n = 0; n < graph->node_count; n++)
        if (graph->nodes[n].kind == MGB_OP_READ && stage->reads[graph->nodes[n].outputs[0]] > 0)
            mgb_plan_seat(
                planner, stage, graph->nodes[n].outputs[0],
                stage->weights[mgb_plan_variable(planner, stage, graph->nodes[n].a.variable)]);
}

enum mgb_status mgb_plan_fetch(struct mgb_planner *planner)
{
    for (int b = 0; b < planner->bundles.count; b++)
        for (int c = 0; !planner->mirrored && c < planner->plan->class_count; c++)
            bundle_fetch(planner, &planner->stages[c], &planner->bundles.at[b]);
    for (int c = 0; c < planner->plan->class_count; c++)
        weights_seat(planner, &planner->stages[c]);
    return MGB_OK;
}

/* Frozen weights stay as the move or the start put them. */
enum mgb_status mgb_plan_stage(struct mgb_planner *planner)
{
    for (int b = 0; planner->training && planner->plan->staged && b < planner->bundles.count; b++) {
        const struct mgb_bundle *bundle = &planner->bundles.at[b];
        if (!bundle->staged || !mgb_plan_changes(planner, bundle->first))
            continue;
        const char *name =
            mgb_plan_name(planner, "stage %s", planner->graph->variables[bundle->first].info.name);
        for (int c = 0; c < planner->plan->class_count && !planner->failed; c++)
            if (bundle->staged[c] >= 0)
                mgb_plan_add_copy(planner, MGB_PHASE_FETCH, c, MGB_SELF, bundle->home,
                                  mgb_plan_whole(planner, bundle->staged[c]),
                                  mgb_plan_whole(planner, bundle->buffers[0]), name);
    }
    return MGB_OK;
}
