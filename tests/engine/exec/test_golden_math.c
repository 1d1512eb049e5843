/* Arithmetic, reductions, cuts, depthwise convolutions and penalties against stored PyTorch values
 * (tests/golden/make_layers_math.py). */
#include "tests/support/check.h"

#include "tests/support/golden.h"
#include "tests/support/golden_net.h"
#include "tests/support/model.h"
#include <mgb/op.h>

typedef enum mgb_status two_function(struct mgb_graph *graph, int *out, const char *name, int a,
                                     int b);
typedef enum mgb_status axis_function(struct mgb_graph *graph, int *out, const char *name, int x,
                                      int axis, bool keep);

static int two(struct golden_net *net, two_function *f, int a, int b)
{
    int out = -1;
    assert_ok(f(net->graph, &out, "two", a, b));
    return out;
}

static int over(struct golden_net *net, axis_function *f, int x, int axis, bool keep)
{
    int out = -1;
    assert_ok(f(net->graph, &out, "over", x, axis, keep));
    return out;
}

static int affine(struct golden_net *net, int x, float factor, float shift)
{
    int out = -1;
    assert_ok(mgb_op_affine(net->graph, &out, "affine", x, factor, shift));
    return out;
}

static int reshape(struct golden_net *net, int x, const struct mgb_shape *shape)
{
    int out = -1;
    assert_ok(mgb_op_reshape(net->graph, &out, "reshape", x, shape));
    return out;
}

static int concat(struct golden_net *net, int axis, int count, const int *x)
{
    int out = -1;
    assert_ok(mgb_op_concat(net->graph, &out, "concat", x, count, axis));
    return out;
}

static void classify(struct golden_net *net, int x, float scale)
{
    x = model_flatten(net->graph, x);
    golden_net_classify(net, golden_net_dense(net, x, 3, scale, .1f, MGB_LINEAR), SCALAR);
}

static void arithmetic_matches(void **state)
{
    (void)state;
    static const int32_t label[] = {0, 2, 1, 1};
    float xs[4 * 3 * 5], vs[4 * 6];
    golden_formula(xs, 4 * 3 * 5, 31, 1);
    golden_formula(vs, 4 * 6, 32, 1);
    struct golden_net net = golden_net_make("arithmetic");
    int x = golden_net_input(&net, "x", SHAPE(2, 3, 5), MGB_F32);
    int v = golden_net_input(&net, "v", SHAPE(1, 6), MGB_F32);
    int a = golden_net_dense(&net, x, 7, .6f, .2f, MGB_TANH);
    int s = golden_net_dense(&net, v, 7, .6f, .2f, MGB_SIGMOID);
    int t = golden_net_dense(&net, v, 3, .6f, .2f, MGB_SIGMOID);
    int row = golden_net_variable(&net, "row", SHAPE(2, 3, 1), .5f);
    int scale = golden_net_variable(&net, "scale", SHAPE(2, 3, 7), 1);
    int z = affine(&net, two(&net, mgb_op_add, two(&net, mgb_op_mul, a, s), row), -1, 1);
    z = two(&net, mgb_op_div, z, affine(&net, reshape(&net, t, SHAPE(2, 3, 1)), 1, 1.5f));
    z = two(&net, mgb_op_sub, z, affine(&net, a, .5f, 0));
    z = two(&net, mgb_op_mul, scale, z);
    assert_ok(mgb_op_abs(net.graph, &z, "abs", z));
    classify(&net, two(&net, mgb_op_mul, z, a), .4f);
    golden_net_check(&net, "arithmetic", .5f, (const void *[]){xs, vs, label}, 4, 3);
}

static void reductions_match(void **state)
{
    (void)state;
    static const int32_t label[] = {1, 0, 2};
    float xs[3 * 4 * 6];
    golden_formula(xs, 3 * 4 * 6, 33, 1);
    struct golden_net net = golden_net_make("reductions");
    int x = golden_net_input(&net, "x", SHAPE(2, 4, 6), MGB_F32);
    int a = golden_net_dense(&net, x, 9, .8f, .2f, MGB_TANH);
    a = two(&net, mgb_op_sub, a, over(&net, mgb_op_mean, a, -1, true));
    int mean = over(&net, mgb_op_mean, two(&net, mgb_op_mul, a, a), 2, false);
    int parts[4] = {over(&net, mgb_op_max, a, 2, false), over(&net, mgb_op_sum, a, 1, false),
                    over(&net, mgb_op_max, a, 1, false), over(&net, mgb_op_mean, mean, 1, true)};
    classify(&net, concat(&net, -1, 4, parts), .5f);
    golden_net_check(&net, "reductions", .5f, (const void *[]){xs, label}, 3, 3);
}

static int conv(struct golden_net *net, int x, int size, const struct mgb_window *window,
                int filters, const float scales[2], enum mgb_activation activation)
{
    int64_t channels = mgb_tensor_shape(net->graph, x)->dim[2] / window->groups;
    int y = -1, b = -1;
    int w = golden_net_variable(net, "kernel", SHAPE(4, size, size, channels, filters), scales[0]);
    if (scales[1] > 0)
        b = golden_net_variable(net, "bias", SHAPE(1, filters), scales[1]);
    assert_ok(mgb_op_conv2d(net->graph, &y, "conv", x, w, b, window, activation));
    return y;
}

