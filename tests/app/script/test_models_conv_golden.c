/* The convolutional models against torchvision's: outputs in evaluation, losses and gradients of three steps. */
#include "tests/support/check.h"

#include "tests/app/script/golden_model.h"
#include <stdlib.h>
#include <string.h>

static void both(const char *name, const char *model)
{
    golden_model_evaluate(name, model);
    golden_model_train(name, model);
}

static void resnet_is_torchvisions(void **state)
{
    (void)state;
    both("resnet18_small", "'resnet', { depth = 18, small = true }");
    both("resnet50_small", "'resnet50', { small = true }");
}

static void cifar_resnet_is_that_of_the_paper(void **state)
{
    (void)state;
    both("cifar_resnet_small", "'cifar_resnet', { small = true }");
}

static void inception_v3_with_both_classifiers_is_torchvisions(void **state)
{
    (void)state;
    both("inception_v3_small", "'inception_v3', { small = true, image = 139, dropout = 0.0 }");
    golden_model_train("inception_v3_aux_small",
                       "'inception_v3', { small = true, aux = true, dropout = 0.0 }");
}

static void vgg16_is_torchvisions(void **state)
{
    (void)state;
    both("vgg16_small", "'vgg16', { small = true, dropout = 0.0 }");
}

static void alexnet_is_torchvisions(void **state)
{
    (void)state;
    both("alexnet_small", "'alexnet', { small = true, dropout = 0.0 }");
}

static void full_size_gives_torchvisions_outputs(void **state)
{
    (void)state;
    golden_model_evaluate("resnet50", "'resnet50'");
    golden_model_evaluate("inception_v3", "'inception_v3'");
}

/* 2.4 GB: in the long form only. */
static void full_size_of_many_weights_gives_torchvisions_outputs(void **state)
{
    (void)state;
    const char *is_long = getenv("MGB_LONG");
    if (!is_long || strcmp(is_long, "1") != 0)
        skip();
    golden_model_evaluate("alexnet", "'alexnet'");
    golden_model_evaluate("vgg16", "'vgg16'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alexnet_is_torchvisions),
        cmocka_unit_test(vgg16_is_torchvisions),
        cmocka_unit_test(cifar_resnet_is_that_of_the_paper),
        cmocka_unit_test(resnet_is_torchvisions),
        cmocka_unit_test(inception_v3_with_both_classifiers_is_torchvisions),
        cmocka_unit_test(full_size_gives_torchvisions_outputs),
        cmocka_unit_test(full_size_of_many_weights_gives_torchvisions_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
