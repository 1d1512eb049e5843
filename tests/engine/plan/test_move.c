/* Lasting arenas, moves between placements, admission. */
#include "engine/graph/graph.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/plan.h"
#include <string.h>

struct fixture {
    struct plan_world world;
    struct mgb_plan *plan;
};

static struct fixture fixture_make(const struct mgb_graph *graph, const struct plan_setup *setup)
{
    struct fixture f;
    f.plan = plan_make(&f.world, graph, setup);
    return f;
}

static void fixture_done(struct fixture *f)
{
    mgb_plan_free(f->plan);
    plan_world_done(&f->world);
}

static struct mgb_optimizer momentum(void)
{
    struct mgb_optimizer optimizer = mgb_optimizer_default(MGB_SGD);
    optimizer.momentum = 0.9f;
    return optimizer;
}

/* Placements to move among; all on a machine of 4 GPUs so that plans share a topology's indices. */
static void setups_fill(struct plan_setup out[6])
{
    const struct plan_setup setups[6] = {{.strategy = MGB_OUTPUTS,
                                          .home = 1,
                                          .original = 1,
                                          .join = 0,
                                          .loss = 1,
                                          .sum = 0,
                                          .update = 1},
                                         {.strategy = MGB_OUTPUTS,
                                          .home = 0,
                                          .original = 1,
                                          .join = 0,
                                          .loss = 1,
                                          .sum = 0,
                                          .update = 0},
                                         {.strategy = MGB_OUTPUTS,
                                          .home = 0,
                                          .original = 1,
                                          .join = 0,
                                          .loss = 1,
                                          .sum = 0,
                                          .update = 2,
                                          .clone = true},
                                         {.strategy = MGB_GRADIENTS,
                                          .home = PLAN_SPREAD,
                                          .original = PLAN_SPREAD,
                                          .sum = PLAN_SPREAD,
                                          .update = PLAN_SPREAD},
                                         {.strategy = MGB_ALLREDUCE},
                                         {.strategy = MGB_INDEPENDENT}};
    for (int i = 0; i < 6; i++) {
        out[i] = setups[i];
        out[i].gpus = 4;
        out[i].batch = 10;
        out[i].optimizer = momentum();
    }
}

static int64_t lasting_values(const struct mgb_plan *plan)
{
    int64_t bytes = 0;
    for (int i = 0; i < plan->storage_count; i++) {
        const struct mgb_storage *s = &plan->storages[i];
        if (s->tower < 0)
            bytes += s->bytes * (s->tower == MGB_EACH_TOWER
                                     ? plan->classes[plan->buffers[s->buffer].class].tower_count
                                     : 1);
    }
    return bytes; /* a mirrored plan lists tower 0's once more, by itself */
}

static int64_t bytes_of(const struct mgb_plan *plan, enum mgb_task_kind kind)
{
    struct mgb_flat flat;
    int64_t bytes = 0;
    assert_ok(mgb_plan_expand(&flat, plan));
    for (int i = 0; i < flat.count; i++) {
        struct mgb_flat_operand operands[2];
        const struct mgb_task *task = &plan->tasks[flat.tasks[i].task];
        if (task->kind != kind)
            continue;
        mgb_plan_operands(plan, flat.tasks[i].task, flat.tasks[i].tower, operands);
        bytes += operands[0].bytes;
    }
    mgb_flat_done(&flat);
    return bytes;
}

static void moves_fill_exactly_the_new_storages(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct plan_setup setups[6];
    struct fixture f[6];
    setups_fill(setups);
    for (int i = 0; i < 6; i++)
        f[i] = fixture_make(graph, &setups[i]);
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++) {
            struct mgb_plan *move;
            assert_ok(mgb_plan_make_move(&move, f[a].plan, f[b].plan));
            assert_ok(mgb_plan_verify(move));
            assert_int_equal(bytes_of(move, MGB_TASK_COPY), lasting_values(f[b].plan));
            assert_int_equal(bytes_of(move, MGB_TASK_FILL), 0);
            mgb_plan_free(move);
        }
    for (int i = 0; i < 6; i++)
        fixture_done(&f[i]);
    mgb_graph_free(graph);
}

