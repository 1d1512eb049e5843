/* Every kind of plan is played: training, evaluation, moves, a tower on /cpu:0; and what cannot be played is refused. */
#include "engine/graph/graph.h"
#include "engine/sim/program.h"
#include "tests/engine/sim/rigged.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/model.h"

static struct plan_setup setup_at(int gpus, int home)
{
    return (struct plan_setup){.strategy = MGB_GRADIENTS,
                               .gpus = gpus,
                               .batch = 8,
                               .home = home,
                               .sum = home,
                               .update = home,
                               .original = home};
}

static int64_t plan_ns(const struct mgb_plan *plan, const struct mgb_effective *placement, int gpus)
{
    struct mgb_machine *machine = rigged_machine(gpus);
    struct mgb_sim *sim = rigged_open(machine, MGB_SIM_AUTO);
    struct mgb_virtual_step step = rigged_play(sim, plan, placement);
    int64_t ns = step.wall_ns;
    for (int i = 0; i < plan->use_count; i++) {
        int64_t sum = 0;
        for (int phase = 0; phase < MGB_PHASE_COUNT; phase++)
            sum += step.devices[i].exposed[phase];
        assert_int_equal(sum, ns);
    }
    mgb_sim_close(sim);
    mgb_machine_free(machine);
    return ns;
}

static void moving_weights_takes_their_bytes_over_the_wire(void **state)
{
    (void)state;
    struct mgb_graph *graph = rigged_graph(1, 500);
    struct plan_setup there = setup_at(2, PLAN_CPU), here = setup_at(2, PLAN_GPU(1));
    struct plan_world a, b;
    struct mgb_plan *from = plan_make(&a, graph, &there), *to = plan_make(&b, graph, &here), *move;
    assert_ok(mgb_plan_make_move(&move, from, to));
    int64_t bytes = plan_traffic(move, PLAN_CPU, PLAN_GPU(1));
    assert_true(bytes >= 4 * mgb_graph_parameters(graph));
    assert_in_range(plan_ns(move, b.placement, 2), bytes / 10, bytes / 10 + 2);
    mgb_plan_free(move);
    mgb_plan_free(from);
    mgb_plan_free(to);
    plan_world_done(&a);
    plan_world_done(&b);
    mgb_graph_free(graph);
}

static void evaluation_takes_less_than_training(void **state)
{
    (void)state;
    struct mgb_graph *graph = draw_model(1);
    struct plan_setup train = setup_at(2, PLAN_CPU), evaluate = train;
    struct plan_world a, b;
    evaluate.evaluate = true;
    struct mgb_plan *one = plan_make(&a, graph, &train), *two = plan_make(&b, graph, &evaluate);
    int64_t whole = plan_ns(one, a.placement, 2), forward = plan_ns(two, b.placement, 2);
    assert_in_range(forward, 1, whole - 1);
    mgb_plan_free(one);
    mgb_plan_free(two);
    plan_world_done(&a);
    plan_world_done(&b);
    mgb_graph_free(graph);
}

static void a_tower_on_the_cpu_needs_no_gpu(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct plan_setup setup = setup_at(0, PLAN_CPU);
    struct plan_world world;
    struct mgb_plan *plan = plan_make(&world, graph, &setup);
    assert_true(plan_ns(plan, world.placement, 0) > 0);
    mgb_plan_free(plan);
    plan_world_done(&world);
    mgb_graph_free(graph);
}

static void what_cannot_be_played_is_refused(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct plan_setup setup = setup_at(3, PLAN_CPU);
    struct plan_world world;
    struct mgb_plan *plan = plan_make(&world, graph, &setup);
    struct mgb_machine *machine = rigged_machine(2);
    struct mgb_sim *sim = rigged_open(machine, MGB_SIM_AUTO);
    struct mgb_virtual_step step;
    const struct mgb_virtual *face = mgb_sim_virtual(sim);
    assert_status(
        face->play(face->context, &step,
                   &(struct mgb_virtual_request){.plan = plan, .placement = world.placement}),
        MGB_INVALID);
    assert_message("which has 3");
    mgb_sim_close(sim);
    mgb_machine_free(machine);
    mgb_plan_free(plan);
    plan_world_done(&world);
    mgb_graph_free(graph);
}

static enum mgb_status opened_and_played(const struct mgb_machine *machine,
                                         const struct mgb_plan *plan,
                                         const struct mgb_effective *placement)
{
    struct mgb_sim *sim = NULL;
    struct mgb_virtual_step step;
    const struct mgb_sim_options options = {.engine = MGB_SIM_EVENTS};
    MGB_TRY(mgb_sim_open(&sim, machine, &options));
    const struct mgb_virtual *face = mgb_sim_virtual(sim);
    enum mgb_status status = face->play(
        face->context, &step,
        &(struct mgb_virtual_request){.plan = plan, .placement = placement, .trace = true});
    mgb_sim_close(sim);
    return status;
}

static void memory_that_runs_out_is_said_and_nothing_is_lost(void **state)
{
    (void)state;
    struct mgb_graph *graph = model_mlp();
    struct plan_setup setup = setup_at(2, PLAN_CPU);
    struct plan_world world;
    setup.strategy = MGB_ALLREDUCE;
    struct mgb_plan *plan = plan_make(&world, graph, &setup);
    struct mgb_machine *machine = rigged_machine(2);
    machine->device_sigma = machine->step_sigma = 0.1;
    assert_ok(mgb_machine_check(machine));
    int failures = 0;
    for (long long n = 1;; n++) {
        mgb_alloc_fail_at(n);
        enum mgb_status status = opened_and_played(machine, plan, world.placement);
        mgb_alloc_fail_at(0);
        if (status == MGB_OK)
            break;
        assert_int_equal(status, MGB_NO_MEMORY);
        failures++;
    }
    assert_true(failures > 10);
    mgb_machine_free(machine);
    mgb_plan_free(plan);
    plan_world_done(&world);
    mgb_graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moving_weights_takes_their_bytes_over_the_wire),
        cmocka_unit_test(evaluation_takes_less_than_training),
        cmocka_unit_test(a_tower_on_the_cpu_needs_no_gpu),
        cmocka_unit_test(what_cannot_be_played_is_refused),
        cmocka_unit_test(memory_that_runs_out_is_said_and_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
