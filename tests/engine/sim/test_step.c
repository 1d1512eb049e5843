/* Whole steps: closed forms of simulation.md 2.7, where the time went, the same bytes each time, what is kept and
 * forgotten, and the trace against that of a run on the host. */
#include "engine/exec/run_state.h"
#include "engine/sim/program.h"
#include "tests/engine/sim/rigged.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/model.h"
#include "tests/support/training.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Four GPUs that compute in no time: what is left of a step is its copies. */
static struct mgb_machine *swift_machine(int gpus)
{
    struct mgb_machine *machine = rigged_machine(gpus);
    for (int d = 0; d <= gpus; d++) {
        machine->devices[d].tflops[0] = 1e6;
        machine->devices[d].memory_gbps = 1e6;
    }
    for (int a = 1; a <= gpus; a++)
        for (int b = a + 1; b <= gpus; b++)
            rigged_wire(machine, a, b, 10);
    return machine;
}

/* The step of one layer of 1000 by 1000 on four GPUs, in ms. Frees the machine. */
static double step_ms(struct mgb_machine *machine, const char *options)
{
    struct mgb_graph *graph = rigged_graph(1, 1000);
    struct mgb_sim *sim = rigged_open(machine, MGB_SIM_AUTO);
    struct mgb_placement placement;
    struct mgb_effective effective;
    struct mgb_plan *plan;
    const struct mgb_topology *topology = mgb_sim_virtual(sim)->topology;
    mgb_placement_init(&placement);
    placement_apply(&placement, options);
    assert_ok(mgb_placement_resolve(&effective, &placement, 0, graph, topology, 4));
    assert_ok(mgb_plan_make(&plan, &(struct mgb_plan_request){.kind = MGB_PLAN_TRAIN,
                                                              .graph = graph,
                                                              .topology = topology,
                                                              .placement = &effective,
                                                              .optimizer = training_sgd(0.1f, 0),
                                                              .rows = effective.global_batch}));
    double ms = (double)rigged_play(sim, plan, &effective).wall_ns / 1e6;
    mgb_sim_close(sim);
    mgb_plan_free(plan);
    mgb_effective_done(&effective);
    mgb_graph_free(graph);
    mgb_machine_free(machine);
    return ms;
}

#define WEIGHTS_MS (4.004 / 10) /* of 1000 x 1000 + 1000 numbers over 10 GB/s */
#define WITHIN 0.02             /* input, labels and results travel too */

static void weights_on_one_gpu_leave_and_reach_it_one_by_one(void **state)
{
    (void)state;
    double ms = step_ms(swift_machine(4), "gpus=4 global_batch=4 strategy=gradients "
                                          "weights_at=/gpu:0 sum_at=/gpu:0 update_at=/gpu:0");
    assert_float_equal(ms, 2 * 3 * WEIGHTS_MS, WITHIN);
}

static void weights_on_the_cpu_go_to_all_at_once_over_wires_of_their_own(void **state)
{
    (void)state;
    const char *options = "gpus=4 global_batch=4 strategy=gradients weights_at=/cpu:0 "
                          "sum_at=/cpu:0 update_at=/cpu:0";
    assert_float_equal(step_ms(swift_machine(4), options), 2 * WEIGHTS_MS, WITHIN);
    /* All at once through the memory of the host, 10 GB/s for four. */
    struct mgb_machine *machine = swift_machine(4);
    machine->host.memory_gbps = 10;
    machine->host.reduce_gbps = 1e6;
    assert_float_equal(step_ms(machine, options), 2 * 4 * WEIGHTS_MS, WITHIN);
    /* N gradients are read and their sum written at 20 GB/s, then the update: three times the weights. */
    machine = swift_machine(4);
    machine->host.reduce_gbps = 20;
    assert_float_equal(step_ms(machine, options), (2 + (5 + 3) / 2.0) * WEIGHTS_MS, WITHIN);
}

static void replicas_and_a_ring_move_twice_all_but_a_part(void **state)
{
    (void)state;
    double ms =
        step_ms(swift_machine(4), "gpus=4 global_batch=4 strategy=allreduce allreduce=ring");
    assert_float_equal(ms, 2 * 3 / 4.0 * WEIGHTS_MS, WITHIN);
}

