/* Initial values: distributions, seeds, independence of order; and a heap that runs out. */
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/random_model.h"

#include "engine/base/memory.h"
#include <math.h>
#include <string.h>

#define MANY 20000

static float values[MANY], others[MANY];

/* A finished model with one variable of MANY elements beside the rest. */
static struct mgb_graph *model_with(struct mgb_init init, const char *before)
{
    struct mgb_graph *graph = model_make("m");
    int variable;
    if (before)
        model_weight(graph, before, SHAPE(1, 3));
    assert_ok(mgb_graph_variable(graph, &variable, "v", SHAPE(2, 100, MANY / 100), &init));
    int x = model_input(graph, "x", SHAPE(1, 4)), label = model_label(graph, "label");
    model_classify(graph, model_dense(graph, "logits", x, 3, MGB_LINEAR), label);
    return graph;
}

static void moments(double *mean, double *deviation, double *largest)
{
    double sum = 0, squares = 0;
    *largest = 0;
    for (int i = 0; i < MANY; i++) {
        sum += (double)values[i];
        squares += (double)values[i] * (double)values[i];
        *largest = fmax(*largest, fabs((double)values[i]));
    }
    *mean = sum / MANY;
    *deviation = sqrt(squares / MANY - *mean * *mean);
}

static void glorot_uniform_fills_its_interval(void **state)
{
    (void)state;
    double mean, deviation, largest, limit = sqrt(6.0 / (100 + 200));
    struct mgb_graph *graph = model_with((struct mgb_init){.kind = MGB_GLOROT_UNIFORM}, NULL);
    mgb_variable_initial(values, graph, 0, 1);
    moments(&mean, &deviation, &largest);
    assert_true(fabs(mean) < 0.01 * limit);
    assert_true(fabs(deviation - limit / sqrt(3.0)) < 0.01 * limit);
    assert_true(largest <= limit && largest > 0.999 * limit);
    mgb_graph_free(graph);
}

static void he_normal_is_not_truncated(void **state)
{
    (void)state;
    double mean, deviation, largest, wanted = sqrt(2.0 / 100);
    struct mgb_graph *graph = model_with((struct mgb_init){.kind = MGB_HE_NORMAL}, NULL);
    mgb_variable_initial(values, graph, 0, 1);
    moments(&mean, &deviation, &largest);
    assert_true(fabs(mean) < 0.02 * wanted);
    assert_true(fabs(deviation / wanted - 1) < 0.02);
    assert_true(largest > 3 * wanted && largest < 7 * wanted);
    mgb_graph_free(graph);
}

static void constants_fill(void **state)
{
    (void)state;
    static const struct mgb_init inits[] = {
        {.kind = MGB_ZEROS}, {.kind = MGB_ONES}, {.kind = MGB_CONSTANT, .value = 0.5f}};
    static const float wanted[] = {0, 1, 0.5f};
    for (int i = 0; i < 3; i++) {
        struct mgb_graph *graph = model_with(inits[i], NULL);
        mgb_variable_initial(values, graph, 0, 1);
        assert_true(values[0] == wanted[i] && values[MANY - 1] == wanted[i]);
        mgb_graph_free(graph);
    }
}

static void values_depend_on_seed_and_name_only(void **state)
{
    (void)state;
    struct mgb_init init = {.kind = MGB_NORMAL, .value = 0.1f};
    struct mgb_graph *alone = model_with(init, NULL), *second = model_with(init, "u"),
                     *renamed = model_with(init, "v");
    mgb_variable_initial(values, alone, 0, 7);
    mgb_variable_initial(others, second, 1, 7);
    assert_memory_equal(values, others, sizeof values);
    mgb_variable_initial(others, alone, 0, 8);
    assert_memory_not_equal(values, others, sizeof values);
    assert_string_equal(mgb_graph_variable_at(renamed, 1).name, "v_2");
    mgb_variable_initial(others, renamed, 1, 7);
    assert_memory_not_equal(values, others, sizeof values);
    mgb_graph_free(alone);
    mgb_graph_free(second);
    mgb_graph_free(renamed);
}

static void fans_of_a_convolution_count_its_window(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mnist_cnn();
    char *text;
    assert_ok(mgb_graph_text(&text, graph));
    assert_non_null(strstr(text, "variable conv2d_2/kernel 3x3x32x64 glorot_uniform(288,576)\n"));
    mgb_text_free(text);
    mgb_graph_free(graph);
}

/* Every allocation of a build fails once: the build says so and everything is given back. */
static void a_heap_that_runs_out_is_reported(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        enum mgb_status status = MGB_NO_MEMORY;
        for (long long n = 1; status != MGB_OK; n++) {
            struct mgb_graph *graph;
            mgb_alloc_fail_at(n);
            status = random_model_make(&graph, seed);
            mgb_alloc_fail_at(0);
            if (status == MGB_OK)
                mgb_graph_free(graph);
            else
                assert_int_equal(status, MGB_NO_MEMORY);
            assert_true(n < 5000);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(glorot_uniform_fills_its_interval),
        cmocka_unit_test(he_normal_is_not_truncated),
        cmocka_unit_test(constants_fill),
        cmocka_unit_test(values_depend_on_seed_and_name_only),
        cmocka_unit_test(fans_of_a_convolution_count_its_window),
        cmocka_unit_test(a_heap_that_runs_out_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
