/* build = "tower": the builder runs once a tower. Tower 0 makes the graph; a later tower adds
 * nothing to it but must make the same operators in the same order, and the variables it makes anew
 * become that tower's own copies ("twins" of those that tower 0 uses in their place). */
#include "engine/graph/reuse.h"

#include "engine/graph/op.h"
#include <string.h>

bool mgb_tower_replaying(const struct mgb_graph *graph)
{
    return graph->builder->tower > 0;
}

enum mgb_status mgb_graph_begin_tower(struct mgb_graph *graph, int tower)
{
    struct mgb_graph_builder *builder = graph->builder;
    MGB_TRY(mgb_graph_check_open(graph, "begin_tower"));
    if (builder->tower >= 0)
        return mgb_fail(MGB_STATE, "begin_tower: tower %d of model '%s' is not ended",
                        builder->tower, graph->name);
    if (tower != graph->towers_built)
        return mgb_fail(MGB_STATE, "begin_tower: tower %d of model '%s' comes next, not %d",
                        graph->towers_built, graph->name, tower);
    if (tower == 0 && graph->node_count > 0)
        return mgb_fail(MGB_STATE, "begin_tower: model '%s' has operators outside of its towers",
                        graph->name);
    builder->tower = tower;
    builder->cursor = (struct mgb_tower_cursor){0};
    builder->dropout_count = 0;
    return MGB_OK;
}

static enum mgb_status tower_check_complete(const struct mgb_graph *graph)
{
    const struct mgb_graph_builder *builder = graph->builder;
    const struct mgb_tower_cursor *cursor = &builder->cursor;
    char label[160];
    if (cursor->op < builder->tower_ops.count) {
        const struct mgb_node *missing = &graph->nodes[builder->tower_ops.at[cursor->op]];
        return mgb_fail(MGB_INVALID, "tower %d of model '%s' lacks %s '%s', which tower 0 made",
                        builder->tower, graph->name, mgb_op_name(missing->kind),
                        mgb_graph_tensor_label(label, sizeof label, graph, missing->outputs[0]));
    }
    if (cursor->input < graph->input_count || cursor->output < graph->output_count ||
        cursor->loss < graph->loss_count || cursor->metric < graph->metric_count)
        return mgb_fail(MGB_INVALID,
                        "tower %d of model '%s' declares fewer inputs, outputs, losses or metrics "
                        "than tower 0",
                        builder->tower, graph->name);
    return MGB_OK;
}

enum mgb_status mgb_graph_end_tower(struct mgb_graph *graph)
{
    struct mgb_graph_builder *builder = graph->builder;
    if (builder->tower < 0)
        return mgb_fail(MGB_STATE, "end_tower without begin_tower in model '%s'", graph->name);
    if (builder->tower > 0)
        MGB_TRY(tower_check_complete(graph));
    graph->towers_built = builder->tower + 1;
    builder->tower = -1;
    return MGB_OK;
}

/* An operand of a later tower stands where tower 0 has tensor `first`: the same tensor, or a
 * variable of its own. */
static enum mgb_status tower_match_input(struct mgb_graph *graph, const char *where, int first,
                                         int given)
{
    int tower = graph->builder->tower, variable = given - MGB_TOWER_READ;
    char one[160], other[160];
    if (given == first)
        return MGB_OK;
    const struct mgb_node *read = &graph->nodes[graph->tensors[first].node];
    mgb_graph_tensor_label(one, sizeof one, graph, given);
    mgb_graph_tensor_label(other, sizeof other, graph, first);
    if (variable < 0 || read->kind != MGB_OP_READ || graph->variables[variable].info.tower != tower)
        return mgb_fail(MGB_INVALID, "tower %d: %s works on '%s', in tower 0 on '%s'", tower, where,
                        one, other);
    struct mgb_variable_info *own = &graph->variables[variable].info;
    if (own->twin >= 0 && own->twin != read->a.variable)
        return mgb_fail(MGB_INVALID,
                        "tower %d: %s shares variable '%s' between layers that tower 0 keeps apart",
                        tower, where, one);
    if (!mgb_shape_equal(&own->shape, &graph->tensors[first].shape))
        return mgb_fail(MGB_INVALID, "tower %d: variable '%s' has another shape than in tower 0",
                        tower, one);
    own->twin = read->a.variable;
    return MGB_OK;
}

