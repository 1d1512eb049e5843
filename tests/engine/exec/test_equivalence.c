/* Placement never changes the arithmetic (design.md, invariants): bit for bit within a tower count and strategy, to 1e-5
 * for one step and 1e-4 for weights after 20 steps of plain SGD across them. */
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_THREAD__
#define MOST_THREADS 1 /* it does not see the barriers of libgomp */
#else
#define MOST_THREADS 2
#endif
#define STEPS 6
#define ROWS 23 /* batches of 10, 10 and 3: uneven for every tower count */

struct outcome {
    double losses[STEPS];
    uint64_t digest;
};

static struct outcome run_once(struct training training, const char *options)
{
    struct outcome outcome = {.digest = 0};
    training.options = options;
    struct mgb_run *run = training_open(&training);
    training_step(run, STEPS, outcome.losses);
    outcome.digest = training_digest(run);
    mgb_run_close(run);
    return outcome;
}

static void outcomes_compare(const struct outcome *a, const struct outcome *b, const char *options)
{
    for (int i = 0; i < STEPS; i++)
        if (memcmp(&a->losses[i], &b->losses[i], sizeof a->losses[i]) != 0)
            fail_msg("%s: loss of step %d is %.17g, not %.17g", options, i, b->losses[i],
                     a->losses[i]);
    if (a->digest != b->digest)
        fail_msg("%s: other weights after %d steps", options, STEPS);
}

/* All draws of places for one model, strategy and number of towers against the default places. */
static void places_compare(struct training training, const char *strategy, int gpus, int threads,
                           int draws, int first)
{
    char base[128], places[256], options[512];
    snprintf(base, sizeof base, "gpus=%d global_batch=10 strategy=%s threads=%d", gpus, strategy,
             threads);
    struct outcome wanted = run_once(training, base);
    assert_true(isfinite(wanted.losses[STEPS - 1]));
    for (int i = 1; i <= draws; i++) {
        draw_places(places, sizeof places, strategy, gpus, first + i);
        snprintf(options, sizeof options, "%s%s", base, places);
        struct outcome got = run_once(training, options);
        outcomes_compare(&wanted, &got, options);
    }
}

/* Models from..to of draw_model. */
static void every_model(int from, int to, int gpus_from, int gpus_to, int draws, bool guarded)
{
    int count = draw_count(draws, 20 * draws);
    for (int number = from; number <= to; number++) {
        struct mgb_graph *graph = draw_model(number);
        struct training_data data = training_data_make(graph, ROWS, true, 3);
        struct training training = {.graph = graph,
                                    .source = &data.source,
                                    .optimizer = training_sgd(0.1f, 0.9f),
                                    .seed = 5,
                                    .guarded = guarded};
        for (int gpus = gpus_from; gpus <= gpus_to; gpus++)
            for (int s = 0; s < 2; s++)
                places_compare(training, s ? "gradients" : "outputs", gpus, 1, count,
                               1000 * number + 100 * gpus);
        training_data_done(&data);
        mgb_graph_free(graph);
    }
}

static void places_never_change_the_arithmetic_on_1_to_4_devices(void **state)
{
    (void)state;
    every_model(0, 2, 1, 4, 8, false);
}

static void nor_that_of_random_models(void **state)
{
    (void)state;
    every_model(3, draw_count(10, 60), 1, 4, 1, false);
}

static void nor_on_12_devices(void **state)
{
    (void)state;
    every_model(0, 2, 12, 12, 2, false);
}

static void nor_task_by_task_with_other_arenas_closed(void **state)
{
    (void)state;
    every_model(0, 3, 2, 3, 2, true);
}

static void nor_with_1_or_2_threads_each_and_every_optimizer(void **state)
{
    (void)state;
    struct mgb_graph *graph = draw_model(1);
    struct training_data data = training_data_make(graph, ROWS, true, 3);
    static const enum mgb_optimizer_kind kinds[] = {MGB_SGD, MGB_RMSPROP, MGB_ADAGRAD, MGB_ADADELTA,
                                                    MGB_ADAM};
    for (size_t k = 0; k < 5; k++) {
        struct training training = {.graph = graph,
                                    .source = &data.source,
                                    .optimizer = mgb_optimizer_default(kinds[k]),
                                    .seed = 5};
        training.optimizer.clip_norm = k % 2 ? 0.5f : 0.0f;
        for (int threads = 1; threads <= MOST_THREADS; threads++)
            places_compare(training, k % 2 ? "gradients" : "outputs", 3, threads, 3, 77 * (int)k);
    }
    training_data_done(&data);
    mgb_graph_free(graph);
}

/* A run whose places change before every step against one whose places stay. */
static void toggles_compare(struct training training, const char *strategy, int gpus, int steps)
{
    char base[128], places[256], options[512];
    double *wanted = calloc((size_t)steps, sizeof *wanted), got;
    assert_non_null(wanted);
    snprintf(base, sizeof base, "gpus=%d global_batch=10 strategy=%s", gpus, strategy);
    training.options = base;
    struct mgb_run *still = training_open(&training), *moving = training_open(&training);
    training_step(still, steps, wanted);
    for (int i = 0; i < steps; i++) {
        draw_places(places, sizeof places, strategy, gpus, 31 * gpus + i + 1);
        snprintf(options, sizeof options,
                 "weights_at=nil update_at=nil sum_at=nil join_at=nil loss_at=nil relocation=nil "
                 "cpu_merge=nil%s",
                 places);
        training_set(moving, options);
        training_step(moving, 1, &got);
        if (memcmp(&got, &wanted[i], sizeof got) != 0)
            fail_msg("gpus=%d %s, step %d after%s: loss %.17g, not %.17g", gpus, strategy, i,
                     places, got, wanted[i]);
    }
    assert_true(training_digest(still) == training_digest(moving));
    mgb_run_close(still);
    mgb_run_close(moving);
    free(wanted);
}

