/* A row of a table for every number of the input. */
#include "engine/graph/op.h"

enum mgb_status mgb_op_embedding(struct mgb_graph *graph, int *out, const char *name, int ids,
                                 int table)
{
    struct mgb_op_call call;
    struct mgb_shape shape, rows;
    char text[96];
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_EMBEDDING, name));
    MGB_TRY(mgb_op_take(&call, "input (row numbers from 0)", ids, MGB_I32, &shape));
    MGB_TRY(mgb_op_take_variable(&call, "table", table, &rows));
    if (rows.rank != 2)
        return mgb_op_fail(&call, "its table is %s, it takes vocabulary x units",
                           mgb_shape_format(text, sizeof text, &rows));
    if (shape.rank == MGB_MAX_RANK)
        return mgb_op_fail(&call, "its input has %d axes an example, it takes at most %d",
                           shape.rank, MGB_MAX_RANK - 1);
    shape.dim[shape.rank++] = rows.dim[1];
    return mgb_op_end(&call, out, &shape, MGB_F32);
}

static enum mgb_status embedding_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                               int dy)
{
    const struct mgb_gradient_request request = {.kind = MGB_OP_EMBEDDING_GRAD,
                                                 .of = node.name,
                                                 .suffix = "grad_w",
                                                 .inputs = {node.inputs[0], dy},
                                                 .input_count = 2,
                                                 .like = {node.inputs[1]},
                                                 .like_count = 1};
    return mgb_gradient_simple(gradient, &request, node.inputs[1]);
}

/* Adds the operator that `request` describes, whose one output is like `made`. */
static enum mgb_status pack_node(struct mgb_gradient *gradient,
                                 const struct mgb_gradient_request *request,
                                 const struct mgb_tensor *made, int *out)
{
    struct mgb_graph *graph = mgb_gradient_graph(gradient);
    int outputs[MGB_MAX_OUTPUTS], node = graph->node_count;
    MGB_TRY(mgb_gradient_node(gradient, outputs, request));
    MGB_TRY(mgb_graph_add_output(graph, node, 0, made));
    *out = graph->nodes[node].outputs[0];
    return MGB_OK;
}

/* `grad` is a copy, since adding nodes moves them. */
static enum mgb_status table_pack(struct mgb_gradient *gradient, int variable, struct mgb_node grad)
{
    struct mgb_graph *graph = mgb_gradient_graph(gradient);
    struct mgb_tensor table = graph->tensors[grad.outputs[0]], packed = table;
    int64_t positions = mgb_shape_count(&graph->tensors[grad.inputs[0]].shape);
    struct mgb_variable *v = &graph->variables[variable];
    struct mgb_gradient_request request = {.kind = MGB_OP_EMBEDDING_ROWS,
                                           .of = v->info.name,
                                           .suffix = "grad_rows",
                                           .a.packed.vocabulary = table.shape.dim[0],
                                           .inputs = {grad.inputs[0], grad.inputs[1]},
                                           .input_count = 2};
    packed.batched = true;
    packed.shape = (struct mgb_shape){1, {positions * (1 + table.shape.dim[1])}};
    MGB_TRY(pack_node(gradient, &request, &packed, &v->packed));
    request = (struct mgb_gradient_request){.kind = MGB_OP_EMBEDDING_UNPACK,
                                            .of = v->info.name,
                                            .suffix = "grad_unpacked",
                                            .inputs = {v->packed},
                                            .input_count = 1};
    return pack_node(gradient, &request, &table, &v->unpacked);
}

enum mgb_status mgb_embedding_pack(struct mgb_gradient *gradient)
{
    struct mgb_graph *graph = mgb_gradient_graph(gradient);
    for (int v = 0; v < graph->variable_count; v++) {
        int dtable = graph->variables[v].gradient;
        if (dtable < 0 || graph->variables[v].info.twin >= 0)
            continue;
        struct mgb_node maker = graph->nodes[graph->tensors[dtable].node];
        if (maker.kind == MGB_OP_EMBEDDING_GRAD)
            MGB_TRY(table_pack(gradient, v, maker));
    }
    return MGB_OK;
}

/* One addition for every number handed back; looking up counts nothing. */
static double embedding_grad_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return (double)mgb_shape_count(&graph->tensors[node->inputs[1]].shape);
}

const struct mgb_op_rules mgb_op_rules_EMBEDDING = {.differentiate = embedding_differentiate};
const struct mgb_op_rules mgb_op_rules_EMBEDDING_GRAD = {.flops = embedding_grad_flops};
const struct mgb_op_rules mgb_op_rules_EMBEDDING_ROWS = {.flops = embedding_grad_flops};
const struct mgb_op_rules mgb_op_rules_EMBEDDING_UNPACK = {0};
