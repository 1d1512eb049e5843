/* The batch: rows go from the slots on /cpu:0 to every tower that reads the input, and to the head where it runs apart.
 * Whoever works on /cpu:0 reads the slot itself. */
#include "engine/plan/build.h"

static void input_seat(struct mgb_planner *planner, struct mgb_stage *stage, int input)
{
    const struct mgb_graph *graph = planner->graph;
    int tensor = graph->inputs[input].tensor;
    if (stage->reads[tensor] == 0)
        return;
    int64_t row_bytes = graph->tensors[tensor].batched ? mgb_tensor_bytes(graph, tensor, 1) : 0;
    struct mgb_operand src = mgb_plan_part(planner->plan->input_buffer[input], 0,
                                           mgb_tensor_bytes(graph, tensor, stage->rows));
    src.row_bytes = stage->class == MGB_ROOT ? 0 : row_bytes;
    bool first = stage->class == MGB_ROOT || planner->plan->towers[stage->tower].first_row == 0;
    if (stage->device == MGB_HOST_DEVICE && first) {
        src.row_bytes = 0;
        mgb_plan_seat(planner, stage, tensor, src);
        return;
    }
    const char *name = mgb_plan_name(planner, "input %s", graph->inputs[input].name);
    int buffer =
        mgb_plan_add_buffer(planner, name, stage->class, stage->place, MGB_MEMORY_INPUT, src.bytes);
    int task = mgb_plan_add_copy(planner, MGB_PHASE_INPUT, stage->class, stage->place,
                                 MGB_HOST_DEVICE, mgb_plan_whole(planner, buffer), src, name);
    planner->tasks.at[task].rows = stage->rows;
    mgb_plan_seat(planner, stage, tensor, mgb_plan_whole(planner, buffer));
}

enum mgb_status mgb_plan_input(struct mgb_planner *planner)
{
    for (int i = 0; i < planner->graph->input_count; i++) {
        for (int c = 0; c < planner->plan->class_count; c++)
            input_seat(planner, &planner->stages[c], i);
        input_seat(planner, &planner->root, i);
    }
    return MGB_OK;
}
