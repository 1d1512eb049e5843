/* The largest element of each window. Where it lay is a second output, made only when there is a
 * gradient to take. */
#include "engine/graph/ops/pool2d.h"

enum mgb_status mgb_op_max_pool2d(struct mgb_graph *graph, int *out, const char *name, int x,
                                  const struct mgb_window *window)
{
    return mgb_pool2d_make(graph, out, MGB_OP_MAX_POOL2D, name, x, window, false);
}

static enum mgb_status max_pool2d_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                                int dy)
{
    struct mgb_graph *graph = mgb_gradient_graph(gradient);
    int self = graph->tensors[node.outputs[0]].node;
    struct mgb_tensor index = {.shape = node.a.pool2d.y, .type = MGB_U8, .batched = true};
    if (!mgb_gradient_needs(gradient, node.inputs[0]))
        return MGB_OK;
    MGB_TRY(mgb_graph_add_output(graph, self, 1, &index));
    const struct mgb_gradient_request request = {.kind = MGB_OP_MAX_POOL2D_GRAD,
                                                 .of = node.name,
                                                 .suffix = "grad",
                                                 .a = node.a,
                                                 .inputs = {dy, graph->nodes[self].outputs[1]},
                                                 .input_count = 2,
                                                 .like = {node.inputs[0]},
                                                 .like_count = 1};
    return mgb_gradient_simple(gradient, &request, node.inputs[0]);
}

const struct mgb_op_rules mgb_op_rules_MAX_POOL2D = {
    .differentiate = max_pool2d_differentiate, .flops = mgb_pool2d_flops, .text = mgb_pool2d_text};
const struct mgb_op_rules mgb_op_rules_MAX_POOL2D_GRAD = {.flops = mgb_pool2d_flops,
                                                          .text = mgb_pool2d_text};
