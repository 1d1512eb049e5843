/* build = "tower": what is shared between towers, what is not, and towers that differ. */
#include "tests/support/check.h"
#include "tests/support/model.h"

#include "engine/graph/graph.h"
#include <mgb/op.h>
#include <stdio.h>
#include <string.h>

/* deep_qa's shape: an encoder made outside the builder (shared), a dense layer made inside (not
 * shared). */
struct towers {
    struct mgb_graph *graph;
    struct model_layer encoder;
    bool encoder_made;
};

static int tower_body(struct towers *t, int *label)
{
    int x = model_input(t->graph, "x", SHAPE(1, 4));
    *label = model_label(t->graph, "label");
    if (!t->encoder_made)
        t->encoder = model_dense_layer(t->graph, "encoder", 4, 6);
    t->encoder_made = true;
    x = model_dense_use(t->graph, "encoder", x, t->encoder, MGB_RELU);
    return model_dropout(t->graph, x, 0.5f);
}

static void tower_end(struct towers *t, int x, int label)
{
    int loss, logits = model_dense(t->graph, "dense", x, 3, MGB_LINEAR);
    assert_ok(mgb_graph_output(t->graph, "logits", logits));
    assert_ok(mgb_op_softmax_cross_entropy(t->graph, &loss, "loss", logits, label));
    assert_ok(mgb_graph_loss(t->graph, loss, 1));
}

static struct mgb_graph *build(int towers)
{
    struct towers t = {.graph = model_make("siamese")};
    for (int i = 0; i < towers; i++) {
        int label;
        assert_ok(mgb_graph_begin_tower(t.graph, i));
        int x = tower_body(&t, &label);
        tower_end(&t, x, label);
        assert_ok(mgb_graph_end_tower(t.graph));
    }
    assert_ok(mgb_graph_finish(t.graph));
    return t.graph;
}

static void a_layer_made_inside_is_each_towers_own(void **state)
{
    (void)state;
    struct mgb_graph *graph = build(3);
    assert_int_equal(graph->towers_built, 3);
    assert_int_equal(mgb_graph_variable_count(graph), 4 + 2 * 2);
    struct mgb_variable_info encoder = mgb_graph_variable_at(graph, 0),
                             dense = mgb_graph_variable_at(graph, 2);
    assert_int_equal(encoder.tower, -1);
    assert_int_equal(encoder.twin, -1);
    assert_int_equal(dense.tower, 0);
    assert_int_equal(dense.twin, -1);
    for (int tower = 1; tower < 3; tower++) {
        int twin = mgb_graph_variable_of(graph, 2, tower);
        struct mgb_variable_info info = mgb_graph_variable_at(graph, twin);
        assert_int_equal(twin, 4 + 2 * (tower - 1));
        assert_int_equal(info.twin, 2);
        assert_int_equal(info.tower, tower);
        assert_int_equal(mgb_graph_variable_of(graph, 0, tower), 0);
        assert_int_equal(graph->variables[twin].gradient, graph->variables[2].gradient);
    }
    assert_int_equal(mgb_graph_variable_of(graph, 2, 0), 2);
    assert_string_equal(mgb_graph_variable_at(graph, 4).name, "tower_1/dense/kernel");
    assert_string_equal(mgb_graph_variable_at(graph, 4).scope, "tower_1/dense");
    assert_int_equal(mgb_graph_parameters(graph), 4 * 6 + 6 + 6 * 3 + 3);
    mgb_graph_free(graph);
}

/* ancestors 27: tower_1 must not match tower_10. */
static void twelve_towers_keep_their_twins_apart(void **state)
{
    (void)state;
    struct mgb_graph *graph = build(12), *one = build(1);
    assert_int_equal(mgb_graph_variable_count(graph), 4 + 11 * 2);
    for (int tower = 1; tower < 12; tower++) {
        char name[64];
        snprintf(name, sizeof name, "tower_%d/dense/bias", tower);
        int twin = mgb_graph_variable_of(graph, 3, tower);
        assert_string_equal(mgb_graph_variable_at(graph, twin).name, name);
    }
    assert_int_equal(mgb_graph_parameters(graph), mgb_graph_parameters(one));
    assert_int_equal(graph->node_count, one->node_count);
    assert_string_equal(mgb_graph_variable_at(graph, 2).name, mgb_graph_variable_at(one, 2).name);
    assert_int_equal(mgb_graph_variable_at(one, 2).tower, -1);
    mgb_graph_free(graph);
    mgb_graph_free(one);
}

