/* The structure of gradients: fan-outs, sharing, freezing, losses. Their values are checked against
 * differences where there are kernels. */
#include "tests/support/check.h"
#include "tests/support/model.h"

#include "engine/graph/facts.h"
#include <mgb/op.h>
#include <string.h>

static struct mgb_graph *graph;
static int x, label;
static char *text;

static int setup(void **state)
{
    (void)state;
    graph = model_make("m");
    x = model_input(graph, "x", SHAPE(1, 4));
    label = model_label(graph, "label");
    text = NULL;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mgb_text_free(text);
    mgb_graph_free(graph);
    return 0;
}

static void finish(int y)
{
    model_classify(graph, model_dense(graph, "logits", y, 3, MGB_LINEAR), label);
    assert_ok(mgb_graph_text(&text, graph));
}

static bool has(const char *line)
{
    return strstr(text, line) != NULL;
}

static void a_fan_out_is_summed(void **state)
{
    (void)state;
    int a = model_dense(graph, "a", x, 4, MGB_LINEAR),
        b = model_dense(graph, "b", a, 4, MGB_LINEAR);
    int c = model_dense(graph, "c", a, 4, MGB_LINEAR), y;
    assert_ok(mgb_op_concat(graph, &y, "cat", (int[]){a, b, c}, 3, -1));
    finish(y);
    assert_true(has("cat.grad_0 = slice(logits.grad_x) axis=1 begin=0 count=4 -> Nx4 f32\n"));
    assert_true(has("cat.grad_2 = slice(logits.grad_x) axis=1 begin=8 count=4 -> Nx4 f32\n"));
    assert_true(has("a.grad_sum = add(cat.grad_0, c.grad_x) -> Nx4 f32\n"));
    assert_true(has("a.grad_sum_2 = add(a.grad_sum, b.grad_x) -> Nx4 f32\n"));
    assert_true(has("a.grad_w = dense_grad_w(x, a.grad_sum_2)"));
}

static void a_tensor_added_to_itself_counts_twice(void **state)
{
    (void)state;
    int a = model_dense(graph, "a", x, 4, MGB_LINEAR), y;
    assert_ok(mgb_op_add(graph, &y, "twice", a, a));
    finish(y);
    assert_true(has("a.grad_sum = add(logits.grad_x, logits.grad_x)"));
}

static void a_shared_weight_sums_its_gradients(void **state)
{
    (void)state;
    struct model_layer layer = model_dense_layer(graph, "s", 4, 4);
    int y = model_dense_use(graph, "s", x, layer, MGB_LINEAR);
    finish(model_dense_use(graph, "s", y, layer, MGB_LINEAR));
    assert_true(has("s/kernel.grad_sum = add(s_2.grad_w, s_1.grad_w) -> 4x4 f32\n"));
    assert_true(has("gradient s/kernel = s/kernel.grad_sum\n"));
    assert_true(has("gradient s/bias = s/bias.grad_sum\n"));
}

static void what_leads_to_nothing_trainable_has_no_gradient(void **state)
{
    (void)state;
    struct model_layer frozen = model_dense_layer(graph, "frozen", 4, 4);
    assert_ok(mgb_graph_freeze(graph, frozen.kernel, true));
    assert_ok(mgb_graph_freeze(graph, frozen.bias, true));
    int y = model_dense_use(graph, "frozen", x, frozen, MGB_RELU);
    finish(y);
    assert_false(has("frozen.grad"));
    assert_false(has("logits.grad_x"));
    assert_true(has("variable frozen/kernel 4x4 glorot_uniform(4,4) frozen\n"));
    assert_int_equal(graph->variables[frozen.kernel].gradient, -1);
    assert_false(mgb_graph_variable_at(graph, frozen.kernel).trainable);
}

static void a_gradient_passes_through_a_frozen_layer(void **state)
{
    (void)state;
    int y = model_dense(graph, "first", x, 4, MGB_RELU);
    struct model_layer frozen = model_dense_layer(graph, "frozen", 4, 4);
    assert_ok(mgb_graph_freeze(graph, frozen.kernel, true));
    assert_ok(mgb_graph_freeze(graph, frozen.bias, true));
    finish(model_dense_use(graph, "frozen", y, frozen, MGB_LINEAR));
    assert_true(has("frozen.grad_x"));
    assert_false(has("frozen.grad_w"));
    assert_true(has("first.grad_w"));
}

