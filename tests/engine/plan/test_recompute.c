/* recompute = block in plans: which operators run a second time, and what is held then. What the runs train is the matter of
 * tests/engine/exec/test_recompute.c. */
#include "engine/graph/graph.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/plan.h"
#include <mgb/op.h>
#include <stdio.h>
#include <string.h>

/* Scopes block1 to block<count>, each a dense layer, batch norm, dropout and another dense layer. */
static struct mgb_graph *model_blocks(int count, bool scoped)
{
    struct mgb_graph *graph = model_make("blocks");
    int x = model_input(graph, "image", SHAPE(1, 6)), label = model_label(graph, "label");
    for (int i = 1; i <= count; i++) {
        char name[16];
        snprintf(name, sizeof name, "block%d", i);
        if (scoped)
            assert_ok(mgb_graph_begin_scope(graph, name));
        x = model_dense(graph, "wide", x, 40, MGB_TANH);
        x = model_batch_norm(graph, "norm", x, MGB_RELU);
        x = model_dropout(graph, x, 0.25f);
        x = model_dense(graph, "narrow", x, 6, MGB_TANH);
        if (scoped)
            mgb_graph_end_scope(graph);
    }
    model_classify(graph, model_dense(graph, "logits", x, 3, MGB_LINEAR), label);
    return graph;
}

static struct mgb_plan *plan_blocks(struct plan_world *world, const struct mgb_graph *graph,
                                    enum mgb_recompute recompute, int batch)
{
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS,
                                     .gpus = 2,
                                     .batch = batch,
                                     .home = 1,
                                     .original = 1,
                                     .sum = 1,
                                     .update = 1};
    struct mgb_plan *plan = NULL;
    plan_world_make(world, graph, &setup);
    world->placement->recompute = recompute;
    assert_ok(mgb_plan_make(&plan, &world->request));
    assert_ok(mgb_plan_verify(plan));
    return plan;
}

static int runs_of(const struct mgb_plan *plan, int node, enum mgb_phase phase)
{
    int count = 0;
    for (int i = 0; i < plan->task_count; i++)
        count += plan->tasks[i].kind == MGB_TASK_COMPUTE && plan->tasks[i].node == node &&
                 plan->tasks[i].phase == phase && plan->tasks[i].class == 0;
    return count;
}

/* What the next block reads is kept, with the statistics of the batch; the last block is kept whole. */
static void the_inside_of_every_block_but_the_last_runs_twice(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_blocks(6, true);
    struct plan_world world;
    struct mgb_plan *plan = plan_blocks(&world, graph, MGB_RECOMPUTE_BLOCK, 20);
    int again = 0;
    for (int n = 0; n < graph->node_count; n++) {
        const char *name = graph->nodes[n].name;
        if (graph->nodes[n].section != MGB_SECTION_FORWARD ||
            graph->nodes[n].kind == MGB_OP_INPUT || graph->nodes[n].kind == MGB_OP_READ)
            continue;
        bool inside = strncmp(name, "block", 5) == 0 && !strstr(name, "narrow") &&
                      !strstr(name, "norm_stats");
        assert_int_equal(runs_of(plan, n, MGB_PHASE_FORWARD), 1);
        if (runs_of(plan, n, MGB_PHASE_BACKWARD) != inside)
            fail_msg("'%s' runs %d times in backward", name, runs_of(plan, n, MGB_PHASE_BACKWARD));
        again += inside;
    }
    assert_int_equal(again, 18);
    mgb_plan_free(plan);
    plan_world_done(&world);
    mgb_graph_free(graph);
}

