/* Models for the conformance checks of batch and layer normalisation. */
#include "tests/support/conformance_norm.h"

#include "tests/support/check.h"
#include "tests/support/model.h"
#include <mgb/op.h>

static int conv(struct mgb_graph *graph, int x, int filters, int size, int stride,
                enum mgb_activation activation)
{
    struct mgb_window window = model_window(size, stride, MGB_SAME);
    return model_conv2d(graph, "conv", x, filters, &window, activation);
}

static int add(struct mgb_graph *graph, int a, int b)
{
    int out = -1;
    assert_ok(mgb_op_add(graph, &out, "add", a, b));
    return out;
}

static int act(struct mgb_graph *graph, int x, enum mgb_activation activation)
{
    int out = -1;
    assert_ok(mgb_op_activation(graph, &out, "act", x, activation));
    return out;
}

static struct mgb_graph *classify(struct mgb_graph *graph, int x, int classes)
{
    int label = model_label(graph, "label");
    model_classify(
        graph, model_dense(graph, "logits", model_flatten(graph, x), classes, MGB_LINEAR), label);
    return graph;
}

/* Batch norm in blocked layouts, in ragged ones, with and without gamma and beta, one layer used twice, of a dense layer. */
struct mgb_graph *conformance_batch_norm(void)
{
    struct mgb_graph *graph = model_make("batch_norm");
    int x = model_input(graph, "x", SHAPE(3, 9, 7, 3)), y = -1;
    x = model_batch_norm(graph, "pixels", x, MGB_LINEAR);
    x = conv(graph, x, 32, 3, 1, MGB_LINEAR);
    x = model_batch_norm(graph, "blocks", x, MGB_RELU);
    x = conv(graph, x, 19, 3, 1, MGB_TANH);
    x = model_batch_norm(graph, "ragged", x, MGB_RELU);
    x = conv(graph, x, 8, 3, 2, MGB_LINEAR);
    struct mgb_batch_norm_options bare = {
        .gamma = -1, .beta = -1, .momentum = 0.9f, .epsilon = 0.5f};
    bare.moving_mean = model_weight(graph, "mean", SHAPE(1, 8));
    bare.moving_variance = model_weight(graph, "variance", SHAPE(1, 8));
    assert_ok(mgb_op_batch_norm(graph, &x, "bare", x, &bare));
    bare.beta = model_weight(graph, "beta", SHAPE(1, 8));
    bare.activation = MGB_RELU;
    assert_ok(mgb_op_batch_norm(graph, &y, "again", conv(graph, x, 8, 1, 1, MGB_LINEAR), &bare));
    x = model_dense(graph, "dense", model_flatten(graph, add(graph, x, y)), 17, MGB_LINEAR);
    return classify(graph, model_batch_norm(graph, "units", x, MGB_LINEAR), 3);
}

struct mgb_graph *conformance_layer_norm(void)
{
    struct mgb_graph *graph = model_make("layer_norm");
    int x = model_input(graph, "x", SHAPE(2, 5, 37)), y = -1;
    x = model_layer_norm(graph, "first", x);
    x = act(graph, model_dense(graph, "a", x, 21, MGB_LINEAR), MGB_TANH);
    assert_ok(mgb_op_layer_norm(graph, &x, "bare", x, -1, -1, 1e-5f));
    x = act(graph, model_dense(graph, "b", x, 21, MGB_LINEAR), MGB_SIGMOID);
    int shift = model_weight(graph, "shift", SHAPE(1, 21)),
        scale = model_weight(graph, "scale", SHAPE(1, 21));
    assert_ok(mgb_op_layer_norm(graph, &y, "shifted", x, -1, shift, 1e-5f));
    assert_ok(mgb_op_layer_norm(graph, &x, "scaled", x, scale, -1, 1e-5f));
    assert_ok(mgb_op_reshape(graph, &x, "fold", add(graph, x, y), SHAPE(3, 5, 3, 7)));
    x = conv(graph, x, 16, 3, 1, MGB_RELU);
    return classify(graph, model_layer_norm(graph, "image", x), 4);
}
