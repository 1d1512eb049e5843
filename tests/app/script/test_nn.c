/* Layers and models from Lua: shapes, names, sharing, and the words for every way to get them wrong. */
#include "tests/app/script/run_text.h"

/* A model around `body`, which has x (10 numbers) and label; `tail` is what comes after. */
#define MODEL(body)                                                                                \
    "local seen\n"                                                                                 \
    "local model = nn.model('m', function(m, opt)\n"                                               \
    "  local x, label = m:input('x', { 10 }), m:input('label', {}, 'i32')\n"                       \
    "  local image = m:input('image', { 8, 6, 4 })\n"                                              \
    "  local y = x\n" body "\n"                                                                    \
    "  m:loss(nn.softmax_cross_entropy(nn.dense{ units = 3, name = 'end' }(nn.flatten(y)), "       \
    "label))\n"                                                                                    \
    "end, { options = { depth = 2, wide = false } })\n"                                            \
    "local function shape(t) return table.concat(t.shape, 'x') end\n"                              \
    "local function names(s) local n = {} for i, v in ipairs(s.variables) do n[i] = v.name end "   \
    "return table.concat(n, ' ') end\n"

static void shapes_follow_the_options(void **state)
{
    (void)state;
    passes(MODEL(
        "seen = { nn.conv2d{ filters = 5, kernel = 3 }(image),\n"
        "  nn.conv2d{ filters = 5, kernel = { 3, 1 }, stride = { 2, 1 }, padding = 'same' "
        "}(image),\n"
        "  nn.conv2d{ filters = 8, kernel = 3, padding = { 1, 0 }, dilation = 2, groups = 4 "
        "}(image),\n"
        "  nn.max_pool2d{ size = 2 }(image), nn.avg_pool2d{ size = 3, stride = 1 }(image), "
        "nn.max_pool2d(image),\n"
        "  nn.flatten(image), nn.reshape{ shape = { 4, -1 } }(image), nn.concat(x, x), nn.concat{ "
        "axis = 1 }(image, image),\n"
        "  nn.add(x, x, x), nn.dropout{ rate = 0.5 }(x), nn.relu(x) }") "model:summary()\n"
                                                                        "local want = { '6x4x5', "
                                                                        "'4x6x5', '6x2x8', "
                                                                        "'4x3x4', '6x4x4', "
                                                                        "'4x3x4', '192', '4x48', "
                                                                        "'20', '16x6x4', '10', "
                                                                        "'10', '10' }\n"
                                                                        "for i, t in ipairs(seen) "
                                                                        "do assert(shape(t) == "
                                                                        "want[i], i .. ': ' .. "
                                                                        "shape(t)) end\n"
                                                                        "assert(seen[1].type == "
                                                                        "'f32' and "
                                                                        "tostring(seen[1]) == "
                                                                        "'tensor f32 (6x4x5 an "
                                                                        "example)')");
}

static void a_layer_makes_its_variables_once(void **state)
{
    (void)state;
    passes(
        MODEL("local d = nn.dense{ units = 10 } y = d(d(d(x)))") "local s = model:summary()\n"
                                                                 "assert(s.parameters == 10 * 10 + "
                                                                 "10 + 10 * 3 + 3, s.parameters)\n"
                                                                 "assert(names(s) == 'dense/kernel "
                                                                 "dense/bias end/kernel end/bias', "
                                                                 "names(s))");
    passes(MODEL(
        "y = nn.dense{ units = 10, bias = false }(nn.dense{ units = 10 }(x))") "local s = "
                                                                               "model:summary()\n"
                                                                               "assert(names(s) == "
                                                                               "'dense_1/kernel "
                                                                               "dense_1/bias "
                                                                               "dense_2/kernel "
                                                                               "end/kernel "
                                                                               "end/bias', "
                                                                               "names(s))");
    passes(MODEL("local d = nn.dense{ units = 10 } y = nn.dense{ units = 10, tie = d, name = "
                 "'tied' }(d(x))") "local s = model:summary()\n"
                                   "assert(names(s) == 'dense/kernel dense/bias tied/bias "
                                   "end/kernel end/bias', names(s))");
}

static void a_bare_variable_is_added_to_every_example(void **state)
{
    (void)state;
    passes(MODEL("local p = nn.parameter{ shape = { 10 }, name = 'shift' }\n"
                 "y = nn.add(p, nn.add(x, p, p()))") "local s = model:summary()\n"
                                                     "assert(s.parameters == 10 + 10 * 3 + 3)\n"
                                                     "assert(names(s) == 'shift/value end/kernel "
                                                     "end/bias', names(s))");
    fails(MODEL("y = nn.add(x, nn.parameter{ shape = { 4 } })") "model:summary()",
          "add 'add': 10 and 4 have different shapes that do not fit each other: "
          "counted from the last axis, two are equal or one is 1");
}