/* Activations of six blocks: one whole instead of six. */
static void activations_shrink_and_lasting_bytes_stay(void **state)
{
    (void)state;
    for (int scoped = 0; scoped < 2; scoped++) {
        struct mgb_graph *graph = model_blocks(6, scoped);
        struct plan_world worlds[2];
        struct mgb_plan *without = plan_blocks(&worlds[0], graph, MGB_RECOMPUTE_NONE, 2000);
        struct mgb_plan *with = plan_blocks(&worlds[1], graph, MGB_RECOMPUTE_BLOCK, 2000);
        const struct mgb_device_use *a = plan_use(without, PLAN_GPU(0)),
                                    *b = plan_use(with, PLAN_GPU(0));
        assert_true(b->peak[MGB_MEMORY_ACTIVATIONS] * 2 < a->peak[MGB_MEMORY_ACTIVATIONS]);
        assert_true(b->peak_bytes * 2 < a->peak_bytes);
        assert_int_equal(a->lasting_bytes, b->lasting_bytes);
        assert_true(mgb_plan_same_lasting(without, with));
        mgb_plan_free(without);
        mgb_plan_free(with);
        plan_world_done(&worlds[0]);
        plan_world_done(&worlds[1]);
        mgb_graph_free(graph);
    }
}

static void evaluation_runs_nothing_twice(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_blocks(6, true);
    struct plan_world world;
    struct mgb_plan *plan = plan_blocks(&world, graph, MGB_RECOMPUTE_BLOCK, 20), *none = NULL,
                    *evaluation = NULL;
    char *one, *two;
    world.request.kind = MGB_PLAN_EVALUATE;
    assert_ok(mgb_plan_make(&evaluation, &world.request));
    world.placement->recompute = MGB_RECOMPUTE_NONE;
    assert_ok(mgb_plan_make(&none, &world.request));
    assert_ok(mgb_plan_text(&one, evaluation));
    assert_ok(mgb_plan_text(&two, none));
    assert_string_equal(one, two);
    mgb_text_free(one);
    mgb_text_free(two);
    mgb_plan_free(plan);
    mgb_plan_free(evaluation);
    mgb_plan_free(none);
    plan_world_done(&world);
    mgb_graph_free(graph);
}

/* The mean of the input is a 64th of it, and the input is read by no gradient: holding it for a second run would cost more
 * than the mean. */
static void a_block_that_would_hold_more_is_left_alone(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_make("means");
    int x = model_input(graph, "image", SHAPE(2, 64, 3)), label = model_label(graph, "label");
    struct plan_world world;
    assert_ok(mgb_graph_begin_scope(graph, "first"));
    assert_ok(mgb_op_mean(graph, &x, "mean", x, 1, false));
    x = model_dense(graph, "dense", x, 3, MGB_TANH);
    mgb_graph_end_scope(graph);
    assert_ok(mgb_graph_begin_scope(graph, "second"));
    x = model_dense(graph, "dense", x, 3, MGB_TANH);
    mgb_graph_end_scope(graph);
    model_classify(graph, x, label);
    struct mgb_plan *plan = plan_blocks(&world, graph, MGB_RECOMPUTE_BLOCK, 20);
    for (int n = 0; n < graph->node_count; n++)
        if (graph->nodes[n].section == MGB_SECTION_FORWARD)
            assert_int_equal(runs_of(plan, n, MGB_PHASE_BACKWARD), 0);
    mgb_plan_free(plan);
    plan_world_done(&world);
    mgb_graph_free(graph);
}

static void the_plan_of_two_blocks_reads_as_stored(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_blocks(2, true);
    struct plan_world world;
    struct mgb_plan *plan = plan_blocks(&world, graph, MGB_RECOMPUTE_BLOCK, 8);
    plan_check_golden(plan, "gradients-2-recompute");
    mgb_plan_free(plan);
    plan_world_done(&world);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_inside_of_every_block_but_the_last_runs_twice),
        cmocka_unit_test(activations_shrink_and_lasting_bytes_stay),
        cmocka_unit_test(evaluation_runs_nothing_twice),
        cmocka_unit_test(a_block_that_would_hold_more_is_left_alone),
        cmocka_unit_test(the_plan_of_two_blocks_reads_as_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
