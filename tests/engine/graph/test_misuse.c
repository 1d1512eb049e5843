/* Every misuse of the builder and what is said about it. */
#include "tests/support/check.h"
#include "tests/support/model.h"
#include <mgb/op.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct mgb_graph *graph;
static int image, vector, label, out;

static int setup(void **state)
{
    (void)state;
    graph = model_make("m");
    image = model_input(graph, "image", SHAPE(3, 5, 5, 64));
    vector = model_input(graph, "vector", SHAPE(1, 10));
    label = model_label(graph, "label");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mgb_graph_free(graph);
    return 0;
}

#define refused(call, words)                                                                       \
    do {                                                                                           \
        assert_status(call, MGB_INVALID);                                                          \
        assert_message(words);                                                                     \
    } while (0)

static void conv2d_says_what_does_not_fit(void **state)
{
    (void)state;
    struct mgb_window seven = model_window(7, 1, MGB_VALID), three = model_window(3, 1, MGB_VALID);
    int w7 = model_weight(graph, "w7", SHAPE(4, 7, 7, 64, 8)),
        w3 = model_weight(graph, "w3", SHAPE(4, 3, 3, 64, 8));
    int w2 = model_weight(graph, "w2", SHAPE(2, 3, 3)),
        narrow = model_weight(graph, "n", SHAPE(4, 3, 3, 32, 8));
    int bias = model_weight(graph, "b", SHAPE(1, 7));
    refused(mgb_op_conv2d(graph, &out, "conv1", image, w7, -1, &seven, MGB_RELU),
            "conv2d 'conv1': kernel 7x7 does not fit input 5x5x64 with padding \"valid\"");
    seven.padding = MGB_EXPLICIT;
    refused(mgb_op_conv2d(graph, &out, "conv1", image, w7, -1, &seven, MGB_RELU),
            "kernel 7x7 does not fit input 5x5x64 with padding 0x0");
    three.dilation[0] = three.dilation[1] = 3;
    refused(mgb_op_conv2d(graph, &out, "conv1", image, w3, -1, &three, MGB_RELU),
            "kernel 3x3 with dilation 3x3 does not fit input 5x5x64");
    three = model_window(3, 1, MGB_VALID);
    refused(mgb_op_conv2d(graph, &out, "conv1", vector, w3, -1, &three, MGB_RELU),
            "conv2d 'conv1': its input is 10, it takes height x width x channels");
    refused(mgb_op_conv2d(graph, &out, "conv1", image, w2, -1, &three, MGB_RELU),
            "its weight is 3x3, it takes height x width x channels x filters");
    refused(mgb_op_conv2d(graph, &out, "conv1", image, w7, -1, &three, MGB_RELU),
            "its weight is 7x7x64x8 and its kernel 3x3");
    refused(mgb_op_conv2d(graph, &out, "conv1", image, narrow, -1, &three, MGB_RELU),
            "weight 3x3x32x8 in 1 group does not fit input of 64 channels");
    refused(mgb_op_conv2d(graph, &out, "conv1", image, w3, bias, &three, MGB_RELU),
            "bias 7 does not fit 8 filters");
    refused(mgb_op_conv2d(graph, &out, "conv1", image, vector, -1, &three, MGB_RELU),
            "its weight 'vector' is not a variable");
    refused(mgb_op_conv2d(graph, &out, "conv1", image, w3, -1, &three, (enum mgb_activation)9),
            "no activation has number 9");
    three.groups = 3;
    refused(mgb_op_conv2d(graph, &out, "conv1", image, w3, -1, &three, MGB_RELU),
            "3 groups do not divide 64 channels and 8 filters");
    three = model_window(3, -1, MGB_VALID);
    refused(mgb_op_conv2d(graph, &out, "conv1", image, w3, -1, &three, MGB_RELU),
            "a stride of -1x-1");
    three = model_window(3, 1, (enum mgb_padding)7);
    refused(mgb_op_conv2d(graph, &out, "conv1", image, w3, -1, &three, MGB_RELU),
            "no padding rule has number 7");
}

static void pooling_says_what_does_not_fit(void **state)
{
    (void)state;
    struct mgb_window window = model_window(6, 1, MGB_VALID);
    refused(mgb_op_max_pool2d(graph, &out, "pool", image, &window),
            "max_pool2d 'pool': window 6x6 does not fit input 5x5x64 with padding \"valid\"");
    refused(mgb_op_avg_pool2d(graph, &out, "pool", vector, &window),
            "avg_pool2d 'pool': its input is 10, it takes height x width x channels");
    window = model_window(17, 1, MGB_SAME);
    refused(mgb_op_max_pool2d(graph, &out, "pool", image, &window),
            "a window of 17x17 has more than 256 elements");
    window = model_window(2, 2, MGB_EXPLICIT);
    window.pad[0] = 2;
    refused(mgb_op_avg_pool2d(graph, &out, "pool", image, &window),
            "a padding of 2x0 with a window of 2x2");
    window = model_window(0, 1, MGB_VALID);
    refused(mgb_op_avg_pool2d(graph, &out, "pool", image, &window), "a window of 0x0");
}

