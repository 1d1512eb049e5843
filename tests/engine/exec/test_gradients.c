/* Gradients of whole random models against central differences of the loss, along random directions, so that every
 * operator's gradient and every fan-out sum is checked as the engine really combines them. The kinks of relu and maxima are
 * left to the kernels' own tests (tests/engine/host) and to the PyTorch goldens. */
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/random_model.h"
#include "tests/support/training.h"
#include "tests/support/draws.h"
#include <mgb/op.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 5 };

/* A direction of unit length, from a fixed sequence. */
static void direction_make(float *out, int64_t count, unsigned *state)
{
    double norm = 0;
    for (int64_t i = 0; i < count; i++) {
        *state = *state * 1664525u + 1013904223u;
        out[i] = (float)(*state >> 8) / 8388608.0f - 1.0f;
        norm += (double)out[i] * out[i];
    }
    for (int64_t i = 0; i < count; i++)
        out[i] /= (float)sqrt(norm);
}

static double loss_at(struct mgb_run *run, const struct mgb_source *source, int variable,
                      const float *weight, const float *direction, float distance, float *scratch,
                      int64_t count)
{
    struct mgb_evaluation evaluation;
    for (int64_t i = 0; i < count; i++)
        scratch[i] = weight[i] + distance * direction[i];
    assert_ok(mgb_run_write(run, scratch, variable, -1));
    assert_ok(mgb_run_evaluate(run, &evaluation, source));
    return evaluation.loss;
}

/* |slope - gradient along the direction|, relative to the gradient's length (what any direction could show). */
static double slope_error(struct mgb_run *run, const struct mgb_source *source,
                          const struct mgb_graph *graph, int variable, unsigned *state)
{
    const float distance = 0.02f;
    int64_t count = mgb_graph_variable_at(graph, variable).count;
    float *block = calloc((size_t)count * 4, sizeof *block);
    float *weight = block, *gradient = block + count, *direction = block + 2 * count;
    assert_ok(mgb_run_read(run, weight, variable, -1));
    assert_ok(mgb_run_read_gradient(run, gradient, variable));
    direction_make(direction, count, state);
    double along = 0, length = 0;
    for (int64_t i = 0; i < count; i++) {
        along += (double)gradient[i] * direction[i];
        length += (double)gradient[i] * gradient[i];
    }
    double up =
        loss_at(run, source, variable, weight, direction, distance, block + 3 * count, count);
    double down =
        loss_at(run, source, variable, weight, direction, -distance, block + 3 * count, count);
    assert_ok(mgb_run_write(run, weight, variable, -1));
    free(block);
    return fabs((up - down) / (2 * (double)distance) - along) / (sqrt(length) + 1e-3);
}

static void graph_check(struct mgb_graph *graph, uint64_t seed, const char *options)
{
    struct training_data data = training_data_make(graph, ROWS, false, seed);
    struct training training = {.graph = graph,
                                .source = &data.source,
                                .optimizer = training_sgd(0, 0), /* the weights stay */
                                .options = options,
                                .seed = seed,
                                .guarded = true};
    struct mgb_run *run = training_open(&training);
    training_step(run, 1, NULL);
    unsigned state = (unsigned)seed * 7919u + 1;
    for (int v = 0; v < mgb_graph_variable_count(graph); v++) {
        if (!mgb_graph_variable_at(graph, v).trainable)
            continue;
        double error = slope_error(run, &data.source, graph, v, &state);
        if (!(error < 0.01))
            fail_msg("seed %llu, %s, %s: off by %g of the gradient's length",
                     (unsigned long long)seed, options, mgb_graph_variable_at(graph, v).name,
                     error);
    }
    mgb_run_close(run);
    training_data_done(&data);
    mgb_graph_free(graph);
}

static void model_check(uint64_t seed, const char *options)
{
    struct mgb_graph *graph;
    assert_ok(random_model_make_smooth(&graph, seed));
    graph_check(graph, seed, options);
}

/* Variables added to an image (twice, so that gradients meet) and to what a dense layer gives. */
static struct mgb_graph *parameters_make(void)
{
    struct mgb_graph *graph = model_make("parameters");
    struct mgb_window window = model_window(3, 1, MGB_SAME);
    int x = model_input(graph, "image", SHAPE(3, 5, 7, 2)), label = model_label(graph, "label");
    int mask = model_weight(graph, "mask", SHAPE(3, 5, 7, 3)),
        shift = model_weight(graph, "shift", SHAPE(1, 70));
    x = model_conv2d(graph, "conv2d", x, 3, &window, MGB_TANH);
    assert_ok(mgb_op_add(graph, &x, "add", x, mask));
    assert_ok(mgb_op_activation(graph, &x, "tanh", x, MGB_TANH));
    assert_ok(mgb_op_add(graph, &x, "add", mask, x));
    x = model_dense(graph, "dense", model_flatten(graph, x), 70, MGB_LINEAR);
    assert_ok(mgb_op_add(graph, &x, "add", x, shift));
    model_classify(graph, model_dense(graph, "logits", x, 3, MGB_LINEAR), label);
    return graph;
}

static void gradients_of_bare_variables_are_slopes(void **state)
{
    (void)state;
    static const char *const options[] = {
        "gpus=1 global_batch=5",
        "gpus=2 global_batch=5 strategy=outputs",
        "gpus=3 global_batch=5 strategy=gradients",
        "gpus=4 global_batch=5 strategy=allreduce",
    };
    for (int i = 0; i < 4; i++)
        graph_check(parameters_make(), (uint64_t)i, options[i]);
}

static void gradients_are_slopes_on_one_tower(void **state)
{
    (void)state;
    int models = draw_long() ? 200 : 24;
    for (int seed = 0; seed < models; seed++)
        model_check((uint64_t)seed, "gpus=1 global_batch=5");
}

static void gradients_are_slopes_on_uneven_towers(void **state)
{
    (void)state;
    static const char *const options[] = {
        "gpus=2 global_batch=5 strategy=outputs",
        "gpus=3 global_batch=5 strategy=gradients",
        "gpus=4 global_batch=5 strategy=allreduce",
    };
    for (int seed = 0; seed < 9; seed++)
        model_check((uint64_t)seed, options[seed % 3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_slopes_on_one_tower),
        cmocka_unit_test(gradients_are_slopes_on_uneven_towers),
        cmocka_unit_test(gradients_of_bare_variables_are_slopes),
    };
    return cmocka_run_group_tests_name("gradients", tests, NULL, NULL);
}
