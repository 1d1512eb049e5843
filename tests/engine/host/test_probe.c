/* Which CPU devices there are. */
#include "tests/support/check.h"

#include "engine/backend/backend.h"
#include <stdlib.h>
#include <string.h>

static const struct mgb_backend *const host = &mgb_host_backend;

static void there_are_a_cpu_and_sixteen_gpus(void **state)
{
    (void)state;
    struct mgb_topology topology;
    char name[MGB_DEVICE_NAME_MAX];
    unsetenv("MGBENCH_CPU_DEVICES");
    assert_ok(host->probe(&topology));
    assert_int_equal(topology.device_count, 17);
    assert_int_equal(topology.link_count, 17 * 16);
    assert_string_equal(mgb_device_format(name, topology.devices[0].name), "/cpu:0");
    assert_string_equal(mgb_device_format(name, topology.devices[16].name), "/gpu:15");
    for (int i = 0; i < 17; i++) {
        assert_int_equal(topology.devices[i].class, MGB_CLASS_CPU);
        assert_true(topology.devices[i].memory_bytes == 0);
        assert_non_null(strstr(topology.devices[i].label, "core"));
    }
    mgb_topology_done(&topology);
}

static void the_environment_sets_how_many(void **state)
{
    (void)state;
    struct mgb_topology topology;
    setenv("MGBENCH_CPU_DEVICES", "3", 1);
    assert_ok(host->probe(&topology));
    assert_int_equal(topology.device_count, 4);
    mgb_topology_done(&topology);
    static const char *const wrong[] = {"0", "17", "-1", "two", "3x"};
    for (int i = 0; i < 5; i++) {
        setenv("MGBENCH_CPU_DEVICES", wrong[i], 1);
        assert_status(host->probe(&topology), MGB_INVALID);
        assert_message(wrong[i]);
    }
    unsetenv("MGBENCH_CPU_DEVICES");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_are_a_cpu_and_sixteen_gpus),
        cmocka_unit_test(the_environment_sets_how_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
