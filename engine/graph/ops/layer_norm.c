/* Layer normalisation (Ba, Kiros and Hinton 2016, arXiv:1607.06450) over the last axis: every position by itself. Mean and
 * 1 / sqrt(variance + epsilon) are further outputs, made only when there is a gradient to take. */
#include "engine/graph/op.h"

#include <math.h>

static enum mgb_status parameter_take(struct mgb_op_call *call, const char *role, int tensor,
                                      int64_t channels)
{
    struct mgb_shape shape;
    char text[96];
    if (tensor < 0)
        return MGB_OK;
    MGB_TRY(mgb_op_take_variable(call, role, tensor, &shape));
    if (shape.rank == 1 && shape.dim[0] == channels)
        return MGB_OK;
    return mgb_op_fail(call,
                       "its %s is %s, it takes %lld, one number for each place of the last axis",
                       role, mgb_shape_format(text, sizeof text, &shape), (long long)channels);
}

enum mgb_status mgb_op_layer_norm(struct mgb_graph *graph, int *out, const char *name, int x,
                                  int gamma, int beta, float epsilon)
{
    struct mgb_op_call call;
    struct mgb_shape shape;
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_LAYER_NORM, name));
    MGB_TRY(mgb_op_take(&call, "input", x, MGB_F32, &shape));
    if (shape.rank < 1)
        return mgb_op_fail(&call, "its input is one number an example, it takes at least one axis");
    if (!(epsilon > 0) || isinf(epsilon))
        return mgb_op_fail(&call, "an epsilon of %g; it keeps a variance of 0 finite, so above 0",
                           (double)epsilon);
    MGB_TRY(parameter_take(&call, "gamma", gamma, shape.dim[shape.rank - 1]));
    MGB_TRY(parameter_take(&call, "beta", beta, shape.dim[shape.rank - 1]));
    call.a.norm.epsilon = epsilon;
    call.a.norm.scale = gamma >= 0;
    call.a.norm.center = beta >= 0;
    return mgb_op_end(&call, out, &shape, MGB_F32);
}

/* Outputs 1 and 2 of the node: one number a position. */
static enum mgb_status saved_add(struct mgb_graph *graph, int node, int x)
{
    struct mgb_tensor like = graph->tensors[x];
    like.shape.dim[--like.shape.rank] = 0;
    MGB_TRY(mgb_graph_add_output(graph, node, 1, &like));
    return mgb_graph_add_output(graph, node, 2, &like);
}

static enum mgb_status layer_norm_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                                int dy)
{
    struct mgb_graph *graph = mgb_gradient_graph(gradient);
    int x = node.inputs[0], self = graph->tensors[node.outputs[0]].node, next = 1;
    int gamma = node.a.norm.scale ? node.inputs[next++] : -1;
    int beta = node.a.norm.center ? node.inputs[next] : -1, made[MGB_MAX_OUTPUTS];
    bool scale = gamma >= 0 && mgb_gradient_needs(gradient, gamma);
    bool center = beta >= 0 && mgb_gradient_needs(gradient, beta);
    if (!scale && !center && !mgb_gradient_needs(gradient, x))
        return MGB_OK;
    MGB_TRY(saved_add(graph, self, x));
    int mean = graph->nodes[self].outputs[1], rstd = graph->nodes[self].outputs[2];
    const struct mgb_gradient_request weights = {
        .kind = MGB_OP_LAYER_NORM_GRAD_W,
        .of = node.name,
        .suffix = "grad_w",
        .a = node.a,
        .inputs = {dy, x, mean, rstd},
        .input_count = 4,
        .like = {gamma >= 0 ? gamma : beta, beta >= 0 ? beta : gamma},
        .like_count = 2};
    if (scale || center)
        MGB_TRY(mgb_gradient_node(gradient, made, &weights));
    if (scale)
        MGB_TRY(mgb_gradient_add(gradient, gamma, made[0]));
    if (center)
        MGB_TRY(mgb_gradient_add(gradient, beta, made[1]));
    const struct mgb_gradient_request dx = {.kind = MGB_OP_LAYER_NORM_GRAD_X,
                                            .of = node.name,
                                            .suffix = "grad_x",
                                            .a = node.a,
                                            .inputs = {dy, x, mean, rstd, gamma},
                                            .input_count = gamma >= 0 ? 5 : 4,
                                            .like = {x},
                                            .like_count = 1};
    return mgb_gradient_simple(gradient, &dx, x);
}

/* Two sums, then scale and shift. */
static double layer_norm_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    return 7 * (double)mgb_shape_count(&graph->tensors[node->inputs[0]].shape);
}

static void layer_norm_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_text_add(text, " epsilon=%.9g%s%s", (double)node->a.norm.epsilon,
                 node->a.norm.scale ? " scale" : "", node->a.norm.center ? " center" : "");
}

const struct mgb_op_rules mgb_op_rules_LAYER_NORM = {.differentiate = layer_norm_differentiate,
                                                     .flops = layer_norm_flops,
                                                     .text = layer_norm_text,
                                                     .in_place = 1 + 0};
const struct mgb_op_rules mgb_op_rules_LAYER_NORM_GRAD_X = {
    .flops = layer_norm_flops, .text = layer_norm_text, .in_place = 1 + 0};
const struct mgb_op_rules mgb_op_rules_LAYER_NORM_GRAD_W = {.flops = layer_norm_flops,
                                                            .text = layer_norm_text};
