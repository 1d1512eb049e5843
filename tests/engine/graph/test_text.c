/* The text form of two whole models, their digests and figures. */
#include "tests/support/check.h"
#include "tests/support/model.h"

#include <string.h>

static const char mlp_text[] =
    "model mlp\n"
    "input image Nx12 f32\n"
    "input label N i32\n"
    "variable dense/kernel 12x8 glorot_uniform(12,8)\n"
    "variable dense/bias 8 zeros\n"
    "variable logits/kernel 8x3 glorot_uniform(8,3)\n"
    "variable logits/bias 3 zeros\n"
    "forward\n"
    "dense = dense(image, dense/kernel, dense/bias) relu -> Nx8 f32\n"
    "logits = dense(dense, logits/kernel, logits/bias) linear -> Nx3 f32\n"
    "head\n"
    "loss = softmax_cross_entropy(logits, label) -> scalar f32\n"
    "accuracy = accuracy(logits, label) -> scalar f32\n"
    "loss.grad = softmax_cross_entropy_grad(logits, label) weight=1 -> Nx3 f32\n"
    "backward\n"
    "logits.grad_w = dense_grad_w(dense, loss.grad) -> 8x3 f32, 3 f32\n"
    "logits.grad_x = dense_grad_x(loss.grad, logits/kernel) -> Nx8 f32\n"
    "dense.grad_activation = activation_grad(dense, logits.grad_x) relu -> Nx8 f32\n"
    "dense.grad_w = dense_grad_w(image, dense.grad_activation) -> 12x8 f32, 8 f32\n"
    "output logits = logits\n"
    "loss loss weight=1\n"
    "metric accuracy = accuracy\n"
    "gradient dense/kernel = dense.grad_w\n"
    "gradient dense/bias = dense.grad_w:1\n"
    "gradient logits/kernel = logits.grad_w\n"
    "gradient logits/bias = logits.grad_w:1\n";

static void an_mlp_prints_as_written_here(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    char *text;
    assert_ok(mgb_graph_text(&text, graph));
    assert_string_equal(text, mlp_text);
    mgb_text_free(text);
    mgb_graph_free(graph);
}

static void mnist_cnn_has_the_known_figures(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mnist_cnn();
    assert_int_equal(mgb_graph_parameters(graph), 1199882);
    double products = 26.0 * 26 * 32 * 9 + 24.0 * 24 * 64 * 9 * 32 + 9216.0 * 128 + 128.0 * 10;
    double elements = 12.0 * 12 * 64 * 4 /* pooling */ + 9216 + 128 /* dropout */;
    assert_true(mgb_graph_forward_flops(graph) == 2 * products + elements);
    mgb_graph_free(graph);
}

static void the_first_convolutions_input_gradient_is_not_computed(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mnist_cnn();
    char *text;
    assert_ok(mgb_graph_text(&text, graph));
    assert_non_null(strstr(text, "conv2d_2.grad_x = "));
    assert_non_null(strstr(text, "conv2d_1.grad_w = "));
    assert_null(strstr(text, "conv2d_1.grad_x"));
    /* Late layers first. */
    assert_true(strstr(text, "logits.grad_w = ") < strstr(text, "dense.grad_w = "));
    assert_true(strstr(text, "dense.grad_w = ") < strstr(text, "conv2d_2.grad_w = "));
    assert_true(strstr(text, "conv2d_2.grad_w = ") < strstr(text, "conv2d_1.grad_w = "));
    mgb_text_free(text);
    mgb_graph_free(graph);
}

static void a_digest_is_that_of_the_same_model_only(void **state)
{
    (void)state;
    struct mgb_graph *one = model_mlp(), *two = model_mlp(), *other = model_mnist_cnn();
    assert_true(mgb_graph_digest(one) == mgb_graph_digest(two));
    assert_true(mgb_graph_digest(one) != mgb_graph_digest(other));
    /* Written down: a change means that models in old databases are no longer recognised. */
    assert_true(mgb_graph_digest(one) == UINT64_C(0x4c9cb7eb13e2c290));
    mgb_graph_free(one);
    mgb_graph_free(two);
    mgb_graph_free(other);
}

static void an_unfinished_model_has_no_text(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_make("m");
    char *text;
    assert_status(mgb_graph_text(&text, graph), MGB_STATE);
    assert_null(text);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_mlp_prints_as_written_here),
        cmocka_unit_test(mnist_cnn_has_the_known_figures),
        cmocka_unit_test(the_first_convolutions_input_gradient_is_not_computed),
        cmocka_unit_test(a_digest_is_that_of_the_same_model_only),
        cmocka_unit_test(an_unfinished_model_has_no_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