static bool attributes_equal(const struct mgb_node *a, const struct mgb_node_request *b,
                             bool *equal)
{
    const struct mgb_op_rules *rules = mgb_op_rules_get(a->kind);
    struct mgb_node other = {.kind = b->kind, .a = b->a};
    struct mgb_text one = {0}, two = {0};
    if (rules->text) {
        rules->text(&one, a);
        rules->text(&two, &other);
    }
    bool failed = one.failed || two.failed;
    *equal = failed || one.length == 0 ? one.length == two.length
                                       : one.length == two.length && !strcmp(one.chars, two.chars);
    mgb_text_done(&one);
    mgb_text_done(&two);
    return !failed;
}

enum mgb_status mgb_tower_replay(struct mgb_graph *graph, int *out,
                                 const struct mgb_node_request *request,
                                 const struct mgb_shape *shape)
{
    struct mgb_graph_builder *builder = graph->builder;
    char where[256], label[160];
    mgb_graph_path(label, sizeof label, graph, builder->scope, request->raw);
    mgb_format(where, sizeof where, "%s '%s'", mgb_op_name(request->kind), label);
    if (builder->cursor.op >= builder->tower_ops.count)
        return mgb_fail(MGB_INVALID, "tower %d: %s is made, but tower 0 made nothing more",
                        builder->tower, where);
    const struct mgb_node *first = &graph->nodes[builder->tower_ops.at[builder->cursor.op]];
    mgb_graph_tensor_label(label, sizeof label, graph, first->outputs[0]);
    if (first->kind != request->kind || first->input_count != request->input_count)
        return mgb_fail(MGB_INVALID, "tower %d: %s stands where tower 0 made %s '%s'",
                        builder->tower, where, mgb_op_name(first->kind), label);
    bool equal;
    if (!attributes_equal(first, request, &equal))
        return mgb_graph_no_memory(graph);
    if (!equal || !mgb_shape_equal(&graph->tensors[first->outputs[0]].shape, shape))
        return mgb_fail(MGB_INVALID, "tower %d: %s differs in its options from %s '%s' of tower 0",
                        builder->tower, where, mgb_op_name(first->kind), label);
    for (int i = 0; i < first->input_count; i++)
        MGB_TRY(tower_match_input(graph, where, first->inputs[i], request->inputs[i]));
    builder->cursor.op++;
    *out = first->outputs[0];
    return MGB_OK;
}

/* A variable of tower 0 is that tower's own when every other tower has its own in its place. */
static void twins_set_owner(struct mgb_graph *graph, int variable)
{
    struct mgb_variable_info *info = &graph->variables[variable].info;
    if (info->tower != 0)
        return;
    int twins = 0;
    for (int i = 0; i < graph->variable_count; i++)
        twins += graph->variables[i].info.twin == variable;
    if (twins == 0 || twins + 1 < graph->towers_built)
        info->tower = -1;
}

enum mgb_status mgb_graph_resolve_twins(struct mgb_graph *graph)
{
    struct mgb_graph_builder *builder = graph->builder;
    size_t cells = (size_t)graph->towers_built * (size_t)graph->variable_count;
    if (cells == 0)
        return MGB_OK;
    builder->twins = mgb_pool_alloc(&builder->pool, cells * sizeof(int));
    if (!builder->twins)
        return mgb_graph_no_memory(graph);
    for (size_t i = 0; i < cells; i++)
        builder->twins[i] = (int)(i % (size_t)graph->variable_count);
    for (int i = 0; i < graph->variable_count; i++) {
        const struct mgb_variable_info *info = &graph->variables[i].info;
        if (info->tower > 0 && info->twin < 0)
            return mgb_fail(MGB_INVALID, "variable '%s' of tower %d is read by no operator",
                            builder->variables.at[i].raw, info->tower);
        if (info->twin >= 0)
            builder
                ->twins[(size_t)info->tower * (size_t)graph->variable_count + (size_t)info->twin] =
                i;
    }
    for (int i = 0; i < graph->variable_count; i++)
        twins_set_owner(graph, i);
    return MGB_OK;
}

int mgb_graph_variable_of(const struct mgb_graph *graph, int variable, int tower)
{
    if (!graph->builder->twins || tower < 0 || tower >= graph->towers_built)
        return variable;
    return graph->builder->twins[(size_t)tower * (size_t)graph->variable_count + (size_t)variable];
}
