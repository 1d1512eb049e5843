/* An MLP trains end to end on the host backend: the loss falls, what was measured adds up, nothing is allocated. */
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/training.h"

#include "engine/base/memory.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const strategies[] = {"outputs", "gradients", "allreduce", "independent"};

static void the_loss_falls_under_every_strategy(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct training_data data = training_data_make(graph, 30, true, 3);
    for (size_t s = 0; s < 4; s++) {
        char options[96];
        for (int gpus = 0; gpus <= 3; gpus++) {
            snprintf(options, sizeof options, "gpus=%d global_batch=10 strategy=%s", gpus,
                     strategies[s]);
            struct training training = {.graph = graph,
                                        .source = &data.source,
                                        .options = options,
                                        .optimizer = training_sgd(0.3f, 0.9f)};
            struct mgb_run *run = training_open(&training);
            double losses[60];
            training_step(run, 60, losses);
            double first = 0, last = 0;
            for (int i = 0; i < 3; i++) {
                first += losses[i] / 3;
                last += losses[57 + i] / 3;
            }
            /* Independent towers each take the gradient of their own rows over the global batch: slower. */
            if (!(last < (s < 3 ? 0.8 : 0.95) * first))
                fail_msg("%s: loss %g, then %g", options, first, last);
            assert_int_equal(mgb_run_step_index(run), 60);
            assert_int_equal(mgb_run_epoch(run), 20);
            mgb_run_close(run);
        }
    }
    training_data_done(&data);
    mgb_graph_free(graph);
}

struct watch {
    int steps;
    int64_t last_end;
};

static bool result_check(void *context, const struct mgb_step_result *result)
{
    struct watch *watch = context;
    assert_int_equal(result->index, watch->steps);
    assert_true(isfinite(result->loss));
    assert_true(result->wall_ns > 0);
    assert_true(result->device_count >= 2);
    if (watch->steps > 0)
        assert_int_equal(result->gap_ns, result->start_ns - watch->last_end);
    for (int i = 0; i < result->device_count; i++) {
        const struct mgb_device_times *times = &result->devices[i];
        int64_t sum = 0;
        for (int phase = 0; phase < MGB_PHASE_COUNT; phase++) {
            sum += times->exposed[phase];
            assert_true(times->exposed[phase] >= 0);
            if (phase != MGB_PHASE_WAIT)
                assert_true(times->busy[phase] >= times->exposed[phase]);
        }
        assert_int_equal(sum, result->wall_ns);
        assert_true(times->finish_ns >= 0 && times->finish_ns <= result->wall_ns);
        if (times->device > 0) {
            assert_true(times->busy[MGB_PHASE_FORWARD] > 0);
            assert_true(times->busy[MGB_PHASE_BACKWARD] > 0);
            assert_true(times->finish_ns > 0);
        }
    }
    watch->steps++;
    watch->last_end = result->start_ns + result->wall_ns;
    return true;
}

static void exposed_times_sum_to_the_wall_time(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    for (size_t s = 0; s < 4; s++) {
        char options[96];
        snprintf(options, sizeof options, "gpus=2 batch=8 strategy=%s", strategies[s]);
        struct training training = {
            .graph = graph, .options = options, .optimizer = training_sgd(0.1f, 0)};
        struct mgb_run *run = training_open(&training);
        struct watch watch = {0};
        struct mgb_step_sink sink = {&watch, result_check};
        int64_t done;
        assert_ok(mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 5}, &sink));
        assert_ok(mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 5}, &sink));
        assert_int_equal(watch.steps, 10);
        mgb_run_close(run);
    }
    mgb_graph_free(graph);
}

static void a_hundred_steps_allocate_nothing(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct training_data data = training_data_make(graph, 47, true, 3);
    for (size_t s = 0; s < 3; s++) {
        char options[96];
        snprintf(options, sizeof options, "gpus=3 global_batch=10 strategy=%s", strategies[s]);
        struct training training = {.graph = graph,
                                    .source = &data.source,
                                    .options = options,
                                    .optimizer = training_sgd(0.1f, 0.9f)};
        struct mgb_run *run = training_open(&training);
        training_step(run, 10, NULL);
        long long before = mgb_alloc_count();
        training_step(run, 100, NULL);
        assert_int_equal(mgb_alloc_count(), before);
        mgb_run_close(run);
    }
    training_data_done(&data);
    mgb_graph_free(graph);
}

struct traced {
    int steps, with_tasks;
};

static bool trace_check(void *context, const struct mgb_step_result *result)
{
    struct traced *traced = context;
    traced->steps++;
    if (result->index % 3 != 0) {
        assert_int_equal(result->task_count, 0);
        return true;
    }
    traced->with_tasks++;
    assert_true(result->task_count > 0);
    for (int i = 0; i < result->task_count; i++) {
        assert_true(result->tasks[i].start_ns >= 0);
        assert_true(result->tasks[i].duration_ns >= 0);
        assert_true(result->tasks[i].start_ns + result->tasks[i].duration_ns <= result->wall_ns);
    }
    return true;
}

