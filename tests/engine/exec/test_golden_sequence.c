/* Embedding, lstm and gru against stored PyTorch values (tests/golden/make_layers_sequence.py). */
#include "tests/support/check.h"

#include "tests/support/golden.h"
#include "tests/support/golden_net.h"
#include "tests/support/model.h"
#include <mgb/op.h>

/* Kernels and bias of a layer, in the order of the script; the rest is asked in `r`. */
static int recurrent(struct golden_net *net, int x, int units, int gates, struct mgb_recurrent r)
{
    int width = (int)mgb_tensor_shape(net->graph, x)->dim[1], out = -1;
    r.kernel = golden_net_variable(net, "kernel", SHAPE(2, width, gates * units), .6f);
    r.recurrent = golden_net_variable(net, "recurrent", SHAPE(2, units, gates * units), .5f);
    r.bias = r.reset_after ? golden_net_variable(net, "bias", SHAPE(2, 2, gates * units), .3f)
                           : golden_net_variable(net, "bias", SHAPE(1, gates * units), .3f);
    if (gates == 4)
        assert_ok(mgb_op_lstm(net->graph, &out, "lstm", x, &r));
    else
        assert_ok(mgb_op_gru(net->graph, &out, "gru", x, &r));
    return out;
}

static int both(struct golden_net *net, int x, int units, int gates, struct mgb_recurrent r)
{
    int two[2], out = -1;
    r.reverse = false;
    two[0] = recurrent(net, x, units, gates, r);
    r.reverse = true;
    two[1] = recurrent(net, x, units, gates, r);
    assert_ok(mgb_op_concat(net->graph, &out, "concat", two, 2, -1));
    return out;
}

static void finish(struct golden_net *net, int x, int classes, float scale)
{
    x = model_flatten(net->graph, x);
    golden_net_classify(net, golden_net_dense(net, x, classes, scale, .1f, MGB_LINEAR), SCALAR);
}

static void padded_words_match_a_packed_lstm(void **state)
{
    (void)state;
    static const int32_t ids[4][5] = {{3, 1, 6, 2, 5}, {4, 4, 1}, {6}, {2, 5, 5, 1}},
                         label[] = {0, 2, 1, 1};
    float h[4 * 9], c[4 * 9];
    golden_formula(h, 36, 31, 1);
    golden_formula(c, 36, 32, 1);
    struct golden_net net = golden_net_make("words");
    struct mgb_recurrent r = mgb_recurrent_init();
    int words = golden_net_input(&net, "ids", SHAPE(1, 5), MGB_I32), x = -1;
    r.h0 = golden_net_input(&net, "h", SHAPE(1, 9), MGB_F32);
    r.c0 = golden_net_input(&net, "c", SHAPE(1, 9), MGB_F32);
    int table = golden_net_variable(&net, "embeddings", SHAPE(2, 7, 6), .8f);
    assert_ok(mgb_op_embedding(net.graph, &x, "embedding", words, table));
    assert_ok(mgb_op_mask(net.graph, &r.mask, "mask", words, 0));
    finish(&net, recurrent(&net, x, 9, 4, r), 3, .5f);
    golden_net_check(&net, "lstm_words", .5f, (const void *[]){ids, h, c, label}, 4, 4);
}

static void two_layers_both_ways_match(void **state)
{
    (void)state;
    static const int32_t mask[3][6] = {{1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}, {1, 1}},
                         label[] = {1, 0, 2};
    float x[3 * 6 * 4];
    golden_formula(x, 72, 33, 1);
    struct golden_net net = golden_net_make("bilstm");
    struct mgb_recurrent r = mgb_recurrent_init();
    int y = golden_net_input(&net, "x", SHAPE(2, 6, 4), MGB_F32);
    r.mask = golden_net_input(&net, "mask", SHAPE(1, 6), MGB_I32);
    r.sequences = true;
    y = both(&net, y, 5, 4, r);
    r.sequences = false;
    finish(&net, both(&net, y, 3, 4, r), 3, .9f);
    golden_net_check(&net, "bilstm", .5f, (const void *[]){x, mask, label}, 3, 3);
}

static void all_states_and_the_last_cell_match(void **state)
{
    (void)state;
    static const int32_t label[] = {0, 1, 1, 0};
    float x[4 * 5 * 3], side[4 * 2];
    golden_formula(x, 60, 34, 1);
    golden_formula(side, 8, 35, 1);
    struct golden_net net = golden_net_make("states");
    struct mgb_recurrent r = mgb_recurrent_init();
    int y = golden_net_input(&net, "x", SHAPE(2, 5, 3), MGB_F32);
    int from = golden_net_input(&net, "side", SHAPE(1, 2), MGB_F32);
    r.h0 = golden_net_dense(&net, from, 8, .7f, .1f, MGB_TANH);
    r.c0 = golden_net_dense(&net, from, 8, .7f, .1f, MGB_TANH);
    r.cell = true;
    finish(&net, recurrent(&net, y, 8, 4, r), 2, .4f);
    golden_net_check(&net, "lstm_states", .5f, (const void *[]){x, side, label}, 4, 2);
}

static void gru_matches(void **state)
{
    (void)state;
    static const int32_t mask[4][6] = {{1, 1, 1, 1, 1, 1}, {1, 1, 1}, {1, 1, 1, 1, 1}, {1}},
                         label[] = {2, 0, 1, 1};
    float x[4 * 6 * 5], h[4 * 6];
    golden_formula(x, 120, 36, 1);
    golden_formula(h, 24, 37, 1);
    struct golden_net net = golden_net_make("gru");
    struct mgb_recurrent r = mgb_recurrent_init();
    int y = golden_net_input(&net, "x", SHAPE(2, 6, 5), MGB_F32);
    r.mask = golden_net_input(&net, "mask", SHAPE(1, 6), MGB_I32);
    int begin = golden_net_input(&net, "h", SHAPE(1, 6), MGB_F32);
    r.sequences = r.reset_after = true;
    y = both(&net, y, 4, 3, r);
    r.sequences = false;
    r.h0 = begin;
    finish(&net, recurrent(&net, y, 6, 3, r), 3, .7f);
    golden_net_check(&net, "gru", .5f, (const void *[]){x, mask, h, label}, 4, 3);
}

static void gru_with_the_reset_gate_first_matches(void **state)
{
    (void)state;
    static const int32_t label[] = {0, 1, 2, 1, 0};
    float x[5 * 4 * 3];
    golden_formula(x, 60, 38, 1);
    struct golden_net net = golden_net_make("gru_before");
    struct mgb_recurrent r = mgb_recurrent_init();
    int y = golden_net_input(&net, "x", SHAPE(2, 4, 3), MGB_F32);
    r.sequences = true;
    finish(&net, recurrent(&net, y, 7, 3, r), 3, .5f);
    golden_net_check(&net, "gru_before", .5f, (const void *[]){x, label}, 5, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(padded_words_match_a_packed_lstm),
        cmocka_unit_test(two_layers_both_ways_match),
        cmocka_unit_test(all_states_and_the_last_cell_match),
        cmocka_unit_test(gru_matches),
        cmocka_unit_test(gru_with_the_reset_gate_first_matches),
    };
    return cmocka_run_group_tests_name("golden_sequence", tests, NULL, NULL);
}
