/* Which nodes run in this plan, and which tensors cross between the towers and the head under `outputs`. Everything
 * forward runs; of the head and the gradients only what losses, metrics or a trained variable depend on. */
#include "engine/plan/build.h"

static bool node_is_source(const struct mgb_node *node)
{
    return node->kind == MGB_OP_INPUT || node->kind == MGB_OP_READ;
}

/* Marks in `marks` all nodes that the marked ones depend on. */
static void needs_close(const struct mgb_graph *graph, bool *marks)
{
    for (int n = graph->node_count - 1; n >= 0; n--)
        for (int i = 0; marks[n] && i < graph->nodes[n].input_count; i++)
            marks[graph->tensors[graph->nodes[n].inputs[i]].node] = true;
}

static void runs_mark(struct mgb_planner *planner)
{
    const struct mgb_graph *graph = planner->graph;
    for (int i = 0; i < graph->loss_count; i++)
        planner->answers[graph->tensors[graph->losses[i].tensor].node] = true;
    for (int i = 0; i < graph->metric_count; i++)
        planner->answers[graph->tensors[graph->metrics[i].tensor].node] = true;
    needs_close(graph, planner->answers);
    for (int v = 0; planner->training && v < graph->variable_count; v++)
        if (mgb_plan_changes(planner, v))
            planner->runs[graph->tensors[graph->variables[v].gradient].node] = true;
    for (int n = 0; n < graph->node_count; n++)
        planner->runs[n] |= planner->answers[n] || graph->nodes[n].section == MGB_SECTION_FORWARD;
    needs_close(graph, planner->runs);
}

static enum mgb_status crossing_refuse(const struct mgb_graph *graph, const struct mgb_node *node,
                                       const struct mgb_node *maker)
{
    return mgb_fail(MGB_UNSUPPORTED,
                    "plan of '%s': %s '%s' takes '%s', which has no batch axis; under strategy "
                    "outputs the loss sees joined outputs only: use another strategy",
                    graph->name, mgb_op_name(node->kind), node->name, maker->name);
}

/* What is joined or sent back is cut by rows. */
static enum mgb_status crossing_mark(struct mgb_planner *planner, const struct mgb_node *node,
                                     int tensor)
{
    const struct mgb_graph *graph = planner->graph;
    const struct mgb_node *maker = &graph->nodes[graph->tensors[tensor].node];
    bool joined = node->section == MGB_SECTION_HEAD && maker->section != MGB_SECTION_HEAD &&
                  maker->kind != MGB_OP_INPUT;
    bool returned = node->section == MGB_SECTION_BACKWARD && maker->section == MGB_SECTION_HEAD;
    if ((joined || returned) && !graph->tensors[tensor].batched)
        return crossing_refuse(graph, node, maker);
    planner->joined[tensor] |= joined;
    planner->returned[tensor] |= returned;
    return MGB_OK;
}

static enum mgb_status crossings_mark(struct mgb_planner *planner)
{
    const struct mgb_graph *graph = planner->graph;
    for (int n = 0; n < graph->node_count; n++)
        for (int i = 0; planner->runs[n] && i < graph->nodes[n].input_count; i++)
            MGB_TRY(crossing_mark(planner, &graph->nodes[n], graph->nodes[n].inputs[i]));
    for (int i = 0; i < graph->output_count; i++) {
        int tensor = graph->outputs[i].tensor;
        const struct mgb_node *maker = &graph->nodes[graph->tensors[tensor].node];
        if (graph->tensors[tensor].batched && maker->section == MGB_SECTION_FORWARD &&
            !node_is_source(maker))
            planner->joined[tensor] = true;
    }
    for (int v = 0; v < graph->variable_count; v++) {
        int gradient = graph->variables[v].gradient;
        if (planner->training && mgb_plan_trains(planner, v) &&
            graph->nodes[graph->tensors[gradient].node].section == MGB_SECTION_HEAD)
            return mgb_fail(MGB_UNSUPPORTED,
                            "plan of '%s': the loss reads variable '%s' itself; under strategy "
                            "outputs the loss sees "
                            "joined outputs only: use another strategy",
                            graph->name, graph->variables[v].info.name);
    }
    return MGB_OK;
}

static void reads_count(struct mgb_planner *planner, struct mgb_stage *stage)
{
    const struct mgb_graph *graph = planner->graph;
    bool outputs = planner->placement->strategy == MGB_OUTPUTS;
    bool root = stage->class == MGB_ROOT;
    for (int n = 0; n < graph->node_count; n++) {
        const struct mgb_node *node = &graph->nodes[n];
        bool head = outputs && node->section == MGB_SECTION_HEAD;
        for (int i = 0; planner->runs[n] && head == root && i < node->input_count; i++)
            stage->reads[node->inputs[i]]++;
    }
    for (int i = 0; i < graph->tensor_count; i++)
        stage->reads[i] += root ? planner->returned[i] : planner->joined[i];
}

static void results_number(struct mgb_planner *planner)
{
    const struct mgb_graph *graph = planner->graph;
    for (int i = 0; i < graph->tensor_count; i++)
        planner->result_of[i] = -1;
    for (int i = 0; i < graph->loss_count + graph->metric_count; i++) {
        int tensor = i < graph->loss_count ? graph->losses[i].tensor
                                           : graph->metrics[i - graph->loss_count].tensor;
        if (planner->result_of[tensor] < 0)
            planner->result_of[tensor] = planner->result_count++;
    }
}

enum mgb_status mgb_plan_needs(struct mgb_planner *planner)
{
    const struct mgb_graph *graph = planner->graph;
    size_t nodes = (size_t)graph->node_count, tensors = (size_t)graph->tensor_count;
    planner->runs = mgb_plan_alloc(planner, nodes, sizeof *planner->runs);
    planner->answers = mgb_plan_alloc(planner, nodes, sizeof *planner->answers);
    planner->joined = mgb_plan_alloc(planner, tensors, sizeof *planner->joined);
    planner->returned = mgb_plan_alloc(planner, tensors, sizeof *planner->returned);
    planner->result_of = mgb_plan_alloc(planner, tensors, sizeof *planner->result_of);
    if (planner->failed)
        return MGB_OK;
    runs_mark(planner);
    results_number(planner);
    if (planner->placement->strategy == MGB_OUTPUTS)
        MGB_TRY(crossings_mark(planner));
    for (int c = 0; c < planner->plan->class_count; c++)
        if (planner->stages[c].rows > 0)
            reads_count(planner, &planner->stages[c]);
    reads_count(planner, &planner->root);
    return MGB_OK;
}
