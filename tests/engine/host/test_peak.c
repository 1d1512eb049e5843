/* The yardstick of a core: a rate that a core can have, measured in the calling thread alone. */
#include "engine/base/parallel.h"
#include "engine/host/dnnl_shim.h"
#include "engine/host/host.h"
#include "tests/support/check.h"

static void a_core_has_a_rate_and_the_team_is_as_it_was(void **state)
{
    (void)state;
    double tflops = -1;
    mgb_parallel_set_threads(3);
    assert_ok(mgb_host_peak(&tflops, 0));
    assert_int_equal(mgb_dnnl_team(), 3);
    assert_true(tflops > 1e-6 && tflops < 10); /* slowed down by tools; no core has 10 TFLOP/s */
}

static void the_backend_offers_it(void **state)
{
    (void)state;
    assert_ptr_equal(mgb_host_backend.core_peak, mgb_host_peak);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_core_has_a_rate_and_the_team_is_as_it_was),
        cmocka_unit_test(the_backend_offers_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