static void dense_says_what_does_not_fit(void **state)
{
    (void)state;
    int w = model_weight(graph, "w", SHAPE(2, 12, 3)),
        right = model_weight(graph, "right", SHAPE(2, 10, 3));
    int bias = model_weight(graph, "b", SHAPE(1, 4)),
        flat = model_weight(graph, "flat", SHAPE(1, 10)), one;
    refused(mgb_op_dense(graph, &out, "logits", vector, w, -1, MGB_LINEAR),
            "dense 'logits': weight 12x3 does not fit input 10, whose last axis has 10 elements");
    refused(mgb_op_dense(graph, &out, "logits", image, w, -1, MGB_LINEAR),
            "does not fit input 5x5x64, whose last axis has 64 elements");
    refused(mgb_op_dense(graph, &out, "logits", vector, flat, -1, MGB_LINEAR),
            "its weight is 10, it takes inputs x units");
    refused(mgb_op_dense(graph, &out, "logits", vector, right, bias, MGB_LINEAR),
            "bias 4 does not fit 3 units");
    refused(mgb_op_dense(graph, &out, "logits", label, right, -1, MGB_LINEAR),
            "its input 'label' is i32, it takes f32");
    refused(mgb_op_dense(graph, &out, "logits", right, right, -1, MGB_LINEAR),
            "its input 'right' is a variable; only weights and biases can be");
    refused(mgb_op_matmul(graph, &out, "product", image, right, false, false),
            "is a variable; only weights and biases can be; for a product with a weight take dense "
            "without a bias");
    int single = model_input(graph, "single", SHAPE(1, 1));
    assert_ok(mgb_op_reshape(graph, &one, "r", single, SCALAR));
    refused(mgb_op_dense(graph, &out, "logits", one, right, -1, MGB_LINEAR),
            "its input is one number an example");
}

static void shapes_must_agree_in_add_and_concat(void **state)
{
    (void)state;
    int other = model_input(graph, "other", SHAPE(1, 11));
    refused(mgb_op_add(graph, &out, "sum", vector, other),
            "add 'sum': 10 and 11 have different shapes");
    refused(mgb_op_add(graph, &out, "sum", vector, image), "10 and 5x5x64 have different shapes");
    refused(mgb_op_concat(graph, &out, "cat", (int[]){vector, image}, 2, -1),
            "concat 'cat': input 2 is 5x5x64, which does not fit 10 along axis 1");
    refused(mgb_op_concat(graph, &out, "cat", (int[]){vector, other}, 2, 0), "axis 0 is the batch");
    refused(mgb_op_concat(graph, &out, "cat", (int[]){vector, other}, 2, 2),
            "axis 2 of an input with 2 axes (the batch is axis 0)");
    refused(mgb_op_concat(graph, &out, "cat", (int[]){vector, other}, 2, -2), "axis -2");
    refused(mgb_op_concat(graph, &out, "cat", NULL, 0, -1), "0 inputs; it takes 1 to 16");
    refused(mgb_op_concat(graph, &out, "cat", (int[17]){0}, 17, -1), "17 inputs");
    refused(mgb_op_concat(graph, &out, "cat", (int[]){vector, label}, 2, -1),
            "its input 2 'label' is i32");
}

static void reshape_counts_elements(void **state)
{
    (void)state;
    refused(mgb_op_reshape(graph, &out, "r", vector, SHAPE(2, 3, 4)),
            "reshape 'r': the 10 elements of 10 do not make 3x4");
    refused(mgb_op_reshape(graph, &out, "r", vector, SHAPE(2, 3, -1)),
            "the 10 elements of 10 do not make 3x-1");
    refused(mgb_op_reshape(graph, &out, "r", vector, SHAPE(2, -1, -1)), "only one axis can be -1");
    refused(mgb_op_reshape(graph, &out, "r", vector, SHAPE(2, 0, 10)),
            "axis 0 of 0x10 cannot hold");
    refused(mgb_op_reshape(graph, &out, "r", vector, SHAPE(3, 10, 10, 10)), "do not make 10x10x10");
    refused(mgb_op_reshape(graph, &out, "r", vector, &(struct mgb_shape){.rank = 7}),
            "0 to 6 axes, not 7");
}

