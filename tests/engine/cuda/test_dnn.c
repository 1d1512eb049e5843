/* cuDNN as the second implementation of convolution and batch norm, on a fake one: the reference's numbers, the same bits wherever the work
 * is, what is faster, chosen once, and runs without the library or with one that fails. */
#include "tests/engine/cuda/machine.h"
#include "tests/engine/cuda/models.h"

#include "engine/cuda/dnn/library.h"
#include "tests/fake_cuda/fake_cuda.h"
#include "tests/support/check.h"
#include "tests/support/conformance.h"
#include "tests/support/draws.h"
#include "tests/support/training.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 2
#define SLOW "20000" /* microseconds an operation: more than either takes on a busy machine */

#define SERVED 4
static const char *const served[SERVED] = {
    "cudnnConvolutionForward", "cudnnConvolutionBackwardData", "cudnnConvolutionBackwardFilter",
    "cudnnBatchNormalizationForwardInference"};

static long dnn_calls(void)
{
    long calls = 0;
    for (int i = 0; i < SERVED; i++)
        calls += fake_cuda_calls(served[i]);
    return calls;
}

/* MGBENCH_CUDNN, and how slow the two are; takes effect at the next machine_set. */
static void dnn_set(const char *mode, const char *blas_slow_us, const char *dnn_slow_us)
{
    setenv("MGBENCH_CUDNN", mode, 1);
    setenv("FAKE_CUBLAS_SLOW_US", blas_slow_us, 1);
    setenv("FAKE_CUDNN_SLOW_US", dnn_slow_us, 1);
    unsetenv("FAKE_CUDNN_BYTES");
    unsetenv(MGB_CUDNN_VARIABLE);
}

static void operators_match_the_reference(void **state)
{
    (void)state;
    const struct rig_play play = {.device = 1, .threads = 1};
    const struct conformance_model drawn = {"drawn", machine_drawn_convolution};
    dnn_set("on", "0", "0");
    machine_set("1", NULL);
    struct rig rig = rig_open(machine_cuda(), 0);
    for (int i = 0; i < conformance_model_count; i++)
        if (strstr(conformance_models[i].name, "conv") ||
            strstr(conformance_models[i].name, "norm"))
            assert_true(conformance_model_check(&rig, &play, &conformance_models[i]));
    for (machine_drawn = 0; machine_drawn < draw_count(20, 400); machine_drawn++)
        assert_true(conformance_model_check(&rig, &play, &drawn));
    for (int i = 0; i < SERVED; i++)
        if (fake_cuda_calls(served[i]) < (i < 3 ? 20 : 2))
            fail_msg("%s: %ld calls", served[i], fake_cuda_calls(served[i]));
    rig_close(&rig);
    machine_check_empty();
}

/* A convolution alone. With a stride of 2 its padding is a row and a column at the end. */
static struct mgb_graph *conv_make(int stride)
{
    struct mgb_graph *graph = model_make("conv");
    struct mgb_window window = model_window(3, stride, MGB_SAME);
    int x = model_input(graph, "image", SHAPE(3, 6, 6, 3)), label = model_label(graph, "label");
    x = model_conv2d(graph, "conv", x, 4, &window, MGB_RELU);
    model_classify(graph, model_dense(graph, "logits", model_flatten(graph, x), 3, MGB_LINEAR),
                   label);
    return graph;
}

struct bench {
    struct mgb_graph *graph;
    struct training_data data;
    struct training training;
};

/* Data of four whole batches. */
static void bench_begin(struct bench *bench, struct mgb_graph *graph, int batch)
{
    bench->graph = graph;
    bench->data = training_data_make(graph, 4 * batch, true, 3);
    bench->training = (struct training){.graph = graph,
                                        .source = &bench->data.source,
                                        .optimizer = training_sgd(0.1f, 0.9f),
                                        .seed = 5,
                                        .play_on = machine_cuda()};
}

static void bench_end(struct bench *bench)
{
    training_data_done(&bench->data);
    mgb_graph_free(bench->graph);
    machine_check_empty();
}

struct outcome {
    double losses[STEPS];
    uint64_t digest;
    long calls; /* of cuDNN, in the steps */
    char remark[200];
};

static struct outcome run_once(struct bench *bench, const char *options)
{
    struct outcome out = {.calls = 0};
    struct mgb_run *run = NULL;
    bench->training.options = options;
    if (training_try_open(&run, &bench->training) != MGB_OK)
        fail_msg("%s: %s", options, mgb_message_get());
    long before = dnn_calls();
    training_step(run, STEPS, out.losses);
    out.calls = dnn_calls() - before;
    out.digest = training_digest(run);
    snprintf(out.remark, sizeof out.remark, "%s", mgb_run_remark(run));
    mgb_run_close(run);
    return out;
}

