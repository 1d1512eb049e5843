/* Embeddings, recurrent layers and masks from Lua: shapes, names, sharing, and the words for mistakes. */
#include "tests/app/script/run_text.h"

/* A model around `body`, which has x (5 positions of 6), ids (5 numbers), mask (5 numbers), h and c (4 numbers) and label;
 * `y` goes to the loss; `tail` comes after. */
#define MODEL(body, tail)                                                                          \
    "local seen\n"                                                                                 \
    "local model = nn.model('m', function(m)\n"                                                    \
    "  local x, ids = m:input('x', { 5, 6 }), m:input('ids', { 5 }, 'i32')\n"                      \
    "  local mask, label = m:input('mask', { 5 }), m:input('label', {}, 'i32')\n"                  \
    "  local h, c = m:input('h', { 4 }), m:input('c', { 4 })\n"                                    \
    "  local y = x\n" body "\n"                                                                    \
    "  m:loss(nn.softmax_cross_entropy(nn.dense{ units = 3, name = 'end' }(nn.flatten(y)), "       \
    "label))\n"                                                                                    \
    "end)\n"                                                                                       \
    "local function names(s) local n = {} for i, v in ipairs(s.variables) do n[i] = v.name .. "    \
    "':' .. v.shape end return table.concat(n, ' ') end\n" tail

static void shapes_follow_the_options(void **state)
{
    (void)state;
    passes(
        MODEL("seen = { nn.embedding{ vocabulary = 9, units = 7 }(ids), nn.mask(ids), nn.mask(x),\n"
              "  nn.lstm{ units = 4 }(x), nn.lstm{ units = 4, return_sequences = true }(x, mask),\n"
              "  nn.lstm{ units = 4 }(x, nil, h, c), nn.gru{ units = 4 }(x),\n"
              "  nn.gru{ units = 4, reset_after = false, return_sequences = true }(x, ids, h),\n"
              "  nn.bidirectional{ layer = nn.lstm{ units = 4 } }(x),\n"
              "  nn.bidirectional{ layer = nn.gru{ units = 4, return_sequences = true }, "
              "merge = 'sum' }(x, mask, h, h) }",
              "model:summary()\n"
              "local want = '5x7 5 5 4 5x4 4 4 5x4 8 5x4'\n"
              "for i, t in ipairs(seen) do seen[i] = table.concat(t.shape, 'x') end\n"
              "assert(table.concat(seen, ' ') == want, table.concat(seen, ' '))\n"));
}

static void variables_are_named_as_in_keras(void **state)
{
    (void)state;
    passes(MODEL("y = nn.embedding{ vocabulary = 9, units = 7 }(ids)\n"
                 "y = nn.lstm{ units = 4, return_sequences = true }(y)\n"
                 "y = nn.gru{ units = 2, return_sequences = true }(y)\n"
                 "y = nn.gru{ units = 2, reset_after = false, bias = false, name = 'last' }(y)",
                 "local got = names(model:summary())\n"
                 "assert(got == 'embedding/embeddings:9x7 lstm/kernel:7x16 "
                 "lstm/recurrent_kernel:4x16 lstm/bias:16 '\n"
                 "  .. 'gru/kernel:4x6 gru/recurrent_kernel:2x6 gru/bias:2x6 last/kernel:2x6 '\n"
                 "  .. 'last/recurrent_kernel:2x6 end/kernel:2x3 end/bias:3', got)\n"));
}

static void both_directions_are_two_layers_used_again(void **state)
{
    (void)state;
    passes(
        MODEL("local both = nn.bidirectional{ layer = nn.lstm{ units = 3, name = 'enc' }, name = "
              "'both' }\n"
              "y = nn.add(both(x), both(x, mask))",
              "local got = names(model:summary())\n"
              "assert(got == 'both/forward_enc/kernel:6x12 both/forward_enc/recurrent_kernel:3x12 "
              "both/forward_enc/bias:12 '\n"
              "  .. 'both/backward_enc/kernel:6x12 both/backward_enc/recurrent_kernel:3x12 "
              "both/backward_enc/bias:12 '\n"
              "  .. 'end/kernel:6x3 end/bias:3', got)\n"));
}