static void a_model_without_trainable_variables_has_no_backward_part(void **state)
{
    (void)state;
    int y = model_dense(graph, "a", x, 4, MGB_RELU),
        logits = model_dense(graph, "logits", y, 3, MGB_LINEAR);
    for (int i = 0; i < mgb_graph_variable_count(graph); i++)
        assert_ok(mgb_graph_freeze(graph, i, true));
    model_classify(graph, logits, label);
    for (int i = 0; i < graph->node_count; i++)
        assert_int_not_equal(graph->nodes[i].section, MGB_SECTION_BACKWARD);
}

/* ancestors 29: freezing while training leaves the gradient and the digest alone. */
static void freezing_a_finished_model_only_stops_the_update(void **state)
{
    (void)state;
    finish(model_dense(graph, "a", x, 4, MGB_RELU));
    uint64_t digest = mgb_graph_digest(graph);
    int gradient = graph->variables[0].gradient;
    assert_true(gradient >= 0);
    assert_ok(mgb_graph_freeze(graph, 0, true));
    assert_false(mgb_graph_variable_at(graph, 0).trainable);
    assert_int_equal(graph->variables[0].gradient, gradient);
    assert_true(mgb_graph_digest(graph) == digest);
    assert_ok(mgb_graph_freeze(graph, 0, false));
    assert_true(mgb_graph_variable_at(graph, 0).trainable);
}

static void what_never_had_a_gradient_cannot_be_thawed(void **state)
{
    (void)state;
    int y = model_dense(graph, "a", x, 4, MGB_RELU);
    assert_ok(mgb_graph_freeze(graph, 0, true));
    finish(y);
    assert_status(mgb_graph_freeze(graph, 0, false), MGB_STATE);
    assert_message("variable 'a/kernel' has no gradient");
    assert_false(mgb_graph_variable_at(graph, 0).trainable);
}

static void losses_are_weighted_and_summed(void **state)
{
    (void)state;
    int y = model_dense(graph, "a", x, 4, MGB_LINEAR),
        target = model_input(graph, "t", SHAPE(1, 4)), mse, other;
    assert_ok(mgb_op_mean_squared_error(graph, &mse, "mse", y, target));
    assert_ok(mgb_graph_loss(graph, mse, 0.25f));
    assert_ok(mgb_op_mean_squared_error(graph, &other, "other", y, target));
    assert_ok(mgb_graph_loss(graph, other, 2));
    finish(y);
    assert_true(has("mse.grad = mean_squared_error_grad(a, t) weight=0.25 -> Nx4 f32\n"));
    assert_true(has("other.grad = mean_squared_error_grad(a, t) weight=2 -> Nx4 f32\n"));
    assert_true(has("a.grad_sum = add(mse.grad, other.grad)"));
    assert_true(has("a.grad_sum_2 = add(a.grad_sum, logits.grad_x)"));
    assert_true(has("loss mse weight=0.25\nloss other weight=2\nloss loss weight=1\n"));
}

static void a_metric_has_no_gradient(void **state)
{
    (void)state;
    finish(model_dense(graph, "a", x, 4, MGB_LINEAR));
    assert_false(has("accuracy.grad"));
    assert_true(has("loss.grad"));
}

static void dropout_is_undone_with_its_own_key(void **state)
{
    (void)state;
    int y = model_dropout(graph, model_dense(graph, "a", x, 4, MGB_RELU), 0.25f);
    finish(model_dropout(graph, model_dense(graph, "b", y, 4, MGB_RELU), 0.5f));
    assert_true(has("dropout_1 = dropout(a) rate=0.25 key=0"));
    assert_true(has("dropout_2 = dropout(b) rate=0.5 key=1"));
    assert_true(has("dropout_1.grad = dropout(b.grad_x) rate=0.25 key=0"));
    assert_true(has("dropout_2.grad = dropout(logits.grad_x) rate=0.5 key=1"));
}

