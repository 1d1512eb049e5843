/* Losses, gradients and weights of small nets over a few steps against stored PyTorch values
 * (tests/golden/make_training.py). Tolerance 1e-4 of the largest element; what is measured is around 1e-6. */
#include <mgb/run.h>
#include <mgb/op.h>

#include "tests/support/check.h"
#include "tests/support/golden.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_STEPS = 4, MAX_INPUTS = 4 };

struct net {
    struct mgb_graph *graph;
    int variables[16], variable_count;
    float scale[16];
};

/* A variable whose values are golden_formula with salt 100 + its number. */
static int net_variable(struct net *net, const char *name, struct mgb_shape shape, float scale)
{
    struct mgb_init zeros = {.kind = MGB_ZEROS};
    int variable, tensor;
    assert_ok(mgb_graph_variable(net->graph, &variable, name, &shape, &zeros));
    assert_ok(mgb_graph_read(net->graph, &tensor, variable));
    net->scale[net->variable_count] = scale;
    net->variables[net->variable_count++] = variable;
    return tensor;
}

static int net_input(struct net *net, const char *name, struct mgb_shape shape, enum mgb_type type)
{
    int tensor;
    assert_ok(mgb_graph_input(net->graph, &tensor, name, &shape, type));
    return tensor;
}

static int net_dense(struct net *net, const char *name, int x, int in, int out, float scale,
                     enum mgb_activation activation)
{
    int y;
    assert_ok(mgb_graph_begin_scope(net->graph, name));
    int w = net_variable(net, "kernel", (struct mgb_shape){2, {in, out}}, scale);
    int b = net_variable(net, "bias", (struct mgb_shape){1, {out}}, .1f);
    mgb_graph_end_scope(net->graph);
    assert_ok(mgb_op_dense(net->graph, &y, name, x, w, b, activation));
    return y;
}

struct conv {
    int size, in, out, stride, dilation, pad, groups;
    enum mgb_padding padding;
    enum mgb_activation activation;
    float scale;
    bool bias;
};

static int net_conv(struct net *net, const char *name, int x, struct conv c)
{
    struct mgb_window window = {{c.size, c.size}, {c.stride, c.stride}, {c.dilation, c.dilation},
                                c.padding,        {c.pad, c.pad},       c.groups};
    int y, b = -1;
    assert_ok(mgb_graph_begin_scope(net->graph, name));
    int w = net_variable(net, "kernel",
                         (struct mgb_shape){4, {c.size, c.size, c.in / c.groups, c.out}}, c.scale);
    if (c.bias)
        b = net_variable(net, "bias", (struct mgb_shape){1, {c.out}}, .1f);
    mgb_graph_end_scope(net->graph);
    assert_ok(mgb_op_conv2d(net->graph, &y, name, x, w, b, &window, c.activation));
    return y;
}

static int net_pool(struct net *net, bool max, int x, int size, int stride, int pad)
{
    struct mgb_window window = {
        {size, size}, {stride, stride}, {1, 1}, pad ? MGB_EXPLICIT : MGB_VALID, {pad, pad}, 1};
    int y;
    if (max)
        assert_ok(mgb_op_max_pool2d(net->graph, &y, "pool", x, &window));
    else
        assert_ok(mgb_op_avg_pool2d(net->graph, &y, "pool", x, &window));
    assert_ok(mgb_op_flatten(net->graph, &y, "flatten", y));
    return y;
}

static void net_classify(struct net *net, int logits)
{
    int loss, label = net_input(net, "label", (struct mgb_shape){0, {0}}, MGB_I32);
    assert_ok(mgb_graph_output(net->graph, "logits", logits));
    assert_ok(mgb_op_softmax_cross_entropy(net->graph, &loss, "loss", logits, label));
    assert_ok(mgb_graph_loss(net->graph, loss, 1));
}

static void net_regress(struct net *net, int prediction, int width, float weight)
{
    int loss, target = net_input(net, "target", (struct mgb_shape){1, {width}}, MGB_F32);
    assert_ok(mgb_op_mean_squared_error(net->graph, &loss, "mse", prediction, target));
    assert_ok(mgb_graph_loss(net->graph, loss, weight));
}

struct trained {
    double loss[MAX_STEPS];
    int steps;
};

static bool keep_loss(void *context, const struct mgb_step_result *result)
{
    struct trained *trained = context;
    trained->loss[trained->steps++] = result->loss;
    return true;
}