static void same_bits_check(const struct outcome *a, const struct outcome *b, const char *options)
{
    if (memcmp(a->losses, b->losses, sizeof a->losses) != 0 || a->digest != b->digest)
        fail_msg("%s: other bits", options);
}

static void places_and_replays_never_change_a_bit(void **state)
{
    (void)state;
    static const char *const places[] = {"weights_at=/gpu:0 sum_at=/gpu:0 update_at=/gpu:0",
                                         "weights_at=spread sum_at=/gpu:0 update_at=/gpu:0",
                                         "weights_at=/gpu:0 sum_at=spread update_at=/gpu:0",
                                         "weights_at=/gpu:0 sum_at=/gpu:0 graph=true"};
    static const int gpus[] = {1, 2, 3, 8};
    struct bench bench;
    char options[200];
    dnn_set("on", "0", "0");
    machine_set("8", NULL);
    bench_begin(&bench, machine_image_model(), 10);
    for (int g = 0; g < 4; g++) {
        struct outcome wanted = {.calls = 0};
        for (int i = 0; i < 4; i++) {
            snprintf(options, sizeof options, "gpus=%d global_batch=10 strategy=gradients %s",
                     gpus[g], places[i]);
            struct outcome got = run_once(&bench, options);
            assert_true(got.calls > 0);
            wanted = i == 0 ? got : wanted;
            same_bits_check(&wanted, &got, options);
        }
    }
    bench_end(&bench);
}

/* The choice is of the process: each test has batches of its own. */
static void faster_one_is_chosen(void **state)
{
    (void)state;
    struct bench bench;
    dnn_set("auto", SLOW, "0");
    machine_set("2", NULL);
    bench_begin(&bench, conv_make(1), 11);
    struct outcome won = run_once(&bench, "gpus=1 global_batch=11");
    assert_true(won.calls > 0);
    assert_string_equal(won.remark, "cuDNN serves 2 of 2 operators that it has");
    bench_end(&bench);
    dnn_set("auto", "0", SLOW);
    machine_set("2", NULL);
    bench_begin(&bench, conv_make(1), 12);
    struct outcome lost = run_once(&bench, "gpus=1 global_batch=12");
    assert_int_equal(lost.calls, 0);
    assert_string_equal(lost.remark, "cuDNN serves 0 of 2 operators that it has");
    bench_end(&bench);
}

static void choice_is_the_same_on_all_equal_cards_and_in_later_runs(void **state)
{
    (void)state;
    struct bench bench;
    dnn_set("auto", SLOW, "0");
    machine_set("2", NULL);
    bench_begin(&bench, conv_make(1), 18);
    struct outcome first = run_once(&bench, "gpus=2 global_batch=18");
    assert_string_equal(first.remark, "cuDNN serves 4 of 4 operators that it has");
    bench_end(&bench);
    dnn_set("auto", "0", SLOW); /* another answer, were it asked again */
    machine_set("2", NULL);
    bench_begin(&bench, conv_make(1), 18);
    struct outcome later = run_once(&bench, "gpus=2 global_batch=18 weights_at=/gpu:1");
    assert_string_equal(later.remark, first.remark);
    same_bits_check(&first, &later, "a later run");
    bench_end(&bench);
}

static void what_needs_more_than_its_workspace_is_not_taken(void **state)
{
    (void)state;
    struct bench bench;
    dnn_set("on", "0", "0");
    setenv("FAKE_CUDNN_BYTES", "100000", 1);
    machine_set("1", NULL);
    bench_begin(&bench, conv_make(1), 13);
    struct outcome out = run_once(&bench, "gpus=1 global_batch=13");
    assert_int_equal(out.calls, 0);
    assert_string_equal(out.remark, "cuDNN serves 0 of 2 operators that it has");
    bench_end(&bench);
}

static void what_cudnn_lacks_stays_where_it_is(void **state)
{
    (void)state;
    struct bench bench;
    dnn_set("on", "0", "0");
    machine_set("1", NULL);
    bench_begin(&bench, conv_make(2), 10);
    struct outcome uneven = run_once(&bench, "gpus=1 global_batch=10");
    assert_string_equal(uneven.remark, "");
    bench_end(&bench);
    bench_begin(&bench, conv_make(1), 10);
    struct outcome narrow = run_once(&bench, "gpus=1 global_batch=10 precision=bf16");
    assert_string_equal(narrow.remark, "");
    assert_int_equal(dnn_calls(), 0);
    struct outcome tf32 = run_once(&bench, "gpus=1 global_batch=10 precision=tf32");
    assert_true(tf32.calls > 0);
    bench_end(&bench);
}

