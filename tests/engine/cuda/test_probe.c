/* What the CUDA backend says of a machine, why there is nothing, and what it refuses to open. */
#include "tests/engine/cuda/machine.h"

#include "tests/fake_cuda/fake_cuda.h"
#include "tests/support/check.h"
#include <mgb/op.h>
#include <stdlib.h>
#include <string.h>

static void missing_says(const char *name, const char *value, const char *words)
{
    struct mgb_topology topology;
    machine_set("2", NULL);
    setenv(name, value, 1);
    fake_cuda_reset();
    assert_status(machine_cuda()->probe(&topology), MGB_MISSING);
    assert_message(words);
    unsetenv(name);
}

static void without_driver_device_or_leave_it_says_which(void **state)
{
    (void)state;
    missing_says("FAKE_CUDA_INIT", "35", "no NVIDIA driver is installed (code 35)");
    missing_says("FAKE_CUDA_INIT", "34", "no NVIDIA driver is installed (code 34)");
    missing_says("FAKE_CUDA_INIT", "100", "the driver reports no device");
    missing_says("FAKE_CUDA_INIT", "999", "the driver does not start");
    missing_says("CUDA_VISIBLE_DEVICES", "", "CUDA_VISIBLE_DEVICES='' hides every device");
    missing_says("CUDA_VISIBLE_DEVICES", "7", "CUDA_VISIBLE_DEVICES='7' hides every device");
}

static void probe_lists_the_cpu_and_every_gpu_and_touches_none(void **state)
{
    (void)state;
    struct mgb_topology topology;
    machine_set("3", NULL);
    setenv("FAKE_CUDA_PEER", "0-1", 1);
    fake_cuda_reset();
    assert_ok(machine_cuda()->probe(&topology));
    assert_int_equal(topology.device_count, 4);
    assert_int_equal(topology.devices[0].name.kind, MGB_DEVICE_CPU);
    assert_int_equal(topology.devices[3].name.index, 2);
    assert_int_equal(topology.devices[3].class, MGB_CLASS_CUDA);
    assert_int_equal(topology.devices[1].memory_bytes, 64 << 20);
    assert_string_equal(topology.devices[2].pci, "0000:11:00.0");
    assert_int_equal(strlen(topology.devices[1].uuid), 40);
    assert_int_equal(topology.link_count, 12);
    int peers = 0;
    for (int i = 0; i < topology.link_count; i++)
        peers += topology.links[i].peer;
    assert_int_equal(peers, 2);
    for (int i = 0; i < 3; i++)
        assert_int_equal(fake_cuda_usage_get(i).touched, 0);
    mgb_topology_done(&topology);
}

static void device_that_is_not_used_stays_untouched(void **state)
{
    (void)state;
    struct mgb_topology topology;
    void *context, *arena;
    machine_set("3", NULL);
    const struct mgb_backend *cuda = machine_cuda();
    struct mgb_backend_options options = {0};
    assert_ok(cuda->probe(&topology));
    assert_ok(cuda->open(&context, &topology, &options));
    assert_ok(cuda->arena_make(context, &arena, 2, 4096));
    assert_int_equal(fake_cuda_usage_get(0).touched, 0);
    assert_int_equal(fake_cuda_usage_get(1).touched, 1);
    assert_int_equal(fake_cuda_usage_get(2).touched, 0);
    cuda->arena_free(context, 2, arena, 4096);
    cuda->close(context);
    mgb_topology_done(&topology);
    machine_check_empty();
}

static void one_gpu_twice_needs_to_be_asked_for(void **state)
{
    (void)state;
    struct mgb_topology topology;
    void *context;
    machine_set("2", NULL);
    const struct mgb_backend *cuda = machine_cuda();
    struct mgb_backend_options options = {0};
    assert_ok(cuda->probe(&topology));
    topology.devices[2].physical = 0;
    assert_status(cuda->open(&context, &topology, &options), MGB_INVALID);
    assert_message("/gpu:0 and /gpu:1 are the same GPU");
    options.logical = true;
    assert_ok(cuda->open(&context, &topology, &options));
    cuda->close(context);
    mgb_topology_done(&topology);
    machine_check_empty();
}