static struct mgb_window padded(int size, int stride, int pad, int groups)
{
    return (struct mgb_window){.size = {size, size},
                               .stride = {stride, stride},
                               .dilation = {1, 1},
                               .padding = MGB_EXPLICIT,
                               .pad = {pad, pad},
                               .groups = groups};
}

static void cuts_match(void **state)
{
    (void)state;
    static const int32_t label[] = {1, 0, 2};
    static const int64_t bottom[2] = {0, 1}, left[2] = {2, 0};
    float xs[3 * 6 * 5 * 4];
    golden_formula(xs, 3 * 6 * 5 * 4, 34, 1);
    struct golden_net net = golden_net_make("cuts");
    int x = golden_net_input(&net, "x", SHAPE(3, 6, 5, 4), MGB_F32), token;
    assert_ok(mgb_op_pad(net.graph, &x, "pad", x, 1, bottom));
    assert_ok(mgb_op_pad(net.graph, &x, "pad", x, 2, left));
    struct mgb_window window = padded(3, 1, 0, 1), average = padded(3, 2, 1, 1);
    x = conv(&net, x, 3, &window, 8, (float[]){.3f, .1f}, MGB_TANH);
    token = golden_net_variable(&net, "token", SHAPE(2, 1, 6), .5f);
    assert_ok(mgb_op_slice(net.graph, &x, "slice", x, 1, 1, -1));
    assert_ok(mgb_op_slice(net.graph, &x, "slice", x, 2, 0, 4));
    assert_ok(mgb_op_slice(net.graph, &x, "slice", x, -1, -6, 6));
    assert_ok(mgb_op_avg_pool2d_padded(net.graph, &x, "average", x, &average));
    x = reshape(&net, x, SHAPE(2, 4, 6));
    classify(&net, concat(&net, 1, 2, (int[]){token, x}), .4f);
    golden_net_check(&net, "cuts", .5f, (const void *[]){xs, label}, 3, 3);
}

static void depthwise_convolutions_match(void **state)
{
    (void)state;
    static const int32_t label[] = {1, 2};
    float xs[2 * 13 * 12 * 3];
    golden_formula(xs, 2 * 13 * 12 * 3, 35, 1);
    struct golden_net net = golden_net_make("depthwise");
    struct mgb_window first = padded(7, 2, 3, 1), max = padded(3, 1, 1, 1),
                      deep = padded(3, 2, 1, 8), flat = padded(3, 1, 1, 16),
                      point = padded(1, 1, 0, 1), whole = padded(4, 1, 0, 1);
    int x = golden_net_input(&net, "x", SHAPE(3, 13, 12, 3), MGB_F32);
    x = conv(&net, x, 7, &first, 8, (float[]){.1f, .1f}, MGB_RELU);
    assert_ok(mgb_op_max_pool2d(net.graph, &x, "max", x, &max));
    x = conv(&net, x, 3, &deep, 16, (float[]){.4f, .1f}, MGB_TANH);
    x = conv(&net, x, 3, &flat, 16, (float[]){.4f, 0}, MGB_LINEAR);
    x = conv(&net, x, 1, &point, 10, (float[]){.4f, .1f}, MGB_SIGMOID);
    whole.size[1] = 3;
    assert_ok(mgb_op_avg_pool2d(net.graph, &x, "whole", x, &whole));
    classify(&net, x, .6f);
    golden_net_check(&net, "depthwise", .5f, (const void *[]){xs, label}, 2, 2);
}

/* Five rows on two and three towers: shares of different size. */
static void penalties_match(void **state)
{
    (void)state;
    float xs[5 * 4], targets[5 * 3];
    golden_formula(xs, 5 * 4, 36, 2);
    golden_formula(targets, 5 * 3, 37, 1);
    for (int i = 0; i < 5 * 3; i++)
        targets[i] = (targets[i] + 1) / 2;
    struct golden_net net = golden_net_make("penalty");
    int x = golden_net_input(&net, "x", SHAPE(1, 4), MGB_F32), kernels[2], loss = -1;
    int y = golden_net_dense(&net, x, 6, .8f, .2f, MGB_TANH);
    y = golden_net_dense(&net, y, 3, .8f, .2f, MGB_LINEAR);
    assert_ok(mgb_graph_read(net.graph, &kernels[0], net.variables[0]));
    assert_ok(mgb_graph_read(net.graph, &kernels[1], net.variables[2]));
    int target = golden_net_input(&net, "target", SHAPE(1, 3), MGB_F32);
    assert_ok(mgb_op_binary_cross_entropy(net.graph, &loss, "bce", y, target));
    assert_ok(mgb_graph_loss(net.graph, loss, 1));
    assert_ok(mgb_op_l2(net.graph, &loss, "l2", kernels, 2, .1f));
    assert_ok(mgb_graph_loss(net.graph, loss, .3f));
    assert_ok(mgb_graph_output(net.graph, "y", y));
    assert_ok(mgb_graph_finish(net.graph));
    golden_net_check(&net, "penalty", .5f, (const void *[]){xs, targets}, 5, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_matches), cmocka_unit_test(reductions_match),
        cmocka_unit_test(cuts_match),         cmocka_unit_test(depthwise_convolutions_match),
        cmocka_unit_test(penalties_match),
    };
    return cmocka_run_group_tests_name("golden_math", tests, NULL, NULL);
}
