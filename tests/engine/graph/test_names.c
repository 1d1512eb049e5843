/* Full names: scopes, suffixes, outputs (ancestors K10, 31), sharing. */
#include "tests/support/check.h"
#include "tests/support/model.h"

#include "engine/graph/graph.h"
#include <mgb/op.h>
#include <stdio.h>
#include <string.h>

static struct mgb_graph *graph;
static int x, label;

static int setup(void **state)
{
    (void)state;
    graph = model_make("m");
    x = model_input(graph, "x", SHAPE(1, 4));
    label = model_label(graph, "label");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mgb_graph_free(graph);
    return 0;
}

/* All variables' names in order, joined by blanks. */
static const char *variable_names(void)
{
    static char text[1024];
    text[0] = '\0';
    for (int i = 0; i < mgb_graph_variable_count(graph); i++)
        sprintf(text + strlen(text), "%s%s", i > 0 ? " " : "",
                mgb_graph_variable_at(graph, i).name);
    return text;
}

static const char *name_of(int tensor)
{
    return graph->nodes[graph->tensors[tensor].node].name;
}

static void finish(int logits)
{
    model_classify(graph, model_dense(graph, "logits", logits, 3, MGB_LINEAR), label);
}

static void layers_of_one_name_are_numbered_and_others_are_not(void **state)
{
    (void)state;
    int a = model_dense(graph, "dense", x, 4, MGB_RELU);
    int b = model_dense(graph, "dense", a, 4, MGB_RELU);
    int c = model_dense(graph, "single", b, 4, MGB_RELU);
    finish(c);
    assert_string_equal(variable_names(),
                        "dense_1/kernel dense_1/bias dense_2/kernel dense_2/bias single/kernel "
                        "single/bias logits/kernel logits/bias");
    assert_string_equal(name_of(a), "dense_1");
    assert_string_equal(name_of(b), "dense_2");
    assert_string_equal(name_of(c), "single");
    assert_string_equal(mgb_graph_variable_at(graph, 2).scope, "dense_2");
}

static void outputs_add_nested_nested(void **state)
{
    (void)state;
    int a = model_dense(graph, "a", x, 4, MGB_RELU), b = model_dense(graph, "b", x, 4, MGB_RELU),
        sum;
    const char *name;
    assert_ok(mgb_op_add(graph, &sum, "add", a, b));
    assert_ok(mgb_graph_output(graph, "add", sum));
    assert_ok(mgb_graph_output(graph, "nested", a));
    assert_ok(mgb_graph_output(graph, "nested", b));
    finish(sum);
    assert_int_equal(mgb_graph_output_at(graph, 0, &name), sum);
    assert_string_equal(name, "add");
    assert_int_equal(mgb_graph_output_at(graph, 1, &name), a);
    assert_string_equal(name, "nested_1");
    assert_int_equal(mgb_graph_output_at(graph, 2, &name), b);
    assert_string_equal(name, "nested_2");
}

static void a_suffix_avoids_names_that_are_taken(void **state)
{
    (void)state;
    int a = model_dense(graph, "d", x, 4, MGB_RELU);
    int b = model_dense(graph, "d_1", a, 4, MGB_RELU);
    int c = model_dense(graph, "d", b, 4, MGB_RELU);
    finish(c);
    assert_string_equal(name_of(a), "d_2");
    assert_string_equal(name_of(b), "d_1");
    assert_string_equal(name_of(c), "d_3");
}

static void scopes_nest_and_clash_within_their_parent_only(void **state)
{
    (void)state;
    int y = x;
    for (int i = 0; i < 2; i++) {
        assert_ok(mgb_graph_begin_scope(graph, "block"));
        y = model_dense(graph, "dense", y, 4, MGB_RELU);
        mgb_graph_end_scope(graph);
    }
    y = model_dense(graph, "dense", y, 4, MGB_RELU);
    finish(y);
    assert_string_equal(variable_names(),
                        "block_1/dense/kernel block_1/dense/bias block_2/dense/kernel "
                        "block_2/dense/bias dense/kernel dense/bias logits/kernel logits/bias");
    assert_string_equal(name_of(y), "dense");
}

static void an_empty_scope_takes_no_number(void **state)
{
    (void)state;
    assert_ok(mgb_graph_begin_scope(graph, "dense"));
    mgb_graph_end_scope(graph);
    finish(model_dense(graph, "dense", x, 4, MGB_RELU));
    assert_string_equal(mgb_graph_variable_at(graph, 0).name, "dense/kernel");
}

static void inputs_keep_their_names(void **state)
{
    (void)state;
    int y;
    assert_ok(mgb_op_activation(graph, &y, "x", x, MGB_RELU));
    finish(y);
    assert_string_equal(name_of(x), "x");
    assert_string_equal(name_of(y), "x_1");
}

static void a_shared_layer_has_its_variables_once(void **state)
{
    (void)state;
    struct model_layer layer = model_dense_layer(graph, "twice", 4, 4);
    int a = model_dense_use(graph, "twice", x, layer, MGB_RELU);
    int b = model_dense_use(graph, "twice", a, layer, MGB_RELU);
    finish(b);
    assert_string_equal(variable_names(), "twice/kernel twice/bias logits/kernel logits/bias");
    assert_string_equal(name_of(a), "twice_1");
    assert_string_equal(name_of(b), "twice_2");
    assert_int_equal(mgb_graph_parameters(graph), 4 * 4 + 4 + 4 * 3 + 3);
}