static void every_third_step_is_traced_when_asked(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct training training = {.graph = graph,
                                .options = "gpus=2 batch=8 strategy=allreduce",
                                .optimizer = training_sgd(0.1f, 0)};
    struct mgb_run *run = training_open(&training);
    struct traced traced = {0};
    struct mgb_step_sink sink = {&traced, trace_check};
    int64_t done;
    assert_ok(
        mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 10, .trace_every = 3}, &sink));
    assert_int_equal(traced.with_tasks, 4);
    mgb_run_close(run);
    mgb_graph_free(graph);
}

static bool stop_at_three(void *context, const struct mgb_step_result *result)
{
    if (result->index == 2)
        mgb_run_stop(context);
    return true;
}

static bool refuse(void *context, const struct mgb_step_result *result)
{
    (void)context;
    (void)result;
    return false;
}

static void a_stop_ends_the_loop_after_the_step(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct training training = {
        .graph = graph, .options = "gpus=2 batch=4", .optimizer = training_sgd(0.1f, 0)};
    struct mgb_run *run = training_open(&training);
    int64_t done;
    struct mgb_step_sink sink = {run, stop_at_three};
    assert_status(mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 10}, &sink),
                  MGB_INTERRUPTED);
    assert_int_equal(done, 3);
    assert_status(mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 10}, NULL),
                  MGB_INTERRUPTED);
    assert_int_equal(done, 0);
    mgb_run_clear_stop(run);
    training_step(run, 2, NULL);
    struct mgb_step_sink refusing = {NULL, refuse};
    assert_status(mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 5}, &refusing),
                  MGB_INTERRUPTED);
    assert_int_equal(done, 1);
    assert_int_equal(mgb_run_step_index(run), 6);
    mgb_run_close(run);
    mgb_graph_free(graph);
}

struct epochs {
    int64_t rows[8], ends;
};

static bool epoch_count(void *context, const struct mgb_step_result *result)
{
    struct epochs *epochs = context;
    epochs->rows[result->epoch] += result->rows;
    epochs->ends += result->epoch_end;
    return true;
}

static void an_epoch_has_every_row_and_a_short_last_batch(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct training_data data = training_data_make(graph, 23, true, 3);
    struct training training = {.graph = graph,
                                .source = &data.source,
                                .options = "gpus=4 global_batch=10",
                                .optimizer = training_sgd(0.1f, 0)};
    struct mgb_run *run = training_open(&training);
    struct epochs epochs = {0};
    struct mgb_step_sink sink = {&epochs, epoch_count};
    struct mgb_step_request epoch = {.steps = 100, .whole_epoch = true};
    int64_t done;
    assert_ok(mgb_run_step(run, &done, &epoch, &sink));
    assert_int_equal(done, 3);
    assert_ok(mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 1}, &sink));
    training_set(run, "global_batch=7"); /* goes on at row 10 of epoch 1 */
    assert_ok(mgb_run_step(run, &done, &epoch, &sink));
    assert_int_equal(done, 2);
    assert_int_equal(epochs.rows[0], 23);
    assert_int_equal(epochs.rows[1], 23);
    assert_int_equal(epochs.ends, 2);
    mgb_run_close(run);
    training_data_done(&data);
    mgb_graph_free(graph);
}

static bool rate_keep(void *context, const struct mgb_step_result *result)
{
    ((float *)context)[result->index] = result->lr;
    return true;
}

static void a_schedule_and_decay_set_the_rate(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct training training = {
        .graph = graph, .options = "gpus=1 batch=4", .optimizer = training_sgd(0.5f, 0)};
    training.optimizer.decay = 0.1f;
    struct mgb_run *run = training_open(&training);
    float lr[6], later[7], given[3] = {0.25f, 0.125f, 1.0f};
    struct mgb_step_sink sink = {lr, rate_keep};
    int64_t done;
    assert_ok(mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 3}, &sink));
    assert_ok(mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 3, .lr = given}, &sink));
    float base[6] = {0.5f, 0.5f, 0.5f, 0.25f, 0.125f, 1.0f};
    for (int i = 0; i < 6; i++)
        assert_true(fabs(lr[i] - base[i] / (1 + 0.1 * i)) < 1e-6);
    struct mgb_optimizer optimizer = training_sgd(0.75f, 0);
    assert_ok(mgb_run_set_optimizer(run, &optimizer));
    sink.context = later;
    assert_ok(mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 1}, &sink));
    assert_true(later[6] == 0.75f);
    mgb_run_close(run);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loss_falls_under_every_strategy),
        cmocka_unit_test(exposed_times_sum_to_the_wall_time),
        cmocka_unit_test(a_hundred_steps_allocate_nothing),
        cmocka_unit_test(every_third_step_is_traced_when_asked),
        cmocka_unit_test(a_stop_ends_the_loop_after_the_step),
        cmocka_unit_test(an_epoch_has_every_row_and_a_short_last_batch),
        cmocka_unit_test(a_schedule_and_decay_set_the_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
