/* Gradients that travel as f16 or bf16: places still change no bit, the links carry half, every tower of an all-reduce has
 * the same weights, and training goes on as with f32 within stated bounds. */
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/model.h"
#include "tests/support/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS 5

static const char *const types[] = {"f16", "bf16"};

static uint64_t digest_after(const struct training *training, const char *options, double *losses)
{
    struct training with = *training;
    struct mgb_check check;
    with.options = options;
    struct mgb_run *run = training_open(&with);
    training_step(run, STEPS, losses);
    assert_ok(mgb_plan_verify(mgb_run_plan(run)));
    assert_ok(mgb_run_check(run, &check)); /* every replica equals its master */
    mgb_check_done(&check);
    uint64_t digest = training_digest(run);
    mgb_run_close(run);
    return digest;
}

static void places_compare(const struct training *training, const char *type, int gpus,
                           bool outputs)
{
    char base[128], places[256], options[512];
    const char *strategy = outputs ? "outputs" : "gradients";
    snprintf(base, sizeof base, "gpus=%d global_batch=10 strategy=%s", gpus, strategy);
    uint64_t plain = digest_after(training, base, NULL), wanted = 0;
    for (int i = 0; i < draw_count(5, 40); i++) {
        draw_places(places, sizeof places, strategy, gpus, 50 * gpus + i);
        snprintf(options, sizeof options, "%s wire_type=%s%s", base, type, i ? places : "");
        uint64_t got = digest_after(training, options, NULL);
        if (i == 0)
            wanted = got;
        if (got != wanted)
            fail_msg("%s: other weights than at the default places", options);
    }
    assert_true(wanted != plain); /* something was rounded */
}

static void places_never_change_the_arithmetic(void **state)
{
    (void)state;
    for (int number = 0; number < 3; number++) {
        struct mgb_graph *graph = draw_model(number);
        struct training_data data = training_data_make(graph, 23, true, 3);
        struct training training = {.graph = graph,
                                    .source = &data.source,
                                    .optimizer = training_sgd(0.1f, 0.9f),
                                    .seed = 5,
                                    .guarded = number == 0};
        for (int gpus = 1; gpus <= 4; gpus++)
            places_compare(&training, types[gpus % 2], gpus, number == 1);
        training_data_done(&data);
        mgb_graph_free(graph);
    }
}

static void an_all_reduce_keeps_all_towers_equal_whatever_the_buckets(void **state)
{
    (void)state;
    static const char *const ways[] = {"bucket_mib=25", "bucket_mib=0.0001", "overlap=false"};
    struct mgb_graph *graph = draw_model(1);
    struct training_data data = training_data_make(graph, 23, true, 3);
    struct training training = {
        .graph = graph, .source = &data.source, .optimizer = training_sgd(0.1f, 0.9f), .seed = 5};
    for (size_t t = 0; t < 2; t++) {
        uint64_t wanted = 0;
        for (size_t i = 0; i < 3; i++) {
            char options[128];
            snprintf(options, sizeof options,
                     "gpus=4 global_batch=10 strategy=allreduce wire_type=%s %s", types[t],
                     ways[i]);
            uint64_t got = digest_after(&training, options, NULL);
            wanted = i == 0 ? got : wanted;
            assert_true(got == wanted);
        }
    }
    training_data_done(&data);
    mgb_graph_free(graph);
}

static int64_t traffic_of(const struct mgb_graph *graph, const char *options)
{
    struct training training = {
        .graph = graph, .options = options, .optimizer = training_sgd(0.1f, 0), .seed = 5};
    struct mgb_run *run = training_open(&training);
    const struct mgb_plan *plan = mgb_run_plan(run);
    int64_t bytes = 0;
    for (int i = 0; i < plan->task_count; i++) {
        const struct mgb_task *task = &plan->tasks[i];
        if (task->phase == MGB_PHASE_SUM &&
            (task->queue == MGB_QUEUE_COPY || task->kind == MGB_TASK_ALLREDUCE))
            bytes += task->bytes * (task->class < 0 ? 1 : plan->classes[task->class].tower_count);
    }
    mgb_run_close(run);
    return bytes;
}

static void gradients_take_half_the_bytes(void **state)
{
    (void)state;
    static const char *const ways[] = {"strategy=gradients", "strategy=outputs",
                                       "strategy=allreduce"};
    struct mgb_graph *graph = draw_model(1);
    for (size_t i = 0; i < 3; i++) {
        char wide[128], narrow[160];
        snprintf(wide, sizeof wide, "gpus=3 global_batch=10 %s", ways[i]);
        snprintf(narrow, sizeof narrow, "%s wire_type=f16", wide);
        int64_t bytes = traffic_of(graph, wide);
        assert_true(bytes > 0);
        assert_int_equal(2 * traffic_of(graph, narrow), bytes);
    }
    mgb_graph_free(graph);
}

/* The statement of accuracy: mnist_cnn, 20 steps of SGD with momentum; the loss falls by more than half on the way. */
static void mnist_loss_after_20_steps_is_that_of_f32(void **state)
{
    (void)state;
    static const double bounds[] = {0.02,
                                    0.02}; /* f16 (small gradients lose digits), bf16: relative */
    static const char *const strategies[] = {"gradients", "allreduce"};
    struct mgb_graph *graph = model_mnist_cnn();
    struct training_data data = training_data_make(graph, 16, false, 3);
    struct training training = {
        .graph = graph, .source = &data.source, .optimizer = training_sgd(0.02f, 0.9f), .seed = 1};
    double losses[3][20];
    for (int s = 0; s < 2; s++) {
        for (int t = 0; t < 3; t++) {
            char options[128];
            snprintf(options, sizeof options, "gpus=2 global_batch=16 strategy=%s wire_type=%s",
                     strategies[s], t == 0 ? "f32" : types[t - 1]);
            training.options = options;
            struct mgb_run *run = training_open(&training);
            training_step(run, 20, losses[t]);
            mgb_run_close(run);
        }
        for (int t = 1; t < 3; t++) {
            double off = fabs(losses[t][19] - losses[0][19]) / losses[0][19];
            print_message("%s %s: loss %.6f, f32 %.6f, off by %.2g\n", strategies[s], types[t - 1],
                          losses[t][19], losses[0][19], off);
            assert_true(off <= bounds[t - 1]);
        }
        assert_true(losses[0][19] < losses[0][0]);
    }
    training_data_done(&data);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_never_change_the_arithmetic),
        cmocka_unit_test(an_all_reduce_keeps_all_towers_equal_whatever_the_buckets),
        cmocka_unit_test(gradients_take_half_the_bytes),
        cmocka_unit_test(mnist_loss_after_20_steps_is_that_of_f32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
