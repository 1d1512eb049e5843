/* Full names, given when the model is finished: only then is it known which names were made twice.
 */
#include "engine/base/text.h"
#include "engine/graph/build.h"
#include "engine/graph/names.h"

static const char *name_join(struct mgb_graph *graph, int scope, const char *name)
{
    char text[512];
    if (scope < 0)
        return name;
    mgb_format(text, sizeof text, "%s/%s", graph->builder->scopes.at[scope].full, name);
    return mgb_pool_copy(&graph->builder->pool, text);
}

static enum mgb_status scopes_resolve(struct mgb_graph *graph, struct mgb_unique_name *names,
                                      int *owner)
{
    struct mgb_graph_builder *builder = graph->builder;
    int count = 0;
    for (int i = 0; i < builder->scopes.count; i++) {
        const struct mgb_scope *scope = &builder->scopes.at[i];
        owner[count] = i;
        if (scope->used)
            names[count++] = (struct mgb_unique_name){.parent = scope->parent, .raw = scope->raw};
    }
    MGB_TRY(mgb_names_make_unique(&builder->pool, names, count));
    for (int i = 0; i < count; i++) {
        const char *full = name_join(graph, names[i].parent, names[i].name);
        if (!full)
            return mgb_graph_no_memory(graph);
        builder->scopes.at[owner[i]].full = full;
    }
    return MGB_OK;
}

static enum mgb_status nodes_resolve(struct mgb_graph *graph, struct mgb_unique_name *names,
                                     int *owner)
{
    struct mgb_graph_builder *builder = graph->builder;
    int count = 0;
    for (int i = 0; i < graph->node_count; i++) {
        owner[count] = i;
        if (builder->nodes.at[i].raw)
            names[count++] =
                (struct mgb_unique_name){.parent = builder->nodes.at[i].scope,
                                         .raw = builder->nodes.at[i].raw,
                                         .fixed = graph->nodes[i].kind == MGB_OP_INPUT};
    }
    MGB_TRY(mgb_names_make_unique(&builder->pool, names, count));
    for (int i = 0; i < count; i++) {
        graph->nodes[owner[i]].name = name_join(graph, names[i].parent, names[i].name);
        if (!graph->nodes[owner[i]].name)
            return mgb_graph_no_memory(graph);
    }
    return MGB_OK;
}

static enum mgb_status variables_resolve(struct mgb_graph *graph, struct mgb_unique_name *names,
                                         int *owner)
{
    struct mgb_graph_builder *builder = graph->builder;
    int count = 0;
    for (int i = 0; i < graph->variable_count; i++) {
        owner[count] = i;
        if (graph->variables[i].info.twin < 0)
            names[count++] = (struct mgb_unique_name){.parent = builder->variables.at[i].scope,
                                                      .raw = builder->variables.at[i].raw};
    }
    MGB_TRY(mgb_names_make_unique(&builder->pool, names, count));
    for (int i = 0; i < count; i++) {
        struct mgb_variable_info *info = &graph->variables[owner[i]].info;
        info->name = name_join(graph, names[i].parent, names[i].name);
        info->scope = names[i].parent < 0 ? "" : builder->scopes.at[names[i].parent].full;
        if (!info->name)
            return mgb_graph_no_memory(graph);
    }
    return MGB_OK;
}

/* A twin is named after its original, so that names do not depend on the number of towers. */
static enum mgb_status twins_resolve(struct mgb_graph *graph)
{
    struct mgb_pool *pool = &graph->builder->pool;
    char text[512];
    for (int i = 0; i < graph->variable_count; i++) {
        struct mgb_variable_info *info = &graph->variables[i].info;
        if (info->twin < 0)
            continue;
        const struct mgb_variable_info *original = &graph->variables[info->twin].info;
        mgb_format(text, sizeof text, "tower_%d/%s", info->tower, original->name);
        info->name = mgb_pool_copy(pool, text);
        mgb_format(text, sizeof text, "tower_%d%s%s", info->tower, original->scope[0] ? "/" : "",
                   original->scope);
        info->scope = mgb_pool_copy(pool, text);
        if (!info->name || !info->scope)
            return mgb_graph_no_memory(graph);
    }
    return MGB_OK;
}

static enum mgb_status reads_resolve(struct mgb_graph *graph)
{
    char text[512];
    for (int i = 0; i < graph->node_count; i++) {
        struct mgb_node *node = &graph->nodes[i];
        if (node->kind != MGB_OP_READ)
            continue;
        mgb_format(text, sizeof text, "%s.read", graph->variables[node->a.variable].info.name);
        node->name = mgb_pool_copy(&graph->builder->pool, text);
        if (!node->name)
            return mgb_graph_no_memory(graph);
    }
    return MGB_OK;
}

static enum mgb_status outputs_resolve(struct mgb_graph *graph, struct mgb_unique_name *names)
{
    struct mgb_pool *pool = &graph->builder->pool;
    for (int i = 0; i < graph->output_count; i++)
        names[i] = (struct mgb_unique_name){.raw = graph->outputs[i].name};
    MGB_TRY(mgb_names_make_unique(pool, names, graph->output_count));
    for (int i = 0; i < graph->output_count; i++)
        graph->outputs[i].name = names[i].name;
    for (int i = 0; i < graph->metric_count; i++)
        names[i] = (struct mgb_unique_name){.raw = graph->metrics[i].name};
    MGB_TRY(mgb_names_make_unique(pool, names, graph->metric_count));
    for (int i = 0; i < graph->metric_count; i++)
        graph->metrics[i].name = names[i].name;
    for (int i = 0; i < graph->loss_count; i++)
        graph->losses[i].name = graph->nodes[graph->tensors[graph->losses[i].tensor].node].name;
    return MGB_OK;
}

static enum mgb_status resolve_all(struct mgb_graph *graph, struct mgb_unique_name *names,
                                   int *owner)
{
    MGB_TRY(scopes_resolve(graph, names, owner));
    MGB_TRY(nodes_resolve(graph, names, owner));
    MGB_TRY(variables_resolve(graph, names, owner));
    MGB_TRY(twins_resolve(graph));
    MGB_TRY(reads_resolve(graph));
    return outputs_resolve(graph, names);
}

enum mgb_status mgb_graph_resolve_names(struct mgb_graph *graph)
{
    int counts[] = {graph->builder->scopes.count, graph->node_count, graph->variable_count,
                    graph->output_count, graph->metric_count};
    int most = 0;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (counts[i] > most)
            most = counts[i];
    /* One more than the most: the loops look at the next cell before they know that there is none.
     */
    struct mgb_unique_name *names = mgb_alloc((size_t)(most + 1) * sizeof *names);
    int *owner = mgb_alloc((size_t)(most + 1) * sizeof *owner);
    enum mgb_status status =
        names && owner ? resolve_all(graph, names, owner) : mgb_graph_no_memory(graph);
    mgb_release(names);
    mgb_release(owner);
    return status;
}
