/* Graphs of the conformance checks: arithmetic, reductions, cuts and their losses. */
#include "tests/support/conformance_math.h"

#include "tests/support/check.h"
#include "tests/support/model.h"
#include <mgb/op.h>

typedef enum mgb_status two_function(struct mgb_graph *graph, int *out, const char *name, int a,
                                     int b);
typedef enum mgb_status axis_function(struct mgb_graph *graph, int *out, const char *name, int x,
                                      int axis, bool keep);

static int two(struct mgb_graph *graph, two_function *f, int a, int b)
{
    int out = -1;
    assert_ok(f(graph, &out, "two", a, b));
    return out;
}

static int over(struct mgb_graph *graph, axis_function *f, int x, int axis, bool keep)
{
    int out = -1;
    assert_ok(f(graph, &out, "over", x, axis, keep));
    return out;
}

static int act(struct mgb_graph *graph, int x, enum mgb_activation activation)
{
    int out = -1;
    assert_ok(mgb_op_activation(graph, &out, "act", x, activation));
    return out;
}

static int affine(struct mgb_graph *graph, int x, float factor, float shift)
{
    int out = -1;
    assert_ok(mgb_op_affine(graph, &out, "affine", x, factor, shift));
    return out;
}

static int reshape(struct mgb_graph *graph, int x, const struct mgb_shape *shape)
{
    int out = -1;
    assert_ok(mgb_op_reshape(graph, &out, "reshape", x, shape));
    return out;
}

static int pad(struct mgb_graph *graph, int x, int axis, int64_t before, int64_t after)
{
    int out = -1;
    assert_ok(mgb_op_pad(graph, &out, "pad", x, axis, (int64_t[]){before, after}));
    return out;
}

static int slice(struct mgb_graph *graph, int x, int axis, int64_t begin, int64_t count)
{
    int out = -1;
    assert_ok(mgb_op_slice(graph, &out, "slice", x, axis, begin, count));
    return out;
}

static int concat(struct mgb_graph *graph, int axis, int count, const int *x)
{
    int out = -1;
    assert_ok(mgb_op_concat(graph, &out, "concat", x, count, axis));
    return out;
}

static struct mgb_graph *head(struct mgb_graph *graph, int x, int classes)
{
    int label = model_label(graph, "label");
    model_classify(
        graph, model_dense(graph, "logits", model_flatten(graph, x), classes, MGB_LINEAR), label);
    return graph;
}

/* Operands that are repeated along the first, a middle and the last axis, for every example, and along all of them. */
struct mgb_graph *conformance_arithmetic(void)
{
    struct mgb_graph *graph = model_make("arithmetic");
    int x = model_dense(graph, "x", model_input(graph, "x", SHAPE(3, 4, 3, 5)), 70, MGB_TANH);
    int side = model_dense(graph, "side", model_input(graph, "side", SHAPE(1, 6)), 70, MGB_SIGMOID);
    int gate = model_dense(graph, "gate", side, 4, MGB_SIGMOID);
    int one = model_dense(graph, "one", side, 1, MGB_SIGMOID);
    int y = two(graph, mgb_op_mul, x, side);
    y = two(graph, mgb_op_sub, reshape(graph, gate, SHAPE(3, 4, 1, 1)), y);
    y = two(graph, mgb_op_add, y, model_weight(graph, "shift", SHAPE(2, 3, 1)));
    y = two(graph, mgb_op_mul, model_weight(graph, "scale", SHAPE(3, 4, 3, 70)), y);
    y = two(graph, mgb_op_add, y, model_weight(graph, "bias", SHAPE(1, 70)));
    y = two(graph, mgb_op_div, y, affine(graph, reshape(graph, gate, SHAPE(3, 4, 1, 1)), 1, 1.5f));
    y = two(graph, mgb_op_div, y, affine(graph, reshape(graph, one, SCALAR), -0.5f, 1));
    y = two(graph, mgb_op_sub, y, x);
    return head(graph, two(graph, mgb_op_mul, y, y), 3);
}

/* The same where operands may lie in blocks: of one shape, and as a gate for each channel. */
struct mgb_graph *conformance_gates(void)
{
    struct mgb_graph *graph = model_make("gates");
    struct mgb_window window = model_window(3, 1, MGB_SAME), whole = model_window(6, 6, MGB_VALID);
    int x = model_input(graph, "x", SHAPE(3, 6, 6, 3)), y = -1;
    x = model_conv2d(graph, "conv", x, 32, &window, MGB_LINEAR);
    int z = model_conv2d(graph, "conv", x, 32, &window, MGB_SIGMOID);
    x = two(graph, mgb_op_sub, two(graph, mgb_op_mul, x, z), x);
    assert_ok(mgb_op_abs(graph, &x, "abs", x));
    assert_ok(mgb_op_avg_pool2d(graph, &y, "squeeze", x, &whole));
    y = model_dense(graph, "gate", y, 32, MGB_SIGMOID);
    x = two(graph, mgb_op_mul, x, y);
    x = two(graph, mgb_op_div, affine(graph, x, 2, -1), affine(graph, z, 1, 1));
    int ragged = model_conv2d(graph, "conv", x, 20, &window, MGB_LINEAR);
    ragged = two(graph, mgb_op_div, ragged, affine(graph, act(graph, ragged, MGB_SIGMOID), 1, 1));
    return head(graph, affine(graph, ragged, -1, 0), 3);
}

