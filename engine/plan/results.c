/* Losses and metrics on their way to /cpu:0, where the host reads them after the step. */
#include "engine/plan/build.h"

/* The stage's results on /cpu:0. */
static struct mgb_operand results_bring(struct mgb_planner *planner, const struct mgb_stage *stage)
{
    struct mgb_operand from = mgb_plan_whole(planner, stage->results);
    if (stage->device == MGB_HOST_DEVICE)
        return from;
    int buffer = mgb_plan_add_buffer(planner, "results here", stage->class, MGB_HOST_DEVICE,
                                     MGB_MEMORY_MERGE, from.bytes);
    mgb_plan_add_copy(planner, MGB_PHASE_FORWARD, stage->class, MGB_HOST_DEVICE, stage->place,
                      mgb_plan_whole(planner, buffer), from, "results");
    return mgb_plan_whole(planner, buffer);
}

static void result_list(struct mgb_planner *planner, bool metric, int index, int tensor,
                        struct mgb_operand from, int tower)
{
    struct mgb_operand part =
        mgb_plan_part(from.buffer, (int64_t)planner->result_of[tensor] * MGB_ALIGNMENT,
                      mgb_tensor_bytes(planner->graph, tensor, 1));
    part.tower = tower;
    if (!mgb_vector_push(&planner->results, (struct mgb_result){metric, index, part}))
        planner->failed = true;
}

static void results_list(struct mgb_planner *planner, const struct mgb_operand *from)
{
    const struct mgb_graph *graph = planner->graph;
    bool outputs = planner->placement->strategy == MGB_OUTPUTS;
    int count = outputs ? 1 : planner->plan->class_count;
    for (int i = 0; i < graph->loss_count + graph->metric_count; i++) {
        bool metric = i >= graph->loss_count;
        int index = metric ? i - graph->loss_count : i;
        int tensor = metric ? graph->metrics[index].tensor : graph->losses[index].tensor;
        for (int c = 0; c < count; c++)
            if (from[c].buffer >= 0)
                result_list(planner, metric, index, tensor, from[c],
                            outputs ? MGB_OWN : MGB_EACH_TOWER);
    }
}

enum mgb_status mgb_plan_results(struct mgb_planner *planner)
{
    int count = planner->plan->class_count;
    struct mgb_operand *from = mgb_plan_alloc(planner, (size_t)count, sizeof *from);
    if (!from || planner->result_count == 0)
        return MGB_OK;
    if (planner->placement->strategy == MGB_OUTPUTS) {
        from[0] = results_bring(planner, &planner->root);
    } else {
        for (int c = 0; c < count; c++)
            from[c] = planner->stages[c].rows > 0 ? results_bring(planner, &planner->stages[c])
                                                  : mgb_plan_nowhere();
    }
    results_list(planner, from);
    return MGB_OK;
}
