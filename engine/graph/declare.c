/* What a model shows to the outside: inputs, outputs, losses, metrics. A later tower declares the
 * same ones again. */
#include "engine/graph/op.h"
#include "engine/graph/reuse.h"

#include <math.h>
#include <string.h>

static enum mgb_status replay_mismatch(const struct mgb_graph *graph, const char *what,
                                       const char *name)
{
    return mgb_fail(MGB_INVALID, "tower %d of model '%s': %s '%s' differs from tower 0",
                    graph->builder->tower, graph->name, what, name);
}

static enum mgb_status input_replay(struct mgb_graph *graph, int *tensor, const char *name,
                                    const struct mgb_shape *shape, enum mgb_type type)
{
    int index = graph->builder->cursor.input;
    if (index >= graph->input_count || strcmp(graph->inputs[index].name, name) != 0)
        return replay_mismatch(graph, "input", name);
    const struct mgb_tensor *first = &graph->tensors[graph->inputs[index].tensor];
    if (first->type != type || !mgb_shape_equal(&first->shape, shape))
        return replay_mismatch(graph, "input", name);
    graph->builder->cursor.input++;
    *tensor = graph->inputs[index].tensor;
    return MGB_OK;
}

static enum mgb_status input_check(const struct mgb_graph *graph, const char *name,
                                   const struct mgb_shape *shape, enum mgb_type type)
{
    MGB_TRY(mgb_graph_check_open(graph, "input"));
    MGB_TRY(mgb_graph_check_name("input", name));
    MGB_TRY(mgb_graph_check_shape("input", name, shape));
    if (graph->towers_built > 0 && graph->builder->tower < 0)
        return mgb_fail(MGB_STATE, "input '%s' of model '%s' is made outside of its towers", name,
                        graph->name);
    if (type != MGB_F32 && type != MGB_I32)
        return mgb_fail(MGB_INVALID, "input '%s': inputs are f32 or i32", name);
    if (mgb_tower_replaying(graph))
        return MGB_OK;
    for (int i = 0; i < graph->input_count; i++)
        if (strcmp(graph->inputs[i].name, name) == 0)
            return mgb_fail(
                MGB_INVALID,
                "input '%s': model '%s' has an input of this name; data finds inputs by "
                "name, give each its own",
                name, graph->name);
    return MGB_OK;
}

enum mgb_status mgb_graph_input(struct mgb_graph *graph, int *tensor, const char *name,
                                const struct mgb_shape *shape, enum mgb_type type)
{
    struct mgb_graph_builder *builder = graph->builder;
    MGB_TRY(input_check(graph, name, shape, type));
    if (mgb_tower_replaying(graph))
        return input_replay(graph, tensor, name, shape, type);
    struct mgb_node_request request = {
        .kind = MGB_OP_INPUT, .raw = name, .a.input = graph->input_count};
    struct mgb_tensor like = {.shape = *shape, .type = type, .batched = true};
    int node, scope = builder->scope;
    if (!mgb_vector_grow_((void **)&graph->inputs, &builder->input_capacity, graph->input_count, 1,
                          sizeof *graph->inputs))
        return mgb_graph_no_memory(graph);
    builder->scope = -1; /* inputs belong to the model, wherever they are declared */
    enum mgb_status status = mgb_graph_add_node(graph, &node, &request);
    builder->scope = scope;
    MGB_TRY(status);
    MGB_TRY(mgb_graph_add_output(graph, node, 0, &like));
    *tensor = graph->nodes[node].outputs[0];
    graph->inputs[graph->input_count++] =
        (struct mgb_named_tensor){builder->nodes.at[node].raw, *tensor};
    return MGB_OK;
}

enum mgb_status mgb_graph_fix_batch(struct mgb_graph *graph, const char *input, int rows)
{
    MGB_TRY(mgb_graph_check_open(graph, "batch"));
    MGB_TRY(mgb_graph_check_name("input", input));
    if (rows < 1)
        return mgb_fail(MGB_INVALID, "input '%s': a batch of %d: give at least 1", input, rows);
    if (graph->batch == 0 && mgb_tower_replaying(graph))
        return replay_mismatch(graph, "the batch of input", input);
    if (graph->batch != 0 && graph->batch != rows)
        return mgb_fail(MGB_INVALID,
                        "input '%s': a batch of %d rows, but input '%s' of model '%s' has %d; all "
                        "inputs are cut at the same rows",
                        input, rows, graph->batch_input, graph->name, graph->batch);
    if (graph->batch != 0)
        return MGB_OK;
    graph->batch_input = mgb_pool_copy(&graph->builder->pool, input);
    if (!graph->batch_input)
        return mgb_graph_no_memory(graph);
    graph->batch = rows;
    return MGB_OK;
}