static void the_place_of_a_maximum_is_kept_only_for_a_gradient(void **state)
{
    (void)state;
    int image = model_input(graph, "image", SHAPE(3, 4, 4, 1)),
        one = model_max_pool2d(graph, image, 2);
    struct mgb_window window = model_window(1, 1, MGB_VALID);
    int two = model_max_pool2d(graph, model_conv2d(graph, "c", one, 2, &window, MGB_RELU), 2);
    finish(model_flatten(graph, two));
    assert_true(
        has("max_pool2d_1 = max_pool2d(image) 2x2 stride=2x2 padding=\"valid\" -> Nx2x2x1 f32\n"));
    assert_true(has("max_pool2d_2 = max_pool2d(c) 2x2 stride=2x2 padding=\"valid\" -> Nx1x1x2 f32, "
                    "Nx1x1x2 u8\n"));
    assert_true(has("max_pool2d_2.grad = max_pool2d_grad(flatten.grad, max_pool2d_2:1)"));
    const struct mgb_node *pool = &graph->nodes[graph->tensors[two].node];
    assert_int_equal(mgb_tensor_bytes(graph, pool->outputs[1], 5), 5 * 2);
}

static void plain_facts_say_what_may_share_memory(void **state)
{
    (void)state;
    int a = model_dense(graph, "a", x, 4, MGB_LINEAR), relu, flat = model_dropout(graph, a, 0.5f);
    assert_ok(mgb_op_activation(graph, &relu, "relu", flat, MGB_RELU));
    finish(model_flatten(graph, relu));
    struct mgb_fact_source facts = mgb_plain_facts();
    struct mgb_operator_facts got;
    for (int i = 0; i < graph->node_count; i++) {
        struct mgb_node_use use = {
            .graph = graph, .node = i, .rows = 2, .threads = 1, .training = true};
        enum mgb_op_kind kind = graph->nodes[i].kind;
        assert_ok(facts.describe(facts.context, 0, &use, &got));
        assert_int_equal(got.alias, kind == MGB_OP_RESHAPE ? 0 : -1);
        assert_int_equal(got.in_place,
                         kind == MGB_OP_ACTIVATION_GRAD ? 1
                         : kind == MGB_OP_ACTIVATION || kind == MGB_OP_ADD || kind == MGB_OP_DROPOUT
                             ? 0
                             : -1);
        use.training = false;
        assert_ok(facts.describe(facts.context, 0, &use, &got));
        assert_int_equal(got.alias, kind == MGB_OP_RESHAPE || kind == MGB_OP_DROPOUT ? 0 : -1);
    }
}

/* For who would rather move few rows than a table; the sum of two gradients has no such form. */
static void the_gradient_of_a_table_used_once_comes_as_rows_too(void **state)
{
    (void)state;
    int ids, once, twice, y;
    assert_ok(mgb_graph_input(graph, &ids, "ids", SHAPE(1, 3), MGB_I32));
    once = model_weight(graph, "once", SHAPE(2, 50, 4));
    twice = model_weight(graph, "twice", SHAPE(2, 50, 4));
    assert_ok(mgb_op_embedding(graph, &y, "a", ids, once));
    for (int i = 0; i < 2; i++) {
        int more;
        assert_ok(mgb_op_embedding(graph, &more, "b", ids, twice));
        assert_ok(mgb_op_add(graph, &y, "add", y, more));
    }
    finish(model_flatten(graph, y));
    assert_true(has("once.grad_rows = embedding_rows(ids, flatten.grad) -> Nx15 f32\n"));
    assert_true(has("once.grad_unpacked = embedding_unpack(once.grad_rows) -> 50x4 f32\n"));
    assert_true(has("gradient once = a.grad_w\n"));
    assert_false(has("twice.grad_rows"));
    assert_int_equal(graph->variables[1].packed, -1);
    assert_int_equal(graph->variables[1].unpacked, -1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_fan_out_is_summed),
        TEST(a_tensor_added_to_itself_counts_twice),
        TEST(a_shared_weight_sums_its_gradients),
        TEST(what_leads_to_nothing_trainable_has_no_gradient),
        TEST(a_gradient_passes_through_a_frozen_layer),
        TEST(a_model_without_trainable_variables_has_no_backward_part),
        TEST(freezing_a_finished_model_only_stops_the_update),
        TEST(what_never_had_a_gradient_cannot_be_thawed),
        TEST(losses_are_weighted_and_summed),
        TEST(a_metric_has_no_gradient),
        TEST(dropout_is_undone_with_its_own_key),
        TEST(the_place_of_a_maximum_is_kept_only_for_a_gradient),
        TEST(the_gradient_of_a_table_used_once_comes_as_rows_too),
        TEST(plain_facts_say_what_may_share_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
