/* Steps replayed as graphs: the same bits as steps that are enqueued, under every placement that can be replayed, with what
 * changes from step to step; fewer calls; failures, toggles and the end as without. */
#include "tests/engine/cuda/machine.h"

#include "tests/engine/cuda/models.h"
#include "tests/fake_cuda/fake_cuda.h"
#include "tests/support/check.h"
#include "tests/support/training.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 6 /* two are enqueued, two captured and replayed, two replayed */

struct outcome {
    double losses[STEPS];
    uint64_t digest;
    long replays;
};

static struct mgb_run *run_open(const struct mgb_graph *graph, struct mgb_source *source,
                                const char *options, const struct mgb_optimizer *optimizer)
{
    struct training training = {.graph = graph,
                                .source = source,
                                .options = options,
                                .optimizer = *optimizer,
                                .seed = 5,
                                .play_on = machine_cuda()};
    struct mgb_run *run = NULL;
    if (training_try_open(&run, &training) != MGB_OK)
        fail_msg("%s: %s", options, mgb_message_get());
    return run;
}

static bool loss_keep(void *context, const struct mgb_step_result *result)
{
    double **next = context;
    *(*next)++ = result->loss;
    return true;
}

static enum mgb_status steps_try(struct mgb_run *run, int steps, double *losses)
{
    static const float rates[STEPS] = {0.1f, 0.05f, 0.2f, 0.07f, 0.01f, 0.3f};
    struct mgb_step_sink sink = {&losses, loss_keep};
    struct mgb_step_request request = {.steps = steps, .lr = steps <= STEPS ? rates : NULL};
    int64_t done;
    return mgb_run_step(run, &done, &request, losses ? &sink : NULL);
}

static struct outcome outcome_of(const struct mgb_graph *graph, const char *placement,
                                 const char *choice, const struct mgb_optimizer *optimizer)
{
    struct training_data data = training_data_make(graph, 30, true, 3);
    struct outcome out;
    char options[256];
    machine_set("3", NULL);
    snprintf(options, sizeof options, "%s graph=%s", placement, choice);
    struct mgb_run *run = run_open(graph, &data.source, options, optimizer);
    assert_ok(steps_try(run, STEPS, out.losses));
    out.digest = training_digest(run);
    out.replays = fake_cuda_calls("cudaGraphLaunch");
    mgb_run_close(run);
    machine_check_empty();
    training_data_done(&data);
    return out;
}

static void replays_change_no_bit(const struct mgb_graph *graph, const char *placement,
                                  const struct mgb_optimizer *optimizer)
{
    struct outcome enqueued = outcome_of(graph, placement, "false", optimizer);
    struct outcome replayed = outcome_of(graph, placement, "true", optimizer);
    assert_int_equal(enqueued.replays, 0);
    if (replayed.replays != STEPS - 2)
        fail_msg("%s: %ld replays", placement, replayed.replays);
    if (memcmp(enqueued.losses, replayed.losses, sizeof enqueued.losses) != 0)
        fail_msg("%s: losses differ", placement);
    if (enqueued.digest != replayed.digest)
        fail_msg("%s: weights differ", placement);
}

static const char *const placements[] = {
    "gpus=1 global_batch=10",
    "gpus=2 global_batch=10 strategy=outputs cpu_merge=false loss_at=/cpu:0",
    "gpus=3 global_batch=10 strategy=gradients merge_at=/gpu:1 stale=true",
    "gpus=2 global_batch=10 strategy=gradients sum_at=/cpu:0 update_at=/cpu:0",
    "gpus=3 global_batch=10 strategy=gradients cpu_relocation=true",
    "gpus=2 global_batch=10 strategy=gradients peer_access=false wire_type=bf16",
    "gpus=2 global_batch=10 strategy=outputs staged=true cpu_relocation=true",
};

static void replayed_steps_have_the_bits_of_enqueued_ones(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct mgb_optimizer optimizer = training_sgd(0.2f, 0.9f);
    optimizer.decay = 0.3f; /* another rate at each step, of rates that differ */
    for (size_t i = 0; i < sizeof placements / sizeof *placements; i++)
        replays_change_no_bit(graph, placements[i], &optimizer);
    mgb_graph_free(graph);
}

