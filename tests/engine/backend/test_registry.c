/* Finding and choosing backends, with and without the plugin. */
#include "tests/support/check.h"

#include "engine/backend/backend.h"
#include <stdlib.h>
#include <string.h>

static void the_host_is_found_by_name(void **state)
{
    (void)state;
    const struct mgb_backend *host = mgb_backend_find("host");
    assert_non_null(host);
    assert_string_equal(host->name, "host");
}

static void an_unknown_name_is_answered_with_what_there_is(void **state)
{
    (void)state;
    assert_null(mgb_backend_find("rocm"));
    assert_message("host and cuda");
}

static void choosing_the_host_gives_its_devices_and_no_remark(void **state)
{
    (void)state;
    const struct mgb_backend *backend;
    struct mgb_topology topology;
    char remark[256] = "old";
    assert_ok(mgb_backend_choose(&backend, &topology, "host", remark, sizeof remark));
    assert_string_equal(backend->name, "host");
    assert_int_equal(topology.device_count, 17);
    assert_string_equal(remark, "");
    mgb_topology_done(&topology);
}

static void auto_says_why_there_is_no_cuda(void **state)
{
    (void)state;
    const struct mgb_backend *backend;
    struct mgb_topology topology;
    char remark[512];
    assert_ok(mgb_backend_choose(&backend, &topology, "auto", remark, sizeof remark));
    if (strcmp(backend->name, "host") == 0)
        assert_non_null(strstr(remark, "CPU devices, because"));
    else
        assert_string_equal(remark, "");
    mgb_topology_done(&topology);
    assert_ok(mgb_backend_choose(&backend, &topology, "auto", NULL, 0));
    mgb_topology_done(&topology);
}

static void choosing_an_unknown_backend_fails(void **state)
{
    (void)state;
    const struct mgb_backend *backend;
    struct mgb_topology topology;
    assert_status(mgb_backend_choose(&backend, &topology, "rocm", NULL, 0), MGB_MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_is_found_by_name),
        cmocka_unit_test(an_unknown_name_is_answered_with_what_there_is),
        cmocka_unit_test(choosing_the_host_gives_its_devices_and_no_remark),
        cmocka_unit_test(auto_says_why_there_is_no_cuda),
        cmocka_unit_test(choosing_an_unknown_backend_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
