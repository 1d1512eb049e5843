/* An MLP trained on fake CUDA devices follows the host backend's losses and weights; under ThreadSanitizer this is also
 * the proof that the backend orders what it must. */
#include "tests/engine/cuda/player.h"

#include "engine/base/clock.h"
#include "tests/fake_cuda/fake_cuda.h"
#include "tests/support/check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 24
#define STEPS 6

extern const struct mgb_backend *
mgb_cuda_entry_get(const struct mgb_cpu_kernels *cpu) __asm__(MGB_CUDA_ENTRY);

struct outcome {
    float losses[STEPS];
    float weights[16 * 24]; /* of the first variable, tower 0 */
};

static void batch_make(float *x, int32_t *labels, const void *data[2], int step)
{
    mlp_data(x, labels, ROWS, (unsigned)step);
    data[0] = x;
    data[1] = labels;
}

static void towers_agree(struct player *player, const struct mgb_graph *graph, int towers)
{
    for (int v = 0; v < graph->variable_count; v++) {
        float first[16 * 24], other[16 * 24];
        size_t bytes = (size_t)graph->variables[v].info.bytes;
        player_weights(player, 0, v, first);
        for (int t = 1; t < towers; t++) {
            player_weights(player, t, v, other);
            assert_memory_equal(first, other, bytes);
        }
    }
}

static struct outcome train(const struct mgb_backend *backend, const struct mgb_topology *topology,
                            const struct player_options *options)
{
    struct outcome outcome = {0};
    struct mgb_graph *graph = mlp_make();
    struct player *player;
    assert_ok(player_make(&player, backend, topology, graph, options));
    for (int step = 0; step < STEPS; step++) {
        float x[ROWS * 16];
        int32_t labels[ROWS];
        const void *data[2];
        batch_make(x, labels, data, step);
        assert_ok(player_step(player, data, &outcome.losses[step]));
    }
    player_weights(player, 0, 0, outcome.weights);
    towers_agree(player, graph, options->towers);
    player_free(player);
    mgb_graph_free(graph);
    return outcome;
}

static struct player_options options_of(int towers)
{
    struct player_options options = {
        .towers = towers, .rows = ROWS, .optimizer = mgb_optimizer_default(MGB_SGD)};
    options.optimizer.lr = 0.1f;
    options.optimizer.momentum = 0.9f;
    return options;
}

static struct outcome host_train(int towers)
{
    struct mgb_device devices[9] = {{.name = {.kind = MGB_DEVICE_CPU}, .class = MGB_CLASS_CPU}};
    struct mgb_topology topology = {
        .machine = "host", .device_count = towers + 1, .devices = devices};
    struct player_options options = options_of(towers);
    for (int i = 1; i <= towers; i++)
        devices[i] = (struct mgb_device){.name = {.kind = MGB_DEVICE_GPU, .index = i - 1},
                                         .class = MGB_CLASS_CPU};
    return train(&mgb_host_backend, &topology, &options);
}

static struct outcome cuda_train(const struct player_options *options)
{
    const struct mgb_backend *backend = cuda_backend_get();
    struct mgb_topology topology;
    assert_ok(backend->probe(&topology));
    struct outcome outcome = train(backend, &topology, options);
    mgb_topology_done(&topology);
    assert_int_equal(fake_cuda_live(), 0);
    return outcome;
}

static void outcomes_close(const struct outcome *a, const struct outcome *b)
{
    for (int step = 0; step < STEPS; step++)
        assert_true(fabsf(a->losses[step] - b->losses[step]) <= 1e-5f * fabsf(b->losses[step]));
    for (int i = 0; i < 16 * 24; i++)
        assert_true(fabsf(a->weights[i] - b->weights[i]) <=
                    1e-4f * fmaxf(fabsf(b->weights[i]), 0.1f));
    assert_true(a->losses[STEPS - 1] < 0.8f * a->losses[0]);
}

