/* The whole engine on fake GPUs: planner and executor play on the CUDA backend as on the host's, under every strategy and
 * with work at every place, and live toggles keep what was learned. */
#include "tests/engine/cuda/machine.h"
#include "tests/engine/cuda/models.h"

#include "tests/fake_cuda/fake_cuda.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/training.h"
#include <math.h>
#include <stdlib.h>

#define STEPS 8

static const char *const placements[] = {
    "gpus=1 global_batch=10",
    "gpus=2 global_batch=10 strategy=outputs",
    "gpus=2 global_batch=10 strategy=outputs cpu_merge=false",
    "gpus=3 global_batch=10 strategy=gradients",
    "gpus=3 global_batch=10 strategy=gradients merge_at=/gpu:1",
    "gpus=2 global_batch=10 strategy=gradients sum_at=/gpu:0 update_at=/cpu:0",
    "gpus=3 global_batch=10 strategy=gradients cpu_relocation=true",
    "gpus=2 global_batch=10 strategy=gradients weights_at=/gpu:1",
    "gpus=4 global_batch=10 strategy=allreduce",
    "gpus=2 global_batch=10 strategy=allreduce overlap=false",
    "gpus=2 global_batch=10 strategy=independent",
    "gpus=2 global_batch=10 strategy=outputs pinned=false",
    "gpus=2 global_batch=10 strategy=gradients peer_access=false",
    "gpus=0 global_batch=10",
    "gpus=3 global_batch=10 strategy=gradients wire_type=f16",
    "gpus=2 global_batch=10 strategy=outputs wire_type=bf16 cpu_merge=false",
    "gpus=3 global_batch=10 strategy=allreduce wire_type=f16",
    "gpus=3 global_batch=10 strategy=gradients stale=true",
    "gpus=2 global_batch=10 strategy=allreduce stale=true wire_type=bf16",
    "gpus=3 global_batch=10 strategy=outputs staged=true cpu_relocation=true",
};
#define PLACEMENTS (sizeof placements / sizeof placements[0])

static struct mgb_run *run_open(const struct mgb_graph *graph, struct mgb_source *source,
                                const char *options, const struct mgb_backend *backend)
{
    struct training training = {.graph = graph,
                                .source = source,
                                .options = options,
                                .optimizer = training_sgd(0.2f, 0.9f),
                                .play_on = backend};
    struct mgb_run *run = NULL;
    if (training_try_open(&run, &training) != MGB_OK)
        fail_msg("%s: %s", options, mgb_message_get());
    return run;
}

static void placement_follows_the_host(const struct mgb_graph *graph, struct mgb_source *source,
                                       const char *options, const struct mgb_backend *backend)
{
    double on_host[STEPS], on_cuda[STEPS];
    struct mgb_run *host = run_open(graph, source, options, &mgb_host_backend);
    struct mgb_run *cuda = run_open(graph, source, options, backend);
    struct mgb_check check;
    training_step(host, STEPS, on_host);
    training_step(cuda, STEPS, on_cuda);
    for (int i = 0; i < STEPS; i++)
        if (!(fabs(on_host[i] - on_cuda[i]) <= 1e-4 * fabs(on_host[i])))
            fail_msg("%s: step %d: loss %.9g on the host, %.9g on CUDA", options, i, on_host[i],
                     on_cuda[i]);
    int64_t count;
    float *a = training_weights(host, &count), *b = training_weights(cuda, NULL);
    if (!(training_difference(a, b, count) <= 1e-4))
        fail_msg("%s: weights differ by %g", options, training_difference(a, b, count));
    free(a);
    free(b);
    assert_ok(mgb_run_check(cuda, &check));
    mgb_check_done(&check);
    mgb_run_close(host);
    mgb_run_close(cuda);
    machine_check_empty();
}

static void every_placement_follows_the_host_backend(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct training_data data = training_data_make(graph, 30, true, 3);
    machine_set("4", NULL);
    for (size_t i = 0; i < PLACEMENTS; i++)
        placement_follows_the_host(graph, &data.source, placements[i], machine_cuda());
    training_data_done(&data);
    mgb_graph_free(graph);
}

/* Statistics of the batch, one tower's or all towers', merged on a GPU or on the CPU, and the moving ones. */
static void batch_norm_follows_the_host_backend(void **state)
{
    (void)state;
    static const char *const options[] = {
        "gpus=1 global_batch=10",
        "gpus=2 global_batch=10 strategy=gradients",
        "gpus=2 global_batch=10 strategy=gradients bn=sync",
        "gpus=3 global_batch=10 strategy=gradients bn=sync update_at=/cpu:0",
        "gpus=2 global_batch=10 strategy=outputs bn=sync",
        "gpus=4 global_batch=10 strategy=allreduce bn=sync",
        "gpus=2 global_batch=10 strategy=independent",
    };
    struct mgb_graph *graph = machine_image_model();
    struct training_data data = training_data_make(graph, 30, true, 5);
    machine_set("4", NULL);
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        placement_follows_the_host(graph, &data.source, options[i], machine_cuda());
    training_data_done(&data);
    mgb_graph_free(graph);
}

