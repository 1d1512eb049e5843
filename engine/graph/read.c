/* Reading a graph: what is asked of it by those who see only the opaque type. */
#include "engine/graph/op.h"

const char *mgb_graph_name(const struct mgb_graph *graph)
{
    return graph->name;
}

static struct mgb_tensor tensor_get(const struct mgb_graph *graph, int tensor)
{
    struct mgb_tensor scratch;
    const struct mgb_tensor *found = mgb_graph_find_tensor(graph, tensor, &scratch);
    return found ? *found : (struct mgb_tensor){.node = -1};
}

/* An id that is no tensor has an empty shape: the operator that it is given to says what is wrong.
 */
const struct mgb_shape *mgb_tensor_shape(const struct mgb_graph *graph, int tensor)
{
    static const struct mgb_shape nothing;
    int variable = tensor - MGB_TOWER_READ;
    if (tensor >= 0 && tensor < graph->tensor_count)
        return &graph->tensors[tensor].shape;
    if (variable >= 0 && variable < graph->variable_count)
        return &graph->variables[variable].info.shape;
    return &nothing;
}

bool mgb_tensor_batched(const struct mgb_graph *graph, int tensor)
{
    return tensor_get(graph, tensor).batched;
}

enum mgb_type mgb_tensor_type(const struct mgb_graph *graph, int tensor)
{
    return tensor_get(graph, tensor).type;
}

int mgb_graph_input_count(const struct mgb_graph *graph)
{
    return graph->input_count;
}

int mgb_graph_input_at(const struct mgb_graph *graph, int index, const char **name)
{
    if (name)
        *name = graph->inputs[index].name;
    return graph->inputs[index].tensor;
}

int mgb_graph_fixed_batch(const struct mgb_graph *graph, const char **input)
{
    if (input)
        *input = graph->batch_input;
    return graph->batch;
}

int mgb_graph_output_count(const struct mgb_graph *graph)
{
    return graph->output_count;
}

int mgb_graph_output_at(const struct mgb_graph *graph, int index, const char **name)
{
    if (name)
        *name = graph->outputs[index].name;
    return graph->outputs[index].tensor;
}

int mgb_graph_metric_count(const struct mgb_graph *graph)
{
    return graph->metric_count;
}

int mgb_graph_metric_at(const struct mgb_graph *graph, int index, const char **name)
{
    if (name)
        *name = graph->metrics[index].name;
    return graph->metrics[index].tensor;
}

int mgb_graph_variable_count(const struct mgb_graph *graph)
{
    return graph->variable_count;
}

struct mgb_variable_info mgb_graph_variable_at(const struct mgb_graph *graph, int variable)
{
    return graph->variables[variable].info;
}

int64_t mgb_graph_parameters(const struct mgb_graph *graph)
{
    int64_t count = 0;
    for (int i = 0; i < graph->variable_count; i++)
        if (graph->variables[i].info.twin < 0 && !graph->variables[i].info.state)
            count += graph->variables[i].info.count;
    return count;
}

/* Losses, metrics, penalties on weights and the statistics of a batch are left out, as is usual in published figures. */
double mgb_graph_forward_flops(const struct mgb_graph *graph)
{
    double flops = 0;
    for (int i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].section == MGB_SECTION_FORWARD &&
            graph->nodes[i].kind != MGB_OP_BATCH_STATS && graph->nodes[i].kind != MGB_OP_SQUARES)
            flops += mgb_node_flops(graph, &graph->nodes[i], 1);
    return flops;
}

uint64_t mgb_graph_digest(const struct mgb_graph *graph)
{
    return graph->builder->digest;
}

int64_t mgb_tensor_bytes(const struct mgb_graph *graph, int tensor, int64_t rows)
{
    const struct mgb_tensor *t = &graph->tensors[tensor];
    return mgb_shape_count(&t->shape) * mgb_type_size(t->type) * (t->batched ? rows : 1);
}

double mgb_node_flops(const struct mgb_graph *graph, const struct mgb_node *node, int64_t rows)
{
    const struct mgb_op_rules *rules = mgb_op_rules_get(node->kind);
    bool batched = false;
    if (!rules->flops)
        return 0;
    for (int i = 0; i < node->input_count; i++)
        batched = batched || graph->tensors[node->inputs[i]].batched;
    return rules->flops(graph, node) * (batched ? (double)rows : 1);
}
