/* Gradients of tables that travel as the rows they touch. Where a tower's gradient of such a table would go to another
 * device and its rows are fewer bytes, the tower runs the node that makes the rows instead of the one that makes the table;
 * the rows are copied, and the table is made of them where gradients are summed, with the bits it would have had.
 *
 * All-reduce and independent towers keep whole tables: no device is there that could unpack for others. A type of gradients
 * on the wire other than f32 rounds what has been unpacked, since towers' sums are rounded, not single uses. */
#include "engine/plan/build.h"

static int64_t packed_bytes(const struct mgb_planner *planner, int variable, int64_t rows)
{
    return mgb_tensor_bytes(planner->graph, planner->graph->variables[variable].packed, rows);
}

/* What the whole table weighs on its way. */
static int64_t whole_bytes(const struct mgb_planner *planner, int variable)
{
    int64_t bytes = planner->graph->variables[variable].info.bytes;
    return planner->plan->wire_type == MGB_WIRE_F32 ? bytes : bytes / 2;
}

static bool tower_elsewhere(const struct mgb_planner *planner, int device)
{
    const struct mgb_effective *placement = planner->placement;
    for (int t = 0; t < placement->tower_count; t++)
        if (placement->tower_device[t] != device)
            return true;
    return false;
}

/* The same for all plans of a placement, whatever their rows: lasting buffers follow buckets. */
bool mgb_plan_packs(const struct mgb_planner *planner, int variable)
{
    const struct mgb_effective *placement = planner->placement;
    int rows = placement->global_batch / placement->tower_count;
    return !planner->mirrored && planner->graph->variables[variable].packed >= 0 &&
           mgb_plan_trains(planner, variable) &&
           tower_elsewhere(planner, placement->sum[variable]) &&
           packed_bytes(planner, variable, rows > 0 ? rows : 1) < whole_bytes(planner, variable);
}

static bool device_runs(struct mgb_planner *planner, int device, int tensor, int rows)
{
    struct mgb_operator_facts facts;
    struct mgb_node_use use = {.graph = planner->graph,
                               .node = planner->graph->tensors[tensor].node,
                               .rows = rows,
                               .threads = 1,
                               .training = true,
                               .plain = {true}};
    enum mgb_status status = planner->facts.describe(planner->facts.context, device, &use, &facts);
    planner->failed |= status == MGB_NO_MEMORY;
    return status == MGB_OK;
}

/* A device that lacks one of the operators sends, or is sent, whole tables. */
static bool class_packs(struct mgb_planner *planner, const struct mgb_bucket *bucket,
                        const struct mgb_stage *stage)
{
    const struct mgb_variable *v = &planner->graph->variables[bucket->table];
    return stage->rows > 0 && stage->device != bucket->sum &&
           packed_bytes(planner, bucket->table, stage->rows) <
               whole_bytes(planner, bucket->table) &&
           device_runs(planner, stage->device, v->packed, stage->rows) &&
           device_runs(planner, bucket->sum, v->unpacked, stage->rows);
}

int64_t mgb_plan_bucket_bytes(struct mgb_planner *planner, struct mgb_bucket *bucket,
                              const struct mgb_stage *stage)
{
    bucket->packed[stage->class] = bucket->table >= 0 && class_packs(planner, bucket, stage);
    return bucket->packed[stage->class] ? packed_bytes(planner, bucket->table, stage->rows)
                                        : bucket->bytes;
}

/* The bucket of the table whose gradient, or whose rows of it, `tensor` is and that the stage sends packed; NULL: none. */
static const struct mgb_bucket *bucket_find(const struct mgb_planner *planner,
                                            const struct mgb_stage *stage, int tensor, bool rows)
{
    const struct mgb_graph *graph = planner->graph;
    for (int k = 0; stage->class != MGB_ROOT && tensor >= 0 && k < planner->buckets.count; k++) {
        const struct mgb_bucket *bucket = &planner->buckets.at[k];
        if (bucket->table < 0 || !bucket->packed[stage->class])
            continue;
        const struct mgb_variable *v = &graph->variables[bucket->table];
        if (tensor == (rows ? v->packed : v->gradient))
            return bucket;
    }
    return NULL;
}

int mgb_plan_instead(const struct mgb_planner *planner, const struct mgb_stage *stage, int node)
{
    const struct mgb_graph *graph = planner->graph;
    const struct mgb_bucket *bucket =
        bucket_find(planner, stage, graph->nodes[node].outputs[0], false);
    return bucket ? graph->tensors[graph->variables[bucket->table].packed].node : node;
}

struct mgb_operand mgb_plan_packed_place(const struct mgb_planner *planner,
                                         const struct mgb_stage *stage, int tensor)
{
    const struct mgb_bucket *bucket = bucket_find(planner, stage, tensor, true);
    return bucket ? mgb_plan_whole(planner, bucket->buffers[stage->class]) : mgb_plan_nowhere();
}

enum mgb_status mgb_plan_unpack(struct mgb_planner *planner, struct mgb_bucket *bucket, int class)
{
    if (bucket->buffers[class] < 0 || !bucket->packed[class])
        return MGB_OK;
    const struct mgb_variable *v = &planner->graph->variables[bucket->table];
    struct mgb_stage there = planner->stages[class]; /* its tower's, at another place */
    int before = planner->tasks.count;
    there.device = there.place = bucket->sum;
    there.reads[v->packed] = 1;
    mgb_plan_seat(planner, &there, v->packed, mgb_plan_whole(planner, bucket->arrivals[class]));
    MGB_TRY(mgb_plan_node(planner, &there, planner->graph->tensors[v->unpacked].node));
    if (planner->failed)
        return MGB_OK;
    bucket->arrivals[class] = there.tensors[v->unpacked].buffer;
    planner->buffers.at[bucket->arrivals[class]].category = MGB_MEMORY_MERGE;
    planner->tasks.at[before].phase = MGB_PHASE_SUM;
    return MGB_OK;
}

int mgb_plan_packers(const struct mgb_plan *plan, int variable, int64_t *bytes)
{
    int packed = plan->graph->variables[variable].packed, towers = 0;
    *bytes = 0;
    for (int i = 0; packed >= 0 && i < plan->task_count; i++) {
        const struct mgb_task *task = &plan->tasks[i];
        if (task->kind != MGB_TASK_COMPUTE || task->node != plan->graph->tensors[packed].node)
            continue;
        int64_t here = plan->operands[task->operand_begin + task->input_count].bytes;
        towers += plan->classes[task->class].tower_count;
        *bytes = here > *bytes ? here : *bytes;
    }
    return towers;
}
