/* Attention, products of matrices, softmax, gelu and tied weights from Lua: shapes, names, and the words for mistakes. */
#include "tests/app/script/run_text.h"

/* A model around `body`, which has a (4 positions of 6), b (3 of 6), mask (3 numbers), ids and label; `tail` comes after. */
#define MODEL(body, tail)                                                                          \
    "local seen\n"                                                                                 \
    "local model = nn.model('m', function(m)\n"                                                    \
    "  local a, b = m:input('a', { 4, 6 }), m:input('b', { 3, 6 })\n"                              \
    "  local mask, label = m:input('mask', { 3 }, 'i32'), m:input('label', {}, 'i32')\n"           \
    "  local y = a\n" body "\n"                                                                    \
    "  m:loss(nn.softmax_cross_entropy(nn.dense{ units = 3, name = 'end' }(nn.flatten(y)), "       \
    "label))\n"                                                                                    \
    "end)\n"                                                                                       \
    "local function names(s) local n = {} for i, v in ipairs(s.variables) do n[i] = v.name .. "    \
    "':' .. v.shape end return table.concat(n, ' ') end\n" tail

static void shapes_follow_the_options(void **state)
{
    (void)state;
    passes(MODEL(
        "seen = { nn.attention(a, b, b), nn.attention{}(a, b), nn.attention{ causal = true }(a),\n"
        "  nn.attention{ heads = 3 }(a, b, mask),\n"
        "  nn.attention{ heads = 2, key_dim = 5, units = 7 }(a, b),\n"
        "  nn.matmul{ transpose_b = true }(a, b), nn.matmul(nn.transpose(a), a), nn.transpose(a),\n"
        "  nn.transpose{ axes = { 1, 2 } }(a), nn.softmax(a), nn.log_softmax{ axis = 1 }(a),\n"
        "  nn.softmax{ axis = -2 }(a), nn.relu6(a), nn.gelu(a), nn.gelu{ approximate = true }(a),\n"
        "  nn.dense{ units = 5, activation = 'gelu' }(a),\n"
        "  nn.dense{ units = 5, activation = 'relu6' }(a) }",
        "model:summary()\n"
        "local want = '4x6 4x6 4x6 4x6 4x7 4x3 6x6 6x4 4x6 4x6 4x6 4x6 4x6 4x6 4x6 4x5 4x5'\n"
        "for i, t in ipairs(seen) do seen[i] = table.concat(t.shape, 'x') end\n"
        "assert(table.concat(seen, ' ') == want, table.concat(seen, ' '))\n"));
}

static void multi_head_attention_has_four_named_parts(void **state)
{
    (void)state;
    passes(MODEL("local layer = nn.attention{ heads = 2, key_dim = 4, units = 5, name = 'at' }\n"
                 "y = nn.add(layer(a, b), layer(a, b, b, mask))",
                 "local got = names(model:summary())\n"
                 "assert(got == 'at/query/kernel:6x8 at/query/bias:8 at/key/kernel:6x8 '\n"
                 "  .. 'at/key/bias:8 at/value/kernel:6x8 at/value/bias:8 at/output/kernel:8x5 '\n"
                 "  .. 'at/output/bias:5 end/kernel:20x3 end/bias:3', got)\n"));
    passes(MODEL("y = nn.attention{ heads = 3, bias = false }(a)",
                 "assert(model:summary().parameters == 4 * 36 + 24 * 3 + 3)\n"));
}

static void tied_layers_share_their_kernel(void **state)
{
    (void)state;
    passes(MODEL("local one = nn.dense{ units = 6 }\n"
                 "y = nn.dense{ units = 6, tie = one, bias = false }(one(a))",
                 "assert(model:summary().parameters == 42 + 24 * 3 + 3)\n"));
    passes(MODEL("local ids = nn.embedding{ vocabulary = 9, units = 6 }\n"
                 "local first = nn.dense{ units = 9, tie = ids, bias = false }\n"
                 "nn.flatten(ids(mask))\n"
                 "first(a)\n"
                 "y = nn.dense{ units = 9, tie = first }(a)",
                 "assert(model:summary().parameters == 9 * 6 + 9 + 36 * 3 + 3)\n"));
}

