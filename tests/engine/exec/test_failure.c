/* What happens when a device fails in mid-step: the weights are those before, the run goes on or says that it cannot. */
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/model.h"
#include "tests/support/training.h"

#include "engine/base/clock.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const strategies[] = {"outputs", "gradients", "allreduce"};

static struct mgb_run *open_with_fault(const struct mgb_graph *graph, const char *fault,
                                       const char *strategy, int64_t timeout_ns)
{
    char options[96];
    snprintf(options, sizeof options, "gpus=3 global_batch=10 strategy=%s", strategy);
    struct training training = {.graph = graph,
                                .options = options,
                                .optimizer = training_sgd(0.1f, 0.9f),
                                .timeout_ns = timeout_ns};
    setenv("MGBENCH_FAULT", fault, 1);
    struct mgb_run *run = training_open(&training);
    unsetenv("MGBENCH_FAULT");
    return run;
}

static void an_injected_oom_leaves_weights_and_slots_as_before(void **state)
{
    (void)state;
    struct mgb_graph *graph = draw_model(1);
    for (int s = 0; s < 3; s++) {
        for (int launch = 20; launch < 80; launch += 9) {
            char fault[64];
            snprintf(fault, sizeof fault, "oom:/gpu:1:launch=%d", launch);
            struct mgb_run *run = open_with_fault(graph, fault, strategies[s], 0);
            struct mgb_run *twin = open_with_fault(graph, "", strategies[s], 0);
            int64_t done = 0, start = mgb_clock_ns();
            enum mgb_status status = MGB_OK;
            uint64_t before = 0;
            while (status == MGB_OK) {
                before = training_digest(run);
                status = mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 1}, NULL);
            }
            assert_int_equal(status, MGB_OOM);
            assert_int_equal(done, 0);
            assert_true(mgb_clock_ns() - start < 5000000000);
            assert_message("/gpu:1");
            assert_string_equal(mgb_oom_get().device, "/gpu:1");
            assert_true(mgb_oom_get().needed > 0);
            assert_true(training_digest(run) == before);
            /* The run goes on as if nothing had been; a smaller batch works too. */
            int steps = (int)mgb_run_step_index(run);
            if (steps > 0)
                training_step(twin, steps, NULL);
            double a[3], b[3];
            training_step(run, 3, a);
            training_step(twin, 3, b);
            assert_memory_equal(a, b, sizeof a);
            assert_true(training_digest(run) == training_digest(twin));
            training_set(run, "global_batch=4");
            training_step(run, 1, NULL);
            mgb_run_close(run);
            mgb_run_close(twin);
        }
    }
    mgb_graph_free(graph);
}

static void a_device_that_hangs_is_named_when_the_deadline_passes(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct mgb_run *run = open_with_fault(graph, "hang:/gpu:1:launch=12", "gradients", 200000000);
    int64_t done;
    assert_status(mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 50}, NULL),
                  MGB_TIMEOUT);
    assert_true(done < 50);
    assert_message("/gpu:1");
    assert_status(mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 1}, NULL),
                  MGB_DEVICE);
    assert_status(training_try_set(run, "gpus=2"), MGB_DEVICE);
    mgb_run_close(run); /* leaves the stuck thread and what it uses alone */
    mgb_graph_free(graph);
}

static void a_limit_too_small_is_refused_before_anything_is_held(void **state)
{
    (void)state;
    struct mgb_graph *graph = draw_model(1);
    struct training training = {.graph = graph,
                                .options = "gpus=2 global_batch=64 gpu_memory=16KiB",
                                .optimizer = training_sgd(0.1f, 0.9f)};
    struct mgb_run *run;
    assert_status(training_try_open(&run, &training), MGB_OOM);
    assert_message("/gpu:0");
    assert_int_equal(mgb_oom_get().available, 16 << 10);
    mgb_graph_free(graph);
}

static enum mgb_status broken_fill(void *context, uint64_t seed, int64_t epoch, int64_t first,
                                   int64_t rows, int index, void *out)
{
    int *left = context;
    (void)seed, (void)epoch, (void)index;
    if ((*left)-- <= 0 && *left > -3)
        return mgb_fail(MGB_IO, "row %lld cannot be read", (long long)first);
    memset(out, 0, (size_t)rows * 4);
    return MGB_OK;
}

static void a_source_that_fails_stops_the_step_and_may_recover(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    int left = 9;
    struct mgb_source source = {.context = &left, .rows = 40, .fill = broken_fill};
    struct training training = {.graph = graph,
                                .source = &source,
                                .options = "gpus=2 global_batch=10",
                                .optimizer = training_sgd(0.1f, 0)};
    struct mgb_run *run = training_open(&training);
    int64_t done;
    assert_status(mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 30}, NULL), MGB_IO);
    assert_message("cannot be read");
    uint64_t digest = training_digest(run);
    int64_t step = mgb_run_step_index(run);
    enum mgb_status status = mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 1}, NULL);
    while (status == MGB_IO) {
        assert_true(training_digest(run) == digest);
        status = mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 1}, NULL);
    }
    assert_int_equal(status, MGB_OK);
    assert_int_equal(mgb_run_step_index(run), step + 1);
    mgb_run_close(run);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_injected_oom_leaves_weights_and_slots_as_before),
        cmocka_unit_test(a_device_that_hangs_is_named_when_the_deadline_passes),
        cmocka_unit_test(a_limit_too_small_is_refused_before_anything_is_held),
        cmocka_unit_test(a_source_that_fails_stops_the_step_and_may_recover),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
