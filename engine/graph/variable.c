/* Variables: made once, read by one tensor, frozen and thawed. */
#include "engine/graph/build.h"

#include "engine/graph/op.h"
#include "engine/graph/reuse.h"
#include <math.h>
#include <string.h>

/* fan_in and fan_out of a weight as Keras counts them: receptive field x channels. */
static void init_fill_fans(struct mgb_init *init, const struct mgb_shape *shape)
{
    if (init->fan_in > 0 && init->fan_out > 0)
        return;
    int64_t field = 1, in = 1, out = 1;
    for (int i = 0; i + 2 < shape->rank; i++)
        field *= shape->dim[i];
    if (shape->rank > 0)
        in = out = shape->dim[shape->rank - 1];
    if (shape->rank > 1)
        in = shape->dim[shape->rank - 2];
    if (init->fan_in <= 0)
        init->fan_in = field * in;
    if (init->fan_out <= 0)
        init->fan_out = field * out;
}

static enum mgb_status init_check(const char *name, const struct mgb_init *init,
                                  const struct mgb_shape *shape)
{
    char text[96];
    switch (init->kind) {
    case MGB_GLOROT_UNIFORM:
    case MGB_HE_NORMAL:
    case MGB_ZEROS:
    case MGB_ONES:
    case MGB_UNIT_FORGET:
        return MGB_OK;
    case MGB_UNIFORM:
        if (!(init->value >= 0) || isinf(init->value))
            return mgb_fail(MGB_INVALID, "variable '%s': uniform in +-%g", name,
                            (double)init->value);
        return MGB_OK;
    case MGB_NORMAL:
        if (!(init->value >= 0) || isinf(init->value))
            return mgb_fail(MGB_INVALID, "variable '%s': a standard deviation of %g", name,
                            (double)init->value);
        return MGB_OK;
    case MGB_CONSTANT:
        if (!isfinite(init->value))
            return mgb_fail(MGB_INVALID, "variable '%s': the constant %g is not finite", name,
                            (double)init->value);
        return MGB_OK;
    case MGB_ORTHOGONAL:
        if (shape->rank < 2)
            return mgb_fail(MGB_INVALID,
                            "variable '%s': orthogonal needs two axes or more, its shape is %s",
                            name, mgb_shape_format(text, sizeof text, shape));
        if (!isfinite(init->value))
            return mgb_fail(MGB_INVALID, "variable '%s': an orthogonal gain of %g is not finite",
                            name, (double)init->value);
        return MGB_OK;
    }
    return mgb_fail(MGB_INVALID, "variable '%s': no initialiser has number %d", name,
                    (int)init->kind);
}

static enum mgb_status variable_add(struct mgb_graph *graph, int *variable, const char *name,
                                    const struct mgb_variable *made)
{
    struct mgb_graph_builder *builder = graph->builder;
    struct mgb_made where = {builder->scope, mgb_pool_copy(&builder->pool, name)};
    if (!where.raw ||
        !mgb_vector_grow_((void **)&graph->variables, &builder->variable_capacity,
                          graph->variable_count, 1, sizeof *graph->variables) ||
        !mgb_vector_reserve(&builder->variables, 1) || !mgb_vector_reserve(&builder->reads, 1))
        return mgb_graph_no_memory(graph);
    *variable = graph->variable_count++;
    graph->variables[*variable] = *made;
    builder->variables.at[builder->variables.count++] = where;
    builder->reads.at[builder->reads.count++] = -1;
    if (made->info.tower <= 0)
        mgb_graph_use_scope(graph, builder->scope);
    return MGB_OK;
}

enum mgb_status mgb_graph_variable(struct mgb_graph *graph, int *variable, const char *name,
                                   const struct mgb_shape *shape, const struct mgb_init *init)
{
    struct mgb_graph_builder *builder = graph->builder;
    MGB_TRY(mgb_graph_check_open(graph, "variable"));
    MGB_TRY(mgb_graph_check_name("variable", name));
    MGB_TRY(mgb_graph_check_shape("variable", name, shape));
    MGB_TRY(init_check(name, init, shape));
    MGB_TRY(mgb_share_find(graph, variable, name, shape));
    if (*variable >= 0)
        return MGB_OK;
    struct mgb_variable made = {.init = *init, .gradient = -1, .packed = -1, .unpacked = -1};
    init_fill_fans(&made.init, shape);
    made.info.shape = *shape;
    made.info.count = mgb_shape_count(shape);
    made.info.bytes = made.info.count * (int64_t)sizeof(float);
    made.info.trainable = true;
    made.info.tower = builder->tower;
    made.info.twin = -1;
    if (builder->devices.count > 0)
        made.info.device = builder->devices.at[builder->devices.count - 1];
    MGB_TRY(variable_add(graph, variable, name, &made));
    return mgb_share_note(graph, *variable, name);
}

enum mgb_status mgb_graph_read(struct mgb_graph *graph, int *tensor, int variable)
{
    struct mgb_graph_builder *builder = graph->builder;
    MGB_TRY(mgb_graph_check_open(graph, "read"));
    if (variable < 0 || variable >= graph->variable_count)
        return mgb_fail(MGB_INVALID, "read: model '%s' has no variable number %d", graph->name,
                        variable);
    *tensor = builder->reads.at[variable];
    if (*tensor >= 0)
        return MGB_OK;
    if (mgb_tower_replaying(graph)) {
        *tensor = MGB_TOWER_READ + variable;
        return MGB_OK;
    }
    struct mgb_node_request request = {.kind = MGB_OP_READ, .a.variable = variable};
    struct mgb_tensor like = {.shape = graph->variables[variable].info.shape, .type = MGB_F32};
    int node;
    MGB_TRY(mgb_graph_add_node(graph, &node, &request));
    MGB_TRY(mgb_graph_add_output(graph, node, 0, &like));
    *tensor = builder->reads.at[variable] = graph->nodes[node].outputs[0];
    return MGB_OK;
}

/* After finish the gradient stays in the graph: a variable that is not trainable is only left out
 * of the update. */
enum mgb_status mgb_graph_freeze(struct mgb_graph *graph, int variable, bool frozen)
{
    if (variable < 0 || variable >= graph->variable_count)
        return mgb_fail(MGB_INVALID, "freeze: model '%s' has no variable number %d", graph->name,
                        variable);
    struct mgb_variable *v = &graph->variables[variable];
    if (v->info.state) {
        v->info.frozen = frozen;
        return MGB_OK;
    }
    if (graph->finished && !frozen && v->gradient < 0)
        return mgb_fail(MGB_STATE,
                        "variable '%s' has no gradient (it was frozen when the model was built, or "
                        "no loss depends on it) and cannot be trained; build the model with it "
                        "trainable and freeze it afterwards",
                        v->info.name);
    v->info.trainable = !frozen;
    return MGB_OK;
}
