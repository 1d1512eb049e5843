/* Batch and layer normalisation against stored PyTorch values (tests/golden/make_layers_norm.py): losses, gradients, moving
 * statistics and the loss that an evaluation gives with them. */
#include "tests/support/check.h"

#include "tests/support/golden.h"
#include "tests/support/golden_net.h"
#include "tests/support/model.h"
#include "tests/support/training.h"
#include <mgb/op.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 5
#define IMAGE (6 * 5 * 3)

static int conv(struct golden_net *net, int x, int filters, float scale)
{
    const struct mgb_shape *shape = mgb_tensor_shape(net->graph, x);
    struct mgb_window window = model_window(3, 1, MGB_SAME);
    int out = -1;
    int w = golden_net_variable(net, "kernel", SHAPE(4, 3, 3, shape->dim[shape->rank - 1], filters),
                                scale);
    assert_ok(mgb_op_conv2d(net->graph, &out, "conv2d", x, w, -1, &window, MGB_LINEAR));
    return out;
}

/* The moving statistics are no variables of the net: they begin as Keras' do. */
static int moving(struct golden_net *net, int *states, const char *name, int64_t channels,
                  float value)
{
    struct mgb_init init = {.kind = MGB_CONSTANT, .value = value};
    int tensor = -1;
    assert_ok(mgb_graph_variable(net->graph, states, name, SHAPE(1, channels), &init));
    assert_ok(mgb_graph_read(net->graph, &tensor, *states));
    return tensor;
}

static int norm(struct golden_net *net, int *states, int x, enum mgb_activation activation)
{
    const struct mgb_shape *shape = mgb_tensor_shape(net->graph, x);
    int64_t channels = shape->dim[shape->rank - 1];
    struct mgb_batch_norm_options options = {
        .momentum = 0.9f, .epsilon = 1e-3f, .activation = activation};
    int out = -1;
    options.gamma = golden_net_variable(net, "gamma", SHAPE(1, channels), 1.5f);
    options.beta = golden_net_variable(net, "beta", SHAPE(1, channels), .4f);
    options.moving_mean = moving(net, &states[0], "moving_mean", channels, 0);
    options.moving_variance = moving(net, &states[1], "moving_variance", channels, 1);
    assert_ok(mgb_op_batch_norm(net->graph, &out, "batch_norm", x, &options));
    return out;
}

static struct golden_net batch_norm_net(int states[4])
{
    struct golden_net net = golden_net_make("batch_norm");
    int x = golden_net_input(&net, "x", SHAPE(3, 6, 5, 3), MGB_F32);
    x = norm(&net, &states[0], conv(&net, x, 16, .3f), MGB_RELU);
    x = norm(&net, &states[2], conv(&net, x, 5, .2f), MGB_LINEAR);
    x = golden_net_dense(&net, model_flatten(net.graph, x), 3, .3f, .1f, MGB_LINEAR);
    golden_net_classify(&net, x, SCALAR);
    return net;
}

static void image_fill(float *x)
{
    golden_formula(x, ROWS * IMAGE, 41, 1);
    for (int i = 0; i < ROWS * IMAGE; i++)
        x[i] = x[i] * 2 + 3;
}

static const int32_t labels[ROWS] = {0, 2, 1, 1, 2};

static void batch_norm_matches(void **state)
{
    (void)state;
    float x[ROWS * IMAGE];
    int states[4];
    struct golden_net net = batch_norm_net(states);
    image_fill(x);
    golden_net_check(&net, "batch_norm", .2f, (const void *[]){x, labels}, ROWS, 1);
}

static double most_of(double most, double difference)
{
    assert_true(difference < 1e-4);
    return difference > most ? difference : most;
}

static void moving_statistics_and_what_evaluation_makes_of_them_match(void **state)
{
    (void)state;
    float x[ROWS * IMAGE], values[16 * 150], wanted[16], loss;
    int states[4];
    double most = 0;
    struct mgb_source source;
    struct mgb_evaluation evaluation;
    struct golden golden = golden_open("layers/batch_norm.txt");
    struct golden_net net = batch_norm_net(states);
    image_fill(x);
    assert_ok(mgb_source_memory(&source, net.graph, (const void *[]){x, labels}, ROWS, false));
    struct training training = {.graph = net.graph,
                                .source = &source,
                                .optimizer = training_sgd(.2f, 0),
                                .options = "gpus=1 global_batch=5"};
    struct mgb_run *run = training_open(&training);
    for (int i = 0; i < net.variable_count; i++) {
        int64_t count = mgb_graph_variable_at(net.graph, net.variables[i]).count;
        golden_formula(values, count, 100 + i, net.scale[i]);
        assert_ok(mgb_run_write(run, values, net.variables[i], -1));
    }
    training_step(run, 2, NULL);
    for (int i = 0; i < 4; i++) {
        char label[24];
        int64_t count = mgb_graph_variable_at(net.graph, states[i]).count;
        snprintf(label, sizeof label, "moving%d", i);
        golden_read(&golden, label, wanted, count);
        assert_ok(mgb_run_read(run, values, states[i], -1));
        most = most_of(most, golden_difference(values, wanted, count));
    }
    golden_read(&golden, "evaluated0", wanted, 1);
    assert_ok(mgb_run_evaluate(run, &evaluation, &source));
    loss = (float)evaluation.loss;
    most = most_of(most, golden_difference(&loss, wanted, 1));
    printf("moving statistics: at most %.2g from PyTorch\n", most);
    mgb_run_close(run);
    mgb_source_close(&source);
    golden_close(&golden);
    mgb_graph_free(net.graph);
}

static void layer_norm_matches(void **state)
{
    (void)state;
    static const int32_t label[] = {0, 2, 1, 1};
    float xs[4 * 42];
    struct golden_net net = golden_net_make("layer_norm");
    int x = golden_net_input(&net, "x", SHAPE(2, 7, 6), MGB_F32);
    golden_formula(xs, 4 * 42, 42, 1);
    for (int i = 0; i < 4 * 42; i++)
        xs[i] = xs[i] * 2 - 1;
    x = golden_net_dense(&net, x, 19, .5f, .2f, MGB_LINEAR);
    int gamma = golden_net_variable(&net, "gamma", SHAPE(1, 19), 1.5f);
    int beta = golden_net_variable(&net, "beta", SHAPE(1, 19), .4f);
    assert_ok(mgb_op_layer_norm(net.graph, &x, "layer_norm", x, gamma, beta, 1e-3f));
    assert_ok(mgb_op_activation(net.graph, &x, "tanh", x, MGB_TANH));
    x = model_flatten(net.graph, x);
    gamma = golden_net_variable(&net, "gamma", SHAPE(1, 133), 1.5f);
    assert_ok(mgb_op_layer_norm(net.graph, &x, "layer_norm", x, gamma, -1, 1e-5f));
    x = golden_net_dense(&net, x, 3, .3f, .1f, MGB_LINEAR);
    golden_net_classify(&net, x, SCALAR);
    golden_net_check(&net, "layer_norm", .2f, (const void *[]){xs, label}, 4, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batch_norm_matches),
        cmocka_unit_test(moving_statistics_and_what_evaluation_makes_of_them_match),
        cmocka_unit_test(layer_norm_matches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