static void towers_alone_move_no_weights(void **state)
{
    (void)state;
    double ms = step_ms(swift_machine(4), "gpus=4 global_batch=4 strategy=independent");
    assert_float_equal(ms, 0, WITHIN);
}

struct world {
    struct mgb_graph *graph;
    struct mgb_run *run; /* on the host, whose plan is played */
    const struct mgb_plan *plan;
    const struct mgb_effective *placement;
};

static void world_make(struct world *out, int number)
{
    static const char *const strategies[] = {"outputs", "gradients", "allreduce", "independent"};
    char options[512], places[256] = "";
    const char *strategy = strategies[number % 4];
    if (number % 4 < 2)
        draw_places(places, sizeof places, strategy, 2, number);
    snprintf(options, sizeof options, "strategy=%s gpus=2 global_batch=9%s", strategy, places);
    out->graph = draw_model(number % 5);
    out->run = training_open(&(struct training){
        .graph = out->graph, .options = options, .optimizer = training_sgd(0.1f, 0.9f), .seed = 3});
    out->plan = mgb_run_plan(out->run);
    out->placement = mgb_run_effective(out->run);
}

static void world_done(struct world *world)
{
    mgb_run_close(world->run);
    mgb_graph_free(world->graph);
}

struct traced {
    struct mgb_task_time *tasks;
    int count;
};

static bool trace_keep(void *context, const struct mgb_step_result *result)
{
    struct traced *traced = context;
    size_t bytes = (size_t)result->task_count * sizeof *result->tasks;
    traced->count = result->task_count;
    traced->tasks = mgb_alloc(bytes);
    assert_non_null(traced->tasks);
    memcpy(traced->tasks, result->tasks, bytes);
    return true;
}

/* The plan's waits, and the order of its queues, hold between these times. */
static void waits_hold(const struct mgb_sim_program *program, const struct mgb_task_time *times,
                       int number)
{
    for (int i = 0; i < program->count; i++) {
        const struct mgb_sim_task *task = &program->tasks[i];
        for (int k = task->wait_begin - 1; k < program->tasks[i + 1].wait_begin; k++) {
            int on = k < task->wait_begin ? task->before : program->waits[k];
            if (on < 0 || task->meet >= 0)
                continue;
            if (times[i].start_ns < times[on].start_ns + times[on].duration_ns)
                fail_msg("draw %d: task %d begins before task %d has ended", number, i, on);
        }
    }
}

static void host_and_simulator_trace_the_same_tasks_in_the_same_order(void **state)
{
    (void)state;
    for (int number = 0; number < draw_count(8, 60); number++) {
        struct world world;
        struct traced host = {0};
        int64_t done;
        world_make(&world, number);
        struct mgb_machine *machine = rigged_machine(world.plan->topology->device_count - 1);
        struct mgb_sim *sim = rigged_open(machine, MGB_SIM_AUTO);
        assert_ok(mgb_run_step(world.run, &done,
                               &(struct mgb_step_request){.steps = 1, .trace_every = 1},
                               &(struct mgb_step_sink){&host, trace_keep}));
        struct mgb_virtual_step step = rigged_play(sim, world.plan, world.placement);
        assert_int_equal(step.task_count, host.count);
        for (int i = 0; i < host.count; i++) {
            const struct mgb_task_time *a = &host.tasks[i], *b = &step.tasks[i];
            assert_true(a->task == b->task && a->tower == b->tower && a->device == b->device &&
                        a->from == b->from);
        }
        waits_hold(sim->programs, host.tasks, number);
        waits_hold(sim->programs, step.tasks, number);
        mgb_release(host.tasks);
        mgb_sim_close(sim);
        mgb_machine_free(machine);
        world_done(&world);
    }
}

/* Machines on which a good deal is shared and waited for. */
static struct mgb_machine *busy_machine(const struct world *world, int number)
{
    struct mgb_machine *machine = rigged_machine(world->plan->topology->device_count - 1);
    machine->host.memory_gbps = 4;
    machine->host.step_us = 3;
    machine->host.submit_us = number % 3;
    machine->cpu_devices = number % 2;
    machine->host.cores = 1;
    for (int d = 0; d < machine->device_count; d++)
        machine->devices[d].launch_us = 2;
    return machine;
}