static void compare(const struct golden *golden, const char *kind, int number, const float *got,
                    int64_t count, int every)
{
    int64_t kept = (count + every - 1) / every;
    float *want = calloc((size_t)kept, sizeof *want),
          *sample = calloc((size_t)kept, sizeof *sample);
    char label[32];
    snprintf(label, sizeof label, "%s%d", kind, number);
    golden_read(golden, label, want, kept);
    for (int64_t i = 0; i < kept; i++)
        sample[i] = got[i * every];
    double difference = golden_difference(sample, want, kept);
    if (!(difference < 1e-4))
        fail_msg("%s differs from PyTorch by %g of its largest element", label, difference);
    free(want);
    free(sample);
}

static void write_weights(struct mgb_run *run, const struct net *net)
{
    for (int i = 0; i < net->variable_count; i++) {
        int64_t count = mgb_graph_variable_at(net->graph, net->variables[i]).count;
        float *values = calloc((size_t)count, sizeof *values);
        golden_formula(values, count, 100 + i, net->scale[i]);
        assert_ok(mgb_run_write(run, values, net->variables[i], -1));
        free(values);
    }
}

static void compare_variables(struct mgb_run *run, const struct net *net,
                              const struct golden *golden, bool gradient, int every)
{
    for (int i = 0; i < net->variable_count; i++) {
        int64_t count = mgb_graph_variable_at(net->graph, net->variables[i]).count;
        float *got = calloc((size_t)count, sizeof *got);
        assert_ok(gradient ? mgb_run_read_gradient(run, got, net->variables[i])
                           : mgb_run_read(run, got, net->variables[i], -1));
        compare(golden, gradient ? "grad" : "weight", i, got, count, every);
        free(got);
    }
}

/* Trains `net` on `gpus` towers and compares everything stored under `name`. */
static void train_and_compare(struct net *net, const char *name, int steps,
                              struct mgb_optimizer optimizer, const void *const *data, int rows,
                              const char *strategy, int gpus, int every)
{
    char path[80], text[16];
    snprintf(path, sizeof path, "training/%s.txt", name);
    struct golden golden = golden_open(path);
    struct mgb_source source;
    assert_ok(mgb_source_memory(&source, net->graph, data, rows, false));
    struct mgb_run_options options = {.graph = net->graph,
                                      .backend = "host",
                                      .optimizer = optimizer,
                                      .source = &source,
                                      .cores = gpus > 1 ? gpus : 1,
                                      .guarded = true};
    mgb_placement_init(&options.placement);
    snprintf(text, sizeof text, "%d", gpus);
    assert_ok(mgb_placement_set(&options.placement, "gpus", text));
    snprintf(text, sizeof text, "%d", rows);
    assert_ok(mgb_placement_set(&options.placement, "global_batch", text));
    assert_ok(mgb_placement_set(&options.placement, "strategy", strategy));
    struct mgb_run *run;
    assert_ok(mgb_run_open(&run, &options));
    write_weights(run, net);
    struct trained trained = {.steps = 0};
    struct mgb_step_sink sink = {&trained, keep_loss};
    for (int s = 0; s < steps; s++) {
        int64_t done;
        assert_ok(mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 1}, &sink));
        if (s == 0)
            compare_variables(run, net, &golden, true, every);
        float loss = (float)trained.loss[s];
        compare(&golden, "loss", s, &loss, 1, 1);
    }
    compare_variables(run, net, &golden, false, every);
    mgb_run_close(run);
    mgb_source_close(&source);
    golden_close(&golden);
}

static struct net net_make(const char *name)
{
    struct net net = {0};
    assert_ok(mgb_graph_make(&net.graph, name));
    return net;
}

static struct mgb_optimizer sgd(float lr)
{
    struct mgb_optimizer optimizer = mgb_optimizer_default(MGB_SGD);
    optimizer.lr = lr;
    return optimizer;
}

static void train_mlp(const char *name, struct mgb_optimizer optimizer)
{
    static const int32_t label[] = {0, 2, 1, 2, 0};
    float x[5 * 7];
    golden_formula(x, 35, 1, 1);
    struct net net = net_make("mlp");
    int h = net_input(&net, "x", (struct mgb_shape){1, {7}}, MGB_F32);
    h = net_dense(&net, "hidden", h, 7, 6, .5f, MGB_RELU);
    net_classify(&net, net_dense(&net, "out", h, 6, 3, .5f, MGB_LINEAR));
    assert_ok(mgb_graph_finish(net.graph));
    const void *data[] = {x, label};
    static const char *const strategies[] = {"outputs", "gradients", "allreduce"};
    for (int i = 0; i < 3; i++)
        for (int gpus = 1; gpus <= 3; gpus++)
            train_and_compare(&net, name, 3, optimizer, data, 5, strategies[i], gpus, 1);
    mgb_graph_free(net.graph);
}

static void sgd_matches(void **state)
{
    (void)state;
    train_mlp("mlp_sgd", sgd(.1f));
}