static void slots_that_are_new_start_as_zero_and_old_ones_are_dropped(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct plan_setup setup = {.strategy = MGB_GRADIENTS, .gpus = 2, .batch = 8};
    struct fixture plain = fixture_make(graph, &setup);
    setup.optimizer = mgb_optimizer_default(MGB_ADAM);
    struct fixture adam = fixture_make(graph, &setup);
    struct mgb_plan *there, *back;
    assert_ok(mgb_plan_make_move(&there, plain.plan, adam.plan));
    assert_ok(mgb_plan_make_move(&back, adam.plan, plain.plan));
    int64_t weights = mgb_graph_parameters(graph) * 4;
    assert_int_equal(bytes_of(there, MGB_TASK_COPY), weights);
    assert_int_equal(bytes_of(there, MGB_TASK_FILL), 2 * weights);
    assert_int_equal(bytes_of(back, MGB_TASK_COPY), weights);
    assert_int_equal(bytes_of(back, MGB_TASK_FILL), 0);
    mgb_plan_free(there);
    mgb_plan_free(back);
    fixture_done(&plain);
    fixture_done(&adam);
    mgb_graph_free(graph);
}

static void mirrors_that_agree_stay_on_their_devices(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct plan_setup setup = {.strategy = MGB_ALLREDUCE, .gpus = 4, .batch = 10};
    struct fixture all = fixture_make(graph, &setup);
    setup.strategy = MGB_INDEPENDENT;
    struct fixture alone = fixture_make(graph, &setup);
    struct mgb_plan *there, *back;
    assert_ok(mgb_plan_make_move(&there, all.plan, alone.plan));
    assert_int_equal(there->traffic_count, 0);
    assert_ok(
        mgb_plan_make_move(&back, alone.plan, all.plan)); /* values differ: tower 0's go to all */
    assert_int_equal(back->traffic_count, 3);
    assert_int_equal(plan_traffic(back, 1, 4), mgb_graph_parameters(graph) * 4);
    assert_ok(mgb_plan_verify(back));
    mgb_plan_free(there);
    mgb_plan_free(back);
    fixture_done(&all);
    fixture_done(&alone);
    mgb_graph_free(graph);
}

/* Offsets and sizes of everything that lasts, for every device. */
static void plans_of_a_placement_share_their_lasting_arenas(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mnist_cnn();
    struct plan_setup setups[6];
    setups_fill(setups);
    for (int i = 0; i < 6; i++) {
        struct plan_setup rest = setups[i], evaluate = setups[i];
        rest.rows = 3;
        evaluate.rows = 9;
        evaluate.evaluate = true;
        struct fixture a = fixture_make(graph, &setups[i]), b = fixture_make(graph, &rest),
                       c = fixture_make(graph, &evaluate);
        assert_true(mgb_plan_same_lasting(a.plan, b.plan));
        assert_true(mgb_plan_same_lasting(a.plan, c.plan));
        for (int d = 0; d <= 4; d++)
            if (plan_use(a.plan, d)->lasting_bytes > 0)
                assert_int_equal(plan_use(a.plan, d)->lasting_bytes,
                                 plan_use(b.plan, d)->lasting_bytes);
        for (int input = 0; input < 2; input++)
            assert_int_equal(a.plan->buffers[a.plan->input_buffer[input]].offset,
                             c.plan->buffers[c.plan->input_buffer[input]].offset);
        fixture_done(&a);
        fixture_done(&b);
        fixture_done(&c);
    }
    mgb_graph_free(graph);
}

static void a_toggle_of_the_merge_device_moves_nothing(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct plan_setup setup = {
        .strategy = MGB_OUTPUTS, .gpus = 2, .batch = 8, .home = 1, .original = 1, .update = 1};
    struct fixture host = fixture_make(graph, &setup);
    setup.join = setup.loss = setup.sum = 1;
    struct fixture gpu = fixture_make(graph, &setup);
    setup.home = 0;
    struct fixture relocated = fixture_make(graph, &setup);
    assert_true(mgb_plan_same_lasting(host.plan, gpu.plan));
    assert_false(mgb_plan_same_lasting(host.plan, relocated.plan));
    fixture_done(&host);
    fixture_done(&gpu);
    fixture_done(&relocated);
    mgb_graph_free(graph);
}

