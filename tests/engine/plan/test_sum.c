/* Buckets, overlap, the sum over the towers, clipping and updates. */
#include "engine/graph/graph.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/plan.h"
#include <stdlib.h>
#include <string.h>

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

static const struct mgb_operand *operand_of(const struct mgb_plan *plan, int task, int k)
{
    assert_true(task >= 0 && k < plan->tasks[task].operand_count);
    return &plan->operands[plan->tasks[task].operand_begin + k];
}

static void buckets_close_at_their_size_in_order_of_readiness(void **state)
{
    (void)state;
    const struct plan_setup setup = {
        .strategy = MGB_GRADIENTS, .gpus = 2, .batch = 8, .bucket_bytes = 512};
    struct fixture f = fixture_make(model_mlp(), &setup);
    /* ready: logits kernel 96 and bias 12 at 128; the dense kernel's 384 at 192 would reach 576 */
    assert_int_equal(plan_count_tasks(f.plan, MGB_TASK_REDUCE, MGB_PHASE_SUM), 2);
    int first = plan_find_task(f.plan, MGB_TASK_REDUCE, MGB_PHASE_SUM, 0);
    int second = plan_find_task(f.plan, MGB_TASK_REDUCE, MGB_PHASE_SUM, 1);
    assert_int_equal(operand_of(f.plan, first, 0)->bytes, 128 + 12);
    assert_int_equal(operand_of(f.plan, second, 0)->bytes, 384 + 32);
    fixture_done(&f);
}

static void a_gradient_larger_than_a_bucket_has_one_of_its_own(void **state)
{
    (void)state;
    const struct plan_setup setup = {
        .strategy = MGB_ALLREDUCE, .gpus = 2, .batch = 8, .bucket_bytes = 64};
    struct fixture f = fixture_make(model_mlp(), &setup);
    assert_int_equal(f.plan->collective_count, 4);
    fixture_done(&f);
}

/* Issue index of the last backward operator of the class that `task` belongs to. */
static int backward_end(const struct mgb_plan *plan, int class)
{
    int end = -1;
    for (int i = 0; i < plan->task_count; i++)
        if (plan->tasks[i].class == class && plan->tasks[i].kind == MGB_TASK_COMPUTE)
            end = i;
    return end;
}

static void with_overlap_a_bucket_leaves_while_backward_runs(void **state)
{
    (void)state;
    for (int strategy = MGB_OUTPUTS; strategy <= MGB_ALLREDUCE; strategy++) {
        const struct plan_setup setup = {.strategy = (enum mgb_strategy)strategy,
                                         .gpus = 2,
                                         .batch = 8,
                                         .bucket_bytes = 1 << 20};
        struct fixture f = fixture_make(model_mnist_cnn(), &setup);
        enum mgb_task_kind kind = strategy == MGB_ALLREDUCE ? MGB_TASK_ALLREDUCE : MGB_TASK_COPY;
        int first = plan_find_task(f.plan, kind, MGB_PHASE_SUM, 0);
        const struct mgb_task *task = &f.plan->tasks[first];
        assert_true(first < backward_end(f.plan, task->class));
        for (int k = 0; k < task->wait_count; k++)
            assert_true(f.plan->waits[task->wait_begin + k].task <
                        backward_end(f.plan, task->class));
        fixture_done(&f);
    }
}

static void without_overlap_nothing_leaves_before_backward_ends(void **state)
{
    (void)state;
    for (int strategy = MGB_OUTPUTS; strategy <= MGB_ALLREDUCE; strategy++) {
        const struct plan_setup setup = {.strategy = (enum mgb_strategy)strategy,
                                         .gpus = 2,
                                         .batch = 8,
                                         .bucket_bytes = 1 << 20,
                                         .no_overlap = true};
        struct fixture f = fixture_make(model_mnist_cnn(), &setup);
        enum mgb_task_kind kind = strategy == MGB_ALLREDUCE ? MGB_TASK_ALLREDUCE : MGB_TASK_COPY;
        int first = plan_find_task(f.plan, kind, MGB_PHASE_SUM, 0);
        const struct mgb_task *task = &f.plan->tasks[first];
        int end = backward_end(f.plan, task->class), waits = 0;
        for (int k = 0; k < task->wait_count; k++)
            waits += f.plan->waits[task->wait_begin + k].task == end;
        assert_int_equal(waits, 1);
        fixture_done(&f);
    }
}

static void sums_are_in_tower_order_whatever_the_classes(void **state)
{
    (void)state; /* tower 2 is a class by itself between towers of another one */
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS,
                                     .gpus = 5,
                                     .batch = 10,
                                     .home = 3,
                                     .original = 3,
                                     .sum = 3,
                                     .update = 3};
    struct fixture f = fixture_make(model_mlp(), &setup);
    struct mgb_flat_operand operands[8];
    int reduce = plan_find_task(f.plan, MGB_TASK_REDUCE, MGB_PHASE_SUM, 0);
    assert_int_equal(mgb_plan_operands(f.plan, reduce, -1, operands), 6);
    for (int t = 0; t < 5; t++) {
        assert_int_equal(operands[1 + t].tower, t);
        assert_int_equal(operands[1 + t].place.device, 3);
    }
    fixture_done(&f);
}

