/* The layers and models of model.h. */
#include "tests/support/model.h"

#include "tests/support/check.h"
#include <mgb/op.h>

struct mgb_graph *model_make(const char *name)
{
    struct mgb_graph *graph;
    assert_ok(mgb_graph_make(&graph, name));
    return graph;
}

int model_input(struct mgb_graph *graph, const char *name, const struct mgb_shape *shape)
{
    int tensor = -1;
    assert_ok(mgb_graph_input(graph, &tensor, name, shape, MGB_F32));
    return tensor;
}

int model_label(struct mgb_graph *graph, const char *name)
{
    int tensor = -1;
    assert_ok(mgb_graph_input(graph, &tensor, name, SCALAR, MGB_I32));
    return tensor;
}

static int variable(struct mgb_graph *graph, const char *name, const struct mgb_shape *shape)
{
    struct mgb_init init = {.kind = shape->rank > 1 ? MGB_GLOROT_UNIFORM : MGB_ZEROS};
    int made = -1;
    assert_ok(mgb_graph_variable(graph, &made, name, shape, &init));
    return made;
}

int model_weight(struct mgb_graph *graph, const char *name, const struct mgb_shape *shape)
{
    int tensor = -1;
    assert_ok(mgb_graph_read(graph, &tensor, variable(graph, name, shape)));
    return tensor;
}

static struct model_layer layer_make(struct mgb_graph *graph, const char *name,
                                     const struct mgb_shape *kernel)
{
    struct model_layer layer;
    assert_ok(mgb_graph_begin_scope(graph, name));
    layer.kernel = variable(graph, "kernel", kernel);
    layer.bias = variable(graph, "bias", SHAPE(1, kernel->dim[kernel->rank - 1]));
    mgb_graph_end_scope(graph);
    return layer;
}

struct model_layer model_dense_layer(struct mgb_graph *graph, const char *name, int in, int units)
{
    return layer_make(graph, name, SHAPE(2, in, units));
}

int model_dense_use(struct mgb_graph *graph, const char *name, int x, struct model_layer layer,
                    enum mgb_activation activation)
{
    int out = -1, w = -1, b = -1;
    assert_ok(mgb_graph_read(graph, &w, layer.kernel));
    if (layer.bias >= 0)
        assert_ok(mgb_graph_read(graph, &b, layer.bias));
    assert_ok(mgb_op_dense(graph, &out, name, x, w, b, activation));
    return out;
}

int model_dense(struct mgb_graph *graph, const char *name, int x, int units,
                enum mgb_activation activation)
{
    const struct mgb_shape *shape = mgb_tensor_shape(graph, x);
    int in = (int)shape->dim[shape->rank - 1];
    return model_dense_use(graph, name, x, model_dense_layer(graph, name, in, units), activation);
}

struct mgb_window model_window(int size, int stride, enum mgb_padding padding)
{
    return (struct mgb_window){.size = {size, size},
                               .stride = {stride, stride},
                               .dilation = {1, 1},
                               .padding = padding,
                               .groups = 1};
}

int model_conv2d(struct mgb_graph *graph, const char *name, int x, int filters,
                 const struct mgb_window *window, enum mgb_activation activation)
{
    int64_t channels = mgb_tensor_shape(graph, x)->dim[2] / window->groups;
    struct model_layer layer =
        layer_make(graph, name, SHAPE(4, window->size[0], window->size[1], channels, filters));
    int out = -1, w = -1, b = -1;
    assert_ok(mgb_graph_read(graph, &w, layer.kernel));
    assert_ok(mgb_graph_read(graph, &b, layer.bias));
    assert_ok(mgb_op_conv2d(graph, &out, name, x, w, b, window, activation));
    return out;
}

int model_max_pool2d(struct mgb_graph *graph, int x, int size)
{
    struct mgb_window window = model_window(size, size, MGB_VALID);
    int out = -1;
    assert_ok(mgb_op_max_pool2d(graph, &out, "max_pool2d", x, &window));
    return out;
}

