/* Builds, trains and compares. */
#include "tests/support/golden_net.h"

#include "tests/support/check.h"
#include "tests/support/golden.h"
#include "tests/support/model.h"
#include "tests/support/training.h"
#include <mgb/op.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS 3
#define TOLERANCE 1e-4

struct golden_net golden_net_make(const char *name)
{
    struct golden_net net = {0};
    assert_ok(mgb_graph_make(&net.graph, name));
    return net;
}

int golden_net_variable(struct golden_net *net, const char *name, const struct mgb_shape *shape,
                        float scale)
{
    struct mgb_init zeros = {.kind = MGB_ZEROS};
    int variable = -1, tensor = -1;
    assert_ok(mgb_graph_variable(net->graph, &variable, name, shape, &zeros));
    assert_ok(mgb_graph_read(net->graph, &tensor, variable));
    net->scale[net->variable_count] = scale;
    net->variables[net->variable_count++] = variable;
    return tensor;
}

int golden_net_input(struct golden_net *net, const char *name, const struct mgb_shape *shape,
                     enum mgb_type type)
{
    int tensor = -1;
    assert_ok(mgb_graph_input(net->graph, &tensor, name, shape, type));
    return tensor;
}

int golden_net_dense(struct golden_net *net, int x, int units, float scale, float bias,
                     enum mgb_activation activation)
{
    const struct mgb_shape *shape = mgb_tensor_shape(net->graph, x);
    int y = -1, b = -1;
    int w = golden_net_variable(net, "kernel", SHAPE(2, shape->dim[shape->rank - 1], units), scale);
    if (bias != 0)
        b = golden_net_variable(net, "bias", SHAPE(1, units), bias);
    assert_ok(mgb_op_dense(net->graph, &y, "dense", x, w, b, activation));
    return y;
}

void golden_net_classify(struct golden_net *net, int logits, const struct mgb_shape *label)
{
    int loss = -1, labels = golden_net_input(net, "label", label, MGB_I32);
    assert_ok(mgb_graph_output(net->graph, "logits", logits));
    assert_ok(mgb_op_softmax_cross_entropy(net->graph, &loss, "loss", logits, labels));
    assert_ok(mgb_graph_loss(net->graph, loss, 1));
    assert_ok(mgb_graph_finish(net->graph));
}

static void weights_write(struct mgb_run *run, const struct golden_net *net)
{
    for (int i = 0; i < net->variable_count; i++) {
        int64_t count = mgb_graph_variable_at(net->graph, net->variables[i]).count;
        float *values = calloc((size_t)count, sizeof *values);
        golden_formula(values, count, 100 + i, net->scale[i]);
        assert_ok(mgb_run_write(run, values, net->variables[i], -1));
        free(values);
    }
}

static double compare(const struct golden *golden, const char *kind, int number, const float *got,
                      int64_t count)
{
    float *want = calloc((size_t)count, sizeof *want);
    char label[32];
    snprintf(label, sizeof label, "%s%d", kind, number);
    golden_read(golden, label, want, count);
    double difference = golden_difference(got, want, count);
    free(want);
    if (!(difference < TOLERANCE))
        fail_msg("%s differs from PyTorch by %g of its largest element", label, difference);
    return difference;
}

static double gradients_compare(struct mgb_run *run, const struct golden_net *net,
                                const struct golden *golden)
{
    double most = 0;
    for (int i = 0; i < net->variable_count; i++) {
        int64_t count = mgb_graph_variable_at(net->graph, net->variables[i]).count;
        float *got = calloc((size_t)count, sizeof *got);
        assert_ok(mgb_run_read_gradient(run, got, net->variables[i]));
        double difference = compare(golden, "grad", i, got, count);
        most = difference > most ? difference : most;
        free(got);
    }
    return most;
}

static double train_and_compare(const struct golden_net *net, const struct golden *golden, float lr,
                                struct mgb_source *source, const char *options)
{
    struct training training = {.graph = net->graph,
                                .source = source,
                                .optimizer = training_sgd(lr, 0),
                                .options = options,
                                .guarded = true};
    struct mgb_run *run = training_open(&training);
    double most = 0;
    weights_write(run, net);
    for (int step = 0; step < STEPS; step++) {
        double loss;
        training_step(run, 1, &loss);
        double difference = compare(golden, "loss", step, &(float){(float)loss}, 1);
        most = difference > most ? difference : most;
        if (step == 0) {
            difference = gradients_compare(run, net, golden);
            most = difference > most ? difference : most;
        }
    }
    mgb_run_close(run);
    return most;
}

void golden_net_check(struct golden_net *net, const char *name, float lr, const void *const *data,
                      int rows, int gpus)
{
    static const char *const strategies[] = {"outputs", "gradients", "allreduce"};
    char path[80], options[80];
    snprintf(path, sizeof path, "layers/%s.txt", name);
    struct golden golden = golden_open(path);
    double most = 0;
    for (int towers = 1; towers <= gpus; towers++)
        for (int s = 0; s < 3; s++) {
            struct mgb_source source;
            assert_ok(mgb_source_memory(&source, net->graph, data, rows, false));
            snprintf(options, sizeof options, "gpus=%d global_batch=%d strategy=%s", towers, rows,
                     strategies[s]);
            double difference = train_and_compare(net, &golden, lr, &source, options);
            most = difference > most ? difference : most;
            mgb_source_close(&source);
        }
    printf("%s: at most %.2g of the largest element from PyTorch\n", name, most);
    golden_close(&golden);
    mgb_graph_free(net->graph);
}