/* Dropout of layers and inside of attention, moving statistics, tables, states of an lstm. */
static void replayed_models_have_the_bits_of_enqueued_ones(void **state)
{
    (void)state;
    static const char *const options[] = {
        "gpus=2 global_batch=10 strategy=gradients bn=sync update_at=/cpu:0",
        "gpus=1 global_batch=10 precision=f16",
    };
    struct mgb_optimizer adam = mgb_optimizer_default(MGB_ADAM);
    adam.clip_norm = 0.5f;
    for (int model = 1; model < MACHINE_MODELS; model++) {
        struct mgb_graph *graph = machine_model(model);
        for (size_t i = 0; i < sizeof options / sizeof *options; i++)
            replays_change_no_bit(graph, options[i], &adam);
        mgb_graph_free(graph);
    }
}

/* Own sums of logical devices can be captured, as NCCL cannot. */
static void logical_devices_are_replayed(void **state)
{
    (void)state;
    static const int apart[4] = {0, 1, 0, 1};
    const char *choices[2] = {"graph=false", "graph=true"};
    struct mgb_graph *graph = model_mlp();
    uint64_t digests[2];
    for (int i = 0; i < 2; i++) {
        struct training_data data = training_data_make(graph, 30, true, 3);
        machine_set("2", NULL);
        char options[128];
        snprintf(options, sizeof options,
                 "gpus=4 global_batch=10 strategy=allreduce logical=true %s", choices[i]);
        struct training training = {.graph = graph,
                                    .source = &data.source,
                                    .options = options,
                                    .optimizer = training_sgd(0.2f, 0.9f),
                                    .play_on = machine_logical(apart, 4)};
        struct mgb_run *run = training_open(&training);
        assert_ok(steps_try(run, STEPS, NULL));
        digests[i] = training_digest(run);
        assert_int_equal(fake_cuda_calls("cudaGraphLaunch"), i ? STEPS - 2 : 0);
        mgb_run_close(run);
        machine_check_empty();
        training_data_done(&data);
    }
    assert_int_equal(digests[0], digests[1]);
    mgb_graph_free(graph);
}

struct bench {
    struct mgb_graph *graph;
    struct training_data data;
    struct mgb_run *run;
};

static void bench_begin(struct bench *bench, const char *options, const char *fail)
{
    *bench = (struct bench){.graph = model_mlp()};
    struct mgb_optimizer optimizer = training_sgd(0.2f, 0.9f);
    bench->data = training_data_make(bench->graph, 30, false, 3);
    machine_set("2", fail);
    bench->run = run_open(bench->graph, &bench->data.source, options, &optimizer);
}

static void bench_end(struct bench *bench)
{
    mgb_run_close(bench->run);
    machine_check_empty();
    training_data_done(&bench->data);
    mgb_graph_free(bench->graph);
}

static const char *graph_in_effect(const struct mgb_run *run)
{
    static char text[32];
    return mgb_effective_get_text(text, sizeof text, mgb_run_effective(run), mgb_run_topology(run),
                                  MGB_OPTION_GRAPH);
}

static long calls_of_a_step(struct mgb_run *run)
{
    long queries = fake_cuda_calls("cudaStreamQuery"), all = fake_cuda_calls(NULL);
    assert_ok(steps_try(run, 1, NULL));
    return fake_cuda_calls(NULL) - all - (fake_cuda_calls("cudaStreamQuery") - queries);
}

static void replay_takes_fewer_calls(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, "gpus=2 global_batch=10 strategy=gradients", NULL);
    assert_ok(steps_try(bench.run, 1, NULL));
    long enqueued = calls_of_a_step(bench.run);
    assert_ok(steps_try(bench.run, 2, NULL));
    long replayed = calls_of_a_step(bench.run);
    if (replayed * 2 > enqueued) /* what is left asks for the times of events */
        fail_msg("%ld calls enqueue a step, %ld replay it", enqueued, replayed);
    assert_string_equal(graph_in_effect(bench.run), "true");
    bench_end(&bench);
}

