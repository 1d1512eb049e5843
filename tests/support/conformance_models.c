/* The graphs of the conformance checks. */
#include "tests/support/conformance.h"

#include "tests/support/check.h"
#include "tests/support/conformance_attention.h"
#include "tests/support/conformance_norm.h"
#include "tests/support/conformance_sequence.h"
#include "tests/support/conformance_math.h"
#include "tests/support/model.h"
#include <mgb/op.h>

static int conv(struct mgb_graph *graph, int x, int filters, struct mgb_window window,
                enum mgb_activation activation)
{
    return model_conv2d(graph, "conv", x, filters, &window, activation);
}

static int pool(struct mgb_graph *graph, int x, struct mgb_window window, bool average)
{
    int out = -1;
    if (average)
        assert_ok(mgb_op_avg_pool2d(graph, &out, "avg", x, &window));
    else
        assert_ok(mgb_op_max_pool2d(graph, &out, "max", x, &window));
    return out;
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

static int concat(struct mgb_graph *graph, int a, int b, int axis)
{
    int out = -1;
    assert_ok(mgb_op_concat(graph, &out, "concat", (int[]){a, b}, 2, axis));
    return out;
}

static struct mgb_window window(int kh, int kw, int sh, int sw, enum mgb_padding padding)
{
    return (struct mgb_window){
        .size = {kh, kw}, .stride = {sh, sw}, .dilation = {1, 1}, .padding = padding, .groups = 1};
}

static struct mgb_graph *head(struct mgb_graph *graph, int x, int classes)
{
    int label = model_label(graph, "label");
    model_classify(
        graph, model_dense(graph, "logits", model_flatten(graph, x), classes, MGB_LINEAR), label);
    return graph;
}

static struct mgb_graph *dense_make(void)
{
    struct mgb_graph *graph = model_make("dense");
    int x = model_input(graph, "x", SHAPE(1, 13)), loss = -1;
    int target = model_input(graph, "target", SHAPE(1, 5));
    x = model_dense(graph, "a", x, 17, MGB_RELU);
    x = model_dense(graph, "b", x, 7, MGB_TANH);
    x = model_dense(graph, "c", x, 5, MGB_SIGMOID);
    assert_ok(mgb_op_mean_squared_error(graph, &loss, "mse", x, target));
    assert_ok(mgb_graph_loss(graph, loss, 1));
    assert_ok(mgb_graph_output(graph, "y", x));
    assert_ok(mgb_graph_finish(graph));
    return graph;
}

/* Dense at every position, labels at every position. */
static struct mgb_graph *positions_make(void)
{
    struct mgb_graph *graph = model_make("positions");
    int x = model_input(graph, "x", SHAPE(2, 3, 6)), label = -1;
    assert_ok(mgb_graph_input(graph, &label, "label", SHAPE(1, 3), MGB_I32));
    struct model_layer layer = model_dense_layer(graph, "shared", 6, 6);
    x = model_dense_use(graph, "once", x, layer, MGB_TANH);
    x = model_dense_use(graph, "twice", x, layer, MGB_LINEAR); /* its gradient is a sum */
    model_classify(graph, model_dense(graph, "logits", x, 37, MGB_LINEAR), label);
    return graph;
}

static struct mgb_graph *conv_make(void)
{
    struct mgb_graph *graph = model_make("conv");
    int x = model_input(graph, "x", SHAPE(3, 9, 11, 3));
    x = conv(graph, x, 5, window(3, 2, 1, 2, MGB_SAME), MGB_RELU);
    x = conv(graph, x, 7, window(2, 3, 2, 1, MGB_VALID), MGB_SIGMOID);
    struct mgb_window padded = window(3, 3, 1, 1, MGB_EXPLICIT);
    padded.pad[0] = 2;
    padded.pad[1] = 1;
    return head(graph, conv(graph, x, 4, padded, MGB_TANH), 3);
}

static struct mgb_graph *conv_groups_make(void)
{
    struct mgb_graph *graph = model_make("conv_groups");
    int x = model_input(graph, "x", SHAPE(3, 10, 10, 8));
    struct mgb_window grouped = window(3, 3, 1, 1, MGB_SAME), apart = window(3, 3, 1, 1, MGB_SAME);
    grouped.groups = 2;
    x = conv(graph, x, 12, grouped, MGB_RELU);
    apart.groups = 12; /* depthwise */
    x = conv(graph, x, 12, apart, MGB_LINEAR);
    struct mgb_window dilated = window(3, 3, 1, 1, MGB_VALID);
    dilated.dilation[0] = dilated.dilation[1] = 2;
    return head(graph, conv(graph, x, 16, dilated, MGB_RELU), 4);
}

/* Whole blocks all the way: layouts may stay blocked from the first convolution to flatten. */
static struct mgb_graph *chain_make(void)
{
    struct mgb_graph *graph = model_make("chain");
    int x = model_input(graph, "x", SHAPE(3, 12, 12, 3));
    x = conv(graph, x, 16, window(3, 3, 1, 1, MGB_SAME), MGB_LINEAR);
    x = act(graph, x, MGB_RELU);
    x = pool(graph, x, window(2, 2, 2, 2, MGB_VALID), false);
    int y = conv(graph, x, 32, window(3, 3, 1, 1, MGB_SAME), MGB_RELU);
    int z = conv(graph, x, 32, window(1, 1, 1, 1, MGB_SAME), MGB_LINEAR);
    x = model_dropout(graph, add(graph, y, z), 0.25f);
    x = concat(graph, x, act(graph, y, MGB_TANH), -1);
    x = pool(graph, x, window(3, 3, 2, 2, MGB_SAME), true);
    return head(graph, conv(graph, x, 16, window(2, 2, 1, 1, MGB_VALID), MGB_RELU), 5);
}

/* The same with channels that fill no block. */
static struct mgb_graph *ragged_make(void)
{
    struct mgb_graph *graph = model_make("ragged");
    int x = model_input(graph, "x", SHAPE(3, 9, 7, 3));
    x = conv(graph, x, 20, window(3, 3, 1, 1, MGB_SAME), MGB_LINEAR);
    int y = conv(graph, act(graph, x, MGB_SIGMOID), 18, window(3, 3, 1, 1, MGB_SAME), MGB_SIGMOID);
    x = model_dropout(graph, concat(graph, x, y, 3), 0.5f);
    x = pool(graph, x, window(3, 2, 2, 1, MGB_SAME), false);
    x = conv(graph, add(graph, x, act(graph, x, MGB_TANH)), 9, window(3, 3, 2, 2, MGB_SAME),
             MGB_RELU);
    return head(graph, pool(graph, x, window(2, 2, 1, 1, MGB_SAME), true), 3);
}

static struct mgb_graph *pools_make(void)
{
    struct mgb_graph *graph = model_make("pools");
    int x = model_input(graph, "x", SHAPE(3, 18, 17, 2));
    x = conv(graph, x, 27, window(1, 1, 1, 1, MGB_VALID), MGB_LINEAR);
    struct mgb_window padded = window(3, 3, 2, 2, MGB_EXPLICIT);
    padded.pad[0] = padded.pad[1] = 1;
    int a = pool(graph, x, padded, false), b = pool(graph, x, padded, true);
    int whole = pool(graph, x, window(16, 16, 5, 3, MGB_VALID),
                     false); /* 256 cells, as many as an index holds */
    /* side by side, with a column left over */
    int pairs = pool(graph, x, window(2, 2, 2, 2, MGB_VALID), false);
    whole = concat(graph, model_flatten(graph, whole), model_flatten(graph, pairs), 1);
    x = concat(graph, a, b, 1);
    x = pool(graph, x, window(5, 1, 3, 1, MGB_VALID), false); /* overlapping rows */
    return head(graph, concat(graph, model_flatten(graph, x), whole, 1), 3);
}

static struct mgb_graph *shapes_make(void)
{
    struct mgb_graph *graph = model_make("shapes");
    int x = model_input(graph, "x", SHAPE(1, 24)), y = -1;
    assert_ok(mgb_op_reshape(graph, &y, "fold", model_dense(graph, "in", x, 24, MGB_RELU),
                             SHAPE(3, 2, 3, 4)));
    int left = concat(graph, y, y, 1), right = concat(graph, y, y, 2);
    int all = concat(graph, model_flatten(graph, left), model_flatten(graph, right), -1);
    return head(graph, model_dropout(graph, all, 0.1f), 11);
}

/* clang-format off: one a line */
const struct conformance_model conformance_models[] = {
    {"dense", dense_make},
    {"positions", positions_make},
    {"conv", conv_make},
    {"conv_groups", conv_groups_make},
    {"chain", chain_make},
    {"ragged", ragged_make},
    {"pools", pools_make},
    {"shapes", shapes_make},
    {"mlp", model_mlp},
    {"attention", conformance_attention},
    {"attention_small", conformance_attention_small},
    {"matrices", conformance_matrices},
    {"tied", conformance_tied},
    {"words", conformance_words_make},
    {"lstm", conformance_lstm_make},
    {"lstm_short", conformance_lstm_short_make},
    {"gru", conformance_gru_make},
    {"gru_before", conformance_gru_before_make},
    {"arithmetic", conformance_arithmetic},
    {"gates", conformance_gates},
    {"reductions", conformance_reductions},
    {"cuts", conformance_cuts},
    {"penalty", conformance_penalty},
    {"batch_norm", conformance_batch_norm},
    {"layer_norm", conformance_layer_norm},
};
/* clang-format on */
const int conformance_model_count = sizeof conformance_models / sizeof *conformance_models;
