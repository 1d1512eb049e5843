/* Gradients applied one step late, weights fetched one step early: what is trained, bit for bit. */
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/training.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 6
#define MOST_VARIABLES 16

static struct mgb_graph *graph;
static struct training_data data;

static int model_begin(void **state)
{
    (void)state;
    graph = draw_model(1);
    data = training_data_make(graph, 23, true, 3);
    return 0;
}

static int model_end(void **state)
{
    (void)state;
    training_data_done(&data);
    mgb_graph_free(graph);
    return 0;
}

static struct mgb_run *run_open(const char *options, struct mgb_optimizer optimizer, bool guarded)
{
    struct training training = {.graph = graph,
                                .source = &data.source,
                                .options = options,
                                .optimizer = optimizer,
                                .seed = 5,
                                .guarded = guarded};
    struct mgb_run *run = training_open(&training);
    assert_ok(mgb_plan_verify(mgb_run_plan(run)));
    return run;
}

static void replicas_check(struct mgb_run *run)
{
    struct mgb_check check;
    assert_ok(mgb_run_check(run, &check));
    mgb_check_done(&check);
}

/* Plain SGD by hand: step n takes gradients at w(n), and w(n + 1) = w(n) - lr g(n - 1). A run whose rate is zero answers
 * for the gradients. */
static void every_step_applies_the_gradients_of_the_step_before(void **state)
{
    (void)state;
    const float lr = 0.1f;
    int count = mgb_graph_variable_count(graph);
    assert_true(count <= MOST_VARIABLES);
    struct mgb_run *late = run_open("gpus=3 global_batch=10 strategy=gradients stale=true",
                                    training_sgd(lr, 0), false);
    struct mgb_run *asked =
        run_open("gpus=3 global_batch=10 strategy=gradients", training_sgd(0, 0), true);
    float *weight[MOST_VARIABLES], *kept[MOST_VARIABLES], *got[MOST_VARIABLES];
    for (int v = 0; v < count; v++) {
        size_t bytes = (size_t)mgb_graph_variable_at(graph, v).bytes;
        weight[v] = malloc(bytes);
        kept[v] = malloc(bytes);
        got[v] = malloc(bytes);
        assert_ok(mgb_run_read(asked, weight[v], v, -1));
    }
    for (int step = 0; step < STEPS; step++) {
        for (int v = 0; v < count; v++)
            assert_ok(mgb_run_write(asked, weight[v], v, -1));
        training_step(late, 1, NULL);
        training_step(asked, 1, NULL);
        for (int v = 0; v < count; v++) {
            struct mgb_variable_info info = mgb_graph_variable_at(graph, v);
            for (int64_t i = 0; step > 0 && i < info.count; i++)
                weight[v][i] -= lr * kept[v][i];
            assert_ok(mgb_run_read_gradient(asked, kept[v], v));
            assert_ok(mgb_run_read(late, got[v], v, -1));
            if (memcmp(got[v], weight[v], (size_t)info.bytes) != 0)
                fail_msg("step %d: %s", step, info.name);
        }
    }
    for (int v = 0; v < count; v++) {
        free(weight[v]);
        free(kept[v]);
        free(got[v]);
    }
    mgb_run_close(late);
    mgb_run_close(asked);
}

/* The first step is none to adam either: after two steps it has done one. */
static void the_first_step_counts_no_update(void **state)
{
    (void)state;
    static const char *const ways[] = {"strategy=gradients", "strategy=outputs",
                                       "strategy=allreduce", "strategy=allreduce overlap=false"};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        char now[128], later[160];
        struct mgb_optimizer adam = mgb_optimizer_default(MGB_ADAM);
        adam.clip_norm = 0.5f;
        snprintf(now, sizeof now, "gpus=3 global_batch=10 %s", ways[i]);
        snprintf(later, sizeof later, "%s stale=true", now);
        struct mgb_run *a = run_open(now, adam, false), *b = run_open(later, adam, false);
        uint64_t start = training_digest(b);
        training_step(a, 1, NULL);
        training_step(b, 1, NULL);
        assert_true(training_digest(b) == start);
        training_step(b, 1, NULL);
        assert_true(training_digest(a) == training_digest(b));
        replicas_check(b);
        mgb_run_close(a);
        mgb_run_close(b);
    }
}

