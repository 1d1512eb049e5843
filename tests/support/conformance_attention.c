/* Odd sizes, and tails behind every block and vector. */
#include "tests/support/conformance_attention.h"

#include "tests/support/check.h"
#include "tests/support/model.h"
#include <mgb/op.h>

static struct mgb_graph *head(struct mgb_graph *graph, int x, int classes)
{
    int label = model_label(graph, "label");
    model_classify(
        graph, model_dense(graph, "logits", model_flatten(graph, x), classes, MGB_LINEAR), label);
    return graph;
}

static int attention(struct mgb_graph *graph, int q, int k, int v, int mask,
                     struct mgb_attention options)
{
    int out = -1;
    assert_ok(mgb_op_attention(graph, &out, "attention", q, k, v, mask, &options));
    return out;
}

static int project(struct mgb_graph *graph, int x, int units)
{
    return model_dense(graph, "project", x, units, MGB_LINEAR);
}

/* No bias: all scores of a query move by the same, which no probability shows, so its gradient is 0 and nothing but rounding. */
static int project_keys(struct mgb_graph *graph, int x, int units)
{
    const struct mgb_shape *shape = mgb_tensor_shape(graph, x);
    int out = -1, w = model_weight(graph, "keys", SHAPE(2, shape->dim[1], units));
    assert_ok(mgb_op_dense(graph, &out, "keys", x, w, -1, MGB_LINEAR));
    return out;
}

struct mgb_graph *conformance_attention(void)
{
    struct mgb_graph *graph = model_make("attention");
    int x = model_input(graph, "x", SHAPE(2, 70, 5)),
        memory = model_input(graph, "m", SHAPE(2, 37, 4));
    int mask = -1;
    assert_ok(mgb_graph_input(graph, &mask, "mask", SHAPE(1, 37), MGB_I32));
    int k = project_keys(graph, memory, 12), v = project(graph, memory, 9);
    x = attention(graph, project(graph, x, 12), k, v, mask, (struct mgb_attention){.heads = 3});
    int all = project(graph, x, 8);
    x = attention(graph, all, all, all, -1,
                  (struct mgb_attention){.heads = 2, .causal = true, .dropout = 0.25f});
    x = attention(graph, project(graph, x, 6), project_keys(graph, x, 6), x, -1,
                  (struct mgb_attention){.heads = 1, .scale = 2});
    return head(graph, project(graph, x, 2), 3);
}

struct mgb_graph *conformance_attention_small(void)
{
    struct mgb_graph *graph = model_make("attention_small");
    int x = model_input(graph, "x", SHAPE(2, 1, 4)), mask = model_input(graph, "mask", SHAPE(1, 1));
    int y = attention(graph, x, x, project(graph, x, 4), mask, (struct mgb_attention){.heads = 4});
    y = attention(graph, project(graph, y, 4), x, x, -1, (struct mgb_attention){.heads = 1});
    return head(graph, y, 2);
}

static int product(struct mgb_graph *graph, int a, int b, bool ta, bool tb)
{
    int out = -1;
    assert_ok(mgb_op_matmul(graph, &out, "matmul", a, b, ta, tb));
    return out;
}

static int turned(struct mgb_graph *graph, int x, int first, int second, int third)
{
    int out = -1;
    assert_ok(mgb_op_transpose(graph, &out, "turned", x, (int[]){first, second, third}, 3));
    return out;
}

static int soft(struct mgb_graph *graph, int x, bool log)
{
    int out = -1;
    assert_ok(mgb_op_softmax(graph, &out, "soft", x, log));
    return out;
}

static int gelu(struct mgb_graph *graph, int x, bool approximate)
{
    int out = -1;
    assert_ok(mgb_op_gelu(graph, &out, "gelu", x, approximate));
    return out;
}

struct mgb_graph *conformance_matrices(void)
{
    struct mgb_graph *graph = model_make("matrices");
    int x = model_input(graph, "x", SHAPE(3, 3, 19, 5)), out = -1;
    int a = gelu(graph, project(graph, x, 35), false); /* 3x19x35 */
    int b = gelu(graph, project(graph, x, 35), true);
    int square = product(graph, a, b, false, true);                      /* 3x19x19 */
    int wide = product(graph, a, soft(graph, b, false), true, false);    /* 3x35x35 */
    int both = product(graph, turned(graph, a, 1, 3, 2), a, true, true); /* 3x19x19 */
    int plain = product(graph, soft(graph, square, true), both, false, false);
    int moved = product(graph, turned(graph, wide, 3, 1, 2), turned(graph, wide, 2, 1, 3), false,
                        true); /* 35x3x3 */
    int tall = model_dense(graph, "tall", model_flatten(graph, moved), 133 * 3, MGB_TANH);
    assert_ok(mgb_op_reshape(graph, &tall, "tall", tall, SHAPE(2, 133, 3)));
    int outer = product(graph, tall, tall, false, true);
    assert_ok(mgb_op_transpose(graph, &outer, "outer", outer, (int[]){2, 1}, 2));
    assert_ok(mgb_op_concat(graph, &out, "concat",
                            (int[]){model_flatten(graph, plain), model_flatten(graph, outer)}, 2,
                            -1));
    return head(graph, soft(graph, out, false), 4);
}

struct mgb_graph *conformance_tied(void)
{
    struct mgb_graph *graph = model_make("tied");
    int x = model_input(graph, "x", SHAPE(2, 5, 7)), y = -1;
    int table = model_weight(graph, "table", SHAPE(2, 7, 21));
    int bias = model_weight(graph, "bias", SHAPE(1, 7));
    assert_ok(mgb_op_dense(graph, &y, "in", x, table, -1, MGB_RELU6));
    assert_ok(mgb_op_activation(graph, &y, "act", y, MGB_RELU6));
    assert_ok(mgb_op_dense_tied(graph, &y, "out", y, table, bias, MGB_TANH));
    assert_ok(mgb_op_dense(graph, &y, "in", y, table, -1, MGB_SIGMOID));
    assert_ok(mgb_op_dense_tied(graph, &y, "out", y, table, -1, MGB_RELU));
    return head(graph, y, 3);
}
