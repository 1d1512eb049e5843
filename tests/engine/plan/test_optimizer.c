/* Defaults and slots of the optimizers, as Keras 2 has them. */
#include "tests/support/check.h"

#include <mgb/optimizer.h>

static void defaults_are_those_of_keras_2(void **state)
{
    (void)state;
    struct mgb_optimizer o = mgb_optimizer_default(MGB_SGD);
    assert_true(o.kind == MGB_SGD && o.lr == 0.01f && o.momentum == 0 && !o.nesterov);
    o = mgb_optimizer_default(MGB_RMSPROP);
    assert_true(o.lr == 0.001f && o.rho == 0.9f && o.epsilon == 1e-7f);
    o = mgb_optimizer_default(MGB_ADAGRAD);
    assert_true(o.lr == 0.01f && o.epsilon == 1e-7f);
    o = mgb_optimizer_default(MGB_ADADELTA);
    assert_true(o.lr == 1.0f && o.rho == 0.95f && o.epsilon == 1e-7f);
    o = mgb_optimizer_default(MGB_ADAM);
    assert_true(o.lr == 0.001f && o.beta1 == 0.9f && o.beta2 == 0.999f && o.epsilon == 1e-7f);
    assert_true(o.decay == 0 && o.clip_norm == 0);
}

static void every_slot_has_a_name_and_no_more(void **state)
{
    (void)state;
    static const int slots[] = {0, 1, 1, 2, 2};
    for (int kind = MGB_SGD; kind <= MGB_ADAM; kind++) {
        struct mgb_optimizer o = mgb_optimizer_default((enum mgb_optimizer_kind)kind);
        assert_int_equal(mgb_optimizer_slots(&o), slots[kind]);
        for (int slot = 0; slot < slots[kind]; slot++)
            assert_non_null(mgb_optimizer_slot_name(&o, slot));
        assert_null(mgb_optimizer_slot_name(&o, slots[kind] > 0 ? slots[kind] : 1));
    }
    struct mgb_optimizer sgd = mgb_optimizer_default(MGB_SGD);
    sgd.momentum = 0.9f;
    assert_int_equal(mgb_optimizer_slots(&sgd), 1);
    assert_string_equal(mgb_optimizer_slot_name(&sgd, 0), "momentum");
    assert_string_equal(mgb_optimizer_name(MGB_ADADELTA), "adadelta");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_keras_2),
        cmocka_unit_test(every_slot_has_a_name_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