static void states_are_given_when_asked_for(void **state)
{
    (void)state;
    passes(
        MODEL("local a, ah, ac = nn.lstm{ units = 4, return_state = true }(x, mask, h, c)\n"
              "local b, bh, bc = nn.lstm{ units = 4, return_state = true, return_sequences = true, "
              "reverse = true }(x)\n"
              "local d, dh, none = nn.gru{ units = 4, return_state = true }(x)\n"
              "assert(none == nil)\n"
              "local e, fh, fc, gh, gc = nn.bidirectional{ layer = nn.lstm{ units = 4, "
              "return_state = true }, merge = 'ave' }(x, nil, ah, ac, bh, bc)\n"
              "local f = nn.bidirectional{ layer = nn.gru{ units = 4 }, merge = 'mul' }(x)\n"
              "seen = { a, ah, ac, b, bh, bc, d, dh, e, fh, fc, gh, gc, f }\n"
              "y = nn.add(e, f, gc, fc)",
              "model:summary()\n"
              "local want = '4 4 4 5x4 4 4 4 4 4 4 4 4 4 4'\n"
              "for i, t in ipairs(seen) do seen[i] = table.concat(t.shape, 'x') end\n"
              "assert(table.concat(seen, ' ') == want, table.concat(seen, ' '))\n"));
}

static void a_state_may_be_projected(void **state)
{
    (void)state;
    passes(MODEL(
        "local w = { units = 4, projection = 3, return_sequences = true, return_state = true }\n"
        "local a, ah, ac = nn.lstm(w)(x, mask, nn.dense{ units = 3 }(h), c)\n"
        "local b = nn.lstm{ units = 4, projection = 2, reverse = true, name = 'back' }(a, ids)\n"
        "local d = nn.bidirectional{ layer = nn.lstm{ units = 4, projection = 2, "
        "return_sequences = true } }(a, mask)\n"
        "local e = nn.lstm{ units = 4, projection = 0, bias = false, name = 'none' }(a)\n"
        "seen = { a, ah, ac, b, d, e }\n"
        "y = nn.concat(ah, b, e, nn.flatten(d))",
        "local got = names(model:summary())\n"
        "local want = '5x3 3 4 2 5x4 4'\n"
        "for i, t in ipairs(seen) do seen[i] = table.concat(t.shape, 'x') end\n"
        "assert(table.concat(seen, ' ') == want, table.concat(seen, ' '))\n"
        "assert(got:find('lstm/kernel:6x16 lstm/recurrent_kernel:3x16 lstm/bias:16 "
        "lstm/projection_kernel:4x3 ', 1, true), got)\n"
        "assert(got:find('none/kernel:3x16 none/recurrent_kernel:4x16 end', 1, true), got)\n"));
    fails(MODEL("y = nn.lstm{ units = 4, projection = 3 }(x, h)", "model:summary()"),
          "lstm 'lstm': its mask is 4, it takes 5, one number a position");
}

static void a_parameter_may_be_cut(void **state)
{
    (void)state;
    passes(MODEL("local p = nn.parameter{ shape = { 9, 6 }, name = 'places' }\n"
                 "seen = nn.slice{ axis = 1, begin = 2, count = 5 }(p)\n"
                 "y = nn.add(x, seen)",
                 "assert(names(model:summary()):find('places/value:9x6', 1, true))\n"
                 "assert(table.concat(seen.shape, 'x') == '5x6')\n"));
}

static void tied_tables_are_one(void **state)
{
    (void)state;
    passes(MODEL("local one = nn.embedding{ vocabulary = 9, units = 7 }\n"
                 "y = nn.add(one(ids), nn.embedding{ tie = one }(ids))\n"
                 "y = nn.dense{ units = 9, tie = one, bias = false }(y)",
                 "assert(model:summary().parameters == 63 + 45 * 3 + 3)\n"));
    fails(MODEL("y = nn.embedding{ tie = nn.embedding{ vocabulary = 9, units = 7 } }(ids)",
                "model:summary()"),
          "nn.embedding 'embedding': the layer it is tied to, 'embedding', was not called yet");
    fails("nn.embedding{ units = 3, tie = nn.embedding{ vocabulary = 9, units = 7 } }",
          "nn.embedding: units = 3, but the table it is tied to has 7");
    fails("nn.embedding{ tie = nn.dense{ units = 7 } }",
          "nn.embedding: tie: an embedding layer expected, got layer dense 'dense'; write it the "
          "other way round: nn.dense{ tie = embedding }");
}

static void an_embedding_gives_its_mask(void **state)
{
    (void)state;
    passes(MODEL("local words, live = nn.embedding{ vocabulary = 9, units = 7, mask_zero = true "
                 "}(ids)\n"
                 "y = nn.lstm{ units = 4 }(words, live)\n"
                 "seen = live",
                 "model:summary()\n"
                 "assert(table.concat(seen.shape, 'x') == '5' and seen.type == 'f32')\n"));
}

