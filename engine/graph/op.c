/* The table of operators, and the steps every operator goes through when it is made. */
#include "engine/graph/op.h"
#include "engine/graph/reuse.h"

#include <stdarg.h>
#include <string.h>

const struct mgb_op_rules *mgb_op_rules_get(enum mgb_op_kind kind)
{
    static const struct mgb_op_rules *const table[MGB_OP_COUNT] = {
#define X(op, name) [MGB_OP_##op] = &mgb_op_rules_##op,
        MGB_OPS(X)
#undef X
    };
    return table[kind];
}

const char *mgb_op_name(enum mgb_op_kind kind)
{
    static const char *const names[MGB_OP_COUNT] = {
#define X(op, name) [MGB_OP_##op] = name,
        MGB_OPS(X)
#undef X
    };
    return names[kind];
}

const char *mgb_op_kind_name(int number)
{
    return number >= 0 && number < MGB_OP_COUNT ? mgb_op_name((enum mgb_op_kind)number) : NULL;
}

enum mgb_status mgb_op_fail(const struct mgb_op_call *call, const char *format, ...)
{
    char path[256], what[512];
    va_list args;
    va_start(args, format);
    mgb_format_list(what, sizeof what, format, args);
    va_end(args);
    mgb_graph_path(path, sizeof path, call->graph, call->graph->builder->scope, call->name);
    return mgb_fail(MGB_INVALID, "%s '%s': %s", mgb_op_name(call->kind), path, what);
}

enum mgb_status mgb_op_begin(struct mgb_op_call *call, struct mgb_graph *graph,
                             enum mgb_op_kind kind, const char *name)
{
    memset(call, 0, sizeof *call);
    call->graph = graph;
    call->kind = kind;
    call->name = name;
    MGB_TRY(mgb_graph_check_open(graph, mgb_op_name(kind)));
    MGB_TRY(mgb_graph_check_name(mgb_op_name(kind), name));
    if (graph->towers_built > 0 && graph->builder->tower < 0)
        return mgb_fail(MGB_STATE, "%s '%s' of model '%s' is made outside of its towers",
                        mgb_op_name(kind), name, graph->name);
    return MGB_OK;
}

static enum mgb_status operand_find(const struct mgb_op_call *call, const char *role, int tensor,
                                    struct mgb_tensor *out)
{
    struct mgb_tensor scratch;
    const struct mgb_tensor *found = mgb_graph_find_tensor(call->graph, tensor, &scratch);
    if (!found)
        return mgb_op_fail(call,
                           "its %s is no tensor of model '%s'; tensors of another model cannot "
                           "be used, call that model as a layer",
                           role, call->graph->name);
    *out = *found;
    return MGB_OK;
}

enum mgb_status mgb_op_take(struct mgb_op_call *call, const char *role, int tensor,
                            enum mgb_type type, struct mgb_shape *shape)
{
    struct mgb_tensor found = {0};
    char label[160];
    MGB_TRY(operand_find(call, role, tensor, &found));
    mgb_graph_tensor_label(label, sizeof label, call->graph, tensor);
    if (!found.batched && tensor < call->graph->tensor_count &&
        mgb_op_rules_get(call->graph->nodes[found.node].kind)->head)
        return mgb_op_fail(call,
                           "its %s '%s' is a loss or metric, which nothing can be computed "
                           "from; several losses add by themselves",
                           role, label);
    if (!found.batched)
        return mgb_op_fail(
            call, "its %s '%s' is a variable; only weights and biases can be%s", role, label,
            call->kind == MGB_OP_MATMUL ? "; for a product with a weight take dense without a bias"
                                        : "");
    if (found.type != type)
        return mgb_op_fail(call, "its %s '%s' is %s, it takes %s", role, label,
                           mgb_type_name(found.type), mgb_type_name(type));
    *shape = found.shape;
    call->inputs[call->input_count++] = tensor;
    return MGB_OK;
}

enum mgb_status mgb_op_take_variable(struct mgb_op_call *call, const char *role, int tensor,
                                     struct mgb_shape *shape)
{
    struct mgb_tensor found = {0};
    char label[160];
    MGB_TRY(operand_find(call, role, tensor, &found));
    if (found.batched ||
        (tensor < call->graph->tensor_count && call->graph->nodes[found.node].kind != MGB_OP_READ))
        return mgb_op_fail(call, "its %s '%s' is not a variable", role,
                           mgb_graph_tensor_label(label, sizeof label, call->graph, tensor));
    *shape = found.shape;
    call->inputs[call->input_count++] = tensor;
    return MGB_OK;
}

enum mgb_status mgb_op_end(struct mgb_op_call *call, int *out, const struct mgb_shape *shape,
                           enum mgb_type type)
{
    struct mgb_graph *graph = call->graph;
    bool head = mgb_op_rules_get(call->kind)->head;
    struct mgb_node_request request = {.kind = call->kind,
                                       .section = head ? MGB_SECTION_HEAD : MGB_SECTION_FORWARD,
                                       .raw = call->name,
                                       .a = call->a,
                                       .inputs = call->inputs,
                                       .input_count = call->input_count};
    struct mgb_tensor like = {.shape = *shape, .type = type, .batched = !head && !call->whole};
    int node;
    MGB_TRY(mgb_graph_check_shape(mgb_op_name(call->kind), call->name, shape));
    if (mgb_tower_replaying(graph))
        return mgb_tower_replay(graph, out, &request, shape);
    if (!mgb_vector_reserve(&graph->builder->tower_ops, 1))
        return mgb_graph_no_memory(graph);
    MGB_TRY(mgb_graph_add_node(graph, &node, &request));
    MGB_TRY(mgb_graph_add_output(graph, node, 0, &like));
    graph->builder->tower_ops.at[graph->builder->tower_ops.count++] = node;
    *out = graph->nodes[node].outputs[0];
    return MGB_OK;
}
