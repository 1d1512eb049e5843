/* Models whose parts are shared, joined, one within the other or at every position, and the plain ones, against
 * PyTorch: outputs, and losses and gradients of training steps. */
#include "tests/support/check.h"

#include "tests/app/script/golden_model.h"

static void both(const char *name, const char *model)
{
    golden_model_evaluate(name, model);
    golden_model_train(name, model);
}

static void gradients_of_a_shared_part_add_up(void **state)
{
    (void)state;
    both("siamese", "'siamese'");
}

static void shared_by_hand_on_one_tower_it_is_the_same_net(void **state)
{
    (void)state;
    both("siamese", "'siamese_unshared'");
}

static void two_inputs_and_two_losses_meet(void **state)
{
    (void)state;
    both("two_in_two_out", "'two_in_two_out'");
}

static void a_model_within_a_model_is_used_twice(void **state)
{
    (void)state;
    both("nested", "'nested'");
}

/* Some layers take all positions at once, others and models one after the other. */
static void layers_and_models_at_every_position_are_the_same_at_each(void **state)
{
    (void)state;
    both("positions",
         "nn.model('positions', function(m)\n"
         "local at = function(layer, x) return nn.time_distributed{ layer = layer }(x) end\n"
         "local x, label = m:input('x', { 4, 6, 5, 2 }), m:input('label', {}, 'i32')\n"
         "local block = nn.model('block', function(b)\n"
         "b:output('y', nn.dense{ units = 7 }(nn.dense{ units = 8, activation = 'tanh' }\n"
         "(b:input('x', { 36 })))) end)\n"
         "x = at(nn.conv2d{ filters = 3, kernel = 3, padding = 'valid', activation = 'relu' }, x)\n"
         "x = at(nn.dense{ units = 2 }, at(block, at(nn.flatten{}, x)))\n"
         "x = nn.dense{ units = 3 }(nn.flatten(x))\n"
         "m:output('y', x) m:loss(nn.softmax_cross_entropy(x, label)) end)");
}

static void mnist_cnn_is_that_of_the_example(void **state)
{
    (void)state;
    golden_model_evaluate("mnist_cnn", "'mnist_cnn'");
    golden_model_train("mnist_cnn", "'mnist_cnn', { dropout = 0.0 }");
}

static void digits_cnn_trains_as_its_layers_do_in_pytorch(void **state)
{
    (void)state;
    golden_model_evaluate("digits_cnn", "'digits_cnn'");
    golden_model_train("digits_cnn", "'digits_cnn', { dropout = 0.0 }");
}

static void mlp_trains_as_its_layers_do_in_pytorch(void **state)
{
    (void)state;
    both("mlp", "'mlp'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_a_shared_part_add_up),
        cmocka_unit_test(shared_by_hand_on_one_tower_it_is_the_same_net),
        cmocka_unit_test(two_inputs_and_two_losses_meet),
        cmocka_unit_test(a_model_within_a_model_is_used_twice),
        cmocka_unit_test(layers_and_models_at_every_position_are_the_same_at_each),
        cmocka_unit_test(mnist_cnn_is_that_of_the_example),
        cmocka_unit_test(digits_cnn_trains_as_its_layers_do_in_pytorch),
        cmocka_unit_test(mlp_trains_as_its_layers_do_in_pytorch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