static void dropout_takes_a_share(void **state)
{
    (void)state;
    refused(mgb_op_dropout(graph, &out, "d", vector, 1.0f), "dropout 'd': a rate of 1");
    refused(mgb_op_dropout(graph, &out, "d", vector, -0.5f), "a rate of -0.5");
    refused(mgb_op_dropout(graph, &out, "d", vector, NAN), "a rate of");
}

static void losses_take_predictions_and_labels(void **state)
{
    (void)state;
    int wide = model_input(graph, "wide", SHAPE(2, 4, 10));
    refused(mgb_op_softmax_cross_entropy(graph, &out, "loss", vector, vector),
            "softmax_cross_entropy 'loss': its label (classes counted from 0) 'vector' is f32, it "
            "takes i32");
    refused(mgb_op_softmax_cross_entropy(graph, &out, "loss", wide, label),
            "label scalar does not fit logits 4x10: it has all axes but the last");
    refused(mgb_op_accuracy(graph, &out, "right", label, label),
            "accuracy 'right': its logits 'label' is i32");
    refused(mgb_op_mean_squared_error(graph, &out, "mse", vector, wide),
            "mean_squared_error 'mse': prediction 10 and target 4x10 have different shapes");
}

static void tensors_of_another_model_are_refused(void **state)
{
    (void)state;
    refused(mgb_op_activation(graph, &out, "a", 4711, MGB_RELU),
            "activation 'a': its input is no tensor of model 'm'");
    refused(mgb_op_add(graph, &out, "a", vector, -1), "its second input is no tensor of model 'm'");
    refused(mgb_op_flatten(graph, &out, "a", 1 << 28), "no tensor of model 'm'");
    refused(mgb_op_concat(graph, &out, "a", (int[]){77}, 1, -1), "no tensor of model 'm'");
    refused(mgb_graph_output(graph, "o", 4711), "output 'o' is no tensor of model 'm'");
    refused(mgb_graph_loss(graph, 4711, 1), "is no tensor of model 'm'");
    refused(mgb_graph_metric(graph, "x", -1), "metric 'x' is no tensor of model 'm'");
    refused(mgb_graph_read(graph, &out, 5), "has no variable number 5");
    refused(mgb_graph_freeze(graph, -1, true), "has no variable number -1");
}

static void declarations_are_checked(void **state)
{
    (void)state;
    int loss, accuracy, logits = model_dense(graph, "logits", vector, 3, MGB_LINEAR);
    assert_ok(mgb_op_softmax_cross_entropy(graph, &loss, "loss", logits, label));
    assert_ok(mgb_op_accuracy(graph, &accuracy, "accuracy", logits, label));
    refused(mgb_graph_loss(graph, logits, 1),
            "loss 'logits' (3 f32) is not the result of a loss; use softmax");
    refused(mgb_graph_loss(graph, accuracy, 1), "is not the result of a loss");
    refused(mgb_graph_loss(graph, loss, NAN), "is not finite");
    refused(mgb_graph_metric(graph, "m", logits), "metric 'm' has a value for each example (3)");
    refused(mgb_graph_output(graph, "o", loss), "an output has a value for each example");
    refused(mgb_op_activation(graph, &out, "a", loss, MGB_RELU),
            "is a loss or metric, which nothing can be computed");
    assert_ok(mgb_graph_loss(graph, loss, 1));
    refused(mgb_graph_loss(graph, loss, 1), "loss 'loss' is declared twice");
    assert_ok(mgb_graph_metric(graph, "also", loss));
}

static void names_are_checked(void **state)
{
    (void)state;
    char name[200];
    memset(name, 'a', sizeof name);
    name[199] = '\0';
    refused(mgb_op_flatten(graph, &out, "", image), "reshape: the name is empty");
    refused(mgb_op_flatten(graph, &out, "a/b", image),
            "reshape 'a/b': a name has no blanks and no '/'");
    refused(mgb_op_flatten(graph, &out, "a b", image), "no blanks");
    refused(mgb_op_flatten(graph, &out, name, image), "more than 120 characters");
    refused(mgb_op_flatten(graph, &out, "x.grad_w", image), "reserved");
    refused(mgb_graph_begin_scope(graph, "a/b"), "scope 'a/b'");
    refused(mgb_graph_input(graph, &out, "image", SHAPE(1, 1), MGB_F32),
            "input 'image': model 'm' has an input");
    refused(mgb_graph_input(graph, &out, "bytes", SHAPE(1, 1), MGB_U8),
            "input 'bytes': inputs are f32 or i32");
    refused(mgb_graph_input(graph, &out, "none", SHAPE(2, 4, 0), MGB_F32),
            "input 'none': axis 1 has 0 elements");
    refused(mgb_graph_input(graph, &out, "huge", SHAPE(2, 1 << 30, 1 << 30), MGB_F32),
            "more than 2^40 elements");
    struct mgb_init init = {.kind = MGB_CONSTANT, .value = INFINITY};
    refused(mgb_graph_variable(graph, &out, "v", SHAPE(1, 2), &init),
            "variable 'v': the constant inf is not finite");
    init = (struct mgb_init){.kind = MGB_NORMAL, .value = -1};
    refused(mgb_graph_variable(graph, &out, "v", SHAPE(1, 2), &init),
            "variable 'v': a standard deviation of -1");
    refused(mgb_graph_begin_device(graph, (struct mgb_device_name){MGB_DEVICE_SPREAD, 0, 0}),
            "\"spread\" is no device");
    struct mgb_graph *none;
    refused(mgb_graph_make(&none, ""), "a model needs a name");
}