static void places_compare(const char *extra, const char *strategy, int gpus, bool guarded,
                           uint64_t *digest)
{
    char places[256], options[512];
    uint64_t wanted = 0;
    for (int i = 0; i < draw_count(6, 40); i++) {
        draw_places(places, sizeof places, strategy, gpus, 70 * gpus + i);
        snprintf(options, sizeof options, "gpus=%d global_batch=10 strategy=%s %s%s", gpus,
                 strategy, extra, i ? places : "");
        struct mgb_run *run = run_open(options, training_sgd(0.1f, 0.9f), guarded);
        training_step(run, STEPS, NULL);
        replicas_check(run);
        uint64_t got = training_digest(run);
        wanted = i == 0 ? got : wanted;
        if (got != wanted)
            fail_msg("%s: other weights than at the default places", options);
        mgb_run_close(run);
    }
    *digest = wanted;
}

static void places_never_change_the_arithmetic_of_stale_training(void **state)
{
    (void)state;
    uint64_t plain, stale;
    for (int gpus = 1; gpus <= 4; gpus++) {
        const char *strategy = gpus % 2 ? "gradients" : "outputs";
        places_compare("", strategy, gpus, false, &plain);
        places_compare("stale=true", strategy, gpus, gpus == 3, &stale);
        assert_true(plain != stale);
        places_compare("stale=true staged=true wire_type=bf16", strategy, gpus, gpus == 2, &stale);
    }
}

static void early_fetching_changes_no_bit(void **state)
{
    (void)state;
    uint64_t plain, staged;
    for (int gpus = 1; gpus <= 4; gpus++)
        for (int s = 0; s < 2; s++) {
            const char *strategy = s ? "gradients" : "outputs";
            places_compare("", strategy, gpus, false, &plain);
            places_compare("staged=true", strategy, gpus, gpus == 2, &staged);
            assert_true(plain == staged);
        }
}

static void early_fetching_moves_the_same_bytes_and_nothing_before_forward(void **state)
{
    (void)state;
    const char *base = "gpus=3 global_batch=10 strategy=gradients cpu_relocation=true";
    char options[128];
    snprintf(options, sizeof options, "%s staged=true", base);
    struct mgb_run *now = run_open(base, training_sgd(0.1f, 0), false);
    struct mgb_run *early = run_open(options, training_sgd(0.1f, 0), false);
    const struct mgb_plan *a = mgb_run_plan(now), *b = mgb_run_plan(early);
    assert_int_equal(a->traffic_count, b->traffic_count);
    for (int i = 0; i < a->traffic_count; i++)
        assert_int_equal(a->traffic[i].bytes, b->traffic[i].bytes);
    bool updated = false;
    for (int i = 0; i < b->task_count; i++) {
        updated |= b->tasks[i].kind == MGB_TASK_UPDATE;
        if (b->tasks[i].phase == MGB_PHASE_FETCH)
            assert_true(updated);
    }
    mgb_run_close(now);
    mgb_run_close(early);
}