static bool times_look_right(void *context, const struct mgb_step_result *result)
{
    (void)context;
    for (int i = 0; i < result->device_count; i++) {
        int64_t exposed = 0;
        if (result->devices[i].device == 0)
            continue; /* no tower */
        for (int phase = 0; phase < MGB_PHASE_COUNT; phase++)
            exposed += result->devices[i].exposed[phase];
        assert_int_equal(exposed, result->wall_ns);
        if (result->devices[i].finish_ns <= 0 || result->devices[i].finish_ns > result->wall_ns)
            fail_msg("step %d: tower's finish at %lld ns of %lld", (int)result->index,
                     (long long)result->devices[i].finish_ns, (long long)result->wall_ns);
        assert_true(result->devices[i].busy[MGB_PHASE_FORWARD] > 0);
    }
    return true;
}

static void replayed_step_has_times_of_its_own(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, "gpus=2 global_batch=10 strategy=gradients", NULL);
    struct mgb_step_request request = {.steps = STEPS};
    struct mgb_step_sink sink = {NULL, times_look_right};
    int64_t done;
    assert_ok(mgb_run_step(bench.run, &done, &request, &sink));
    assert_int_equal(fake_cuda_calls("cudaGraphLaunch"), STEPS - 2);
    bench_end(&bench);
}

static void traced_steps_are_enqueued(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, "gpus=1 global_batch=10", NULL);
    struct mgb_step_request request = {.steps = 8, .trace_every = 2};
    int64_t done;
    assert_ok(mgb_run_step(bench.run, &done, &request, NULL));
    assert_int_equal(fake_cuda_calls("cudaGraphLaunch"), 3); /* the third, fifth and seventh */
    bench_end(&bench);
}

static void toggles_free_what_was_kept(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, "gpus=2 global_batch=10 strategy=gradients", NULL);
    assert_ok(steps_try(bench.run, 5, NULL));
    assert_int_equal(fake_cuda_calls("cudaGraphInstantiate"), 2);
    training_set(bench.run, "graph=false");
    assert_int_equal(fake_cuda_calls("cudaGraphExecDestroy"), 2);
    assert_string_equal(graph_in_effect(bench.run), "false");
    assert_ok(steps_try(bench.run, 4, NULL));
    assert_int_equal(fake_cuda_calls("cudaGraphLaunch"), 3);
    training_set(bench.run, "graph=true sum_at=/gpu:1");
    assert_ok(steps_try(bench.run, 4, NULL));
    assert_int_equal(fake_cuda_calls("cudaGraphLaunch"), 5);
    struct mgb_optimizer optimizer = training_sgd(0.1f, 0.8f); /* the same plan, other factors */
    assert_ok(mgb_run_set_optimizer(bench.run, &optimizer));
    assert_ok(steps_try(bench.run, 2, NULL));
    assert_int_equal(fake_cuda_calls("cudaGraphInstantiate"), 6);
    assert_int_equal(fake_cuda_calls("cudaGraphExecDestroy"), 4);
    bench_end(&bench);
}

/* A factor that changes in mid-run reaches kernels that have it in their arguments. */
static void changed_factor_is_captured_anew(void **state)
{
    (void)state;
    uint64_t digests[2];
    for (int i = 0; i < 2; i++) {
        struct mgb_optimizer optimizer = training_sgd(0.1f, 0.5f);
        struct bench bench;
        bench_begin(&bench,
                    i ? "gpus=1 graph=true global_batch=10" : "gpus=1 graph=false global_batch=10",
                    NULL);
        assert_ok(steps_try(bench.run, 5, NULL));
        assert_ok(mgb_run_set_optimizer(bench.run, &optimizer));
        assert_ok(steps_try(bench.run, 5, NULL));
        digests[i] = training_digest(bench.run);
        bench_end(&bench);
    }
    assert_int_equal(digests[0], digests[1]);
}