static void a_layer_of_two_graphs_has_variables_in_each(void **state)
{
    (void)state;
    passes("local d = nn.dense{ units = 3, name = 'shared' }\n"
           "local function make(name) return nn.model(name, function(m)\n"
           "  m:loss(nn.softmax_cross_entropy(d(m:input('x', { 4 })), m:input('label', {}, "
           "'i32'))) end) end\n"
           "for _, name in ipairs{ 'a', 'b', 'a' } do assert(make(name):summary().parameters == "
           "15) end\n"
           "local one = make('one') assert(one:summary().digest == one:summary().digest)");
}

static void scopes_and_parameters_have_their_names(void **state)
{
    (void)state;
    passes(MODEL(
        "nn.scope('outer', function()\n"
        "  nn.device('/gpu:1', function() y = nn.scope('inner', nn.dense{ units = 4 }, y) end)\n"
        "  y = nn.dense{ units = 4, name = 'late' }(y) end)") "local s = names(model:summary())\n"
                                                              "assert(s == "
                                                              "'outer/inner/dense/kernel "
                                                              "outer/inner/dense/bias "
                                                              "outer/late/kernel outer/late/bias "
                                                              "end/kernel end/bias', s)");
    passes(MODEL(
        "local p = nn.parameter{ shape = { 10 }, init = 'ones', name = 'p' } assert(#p().shape == "
        "1)") "local s = names(model:summary()) assert(s:match('^p/value'), s)");
}

static void signs_between_tensors_are_layers(void **state)
{
    (void)state;
    passes(
        MODEL("y = (x + x) * 0.5 - 1 / (nn.abs(x) + 1) * x + nn.parameter{ shape = { 10 } } y = -y "
              "/ 2") "assert(names(model:summary()) == 'parameter/value end/kernel end/bias')");
    fails(MODEL("y = x + image") "model:summary()",
          "add 'add': 10 and 8x6x4 have different shapes that do not fit each other: counted "
          "from the last axis, two are equal or one is 1");
    fails(MODEL("y = x + 'x'") "model:summary()", "nn.add: argument 2: tensor expected, got \"x\"");
    fails(MODEL("y = x / 0") "model:summary()", "nn.div 'div': division by 0");
}

/* A function that forgot to return, a layer that was never called, a name that is nil. */
static void what_is_given_in_place_of_a_tensor_is_named(void **state)
{
    (void)state;
    fails(MODEL("local function block(x) nn.dense{ units = 2 }(x) end\n"
                "y = nn.relu(block(x))") "model:summary()",
          "nn.flatten: argument 1: tensor expected, got the layer relu 'relu' itself: call it on a "
          "tensor first");
    fails(MODEL("y = nn.add(x, nn.dense{ units = 10 })") "model:summary()",
          "nn.add: argument 2: tensor expected, got the layer dense 'dense' itself: call it on a "
          "tensor first");
    fails(
        MODEL("m:output('y', nn.dense{ units = 10 })") "model:summary()",
        "m:output: tensor expected, got the layer dense 'dense' itself: call it on a tensor first");
    fails(MODEL("y = nn.relu(nil)") "model:summary()",
          "nn.relu: argument 1: tensor expected, got nil");
    fails("nn.dense(nil)", "nn.dense: argument 1: table of options expected, got nil");
    fails("mgb.run{ model = mgb.adam{} }", "model: name or model expected, got an optimizer");
}

static void a_model_is_a_layer(void **state)
{
    (void)state;
    passes("local inner = nn.model('inner', function(m, opt)\n"
           "  local a, b = m:input('a', { 10 }), m:input('b', { 10 })\n"
           "  m:output('sum', nn.add(a, b)) m:output('deep', nn.dense{ units = opt.units }(a))\n"
           "  m:loss(nn.mean_squared_error(a, b)) end, { options = { units = 7 } })\n" MODEL(
               "local sum, deep = inner(x, x) seen = deep inner(sum, sum) inner{ units = 2 }(x, x) "
               "y = sum") "local s = model:summary() assert(shape(seen) == '7')\n"
                          "assert(s.parameters == 77 + 22 + 33, s.parameters)");
}