static void wrong_options_are_named(void **state)
{
    (void)state;
    fails("nn.attention{ key_dim = 3 }",
          "nn.attention: key_dim goes with heads: without them attention has no weights");
    fails("nn.attention{ heads = 0 }", "nn.attention: heads: positive integer expected, got 0");
    fails("nn.attention{ head = 2 }",
          "nn.attention: unknown option 'head' (did you mean 'heads'?)");
    fails("nn.gelu{ approximate = 1 }", "nn.gelu: approximate: true or false expected, got 1");
    fails("nn.dense{ units = 3, tie = nn.gelu{} }",
          "nn.dense: tie: a dense or embedding layer expected, got layer gelu 'gelu'");
}

static void wrong_calls_are_named(void **state)
{
    (void)state;
    fails(
        MODEL("nn.attention{ heads = 4 }(a)", "model:summary()"),
        "nn.attention 'attention': 4 heads do not divide the 6 elements of a query; give key_dim, "
        "the size of a head");
    fails(MODEL("nn.attention{ heads = 2, causal = true }(a, b)", "model:summary()"),
          "attention 'attention': causal attention takes as many queries as keys, not 4 and 3");
    fails(MODEL("nn.attention(a, a, b)", "model:summary()"),
          "attention 'attention': key 4x6 and value 3x6 differ in positions");
    fails(MODEL("nn.attention(a, mask)", "model:summary()"),
          "attention 'attention': its mask is 3, it takes 4, one number a key");
    fails(MODEL("nn.attention(a, b, b, b)", "model:summary()"),
          "nn.attention 'attention': query, key, value and a mask (one number a key) expected, got "
          "4 tensors");
    fails(MODEL("nn.attention(mask)", "model:summary()"),
          "attention 'attention': its query 'mask' is i32, it takes f32");
    fails(MODEL("nn.matmul(a, b)", "model:summary()"),
          "matmul 'matmul': 4x6 does not fit 3x6: the inner axes are 6 and 3");
    fails(MODEL("nn.matmul(a, nn.flatten(a))", "model:summary()"),
          "matmul 'matmul': its inputs are 4x6 and 24, it takes two axes or more each");
    fails(MODEL("nn.transpose{ axes = { 0, 1 } }(a)", "model:summary()"),
          "transpose 'transpose': axis 0 is the batch, which stays first");
    fails(MODEL("nn.transpose{ axes = { 1, 1 } }(a)", "model:summary()"),
          "transpose 'transpose': axes are 1 to 2 in some order, each once; 1 is there twice");
    fails(MODEL("nn.transpose{ axes = { 2 } }(a)", "model:summary()"),
          "transpose 'transpose': 1 axes given, its input 4x6 has 2 beside the batch");
    fails(MODEL("nn.transpose(nn.flatten(a))", "model:summary()"),
          "nn.transpose 'transpose': two axes or more beside the batch expected, got 1");
    fails(MODEL("nn.softmax{ axis = 0 }(a)", "model:summary()"),
          "nn.softmax 'softmax': axis 0 of an input with 3 axes (the batch is axis 0, which stays "
          "whole)");
    fails(MODEL("nn.log_softmax{ axis = 3 }(a)", "model:summary()"),
          "nn.log_softmax 'log_softmax': axis 3 of an input with 3 axes (the batch is axis 0)");
    fails(MODEL("nn.dense{ units = 6, tie = nn.dense{ units = 6, name = 'one' } }(a)",
                "model:summary()"),
          "nn.dense 'dense': the layer it is tied to, 'one', was not called yet");
    fails(MODEL("local one = nn.dense{ units = 6, name = 'one' } one(a)\n"
                "nn.dense{ units = 7, tie = one, bias = false }(a)",
                "model:summary()"),
          "nn.dense 'dense': units = 7, but 'one', which it is tied to, gives 6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_follow_the_options),
        cmocka_unit_test(multi_head_attention_has_four_named_parts),
        cmocka_unit_test(tied_layers_share_their_kernel),
        cmocka_unit_test(wrong_options_are_named),
        cmocka_unit_test(wrong_calls_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