static enum mgb_status declare_check(const struct mgb_graph *graph, const char *what,
                                     const char *name, int tensor, bool head)
{
    MGB_TRY(mgb_graph_check_open(graph, what));
    if (tensor < 0 || tensor >= graph->tensor_count)
        return mgb_fail(MGB_INVALID, "%s '%s' is no tensor of model '%s' that was computed", what,
                        name, graph->name);
    if (head || graph->tensors[tensor].batched)
        return MGB_OK;
    return mgb_fail(MGB_INVALID,
                    "%s '%s': an output has a value for each example; losses and "
                    "metrics are declared as such",
                    what, name);
}

enum mgb_status mgb_graph_output(struct mgb_graph *graph, const char *name, int tensor)
{
    struct mgb_graph_builder *builder = graph->builder;
    MGB_TRY(mgb_graph_check_name("output", name));
    MGB_TRY(declare_check(graph, "output", name, tensor, false));
    if (mgb_tower_replaying(graph)) {
        int index = builder->cursor.output++;
        if (index >= graph->output_count || graph->outputs[index].tensor != tensor ||
            strcmp(graph->outputs[index].name, name) != 0)
            return replay_mismatch(graph, "output", name);
        return MGB_OK;
    }
    const char *copy = mgb_pool_copy(&builder->pool, name);
    if (!copy || !mgb_vector_grow_((void **)&graph->outputs, &builder->output_capacity,
                                   graph->output_count, 1, sizeof *graph->outputs))
        return mgb_graph_no_memory(graph);
    graph->outputs[graph->output_count++] = (struct mgb_named_tensor){copy, tensor};
    return MGB_OK;
}

/* Losses and metrics are checked and kept alike. */
static enum mgb_status use_add(struct mgb_graph *graph, struct mgb_loss_use **uses, int *count,
                               int *capacity, struct mgb_loss_use use)
{
    use.name = mgb_pool_copy(&graph->builder->pool, use.name);
    if (!use.name || !mgb_vector_grow_((void **)uses, capacity, *count, 1, sizeof **uses))
        return mgb_graph_no_memory(graph);
    (*uses)[(*count)++] = use;
    return MGB_OK;
}

enum mgb_status mgb_graph_loss(struct mgb_graph *graph, int tensor, float weight)
{
    struct mgb_graph_builder *builder = graph->builder;
    char label[160], shape[96];
    mgb_graph_tensor_label(label, sizeof label, graph, tensor);
    MGB_TRY(declare_check(graph, "loss", label, tensor, true));
    const struct mgb_tensor *t = &graph->tensors[tensor];
    if (!mgb_op_rules_get(graph->nodes[t->node].kind)->loss)
        return mgb_fail(MGB_INVALID,
                        "loss '%s' (%s %s) is not the result of a loss; use softmax_cross_entropy, "
                        "mean_squared_error, binary_cross_entropy or l2",
                        label, mgb_shape_format(shape, sizeof shape, &t->shape),
                        mgb_type_name(t->type));
    if (!isfinite(weight))
        return mgb_fail(MGB_INVALID, "loss '%s': the weight %g is not finite", label,
                        (double)weight);
    if (mgb_tower_replaying(graph)) {
        int index = builder->cursor.loss++;
        if (index >= graph->loss_count || graph->losses[index].tensor != tensor ||
            graph->losses[index].weight != weight)
            return replay_mismatch(graph, "loss", label);
        return MGB_OK;
    }
    for (int i = 0; i < graph->loss_count; i++)
        if (graph->losses[i].tensor == tensor)
            return mgb_fail(MGB_INVALID, "loss '%s' is declared twice; give it a weight instead",
                            label);
    return use_add(graph, &graph->losses, &graph->loss_count, &builder->loss_capacity,
                   (struct mgb_loss_use){label, tensor, weight});
}

enum mgb_status mgb_graph_metric(struct mgb_graph *graph, const char *name, int tensor)
{
    struct mgb_graph_builder *builder = graph->builder;
    char shape[96];
    MGB_TRY(mgb_graph_check_name("metric", name));
    MGB_TRY(declare_check(graph, "metric", name, tensor, true));
    const struct mgb_tensor *t = &graph->tensors[tensor];
    if (!mgb_op_rules_get(graph->nodes[t->node].kind)->head)
        return mgb_fail(MGB_INVALID,
                        "metric '%s' has a value for each example (%s), not one for all; "
                        "use accuracy or a loss",
                        name, mgb_shape_format(shape, sizeof shape, &t->shape));
    if (mgb_tower_replaying(graph)) {
        int index = builder->cursor.metric++;
        if (index >= graph->metric_count || graph->metrics[index].tensor != tensor ||
            strcmp(graph->metrics[index].name, name) != 0)
            return replay_mismatch(graph, "metric", name);
        return MGB_OK;
    }
    return use_add(graph, &graph->metrics, &graph->metric_count, &builder->metric_capacity,
                   (struct mgb_loss_use){name, tensor, 1});
}