/* A sub-model of two layers, one of them inside a scope, with another shared sub-model inside. */
static int nested(int in, int *share, int *inner)
{
    assert_ok(mgb_graph_begin_scope(graph, "nested"));
    assert_ok(mgb_graph_begin_shared(graph, share));
    int y = model_dense(graph, "dense", in, 4, MGB_RELU);
    y = model_dense(graph, "dense", y, 4, MGB_RELU);
    assert_ok(mgb_graph_begin_shared(graph, inner));
    y = model_dense(graph, "inner", y, 4, MGB_RELU);
    assert_ok(mgb_graph_end_shared(graph));
    assert_ok(mgb_graph_end_shared(graph));
    mgb_graph_end_scope(graph);
    return y;
}

static void a_shared_sub_model_makes_its_variables_once(void **state)
{
    (void)state;
    int share = 0, inner = 0, again = 0;
    int y = nested(x, &share, &inner);
    assert_true(share > 0);
    y = nested(y, &share,
               &again); /* its builder runs again and makes the inner model's value anew */
    assert_int_equal(inner, again);
    y = nested(y, &share, &inner);
    finish(y);
    assert_int_equal(mgb_graph_variable_count(graph), 6 + 2);
    assert_int_equal(mgb_graph_parameters(graph), 3 * 20 + 15);
    assert_non_null(strstr(variable_names(), "nested_1/dense_1/kernel"));
    assert_non_null(strstr(variable_names(), "nested_1/inner/bias"));
}

static void two_sub_models_share_nothing(void **state)
{
    (void)state;
    int one = 0, two = 0, a = 0, b = 0;
    int y = nested(nested(x, &one, &a), &two, &b);
    finish(y);
    assert_int_not_equal(one, two);
    assert_int_equal(mgb_graph_variable_count(graph), 12 + 2);
}

static void a_sub_model_must_make_the_same_each_time(void **state)
{
    (void)state;
    int share = 0, variable;
    struct mgb_init init = {.kind = MGB_ZEROS};
    assert_ok(mgb_graph_begin_shared(graph, &share));
    assert_ok(mgb_graph_variable(graph, &variable, "v", SHAPE(1, 3), &init));
    assert_ok(mgb_graph_end_shared(graph));
    assert_ok(mgb_graph_begin_shared(graph, &share));
    assert_status(mgb_graph_variable(graph, &variable, "v", SHAPE(1, 4), &init), MGB_INVALID);
    assert_message("variable 'v': shared, made as 3 and now wanted as 4");
    assert_status(mgb_graph_variable(graph, &variable, "w", SHAPE(1, 3), &init), MGB_INVALID);
    assert_message(
        "variable 'w': a shared sub-model asks for it now but its first use did not make it");
    assert_ok(mgb_graph_end_shared(graph));
    assert_status(mgb_graph_end_shared(graph), MGB_STATE);
    share = 99;
    assert_status(mgb_graph_begin_shared(graph, &share), MGB_INVALID);
}

/* A layer object made outside the sub-model asks for its variables the first time only. */
static void a_layer_from_outside_may_be_used_inside(void **state)
{
    (void)state;
    int share = 0, y = x;
    struct model_layer outer = {0};
    for (int use = 0; use < 2; use++) {
        assert_ok(mgb_graph_begin_shared(graph, &share));
        if (use == 0)
            outer = model_dense_layer(graph, "outer", 4, 4);
        y = model_dense_use(graph, "outer", y, outer, MGB_RELU);
        y = model_dense(graph, "own", y, 4, MGB_RELU);
        assert_ok(mgb_graph_end_shared(graph));
    }
    finish(y);
    assert_string_equal(variable_names(),
                        "outer/kernel outer/bias own/kernel own/bias logits/kernel logits/bias");
}

static void device_scopes_nest(void **state)
{
    (void)state;
    struct mgb_device_name cpu = {MGB_DEVICE_CPU, 0, 0}, gpu = {MGB_DEVICE_GPU, 1, 0};
    assert_ok(mgb_graph_begin_device(graph, cpu));
    int y = model_dense(graph, "a", x, 4, MGB_RELU);
    assert_ok(mgb_graph_begin_device(graph, gpu));
    y = model_dense(graph, "b", y, 4, MGB_RELU);
    mgb_graph_end_device(graph);
    y = model_dense(graph, "c", y, 4, MGB_RELU);
    mgb_graph_end_device(graph);
    finish(y);
    assert_true(mgb_device_equal(mgb_graph_variable_at(graph, 0).device, cpu));
    assert_true(mgb_device_equal(mgb_graph_variable_at(graph, 2).device, gpu));
    assert_true(mgb_device_equal(mgb_graph_variable_at(graph, 4).device, cpu));
    assert_int_equal(mgb_graph_variable_at(graph, 6).device.kind, MGB_DEVICE_UNSET);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(layers_of_one_name_are_numbered_and_others_are_not),
        TEST(outputs_add_nested_nested),
        TEST(a_suffix_avoids_names_that_are_taken),
        TEST(scopes_nest_and_clash_within_their_parent_only),
        TEST(an_empty_scope_takes_no_number),
        TEST(inputs_keep_their_names),
        TEST(a_shared_layer_has_its_variables_once),
        TEST(a_shared_sub_model_makes_its_variables_once),
        TEST(two_sub_models_share_nothing),
        TEST(a_sub_model_must_make_the_same_each_time),
        TEST(a_layer_from_outside_may_be_used_inside),
        TEST(device_scopes_nest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