static void every_nanosecond_of_a_step_belongs_to_one_phase(void **state)
{
    (void)state;
    for (int number = 0; number < draw_count(12, 100); number++) {
        struct world world;
        world_make(&world, number);
        struct mgb_machine *machine = busy_machine(&world, number);
        struct mgb_sim *sim = rigged_open(machine, MGB_SIM_AUTO);
        struct mgb_virtual_step step = rigged_play(sim, world.plan, world.placement);
        assert_true(sim->effort.engine == MGB_SIM_EVENTS);
        int64_t last = 0;
        for (int i = 0; i < step.task_count; i++) {
            int64_t end = step.tasks[i].start_ns + step.tasks[i].duration_ns;
            last = end > last ? end : last;
        }
        assert_int_equal(step.wall_ns, last);
        for (int u = 0; u < world.plan->use_count; u++) {
            int64_t sum = 0;
            for (int phase = 0; phase < MGB_PHASE_COUNT; phase++)
                sum += step.devices[u].exposed[phase];
            assert_int_equal(step.devices[u].device, world.plan->uses[u].device);
            assert_int_equal(sum, step.wall_ns);
        }
        mgb_sim_close(sim);
        mgb_machine_free(machine);
        world_done(&world);
    }
}

static void the_same_input_gives_the_same_bytes(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 4);
    struct mgb_machine *machine = busy_machine(&world, 1);
    machine->device_sigma = machine->step_sigma = 0.1;
    struct mgb_sim *one = rigged_open(machine, MGB_SIM_AUTO),
                   *two = rigged_open(machine, MGB_SIM_AUTO);
    struct mgb_virtual_request request = {
        .plan = world.plan, .placement = world.placement, .trace = true};
    const struct mgb_virtual *a = mgb_sim_virtual(one), *b = mgb_sim_virtual(two);
    int64_t walls[4];
    for (int i = 3; i >= 0; i--) { /* in another order than beside it */
        struct mgb_virtual_step step;
        request.step = i;
        assert_ok(a->play(a->context, &step, &request));
        walls[i] = step.wall_ns;
    }
    for (int i = 0; i < 4; i++) {
        struct mgb_virtual_step step;
        request.step = i;
        assert_ok(b->play(b->context, &step, &request));
        assert_int_equal(step.wall_ns, walls[i]);
    }
    assert_true(walls[0] != walls[1]);
    mgb_sim_close(one);
    mgb_sim_close(two);
    mgb_machine_free(machine);
    world_done(&world);
}

static void a_play_allocates_nothing_once_it_was_played(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 1);
    struct mgb_machine *machine = busy_machine(&world, 0);
    machine->step_sigma = 0.1; /* so that nothing is kept of the last step */
    struct mgb_sim *sim = rigged_open(machine, MGB_SIM_AUTO);
    (void)rigged_play(sim, world.plan, world.placement);
    long long before = mgb_alloc_count();
    for (int i = 0; i < 3; i++)
        (void)rigged_play(sim, world.plan, world.placement);
    assert_int_equal(mgb_alloc_count(), before);
    assert_int_equal(sim->effort.tasks, 4 * sim->programs->count);
    mgb_sim_close(sim);
    mgb_machine_free(machine);
    world_done(&world);
}

static void a_step_that_would_repeat_is_not_played_again(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 1);
    struct mgb_machine *machine = busy_machine(&world, 0);
    struct mgb_sim *sim = rigged_open(machine, MGB_SIM_AUTO);
    const struct mgb_virtual *face = mgb_sim_virtual(sim);
    int64_t wall_ns = rigged_play(sim, world.plan, world.placement).wall_ns;
    assert_int_equal(rigged_play(sim, world.plan, world.placement).wall_ns, wall_ns);
    assert_int_equal(mgb_sim_effort_get(sim).tasks, sim->programs->count);
    assert_int_equal(mgb_sim_effort_get(sim).virtual_ns, 2 * wall_ns);
    face->forget(face->context, world.plan);
    assert_null(sim->programs);
    assert_int_equal(rigged_play(sim, world.plan, world.placement).wall_ns, wall_ns);
    mgb_sim_close(sim);
    mgb_machine_free(machine);
    world_done(&world);
}

