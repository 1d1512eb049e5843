/* Failures: wrong data leaves the weights alone and the next step is clean, a lost GPU allows closing only, and whatever
 * CUDA call fails, the step says so, nothing crashes and nothing is left behind. */
#include "tests/engine/cuda/player.h"

#include "tests/fake_cuda/fake_cuda.h"
#include "tests/support/check.h"
#include <stdio.h>
#include <string.h>

#define ROWS 8

struct bench {
    const struct mgb_backend *cuda;
    struct mgb_topology topology;
    struct mgb_graph *graph;
    struct player_options options;
    float x[ROWS * 16];
    int32_t labels[ROWS];
    const void *data[2];
};

static void bench_begin(struct bench *bench, int towers)
{
    *bench = (struct bench){.cuda = cuda_backend_get(), .graph = mlp_make()};
    bench->options = (struct player_options){
        .towers = towers, .rows = ROWS, .optimizer = mgb_optimizer_default(MGB_SGD)};
    mlp_data(bench->x, bench->labels, ROWS, 3);
    bench->data[0] = bench->x;
    bench->data[1] = bench->labels;
}

static void bench_end(struct bench *bench)
{
    mgb_topology_done(&bench->topology);
    mgb_graph_free(bench->graph);
    assert_int_equal(fake_cuda_live(), 0);
}

static void label_is_refused(bool head_on_cpu)
{
    struct bench bench;
    struct player *player;
    float before[16 * 24], after[16 * 24], loss;
    gpus_set("2", NULL);
    bench_begin(&bench, 2);
    bench.options.head_on_cpu = head_on_cpu;
    assert_ok(bench.cuda->probe(&bench.topology));
    assert_ok(player_make(&player, bench.cuda, &bench.topology, bench.graph, &bench.options));
    player_weights(player, 0, 0, before);
    bench.labels[5] = 9;
    assert_status(player_step(player, bench.data, &loss), MGB_INVALID);
    assert_message("label 9 of row 5 is not a class number from 0 to 4");
    for (int tower = 0; tower < 2; tower++) {
        player_weights(player, tower, 0, after);
        assert_memory_equal(before, after, sizeof before);
    }
    bench.labels[5] = 0;
    assert_ok(player_step(player, bench.data, &loss));
    player_weights(player, 0, 0, after);
    assert_memory_not_equal(before, after, sizeof before);
    player_free(player);
    bench_end(&bench);
}

static void wrong_label_on_a_gpu_leaves_the_weights(void **state)
{
    (void)state;
    label_is_refused(false);
}

static void wrong_label_on_the_cpu_leaves_the_weights(void **state)
{
    (void)state;
    label_is_refused(true);
}

/* The status of the first step that does not succeed. */
static enum mgb_status steps_until_failure(struct player *player, const struct bench *bench)
{
    float loss;
    for (int step = 0; step < 200; step++)
        MGB_TRY(player_step(player, bench->data, &loss));
    return MGB_OK;
}

static void failed_library_call_costs_a_step_and_no_more(void **state)
{
    (void)state;
    struct bench bench;
    struct player *player;
    float loss;
    gpus_set("1", "cublasSgemm:12=14");
    bench_begin(&bench, 1);
    assert_ok(bench.cuda->probe(&bench.topology));
    assert_ok(player_make(&player, bench.cuda, &bench.topology, bench.graph, &bench.options));
    assert_status(steps_until_failure(player, &bench), MGB_DEVICE);
    assert_message("cublasSgemm: an internal operation failed (code 14)");
    assert_ok(bench.cuda->drain(player_context(player), 0));
    assert_ok(player_step(player, bench.data, &loss));
    player_free(player);
    bench_end(&bench);
}

static void lost_gpu_allows_closing_only(void **state)
{
    (void)state;
    struct bench bench;
    struct player *player;
    float loss;
    gpus_set("1", "cudaStreamQuery:40=719");
    bench_begin(&bench, 1);
    assert_ok(bench.cuda->probe(&bench.topology));
    assert_ok(player_make(&player, bench.cuda, &bench.topology, bench.graph, &bench.options));
    assert_status(steps_until_failure(player, &bench), MGB_DEVICE);
    assert_message("lost to this process");
    assert_status(player_step(player, bench.data, &loss), MGB_DEVICE);
    assert_message("only closing is left");
    player_free(player);
    bench_end(&bench);
}

/* Probe, make, two steps, free, with the call number `fail` failing; how many calls there were. */
static long session_play(const char *fail, enum mgb_status *status)
{
    struct bench bench;
    struct player *player = NULL;
    float loss;
    gpus_set("2", fail);
    bench_begin(&bench, 2);
    *status = bench.cuda->probe(&bench.topology);
    if (*status == MGB_OK)
        *status = player_make(&player, bench.cuda, &bench.topology, bench.graph, &bench.options);
    for (int step = 0; step < 2 && *status == MGB_OK; step++)
        *status = player_step(player, bench.data, &loss);
    if (player)
        player_free(player);
    long calls = fake_cuda_calls(NULL);
    mgb_topology_done(&bench.topology);
    mgb_graph_free(bench.graph);
    return calls;
}

/* Steps through the calls of a session; a stride keeps the test short. What a failing call was to free is left over, and
 * nothing else is. */
static void any_failing_call_is_reported_and_survived(void **state)
{
    (void)state;
    enum mgb_status status;
    long calls = session_play(NULL, &status), failed = 0;
    assert_ok(status);
    assert_true(calls > 300);
    for (long call = 1; call < calls; call += call < 40 ? 1 : 29) {
        char fail[32];
        int before = fake_cuda_live();
        snprintf(fail, sizeof fail, "*:%ld", call);
        session_play(fail, &status);
        failed += status != MGB_OK;
        if (fake_cuda_live() > before + 1)
            fail_msg("call %ld failed: %d left over", call, fake_cuda_live() - before);
    }
    printf("%ld calls, %ld of the sampled failures reported\n", calls, failed);
    assert_true(failed > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_label_on_a_gpu_leaves_the_weights),
        cmocka_unit_test(wrong_label_on_the_cpu_leaves_the_weights),
        cmocka_unit_test(failed_library_call_costs_a_step_and_no_more),
        cmocka_unit_test(lost_gpu_allows_closing_only),
        cmocka_unit_test(any_failing_call_is_reported_and_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
