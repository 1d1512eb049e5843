/* The CUDA backend on fake GPUs does what every backend must: the checks that CPU devices pass too. */
#include "tests/engine/cuda/machine.h"

#include "tests/support/check.h"
#include "tests/support/conformance.h"
#include "tests/support/draws.h"
#include <stdlib.h>

static struct rig machine_open(const char *gpus)
{
    machine_set(gpus, NULL);
    return rig_open(machine_cuda(), 0);
}

static void machine_close(struct rig *rig)
{
    rig_close(rig);
    machine_check_empty();
}

static void sums_are_in_the_order_of_the_contract(void **state)
{
    (void)state;
    struct rig rig = machine_open("2");
    conformance_sums(&rig, 0, 2);
    conformance_sums(&rig, 1, 1);
    machine_close(&rig);
}

static void updates_follow_the_formulas(void **state)
{
    (void)state;
    struct rig rig = machine_open("2");
    conformance_updates(&rig, 0, 1);
    conformance_updates(&rig, 2, 1);
    machine_close(&rig);
}

static void events_order_queues_of_different_devices(void **state)
{
    (void)state;
    struct rig rig = machine_open("2");
    conformance_order(&rig, 1, 2);
    conformance_order(&rig, 0, 2);
    conformance_order(&rig, 1, 0);
    machine_close(&rig);
}

static void all_reduce_gives_all_devices_the_same_sum(void **state)
{
    (void)state;
    static const int counts[] = {1, 2, 3, 8};
    struct rig rig = machine_open("8");
    for (int i = 0; i < 4; i++) {
        conformance_allreduce(&rig, counts[i], 3011);
        conformance_allreduce(&rig, counts[i], 3);
    }
    machine_close(&rig);
}

/* GPUs have every operator, so no model is refused. */
static void operators_match_the_reference(void **state)
{
    (void)state;
    struct rig rig = machine_open("1");
    struct rig_play play = {.device = 1, .threads = 1},
                    in_place = {.device = 1, .threads = 1, .in_place = true};
    for (int i = 0; i < conformance_model_count; i++) {
        if (!conformance_model_check(&rig, &play, &conformance_models[i]))
            fail_msg("%s: %s", conformance_models[i].name, mgb_message_get());
        assert_true(conformance_model_check(&rig, &in_place, &conformance_models[i]));
    }
    machine_close(&rig);
}

/* Threads of a block go on in random order between barriers, and what a kernel must not read is NaN. */
static void operators_match_in_any_order_of_threads(void **state)
{
    (void)state;
    static const char *const seeds[] = {"11", "12", "13", "14"};
    const struct rig_play play = {.device = 1, .threads = 1};
    setenv("FAKE_CUDA_ORDER", "random", 1);
    for (int s = 0; s < (draw_long() ? 4 : 1); s++) {
        setenv("FAKE_CUDA_SEED", seeds[s], 1);
        struct rig rig = machine_open("1");
        for (int i = 0; i < conformance_model_count; i++)
            if (!conformance_model_check(&rig, &play, &conformance_models[i]))
                fail_msg("%s, seed %s: %s", conformance_models[i].name, seeds[s],
                         mgb_message_get());
        machine_close(&rig);
    }
    unsetenv("FAKE_CUDA_ORDER");
    unsetenv("FAKE_CUDA_SEED");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_in_the_order_of_the_contract),
        cmocka_unit_test(updates_follow_the_formulas),
        cmocka_unit_test(events_order_queues_of_different_devices),
        cmocka_unit_test(all_reduce_gives_all_devices_the_same_sum),
        cmocka_unit_test(operators_match_the_reference),
        cmocka_unit_test(operators_match_in_any_order_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
