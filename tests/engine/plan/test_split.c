/* How rows and towers are cut: sizes, classes, towers without rows, the mean over the global batch. */
#include "engine/graph/graph.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/plan.h"

struct fixture {
    struct mgb_graph *graph;
    struct plan_world world;
    struct mgb_plan *plan;
};

static struct fixture fixture_make(const struct plan_setup *setup)
{
    struct fixture f = {.graph = model_mlp()};
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

/* The batches of reference/ancestors.md 0, item 5. */
static void tower_sizes_differ_by_at_most_one_row(void **state)
{
    (void)state;
    static const int cases[][3] = {{13, 4, 4}, {10, 4, 3}, {9, 4, 3}, {36, 7, 6},
                                   {60, 8, 8}, {3, 8, 1},  {1, 2, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int rows = cases[i][0], towers = cases[i][1], at = 0;
        const struct plan_setup setup = {.strategy = MGB_GRADIENTS, .gpus = towers, .batch = rows};
        struct fixture f = fixture_make(&setup);
        for (int t = 0; t < towers; t++) {
            const struct mgb_tower *tower = &f.plan->towers[t];
            assert_int_equal(tower->first_row, at);
            assert_int_equal(tower->rows, t < rows % towers ? rows / towers + 1 : rows / towers);
            at += tower->rows;
        }
        assert_int_equal(f.plan->towers[0].rows, cases[i][2]);
        assert_int_equal(at, rows);
        fixture_done(&f);
    }
}

static void no_operator_runs_on_a_tower_without_rows(void **state)
{
    (void)state;
    for (int strategy = MGB_OUTPUTS; strategy <= MGB_INDEPENDENT; strategy++) {
        const struct plan_setup setup = {
            .strategy = (enum mgb_strategy)strategy, .gpus = 8, .batch = 3};
        struct fixture f = fixture_make(&setup);
        for (int i = 0; i < f.plan->task_count; i++) {
            const struct mgb_task *task = &f.plan->tasks[i];
            if (task->kind == MGB_TASK_COMPUTE && task->class >= 0)
                assert_true(f.plan->classes[task->class].rows > 0);
            if (task->kind == MGB_TASK_COMPUTE)
                assert_true(task->rows > 0);
        }
        fixture_done(&f);
    }
}

static void a_tower_without_rows_adds_zero_to_a_collective(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_ALLREDUCE, .gpus = 4, .batch = 3};
    struct fixture f = fixture_make(&setup);
    int idle = f.plan->towers[3].class, fills = 0, meets = 0, updates = 0;
    assert_int_equal(f.plan->classes[idle].rows, 0);
    for (int i = 0; i < f.plan->task_count; i++) {
        if (f.plan->tasks[i].class != idle)
            continue;
        fills += f.plan->tasks[i].kind == MGB_TASK_FILL;
        meets += f.plan->tasks[i].kind == MGB_TASK_ALLREDUCE;
        updates += f.plan->tasks[i].kind == MGB_TASK_UPDATE;
    }
    assert_int_equal(fills, 1);
    assert_int_equal(meets, 1);
    assert_int_equal(updates, 1);
    fixture_done(&f);
}

static void the_loss_is_weighted_by_the_rows_of_the_global_batch(void **state)
{
    (void)state;
    for (int strategy = MGB_OUTPUTS; strategy <= MGB_INDEPENDENT; strategy++) {
        const struct plan_setup setup = {
            .strategy = (enum mgb_strategy)strategy, .gpus = 2, .batch = 8, .rows = 5};
        struct fixture f = fixture_make(&setup);
        int seen = 0;
        for (int i = 0; i < f.plan->task_count; i++) {
            const struct mgb_task *task = &f.plan->tasks[i];
            if (task->kind != MGB_TASK_COMPUTE ||
                f.graph->nodes[task->node].kind != MGB_OP_SOFTMAX_XENT_GRAD)
                continue;
            assert_true(task->scale == 1.0f / 5);
            seen++;
        }
        assert_int_equal(seen, strategy == MGB_OUTPUTS ? 1 : 2);
        fixture_done(&f);
    }
}

static void alike_towers_are_stored_once(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS,
                                     .gpus = 12,
                                     .batch = 30,
                                     .home = 3,
                                     .original = 3,
                                     .sum = 3,
                                     .update = 3};
    struct fixture f = fixture_make(&setup);
    /* rows 3 (six towers, one of them with the root's work) and rows 2 (six) */
    assert_int_equal(f.plan->class_count, 3);
    const struct mgb_class *root = &f.plan->classes[f.plan->towers[2].class];
    assert_int_equal(root->tower_count, 1);
    assert_int_equal(f.plan->classes[f.plan->towers[0].class].tower_count, 5);
    assert_int_equal(f.plan->classes[f.plan->towers[11].class].tower_count, 6);
    fixture_done(&f);
}

