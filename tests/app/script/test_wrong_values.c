/* Values that no run can have: each is refused where it is given, in words that name the option and what was given. */
#include "tests/app/script/run_text.h"

#define BUILD(body)                                                                                \
    "nn.model('m', function(m)\n"                                                                  \
    "local x, image = m:input('x', { 10 }), m:input('image', { 8, 6, 4 })\n" body                  \
    "\nend):summary()"

static void counts_have_an_end(void **state)
{
    (void)state;
    fails("mgb.run{ model = nn.model('m', print), steps = 1 << 40 }",
          "mgb.run: steps: integer from 1 to 2147483647 expected, got 1099511627776");
    fails("mgb.run{ model = nn.model('m', print), steps = 0 }",
          "mgb.run: steps: positive integer expected, got 0");
    fails(BUILD("nn.dense{ units = math.maxinteger }(x)"),
          "nn.dense: units: integer from 1 to 2147483647 expected, got 9223372036854775807");
}

static void integers_of_64_bits_are_not_cut(void **state)
{
    (void)state;
    fails(BUILD("nn.concat{ axis = 1 << 31 }(x, x)"),
          "nn.concat: axis: integer from -2147483648 to 2147483647 expected, got 2147483648");
    fails(BUILD("nn.concat{ axis = -1 << 31 }(x, x)"),
          "concat 'concat': axis -2147483648 of an input with 2 axes (the batch is axis 0)");
    fails(BUILD("nn.conv2d{ filters = 1, kernel = (1 << 32) + 1 }(image)"),
          "nn.conv2d: kernel: integer up to 2147483647 or a pair { height, width } of them "
          "expected, got 4294967297");
    fails(BUILD("nn.max_pool2d{ size = 2, stride = { 1, 1 << 32 }, name = 'p' }(image)"),
          "nn.max_pool2d 'p': stride: integer up to 2147483647 or a pair { height, width } of them "
          "expected, got { 1, 4294967296 }");
    fails(
        BUILD("nn.conv2d{ filters = 1, kernel = 3, padding = 'same', dilation = 1 << 30 }(image)"),
        "conv2d 'conv2d': a kernel of 3x3 with stride 1x1, dilation 1073741824x1073741824, "
        "padding 0x0; none may reach over more than 16777216 elements");
}

static void names_can_be_shown(void **state)
{
    (void)state;
    fails("nn.model('a\\0b', print)",
          "nn.model: a name of characters that can be shown expected, got \"a\\0b\"");
    fails("nn.model('', print)",
          "nn.model: a name of characters that can be shown expected, got \"\"");
    fails("mgb.sweep{ name = 'a\\xffb', model = nn.model('m', print), grid = { gpus = { 1 } } }",
          "mgb.sweep: name: a name of characters that can be shown expected, got 'a\xff"
          "b'");
    fails("mgb.sweep{ name = 'a,b', model = nn.model('m', print), grid = { gpus = { 1 } } }",
          "mgb.sweep: name: a name without commas and without blanks at its ends expected, got "
          "'a,b'");
    fails(
        "mgb.sweep{ name = 'a', model = 'mlp', order = 'grid', order_seed = 2, grid = { gpus = { 1 "
        "} } }",
        "mgb.sweep: order_seed: order = \"grid\" has no seed");
    fails("mgb.sweep{ name = 'a', model = 'mlp', order = 'sorted', grid = { gpus = { 1 } } }",
          "mgb.sweep: order: \"random\" or \"grid\" expected, got \"sorted\"");
    fails(BUILD("m:output('a\\0b', x)"), "the name 'a...' has a NUL in it");
    fails(BUILD("nn.dense{ units = 1, name = 'a\\0b' }"),
          "nn.dense: name: text expected, got one with a NUL in it");
    fails(BUILD("m:output('a\\xff', x)"),
          "output: the name has a byte that is no UTF-8 (0xff at byte 2); it will be shown and "
          "stored, give it characters that can be");
    fails(BUILD("nn.scope('\\27[2J', print)"),
          "scope: the name has a control character (0x1b at byte 1); it will be shown and stored, "
          "give it characters that can be");
    passes(BUILD(
        "m:loss(nn.mean_squared_error(nn.dense{ units = 10, name = 'größe-\u65e5' }(x), x))"));
}