static void twins_start_with_values_of_their_own(void **state)
{
    (void)state;
    struct mgb_graph *graph = build(2);
    float original[18], twin[18];
    mgb_variable_initial(original, graph, 2, 1);
    mgb_variable_initial(twin, graph, 4, 1);
    assert_memory_not_equal(original, twin, sizeof twin);
    mgb_graph_free(graph);
}

/* Builds tower 0, then begins tower 1 up to the dropout. */
static struct towers half_built(int *x, int *label)
{
    struct towers t = {.graph = model_make("m")};
    assert_ok(mgb_graph_begin_tower(t.graph, 0));
    *x = tower_body(&t, label);
    tower_end(&t, *x, *label);
    assert_ok(mgb_graph_end_tower(t.graph));
    assert_ok(mgb_graph_begin_tower(t.graph, 1));
    *x = tower_body(&t, label);
    return t;
}

static void a_tower_that_differs_is_named_with_its_operator(void **state)
{
    (void)state;
    int x, label, out, w;
    struct towers t = half_built(&x, &label);
    assert_status(mgb_op_activation(t.graph, &out, "relu", x, MGB_RELU), MGB_INVALID);
    assert_message("tower 1: activation 'relu' stands where tower 0 made dense 'dense'");
    w = model_weight(t.graph, "w", SHAPE(2, 6, 3));
    int b = model_weight(t.graph, "b", SHAPE(1, 3));
    assert_status(mgb_op_dense(t.graph, &out, "dense", x, w, b, MGB_TANH), MGB_INVALID);
    assert_message("tower 1: dense 'dense' differs in its options from dense 'dense' of tower 0");
    assert_status(mgb_op_dense(t.graph, &out, "dense", x, w, -1, MGB_LINEAR), MGB_INVALID);
    assert_message("stands where tower 0 made");
    int wide = model_weight(t.graph, "wide", SHAPE(2, 6, 4)),
        four = model_weight(t.graph, "four", SHAPE(1, 4));
    assert_status(mgb_op_dense(t.graph, &out, "dense", x, wide, four, MGB_LINEAR), MGB_INVALID);
    assert_message("differs in its options");
    mgb_graph_free(t.graph);
}

static void a_tower_that_works_on_something_else_is_refused(void **state)
{
    (void)state;
    int x, label, out, encoded;
    struct towers t = half_built(&x, &label);
    assert_ok(mgb_graph_read(t.graph, &encoded, t.encoder.bias));
    int w = model_weight(t.graph, "w", SHAPE(2, 6, 3)), b = model_weight(t.graph, "b", SHAPE(1, 3));
    int relu = t.graph->nodes[t.graph->tensors[x].node].inputs[0];
    assert_status(mgb_op_dense(t.graph, &out, "dense", relu, w, b, MGB_LINEAR), MGB_INVALID);
    assert_message("tower 1: dense 'dense' works on 'encoder', in tower 0 on 'dropout'");
    mgb_graph_free(t.graph);
}

static void a_tower_that_stops_early_is_refused(void **state)
{
    (void)state;
    int x, label;
    struct towers t = half_built(&x, &label);
    assert_status(mgb_graph_end_tower(t.graph), MGB_INVALID);
    assert_message("tower 1 of model 'm' lacks dense 'dense', which tower 0 made");
    tower_end(&t, x, label);
    int more;
    assert_status(mgb_op_activation(t.graph, &more, "relu", x, MGB_RELU), MGB_INVALID);
    assert_message("tower 1: activation 'relu' is made, but tower 0 made nothing more");
    assert_status(mgb_graph_output(t.graph, "again", x), MGB_INVALID);
    assert_message("tower 1 of model 'm': output 'again' differs from tower 0");
    mgb_graph_free(t.graph);
}

