/* A graph's life and growth: nodes and tensors are appended, strings and input lists live in the
 * pool. */
#include "engine/graph/build.h"

#include "engine/base/text.h"
#include <string.h>

enum mgb_status mgb_graph_make(struct mgb_graph **out, const char *name)
{
    *out = NULL;
    if (!name || name[0] == '\0')
        return mgb_fail(MGB_INVALID, "a model needs a name");
    MGB_TRY(mgb_graph_check_text("model", name));
    if (strlen(name) > MGB_NAME_MOST)
        return mgb_fail(MGB_INVALID, "model '%.40s...': a name has at most %d characters", name,
                        MGB_NAME_MOST);
    struct mgb_graph *graph = mgb_alloc(sizeof *graph);
    struct mgb_graph_builder *builder = mgb_alloc(sizeof *builder);
    if (!graph || !builder) {
        mgb_release(graph);
        mgb_release(builder);
        return mgb_fail(MGB_NO_MEMORY, "model '%s': out of memory", name);
    }
    mgb_pool_init(&builder->pool);
    builder->scope = builder->tower = -1;
    graph->builder = builder;
    graph->name = mgb_pool_copy(&builder->pool, name);
    if (!graph->name) {
        mgb_graph_free(graph);
        return mgb_fail(MGB_NO_MEMORY, "model '%s': out of memory", name);
    }
    *out = graph;
    return MGB_OK;
}

void mgb_graph_free(struct mgb_graph *graph)
{
    if (!graph)
        return;
    struct mgb_graph_builder *builder = graph->builder;
    mgb_vector_done(&builder->scopes);
    mgb_vector_done(&builder->devices);
    mgb_vector_done(&builder->nodes);
    mgb_vector_done(&builder->variables);
    mgb_vector_done(&builder->reads);
    mgb_vector_done(&builder->share_uses);
    mgb_vector_done(&builder->share_items);
    mgb_vector_done(&builder->open_shares);
    mgb_vector_done(&builder->tower_ops);
    mgb_pool_done(&builder->pool);
    mgb_release(builder);
    mgb_release(graph->nodes);
    mgb_release(graph->tensors);
    mgb_release(graph->variables);
    mgb_release(graph->inputs);
    mgb_release(graph->outputs);
    mgb_release(graph->losses);
    mgb_release(graph->metrics);
    mgb_release(graph);
}

static bool node_reserve(struct mgb_graph *graph)
{
    struct mgb_graph_builder *builder = graph->builder;
    return mgb_vector_grow_((void **)&graph->nodes, &builder->node_capacity, graph->node_count, 1,
                            sizeof *graph->nodes) &&
           mgb_vector_reserve(&builder->nodes, 1);
}

enum mgb_status mgb_graph_add_node(struct mgb_graph *graph, int *node,
                                   const struct mgb_node_request *request)
{
    struct mgb_graph_builder *builder = graph->builder;
    size_t bytes = (size_t)(request->input_count > 0 ? request->input_count : 1) * sizeof(int);
    int *inputs = mgb_pool_alloc(&builder->pool, bytes);
    const char *raw = request->raw ? mgb_pool_copy(&builder->pool, request->raw) : NULL;
    if (!inputs || (request->raw && !raw) || !node_reserve(graph))
        return mgb_graph_no_memory(graph);
    for (int i = 0; i < request->input_count; i++)
        inputs[i] = request->inputs[i];
    *node = graph->node_count++;
    graph->nodes[*node] = (struct mgb_node){.kind = request->kind,
                                            .section = request->section,
                                            .name = request->full,
                                            .input_count = request->input_count,
                                            .inputs = inputs};
    for (int slot = 0; slot < MGB_MAX_OUTPUTS; slot++)
        graph->nodes[*node].outputs[slot] = -1;
    /* Copied whole: replay compares the bytes. */
    memcpy(&graph->nodes[*node].a, &request->a, sizeof request->a);
    builder->nodes.at[builder->nodes.count++] = (struct mgb_made){builder->scope, raw};
    if (raw)
        mgb_graph_use_scope(graph, builder->scope);
    return MGB_OK;
}

enum mgb_status mgb_graph_add_output(struct mgb_graph *graph, int node, int slot,
                                     const struct mgb_tensor *like)
{
    struct mgb_tensor tensor = *like; /* `like` may be a tensor of this graph, which moves */
    if (!mgb_vector_grow_((void **)&graph->tensors, &graph->builder->tensor_capacity,
                          graph->tensor_count, 1, sizeof *graph->tensors))
        return mgb_graph_no_memory(graph);
    tensor.node = node;
    tensor.slot = slot;
    graph->tensors[graph->tensor_count] = tensor;
    graph->nodes[node].outputs[slot] = graph->tensor_count++;
    if (graph->nodes[node].output_count <= slot)
        graph->nodes[node].output_count = slot + 1;
    return MGB_OK;
}

const struct mgb_tensor *mgb_graph_find_tensor(const struct mgb_graph *graph, int id,
                                               struct mgb_tensor *scratch)
{
    if (id >= 0 && id < graph->tensor_count)
        return &graph->tensors[id];
    int variable = id - MGB_TOWER_READ;
    if (variable < 0 || variable >= graph->variable_count)
        return NULL;
    *scratch = (struct mgb_tensor){.shape = graph->variables[variable].info.shape, .type = MGB_F32};
    return scratch;
}

char *mgb_graph_tensor_label(char *out, size_t size, const struct mgb_graph *graph, int id)
{
    const struct mgb_graph_builder *builder = graph->builder;
    struct mgb_made made = {-1, "?"};
    if (id >= MGB_TOWER_READ && id - MGB_TOWER_READ < graph->variable_count)
        made = builder->variables.at[id - MGB_TOWER_READ];
    else if (id >= 0 && id < graph->tensor_count) {
        int node = graph->tensors[id].node;
        made = builder->nodes.at[node];
        if (graph->nodes[node].kind == MGB_OP_READ)
            made = builder->variables.at[graph->nodes[node].a.variable];
    }
    return mgb_graph_path(out, size, graph, made.scope, made.raw ? made.raw : "?");
}
