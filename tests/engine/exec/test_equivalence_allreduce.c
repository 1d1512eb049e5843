/* All-reduce under all that must not change its arithmetic: sizes of buckets, overlap, the order of toggles in mid-run, up to
 * 12 devices; the tree agrees with the ring as closely as sums of f32 can. */
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 6

static const char *const ways[] = {
    "bucket_mib=25 overlap=true",     "bucket_mib=25 overlap=false",
    "bucket_mib=0.0001 overlap=true", "bucket_mib=0.0001 overlap=false",
    "bucket_mib=0.001 overlap=true",  "bucket_mib=0.003 overlap=true",
    "bucket_mib=0.001 overlap=false", "bucket_mib=0.01 overlap=true",
};
#define WAYS ((int)(sizeof ways / sizeof ways[0]))

struct outcome {
    double losses[STEPS];
    uint64_t digest;
};

static struct mgb_run *run_open(struct training training, const char *options)
{
    training.options = options;
    struct mgb_run *run = training_open(&training);
    assert_ok(mgb_plan_verify(mgb_run_plan(run)));
    return run;
}

static struct outcome run_once(const struct training *training, const char *options)
{
    struct outcome outcome;
    struct mgb_check check;
    struct mgb_run *run = run_open(*training, options);
    training_step(run, STEPS, outcome.losses);
    outcome.digest = training_digest(run);
    assert_ok(mgb_run_check(run, &check));
    mgb_check_done(&check);
    mgb_run_close(run);
    return outcome;
}

static void ways_compare(const struct training *training, int gpus, const char *algorithm)
{
    struct outcome wanted = {.digest = 0};
    for (int i = 0; i < WAYS; i++) {
        char options[256];
        snprintf(options, sizeof options,
                 "gpus=%d global_batch=15 strategy=allreduce allreduce=%s %s", gpus, algorithm,
                 ways[i]);
        struct outcome got = run_once(training, options);
        wanted = i == 0 ? got : wanted;
        if (memcmp(got.losses, wanted.losses, sizeof got.losses) != 0 ||
            got.digest != wanted.digest)
            fail_msg("%s: not the bits of one large bucket", options);
    }
}

static void each_model(void (*body)(const struct training *training, int number))
{
    for (int number = 0; number < draw_count(4, 40); number++) {
        struct mgb_graph *graph = draw_model(number);
        struct training_data data = training_data_make(graph, 37, true, 3);
        struct training training = {.graph = graph,
                                    .source = &data.source,
                                    .optimizer = training_sgd(0.1f, 0.9f),
                                    .seed = 5};
        training.optimizer.clip_norm = number % 2 ? 0.5f : 0.0f;
        body(&training, number);
        training_data_done(&data);
        mgb_graph_free(graph);
    }
}

static void ring_ways(const struct training *training, int number)
{
    ways_compare(training, 2 + number % 3, "ring");
    ways_compare(training, 12, "ring");
}

static void tree_ways(const struct training *training, int number)
{
    ways_compare(training, number % 2 ? 12 : 5, "tree");
}

static void buckets_and_overlap_never_change_the_arithmetic_of_a_ring(void **state)
{
    (void)state;
    each_model(ring_ways);
}

static void nor_that_of_a_tree(void **state)
{
    (void)state;
    each_model(tree_ways);
}

/* A run that changes its ways before every step, among them to another order of towers' gradients and back. */
static void toggles(const struct training *training, int number)
{
    int gpus = number == 0 ? 12 : 2 + number, steps = draw_count(10, 100);
    char base[96];
    snprintf(base, sizeof base, "gpus=%d global_batch=15 strategy=allreduce", gpus);
    struct mgb_run *still = run_open(*training, base), *moving = run_open(*training, base);
    for (int i = 0; i < steps; i++) {
        double wanted, got;
        training_set(moving, ways[(7 * i + number) % WAYS]);
        training_step(still, 1, &wanted);
        training_step(moving, 1, &got);
        if (memcmp(&wanted, &got, sizeof got) != 0)
            fail_msg("%s, step %d: loss %.17g, not %.17g", base, i, got, wanted);
    }
    assert_true(training_digest(still) == training_digest(moving));
    mgb_run_close(still);
    mgb_run_close(moving);
}

static void toggling_in_mid_run_changes_nothing_up_to_12_devices(void **state)
{
    (void)state;
    each_model(toggles);
}

/* Away to another strategy and back: weights and slots come along, on 12 devices too. */
static void other_strategies(const struct training *training, int number)
{
    static const char *const strategies[] = {"strategy=gradients", "strategy=allreduce",
                                             "strategy=outputs", "strategy=allreduce"};
    char base[96];
    snprintf(base, sizeof base, "gpus=%d global_batch=15", number == 0 ? 12 : 3);
    struct mgb_run *run = run_open(*training, base);
    struct mgb_check check;
    for (int i = 0; i < 4; i++) {
        uint64_t before = training_digest(run);
        training_set(run, strategies[i]);
        assert_true(training_digest(run) == before);
        assert_ok(mgb_run_check(run, &check));
        mgb_check_done(&check);
        training_step(run, 2, NULL);
    }
    mgb_run_close(run);
}

static void strategies_hand_over_weights_and_slots(void **state)
{
    (void)state;
    each_model(other_strategies);
}

/* One step from the same weights: gradients within 1e-6 of the largest of their variable. */
static void tree_against_ring(const struct training *training, int number)
{
    int gpus = 3 + 3 * (number % 4);
    struct mgb_run *runs[2];
    struct training guarded = *training;
    guarded.guarded = true;
    guarded.optimizer = training_sgd(0.1f, 0);
    for (int i = 0; i < 2; i++) {
        char options[96];
        snprintf(options, sizeof options, "gpus=%d global_batch=15 strategy=allreduce allreduce=%s",
                 gpus, i ? "tree" : "ring");
        runs[i] = run_open(guarded, options);
        training_step(runs[i], 1, NULL);
    }
    for (int v = 0; v < mgb_graph_variable_count(training->graph); v++) {
        struct mgb_variable_info info = mgb_graph_variable_at(training->graph, v);
        if (!info.trainable)
            continue;
        float *a = malloc((size_t)info.bytes), *b = malloc((size_t)info.bytes);
        assert_ok(mgb_run_read_gradient(runs[0], a, v));
        assert_ok(mgb_run_read_gradient(runs[1], b, v));
        if (!(training_difference(a, b, info.count) <= 1e-6))
            fail_msg("%d towers: gradient of %s differs by %g", gpus, info.name,
                     training_difference(a, b, info.count));
        free(a);
        free(b);
    }
    mgb_run_close(runs[0]);
    mgb_run_close(runs[1]);
}

static void a_tree_agrees_with_a_ring(void **state)
{
    (void)state;
    each_model(tree_against_ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_and_overlap_never_change_the_arithmetic_of_a_ring),
        cmocka_unit_test(nor_that_of_a_tree),
        cmocka_unit_test(toggling_in_mid_run_changes_nothing_up_to_12_devices),
        cmocka_unit_test(strategies_hand_over_weights_and_slots),
        cmocka_unit_test(a_tree_agrees_with_a_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