static void options_of_a_model_are_checked(void **state)
{
    (void)state;
    passes("local m = nn.model('m', function(m) local x, y = m:input('x', { 1 }), m:input('y', { 1 "
           "})\n"
           "m:loss(nn.mean_squared_error(nn.dense{ units = 1 }(x), y)) end, { options = { rate = "
           "0.1, third = 0.1 + 0.2, "
           "big = 1e300 } })\n"
           "local said = m:summary().options\n"
           "assert(said == '{\"big\":1e+300,\"rate\":0.1,\"third\":0.30000000000000004}', said)");
    passes(MODEL("seen = opt.depth") "model:summary() assert(seen == 2) model{ depth = 5 "
                                     "}:summary() assert(seen == 5)\n"
                                     "assert(model{ depth = 3 }{ wide = true }:summary().options "
                                     "== '{\"depth\":3,\"wide\":true}')");
    fails(MODEL("") "model{ dept = 3 }",
          "model 'm': unknown option 'dept' (did you mean 'depth'?)");
    fails(MODEL("") "model{ depth = '3' }", "model 'm': depth: integer expected, got \"3\"");
    fails(MODEL("") "model(3)", "model 'm': options { ... } or tensors expected, got 3");
    fails(MODEL("local _ = opt.dept") "model:summary()",
          "model 'm' has no option 'dept' (did you mean 'depth'?)");
    fails(MODEL("") "return model.depth",
          "a model has no field 'depth': there are name, summary() and as()");
    fails("nn.model('m', function() end, { option = {} })",
          "nn.model 'm': unknown option 'option' (did you mean 'options'?)");
    fails("nn.model('m')", "nn.model 'm': function (m, opt) expected, got nil");
}

static void wrong_options_of_layers_are_named(void **state)
{
    (void)state;
    fails("nn.dense{ unit = 3 }", "nn.dense: unknown option 'unit' (did you mean 'units'?)");
    fails("nn.conv2d{ filter = 3, kernel = 3 }",
          "nn.conv2d: unknown option 'filter' (did you mean 'filters'?)");
    fails("nn.dense{}", "nn.dense: units: positive integer expected, got nil");
    fails("nn.dense{ units = 0 }", "nn.dense: units: positive integer expected, got 0");
    fails("nn.dense{ unit = 3, units = 3 }",
          "nn.dense: unknown option 'unit' (did you mean 'units'?)");
    fails("nn.dense{ units = 3, activation = 'rely' }",
          "nn.dense: activation: \"linear\", \"relu\", \"tanh\", \"sigmoid\", \"relu6\" or "
          "\"gelu\" expected, got \"rely\" (did you mean \"relu\"?)");
    fails("nn.dense{ units = 3, kernel_init = 'he' }",
          "nn.dense: kernel_init: one of glorot_uniform, he_normal, normal, uniform, orthogonal, "
          "zeros, ones, "
          "constant "
          "expected (or { \"normal\", 0.05 }, "
          "{ \"constant\", 1 }), got \"he\"");
    fails(
        "nn.dense{ units = 3, kernel_init = { 'orthogonal', 'big' } }",
        "nn.dense: kernel_init: a gain expected, as { \"orthogonal\", 1.4 }, got { \"orthogonal\", "
        "\"big\" }");
    passes(MODEL("y = nn.dense{ units = 4, kernel_init = 'orthogonal' }(x) nn.dense{ units = 4, "
                 "kernel_init = { 'orthogonal', 1.5 } }(y)") "local t = model:summary().text\n"
                                                             "assert(t:find('kernel 10x4 "
                                                             "orthogonal(1)', 1, true) and "
                                                             "t:find('4x4 orthogonal(1.5)', 1, "
                                                             "true), t)");
    fails("nn.dense{ units = 3, kernel_init = 'constant' }",
          "nn.dense: kernel_init: constant needs its value: { \"constant\", 0.1 }");
    fails("nn.conv2d{ filters = 3, kernel = { 3 } }",
          "nn.conv2d: kernel: positive integer or a pair { height, width } of them expected, got { "
          "3 }");
    fails("nn.conv2d{ filters = 3, kernel = 3, padding = 'full' }",
          "nn.conv2d: padding: \"valid\", \"same\", integer or pair { height, width } expected, "
          "got \"full\"");
    fails("nn.dropout{ rate = 2 }", "nn.dropout: rate: number from 0.0 to 1.0 expected, got 2");
    fails("nn.conv3d{}", "nn has no 'conv3d' (did you mean 'conv2d'?)");
}