static void the_listed_order_is_the_order_of_rows_and_sums(void **state)
{
    (void)state;
    static const int order[] = {2, 0, 1};
    const struct plan_setup setup = {
        .strategy = MGB_GRADIENTS, .gpus = 3, .batch = 7, .order = order};
    struct fixture f = fixture_make(&setup);
    assert_int_equal(f.plan->towers[0].device, PLAN_GPU(2));
    assert_int_equal(f.plan->towers[0].rows, 3);
    int reduce = plan_find_task(f.plan, MGB_TASK_REDUCE, MGB_PHASE_SUM, 0);
    struct mgb_flat_operand operands[4];
    assert_int_equal(mgb_plan_operands(f.plan, reduce, -1, operands), 4);
    for (int t = 0; t < 3; t++)
        assert_int_equal(operands[1 + t].tower, t);
    fixture_done(&f);
}

static void copies_by_rows_tile_the_joined_tensor(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_OUTPUTS, .gpus = 5, .batch = 13};
    struct fixture f = fixture_make(&setup);
    bool seen[13] = {false};
    struct mgb_flat flat;
    assert_ok(mgb_plan_expand(&flat, f.plan));
    for (int i = 0; i < flat.count; i++) {
        const struct mgb_task *task = &f.plan->tasks[flat.tasks[i].task];
        struct mgb_flat_operand operands[2];
        if (task->kind != MGB_TASK_COPY || task->phase != MGB_PHASE_JOIN ||
            task->device != PLAN_CPU)
            continue;
        assert_int_equal(
            mgb_plan_operands(f.plan, flat.tasks[i].task, flat.tasks[i].tower, operands), 2);
        int64_t base =
            mgb_plan_place(f.plan, f.plan->operands[task->operand_begin].buffer, -1).offset;
        for (int64_t row = (operands[0].place.offset - base) / 12, k = 0;
             k < operands[0].bytes / 12; k++) {
            assert_false(seen[row + k]);
            seen[row + k] = true;
        }
    }
    for (int row = 0; row < 13; row++)
        assert_true(seen[row]);
    mgb_flat_done(&flat);
    fixture_done(&f);
}

static void more_rows_than_the_batch_are_refused(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct plan_world world;
    struct mgb_plan *plan = NULL;
    const struct plan_setup setup = {.strategy = MGB_OUTPUTS, .gpus = 2, .batch = 8, .rows = 9};
    plan_world_make(&world, graph, &setup);
    assert_status(mgb_plan_make(&plan, &world.request), MGB_INVALID);
    assert_message("9 rows");
    assert_null(plan);
    plan_world_done(&world);
    mgb_graph_free(graph);
}

static void a_model_with_all_variables_frozen_still_has_plans(void **state)
{
    (void)state;
    for (int strategy = MGB_OUTPUTS; strategy <= MGB_INDEPENDENT; strategy++) {
        struct plan_setup setup = {.strategy = (enum mgb_strategy)strategy, .gpus = 2, .batch = 8};
        struct fixture f = {.graph = model_mlp()};
        setup.optimizer = mgb_optimizer_default(MGB_ADAM);
        setup.optimizer.clip_norm = 1;
        for (int v = 0; v < 4; v++)
            assert_ok(mgb_graph_freeze(f.graph, v, true));
        f.plan = plan_make(&f.world, f.graph, &setup);
        assert_ok(mgb_plan_verify(f.plan));
        assert_int_equal(plan_count_tasks(f.plan, MGB_TASK_UPDATE, MGB_PHASE_UPDATE), 0);
        assert_int_equal(plan_count_tasks(f.plan, MGB_TASK_COMPUTE, MGB_PHASE_BACKWARD), 0);
        fixture_done(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tower_sizes_differ_by_at_most_one_row),
        cmocka_unit_test(no_operator_runs_on_a_tower_without_rows),
        cmocka_unit_test(a_tower_without_rows_adds_zero_to_a_collective),
        cmocka_unit_test(the_loss_is_weighted_by_the_rows_of_the_global_batch),
        cmocka_unit_test(alike_towers_are_stored_once),
        cmocka_unit_test(the_listed_order_is_the_order_of_rows_and_sums),
        cmocka_unit_test(copies_by_rows_tile_the_joined_tensor),
        cmocka_unit_test(a_model_with_all_variables_frozen_still_has_plans),
        cmocka_unit_test(more_rows_than_the_batch_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
