/* Exchanges of batch statistics and sums (bn = sync): how many there are, where they meet, what they move, and where there
 * are none. */
#include "engine/graph/graph.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/plan.h"

enum {
    CHANNELS = 5,
    BYTES = 64 + 4 * CHANNELS
}; /* two parts, the second where memory is aligned */

/* x -> [dense] -> batch_norm -> dense */
static struct mgb_graph *norm_model(bool first)
{
    struct mgb_graph *graph = model_make("norm");
    int x = model_input(graph, "x", SHAPE(1, CHANNELS)), label = model_label(graph, "label");
    if (first)
        x = model_dense(graph, "first", x, CHANNELS, MGB_LINEAR);
    x = model_batch_norm(graph, "batch_norm", x, MGB_RELU);
    model_classify(graph, model_dense(graph, "logits", x, 2, MGB_LINEAR), label);
    return graph;
}

struct fixture {
    struct mgb_graph *graph;
    struct plan_world world;
    struct mgb_plan *plan;
};

static struct fixture fixture_make(struct mgb_graph *graph, const struct plan_setup *setup)
{
    struct fixture f = {.graph = graph};
    f.plan = plan_make(&f.world, f.graph, setup);
    assert_ok(mgb_plan_verify(f.plan));
    return f;
}

static void fixture_done(struct fixture *f)
{
    mgb_plan_free(f->plan);
    plan_world_done(&f->world);
    mgb_graph_free(f->graph);
}

static int merges(const struct mgb_plan *plan)
{
    int count = 0;
    for (int i = 0; i < plan->task_count; i++)
        count += plan->tasks[i].kind == MGB_TASK_MERGE;
    return count;
}

static void statistics_are_merged_and_sums_added_once_a_layer(void **state)
{
    (void)state;
    static const enum mgb_strategy strategies[] = {MGB_OUTPUTS, MGB_GRADIENTS, MGB_ALLREDUCE};
    for (int s = 0; s < 3; s++) {
        const struct plan_setup setup = {
            .strategy = strategies[s], .gpus = 3, .batch = 8, .sum = PLAN_CPU, .sync = true};
        struct fixture f = fixture_make(norm_model(true), &setup);
        assert_int_equal(merges(f.plan), 1);
        int merge = plan_find_task(f.plan, MGB_TASK_MERGE, MGB_PHASE_FORWARD, 0);
        int sum = plan_find_task(f.plan, MGB_TASK_REDUCE, MGB_PHASE_BACKWARD, 0);
        assert_true(merge >= 0 && sum > merge);
        assert_int_equal(f.plan->tasks[merge].device, PLAN_CPU);
        assert_int_equal(mgb_plan_operands(f.plan, merge, -1, NULL), 2 + 2 * 3);
        assert_int_equal(mgb_plan_operands(f.plan, sum, -1, NULL), 1 + 3);
        assert_int_equal(plan_count_tasks(f.plan, MGB_TASK_REDUCE, MGB_PHASE_BACKWARD), 1);
        fixture_done(&f);
    }
}

/* Against the same plan by tower: two exchanges a tower and way more, each of both parts. */
static void an_exchange_moves_its_bytes_to_the_meeting_and_back(void **state)
{
    (void)state;
    for (int at = PLAN_CPU; at <= PLAN_GPU(0); at++) {
        struct plan_setup setup = {.strategy = MGB_GRADIENTS,
                                   .gpus = 3,
                                   .batch = 8,
                                   .home = PLAN_CPU,
                                   .sum = at,
                                   .update = PLAN_CPU};
        struct fixture tower = fixture_make(norm_model(true), &setup);
        setup.sync = true;
        struct fixture sync = fixture_make(norm_model(true), &setup);
        for (int g = 0; g < 3; g++) {
            int more = PLAN_GPU(g) == at ? 0 : 2 * BYTES;
            assert_int_equal(plan_traffic(sync.plan, PLAN_GPU(g), at),
                             plan_traffic(tower.plan, PLAN_GPU(g), at) + more);
            assert_int_equal(plan_traffic(sync.plan, at, PLAN_GPU(g)),
                             plan_traffic(tower.plan, at, PLAN_GPU(g)) + more);
        }
        int merge = plan_find_task(sync.plan, MGB_TASK_MERGE, MGB_PHASE_FORWARD, 0);
        assert_int_equal(sync.plan->tasks[merge].device, at);
        fixture_done(&tower);
        fixture_done(&sync);
    }
}

