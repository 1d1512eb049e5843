/* What happens when a device fails: planted out-of-memory, hang and slowness, bad labels, recovery. */
#include "tests/support/check.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "tests/support/model.h"
#include "tests/support/rig.h"
#include <mgb/op.h>
#include <stdlib.h>
#include <string.h>

static const struct mgb_backend *const host = &mgb_host_backend;

/* relu on 64 floats of /gpu:1, and everything to launch it with. */
struct bench {
    struct rig rig;
    struct mgb_graph *graph;
    struct mgb_queue *queue;
    struct mgb_kernel *kernel;
    struct mgb_launch launch;
    void *inputs[2], *outputs[2];
    float *base;
};

static int node_of(const struct mgb_graph *graph, enum mgb_op_kind kind)
{
    for (int i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].kind == kind)
            return i;
    fail_msg("no such operator");
    return -1;
}

static void bench_open(struct bench *b, const char *faults)
{
    int y = -1;
    if (faults)
        setenv("MGBENCH_FAULT", faults, 1);
    b->rig = rig_open(host, 0);
    unsetenv("MGBENCH_FAULT");
    b->graph = model_make("relu");
    assert_ok(mgb_op_activation(b->graph, &y, "relu", model_input(b->graph, "x", SHAPE(1, 64)),
                                MGB_RELU));
    struct mgb_kernel_request request = {.device = 2,
                                         .use = {.graph = b->graph, .rows = 1, .threads = 1}};
    request.use.node = node_of(b->graph, MGB_OP_ACTIVATION);
    assert_ok(host->kernel(b->rig.context, &b->kernel, &request));
    b->queue = rig_compute(&b->rig, 2, 1);
    b->base = rig_arena(&b->rig, 2, 4 * 128);
    b->inputs[0] = b->base;
    b->outputs[0] = b->base + 64;
    b->launch = (struct mgb_launch){.inputs = b->inputs, .outputs = b->outputs, .scale = 1};
    for (int i = 0; i < 64; i++)
        b->base[i] = (float)(i - 32);
}

static void bench_close(struct bench *b)
{
    host->queue_free(b->queue);
    host->arena_free(b->rig.context, 2, b->base, 4 * 128);
    rig_close(&b->rig);
    mgb_graph_free(b->graph);
}

static void an_injected_oom_names_device_and_bytes_and_the_next_step_works(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, "oom:/gpu:1:launch=3");
    for (int i = 0; i < 4; i++)
        assert_ok(host->launch(b.queue, b.kernel, &b.launch));
    assert_status(host->drain(b.rig.context, 5000000000), MGB_OOM);
    assert_message("activation on /gpu:1");
    struct mgb_oom oom = mgb_oom_get();
    assert_string_equal(oom.device, "/gpu:1");
    assert_int_equal(oom.needed, 256);
    assert_int_equal(oom.available, 0);
    memset(b.base + 64, 0, 256);
    assert_ok(host->launch(b.queue, b.kernel, &b.launch));
    assert_ok(host->drain(b.rig.context, 5000000000));
    assert_true(b.base[127] == 31);
    bench_close(&b);
}

/* After a failure on one queue the others skip their work but run empty, and meetings still take place. */
static void a_failure_makes_all_queues_skip_what_is_left(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, "oom:/gpu:1:launch=1");
    struct mgb_event *failed;
    struct mgb_queue *other = rig_compute(&b.rig, 1, 1), *both[2] = {b.queue, other};
    float *value = rig_arena(&b.rig, 1, 4), *buffers[2] = {b.base, value};
    assert_ok(host->event_make(b.rig.context, &failed, 2));
    *value = 5;
    assert_ok(host->launch(b.queue, b.kernel, &b.launch));
    assert_ok(host->record(b.queue, failed));
    assert_ok(host->wait(other, failed));
    assert_ok(host->fill(other, value, 4));
    assert_ok(host->allreduce(both, buffers, 2, 1, MGB_ALLREDUCE_AUTO));
    assert_status(host->drain(b.rig.context, 5000000000), MGB_OOM);
    assert_true(*value == 5 && b.base[0] == -32);
    assert_ok(host->allreduce(both, buffers, 2, 1, MGB_ALLREDUCE_AUTO));
    assert_ok(host->drain(b.rig.context, 5000000000));
    assert_true(*value == -27 && b.base[0] == -27);
    host->queue_free(other);
    host->event_free(failed);
    host->arena_free(b.rig.context, 1, value, 4);
    bench_close(&b);
}

static void a_hang_ends_the_drain_in_time_and_names_device_and_work(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, "hang:/gpu:1:launch=2");
    struct mgb_event *done;
    struct mgb_queue *other = rig_compute(&b.rig, 1, 1);
    assert_ok(host->event_make(b.rig.context, &done, 2));
    for (int i = 0; i < 2; i++)
        assert_ok(host->launch(b.queue, b.kernel, &b.launch));
    assert_ok(host->record(b.queue, done));
    assert_ok(host->wait(other, done));
    assert_status(host->drain(b.rig.context, 50000000), MGB_TIMEOUT);
    assert_message("activation on /gpu:1");
    assert_status(host->launch(b.queue, b.kernel, &b.launch),
                  MGB_TIMEOUT); /* only closing is left */
    assert_status(host->drain(b.rig.context, 0), MGB_TIMEOUT);
    host->queue_free(other);
    bench_close(&b);
    host->event_free(done);
}