static void momentum_matches(void **state)
{
    (void)state;
    struct mgb_optimizer optimizer = sgd(.1f);
    optimizer.momentum = .9f;
    train_mlp("mlp_momentum", optimizer);
}

static void nesterov_matches(void **state)
{
    (void)state;
    struct mgb_optimizer optimizer = sgd(.1f);
    optimizer.momentum = .9f;
    optimizer.nesterov = true;
    train_mlp("mlp_nesterov", optimizer);
}

static void rmsprop_matches(void **state)
{
    (void)state;
    struct mgb_optimizer optimizer = mgb_optimizer_default(MGB_RMSPROP);
    optimizer.lr = .01f;
    train_mlp("mlp_rmsprop", optimizer);
}

static void adagrad_matches(void **state)
{
    (void)state;
    struct mgb_optimizer optimizer = mgb_optimizer_default(MGB_ADAGRAD);
    optimizer.lr = .05f;
    train_mlp("mlp_adagrad", optimizer);
}

static void adadelta_matches(void **state)
{
    (void)state;
    struct mgb_optimizer optimizer = mgb_optimizer_default(MGB_ADADELTA);
    optimizer.lr = 1;
    optimizer.epsilon = 1e-6f;
    train_mlp("mlp_adadelta", optimizer);
}

static void adam_matches(void **state)
{
    (void)state;
    struct mgb_optimizer optimizer = mgb_optimizer_default(MGB_ADAM);
    optimizer.lr = .01f;
    optimizer.epsilon = 1e-12f; /* PyTorch adds epsilon elsewhere; so small, the two forms agree */
    train_mlp("mlp_adam", optimizer);
}

static void convolution_and_max_pooling_match(void **state)
{
    (void)state;
    static const int32_t label[] = {1, 0, 3, 2};
    static float x[4 * 9 * 8 * 3];
    golden_formula(x, 4 * 9 * 8 * 3, 2, 1);
    struct net net = net_make("conv_pool");
    int h = net_input(&net, "x", (struct mgb_shape){3, {9, 8, 3}}, MGB_F32);
    h = net_conv(&net, "conv", h,
                 (struct conv){3, 3, 8, 1, 1, 0, 1, MGB_VALID, MGB_RELU, .3f, true});
    h = net_pool(&net, true, h, 2, 2, 0);
    net_classify(&net, net_dense(&net, "out", h, 3 * 3 * 8, 4, .2f, MGB_LINEAR));
    assert_ok(mgb_graph_finish(net.graph));
    const void *data[] = {x, label};
    train_and_compare(&net, "conv_pool", 2, sgd(.1f), data, 4, "outputs", 1, 1);
    train_and_compare(&net, "conv_pool", 2, sgd(.1f), data, 4, "gradients", 3, 1);
    mgb_graph_free(net.graph);
}

static void same_padding_and_average_pooling_match(void **state)
{
    (void)state;
    static float x[3 * 8 * 8 * 2], target[15];
    golden_formula(x, 3 * 8 * 8 * 2, 3, 1);
    golden_formula(target, 15, 4, 1);
    struct net net = net_make("conv_same");
    int h = net_input(&net, "x", (struct mgb_shape){3, {8, 8, 2}}, MGB_F32);
    h = net_conv(&net, "a", h, (struct conv){3, 2, 4, 2, 1, 0, 1, MGB_SAME, MGB_TANH, .4f, true});
    h = net_conv(&net, "b", h,
                 (struct conv){3, 4, 6, 1, 1, 0, 1, MGB_SAME, MGB_SIGMOID, .3f, true});
    h = net_pool(&net, false, h, 2, 2, 0);
    net_regress(&net, net_dense(&net, "out", h, 24, 5, .3f, MGB_LINEAR), 5, 1);
    assert_ok(mgb_graph_finish(net.graph));
    const void *data[] = {x, target};
    train_and_compare(&net, "conv_same", 2, sgd(.1f), data, 3, "outputs", 1, 1);
    train_and_compare(&net, "conv_same", 2, sgd(.1f), data, 3, "outputs", 2, 1);
    mgb_graph_free(net.graph);
}

static void groups_dilation_and_padding_match(void **state)
{
    (void)state;
    static const int32_t label[] = {2, 0};
    static float x[2 * 7 * 6 * 4];
    golden_formula(x, 2 * 7 * 6 * 4, 5, 1);
    struct net net = net_make("conv_groups");
    int h = net_input(&net, "x", (struct mgb_shape){3, {7, 6, 4}}, MGB_F32);
    h = net_conv(&net, "a", h,
                 (struct conv){1, 4, 4, 1, 1, 0, 1, MGB_VALID, MGB_LINEAR, .5f, false});
    h = net_conv(&net, "b", h,
                 (struct conv){3, 4, 6, 1, 2, 2, 2, MGB_EXPLICIT, MGB_RELU, .3f, true});
    h = net_pool(&net, false, h, 3, 2, 1);
    net_classify(&net, net_dense(&net, "out", h, 72, 3, .2f, MGB_LINEAR));
    assert_ok(mgb_graph_finish(net.graph));
    const void *data[] = {x, label};
    train_and_compare(&net, "conv_groups", 2, sgd(.1f), data, 2, "outputs", 1, 1);
    train_and_compare(&net, "conv_groups", 2, sgd(.1f), data, 2, "allreduce", 2, 1);
    mgb_graph_free(net.graph);
}