/* Five towers, three rows: two have nothing to say, and nothing comes to them. */
static void towers_without_rows_are_left_out(void **state)
{
    (void)state;
    static const enum mgb_strategy strategies[] = {MGB_OUTPUTS, MGB_GRADIENTS, MGB_ALLREDUCE};
    for (int s = 0; s < 3; s++) {
        const struct plan_setup setup = {
            .strategy = strategies[s], .gpus = 5, .batch = 3, .sync = true};
        struct fixture f = fixture_make(norm_model(true), &setup);
        int merge = plan_find_task(f.plan, MGB_TASK_MERGE, MGB_PHASE_FORWARD, 0);
        assert_int_equal(mgb_plan_operands(f.plan, merge, -1, NULL), 2 + 2 * 3);
        fixture_done(&f);
    }
}

/* Sums are for the gradient of the input: there is none here. */
static void what_nobody_reads_is_not_exchanged(void **state)
{
    (void)state;
    const struct plan_setup setup = {
        .strategy = MGB_GRADIENTS, .gpus = 2, .batch = 8, .sync = true};
    struct fixture f = fixture_make(norm_model(false), &setup);
    assert_int_equal(merges(f.plan), 1);
    assert_int_equal(plan_count_tasks(f.plan, MGB_TASK_REDUCE, MGB_PHASE_BACKWARD), 0);
    fixture_done(&f);
}

static void one_tower_frozen_layers_and_evaluation_exchange_nothing(void **state)
{
    (void)state;
    struct plan_setup setup = {.strategy = MGB_GRADIENTS, .gpus = 1, .batch = 8, .sync = true};
    struct fixture f = fixture_make(norm_model(true), &setup);
    assert_int_equal(merges(f.plan), 0);
    fixture_done(&f);
    setup.gpus = 4;
    setup.rows = 1; /* of eight: one tower has any */
    f = fixture_make(norm_model(true), &setup);
    assert_int_equal(merges(f.plan), 0);
    fixture_done(&f);
    setup.rows = 0;
    setup.evaluate = true;
    f = fixture_make(norm_model(true), &setup);
    assert_int_equal(merges(f.plan), 0);
    fixture_done(&f);
    setup.evaluate = false;
    struct mgb_graph *graph = norm_model(true);
    for (int v = 0; v < graph->variable_count; v++)
        if (graph->variables[v].info.state)
            assert_ok(mgb_graph_freeze(graph, v, true));
    f = fixture_make(graph, &setup);
    assert_int_equal(merges(f.plan), 0);
    assert_int_equal(plan_count_tasks(f.plan, MGB_TASK_REDUCE, MGB_PHASE_BACKWARD), 0);
    fixture_done(&f);
}

/* A merge whose halves do not pair up, or differ in size, is no plan. */
static void a_merge_of_half_pairs_is_found(void **state)
{
    (void)state;
    const struct plan_setup setup = {
        .strategy = MGB_GRADIENTS, .gpus = 2, .batch = 8, .sync = true};
    struct fixture f = fixture_make(norm_model(true), &setup);
    struct mgb_task *merge =
        &f.plan->tasks[plan_find_task(f.plan, MGB_TASK_MERGE, MGB_PHASE_FORWARD, 0)];
    merge->operand_count--;
    assert_int_equal(mgb_plan_verify(f.plan), MGB_CORRUPT);
    assert_message("not pairs of them");
    merge->operand_count++;
    f.plan->operands[merge->operand_begin + 2].bytes -= 4;
    assert_int_equal(mgb_plan_verify(f.plan), MGB_CORRUPT);
    fixture_done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_are_merged_and_sums_added_once_a_layer),
        cmocka_unit_test(an_exchange_moves_its_bytes_to_the_meeting_and_back),
        cmocka_unit_test(towers_without_rows_are_left_out),
        cmocka_unit_test(what_nobody_reads_is_not_exchanged),
        cmocka_unit_test(one_tower_frozen_layers_and_evaluation_exchange_nothing),
        cmocka_unit_test(a_merge_of_half_pairs_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
