/* Failures: wrong data leaves the weights alone and the next step is clean, a lost GPU allows closing only, and whatever
 * CUDA call fails, the engine says so, does not crash and leaves nothing behind. */
#include "tests/engine/cuda/machine.h"

#include "tests/fake_cuda/fake_cuda.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/training.h"
#include <stdio.h>
#include <string.h>

#define ROWS 20

struct bench {
    struct mgb_graph *graph;
    float images[ROWS * 12];
    int32_t labels[ROWS];
    const void *arrays[2];
    struct mgb_source source;
    struct training training;
};

static void bench_begin(struct bench *bench, const char *options)
{
    memset(bench, 0, sizeof *bench);
    bench->graph = model_mlp();
    for (int i = 0; i < ROWS * 12; i++)
        bench->images[i] = (float)(i * 37 % 101) / 101.0f;
    for (int i = 0; i < ROWS; i++)
        bench->labels[i] = i % 3;
    bench->arrays[0] = bench->images;
    bench->arrays[1] = bench->labels;
    assert_ok(mgb_source_memory(&bench->source, bench->graph, bench->arrays, ROWS, false));
    bench->training = (struct training){.graph = bench->graph,
                                        .source = &bench->source,
                                        .options = options,
                                        .optimizer = training_sgd(0.1f, 0.9f),
                                        .play_on = machine_cuda()};
}

static void bench_end(struct bench *bench)
{
    mgb_source_close(&bench->source);
    mgb_graph_free(bench->graph);
}

static enum mgb_status steps_try(struct mgb_run *run, int steps)
{
    struct mgb_step_request request = {.steps = steps};
    int64_t done;
    return mgb_run_step(run, &done, &request, NULL);
}

/* Rows 10 to 19 are the second step of two. */
static void label_is_refused(const char *options)
{
    struct bench bench;
    machine_set("2", NULL);
    bench_begin(&bench, options);
    bench.labels[15] = 9;
    struct mgb_run *run = training_open(&bench.training);
    training_step(run, 1, NULL);
    uint64_t before = training_digest(run);
    assert_status(steps_try(run, 1), MGB_INVALID);
    assert_message("label 9 of row 5 is not a class number from 0 to 2");
    assert_int_equal(training_digest(run), before);
    mgb_run_close(run);
    bench_end(&bench);
    machine_check_empty();
}

static void wrong_label_on_a_gpu_leaves_the_weights(void **state)
{
    (void)state;
    label_is_refused("gpus=2 global_batch=10 strategy=gradients");
    label_is_refused("gpus=2 global_batch=10 strategy=allreduce");
    label_is_refused("gpus=2 global_batch=10 strategy=outputs loss_at=/gpu:0");
}

static void wrong_label_on_the_cpu_leaves_the_weights(void **state)
{
    (void)state;
    label_is_refused("gpus=2 global_batch=10 strategy=outputs loss_at=/cpu:0");
}

static void lost_gpu_allows_closing_only(void **state)
{
    (void)state;
    struct bench bench;
    machine_set("1", "cudaStreamQuery:60=719");
    bench_begin(&bench, "gpus=1 global_batch=10");
    struct mgb_run *run = training_open(&bench.training);
    assert_status(steps_try(run, 100), MGB_DEVICE);
    assert_message("lost to this process");
    assert_status(steps_try(run, 1), MGB_DEVICE);
    mgb_run_close(run);
    bench_end(&bench);
    machine_check_empty();
}

static void arena_beyond_a_gpu_is_out_of_memory(void **state)
{
    (void)state;
    struct bench bench;
    struct mgb_run *run;
    machine_set("2", "cudaMalloc:2");
    bench_begin(&bench, "gpus=2 global_batch=10 strategy=allreduce");
    assert_status(training_try_open(&run, &bench.training), MGB_OOM);
    bench_end(&bench);
    machine_check_empty();
}

/* Open, two steps, close, with the call of that number failing; how many calls there were. */
static long session_play(const char *fail, enum mgb_status *status)
{
    struct bench bench;
    struct mgb_run *run = NULL;
    machine_set("2", fail);
    bench_begin(&bench, "gpus=2 global_batch=10 strategy=allreduce");
    *status = training_try_open(&run, &bench.training);
    if (*status == MGB_OK)
        *status = steps_try(run, 2);
    if (run)
        mgb_run_close(run);
    bench_end(&bench);
    return fake_cuda_calls(NULL);
}

/* A sample of the calls of a session. What a failing call was to free is left over, and nothing else. */
static void any_failing_call_is_reported_and_survived(void **state)
{
    (void)state;
    enum mgb_status status;
    long calls = session_play(NULL, &status);
    int failed = 0, played = 0;
    assert_ok(status);
    machine_check_empty();
    for (long call = 1; call < calls; call += call < 20 ? 1 : 17) {
        char fail[32];
        int before = fake_cuda_live();
        snprintf(fail, sizeof fail, "*:%ld", call);
        session_play(fail, &status);
        failed += status != MGB_OK;
        played++;
        if (fake_cuda_live() > before + 1)
            fail_msg("call %ld failed: %d left over", call, fake_cuda_live() - before);
    }
    printf("%ld calls; %d made to fail, %d of them reported\n", calls, played, failed);
    assert_true(failed > played / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_label_on_a_gpu_leaves_the_weights),
        cmocka_unit_test(wrong_label_on_the_cpu_leaves_the_weights),
        cmocka_unit_test(lost_gpu_allows_closing_only),
        cmocka_unit_test(arena_beyond_a_gpu_is_out_of_memory),
        cmocka_unit_test(any_failing_call_is_reported_and_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