/* Tables whose rows are mostly unused, so that gradients travel as rows, and dropout inside of attention. */
static void sequences_follow_the_host_backend(void **state)
{
    (void)state;
    static const char *const options[] = {
        "gpus=1 global_batch=10",
        "gpus=2 global_batch=10 strategy=outputs",
        "gpus=3 global_batch=10 strategy=gradients",
        "gpus=2 global_batch=10 strategy=gradients sum_at=/gpu:0 update_at=/cpu:0",
        "gpus=2 global_batch=10 strategy=gradients sum_at=/cpu:0",
        "gpus=2 global_batch=10 strategy=allreduce",
    };
    struct mgb_graph *graphs[] = {machine_language_model(), machine_transformer_model()};
    machine_set("3", NULL);
    for (int k = 0; k < 2; k++) {
        struct training_data data = training_data_make(graphs[k], 30, true, 6);
        for (size_t i = 0; i < sizeof options / sizeof *options; i++)
            placement_follows_the_host(graphs[k], &data.source, options[i], machine_cuda());
        training_data_done(&data);
        mgb_graph_free(graphs[k]);
    }
}

/* NCCL takes no two ranks on a GPU: there the backend's own reducer serves, within a GPU and across. */
static void logical_devices_follow_the_host_without_nccl(void **state)
{
    (void)state;
    static const int together[4] = {0, 0, 0, 0}, apart[4] = {0, 1, 0, 1};
    const char *options = "gpus=4 global_batch=10 strategy=allreduce logical=true";
    const char *narrow = "gpus=4 global_batch=10 strategy=allreduce logical=true wire_type=f16";
    struct mgb_graph *graph = model_mlp();
    struct training_data data = training_data_make(graph, 30, true, 3);
    machine_set("2", NULL);
    placement_follows_the_host(graph, &data.source, options, machine_logical(together, 4));
    placement_follows_the_host(graph, &data.source, options, machine_logical(apart, 4));
    placement_follows_the_host(graph, &data.source, narrow, machine_logical(together, 4));
    placement_follows_the_host(graph, &data.source, narrow, machine_logical(apart, 4));
    assert_int_equal(fake_cuda_calls("ncclCommInitAll"), 0);
    training_data_done(&data);
    mgb_graph_free(graph);
}

/* Nor does NCCL where copies from GPU to GPU were turned down: there it would make them by itself. */
static void sums_without_peer_access_are_not_of_nccl(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct training_data data = training_data_make(graph, 30, true, 3);
    machine_set("3", NULL);
    placement_follows_the_host(graph, &data.source,
                               "gpus=3 global_batch=10 strategy=allreduce peer_access=false",
                               machine_cuda());
    assert_int_equal(fake_cuda_calls("ncclCommInitAll"), 0);
    assert_int_equal(fake_cuda_calls("cudaDeviceEnablePeerAccess"), 0);
    training_data_done(&data);
    mgb_graph_free(graph);
}

static void places_on_gpus_change_no_bit(void **state)
{
    (void)state;
    static const char *const places[] = {
        "gpus=2 global_batch=10 strategy=gradients merge_at=/gpu:0 weights_at=/gpu:0",
        "gpus=2 global_batch=10 strategy=gradients merge_at=/gpu:1 weights_at=/gpu:0",
        ("gpus=2 global_batch=10 strategy=gradients sum_at=/gpu:1 update_at=/gpu:0 "
         "weights_at=/gpu:1"),
    };
    struct mgb_graph *graph = model_mlp();
    struct training_data data = training_data_make(graph, 30, true, 3);
    uint64_t digests[3];
    machine_set("2", NULL);
    for (int i = 0; i < 3; i++) {
        struct mgb_run *run = run_open(graph, &data.source, places[i], machine_cuda());
        training_step(run, STEPS, NULL);
        digests[i] = training_digest(run);
        mgb_run_close(run);
    }
    assert_int_equal(digests[0], digests[1]);
    assert_int_equal(digests[0], digests[2]);
    training_data_done(&data);
    mgb_graph_free(graph);
}

static void live_toggles_keep_weights_and_slots(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct training_data data = training_data_make(graph, 30, true, 3);
    double toggled[3 * STEPS], steady[3 * STEPS];
    machine_set("2", NULL);
    struct mgb_run *run = run_open(graph, &data.source, placements[1], machine_cuda());
    struct mgb_run *calm = run_open(graph, &data.source, placements[1], machine_cuda());
    training_step(calm, 3 * STEPS, steady);
    training_step(run, STEPS, toggled);
    training_set(run, "strategy=allreduce");
    training_step(run, STEPS, toggled + STEPS);
    training_set(run, "strategy=gradients sum_at=/gpu:1");
    training_step(run, STEPS, toggled + 2 * STEPS);
    for (int i = 0; i < 3 * STEPS; i++)
        assert_true(fabs(toggled[i] - steady[i]) <= 1e-3 * fabs(steady[i]));
    mgb_run_close(run);
    mgb_run_close(calm);
    machine_check_empty();
    training_data_done(&data);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_placement_follows_the_host_backend),
        cmocka_unit_test(batch_norm_follows_the_host_backend),
        cmocka_unit_test(sequences_follow_the_host_backend),
        cmocka_unit_test(logical_devices_follow_the_host_without_nccl),
        cmocka_unit_test(sums_without_peer_access_are_not_of_nccl),
        cmocka_unit_test(places_on_gpus_change_no_bit),
        cmocka_unit_test(live_toggles_keep_weights_and_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
