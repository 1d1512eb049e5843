/* Batch and layer normalisation from Lua: variables, what counts as a parameter, freezing, and the words for mistakes. */
#include "tests/app/script/run_text.h"

/* A model around `body`, which has an image x (4x4x3); `tail` comes after. */
#define MODEL(body, tail)                                                                          \
    "local model = nn.model('m', function(m)\n"                                                    \
    "  local x, label = m:input('x', { 4, 4, 3 }), m:input('label', {}, 'i32')\n" body "\n"        \
    "  m:loss(nn.softmax_cross_entropy(nn.dense{ units = 2, name = 'end' }(nn.flatten(x)), "       \
    "label))\n"                                                                                    \
    "end)\n"                                                                                       \
    "local function names(s) local n = {} for i, v in ipairs(s.variables) do n[i] = v.name .. "    \
    "':' .. v.shape end return table.concat(n, ' ') end\n" tail

static void variables_are_named_as_in_keras(void **state)
{
    (void)state;
    passes(MODEL("x = nn.batch_norm{ activation = 'relu' }(x)",
                 "local got = names(model:summary())\n"
                 "assert(got == 'batch_norm/gamma:3 batch_norm/beta:3 batch_norm/moving_mean:3 '\n"
                 "  .. 'batch_norm/moving_variance:3 end/kernel:48x2 end/bias:2', got)\n"));
    passes(MODEL("x = nn.layer_norm(nn.batch_norm{ scale = false, name = 'bn' }(x))",
                 "local got = names(model:summary())\n"
                 "assert(got == 'bn/beta:3 bn/moving_mean:3 bn/moving_variance:3 '\n"
                 "  .. 'layer_norm/gamma:3 layer_norm/beta:3 end/kernel:48x2 end/bias:2', got)\n"));
}

static void moving_statistics_are_no_parameters(void **state)
{
    (void)state;
    passes(MODEL("x = nn.batch_norm(x)", "assert(model:summary().parameters == 6 + 98)\n"));
}

static void a_layer_may_be_used_twice(void **state)
{
    (void)state;
    passes(MODEL("local norm = nn.batch_norm{ momentum = 0.5, epsilon = 1e-5 }\n"
                 "x = nn.add(norm(x), norm(nn.relu(x)))",
                 "assert(model:summary().parameters == 6 + 98)\n"));
}

static void wrong_options_are_named(void **state)
{
    (void)state;
    fails("nn.batch_norm{ epsilon = 0 }", "nn.batch_norm: epsilon: number above 0 expected, got 0");
    fails("nn.layer_norm{ epsilon = -1 }",
          "nn.layer_norm: epsilon: number above 0 expected, got -1");
    fails("nn.batch_norm{ momentum = 2 }",
          "nn.batch_norm: momentum: number from 0.0 to 1.0 expected, got 2");
    fails("nn.batch_norm{ activation = 'tanh' }",
          "nn.batch_norm: activation: \"linear\" or \"relu\" expected, got \"tanh\"");
    fails("nn.layer_norm{ axis = 1 }", "nn.layer_norm: unknown option 'axis'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_are_named_as_in_keras),
        cmocka_unit_test(moving_statistics_are_no_parameters),
        cmocka_unit_test(a_layer_may_be_used_twice),
        cmocka_unit_test(wrong_options_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
