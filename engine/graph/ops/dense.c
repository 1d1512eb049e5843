/* y = activation(x w + b) over the last axis; on an input of more than one axis at every position
 * alike. The weight is inputs x units, or transposed: a table that is tied to this layer. */
#include "engine/graph/op.h"

static enum mgb_status weight_check(const struct mgb_op_call *call, const struct mgb_shape *in,
                                    const struct mgb_shape *w)
{
    char one[96], two[96];
    bool transposed = call->a.dense.transposed;
    if (in->rank < 1)
        return mgb_op_fail(call, "its input is one number an example, it takes at least one axis");
    if (w->rank != 2)
        return mgb_op_fail(call, "its weight is %s, it takes %s",
                           mgb_shape_format(one, sizeof one, w),
                           transposed ? "units x inputs" : "inputs x units");
    if (in->dim[in->rank - 1] != w->dim[transposed ? 1 : 0])
        return mgb_op_fail(
            call, "weight %s%s does not fit input %s, whose last axis has %lld elements",
            mgb_shape_format(one, sizeof one, w), transposed ? ", used transposed," : "",
            mgb_shape_format(two, sizeof two, in), (long long)in->dim[in->rank - 1]);
    return MGB_OK;
}

static enum mgb_status dense_make(struct mgb_graph *graph, int *out, const char *name, int x,
                                  int weight, int bias, enum mgb_activation activation,
                                  bool transposed)
{
    struct mgb_op_call call;
    struct mgb_shape in, w, b = {0};
    char one[96];
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_DENSE, name));
    MGB_TRY(mgb_op_check_activation(&call, activation));
    MGB_TRY(mgb_op_take(&call, "input", x, MGB_F32, &in));
    MGB_TRY(mgb_op_take_variable(&call, "weight", weight, &w));
    call.a.dense.transposed = transposed;
    call.a.dense.activation = activation;
    MGB_TRY(weight_check(&call, &in, &w));
    int64_t units = w.dim[transposed ? 0 : 1];
    if (bias >= 0) {
        MGB_TRY(mgb_op_take_variable(&call, "bias", bias, &b));
        if (b.rank != 1 || b.dim[0] != units)
            return mgb_op_fail(&call, "bias %s does not fit %lld units",
                               mgb_shape_format(one, sizeof one, &b), (long long)units);
    }
    in.dim[in.rank - 1] = units;
    return mgb_op_end(&call, out, &in, MGB_F32);
}

enum mgb_status mgb_op_dense(struct mgb_graph *graph, int *out, const char *name, int x, int weight,
                             int bias, enum mgb_activation activation)
{
    return dense_make(graph, out, name, x, weight, bias, activation, false);
}

enum mgb_status mgb_op_dense_tied(struct mgb_graph *graph, int *out, const char *name, int x,
                                  int weight, int bias, enum mgb_activation activation)
{
    return dense_make(graph, out, name, x, weight, bias, activation, true);
}

/* One node gives weight and bias gradient; the weight's is made even where only the bias needs its
 * own. */
static enum mgb_status dense_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                           int dy)
{
    int x = node.inputs[0], w = node.inputs[1], b = node.input_count > 2 ? node.inputs[2] : -1;
    bool bias = b >= 0 && mgb_gradient_needs(gradient, b);
    int dz, made[MGB_MAX_OUTPUTS];
    MGB_TRY(mgb_gradient_through_activation(gradient, &dz, &node, node.a.dense.activation, dy));
    if (bias || mgb_gradient_needs(gradient, w)) {
        const struct mgb_gradient_request request = {.kind = MGB_OP_DENSE_GRAD_W,
                                                     .of = node.name,
                                                     .suffix = "grad_w",
                                                     .a.dense.transposed = node.a.dense.transposed,
                                                     .inputs = {x, dz},
                                                     .input_count = 2,
                                                     .like = {w, bias ? b : -1},
                                                     .like_count = 2};
        MGB_TRY(mgb_gradient_node(gradient, made, &request));
        MGB_TRY(mgb_gradient_add(gradient, w, made[0]));
        if (bias)
            MGB_TRY(mgb_gradient_add(gradient, b, made[1]));
    }
    const struct mgb_gradient_request request = {.kind = MGB_OP_DENSE_GRAD_X,
                                                 .of = node.name,
                                                 .suffix = "grad_x",
                                                 .a.dense.transposed = node.a.dense.transposed,
                                                 .inputs = {dz, w},
                                                 .input_count = 2,
                                                 .like = {x},
                                                 .like_count = 1};
    return mgb_gradient_simple(gradient, &request, x);
}

/* Bias and activation are not counted. */
static double dense_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    const struct mgb_shape *x = &graph->tensors[node->inputs[0]].shape;
    const struct mgb_shape *y = &graph->tensors[node->outputs[0]].shape;
    return 2.0 * (double)mgb_shape_count(x) * (double)y->dim[y->rank - 1];
}

static double dense_grad_w_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    const struct mgb_shape *x = &graph->tensors[node->inputs[0]].shape;
    const struct mgb_shape *dy = &graph->tensors[node->inputs[1]].shape;
    return 2.0 * (double)mgb_shape_count(x) * (double)dy->dim[dy->rank - 1];
}

static void dense_grad_text(struct mgb_text *text, const struct mgb_node *node)
{
    if (node->a.dense.transposed)
        mgb_text_add(text, " transposed");
}

static void dense_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_text_add(text, " %s", mgb_activation_name(node->a.dense.activation));
    dense_grad_text(text, node);
}

const struct mgb_op_rules mgb_op_rules_DENSE = {
    .differentiate = dense_differentiate, .flops = dense_flops, .text = dense_text};
const struct mgb_op_rules mgb_op_rules_DENSE_GRAD_X = {.flops = dense_flops,
                                                       .text = dense_grad_text};
const struct mgb_op_rules mgb_op_rules_DENSE_GRAD_W = {.flops = dense_grad_w_flops,
                                                       .text = dense_grad_text};
