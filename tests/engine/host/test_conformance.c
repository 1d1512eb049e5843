/* The CPU devices do what every backend must: sums, updates, order, all-reduce. */
#include "tests/support/check.h"

#include "tests/support/conformance.h"

static void sums_are_in_the_order_of_the_contract(void **state)
{
    (void)state;
    struct rig rig = rig_open(&mgb_host_backend, 0);
    conformance_sums(&rig, 0, 1);
    conformance_sums(&rig, 1, 2);
    conformance_sums(&rig, 4, 3);
    rig_close(&rig);
}

static void updates_follow_the_formulas(void **state)
{
    (void)state;
    struct rig rig = rig_open(&mgb_host_backend, 0);
    conformance_updates(&rig, 0, 2);
    conformance_updates(&rig, 2, 1);
    rig_close(&rig);
}

static void events_order_queues_of_different_devices(void **state)
{
    (void)state;
    struct rig rig = rig_open(&mgb_host_backend, 0);
    conformance_order(&rig, 1, 2);
    conformance_order(&rig, 0, 5);
    rig_close(&rig);
}

static void all_reduce_gives_all_devices_the_same_sum(void **state)
{
    (void)state;
    static const int counts[] = {1, 2, 3, 4, 12};
    struct rig rig = rig_open(&mgb_host_backend, 0);
    for (int i = 0; i < 5; i++) {
        conformance_allreduce(&rig, counts[i], 30011);
        conformance_allreduce(&rig, counts[i], 3);
    }
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_in_the_order_of_the_contract),
        cmocka_unit_test(updates_follow_the_formulas),
        cmocka_unit_test(events_order_queues_of_different_devices),
        cmocka_unit_test(all_reduce_gives_all_devices_the_same_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
