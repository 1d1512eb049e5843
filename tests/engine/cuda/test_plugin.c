/* The plugin that nvcc made, loaded as the program loads it: on a machine without a GPU it says why, with one it lists it. */
#include "engine/backend/backend.h"
#include "tests/support/check.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void plugin_is_found_and_complete(void **state)
{
    (void)state;
    const struct mgb_backend *cuda = mgb_backend_find("cuda");
    if (!cuda)
        fail_msg("%s", mgb_message_get());
    assert_string_equal(cuda->name, "cuda");
    assert_true(cuda->probe && cuda->open && cuda->close && cuda->can && cuda->describe &&
                cuda->kernel);
    assert_true(cuda->arena_make && cuda->arena_free && cuda->write && cuda->read);
    assert_true(cuda->queue_make && cuda->queue_free && cuda->event_make && cuda->event_free);
    assert_true(cuda->record && cuda->wait && cuda->event_time && cuda->drain);
    assert_true(cuda->launch && cuda->copy && cuda->fill && cuda->reduce && cuda->norm &&
                cuda->clip);
    assert_true(cuda->update && cuda->allreduce);
    assert_ptr_equal(mgb_backend_find("cuda"), cuda);
}

/* The message crosses from the plugin's code to the program's: one buffer serves both. */
static void plugin_lists_devices_or_says_why_none(void **state)
{
    (void)state;
    struct mgb_topology topology;
    const struct mgb_backend *cuda = mgb_backend_find("cuda");
    assert_non_null(cuda);
    (void)mgb_fail(MGB_STATE, "an older message");
    enum mgb_status status = cuda->probe(&topology);
    if (status != MGB_OK) {
        assert_status(status, MGB_MISSING);
        assert_message("no CUDA: ");
        return;
    }
    assert_true(topology.device_count >= 2);
    assert_int_equal(topology.devices[1].class, MGB_CLASS_CUDA);
    mgb_topology_done(&topology);
}

static void auto_falls_to_cpu_devices_with_the_reason(void **state)
{
    (void)state;
    struct mgb_topology topology;
    const struct mgb_backend *backend;
    char remark[256];
    assert_ok(mgb_backend_choose(&backend, &topology, "auto", remark, sizeof remark));
    if (strcmp(backend->name, "host") == 0)
        assert_non_null(strstr(remark, "because no CUDA: "));
    else
        assert_string_equal(remark, "");
    mgb_topology_done(&topology);
}

/* Built with cuDNN it has the version of the library where that can be loaded, with all that is called of it; else nothing. */
static void cudnn_is_loaded_where_the_plugin_is_built_with_it(void **state)
{
    (void)state;
    char versions[512], wanted[64] = "";
    const struct mgb_backend *cuda = mgb_backend_find("cuda");
    assert_non_null(cuda);
#ifdef BUILT_WITH_CUDNN
    void *library = dlopen("libcudnn.so." BUILT_WITH_CUDNN, RTLD_NOW | RTLD_LOCAL);
    if (library)
        snprintf(wanted, sizeof wanted, "\"cuDNN\":\"%s.", BUILT_WITH_CUDNN);
#endif
    cuda->versions(versions, sizeof versions);
    if (wanted[0])
        assert_non_null(strstr(versions, wanted));
    else
        assert_null(strstr(versions, "cuDNN"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plugin_is_found_and_complete),
        cmocka_unit_test(plugin_lists_devices_or_says_why_none),
        cmocka_unit_test(auto_falls_to_cpu_devices_with_the_reason),
        cmocka_unit_test(cudnn_is_loaded_where_the_plugin_is_built_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