static void plans_that_cannot_be_replayed_say_why(void **state)
{
    (void)state;
    static const struct {
        const char *options, *why;
    } cases[] = {
        {"gpus=2 strategy=allreduce graph=true", "NCCL"},
        {"gpus=0 graph=true", "needs GPUs"},
        {"gpus=1 pinned=false graph=true", "pinned"},
    };
    struct bench bench;
    bench_begin(&bench, "gpus=2 global_batch=10 strategy=gradients", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_status(training_try_set(bench.run, cases[i].options), MGB_UNSUPPORTED);
        assert_message("graph = true: ");
        assert_message(cases[i].why);
    }
    training_set(bench.run, "strategy=allreduce graph=auto");
    assert_string_equal(graph_in_effect(bench.run), "false");
    assert_non_null(strstr(mgb_run_effective(bench.run)->gave_way, "graph = auto: a collective"));
    assert_ok(steps_try(bench.run, 5, NULL));
    assert_int_equal(fake_cuda_calls("cudaGraphLaunch"), 0);
    bench_end(&bench);
}

static void failed_capture_falls_back_and_says_why_once(void **state)
{
    (void)state;
    static const char *const fails[] = {"cudaStreamBeginCapture:1", "cudaStreamEndCapture:1",
                                        "cudaGraphInstantiate:1", "cudaGraphInstantiate:2",
                                        "cudaEventRecordWithFlags:3"};
    struct bench plain;
    bench_begin(&plain, "gpus=2 global_batch=10 strategy=gradients graph=false", NULL);
    assert_ok(steps_try(plain.run, STEPS, NULL));
    uint64_t digest = training_digest(plain.run);
    bench_end(&plain);
    for (size_t i = 0; i < sizeof fails / sizeof *fails; i++) {
        struct bench bench;
        bench_begin(&bench, "gpus=2 global_batch=10 strategy=gradients", fails[i]);
        assert_ok(steps_try(bench.run, STEPS, NULL));
        assert_int_equal(training_digest(bench.run), digest);
        assert_string_equal(graph_in_effect(bench.run), "false");
        const char *said = strstr(mgb_run_effective(bench.run)->gave_way,
                                  "graph = auto: steps are not replayed: ");
        assert_non_null(said);
        assert_null(strstr(said + 1, "graph = auto"));
        bench_end(&bench);
    }
}

static void failed_capture_is_an_error_where_replay_is_insisted_on(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench, "gpus=1 global_batch=10 graph=true", "cudaStreamEndCapture:1=904");
    assert_status(steps_try(bench.run, STEPS, NULL), MGB_DEVICE);
    assert_message("graph = true: a step that cannot be replayed");
    bench_end(&bench);
}

/* Row 25 is of the sixth batch of ten out of thirty, which a replay takes; the fifth step reads it ahead. */
static void wrong_label_in_a_replay_leaves_the_weights(void **state)
{
    (void)state;
    static const char *const options[] = {
        "gpus=2 global_batch=10 strategy=gradients graph=true",
        "gpus=2 global_batch=10 strategy=outputs loss_at=/cpu:0 graph=true",
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        struct bench bench;
        bench_begin(&bench, options[i], NULL);
        int32_t *labels = bench.data.arrays[1], label = labels[25];
        assert_ok(steps_try(bench.run, 4, NULL));
        labels[25] = 9;
        assert_ok(steps_try(bench.run, 1, NULL));
        uint64_t before = training_digest(bench.run);
        assert_status(steps_try(bench.run, 1, NULL), MGB_INVALID);
        assert_message("label 9 of row ");
        assert_int_equal(fake_cuda_calls("cudaGraphLaunch"), 4);
        assert_int_equal(training_digest(bench.run), before);
        labels[25] = label;
        bench_end(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replayed_steps_have_the_bits_of_enqueued_ones),
        cmocka_unit_test(replayed_models_have_the_bits_of_enqueued_ones),
        cmocka_unit_test(logical_devices_are_replayed),
        cmocka_unit_test(replay_takes_fewer_calls),
        cmocka_unit_test(replayed_step_has_times_of_its_own),
        cmocka_unit_test(traced_steps_are_enqueued),
        cmocka_unit_test(toggles_free_what_was_kept),
        cmocka_unit_test(changed_factor_is_captured_anew),
        cmocka_unit_test(plans_that_cannot_be_replayed_say_why),
        cmocka_unit_test(failed_capture_falls_back_and_says_why_once),
        cmocka_unit_test(failed_capture_is_an_error_where_replay_is_insisted_on),
        cmocka_unit_test(wrong_label_in_a_replay_leaves_the_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
