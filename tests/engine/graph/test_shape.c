/* Shapes that operators give, windows and padding included. */
#include "tests/support/check.h"
#include "tests/support/model.h"

#include "engine/graph/graph.h"
#include <mgb/op.h>
#include <stdio.h>

static struct mgb_graph *graph;

static int setup(void **state)
{
    (void)state;
    graph = model_make("shapes");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mgb_graph_free(graph);
    return 0;
}

#define assert_shape(tensor, wanted)                                                               \
    do {                                                                                           \
        char shape_text_[96];                                                                      \
        assert_string_equal(                                                                       \
            mgb_shape_format(shape_text_, sizeof shape_text_, mgb_tensor_shape(graph, (tensor))),  \
            (wanted));                                                                             \
    } while (0)

static void dense_works_on_the_last_axis(void **state)
{
    (void)state;
    int vector = model_input(graph, "vector", SHAPE(1, 5));
    int sequence = model_input(graph, "sequence", SHAPE(2, 7, 5));
    assert_shape(model_dense(graph, "a", vector, 3, MGB_RELU), "3");
    assert_shape(model_dense(graph, "b", sequence, 3, MGB_LINEAR), "7x3");
}

/* out and padding as TensorFlow's SAME and VALID give them. */
static void windows_fit_as_in_tensorflow(void **state)
{
    (void)state;
    static const struct {
        int in, size, stride, dilation;
        enum mgb_padding padding;
        int pad, out, before, after;
    } cases[] = {
        {28, 3, 1, 1, MGB_VALID, 0, 26, 0, 0},      {28, 3, 2, 1, MGB_VALID, 0, 13, 0, 0},
        {28, 3, 1, 1, MGB_SAME, 0, 28, 1, 1},       {28, 3, 2, 1, MGB_SAME, 0, 14, 0, 1},
        {5, 2, 1, 1, MGB_SAME, 0, 5, 0, 1},         {5, 4, 3, 1, MGB_SAME, 0, 2, 1, 1},
        {4, 1, 3, 1, MGB_SAME, 0, 2, 0, 0},         {224, 7, 2, 1, MGB_SAME, 0, 112, 2, 3},
        {224, 7, 2, 1, MGB_EXPLICIT, 3, 112, 3, 3}, {9, 3, 1, 2, MGB_VALID, 0, 5, 0, 0},
        {9, 3, 1, 2, MGB_SAME, 0, 9, 2, 2},         {3, 3, 1, 1, MGB_VALID, 0, 1, 0, 0},
        {2, 5, 1, 1, MGB_SAME, 0, 2, 2, 2},         {5, 7, 1, 1, MGB_EXPLICIT, 1, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[16];
        snprintf(name, sizeof name, "x%zu", i);
        int x = model_input(graph, name, SHAPE(3, cases[i].in, cases[i].in, 2));
        struct mgb_window window = model_window(cases[i].size, cases[i].stride, cases[i].padding);
        window.dilation[0] = window.dilation[1] = cases[i].dilation;
        window.pad[0] = window.pad[1] = cases[i].pad;
        int y = model_conv2d(graph, "conv2d", x, 4, &window, MGB_LINEAR);
        const struct mgb_conv2d_attributes *a = &graph->nodes[graph->tensors[y].node].a.conv2d;
        assert_int_equal(mgb_tensor_shape(graph, y)->dim[0], cases[i].out);
        assert_int_equal(mgb_tensor_shape(graph, y)->dim[1], cases[i].out);
        assert_int_equal(mgb_tensor_shape(graph, y)->dim[2], 4);
        assert_int_equal(a->pad_before[0], cases[i].before);
        assert_int_equal(a->pad_after[1], cases[i].after);
    }
}

static void height_and_width_are_apart(void **state)
{
    (void)state;
    int x = model_input(graph, "x", SHAPE(3, 10, 20, 3)), y;
    struct mgb_window window = {.size = {3, 5}, .stride = {1, 2}, .padding = MGB_VALID};
    int w = model_weight(graph, "w", SHAPE(4, 3, 5, 3, 8));
    assert_ok(mgb_op_conv2d(graph, &y, "conv2d", x, w, -1, &window, MGB_RELU));
    assert_shape(y, "8x8x8");
}

static void groups_divide_channels(void **state)
{
    (void)state;
    int x = model_input(graph, "x", SHAPE(3, 8, 8, 6));
    struct mgb_window window = model_window(3, 1, MGB_SAME);
    window.groups = 3;
    int y = model_conv2d(graph, "conv2d", x, 9, &window, MGB_LINEAR);
    assert_shape(y, "8x8x9");
    assert_true(mgb_node_flops(graph, &graph->nodes[graph->tensors[y].node], 10) ==
                10 * 2.0 * 8 * 8 * 9 * 3 * 3 * 2);
}

static void pooling_steps_by_its_size(void **state)
{
    (void)state;
    int x = model_input(graph, "x", SHAPE(3, 9, 9, 6)), y;
    struct mgb_window window = {.size = {2, 2}, .padding = MGB_VALID};
    assert_ok(mgb_op_max_pool2d(graph, &y, "max", x, &window));
    assert_shape(y, "4x4x6");
    window.padding = MGB_SAME;
    assert_ok(mgb_op_avg_pool2d(graph, &y, "avg", x, &window));
    assert_shape(y, "5x5x6");
    window = (struct mgb_window){
        .size = {3, 3}, .stride = {1, 1}, .padding = MGB_EXPLICIT, .pad = {1, 1}};
    assert_ok(mgb_op_max_pool2d(graph, &y, "max2", x, &window));
    assert_shape(y, "9x9x6");
}

static void reshape_keeps_the_elements(void **state)
{
    (void)state;
    int x = model_input(graph, "x", SHAPE(3, 4, 6, 2)), y;
    assert_shape(model_flatten(graph, x), "48");
    assert_ok(mgb_op_reshape(graph, &y, "reshape", x, SHAPE(2, -1, 8)));
    assert_shape(y, "6x8");
    assert_ok(mgb_op_reshape(graph, &y, "reshape", x, SHAPE(4, 2, 2, 2, 6)));
    assert_shape(y, "2x2x2x6");
    int one = model_input(graph, "one", SHAPE(1, 1));
    assert_ok(mgb_op_reshape(graph, &y, "reshape", one, SCALAR));
    assert_shape(y, "scalar");
    int label = model_label(graph, "label");
    assert_ok(mgb_op_reshape(graph, &y, "reshape", label, SHAPE(1, -1)));
    assert_int_equal(mgb_tensor_type(graph, y), MGB_I32);
}

static void concat_joins_along_an_axis(void **state)
{
    (void)state;
    int a = model_input(graph, "a", SHAPE(2, 3, 4)), b = model_input(graph, "b", SHAPE(2, 3, 5)), y;
    int c = model_input(graph, "c", SHAPE(2, 1, 4));
    assert_ok(mgb_op_concat(graph, &y, "concat", (int[]){a, b}, 2, -1));
    assert_shape(y, "3x9");
    assert_ok(mgb_op_concat(graph, &y, "concat", (int[]){a, c, a}, 3, 1));
    assert_shape(y, "7x4");
    assert_ok(mgb_op_concat(graph, &y, "concat", (int[]){a}, 1, 2));
    assert_shape(y, "3x4");
}

static void losses_and_metrics_are_scalars(void **state)
{
    (void)state;
    int logits = model_input(graph, "logits", SHAPE(2, 7, 5)), label, y;
    assert_ok(mgb_graph_input(graph, &label, "label", SHAPE(1, 7), MGB_I32));
    assert_ok(mgb_op_softmax_cross_entropy(graph, &y, "loss", logits, label));
    assert_shape(y, "scalar");
    assert_false(mgb_tensor_batched(graph, y));
    assert_ok(mgb_op_accuracy(graph, &y, "accuracy", logits, label));
    assert_shape(y, "scalar");
    assert_ok(mgb_op_mean_squared_error(graph, &y, "mse", logits, logits));
    assert_shape(y, "scalar");
}

static void bytes_follow_the_rows(void **state)
{
    (void)state;
    int x = model_input(graph, "x", SHAPE(2, 3, 4)), w = model_weight(graph, "w", SHAPE(2, 4, 5));
    assert_int_equal(mgb_tensor_bytes(graph, x, 10), 480);
    assert_int_equal(mgb_tensor_bytes(graph, w, 10), 80);
    assert_int_equal(mgb_type_size(MGB_U8), 1);
    assert_string_equal(mgb_type_name(MGB_I32), "i32");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(dense_works_on_the_last_axis), TEST(windows_fit_as_in_tensorflow),
        TEST(height_and_width_are_apart),   TEST(groups_divide_channels),
        TEST(pooling_steps_by_its_size),    TEST(reshape_keeps_the_elements),
        TEST(concat_joins_along_an_axis),   TEST(losses_and_metrics_are_scalars),
        TEST(bytes_follow_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