static void one_tower_sums_nothing(void **state)
{
    (void)state;
    for (int strategy = MGB_OUTPUTS; strategy <= MGB_INDEPENDENT; strategy++) {
        const struct plan_setup setup = {.strategy = (enum mgb_strategy)strategy,
                                         .gpus = 1,
                                         .batch = 8,
                                         .home = 1,
                                         .original = 1,
                                         .join = 1,
                                         .loss = 1,
                                         .sum = 1,
                                         .update = 1};
        struct fixture f = fixture_make(model_mlp(), &setup);
        assert_int_equal(plan_count_tasks(f.plan, MGB_TASK_REDUCE, MGB_PHASE_SUM), 0);
        assert_int_equal(plan_count_tasks(f.plan, MGB_TASK_ALLREDUCE, MGB_PHASE_SUM), 0);
        assert_int_equal(plan_count_tasks(f.plan, MGB_TASK_COPY, MGB_PHASE_JOIN), 0);
        assert_int_equal(plan_count_tasks(f.plan, MGB_TASK_UPDATE, MGB_PHASE_UPDATE), 1);
        fixture_done(&f);
    }
}

static void the_gradients_of_a_single_busy_tower_are_awaited_where_they_arrive(void **state)
{
    (void)state; /* one row: tower 0 alone has gradients, two other devices update */
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS,
                                     .gpus = 3,
                                     .batch = 1,
                                     .home = PLAN_SPREAD,
                                     .original = PLAN_SPREAD,
                                     .sum = 2,
                                     .update = PLAN_SPREAD};
    struct fixture f = fixture_make(model_mlp(), &setup);
    assert_int_equal(plan_count_tasks(f.plan, MGB_TASK_REDUCE, MGB_PHASE_SUM), 0);
    assert_int_equal(plan_count_tasks(f.plan, MGB_TASK_UPDATE, MGB_PHASE_UPDATE), 3);
    fixture_done(&f);
}

static void spread_sums_each_variable_at_its_own_place(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS,
                                     .gpus = 2,
                                     .batch = 8,
                                     .home = PLAN_SPREAD,
                                     .original = PLAN_SPREAD,
                                     .sum = PLAN_SPREAD,
                                     .update = PLAN_SPREAD};
    struct fixture f = fixture_make(model_mlp(), &setup);
    assert_int_equal(plan_count_tasks(f.plan, MGB_TASK_UPDATE, MGB_PHASE_UPDATE), 2);
    assert_int_equal(
        f.plan->tasks[plan_find_task(f.plan, MGB_TASK_UPDATE, MGB_PHASE_UPDATE, 0)].device,
        PLAN_GPU(0));
    assert_int_equal(
        f.plan->tasks[plan_find_task(f.plan, MGB_TASK_UPDATE, MGB_PHASE_UPDATE, 1)].device,
        PLAN_GPU(1));
    fixture_done(&f);
}

static struct mgb_optimizer clipped(void)
{
    struct mgb_optimizer optimizer = mgb_optimizer_default(MGB_SGD);
    optimizer.clip_norm = 1;
    return optimizer;
}

/* Where tower 0 writes the gradient of a variable in its bucket. */
static int64_t gradient_offset(const struct fixture *f, int variable)
{
    int tensor = f->graph->variables[variable].gradient;
    for (int i = 0; i < f->plan->task_count; i++) {
        const struct mgb_task *task = &f->plan->tasks[i];
        if (task->class == 0 && task->kind == MGB_TASK_COMPUTE &&
            task->node == f->graph->tensors[tensor].node)
            return operand_of(f->plan, i, task->input_count + f->graph->tensors[tensor].slot)
                ->offset;
    }
    fail();
    return -1;
}

static void the_norm_is_taken_in_variable_order(void **state)
{
    (void)state; /* gradients lie in order of readiness; the norm must not */
    const struct plan_setup setup = {
        .strategy = MGB_GRADIENTS, .gpus = 2, .batch = 8, .optimizer = clipped()};
    struct fixture f = fixture_make(model_mlp(), &setup);
    int norm = plan_find_task(f.plan, MGB_TASK_NORM, MGB_PHASE_UPDATE, 0);
    assert_int_equal(f.plan->tasks[norm].operand_count, 5);
    for (int v = 0; v < 4; v++) {
        assert_int_equal(operand_of(f.plan, norm, 1 + v)->bytes, f.graph->variables[v].info.bytes);
        assert_int_equal(operand_of(f.plan, norm, 1 + v)->offset, gradient_offset(&f, v));
    }
    fixture_done(&f);
}