static void two_gpus_follow_the_host_backend(void **state)
{
    (void)state;
    gpus_set("2", NULL);
    struct player_options options = options_of(2);
    struct outcome cuda = cuda_train(&options), host = host_train(2);
    outcomes_close(&cuda, &host);
}

static void one_gpu_follows_the_host_backend(void **state)
{
    (void)state;
    gpus_set("1", NULL);
    struct player_options options = options_of(1);
    struct outcome cuda = cuda_train(&options), host = host_train(1);
    outcomes_close(&cuda, &host);
}

static void loss_taken_on_the_cpu_changes_little(void **state)
{
    (void)state;
    gpus_set("2", NULL);
    struct player_options options = options_of(2);
    options.head_on_cpu = true;
    struct outcome cuda = cuda_train(&options), host = host_train(2);
    outcomes_close(&cuda, &host);
}

static void pageable_memory_serves_as_well(void **state)
{
    (void)state;
    gpus_set("2", NULL);
    struct player_options options = options_of(2);
    options.backend.pinned = MGB_CHOICE_NO;
    struct outcome cuda = cuda_train(&options), host = host_train(2);
    outcomes_close(&cuda, &host);
}

/* The topology of four logical devices on two GPUs. */
static struct outcome logical_train(const struct mgb_backend *backend, const int physical[4])
{
    struct mgb_topology topology;
    struct mgb_device devices[5];
    struct player_options options = options_of(4);
    options.backend.logical = true;
    assert_ok(backend->probe(&topology));
    devices[0] = topology.devices[0];
    for (int i = 0; i < 4; i++) {
        devices[i + 1] = topology.devices[physical[i] + 1];
        devices[i + 1].name.index = i;
    }
    struct mgb_topology logical = {.machine = "logical", .device_count = 5, .devices = devices};
    struct outcome outcome = train(backend, &logical, &options);
    mgb_topology_done(&topology);
    assert_int_equal(fake_cuda_live(), 0);
    return outcome;
}

static void logical_devices_meet_without_nccl(void **state)
{
    (void)state;
    static const int together[4] = {0, 0, 0, 0}, apart[4] = {0, 1, 0, 1};
    const struct mgb_backend *backend = cuda_backend_get();
    gpus_set("2", NULL);
    struct outcome host = host_train(4);
    struct outcome one = logical_train(backend, together), two = logical_train(backend, apart);
    outcomes_close(&one, &host);
    assert_int_equal(fake_cuda_calls("ncclCommInitAll"), 0);
    assert_memory_equal(&one, &two, sizeof one);
}

static void event_times_are_on_the_session_clock(void **state)
{
    (void)state;
    gpus_set("2", NULL);
    const struct mgb_backend *backend = cuda_backend_get();
    struct player_options options = options_of(2);
    struct mgb_topology topology;
    struct mgb_graph *graph = mlp_make();
    assert_ok(backend->probe(&topology));
    struct player *player;
    assert_ok(player_make(&player, backend, &topology, graph, &options));
    float x[ROWS * 16], loss;
    int32_t labels[ROWS];
    const void *data[2];
    int64_t before = mgb_clock_ns(), previous = before;
    batch_make(x, labels, data, 0);
    for (int step = 0; step < 2; step++) {
        assert_ok(player_step(player, data, &loss));
        int64_t first, last, after = mgb_clock_ns();
        player_times(player, 1, &first, &last);
        assert_true(first >= previous - 5000000 && last > first && last <= after + 5000000);
        previous = last;
    }
    player_free(player);
    mgb_topology_done(&topology);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_gpu_follows_the_host_backend),
        cmocka_unit_test(two_gpus_follow_the_host_backend),
        cmocka_unit_test(loss_taken_on_the_cpu_changes_little),
        cmocka_unit_test(pageable_memory_serves_as_well),
        cmocka_unit_test(logical_devices_meet_without_nccl),
        cmocka_unit_test(event_times_are_on_the_session_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