static void wrong_calls_of_layers_are_named(void **state)
{
    (void)state;
    fails(MODEL("nn.relu(x, x)") "model:summary()", "nn.relu: one tensor expected, got 2");
    fails(MODEL("nn.relu{}(3)") "model:summary()", "nn.relu: argument 1: tensor expected, got 3");
    fails(MODEL("nn.dense(x)") "model:summary()",
          "nn.dense needs its options: write nn.dense{...}(x)");
    fails(MODEL("nn.add(x)") "model:summary()", "nn.add: two or more tensors expected, got 1");
    fails(MODEL("nn.conv2d{ filters = 3, kernel = 3 }(x)") "model:summary()",
          "nn.conv2d 'conv2d': an image (height x width x channels) expected, got 10");
    fails(MODEL("nn.conv2d{ filters = 3, kernel = 3, groups = 3 }(image)") "model:summary()",
          "nn.conv2d 'conv2d': groups = 3 must divide the 4 channels and the 3 filters");
    fails(MODEL("nn.add(x, image)") "model:summary()",
          "add 'add': 10 and 8x6x4 have different shapes that do not fit each other: "
          "counted from the last axis, two are equal or one is 1");
    fails(MODEL("local _ = x.size") "model:summary()",
          "a tensor has no field 'size': there are shape and type");
    fails(MODEL("m:outputs('x', x)") "model:summary()",
          "the model builder has no 'outputs' (did you mean 'output'?)");
    fails(MODEL("m:input('z', { 4 }, { batch = 0 })") "model:summary()",
          "m:input: 'z': batch: positive integer expected, got 0");
    fails(MODEL("m:input('z', { 4 }, 'i32', { rows = 4 })") "model:summary()",
          "m:input: 'z': unknown option 'rows'");
    fails(MODEL("m:input('z', { 4 }, { batch = 4 }) nn.model('inner', function(m) m:input('a', { "
                "10 }, { batch = 8 }) end)(x)") "model:summary()",
          "input 'a': a batch of 8 rows, but input 'z' of model 'm' has 4; all inputs are cut at "
          "the same rows");
    fails(MODEL("m.output('x', x)") "model:summary()", "write m:input(...), with a colon");
    fails(MODEL("seen = x") "model:summary() nn.relu(seen)",
          "nn.relu: this belongs inside of the function of nn.model");
    fails(MODEL("if seen then nn.relu(seen) end seen = x") "model:summary() model:summary()",
          "nn.relu: argument 1 is a tensor of another model ('m'); call the model as a layer "
          "instead");
    fails(
        MODEL(
            "local inner = nn.model('inner', function(m) m:input('a', { 4 }) end) inner(x)") "model"
                                                                                             ":summ"
                                                                                             "ary("
                                                                                             ")",
        "model 'inner': input 'a' is f32 of 4, called on a tensor f32 of 10");
    fails(
        MODEL(
            "local inner = nn.model('inner', function(m) m:input('a', { 10 }) end) inner(x, x)") "m"
                                                                                                 "o"
                                                                                                 "d"
                                                                                                 "e"
                                                                                                 "l"
                                                                                                 ":"
                                                                                                 "s"
                                                                                                 "u"
                                                                                                 "m"
                                                                                                 "m"
                                                                                                 "a"
                                                                                                 "r"
                                                                                                 "y"
                                                                                                 "("
                                                                                                 ")",
        "model 'inner' has 1 input and was called on 2 tensors");
}

static void a_failed_build_leaves_nothing_half_built(void **state)
{
    (void)state;
    passes(MODEL(
        "if opt.wide then error('on purpose') end") "local ok, message = pcall(function() model{ "
                                                    "wide = true }:summary() end)\n"
                                                    "assert(not ok and message:find('on "
                                                    "purpose'))\n"
                                                    "ok, message = pcall(nn.scope, 's', print)\n"
                                                    "assert(message:find('nn.scope: this belongs "
                                                    "inside', 1, true), message)\n"
                                                    "assert(model:summary().parameters == 33)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_follow_the_options),
        cmocka_unit_test(a_layer_makes_its_variables_once),
        cmocka_unit_test(a_bare_variable_is_added_to_every_example),
        cmocka_unit_test(a_layer_of_two_graphs_has_variables_in_each),
        cmocka_unit_test(scopes_and_parameters_have_their_names),
        cmocka_unit_test(signs_between_tensors_are_layers),
        cmocka_unit_test(what_is_given_in_place_of_a_tensor_is_named),
        cmocka_unit_test(a_model_is_a_layer),
        cmocka_unit_test(options_of_a_model_are_checked),
        cmocka_unit_test(wrong_options_of_layers_are_named),
        cmocka_unit_test(wrong_calls_of_layers_are_named),
        cmocka_unit_test(a_failed_build_leaves_nothing_half_built),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