static void a_clone_leaves_the_original_behind_and_a_move_does_not(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct plan_setup setup = {
        .strategy = MGB_OUTPUTS, .gpus = 2, .batch = 8, .home = 0, .original = 1, .update = 0};
    struct fixture move = fixture_make(graph, &setup);
    setup.clone = true;
    struct fixture clone = fixture_make(graph, &setup);
    assert_int_equal(plan_use(move.plan, 1)->peak[MGB_MEMORY_LEFTOVER], 0);
    assert_int_equal(plan_use(move.plan, 1)->lasting_bytes, 0);
    assert_true(plan_use(clone.plan, 1)->peak[MGB_MEMORY_LEFTOVER] >=
                mgb_graph_parameters(graph) * 4);
    assert_int_equal(plan_use(clone.plan, 1)->lasting_bytes,
                     plan_use(clone.plan, 1)->peak[MGB_MEMORY_LEFTOVER]);
    for (int i = 0; i < clone.plan->task_count; i++)
        for (int k = 0; k < clone.plan->tasks[i].operand_count; k++)
            assert_int_not_equal(
                clone.plan
                    ->buffers[clone.plan->operands[clone.plan->tasks[i].operand_begin + k].buffer]
                    .category,
                MGB_MEMORY_LEFTOVER);
    fixture_done(&move);
    fixture_done(&clone);
    mgb_graph_free(graph);
}

static void a_plan_that_does_not_fit_names_the_device(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    const struct plan_setup setup = {.strategy = MGB_ALLREDUCE, .gpus = 2, .batch = 8};
    struct fixture f = fixture_make(graph, &setup);
    int64_t need = plan_use(f.plan, 2)->peak_bytes;
    assert_ok(mgb_plan_admit(f.plan, NULL, 0));
    f.world.topology->devices[2].memory_bytes = need;
    assert_ok(mgb_plan_admit(f.plan, NULL, 0));
    f.world.topology->devices[2].memory_bytes = need - 1;
    assert_status(mgb_plan_admit(f.plan, NULL, 0), MGB_OOM);
    assert_string_equal(mgb_oom_get().device, "/gpu:1");
    assert_int_equal(mgb_oom_get().needed, need);
    assert_int_equal(mgb_oom_get().available, need - 1);
    f.world.topology->devices[2].memory_bytes = 0;
    assert_status(mgb_plan_admit(f.plan, NULL, need - 1), MGB_OOM);
    assert_string_equal(mgb_oom_get().device, "/gpu:0");
    fixture_done(&f);
    mgb_graph_free(graph);
}

static void a_move_needs_room_for_both_lasting_arenas(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mnist_cnn();
    struct plan_setup setup = {.strategy = MGB_OUTPUTS,
                               .gpus = 1,
                               .batch = 1,
                               .home = 1,
                               .original = 1,
                               .join = 1,
                               .loss = 1,
                               .sum = 1,
                               .update = 1};
    struct fixture plain = fixture_make(graph, &setup);
    setup.optimizer = mgb_optimizer_default(MGB_ADAM);
    struct fixture adam = fixture_make(graph, &setup);
    int64_t both = plan_use(plain.plan, 1)->lasting_bytes + plan_use(adam.plan, 1)->lasting_bytes;
    assert_true(both > plan_use(plain.plan, 1)->peak_bytes);
    plain.world.topology->devices[1].memory_bytes = both;
    assert_ok(mgb_plan_admit(plain.plan, adam.plan, 0));
    plain.world.topology->devices[1].memory_bytes = both - 1;
    assert_ok(mgb_plan_admit(plain.plan, NULL, 0));
    assert_status(mgb_plan_admit(plain.plan, adam.plan, 0), MGB_OOM);
    fixture_done(&plain);
    fixture_done(&adam);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_fill_exactly_the_new_storages),
        cmocka_unit_test(slots_that_are_new_start_as_zero_and_old_ones_are_dropped),
        cmocka_unit_test(mirrors_that_agree_stay_on_their_devices),
        cmocka_unit_test(plans_of_a_placement_share_their_lasting_arenas),
        cmocka_unit_test(a_toggle_of_the_merge_device_moves_nothing),
        cmocka_unit_test(a_clone_leaves_the_original_behind_and_a_move_does_not),
        cmocka_unit_test(a_plan_that_does_not_fit_names_the_device),
        cmocka_unit_test(a_move_needs_room_for_both_lasting_arenas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
