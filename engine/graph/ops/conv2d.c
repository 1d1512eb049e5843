/* Two-dimensional convolution (cross-correlation, as everybody calls convolution), channels last.
 */
#include "engine/graph/op.h"

static enum mgb_status conv2d_check(const struct mgb_op_call *call, const struct mgb_window *window,
                                    const struct mgb_shape *x, const struct mgb_shape *w)
{
    char shape[96];
    if (w->rank != 4)
        return mgb_op_fail(call, "its weight is %s, it takes height x width x channels x filters",
                           mgb_shape_format(shape, sizeof shape, w));
    if (w->dim[0] != window->size[0] || w->dim[1] != window->size[1])
        return mgb_op_fail(call, "its weight is %s and its kernel %dx%d",
                           mgb_shape_format(shape, sizeof shape, w), window->size[0],
                           window->size[1]);
    if (window->groups < 1 || x->dim[2] % window->groups != 0 || w->dim[3] % window->groups != 0)
        return mgb_op_fail(call, "%d groups do not divide %lld channels and %lld filters",
                           window->groups, (long long)x->dim[2], (long long)w->dim[3]);
    if (w->dim[2] * window->groups != x->dim[2])
        return mgb_op_fail(call, "weight %s in %d group%s does not fit input of %lld channels",
                           mgb_shape_format(shape, sizeof shape, w), window->groups,
                           window->groups > 1 ? "s" : "", (long long)x->dim[2]);
    return MGB_OK;
}

enum mgb_status mgb_op_conv2d(struct mgb_graph *graph, int *out, const char *name, int x,
                              int weight, int bias, const struct mgb_window *window,
                              enum mgb_activation activation)
{
    struct mgb_op_call call;
    struct mgb_shape in, w, b;
    char shape[96];
    int64_t size[2];
    MGB_TRY(mgb_op_begin(&call, graph, MGB_OP_CONV2D, name));
    MGB_TRY(mgb_op_check_activation(&call, activation));
    MGB_TRY(mgb_op_take(&call, "input", x, MGB_F32, &in));
    MGB_TRY(mgb_op_take_variable(&call, "weight", weight, &w));
    struct mgb_conv2d_attributes *a = &call.a.conv2d;
    a->window = *window;
    MGB_TRY(
        mgb_window_resolve(&call, "kernel", &a->window, a->pad_before, a->pad_after, &in, size));
    MGB_TRY(conv2d_check(&call, &a->window, &in, &w));
    if (bias >= 0) {
        MGB_TRY(mgb_op_take_variable(&call, "bias", bias, &b));
        if (b.rank != 1 || b.dim[0] != w.dim[3])
            return mgb_op_fail(&call, "bias %s does not fit %lld filters",
                               mgb_shape_format(shape, sizeof shape, &b), (long long)w.dim[3]);
    }
    a->activation = activation;
    a->x = in;
    a->y = (struct mgb_shape){3, {size[0], size[1], w.dim[3]}};
    struct mgb_shape y = a->y;
    return mgb_op_end(&call, out, &y, MGB_F32);
}

/* One node gives weight and bias gradient; the weight's is made even where only the bias needs its
 * own. */
static enum mgb_status conv2d_differentiate(struct mgb_gradient *gradient, struct mgb_node node,
                                            int dy)
{
    int x = node.inputs[0], w = node.inputs[1], b = node.input_count > 2 ? node.inputs[2] : -1;
    bool bias = b >= 0 && mgb_gradient_needs(gradient, b);
    int dz, made[MGB_MAX_OUTPUTS];
    union mgb_attributes a = node.a;
    a.conv2d.activation = MGB_LINEAR;
    MGB_TRY(mgb_gradient_through_activation(gradient, &dz, &node, node.a.conv2d.activation, dy));
    if (bias || mgb_gradient_needs(gradient, w)) {
        const struct mgb_gradient_request request = {.kind = MGB_OP_CONV2D_GRAD_W,
                                                     .of = node.name,
                                                     .suffix = "grad_w",
                                                     .a = a,
                                                     .inputs = {x, dz},
                                                     .input_count = 2,
                                                     .like = {w, bias ? b : -1},
                                                     .like_count = 2};
        MGB_TRY(mgb_gradient_node(gradient, made, &request));
        MGB_TRY(mgb_gradient_add(gradient, w, made[0]));
        if (bias)
            MGB_TRY(mgb_gradient_add(gradient, b, made[1]));
    }
    const struct mgb_gradient_request request = {.kind = MGB_OP_CONV2D_GRAD_X,
                                                 .of = node.name,
                                                 .suffix = "grad_x",
                                                 .a = a,
                                                 .inputs = {dz, w},
                                                 .input_count = 2,
                                                 .like = {x},
                                                 .like_count = 1};
    return mgb_gradient_simple(gradient, &request, x);
}

/* Bias and activation are not counted; multiplications with padding are. */
static double conv2d_flops(const struct mgb_graph *graph, const struct mgb_node *node)
{
    const struct mgb_conv2d_attributes *a = &node->a.conv2d;
    (void)graph;
    return 2.0 * (double)mgb_shape_count(&a->y) * a->window.size[0] * a->window.size[1] *
           (double)(a->x.dim[2] / a->window.groups);
}

static void conv2d_text(struct mgb_text *text, const struct mgb_node *node)
{
    mgb_window_text(text, &node->a.conv2d.window);
    if (node->kind == MGB_OP_CONV2D)
        mgb_text_add(text, " %s", mgb_activation_name(node->a.conv2d.activation));
}

const struct mgb_op_rules mgb_op_rules_CONV2D = {
    .differentiate = conv2d_differentiate, .flops = conv2d_flops, .text = conv2d_text};
const struct mgb_op_rules mgb_op_rules_CONV2D_GRAD_X = {.flops = conv2d_flops, .text = conv2d_text};
const struct mgb_op_rules mgb_op_rules_CONV2D_GRAD_W = {.flops = conv2d_flops, .text = conv2d_text};