struct mgb_graph *conformance_reductions(void)
{
    struct mgb_graph *graph = model_make("reductions");
    axis_function *const functions[3] = {mgb_op_sum, mgb_op_mean, mgb_op_max};
    int x = model_dense(graph, "x", model_input(graph, "x", SHAPE(3, 5, 3, 4)), 67, MGB_TANH);
    int parts[11], count = 0;
    for (int axis = 1; axis <= 3; axis++)
        for (int f = 0; f < 3; f++)
            parts[count++] =
                model_flatten(graph, over(graph, functions[f], x, axis, (axis + f) % 2 == 0));
    int kept = over(graph, mgb_op_mean, x, -1, true);
    x = two(graph, mgb_op_sub, x, kept);
    parts[count++] = model_flatten(graph, over(graph, mgb_op_max, x, -2, true));
    int line = over(graph, mgb_op_sum, over(graph, mgb_op_mean, x, 1, false), 1, false);
    parts[count++] = reshape(graph, over(graph, mgb_op_max, line, -1, false), SHAPE(1, 1));
    return head(graph, concat(graph, -1, count, parts), 3);
}

struct mgb_graph *conformance_cuts(void)
{
    struct mgb_graph *graph = model_make("cuts");
    struct mgb_window window = model_window(3, 1, MGB_VALID),
                      padded = model_window(3, 2, MGB_EXPLICIT);
    int x = model_input(graph, "x", SHAPE(3, 7, 6, 3)), y = -1;
    x = pad(graph, pad(graph, x, 1, 1, 2), 2, 0, 1);
    x = model_conv2d(graph, "conv", x, 64, &window, MGB_TANH);
    x = slice(graph, slice(graph, pad(graph, pad(graph, x, 1, 2, 0), 2, 1, 3), 1, 1, 6), -2, 1, -1);
    int parts[3] = {slice(graph, x, 3, 16, 32), slice(graph, x, 3, -20, 17),
                    pad(graph, slice(graph, x, -1, 0, 16), 3, 16, 5)};
    x = concat(graph, 3, 3, parts);
    x = model_conv2d(graph, "conv", x, 20, &window, MGB_SIGMOID);
    x = pad(graph, slice(graph, x, 3, 3, 14), 3, 1, 0);
    padded.pad[0] = padded.pad[1] = 1;
    assert_ok(mgb_op_avg_pool2d_padded(graph, &y, "avg", x, &padded));
    padded.padding = MGB_SAME;
    int z = -1;
    assert_ok(mgb_op_avg_pool2d_padded(graph, &z, "avg", x, &padded));
    x = model_flatten(graph, concat(graph, 1, 2, (int[]){y, z}));
    x = concat(graph, 1, 2, (int[]){x, model_weight(graph, "token", SHAPE(1, 9))});
    return head(graph, slice(graph, x, 1, 2, -1), 3);
}

struct mgb_graph *conformance_penalty(void)
{
    struct mgb_graph *graph = model_make("penalty");
    int x = model_input(graph, "x", SHAPE(1, 9)),
        target = model_input(graph, "target", SHAPE(2, 3, 5));
    int loss = -1, weights[20];
    for (int i = 0; i < 20; i++) /* more than one operator takes */
        weights[i] = model_weight(graph, "weight", SHAPE(1, 1 + 133 * i));
    x = two(graph, mgb_op_mul, x, slice(graph, pad(graph, x, 1, 3, 0), 1, 0, 9));
    x = two(graph, mgb_op_add, model_dense(graph, "b", x, 19, MGB_TANH), weights[0]);
    x = reshape(graph, model_dense(graph, "c", x, 15, MGB_LINEAR), SHAPE(2, 3, 5));
    assert_ok(mgb_op_binary_cross_entropy(graph, &loss, "bce", x, target));
    assert_ok(mgb_graph_loss(graph, loss, 1));
    assert_ok(mgb_op_l2(graph, &loss, "l2", weights, 20, 0.01f));
    assert_ok(mgb_graph_loss(graph, loss, 0.5f));
    assert_ok(mgb_graph_output(graph, "y", x));
    assert_ok(mgb_graph_finish(graph));
    return graph;
}