static int channel_value(struct mgb_graph *graph, const char *name, int64_t channels, float value)
{
    struct mgb_init init = {.kind = MGB_CONSTANT, .value = value};
    int made = -1, tensor = -1;
    assert_ok(mgb_graph_variable(graph, &made, name, SHAPE(1, channels), &init));
    assert_ok(mgb_graph_read(graph, &tensor, made));
    return tensor;
}

int model_batch_norm(struct mgb_graph *graph, const char *name, int x,
                     enum mgb_activation activation)
{
    const struct mgb_shape *shape = mgb_tensor_shape(graph, x);
    int64_t channels = shape->dim[shape->rank - 1];
    struct mgb_batch_norm_options options = {
        .momentum = 0.99f, .epsilon = 1e-3f, .activation = activation};
    int out = -1;
    assert_ok(mgb_graph_begin_scope(graph, name));
    options.gamma = channel_value(graph, "gamma", channels, 1);
    options.beta = channel_value(graph, "beta", channels, 0);
    options.moving_mean = channel_value(graph, "moving_mean", channels, 0);
    options.moving_variance = channel_value(graph, "moving_variance", channels, 1);
    mgb_graph_end_scope(graph);
    assert_ok(mgb_op_batch_norm(graph, &out, name, x, &options));
    return out;
}

int model_layer_norm(struct mgb_graph *graph, const char *name, int x)
{
    const struct mgb_shape *shape = mgb_tensor_shape(graph, x);
    int64_t channels = shape->dim[shape->rank - 1];
    int out = -1;
    assert_ok(mgb_graph_begin_scope(graph, name));
    int gamma = channel_value(graph, "gamma", channels, 1);
    int beta = channel_value(graph, "beta", channels, 0);
    mgb_graph_end_scope(graph);
    assert_ok(mgb_op_layer_norm(graph, &out, name, x, gamma, beta, 1e-3f));
    return out;
}

int model_flatten(struct mgb_graph *graph, int x)
{
    int out = -1;
    assert_ok(mgb_op_flatten(graph, &out, "flatten", x));
    return out;
}

int model_dropout(struct mgb_graph *graph, int x, float rate)
{
    int out = -1;
    assert_ok(mgb_op_dropout(graph, &out, "dropout", x, rate));
    return out;
}

void model_classify(struct mgb_graph *graph, int logits, int label)
{
    int loss = -1, accuracy = -1;
    assert_ok(mgb_graph_output(graph, "logits", logits));
    assert_ok(mgb_op_softmax_cross_entropy(graph, &loss, "loss", logits, label));
    assert_ok(mgb_graph_loss(graph, loss, 1));
    assert_ok(mgb_op_accuracy(graph, &accuracy, "accuracy", logits, label));
    assert_ok(mgb_graph_metric(graph, "accuracy", accuracy));
    assert_ok(mgb_graph_finish(graph));
}

struct mgb_graph *model_mnist_cnn(void)
{
    struct mgb_graph *graph = model_make("mnist_cnn");
    struct mgb_window window = model_window(3, 1, MGB_VALID);
    int image = model_input(graph, "image", SHAPE(3, 28, 28, 1));
    int label = model_label(graph, "label");
    int x = model_conv2d(graph, "conv2d", image, 32, &window, MGB_RELU);
    x = model_conv2d(graph, "conv2d", x, 64, &window, MGB_RELU);
    x = model_dropout(graph, model_max_pool2d(graph, x, 2), 0.25f);
    x = model_dense(graph, "dense", model_flatten(graph, x), 128, MGB_RELU);
    x = model_dense(graph, "logits", model_dropout(graph, x, 0.5f), 10, MGB_LINEAR);
    model_classify(graph, x, label);
    return graph;
}

struct mgb_graph *model_mlp(void)
{
    struct mgb_graph *graph = model_make("mlp");
    int image = model_input(graph, "image", SHAPE(1, 12));
    int label = model_label(graph, "label");
    int x = model_dense(graph, "dense", image, 8, MGB_RELU);
    model_classify(graph, model_dense(graph, "logits", x, 3, MGB_LINEAR), label);
    return graph;
}