static void the_clip_factor_adds_in_variable_order_over_all_devices(void **state)
{
    (void)state;
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS,
                                     .gpus = 2,
                                     .batch = 8,
                                     .home = PLAN_SPREAD,
                                     .original = PLAN_SPREAD,
                                     .sum = PLAN_SPREAD,
                                     .update = PLAN_SPREAD,
                                     .optimizer = clipped()};
    struct fixture f = fixture_make(model_mlp(), &setup);
    int clip = plan_find_task(f.plan, MGB_TASK_CLIP, MGB_PHASE_UPDATE, 0);
    assert_int_equal(plan_count_tasks(f.plan, MGB_TASK_CLIP, MGB_PHASE_UPDATE), 1);
    assert_int_equal(f.plan->tasks[clip].operand_count,
                     5); /* variables alternate between two devices */
    for (int v = 0; v < 4; v++) {
        assert_int_equal(operand_of(f.plan, clip, 1 + v)->bytes, 4);
        assert_int_equal(operand_of(f.plan, clip, 1 + v)->offset, v / 2 * 4);
    }
    assert_int_equal(operand_of(f.plan, clip, 1)->buffer, operand_of(f.plan, clip, 3)->buffer);
    assert_int_not_equal(operand_of(f.plan, clip, 1)->buffer, operand_of(f.plan, clip, 2)->buffer);
    fixture_done(&f);
}

static void every_mirror_clips_for_itself(void **state)
{
    (void)state;
    for (int strategy = MGB_ALLREDUCE; strategy <= MGB_INDEPENDENT; strategy++) {
        const struct plan_setup setup = {
            .strategy = (enum mgb_strategy)strategy, .gpus = 3, .batch = 9, .optimizer = clipped()};
        struct fixture f = fixture_make(model_mlp(), &setup);
        int update = plan_find_task(f.plan, MGB_TASK_UPDATE, MGB_PHASE_UPDATE, 0);
        assert_int_equal(f.plan->tasks[update].class, 0);
        assert_int_equal(f.plan->tasks[update].operand_count, 2 * 4 + 1);
        assert_int_equal(plan_count_tasks(f.plan, MGB_TASK_CLIP, MGB_PHASE_UPDATE),
                         f.plan->class_count);
        fixture_done(&f);
    }
}

static void frozen_variables_are_neither_summed_nor_updated(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    assert_ok(mgb_graph_freeze(graph, 0, true));
    assert_ok(mgb_graph_freeze(graph, 1, true));
    struct plan_setup setup = {.strategy = MGB_GRADIENTS,
                               .gpus = 2,
                               .batch = 8,
                               .optimizer = mgb_optimizer_default(MGB_ADAM)};
    struct fixture f = fixture_make(graph, &setup);
    int update = plan_find_task(f.plan, MGB_TASK_UPDATE, MGB_PHASE_UPDATE, 0), slots = 0;
    assert_int_equal(f.plan->tasks[update].operand_count, 2 * 4);
    for (int i = 0; i < f.plan->storage_count; i++)
        slots += f.plan->storages[i].role == MGB_ROLE_SLOT;
    assert_int_equal(slots, 4);
    for (int i = 0; i < f.plan->task_count; i++)
        assert_null(strstr(f.plan->tasks[i].name, "dense.grad"));
    fixture_done(&f);
}

static void updates_elsewhere_take_the_weights_there_and_back(void **state)
{
    (void)state;
    const struct plan_setup setup = {
        .strategy = MGB_GRADIENTS, .gpus = 2, .batch = 8, .home = 0, .sum = 0, .update = 1};
    struct fixture f = fixture_make(model_mlp(), &setup);
    assert_int_equal(plan_count_tasks(f.plan, MGB_TASK_COPY, MGB_PHASE_UPDATE), 2);
    const struct mgb_task *back =
        &f.plan->tasks[plan_find_task(f.plan, MGB_TASK_COPY, MGB_PHASE_UPDATE, 1)];
    assert_int_equal(back->from, PLAN_GPU(0));
    assert_int_equal(back->device, PLAN_CPU);
    fixture_done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_close_at_their_size_in_order_of_readiness),
        cmocka_unit_test(a_gradient_larger_than_a_bucket_has_one_of_its_own),
        cmocka_unit_test(with_overlap_a_bucket_leaves_while_backward_runs),
        cmocka_unit_test(without_overlap_nothing_leaves_before_backward_ends),
        cmocka_unit_test(sums_are_in_tower_order_whatever_the_classes),
        cmocka_unit_test(one_tower_sums_nothing),
        cmocka_unit_test(the_gradients_of_a_single_busy_tower_are_awaited_where_they_arrive),
        cmocka_unit_test(spread_sums_each_variable_at_its_own_place),
        cmocka_unit_test(the_norm_is_taken_in_variable_order),
        cmocka_unit_test(the_clip_factor_adds_in_variable_order_over_all_devices),
        cmocka_unit_test(every_mirror_clips_for_itself),
        cmocka_unit_test(frozen_variables_are_neither_summed_nor_updated),
        cmocka_unit_test(updates_elsewhere_take_the_weights_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