static void shared_layers_and_weighted_losses_match(void **state)
{
    (void)state;
    static const int32_t label[] = {0, 1, 1, 0, 2, 2};
    static float a[24], b[24], target[30];
    golden_formula(a, 24, 6, 1);
    golden_formula(b, 24, 7, 1);
    golden_formula(target, 30, 8, 1);
    struct net net = net_make("siamese");
    int ta = net_input(&net, "a", (struct mgb_shape){1, {4}}, MGB_F32);
    int tb = net_input(&net, "b", (struct mgb_shape){1, {4}}, MGB_F32);
    int w = net_variable(&net, "kernel", (struct mgb_shape){2, {4, 5}}, .5f);
    int bias = net_variable(&net, "bias", (struct mgb_shape){1, {5}}, .1f);
    int p, q, sum, both;
    assert_ok(mgb_op_dense(net.graph, &p, "shared", ta, w, bias, MGB_TANH));
    assert_ok(mgb_op_dense(net.graph, &q, "shared", tb, w, bias, MGB_TANH));
    assert_ok(mgb_op_add(net.graph, &sum, "add", p, q));
    assert_ok(mgb_op_concat(net.graph, &both, "concat", (int[]){sum, p}, 2, -1));
    net_classify(&net, net_dense(&net, "out", both, 10, 3, .5f, MGB_LINEAR));
    net_regress(&net, q, 5, .5f);
    assert_ok(mgb_graph_finish(net.graph));
    const void *data[] = {a, b, label, target};
    for (int gpus = 1; gpus <= 4; gpus += 3) {
        train_and_compare(&net, "siamese", 2, sgd(.1f), data, 6, "outputs", gpus, 1);
        train_and_compare(&net, "siamese", 2, sgd(.1f), data, 6, "gradients", gpus, 1);
    }
    mgb_graph_free(net.graph);
}

static void mnist_cnn_matches(void **state)
{
    (void)state;
    static const int32_t label[] = {3, 1, 4, 1, 5, 9, 2, 6};
    static float x[8 * 784];
    golden_formula(x, 8 * 784, 9, 1);
    for (int i = 0; i < 8 * 784; i++)
        x[i] = (x[i] + 1) / 2;
    struct net net = net_make("mnist_cnn");
    int h = net_input(&net, "image", (struct mgb_shape){3, {28, 28, 1}}, MGB_F32);
    h = net_conv(&net, "conv_a", h,
                 (struct conv){3, 1, 32, 1, 1, 0, 1, MGB_VALID, MGB_RELU, .3f, true});
    h = net_conv(&net, "conv_b", h,
                 (struct conv){3, 32, 64, 1, 1, 0, 1, MGB_VALID, MGB_RELU, .08f, true});
    h = net_pool(&net, true, h, 2, 2, 0);
    h = net_dense(&net, "hidden", h, 9216, 128, .02f, MGB_RELU);
    net_classify(&net, net_dense(&net, "logits", h, 128, 10, .1f, MGB_LINEAR));
    assert_ok(mgb_graph_finish(net.graph));
    assert_int_equal(mgb_graph_parameters(net.graph), 1199882);
    const void *data[] = {x, label};
    train_and_compare(&net, "mnist_cnn", 2, sgd(.05f), data, 8, "outputs", 1, 997);
    train_and_compare(&net, "mnist_cnn", 2, sgd(.05f), data, 8, "gradients", 3, 997);
    mgb_graph_free(net.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sgd_matches),
        cmocka_unit_test(momentum_matches),
        cmocka_unit_test(nesterov_matches),
        cmocka_unit_test(rmsprop_matches),
        cmocka_unit_test(adagrad_matches),
        cmocka_unit_test(adadelta_matches),
        cmocka_unit_test(adam_matches),
        cmocka_unit_test(convolution_and_max_pooling_match),
        cmocka_unit_test(same_padding_and_average_pooling_match),
        cmocka_unit_test(groups_dilation_and_padding_match),
        cmocka_unit_test(shared_layers_and_weighted_losses_match),
        cmocka_unit_test(mnist_cnn_matches),
    };
    return cmocka_run_group_tests_name("golden_training", tests, NULL, NULL);
}