static void towers_come_in_order(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_make("m");
    assert_status(mgb_graph_begin_tower(graph, 1), MGB_STATE);
    assert_message("tower 0 of model 'm' comes next, not 1");
    assert_status(mgb_graph_end_tower(graph), MGB_STATE);
    assert_ok(mgb_graph_begin_tower(graph, 0));
    assert_status(mgb_graph_begin_tower(graph, 1), MGB_STATE);
    assert_message("tower 0 of model 'm' is not ended");
    assert_status(mgb_graph_finish(graph), MGB_STATE);
    mgb_graph_free(graph);
    graph = model_make("m");
    model_input(graph, "x", SHAPE(1, 4));
    assert_status(mgb_graph_begin_tower(graph, 0), MGB_STATE);
    assert_message("has operators outside of its towers");
    mgb_graph_free(graph);
}

static void a_variable_no_operator_of_a_later_tower_reads_is_refused(void **state)
{
    (void)state;
    int x, label;
    struct towers t = half_built(&x, &label);
    model_weight(t.graph, "idle", SHAPE(1, 3));
    tower_end(&t, x, label);
    assert_ok(mgb_graph_end_tower(t.graph));
    assert_status(mgb_graph_finish(t.graph), MGB_INVALID);
    assert_message("variable 'idle' of tower 1 is read by no operator");
    mgb_graph_free(t.graph);
}

/* A tower's own variables as operands of arithmetic, joined to what is computed, and under a penalty. */
static struct mgb_graph *bare_build(int towers)
{
    struct mgb_graph *graph = model_make("bare");
    for (int i = 0; i < towers; i++) {
        int weights[20], x, label, loss;
        assert_ok(mgb_graph_begin_tower(graph, i));
        x = model_input(graph, "x", SHAPE(2, 2, 4));
        label = model_label(graph, "label");
        for (int k = 0; k < 20; k++)
            weights[k] = model_weight(graph, "weight", SHAPE(1, 4));
        assert_ok(mgb_op_add(graph, &x, "add", weights[0], x));
        assert_ok(mgb_op_mul(graph, &x, "mul", x, weights[1]));
        assert_ok(mgb_op_concat(graph, &x, "concat",
                                (int[]){x, model_weight(graph, "token", SHAPE(2, 1, 4))}, 2, 1));
        assert_ok(mgb_op_l2(graph, &loss, "l2", weights, 20, 0.1f));
        assert_ok(mgb_graph_loss(graph, loss, 0.5f));
        x = model_dense(graph, "dense", model_flatten(graph, x), 3, MGB_LINEAR);
        assert_ok(mgb_op_softmax_cross_entropy(graph, &loss, "loss", x, label));
        assert_ok(mgb_graph_loss(graph, loss, 1));
        assert_ok(mgb_graph_end_tower(graph));
    }
    assert_ok(mgb_graph_finish(graph));
    return graph;
}

static void bare_variables_may_be_each_towers_own(void **state)
{
    (void)state;
    struct mgb_graph *graph = bare_build(3);
    assert_int_equal(mgb_graph_variable_count(graph), 3 * (20 + 1 + 2));
    for (int v = 0; v < mgb_graph_variable_count(graph); v++)
        assert_true(graph->variables[v].gradient >= 0);
    assert_int_equal(graph->loss_count, 2);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_layer_made_inside_is_each_towers_own),
        cmocka_unit_test(twelve_towers_keep_their_twins_apart),
        cmocka_unit_test(twins_start_with_values_of_their_own),
        cmocka_unit_test(a_tower_that_differs_is_named_with_its_operator),
        cmocka_unit_test(a_tower_that_works_on_something_else_is_refused),
        cmocka_unit_test(a_tower_that_stops_early_is_refused),
        cmocka_unit_test(towers_come_in_order),
        cmocka_unit_test(bare_variables_may_be_each_towers_own),
        cmocka_unit_test(a_variable_no_operator_of_a_later_tower_reads_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