static void arena_beyond_memory_names_device_and_bytes(void **state)
{
    (void)state;
    struct mgb_topology topology;
    void *context, *arena;
    machine_set("2", NULL);
    const struct mgb_backend *cuda = machine_cuda();
    struct mgb_backend_options options = {0};
    assert_ok(cuda->probe(&topology));
    assert_ok(cuda->open(&context, &topology, &options));
    assert_status(cuda->arena_make(context, &arena, 2, 65 << 20), MGB_OOM);
    assert_string_equal(mgb_oom_get().device, "/gpu:1");
    assert_int_equal(mgb_oom_get().needed, 65 << 20);
    assert_int_equal(mgb_oom_get().available, 64 << 20);
    assert_ok(cuda->arena_make(context, &arena, 2, 1 << 20)); /* the session lives on */
    cuda->arena_free(context, 2, arena, 1 << 20);
    cuda->close(context);
    options.gpu_memory = 1 << 20;
    assert_ok(cuda->open(&context, &topology, &options));
    assert_status(cuda->arena_make(context, &arena, 1, 2 << 20), MGB_OOM);
    assert_int_equal(mgb_oom_get().available, 1 << 20);
    cuda->close(context);
    mgb_topology_done(&topology);
}

static void facts_of_operators_are_those_of_gpus(void **state)
{
    (void)state;
    struct mgb_topology topology;
    struct mgb_graph *graph;
    struct mgb_operator_facts facts;
    struct mgb_shape image = {.rank = 3, .dim = {8, 8, 2}};
    struct mgb_window window = {.size = {2, 2}, .stride = {2, 2}, .dilation = {1, 1}, .groups = 1};
    void *context;
    struct mgb_shape row = {.rank = 1, .dim = {32}};
    int x, pooled, flat, target, loss;
    machine_set("1", NULL);
    assert_ok(mgb_graph_make(&graph, "pool"));
    assert_ok(mgb_graph_input(graph, &x, "x", &image, MGB_F32));
    assert_ok(mgb_op_max_pool2d(graph, &pooled, "pool1", x, &window));
    assert_ok(mgb_op_flatten(graph, &flat, "flat", pooled));
    assert_ok(mgb_graph_input(graph, &target, "target", &row, MGB_F32));
    assert_ok(mgb_op_mean_squared_error(graph, &loss, "loss", flat, target));
    assert_ok(mgb_graph_loss(graph, loss, 1.0f));
    assert_ok(mgb_graph_finish(graph));
    const struct mgb_backend *cuda = machine_cuda();
    struct mgb_backend_options options = {0};
    assert_ok(cuda->probe(&topology));
    assert_ok(cuda->open(&context, &topology, &options));
    struct mgb_node_use use = {
        .graph = graph, .node = graph->tensors[pooled].node, .rows = 2, .threads = 1};
    assert_ok(cuda->describe(context, 1, &use, &facts));
    assert_int_equal(facts.alias, -1); /* a place of its own */
    use.node = graph->tensors[flat].node;
    assert_ok(cuda->describe(context, 1, &use, &facts));
    assert_int_equal(facts.alias, 0);
    cuda->close(context);
    mgb_topology_done(&topology);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_driver_device_or_leave_it_says_which),
        cmocka_unit_test(probe_lists_the_cpu_and_every_gpu_and_touches_none),
        cmocka_unit_test(device_that_is_not_used_stays_untouched),
        cmocka_unit_test(one_gpu_twice_needs_to_be_asked_for),
        cmocka_unit_test(arena_beyond_memory_names_device_and_bytes),
        cmocka_unit_test(facts_of_operators_are_those_of_gpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
