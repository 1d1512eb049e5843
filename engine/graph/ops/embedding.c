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

/* One addition for every number handed back; looking up counts nothing. */
static double embedding_grad_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return (double)mgb_shape_count(&graph->tensors[node->inputs[1]].shape);
}

const struct mgb_op_rules mgb_op_rules_EMBEDDING = {.differentiate = embedding_differentiate};
const struct mgb_op_rules mgb_op_rules_EMBEDDING_GRAD = {.flops = embedding_grad_flops};