static void measured_durations_take_the_place_of_computed_ones(void **state)
{
    (void)state;
    struct world world, other;
    world_make(&world, 1);
    world_make(&other, 21); /* the same model, other places */
    struct mgb_machine *machine = rigged_machine(world.plan->topology->device_count - 1);
    struct mgb_sim *sim = rigged_open(machine, MGB_SIM_AUTO);
    struct mgb_virtual_step step = rigged_play(sim, world.plan, world.placement);
    struct mgb_task_time *tasks = mgb_alloc((size_t)step.task_count * sizeof *tasks);
    assert_non_null(tasks);
    memcpy(tasks, step.tasks, (size_t)step.task_count * sizeof *tasks);
    int count = step.task_count;
    for (int i = 0; i < count; i++)
        tasks[i].duration_ns = 123456;
    assert_ok(mgb_sim_learn(sim, world.plan, tasks, count));
    step = rigged_play(sim, other.plan, other.placement);
    int learned = 0;
    for (int i = 0; i < step.task_count; i++)
        if (other.plan->tasks[step.tasks[i].task].kind == MGB_TASK_COMPUTE) {
            assert_int_equal(step.tasks[i].duration_ns, 123456);
            learned++;
        }
    assert_true(learned > 10);
    tasks[0].device = machine->device_count;
    assert_status(mgb_sim_learn(sim, world.plan, tasks, count), MGB_INVALID);
    mgb_release(tasks);
    mgb_sim_close(sim);
    mgb_machine_free(machine);
    world_done(&world);
    world_done(&other);
}

static void replay_is_refused_where_something_is_shared(void **state)
{
    (void)state;
    struct world world;
    world_make(&world, 1);
    struct mgb_machine *machine = busy_machine(&world, 0);
    struct mgb_sim *sim = rigged_open(machine, MGB_SIM_REPLAY);
    const struct mgb_virtual *face = mgb_sim_virtual(sim);
    struct mgb_virtual_step step;
    assert_status(
        face->play(face->context, &step,
                   &(struct mgb_virtual_request){.plan = world.plan, .placement = world.placement}),
        MGB_UNSUPPORTED);
    assert_message("shared");
    mgb_sim_close(sim);
    mgb_machine_free(machine);
    world_done(&world);
}

static void drawn_factors_have_the_mean_and_the_spread_asked_for(void **state)
{
    (void)state;
    double sum = 0, squares = 0, sigma = 0.1;
    enum { COUNT = 20000 };
    for (uint64_t i = 0; i < COUNT; i++) {
        double factor = mgb_sim_draw(sigma, 9, i, 0);
        sum += factor;
        squares += factor * factor;
    }
    double mean = sum / COUNT, variance = squares / COUNT - mean * mean;
    assert_float_equal(mean, 1, 0.003);
    assert_float_equal(variance, 0.01005, 0.0004); /* exp(sigma squared) - 1 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_on_one_gpu_leave_and_reach_it_one_by_one),
        cmocka_unit_test(weights_on_the_cpu_go_to_all_at_once_over_wires_of_their_own),
        cmocka_unit_test(replicas_and_a_ring_move_twice_all_but_a_part),
        cmocka_unit_test(towers_alone_move_no_weights),
        cmocka_unit_test(host_and_simulator_trace_the_same_tasks_in_the_same_order),
        cmocka_unit_test(every_nanosecond_of_a_step_belongs_to_one_phase),
        cmocka_unit_test(the_same_input_gives_the_same_bytes),
        cmocka_unit_test(a_play_allocates_nothing_once_it_was_played),
        cmocka_unit_test(a_step_that_would_repeat_is_not_played_again),
        cmocka_unit_test(measured_durations_take_the_place_of_computed_ones),
        cmocka_unit_test(replay_is_refused_where_something_is_shared),
        cmocka_unit_test(drawn_factors_have_the_mean_and_the_spread_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