static void toggling_in_mid_run_changes_nothing(void **state)
{
    (void)state;
    int steps = draw_count(10, 200);
    for (int number = 0; number < draw_count(5, 30); number++) {
        struct mgb_graph *graph = draw_model(number);
        struct training_data data = training_data_make(graph, ROWS, true, 3);
        struct training training = {.graph = graph,
                                    .source = &data.source,
                                    .optimizer = training_sgd(0.1f, 0.9f),
                                    .seed = 5};
        for (int gpus = 1; gpus <= 4; gpus++) {
            toggles_compare(training, "outputs", gpus, steps);
            toggles_compare(training, "gradients", gpus, steps);
        }
        training_data_done(&data);
        mgb_graph_free(graph);
    }
}

static double largest(const float *values, int64_t count, double most)
{
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)values[i]));
    return most;
}

/* Loss and gradients of one step, by strategy and tower count, against one tower. */
static void one_step_agrees_across_tower_counts_and_strategies(void **state)
{
    (void)state;
    static const char *const strategies[] = {"outputs", "gradients", "allreduce"};
    for (int number = 0; number < draw_count(8, 60); number++) {
        struct mgb_graph *graph = draw_model(number);
        const char *bn = draw_sees_towers(graph) ? " bn=sync" : "";
        struct training training = {
            .graph = graph, .optimizer = training_sgd(0.1f, 0), .seed = 5, .guarded = true};
        int variables = mgb_graph_variable_count(graph);
        float *wanted[32] = {0};
        double loss = 0, most = 0; /* of a gradient */
        for (int run_number = 0; run_number <= 12; run_number++) {
            char options[96];
            snprintf(options, sizeof options, "gpus=%d global_batch=13 strategy=%s%s",
                     run_number ? 1 + run_number % 4 : 1, strategies[run_number % 3], bn);
            training.options = options;
            struct mgb_run *run = training_open(&training);
            double got;
            training_step(run, 1, &got);
            if (run_number == 0)
                loss = got;
            assert_true(fabs(got - loss) <= 1e-5 * fabs(loss));
            for (int v = 0; v < variables; v++) {
                int64_t count = mgb_graph_variable_at(graph, v).count;
                if (!mgb_graph_variable_at(graph, v).trainable)
                    continue;
                float *gradient = calloc((size_t)count, sizeof *gradient);
                assert_non_null(gradient);
                assert_ok(mgb_run_read_gradient(run, gradient, v));
                if (!wanted[v]) {
                    wanted[v] = gradient;
                    most = largest(gradient, count, most);
                    continue;
                }
                double difference = training_difference(wanted[v], gradient, count);
                if (*bn) /* takes a bias before it away: that one's gradient is rounding alone */
                    difference *= largest(wanted[v], count, 0) / most;
                if (!(difference <= 1e-5))
                    fail_msg("%s: gradient of %s differs by %g", options,
                             mgb_graph_variable_at(graph, v).name, difference);
                free(gradient);
            }
            mgb_run_close(run);
        }
        for (int v = 0; v < variables; v++)
            free(wanted[v]);
        mgb_graph_free(graph);
    }
}

static void weights_after_20_steps_agree_across_tower_counts_and_strategies(void **state)
{
    (void)state;
    static const char *const strategies[] = {"outputs", "gradients", "allreduce"};
    for (int number = 0; number < draw_count(8, 60); number++) {
        struct mgb_graph *graph = draw_model(number);
        const char *bn = draw_sees_towers(graph) ? " bn=sync" : "";
        struct training_data data = training_data_make(graph, ROWS, true, 3);
        struct training training = {
            .graph = graph, .source = &data.source, .optimizer = training_sgd(0.1f, 0), .seed = 5};
        float *wanted = NULL;
        for (int run_number = 0; run_number <= 12; run_number++) {
            char options[96];
            snprintf(options, sizeof options, "gpus=%d global_batch=10 strategy=%s%s",
                     run_number ? 1 + run_number % 4 : 1, strategies[run_number % 3], bn);
            training.options = options;
            struct mgb_run *run = training_open(&training);
            training_step(run, 20, NULL);
            int64_t count;
            float *weights = training_weights(run, &count);
            mgb_run_close(run);
            if (!wanted) {
                wanted = weights;
                continue;
            }
            double difference = training_difference(wanted, weights, count);
            if (!(difference <= 1e-4))
                fail_msg("%s: weights differ by %g", options, difference);
            free(weights);
        }
        free(wanted);
        training_data_done(&data);
        mgb_graph_free(graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_never_change_the_arithmetic_on_1_to_4_devices),
        cmocka_unit_test(nor_that_of_random_models),
        cmocka_unit_test(nor_on_12_devices),
        cmocka_unit_test(nor_task_by_task_with_other_arenas_closed),
        cmocka_unit_test(nor_with_1_or_2_threads_each_and_every_optimizer),
        cmocka_unit_test(toggling_in_mid_run_changes_nothing),
        cmocka_unit_test(one_step_agrees_across_tower_counts_and_strategies),
        cmocka_unit_test(weights_after_20_steps_agree_across_tower_counts_and_strategies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
