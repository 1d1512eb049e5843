/* Attention, products of matrices, gelu and tied weights against stored PyTorch values (tests/golden/make_layers_attention.py). */
#include "tests/support/check.h"

#include "tests/support/golden.h"
#include "tests/support/golden_net.h"
#include "tests/support/model.h"
#include <mgb/op.h>

static int flat(struct golden_net *net, int x)
{
    return model_flatten(net->graph, x);
}

static void multi_head_attention_matches(void **state)
{
    (void)state;
    static const int32_t label[] = {0, 2, 1, 2};
    static const int32_t mask[4][7] = {
        {1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}};
    float x[4 * 7 * 12];
    golden_formula(x, 4 * 7 * 12, 21, 1);
    struct golden_net net = golden_net_make("multi_head");
    int in = golden_net_input(&net, "x", SHAPE(2, 7, 12), MGB_F32), y = -1;
    int seen = golden_net_input(&net, "mask", SHAPE(1, 7), MGB_I32);
    int q = golden_net_dense(&net, in, 12, .4f, .1f, MGB_LINEAR);
    int k = golden_net_dense(&net, in, 12, .4f, 0, MGB_LINEAR);
    int v = golden_net_dense(&net, in, 12, .4f, .1f, MGB_LINEAR);
    struct mgb_attention options = {.heads = 3, .causal = true};
    assert_ok(mgb_op_attention(net.graph, &y, "attention", q, k, v, seen, &options));
    y = golden_net_dense(&net, y, 12, .4f, .1f, MGB_LINEAR);
    golden_net_classify(&net, golden_net_dense(&net, flat(&net, y), 3, .3f, .1f, MGB_LINEAR),
                        SCALAR);
    golden_net_check(&net, "attention_multi_head", .5f, (const void *[]){x, mask, label}, 4, 3);
}

static void scaled_dot_product_attention_matches(void **state)
{
    (void)state;
    static const int32_t label[] = {1, 0, 1};
    static const float mask[3][6] = {{1, 0, 1, 1, 0, 1}, {0}, {0, 0, 0, 1}};
    float a[3 * 5 * 4], m[3 * 6 * 3];
    golden_formula(a, 3 * 5 * 4, 22, 1);
    golden_formula(m, 3 * 6 * 3, 23, 1);
    struct golden_net net = golden_net_make("dot_product");
    int in = golden_net_input(&net, "a", SHAPE(2, 5, 4), MGB_F32), y = -1;
    int memory = golden_net_input(&net, "m", SHAPE(2, 6, 3), MGB_F32);
    int seen = golden_net_input(&net, "mask", SHAPE(1, 6), MGB_F32);
    int q = golden_net_dense(&net, in, 8, .7f, 0, MGB_LINEAR);
    int k = golden_net_dense(&net, memory, 8, .7f, 0, MGB_LINEAR);
    int v = golden_net_dense(&net, memory, 2, .7f, 0, MGB_LINEAR);
    struct mgb_attention options = {.heads = 1};
    assert_ok(mgb_op_attention(net.graph, &y, "attention", q, k, v, seen, &options));
    golden_net_classify(&net, golden_net_dense(&net, flat(&net, y), 2, .5f, .1f, MGB_LINEAR),
                        SCALAR);
    golden_net_check(&net, "attention_dot_product", .5f, (const void *[]){a, m, mask, label}, 3, 3);
}

static void both_gelus_match(void **state)
{
    (void)state;
    static const int32_t label[] = {0, 1, 2, 0, 1, 2};
    float x[6 * 5];
    golden_formula(x, 6 * 5, 24, 3);
    struct golden_net net = golden_net_make("gelu");
    int y = golden_net_input(&net, "x", SHAPE(1, 5), MGB_F32);
    y = golden_net_dense(&net, y, 9, .8f, .2f, MGB_LINEAR);
    assert_ok(mgb_op_gelu(net.graph, &y, "exact", y, false));
    y = golden_net_dense(&net, y, 8, .8f, .2f, MGB_LINEAR);
    assert_ok(mgb_op_gelu(net.graph, &y, "tanh", y, true));
    golden_net_classify(&net, golden_net_dense(&net, y, 3, .5f, .1f, MGB_LINEAR), SCALAR);
    golden_net_check(&net, "gelu", .5f, (const void *[]){x, label}, 6, 2);
}

static void matrices_match(void **state)
{
    (void)state;
    static const int32_t label[] = {0, 2, 1};
    float x[3 * 4 * 5];
    golden_formula(x, 3 * 4 * 5, 25, 4);
    struct golden_net net = golden_net_make("matrices");
    int in = golden_net_input(&net, "x", SHAPE(2, 4, 5), MGB_F32), y = -1;
    int a = golden_net_dense(&net, in, 6, 1.5f, .2f, MGB_RELU6);
    int b = golden_net_dense(&net, in, 6, .1f, 0, MGB_LINEAR);
    assert_ok(mgb_op_softmax(net.graph, &b, "logs", b, true));
    assert_ok(mgb_op_matmul(net.graph, &y, "scores", a, b, false, true));
    assert_ok(mgb_op_softmax(net.graph, &y, "weights", y, false));
    assert_ok(mgb_op_matmul(net.graph, &y, "sum", y, b, true, false));
    assert_ok(mgb_op_transpose(net.graph, &y, "turn", y, (int[]){2, 1}, 2));
    golden_net_classify(&net, golden_net_dense(&net, flat(&net, y), 3, .4f, .1f, MGB_LINEAR),
                        SCALAR);
    golden_net_check(&net, "matrices", .1f, (const void *[]){x, label}, 3, 2);
}

static void a_tied_embedding_matches(void **state)
{
    (void)state;
    static const int32_t ids[2][4] = {{1, 4, 4, 0}, {6, 2, 1, 1}},
                         label[2][4] = {{4, 4, 0, 3}, {2, 1, 1, 5}};
    struct golden_net net = golden_net_make("tied");
    int in = golden_net_input(&net, "ids", SHAPE(1, 4), MGB_I32), y = -1;
    int table = golden_net_variable(&net, "embeddings", SHAPE(2, 7, 5), .6f);
    assert_ok(mgb_op_embedding(net.graph, &y, "embedding", in, table));
    y = golden_net_dense(&net, y, 5, .6f, .1f, MGB_TANH);
    int bias = golden_net_variable(&net, "bias", SHAPE(1, 7), .1f);
    assert_ok(mgb_op_dense_tied(net.graph, &y, "logits", y, table, bias, MGB_LINEAR));
    golden_net_classify(&net, y, SHAPE(1, 4));
    golden_net_check(&net, "tied_embedding", .5f, (const void *[]){ids, label}, 2, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multi_head_attention_matches),
        cmocka_unit_test(scaled_dot_product_attention_matches),
        cmocka_unit_test(both_gelus_match),
        cmocka_unit_test(matrices_match),
        cmocka_unit_test(a_tied_embedding_matches),
    };
    return cmocka_run_group_tests_name("golden_attention", tests, NULL, NULL);
}
