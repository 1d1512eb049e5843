/* The text of whole plans of the MLP against tests/golden/plans. */
#include "engine/graph/graph.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/plan.h"
#include <string.h>

static void golden_check(const struct plan_setup *setup, const char *name)
{
    struct mgb_graph *graph = model_mlp();
    struct plan_world world;
    struct mgb_plan *plan = plan_make(&world, graph, setup), *again = NULL;
    char *one, *two;
    plan_check_golden(plan, name);
    assert_ok(mgb_plan_make(&again, &world.request));
    assert_ok(mgb_plan_text(&one, plan));
    assert_ok(mgb_plan_text(&two, again));
    assert_string_equal(one, two);
    mgb_text_free(one);
    mgb_text_free(two);
    mgb_plan_free(plan);
    mgb_plan_free(again);
    plan_world_done(&world);
    mgb_graph_free(graph);
}

static void outputs_on_one_gpu(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_OUTPUTS,
                                     .gpus = 1,
                                     .batch = 4,
                                     .home = 1,
                                     .original = 1,
                                     .join = 1,
                                     .loss = 1,
                                     .sum = 1,
                                     .update = 1};
    golden_check(&setup, "outputs-1");
}

static void outputs_merged_on_the_host(void **state)
{
    (void)state;
    const struct plan_setup setup = {
        .strategy = MGB_OUTPUTS, .gpus = 2, .batch = 7, .home = 1, .original = 1, .update = 1};
    golden_check(&setup, "outputs-2-cpu-merge");
}

static void outputs_as_keras(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_OUTPUTS,
                                     .gpus = 2,
                                     .batch = 7,
                                     .home = 0,
                                     .original = 1,
                                     .loss = 1,
                                     .sum = 1,
                                     .update = 1,
                                     .clone = true};
    golden_check(&setup, "outputs-2-keras-clone");
}

static void gradients_with_momentum_and_clipping(void **state)
{
    (void)state;
    struct plan_setup setup = {.strategy = MGB_GRADIENTS, .gpus = 3, .batch = 7};
    setup.optimizer = mgb_optimizer_default(MGB_SGD);
    setup.optimizer.momentum = 0.9f;
    setup.optimizer.clip_norm = 1;
    golden_check(&setup, "gradients-3-host");
}

static void gradients_spread_in_small_buckets(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS,
                                     .gpus = 2,
                                     .batch = 8,
                                     .home = PLAN_SPREAD,
                                     .original = PLAN_SPREAD,
                                     .sum = PLAN_SPREAD,
                                     .update = PLAN_SPREAD,
                                     .bucket_bytes = 256,
                                     .no_overlap = true};
    golden_check(&setup, "gradients-2-spread");
}

static void allreduce_with_an_idle_tower(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_ALLREDUCE,
                                     .gpus = 4,
                                     .batch = 3,
                                     .optimizer = mgb_optimizer_default(MGB_ADAM)};
    golden_check(&setup, "allreduce-4-idle");
}

static void independent_evaluation(void **state)
{
    (void)state;
    const struct plan_setup setup = {
        .strategy = MGB_INDEPENDENT, .gpus = 2, .batch = 8, .rows = 5, .evaluate = true};
    golden_check(&setup, "independent-2-evaluate");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_on_one_gpu),
        cmocka_unit_test(outputs_merged_on_the_host),
        cmocka_unit_test(outputs_as_keras),
        cmocka_unit_test(gradients_with_momentum_and_clipping),
        cmocka_unit_test(gradients_spread_in_small_buckets),
        cmocka_unit_test(allreduce_with_an_idle_tower),
        cmocka_unit_test(independent_evaluation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
