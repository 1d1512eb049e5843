/* Arithmetic, reductions, cuts, depthwise convolutions and penalties from Lua: shapes, names, and the words for mistakes. */
#include "tests/app/script/run_text.h"

/* A model around `body`, which has image (8x6x4), x (5x6), v (6) and label; `tail` comes after. */
#define MODEL(body, tail)                                                                          \
    "local seen\n"                                                                                 \
    "local model = nn.model('m', function(m)\n"                                                    \
    "  local image, x = m:input('image', { 8, 6, 4 }), m:input('x', { 5, 6 })\n"                   \
    "  local v, label = m:input('v', { 6 }), m:input('label', {}, 'i32')\n"                        \
    "  local y = x\n" body "\n"                                                                    \
    "  m:loss(nn.softmax_cross_entropy(nn.dense{ units = 3, name = 'end' }(nn.flatten(y)), "       \
    "label))\n"                                                                                    \
    "end)\n"                                                                                       \
    "local function names(s) local n = {} for i, v in ipairs(s.variables) do n[i] = v.name .. "    \
    "':' .. v.shape end return table.concat(n, ' ') end\n" tail

#define SHAPES(list, want)                                                                         \
    MODEL("seen = { " list " }",                                                                   \
          "model:summary()\n"                                                                      \
          "for i, t in ipairs(seen) do seen[i] = #t.shape == 0 and '-' or "                        \
          "table.concat(t.shape, 'x') end\n"                                                       \
          "assert(table.concat(seen, ' ') == '" want "', table.concat(seen, ' '))\n")

static void shapes_follow_the_options(void **state)
{
    (void)state;
    passes(SHAPES("nn.mul(x, v), nn.sub(v, x), nn.div(x, 2), nn.sub(1, x), nn.add(x, v, 3), "
                  "nn.mul(x, x, 0.5), nn.div(1, v), nn.abs(x), "
                  "nn.add(x, nn.parameter{ shape = { 5, 1 } }), "
                  "nn.mul(nn.parameter{ shape = { 2, 5, 6 } }, x)",
                  "5x6 5x6 5x6 5x6 5x6 5x6 6 5x6 5x6 2x5x6"));
    passes(SHAPES("nn.mean{ axis = 1 }(x), nn.sum{ axis = -1, keepdims = true }(x), "
                  "nn.max{ axis = { 1, -1 } }(image), nn.mean{ axis = { 3, 1 }, keepdims = true "
                  "}(image), nn.sum{ axis = { 1, 2 } }(x)",
                  "6 5x1 6 1x6x1 -"));
    passes(SHAPES("nn.global_avg_pool2d(image), nn.global_avg_pool2d{ keepdims = true }(image), "
                  "nn.pad2d{ padding = 1 }(image), nn.pad2d{ padding = { 0, 2 } }(image), "
                  "nn.pad2d{ padding = { { 0, 1 }, { 2, 0 } } }(image), "
                  "nn.slice{ axis = 1, begin = 2, count = 3 }(image), "
                  "nn.slice{ axis = -1, begin = -1 }(image), nn.slice{ axis = 2 }(x), "
                  "nn.concat{ axis = 1 }(nn.parameter{ shape = { 1, 6 } }, x)",
                  "4 1x1x4 10x8x4 8x10x4 9x8x4 3x6x4 8x6x1 5x6 6x6"));
    passes(SHAPES("nn.avg_pool2d{ size = 3, stride = 1, padding = 1, count_padding = true }(image)",
                  "8x6x4"));
}

static void depthwise_layers_are_named_as_in_keras(void **state)
{
    (void)state;
    passes(MODEL(
        "y = nn.depthwise_conv2d{ kernel = 3, stride = 2, padding = 'same', name = 'dw' }(image)\n"
        "y = nn.separable_conv2d{ filters = 9, kernel = { 2, 3 }, multiplier = 2, activation = "
        "'relu', name = 'sep' }(y)",
        "local got = names(model:summary())\n"
        "assert(got == 'dw/depthwise_kernel:3x3x1x4 dw/bias:4 sep/depthwise_kernel:2x3x1x8 '\n"
        "  .. 'sep/pointwise_kernel:1x1x8x9 sep/bias:9 end/kernel:27x3 end/bias:3', got)\n"));
}

