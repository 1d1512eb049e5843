/* Ten thousand towers: a plan costs memory for the operators and for the GPUs, not for their product. */
#include "engine/base/memory.h"
#include "engine/graph/graph.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/plan.h"
#include <mgb/check.h>
#include <stdio.h>

#define TOWERS 10000
#define LAYERS 80 /* of kernel and bias: 160 variables */

static struct mgb_graph *deep_model(void)
{
    struct mgb_graph *graph = model_make("deep");
    int x = model_input(graph, "image", SHAPE(1, 64)), label = model_label(graph, "label");
    for (int i = 0; i < LAYERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "dense_%d", i);
        x = model_dense(graph, name, x, i == LAYERS - 1 ? 10 : 64, MGB_RELU);
    }
    model_classify(graph, x, label);
    assert_int_equal(graph->variable_count, 2 * LAYERS);
    return graph;
}

static void plan_check(const struct plan_setup *setup, int most_classes)
{
    struct mgb_graph *graph = deep_model();
    struct plan_world world;
    struct mgb_plan *plan = plan_make(&world, graph, setup);
    assert_int_equal(plan->tower_count, TOWERS);
    assert_true(plan->class_count <= most_classes);
    assert_true(plan->task_count < 10 * graph->node_count);
    assert_true(plan->buffer_count < 10 * graph->node_count);
    assert_true(plan->storage_count < 10 * graph->variable_count);
    assert_true(plan->traffic_count <= 5 * TOWERS);
    assert_ok(mgb_plan_verify(plan));
    assert_ok(mgb_plan_admit(plan, plan, 0));
    struct mgb_plan *move;
    assert_ok(mgb_plan_make_move(&move, plan, plan));
    assert_true(move->task_count < 10 * graph->variable_count);
    assert_ok(mgb_plan_verify(move));
    mgb_plan_free(move);
    mgb_plan_free(plan);
    plan_world_done(&world);
    mgb_graph_free(graph);
}

static void ten_thousand_towers_all_reduce(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_ALLREDUCE,
                                     .gpus = TOWERS,
                                     .batch = 4 * TOWERS + 7,
                                     .bucket_bytes = 256 << 10};
    plan_check(&setup, 2);
}

static void ten_thousand_towers_meet_on_the_host(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS,
                                     .gpus = TOWERS,
                                     .batch = 4 * TOWERS + 7,
                                     .bucket_bytes = 256 << 10};
    plan_check(&setup, 2);
}

static void ten_thousand_towers_meet_on_a_gpu(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_OUTPUTS,
                                     .gpus = TOWERS,
                                     .batch = 4 * TOWERS,
                                     .home = 5,
                                     .original = 5,
                                     .join = 5,
                                     .loss = 5,
                                     .sum = 5,
                                     .update = 5};
    plan_check(&setup, 2);
}

static void ten_thousand_independent_towers(void **state)
{
    (void)state;
    const struct plan_setup setup = {
        .strategy = MGB_INDEPENDENT, .gpus = TOWERS, .batch = TOWERS - 1};
    plan_check(&setup, 2);
}

static void a_failed_allocation_leaves_nothing_behind(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct plan_world world;
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS, .gpus = 2, .batch = 8};
    plan_world_make(&world, graph, &setup);
    long long before = mgb_alloc_count();
    struct mgb_plan *plan = NULL;
    assert_ok(mgb_plan_make(&plan, &world.request));
    long long allocations = mgb_alloc_count() - before;
    mgb_plan_free(plan);
    for (long long n = 1; n <= allocations; n++) {
        plan = NULL;
        mgb_alloc_fail_at(n);
        assert_status(mgb_plan_make(&plan, &world.request), MGB_NO_MEMORY);
        mgb_alloc_fail_at(0);
        assert_null(plan);
    }
    plan_world_done(&world);
    mgb_graph_free(graph);
}

/* Calls f with every allocation failing in turn; it returns MGB_OK only when none did. */
static void failures_check(enum mgb_status (*f)(const struct mgb_plan *plan),
                           const struct mgb_plan *plan)
{
    long long before = mgb_alloc_count();
    assert_ok(f(plan));
    long long allocations = mgb_alloc_count() - before;
    assert_true(allocations > 0);
    for (long long n = 1; n <= allocations; n++) {
        mgb_alloc_fail_at(n);
        assert_status(f(plan), MGB_NO_MEMORY);
        mgb_alloc_fail_at(0);
    }
}

static enum mgb_status expand(const struct mgb_plan *plan)
{
    struct mgb_flat flat;
    MGB_TRY(mgb_plan_expand(&flat, plan));
    mgb_flat_done(&flat);
    return MGB_OK;
}

static enum mgb_status check(const struct mgb_plan *plan)
{
    struct mgb_check out;
    MGB_TRY(mgb_check_make(&out, plan));
    mgb_check_done(&out);
    return MGB_OK;
}

static enum mgb_status move(const struct mgb_plan *plan)
{
    struct mgb_plan *out;
    MGB_TRY(mgb_plan_make_move(&out, plan, plan));
    mgb_plan_free(out);
    return MGB_OK;
}

static enum mgb_status text(const struct mgb_plan *plan)
{
    char *out;
    MGB_TRY(mgb_plan_text(&out, plan));
    mgb_text_free(out);
    return MGB_OK;
}

static void whatever_is_done_with_a_plan_survives_failed_allocations(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct plan_world world;
    const struct plan_setup setup = {.strategy = MGB_OUTPUTS,
                                     .gpus = 2,
                                     .batch = 7,
                                     .original = 1,
                                     .clone = true,
                                     .optimizer = mgb_optimizer_default(MGB_ADAM)};
    struct mgb_plan *plan = plan_make(&world, graph, &setup);
    failures_check(mgb_plan_verify, plan);
    failures_check(expand, plan);
    failures_check(check, plan);
    failures_check(move, plan);
    failures_check(text, plan);
    mgb_plan_free(plan);
    plan_world_done(&world);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_towers_all_reduce),
        cmocka_unit_test(ten_thousand_towers_meet_on_the_host),
        cmocka_unit_test(ten_thousand_towers_meet_on_a_gpu),
        cmocka_unit_test(ten_thousand_independent_towers),
        cmocka_unit_test(a_failed_allocation_leaves_nothing_behind),
        cmocka_unit_test(whatever_is_done_with_a_plan_survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