static void no_text_is_no_value(void **state)
{
    (void)state;
    fails("mgb.run{ model = nn.model('m', print), strategy = '' }",
          "mgb.run: strategy: one of \"outputs\", \"gradients\", \"allreduce\", \"independent\" "
          "expected (nil unsets it), got an empty text");
    fails("mgb.run{ model = nn.model('m', print), weights_at = '' }",
          "mgb.run: weights_at: device name as \"/gpu:0\" expected (nil unsets it), got an empty "
          "text");
    fails(
        "mgb.run{ model = nn.model('m', print), weights_at = '/gpu:0\\0' }",
        "mgb.run: weights_at: device name as \"/gpu:0\" expected (nil unsets it), got a text with "
        "a NUL in it");
    fails("mgb.run{ model = nn.model('m', print), machine = '' }",
          "mgb.run: machine: text expected, got an empty one (nil is for none)");
}

static void rates_are_finite(void **state)
{
    (void)state;
    fails("mgb.sgd{ lr = 1 / 0 }", "mgb.sgd: lr: finite number from 0.0 up expected, got inf");
    fails("mgb.sgd{ lr = 0 / 0 }", "mgb.sgd: lr: number from 0.0 up expected, got -nan");
    fails("mgb.sgd{ momentum = 1.5 }",
          "mgb.sgd: momentum: number from 0.0 to 1.0 expected, got 1.5");
    fails("mgb.adam{ epsilon = 1e39 }",
          "mgb.adam: epsilon: finite number from 0.0 up expected, got 1e+39");
    fails("mgb.sgd{ clip_norm = -1 }", "mgb.sgd: clip_norm: number from 0.0 up expected, got -1");
}

static void initialisers_are_named_with_their_layer(void **state)
{
    (void)state;
    fails(
        BUILD("nn.dense{ units = 2, name = 'd', kernel_init = { 'normal', {} } }(x)"),
        "nn.dense 'd': kernel_init: a deviation from 0 up expected, as { \"normal\", 0.05 }, got { "
        "\"normal\", a table }");
    fails(BUILD("nn.dense{ units = 2, bias_init = { 'constant', 1 / 0 } }(x)"),
          "nn.dense: bias_init: constant needs its value: { \"constant\", 0.1 }, got { "
          "\"constant\", inf }");
    fails(BUILD("nn.dense{ units = 2, kernel_init = { 'zeros', 1 } }(x)"),
          "nn.dense: kernel_init: zeros takes no such value: { \"zeros\", 1 }");
    fails(BUILD("nn.conv2d{ filters = 1, kernel = { {}, 1 } }(image)"),
          "nn.conv2d: kernel: positive integer or a pair { height, width } of them expected, got { "
          "a table, 1 }");
}

static void a_model_that_calls_itself_is_named(void **state)
{
    (void)state;
    fails("local m m = nn.model('ouroboros', function(b) m(b:input('x', { 2 })) end) m:summary()",
          "model 'ouroboros' calls itself");
    fails("local m m = nn.model('deeper', function(b, o) m{ depth = o.depth + 1 }(b:input('x', { 2 "
          "})) end,"
          "{ options = { depth = 0 } }) m:summary()",
          "model 'deeper' is called within models 64 deep: does it call itself without end?");
}

static void a_caught_error_leaves_no_scope_open(void **state)
{
    (void)state;
    passes("local s = nn.model('m', function(m)\n"
           "local x = m:input('x', { 10 })\n"
           "for _, open in ipairs{ function(fn) nn.scope('s', fn) end, function(fn) "
           "nn.device('/cpu:0', fn) end } do\n"
           "  local ok, why = pcall(open, function() error('on purpose') end)\n"
           "  assert(not ok and why:find('on purpose'), why)\n"
           "end\n"
           "m:loss(nn.mean_squared_error(nn.dense{ units = 10 }(x), x)) end):summary()\n"
           "assert(s.variables[1].name == 'dense/kernel', s.variables[1].name)");
    fails("local part = nn.model('part', function(m) error('on purpose') end)\n" BUILD(
              "pcall(part, x) m:output('y', nn.dense{ units = 2 }(x))"),
          "model 'm': an error in model 'part', used as a layer of it, was caught; what is half "
          "built cannot be trained");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_have_an_end),
        cmocka_unit_test(integers_of_64_bits_are_not_cut),
        cmocka_unit_test(names_can_be_shown),
        cmocka_unit_test(no_text_is_no_value),
        cmocka_unit_test(rates_are_finite),
        cmocka_unit_test(initialisers_are_named_with_their_layer),
        cmocka_unit_test(a_model_that_calls_itself_is_named),
        cmocka_unit_test(a_caught_error_leaves_no_scope_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