static void a_slow_device_takes_at_least_its_delay(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, "slow:/gpu:1:us=3000,slow:/gpu:0:us=1");
    int64_t before = mgb_clock_ns();
    for (int i = 0; i < 4; i++)
        assert_ok(host->launch(b.queue, b.kernel, &b.launch));
    assert_ok(host->drain(b.rig.context, 0));
    assert_true(mgb_clock_ns() - before >= 12000000);
    assert_true(b.base[127] == 31);
    bench_close(&b);
}

static void faults_that_cannot_be_read_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"oom",
                                        "oom:/gpu:1",
                                        "oom:/gpu:1:launch",
                                        "oom:/gpu:1:launch=",
                                        "oom:/gpu:1:launch=0",
                                        "oom:/gpu:1:launch=2x",
                                        "oom:/gpu:1:us=2",
                                        "slow:/gpu:1:launch=2",
                                        "burn:/gpu:1:launch=2",
                                        "oom:/tpu:1:launch=2",
                                        "oom:/gpu:1:launch=1,,"};
    struct mgb_topology topology;
    struct mgb_backend_options options = {0};
    void *context;
    assert_ok(host->probe(&topology));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("MGBENCH_FAULT", wrong[i], 1);
        assert_status(host->open(&context, &topology, &options), MGB_INVALID);
        assert_message("MGBENCH_FAULT");
    }
    setenv("MGBENCH_FAULT", "oom:/gpu:40:launch=1", 1);
    assert_status(host->open(&context, &topology, &options), MGB_MISSING);
    assert_message("/gpu:40");
    unsetenv("MGBENCH_FAULT");
    mgb_topology_done(&topology);
}

static void a_label_outside_the_classes_is_named(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct reference reference = reference_make(graph, 4);
    struct rig rig = rig_open(host, 0);
    struct mgb_kernel *kernel;
    struct mgb_kernel_request request = {.device = 1,
                                         .use = {.graph = graph, .rows = 4, .threads = 1}};
    request.use.node = node_of(graph, MGB_OP_SOFTMAX_XENT);
    assert_ok(host->kernel(rig.context, &kernel, &request));
    struct mgb_queue *queue = rig_compute(&rig, 1, 1);
    float logits[12] = {0}, loss;
    int32_t labels[4] = {0, 2, 3, 1};
    void *inputs[2] = {logits, labels}, *outputs[2] = {&loss, NULL};
    struct mgb_launch launch = {.inputs = inputs, .outputs = outputs, .first_row = 100, .scale = 1};
    assert_ok(host->launch(queue, kernel, &launch));
    assert_status(host->drain(rig.context, 0), MGB_INVALID);
    assert_message("label 3 of row 102");
    labels[2] = 1;
    assert_ok(host->launch(queue, kernel, &launch));
    assert_ok(host->drain(rig.context, 0));
    host->queue_free(queue);
    rig_close(&rig);
    reference_free(&reference);
    mgb_graph_free(graph);
}

static void a_kernel_for_other_threads_is_refused(void **state)
{
    (void)state;
    struct bench b;
    bench_open(&b, NULL);
    struct mgb_queue *queue = rig_compute(&b.rig, 2, 2);
    assert_status(host->launch(queue, b.kernel, &b.launch), MGB_STATE);
    assert_message("1 threads, its queue has 2");
    host->queue_free(queue);
    bench_close(&b);
}

/* Every allocation of opening a backend and preparing operators fails once; nothing is left behind (AddressSanitizer). */
static void a_full_heap_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mnist_cnn();
    struct mgb_topology topology;
    struct mgb_backend_options options = {0};
    int failures = 0;
    bool done = false;
    assert_ok(host->probe(&topology));
    for (long long n = 1; !done; n++) {
        struct mgb_queue *queue = NULL;
        struct mgb_operator_facts facts;
        struct mgb_queue_request request = {.use = MGB_USE_COMPUTE, .device = 1, .threads = 1};
        struct mgb_node_use use = {.graph = graph, .rows = 2, .threads = 1, .training = true};
        void *context = NULL;
        mgb_alloc_fail_at(n);
        enum mgb_status status = host->open(&context, &topology, &options);
        if (status == MGB_OK)
            status = host->queue_make(context, &queue, &request);
        for (use.node = 0; status == MGB_OK && use.node < graph->node_count; use.node++)
            status = host->describe(context, 1, &use, &facts);
        mgb_alloc_fail_at(0);
        done = status == MGB_OK;
        if (!done)
            assert_int_equal(status, MGB_NO_MEMORY);
        failures += !done;
        host->queue_free(queue);
        host->close(context);
    }
    assert_true(failures > 20);
    mgb_topology_done(&topology);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_injected_oom_names_device_and_bytes_and_the_next_step_works),
        cmocka_unit_test(a_failure_makes_all_queues_skip_what_is_left),
        cmocka_unit_test(a_hang_ends_the_drain_in_time_and_names_device_and_work),
        cmocka_unit_test(a_slow_device_takes_at_least_its_delay),
        cmocka_unit_test(faults_that_cannot_be_read_are_refused),
        cmocka_unit_test(a_label_outside_the_classes_is_named),
        cmocka_unit_test(a_kernel_for_other_threads_is_refused),
        cmocka_unit_test(a_full_heap_is_reported_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