static void layers_at_every_position_share_their_variables(void **state)
{
    (void)state;
    passes(SHAPES("nn.time_distributed{ layer = nn.dense{ units = 7 } }(x), "
                  "nn.time_distributed{ layer = nn.flatten{} }(image), "
                  "nn.time_distributed{ layer = nn.max{ axis = 1 } }(image), "
                  "nn.time_distributed{ layer = nn.conv2d{ filters = 2, kernel = 2 } }"
                  "(nn.reshape{ shape = { 3, 4, 4, 4 } }(image)), "
                  "nn.time_distributed{ layer = nn.sum{ axis = 1 } }(nn.reshape{ shape = { 48, 4 "
                  "} }(image))",
                  "5x7 8x24 8x4 3x3x3x2 48"));
    passes(MODEL("local block = nn.model('block', function(b)\n"
                 "  b:output('y', nn.dense{ units = 2 }(b:input('a', { 6 }))) end)\n"
                 "y = nn.time_distributed{ layer = block }(x)",
                 "assert(model:summary().parameters == 6 * 2 + 2 + 10 * 3 + 3)\n"));
}

static void penalties_take_layers_models_and_parameters(void **state)
{
    (void)state;
    passes(
        MODEL("local one, p = nn.dense{ units = 4, name = 'one' }, nn.parameter{ shape = { 6 } }\n"
              "y = one(nn.add(x, p))\n"
              "m:loss(nn.l2{ weight = 1e-3 }(one, p, one), { weight = 0.5 })",
              "local s = model:summary()\n"
              "assert(s.text:find('squares(one/kernel, parameter/value)', 1, true), s.text)\n"));
    passes(
        MODEL("m:loss(nn.binary_cross_entropy(nn.dense{ units = 6 }(v), v))", "model:summary()\n"));
}

static void wrong_options_are_named(void **state)
{
    (void)state;
    fails("nn.mean{}", "nn.mean: axis: integer or list of integers expected (the batch is axis 0, "
                       "-1 the last), got nil");
    fails("nn.max{ axis = 'last' }",
          "nn.max: axis: integer or list of integers expected (the batch is axis 0, -1 the last), "
          "got \"last\"");
    fails("nn.sum{ axis = { 1, 2.5 } }", "nn.sum: axis: integer or list of integers expected (the "
                                         "batch is axis 0, -1 the last), got { 1, 2.5 }");
    fails("nn.mean{ axis = 1, keepdim = true }",
          "nn.mean: unknown option 'keepdim' (did you mean 'keepdims'?)");
    fails("nn.slice{ begin = 1 }", "nn.slice: axis: integer expected, got nil");
    fails("nn.slice{ axis = 1, count = 0 }", "nn.slice: count: positive integer expected, got 0");
    fails("nn.pad2d{ padding = { 1, 2, 3 } }",
          "nn.pad2d: padding: a number, { height, width } or { { top, bottom }, { left, right } } "
          "expected, got { 1, 2, 3 }");
    fails("nn.pad2d{ padding = -1 }", "nn.pad2d: padding: integer from 0 up or a pair { height, "
                                      "width } of them expected, got -1");
    fails("nn.depthwise_conv2d{ filters = 3, kernel = 3 }",
          "nn.depthwise_conv2d: unknown option 'filters'");
    fails("nn.separable_conv2d{ kernel = 3 }",
          "nn.separable_conv2d: filters: positive integer expected, got nil");
    fails("nn.max_pool2d{ count_padding = true }", "nn.max_pool2d: unknown option 'count_padding'");
    fails("nn.l2{ weight = -1 }", "nn.l2: weight: number from 0 up expected, got -1");
    fails("nn.time_distributed{ layer = 3 }",
          "nn.time_distributed: layer: a layer or model expected, got 3");
    fails("nn.time_distributed{}",
          "nn.time_distributed: layer: a layer or model expected, got nil");
}

