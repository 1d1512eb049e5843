/* Device names in every usual spelling (ancestors 44, 45), and looking devices up. */
#include "tests/support/check.h"

#include <mgb/topology.h>
#include <string.h>

static void every_usual_spelling_is_read(void **state)
{
    (void)state;
    static const char *const spellings[][2] = {
        {"/gpu:1", "/gpu:1"},
        {"gpu:1", "/gpu:1"},
        {"GPU:1", "/gpu:1"},
        {"/GPU:1", "/gpu:1"},
        {"/device:GPU:1", "/gpu:1"},
        {"device:gpu:1", "/gpu:1"},
        {"/job:localhost/replica:0/task:0/device:GPU:1", "/gpu:1"},
        {"/job:worker/task:2/gpu:3", "/host:2/gpu:3"},
        {"/host:1/gpu:0", "/host:1/gpu:0"},
        {"host:0/cpu:0", "/cpu:0"},
        {"/cpu:0", "/cpu:0"},
        {"cpu", "/cpu:0"},
        {"CPU:0", "/cpu:0"},
        {"/gpu:10", "/gpu:10"},
        {"spread", "spread"},
    };
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
        struct mgb_device_name name;
        char text[MGB_DEVICE_NAME_MAX];
        assert_ok(mgb_device_parse(&name, spellings[i][0]));
        assert_string_equal(mgb_device_format(text, name), spellings[i][1]);
    }
}

static void what_is_no_device_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "xla_gpu:0",
        "/xla_gpu:0",
        "/device:XLA_GPU:0",
        "",
        "/",
        "gpu:",
        "gpu:-1",
        "gpu:x",
        "gpu:1x",
        "gpu:1:2",
        "//gpu:1",
        "/gpu:1/",
        "tpu:0",
        "/host/gpu:0",
        "gpu:1000000",
        "/foo:1/gpu:0",
        "/gpu:0/gpu:1",
        "nil",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct mgb_device_name name = {.index = 42};
        assert_status(mgb_device_parse(&name, wrong[i]), MGB_INVALID);
        assert_message("is not the name of a device");
        assert_int_equal(name.index, 42);
    }
}

static void an_unset_name_is_empty_and_equals_itself(void **state)
{
    (void)state;
    char text[MGB_DEVICE_NAME_MAX];
    struct mgb_device_name unset = {0}, unset2 = {.index = 3}, gpu = {MGB_DEVICE_GPU, 0, 0};
    struct mgb_device_name gpu1 = {MGB_DEVICE_GPU, 1, 0}, far = {MGB_DEVICE_GPU, 0, 1};
    assert_string_equal(mgb_device_format(text, unset), "");
    assert_true(mgb_device_equal(unset, unset2));
    assert_false(mgb_device_equal(unset, gpu));
    assert_false(mgb_device_equal(gpu, gpu1));
    assert_false(mgb_device_equal(gpu, far));
    assert_true(mgb_device_equal(gpu, gpu));
}

static void devices_are_found_and_listed(void **state)
{
    (void)state;
    struct mgb_device devices[6] = {{.name = {MGB_DEVICE_CPU, 0, 0}}};
    for (int i = 1; i < 6; i++)
        devices[i].name = (struct mgb_device_name){MGB_DEVICE_GPU, i - 1, 0};
    struct mgb_topology topology = {.device_count = 6, .devices = devices};
    char text[64], small[8];
    assert_int_equal(mgb_topology_find(&topology, devices[4].name), 4);
    assert_int_equal(mgb_topology_find(&topology, devices[0].name), 0);
    assert_int_equal(mgb_topology_find(&topology, (struct mgb_device_name){MGB_DEVICE_GPU, 5, 0}),
                     -1);
    assert_int_equal(mgb_topology_find(&topology, (struct mgb_device_name){0}), -1);
    assert_string_equal(mgb_topology_list(text, sizeof text, &topology),
                        "/cpu:0 /gpu:0 ... /gpu:4");
    topology.device_count = 3;
    assert_string_equal(mgb_topology_list(text, sizeof text, &topology), "/cpu:0 /gpu:0 /gpu:1");
    assert_int_equal(strlen(mgb_topology_list(small, sizeof small, &topology)), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_usual_spelling_is_read),
        cmocka_unit_test(what_is_no_device_is_refused),
        cmocka_unit_test(an_unset_name_is_empty_and_equals_itself),
        cmocka_unit_test(devices_are_found_and_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