static void a_message_names_the_scopes(void **state)
{
    (void)state;
    assert_ok(mgb_graph_begin_scope(graph, "block"));
    assert_ok(mgb_graph_begin_scope(graph, "inner"));
    refused(mgb_op_dropout(graph, &out, "d", vector, 2), "dropout 'block/inner/d': a rate of 2");
}

static void finish_wants_inputs_losses_and_closed_scopes(void **state)
{
    (void)state;
    struct mgb_graph *empty = model_make("empty");
    refused(mgb_graph_finish(empty), "model 'empty' has no input");
    mgb_graph_free(empty);
    refused(mgb_graph_finish(graph), "model 'm' has no loss; declare one with m:loss");
    int loss;
    assert_ok(mgb_op_mean_squared_error(graph, &loss, "loss", vector, vector));
    assert_ok(mgb_graph_loss(graph, loss, 1));
    assert_ok(mgb_graph_begin_scope(graph, "s"));
    assert_status(mgb_graph_finish(graph), MGB_STATE);
    assert_message("begun and not ended");
    mgb_graph_end_scope(graph);
    assert_ok(mgb_graph_finish(graph));
    assert_status(mgb_graph_finish(graph), MGB_STATE);
    assert_status(mgb_op_flatten(graph, &out, "f", image), MGB_STATE);
    assert_message("model 'm' is finished and can no longer be changed");
    assert_status(mgb_graph_output(graph, "o", image), MGB_STATE);
    assert_status(mgb_graph_input(graph, &out, "i", SHAPE(1, 1), MGB_F32), MGB_STATE);
}

static void an_end_too_many_is_found(void **state)
{
    (void)state;
    int loss;
    assert_ok(mgb_op_mean_squared_error(graph, &loss, "loss", vector, vector));
    assert_ok(mgb_graph_loss(graph, loss, 1));
    mgb_graph_end_device(graph);
    assert_status(mgb_graph_finish(graph), MGB_STATE);
}

static void a_target_that_is_trained_is_refused(void **state)
{
    (void)state;
    int loss, y = model_dense(graph, "y", vector, 10, MGB_LINEAR);
    assert_ok(mgb_op_mean_squared_error(graph, &loss, "loss", vector, y));
    assert_ok(mgb_graph_loss(graph, loss, 1));
    refused(mgb_graph_finish(graph),
            "mean_squared_error 'loss': its target depends on trainable variables");
}

static void a_failed_call_changes_nothing(void **state)
{
    (void)state;
    struct mgb_graph *one = model_make("mlp"), *clean = model_mlp();
    int x = model_input(one, "image", SHAPE(1, 12)), l = model_label(one, "label");
    assert_status(mgb_op_dropout(one, &out, "dense", x, 3), MGB_INVALID);
    assert_status(mgb_op_add(one, &out, "dense", x, l), MGB_INVALID);
    x = model_dense(one, "dense", x, 8, MGB_RELU);
    model_classify(one, model_dense(one, "logits", x, 3, MGB_LINEAR), l);
    assert_true(mgb_graph_digest(one) == mgb_graph_digest(clean));
    mgb_graph_free(one);
    mgb_graph_free(clean);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(conv2d_says_what_does_not_fit),
        TEST(pooling_says_what_does_not_fit),
        TEST(dense_says_what_does_not_fit),
        TEST(shapes_must_agree_in_add_and_concat),
        TEST(reshape_counts_elements),
        TEST(dropout_takes_a_share),
        TEST(losses_take_predictions_and_labels),
        TEST(tensors_of_another_model_are_refused),
        TEST(declarations_are_checked),
        TEST(names_are_checked),
        TEST(a_message_names_the_scopes),
        TEST(finish_wants_inputs_losses_and_closed_scopes),
        TEST(an_end_too_many_is_found),
        TEST(a_target_that_is_trained_is_refused),
        TEST(a_failed_call_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