/* Staged toggles keep everything; a stale one drops what is in flight and says so. */
static void toggles_in_mid_run(void **state)
{
    (void)state;
    const char *base = "gpus=3 global_batch=10 strategy=gradients";
    struct mgb_run *still = run_open(base, training_sgd(0.1f, 0.9f), false);
    struct mgb_run *moving = run_open(base, training_sgd(0.1f, 0.9f), false);
    static const char *const ways[] = {
        "staged=true",  "staged=true cpu_relocation=true", "weights_at=/gpu:1 cpu_relocation=nil",
        "staged=false", "staged=true weights_at=spread",   "weights_at=nil"};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        training_set(moving, ways[i]);
        training_step(still, 2, NULL);
        training_step(moving, 2, NULL);
        replicas_check(moving);
        assert_true(training_digest(still) == training_digest(moving));
    }
    assert_false(training_set(moving, "stale=true").gradients_dropped);
    uint64_t before = training_digest(moving);
    training_step(moving, 1, NULL);
    assert_true(training_digest(moving) == before);
    assert_true(training_set(moving, "cpu_merge=false").gradients_dropped);
    training_step(moving, 1, NULL);
    assert_true(training_digest(moving) == before);
    training_step(moving, 1, NULL);
    assert_true(training_digest(moving) != before);
    training_set(moving, "stale=false staged=false");
    training_step(moving, 1, NULL);
    mgb_run_close(still);
    mgb_run_close(moving);
}

static void remainders_and_evaluations_share_the_pending_gradients(void **state)
{
    (void)state; /* 23 rows in batches of 10: the third has 3 rows for 4 towers */
    static const char *const ways[] = {"strategy=gradients staged=true", "strategy=allreduce"};
    for (size_t i = 0; i < 2; i++) {
        char options[128];
        struct mgb_evaluation out;
        snprintf(options, sizeof options, "gpus=4 global_batch=10 stale=true %s", ways[i]);
        struct mgb_run *a = run_open(options, training_sgd(0.1f, 0.9f), false);
        struct mgb_run *b = run_open(options, training_sgd(0.1f, 0.9f), false);
        training_step(a, 8, NULL);
        for (int step = 0; step < 8; step++) {
            training_step(b, 1, NULL);
            assert_ok(mgb_run_evaluate(b, &out, &data.source));
        }
        assert_true(training_digest(a) == training_digest(b));
        replicas_check(b);
        mgb_run_close(a);
        mgb_run_close(b);
    }
}

/* A device that fails in mid-step: weights, slots and replicas are those before; what was in flight is dropped. */
static void a_failed_step_leaves_the_weights_as_they_were(void **state)
{
    (void)state;
    static const char *const ways[] = {"strategy=gradients staged=true", "strategy=outputs",
                                       "strategy=allreduce"};
    for (int launch = 20; launch < 80; launch += 13) {
        char fault[64], options[128];
        int64_t done;
        enum mgb_status status = MGB_OK;
        uint64_t before = 0;
        snprintf(fault, sizeof fault, "oom:/gpu:1:launch=%d", launch);
        snprintf(options, sizeof options, "gpus=3 global_batch=10 stale=true %s", ways[launch % 3]);
        setenv("MGBENCH_FAULT", fault, 1);
        struct mgb_run *run = run_open(options, training_sgd(0.1f, 0.9f), false);
        unsetenv("MGBENCH_FAULT");
        while (status == MGB_OK) {
            before = training_digest(run);
            status = mgb_run_step(run, &done, &(struct mgb_step_request){.steps = 1}, NULL);
        }
        assert_int_equal(status, MGB_OOM);
        assert_true(training_digest(run) == before);
        training_step(run, 1, NULL); /* applies none */
        assert_true(training_digest(run) == before);
        training_step(run, 1, NULL);
        assert_true(training_digest(run) != before);
        replicas_check(run);
        mgb_run_close(run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_applies_the_gradients_of_the_step_before),
        cmocka_unit_test(the_first_step_counts_no_update),
        cmocka_unit_test(places_never_change_the_arithmetic_of_stale_training),
        cmocka_unit_test(early_fetching_changes_no_bit),
        cmocka_unit_test(early_fetching_moves_the_same_bytes_and_nothing_before_forward),
        cmocka_unit_test(toggles_in_mid_run),
        cmocka_unit_test(a_failed_step_leaves_the_weights_as_they_were),
        cmocka_unit_test(remainders_and_evaluations_share_the_pending_gradients),
    };
    return cmocka_run_group_tests(tests, model_begin, model_end);
}