static void runs_without_the_library_and_says_so(void **state)
{
    (void)state;
    struct bench bench;
    dnn_set("on", "0", "0");
    setenv(MGB_CUDNN_VARIABLE, "/nowhere/libcudnn.so", 1);
    machine_set("1", NULL);
    bench_begin(&bench, conv_make(1), 10);
    struct outcome out = run_once(&bench, "gpus=1 global_batch=10");
    assert_string_equal(out.remark, "no cuDNN: /nowhere/libcudnn.so cannot be loaded");
    assert_int_equal(dnn_calls(), 0);
    bench_end(&bench);
    unsetenv(MGB_CUDNN_VARIABLE);
}

static void other_words_are_refused(void **state)
{
    (void)state;
    struct bench bench;
    struct mgb_run *run;
    dnn_set("maybe", "0", "0");
    machine_set("1", NULL);
    bench_begin(&bench, conv_make(1), 10);
    bench.training.options = "gpus=1 global_batch=10";
    assert_status(training_try_open(&run, &bench.training), MGB_INVALID);
    assert_message("MGBENCH_CUDNN is 'maybe'; it may be off, on or auto");
    bench_end(&bench);
}

/* Open and a step with the call of that number failing. */
static enum mgb_status session_play(const char *fail, int batch)
{
    struct bench bench;
    struct mgb_run *run = NULL;
    struct mgb_step_request request = {.steps = 1};
    char options[64];
    int64_t done;
    machine_set("1", fail);
    bench_begin(&bench, conv_make(1), batch);
    snprintf(options, sizeof options, "gpus=1 global_batch=%d", batch);
    bench.training.options = options;
    enum mgb_status status = training_try_open(&run, &bench.training);
    if (status == MGB_OK)
        status = mgb_run_step(run, &done, &request, NULL);
    if (run)
        mgb_run_close(run);
    training_data_done(&bench.data);
    mgb_graph_free(bench.graph);
    return status;
}

/* Handles and descriptors that could not be destroyed are left over, one a failure. */
static void failure_play(const char *function, int batch)
{
    char fail[64];
    int before = fake_cuda_live();
    bool ends = strstr(function, "Destroy") != NULL;
    snprintf(fail, sizeof fail, "%.47s:1", function);
    enum mgb_status status = session_play(fail, batch);
    if (status != (ends ? MGB_OK : MGB_DEVICE))
        fail_msg("%s: status %s, %s", fail, mgb_status_name(status), mgb_message_get());
    if (fake_cuda_live() > before + ends)
        fail_msg("%s: %d left over", fail, fake_cuda_live() - before);
}

#define MOST_FUNCTIONS 64

/* Measured, with batches that nothing was chosen for yet: the first calls are those of the choice; then those of a step. */
static void any_failing_call_is_reported_and_survived(void **state)
{
    (void)state;
    char names[MOST_FUNCTIONS][48];
    int count = 0, batch = 14;
    dnn_set("auto", "1000", "0");
    assert_ok(session_play(NULL, batch));
    for (int i = 0; fake_cuda_function(i) && count < MOST_FUNCTIONS; i++)
        if (strncmp(fake_cuda_function(i), "cudnn", 5) == 0)
            snprintf(names[count++], sizeof names[0], "%s", fake_cuda_function(i));
    assert_true(count > 15);
    for (int i = 0; i < count; i++)
        failure_play(names[i], ++batch);
    dnn_set("on", "0", "0");
    failure_play("cudnnConvolutionForward", 10);
    failure_play("cudnnConvolutionBackwardFilter", 10);
    assert_ok(session_play(NULL, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_match_the_reference),
        cmocka_unit_test(places_and_replays_never_change_a_bit),
        cmocka_unit_test(faster_one_is_chosen),
        cmocka_unit_test(choice_is_the_same_on_all_equal_cards_and_in_later_runs),
        cmocka_unit_test(what_needs_more_than_its_workspace_is_not_taken),
        cmocka_unit_test(what_cudnn_lacks_stays_where_it_is),
        cmocka_unit_test(runs_without_the_library_and_says_so),
        cmocka_unit_test(other_words_are_refused),
        cmocka_unit_test(any_failing_call_is_reported_and_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
