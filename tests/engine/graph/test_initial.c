/* Initial values: distributions, seeds, independence of order; and a heap that runs out. */
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/random_model.h"

#include "engine/base/memory.h"
#include "engine/base/random.h"
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

/* The variable alone, of any shape, filled. */
static struct mgb_graph *filled(float *out, const struct mgb_shape *shape, struct mgb_init init,
                                uint64_t seed)
{
    struct mgb_graph *graph = model_make("m");
    int variable;
    assert_ok(mgb_graph_variable(graph, &variable, "v", shape, &init));
    int x = model_input(graph, "x", SHAPE(1, 4)), label = model_label(graph, "label");
    model_classify(graph, model_dense(graph, "logits", x, 3, MGB_LINEAR), label);
    mgb_variable_initial(out, graph, variable, seed);
    return graph;
}

/* Element (i, j) of left^T right, or of left right^T, for matrices of so many columns. */
static double product_at(const float *left, const float *right, int64_t rows, int64_t width,
                         bool tall, int64_t i, int64_t j)
{
    double sum = 0;
    for (int64_t k = 0; k < (tall ? rows : width); k++)
        sum += tall ? (double)left[k * width + i] * (double)right[k * width + j]
                    : (double)left[i * width + k] * (double)right[j * width + k];
    return sum;
}

/* Q of shape rows x width: orthonormal, times the gain, and the R that it leaves of the normal matrix it was made of has
 * nothing on one side of its diagonal and positive numbers on it: that fixes Q. */
static void orthogonal_check(const struct mgb_shape *shape, uint64_t seed, float gain)
{
    int64_t width = shape->dim[shape->rank - 1], rows = 1;
    for (int i = 0; i + 1 < shape->rank; i++)
        rows *= shape->dim[i];
    bool tall = rows >= width;
    int64_t few = tall ? width : rows, many = tall ? rows : width;
    mgb_graph_free(filled(values, shape, (struct mgb_init){MGB_ORTHOGONAL, gain, 0, 0}, seed));
    mgb_graph_free(filled(others, shape, (struct mgb_init){MGB_NORMAL, 1, 0, 0}, seed));
    for (int64_t i = 0; i < few; i++) {
        for (int64_t j = 0; j < few; j++) {
            double square =
                product_at(values, values, rows, width, tall, i, j) / ((double)gain * gain);
            assert_true(fabs(square - (i == j)) < 1e-5);
            double r = product_at(values, others, rows, width, tall, i, j) / (double)gain;
            assert_true(j >= i || fabs(r) < 1e-4 * sqrt((double)many));
            assert_true(j != i || r > 0);
        }
    }
}

static void orthogonal_is_the_signed_q_of_a_normal_matrix(void **state)
{
    (void)state;
    static const struct mgb_shape shapes[] = {
        {2, {1, 1}},   {2, {60, 20}},     {2, {20, 60}},   {2, {64, 64}},  {2, {8, 300}},
        {2, {300, 8}}, {4, {3, 3, 4, 8}}, {3, {2, 2, 40}}, {2, {33, 132}}, {2, {140, 139}}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        orthogonal_check(&shapes[i], 3 + i, 1);
    for (uint64_t draw = 0; draw < 40; draw++) {
        struct mgb_random4 r = mgb_random_at(5, draw, 0);
        const struct mgb_shape shape = {
            2, {1 + mgb_random_below(r.v[0], 40), 1 + mgb_random_below(r.v[1], 40)}};
        orthogonal_check(&shape, draw, draw % 2 ? 1.5f : -0.5f);
    }
}

static void orthogonal_depends_on_the_seed_and_needs_two_axes(void **state)
{
    (void)state;
    struct mgb_init init = {.kind = MGB_ORTHOGONAL, .value = 1};
    struct mgb_graph *graph = filled(values, SHAPE(2, 30, 10), init, 1);
    int variable;
    mgb_variable_initial(others, graph, 0, 1);
    assert_memory_equal(values, others, 300 * sizeof *values);
    mgb_variable_initial(others, graph, 0, 2);
    assert_memory_not_equal(values, others, 300 * sizeof *values);
    mgb_graph_free(graph);
    graph = model_make("m");
    assert_status(mgb_graph_variable(graph, &variable, "b", SHAPE(1, 8), &init), MGB_INVALID);
    assert_message("variable 'b': orthogonal needs two axes or more, its shape is 8");
    init.value = INFINITY;
    assert_status(mgb_graph_variable(graph, &variable, "w", SHAPE(2, 8, 8), &init), MGB_INVALID);
    mgb_graph_free(graph);
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
        cmocka_unit_test(orthogonal_is_the_signed_q_of_a_normal_matrix),
        cmocka_unit_test(orthogonal_depends_on_the_seed_and_needs_two_axes),
        cmocka_unit_test(values_depend_on_seed_and_name_only),
        cmocka_unit_test(fans_of_a_convolution_count_its_window),
        cmocka_unit_test(a_heap_that_runs_out_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