#define RUN(body) MODEL(body, "model:summary()")

static void wrong_calls_are_named(void **state)
{
    (void)state;
    fails(RUN("nn.mul(x, nn.slice{ axis = 1, count = 4 }(v))"),
          "mul 'mul': 5x6 and 4 have different shapes that do not fit each other: counted from the "
          "last axis, two are equal or one is 1");
    fails(RUN("nn.sub(x, v, v)"), "nn.sub: 2 tensors expected, got 3");
    fails(RUN("nn.add(1, 2)"),
          "nn.add 'add': a tensor expected beside the number, got two numbers");
    fails(RUN("nn.div(x, 0)"), "nn.div 'div': division by 0");
    fails(RUN("nn.mul(x, 1/0)"),
          "nn.mul: argument 2: a tensor or a finite number expected, got inf");
    fails(RUN("nn.mul(x, 'a')"), "nn.mul: argument 2: tensor expected, got \"a\"");
    fails(RUN("nn.mul(nn.parameter{ shape = { 2 } }, nn.parameter{ shape = { 2 } })"),
          "mul 'mul': both operands are variables; one must have a value for each example");
    fails(RUN("nn.mean{ axis = 0 }(x)"),
          "mean 'mean': axis 0 is the batch; what is done to it would mix examples");
    fails(RUN("nn.max{ axis = 3 }(x)"), "max 'max': axis 3 of input 5x6; the batch is axis 0, so "
                                        "it has 1 to 2, or -1 to -2 from the last back");
    fails(RUN("nn.sum{ axis = { 2, -1 } }(x)"), "nn.sum 'sum': axis -1 is given twice");
    fails(RUN("nn.slice{ axis = 1, begin = 3, count = 4 }(x)"),
          "slice 'slice': begin 3, count 4 of axis 1 of 5x6, which has 5");
    fails(RUN("nn.slice{ axis = 1, begin = -6 }(x)"),
          "slice 'slice': begin -6 of axis 1 of 5x6, which has 5");
    fails(RUN("nn.pad2d{ padding = 1 }(x)"),
          "nn.pad2d 'pad2d': an image (height x width x channels) expected, got 5x6");
    fails(RUN("nn.global_avg_pool2d(v)"), "nn.global_avg_pool2d 'global_avg_pool2d': an image "
                                          "(height x width x channels) expected, got 6");
    fails(RUN("nn.depthwise_conv2d{ kernel = 3 }(x)"),
          "nn.depthwise_conv2d 'depthwise_conv2d': an image (height x width x channels) expected, "
          "got 5x6");
    fails(RUN("nn.binary_cross_entropy(x, v)"), "binary_cross_entropy 'binary_cross_entropy': "
                                                "logits 5x6 and target 6 have different shapes");
    fails(RUN("nn.binary_cross_entropy(x, label)"),
          "binary_cross_entropy 'binary_cross_entropy': its target (f32, from 0 to 1) 'label' is "
          "i32, it takes f32");
    fails(RUN("nn.l2{}(x)"),
          "nn.l2: argument 1: a layer, model or parameter expected, got a tensor");
    fails(RUN("nn.l2{}()"), "nn.l2: one or more layers expected, got 0");
    fails(RUN("nn.l2{}(nn.dense{ units = 2, name = 'late' })"),
          "nn.l2 'l2': argument 1, 'late', has no variables yet; call it first");
    fails(RUN("nn.concat(nn.parameter{ shape = { 2 } })"),
          "concat 'concat': all inputs are variables; one must have a value for each example");
    fails(RUN("nn.time_distributed{ layer = nn.relu{} }(nn.sum{ axis = 1 }(v))"),
          "nn.time_distributed 'time_distributed': an input with an axis of positions expected, "
          "got one value an example");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_follow_the_options),
        cmocka_unit_test(depthwise_layers_are_named_as_in_keras),
        cmocka_unit_test(layers_at_every_position_share_their_variables),
        cmocka_unit_test(penalties_take_layers_models_and_parameters),
        cmocka_unit_test(wrong_options_are_named),
        cmocka_unit_test(wrong_calls_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