static void wrong_options_are_named(void **state)
{
    (void)state;
    fails("nn.embedding{ units = 3 }", "nn.embedding: vocabulary is missing");
    fails("nn.embedding{ vocabulary = 3 }", "nn.embedding: units is missing");
    fails("nn.embedding{ vocabulary = 3, units = 2, init = { 'uniform', -1 } }",
          "nn.embedding: init: a limit from 0 up expected, as { \"uniform\", 0.05 }, got { "
          "\"uniform\", -1 }");
    fails("nn.lstm{}", "nn.lstm: units: positive integer expected, got nil");
    fails("nn.lstm{ units = 3, return_sequence = true }",
          "nn.lstm: unknown option 'return_sequence' (did you mean 'return_sequences'?)");
    fails("nn.lstm{ units = 3, unit_forget_bias = true, bias_init = 'ones' }",
          "nn.lstm: bias_init and unit_forget_bias both say how the bias begins");
    fails("nn.gru{ units = 3, unit_forget_bias = true }",
          "nn.gru: unknown option 'unit_forget_bias'");
    fails("nn.bidirectional{ layer = nn.dense{ units = 3 } }",
          "nn.bidirectional: layer: an lstm or gru layer expected, got layer dense 'dense'");
    fails("nn.bidirectional{ layer = nn.lstm{ units = 3, reverse = true } }",
          "nn.bidirectional: layer: it goes both ways, so reverse is not for its layer");
    fails(
        "nn.bidirectional{ layer = nn.lstm{ units = 3 }, merge = 'best' }",
        "nn.bidirectional: merge: \"concat\", \"sum\", \"mul\" or \"ave\" expected, got \"best\"");
}

static void a_state_of_the_batch_is_refused_with_its_sizes(void **state)
{
    (void)state;
    fails(
        "nn.lstm{ units = 3, stateful = true, batch = 512, name = 'enc' }",
        "nn.lstm 'enc': stateful = true: a batch of 512 rows is cut over the GPUs and the last one "
        "may be short, so no layer can keep a state or a size of it: a batch of 512 is 256 and 256 "
        "rows on 2 GPUs; hand the state in as inputs: layer(x, nil, h, c)");
    fails(
        "nn.gru{ units = 3, stateful = true }",
        "nn.gru: stateful = true: a batch is cut over the GPUs and the last one may be short, so "
        "no layer can keep a state or a size of it; hand the state in as inputs: layer(x, nil, h)");
    fails(
        "nn.gru{ units = 3, batch = 33 }",
        "nn.gru: batch = 33: a batch of 33 rows is cut over the GPUs and the last one may be "
        "short, so no layer can keep a state or a size of it: a batch of 33 is 17 and 16 rows on 2 "
        "GPUs; hand the state in as inputs: layer(x, nil, h)");
}

static void wrong_calls_are_named(void **state)
{
    (void)state;
    fails(MODEL("nn.lstm{ units = 4 }(h)", "model:summary()"),
          "nn.lstm 'lstm': positions x width expected, got 4");
    fails(MODEL("nn.lstm{ units = 4 }(x, h)", "model:summary()"),
          "lstm 'lstm': its mask is 4, it takes 5, one number a position");
    fails(MODEL("nn.lstm{ units = 4 }(x, nil, h)", "model:summary()"),
          "lstm 'lstm': it was given half of an initial state: h and c go together");
    fails(MODEL("nn.lstm{ units = 3, name = 'enc' }(x, nil, h, c)", "model:summary()"),
          "lstm 'enc': its initial state h is 4, it takes 3, its units");
    fails(MODEL("nn.gru{ units = 4 }(x, nil, h, c)", "model:summary()"),
          "nn.gru: one tensor and up to 2 more expected, got 4");
    fails(MODEL("nn.lstm{ units = 4 }(nil, mask)", "model:summary()"),
          "nn.lstm: argument 1: tensor expected, got nil");
    fails(MODEL("nn.embedding{ vocabulary = 9, units = 7 }(x)", "model:summary()"),
          "embedding 'embedding': its input (row numbers from 0) 'x' is f32, it takes i32");
    fails(MODEL("nn.mask(h)", "model:summary()"),
          "mask 'mask': its input is 4, it takes positions (i32) or positions x width (f32)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_follow_the_options),
        cmocka_unit_test(variables_are_named_as_in_keras),
        cmocka_unit_test(both_directions_are_two_layers_used_again),
        cmocka_unit_test(states_are_given_when_asked_for),
        cmocka_unit_test(a_state_may_be_projected),
        cmocka_unit_test(a_parameter_may_be_cut),
        cmocka_unit_test(tied_tables_are_one),
        cmocka_unit_test(an_embedding_gives_its_mask),
        cmocka_unit_test(wrong_options_are_named),
        cmocka_unit_test(a_state_of_the_batch_is_refused_with_its_sizes),
        cmocka_unit_test(wrong_calls_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
