/* Finishing a model: last checks, names, order, gradients. */
#include "engine/base/hash.h"
#include "engine/graph/op.h"

#include <string.h>

static enum mgb_status finish_check(const struct mgb_graph *graph)
{
    const struct mgb_graph_builder *builder = graph->builder;
    MGB_TRY(mgb_graph_check_open(graph, "finish"));
    if (builder->tower >= 0)
        return mgb_fail(MGB_STATE, "model '%s': tower %d is not ended", graph->name,
                        builder->tower);
    if (builder->unbalanced || builder->scope >= 0 || builder->devices.count > 0 ||
        builder->open_shares.count > 0)
        return mgb_fail(MGB_STATE,
                        "model '%s': a scope, device scope or shared sub-model was begun and "
                        "not ended, or ended twice",
                        graph->name);
    if (graph->input_count == 0)
        return mgb_fail(MGB_INVALID, "model '%s' has no input; declare one with m:input",
                        graph->name);
    if (graph->loss_count == 0)
        return mgb_fail(MGB_INVALID, "model '%s' has no loss; declare one with m:loss",
                        graph->name);
    return MGB_OK;
}

/* Forward operators, then losses and metrics, each in order of definition. A head's result is no
 * operand of anything, so this order is topological. */
static enum mgb_status nodes_order(struct mgb_graph *graph)
{
    struct mgb_node *nodes = mgb_alloc((size_t)graph->node_count * sizeof *nodes);
    if (!nodes)
        return mgb_graph_no_memory(graph);
    int count = 0;
    for (int section = MGB_SECTION_FORWARD; section <= MGB_SECTION_HEAD; section++)
        for (int i = 0; i < graph->node_count; i++)
            if ((int)graph->nodes[i].section == section)
                nodes[count++] = graph->nodes[i];
    for (int i = 0; i < count; i++)
        for (int k = 0; k < nodes[i].output_count; k++)
            if (nodes[i].outputs[k] >= 0)
                graph->tensors[nodes[i].outputs[k]].node = i;
    memcpy(graph->nodes, nodes, (size_t)count * sizeof *nodes);
    mgb_release(nodes);
    return MGB_OK;
}

static void weights_spread(struct mgb_graph *graph)
{
    for (int i = 0; i < graph->loss_count; i++)
        graph->nodes[graph->tensors[graph->losses[i].tensor].node].a.loss.weight =
            graph->losses[i].weight;
}

enum mgb_status mgb_graph_finish(struct mgb_graph *graph)
{
    char *text;
    MGB_TRY(finish_check(graph));
    MGB_TRY(mgb_graph_resolve_twins(graph));
    MGB_TRY(mgb_graph_resolve_names(graph));
    MGB_TRY(nodes_order(graph));
    weights_spread(graph);
    MGB_TRY(mgb_graph_differentiate(graph));
    graph->finished = true;
    MGB_TRY(mgb_graph_text(&text, graph));
    graph->builder->digest = mgb_hash(0, text, strlen(text));
    mgb_text_free(text);
    return MGB_OK;
}
