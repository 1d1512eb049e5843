/* The meeting of the towers under `outputs`: rows of joined tensors to the device that joins, on to the one that takes the
 * loss, and after the head the gradients back to the towers, by rows. */
#include "engine/plan/build.h"

/* The only tower with rows, or -1. */
static int single_tower(const struct mgb_planner *planner)
{
    const struct mgb_plan *plan = planner->plan;
    return plan->tower_count == 1 || plan->towers[1].rows == 0 ? 0 : -1;
}

static struct mgb_operand by_rows(struct mgb_operand whole, int64_t bytes, int64_t row_bytes)
{
    whole.bytes = bytes;
    whole.row_bytes = row_bytes;
    return whole;
}

/* Where the joined tensor is at join_at. */
static struct mgb_operand tensor_join(struct mgb_planner *planner, int tensor)
{
    const struct mgb_graph *graph = planner->graph;
    int device = planner->placement->join_at, single = single_tower(planner);
    const char *made = graph->nodes[graph->tensors[tensor].node].name;
    if (single >= 0 && planner->plan->towers[single].device == device) {
        struct mgb_operand at =
            planner->stages[planner->plan->towers[single].class].tensors[tensor];
        at.tower = single;
        return at;
    }
    int64_t rows = planner->plan->global_rows, row_bytes = mgb_tensor_bytes(graph, tensor, 1);
    const char *name = mgb_plan_name(planner, "join %s", made);
    int buffer = mgb_plan_add_buffer(planner, name, MGB_ROOT, device, MGB_MEMORY_MERGE,
                                     mgb_tensor_bytes(graph, tensor, rows));
    for (int c = 0; c < planner->plan->class_count; c++) {
        struct mgb_stage *stage = &planner->stages[c];
        if (stage->rows == 0)
            continue;
        struct mgb_operand to =
            by_rows(mgb_plan_whole(planner, buffer), row_bytes * stage->rows, row_bytes);
        struct mgb_operand from = stage->tensors[tensor];
        from.bytes = to.bytes;
        int task = mgb_plan_add_copy(planner, MGB_PHASE_JOIN, c, device, MGB_SELF, to, from, name);
        planner->tasks.at[task].rows = stage->rows;
    }
    return mgb_plan_whole(planner, buffer);
}

static void tensor_pass_on(struct mgb_planner *planner, int tensor, struct mgb_operand at)
{
    const struct mgb_effective *placement = planner->placement;
    if (placement->join_at != placement->loss_at) {
        const char *name =
            mgb_plan_name(planner, "loss of %s",
                          planner->graph->nodes[planner->graph->tensors[tensor].node].name);
        int buffer = mgb_plan_add_buffer(planner, name, MGB_ROOT, placement->loss_at,
                                         MGB_MEMORY_MERGE, at.bytes);
        int task = mgb_plan_add_copy(planner, MGB_PHASE_JOIN, MGB_ROOT, placement->loss_at,
                                     placement->join_at, mgb_plan_whole(planner, buffer), at, name);
        planner->tasks.at[task].rows = planner->plan->global_rows;
        at = mgb_plan_whole(planner, buffer);
    }
    mgb_plan_seat(planner, &planner->root, tensor, at);
}

enum mgb_status mgb_plan_join(struct mgb_planner *planner)
{
    for (int i = 0; i < planner->graph->tensor_count; i++) {
        if (!planner->joined[i] || planner->failed)
            continue;
        struct mgb_operand at = tensor_join(planner, i);
        if (planner->root.reads[i] > 0)
            tensor_pass_on(planner, i, at);
        for (int c = 0; c < planner->plan->class_count; c++)
            if (planner->stages[c].rows > 0)
                mgb_plan_read(planner, &planner->stages[c], i);
    }
    return MGB_OK;
}

static void tensor_scatter(struct mgb_planner *planner, struct mgb_stage *stage, int tensor)
{
    const struct mgb_graph *graph = planner->graph;
    struct mgb_operand from = planner->root.tensors[tensor];
    if (single_tower(planner) == stage->tower && stage->device == planner->root.device) {
        mgb_plan_seat(planner, stage, tensor, from);
        return;
    }
    int64_t row_bytes = mgb_tensor_bytes(graph, tensor, 1);
    const char *name =
        mgb_plan_name(planner, "back %s", graph->nodes[graph->tensors[tensor].node].name);
    int buffer = mgb_plan_add_buffer(planner, name, stage->class, MGB_SELF, MGB_MEMORY_ACTIVATIONS,
                                     row_bytes * stage->rows);
    int task = mgb_plan_add_copy(planner, MGB_PHASE_JOIN, stage->class, MGB_SELF,
                                 planner->root.device, mgb_plan_whole(planner, buffer),
                                 by_rows(from, row_bytes * stage->rows, row_bytes), name);
    planner->tasks.at[task].rows = stage->rows;
    mgb_plan_seat(planner, stage, tensor, mgb_plan_whole(planner, buffer));
}

enum mgb_status mgb_plan_scatter(struct mgb_planner *planner)
{
    for (int i = 0; i < planner->graph->tensor_count; i++) {
        if (!planner->returned[i] || planner->failed)
            continue;
        for (int c = 0; c < planner->plan->class_count; c++)
            if (planner->stages[c].rows > 0)
                tensor_scatter(planner, &planner->stages[c], i);
        mgb_plan_read(planner, &planner->root, i);
    }
    return MGB_OK;
}
