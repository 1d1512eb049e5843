/* Rates that change on the way: cores of CPU devices, boards of two GPUs, and random copies against a plain simulation that
 * solves everything anew at every moment. */
#include "engine/base/random.h"
#include "engine/graph/graph.h"
#include "engine/sim/program.h"
#include "tests/engine/sim/plain.h"
#include "tests/engine/sim/rigged.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include <string.h>

#define MB 1000000

/* Work of 10 us a megabyte. */
#define WORK(on, bytes_of, ...)                                                                    \
    {                                                                                              \
        .kind = MGB_TASK_FILL, .device = (on), .from = -1, .bytes = (bytes_of), __VA_ARGS__        \
    }

static struct mgb_virtual_step play(struct mgb_sim **sim, struct hand_plan *hand,
                                    struct mgb_machine *machine, const struct hand_task *tasks,
                                    int count, int threads)
{
    *sim = rigged_open(machine, MGB_SIM_AUTO);
    hand_plan_make(hand, machine->device_count - 1, tasks, count);
    hand->plan.threads = threads;
    return rigged_play(*sim, &hand->plan, &hand->placement);
}

static void played_done(struct mgb_sim *sim, struct hand_plan *hand, struct mgb_machine *machine)
{
    mgb_sim_close(sim);
    hand_plan_done(hand);
    mgb_machine_free(machine);
}

static int64_t end_of(const struct mgb_virtual_step *step, int task)
{
    return step->tasks[task].start_ns + step->tasks[task].duration_ns;
}

static void cpu_devices_share_the_cores_of_the_host(void **state)
{
    (void)state;
    /* Three devices of 2 threads on 4 cores: each at 2/3 until the short one is done; then all have what they need. */
    const struct hand_task tasks[] = {WORK(1, 2 * MB), WORK(2, 4 * MB), WORK(3, 4 * MB)};
    struct mgb_machine *machine = rigged_machine(3);
    struct mgb_sim *sim;
    struct hand_plan hand;
    machine->cpu_devices = true;
    struct mgb_virtual_step step = play(&sim, &hand, machine, tasks, 3, 2);
    assert_int_equal(end_of(&step, 0), 30000);
    assert_int_equal(end_of(&step, 1), 30000 + 20000);
    assert_int_equal(end_of(&step, 2), 50000);
    played_done(sim, &hand, machine);
}

static void hyperthreads_add_up_to_fewer_cores(void **state)
{
    (void)state;
    const struct hand_task tasks[] = {WORK(1, 13 * MB), WORK(2, 13 * MB)};
    struct mgb_machine *machine = rigged_machine(2);
    struct mgb_sim *sim;
    struct hand_plan hand;
    machine->cpu_devices = true;
    machine->host.cores = 2;
    machine->host.core_total = 1.3;
    struct mgb_virtual_step step = play(&sim, &hand, machine, tasks, 2, 1);
    assert_int_equal(step.wall_ns, 200000);
    played_done(sim, &hand, machine);
}

static void a_copy_between_cpu_devices_takes_a_core(void **state)
{
    (void)state;
    /* One core for work of 100 us and a copy of 100 us. */
    const struct hand_task tasks[] = {WORK(1, 10 * MB),
                                      {.kind = MGB_TASK_COPY, .device = 2, .from = 0, .bytes = MB}};
    struct mgb_machine *machine = rigged_machine(2);
    struct mgb_sim *sim;
    struct hand_plan hand;
    machine->cpu_devices = true;
    machine->host.cores = 1;
    struct mgb_virtual_step step = play(&sim, &hand, machine, tasks, 2, 1);
    assert_int_equal(end_of(&step, 0), 200000);
    assert_int_equal(end_of(&step, 1), 200000);
    played_done(sim, &hand, machine);
}

static void devices_of_a_board_slow_each_other(void **state)
{
    (void)state;
    /* Both run for 100 us: at 0.8 while both do. The first has 80 us of work and ends; the second 20 us left. */
    const struct hand_task tasks[] = {WORK(1, 8 * MB), WORK(2, 10 * MB), WORK(3, 10 * MB)};
    struct mgb_machine *machine = rigged_machine(3);
    struct mgb_sim *sim;
    struct hand_plan hand;
    for (int d = 1; d <= 2; d++) {
        machine->devices[d].board = 0;
        machine->devices[d].board_speed = 0.8;
    }
    struct mgb_virtual_step step = play(&sim, &hand, machine, tasks, 3, 1);
    assert_int_equal(end_of(&step, 0), 100000);
    assert_int_equal(end_of(&step, 1), 120000);
    assert_int_equal(end_of(&step, 2), 100000);
    played_done(sim, &hand, machine);
}

static void a_host_that_submits_slowly_is_the_limit(void **state)
{
    (void)state;
    /* Four tasks of 10 us, one issued each 25: the last at 75. As a graph: one after the other. */
    const struct hand_task tasks[] = {WORK(1, MB), WORK(1, MB), WORK(1, MB), WORK(1, MB)};
    for (int graph = 0; graph < 2; graph++) {
        struct mgb_machine *machine = rigged_machine(1);
        struct hand_plan hand;
        machine->host.submit_us = 25;
        machine->host.step_us = 7;
        struct mgb_sim *sim = rigged_open(machine, MGB_SIM_AUTO);
        hand_plan_make(&hand, 1, tasks, 4);
        hand.placement.graph = graph ? MGB_CHOICE_YES : MGB_CHOICE_NO;
        struct mgb_virtual_step step = rigged_play(sim, &hand.plan, &hand.placement);
        assert_int_equal(step.wall_ns, graph ? 7000 + 40000 : 7000 + 75000 + 10000);
        assert_int_equal(step.devices[1].exposed[MGB_PHASE_WAIT], 7000);
        played_done(sim, &hand, machine);
    }
}

static void batches_that_are_there_take_no_time(void **state)
{
    (void)state;
    const struct hand_task tasks[] = {
        {.kind = MGB_TASK_COPY, .device = 1, .from = 0, .bytes = MB, .phase = MGB_PHASE_INPUT},
        WORK(1, MB, .waits = {1}, .phase = MGB_PHASE_FORWARD)};
    for (int ready = 0; ready < 2; ready++) {
        struct mgb_machine *machine = rigged_machine(1);
        struct mgb_sim *sim;
        struct hand_plan hand;
        machine->host.inputs_ready = ready;
        machine->devices[1].launch_us = 1;
        struct mgb_virtual_step step = play(&sim, &hand, machine, tasks, 2, 1);
        assert_int_equal(step.wall_ns, ready ? 11000 : 101000 + 11000);
        played_done(sim, &hand, machine);
    }
}

/* Time that the second GPU computes, and how long its all-reduces take that something is left to compute beside. */
static int64_t compute_ns(double share, int64_t *beside_ns)
{
    struct mgb_graph *graph = rigged_graph(6, 200);
    const struct plan_setup setup = {.strategy = MGB_ALLREDUCE,
                                     .gpus = 2,
                                     .batch = 8,
                                     .bucket_bytes = 170000,
                                     .allreduce = MGB_ALLREDUCE_RING};
    struct mgb_machine *machine = rigged_machine(2);
    struct plan_world world;
    struct mgb_plan *plan = plan_make(&world, graph, &setup);
    machine->collective.compute_share = share;
    struct mgb_sim *sim = rigged_open(machine, MGB_SIM_AUTO);
    struct mgb_virtual_step step = rigged_play(sim, plan, world.placement);
    int64_t ns = 0;
    bool computes = false;
    *beside_ns = 0;
    for (int i = step.task_count - 1; i >= 0; i--) {
        enum mgb_task_kind kind = plan->tasks[step.tasks[i].task].kind;
        if (step.tasks[i].device != PLAN_GPU(1))
            continue;
        computes |= kind == MGB_TASK_COMPUTE;
        ns += kind == MGB_TASK_COMPUTE ? step.tasks[i].duration_ns : 0;
        *beside_ns += kind == MGB_TASK_ALLREDUCE && computes ? step.tasks[i].duration_ns : 0;
    }
    mgb_sim_close(sim);
    mgb_plan_free(plan);
    plan_world_done(&world);
    mgb_graph_free(graph);
    mgb_machine_free(machine);
    return ns;
}

static void all_reduces_take_their_share_of_compute_beside_them(void **state)
{
    (void)state;
    int64_t beside_ns, alone = compute_ns(0, &beside_ns);
    assert_true(beside_ns > 10000);
    int64_t shared = compute_ns(0.25, &beside_ns);
    assert_in_range(shared - alone, beside_ns / 4 - 10, beside_ns / 4 + 10);
}

/* When the first GPU, which sums, has ended its last operator, and the step. */
static int64_t operators_end_ns(bool apart, int64_t *wall_ns)
{
    struct mgb_graph *graph = rigged_graph(6, 200);
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS,
                                     .gpus = 2,
                                     .batch = 256,
                                     .bucket_bytes = 1,
                                     .home = PLAN_GPU(0),
                                     .sum = PLAN_GPU(0),
                                     .update = PLAN_GPU(0),
                                     .original = PLAN_GPU(0)};
    struct mgb_machine *machine = rigged_machine(2);
    struct plan_world world;
    struct mgb_plan *plan = plan_make(&world, graph, &setup);
    machine->host.sums_apart = apart;
    struct mgb_sim *sim = rigged_open(machine, MGB_SIM_AUTO);
    struct mgb_virtual_step step = rigged_play(sim, plan, world.placement);
    int64_t end = 0;
    for (int i = 0; i < step.task_count; i++) {
        const struct mgb_task_time *t = &step.tasks[i];
        bool mine = t->device == PLAN_GPU(0) && plan->tasks[t->task].kind == MGB_TASK_COMPUTE;
        if (mine && t->start_ns + t->duration_ns > end)
            end = t->start_ns + t->duration_ns;
    }
    *wall_ns = step.wall_ns;
    mgb_sim_close(sim);
    mgb_plan_free(plan);
    plan_world_done(&world);
    mgb_graph_free(graph);
    mgb_machine_free(machine);
    return end;
}

static void a_gpu_computes_on_while_gradients_for_its_sums_are_on_their_way(void **state)
{
    (void)state;
    int64_t wall, apart_wall, end = operators_end_ns(false, &wall);
    int64_t apart_end = operators_end_ns(true, &apart_wall);
    assert_true(apart_end < end);
    assert_true(apart_wall <= wall);
    assert_true(apart_end < apart_wall);
}

/* A machine of GPUs in pairs behind switches, wires of odd rates, some staging, engines few and many. */
static struct mgb_machine *random_machine(struct mgb_random4 r, int gpus)
{
    struct mgb_machine *machine = rigged_machine(gpus);
    int switches = (gpus + 1) / 2;
    machine->switches = mgb_alloc((size_t)switches * sizeof *machine->switches);
    machine->switch_count = switches;
    for (int s = 0; s < switches; s++) {
        memcpy(machine->switches[s], "switch", 7);
        machine->switches[s][6] = (char)('a' + s);
        rigged_wire(machine, 0, gpus + 1 + s, 5.5 + mgb_random_below(r.v[0] >> s, 9));
    }
    for (int g = 0; g < gpus; g++) {
        machine->wires[g].a = gpus + 1 + g / 2;
        machine->wires[g].latency_us = 0.7 * g;
        machine->devices[g + 1].copies_in = 1 + (int)(r.v[1] >> g & 1);
        machine->devices[g + 1].copies_out = 1 + (int)(r.v[1] >> (g + 8) & 1);
        machine->devices[g + 1].one_engine = r.v[1] >> (g + 16) & 1;
        machine->devices[g + 1].launch_us = 1.3;
    }
    machine->host.memory_gbps = r.v[2] & 1 ? 13 : 0;
    if (r.v[2] & 2)
        for (int d = 1; d <= gpus; d++) {
            machine->devices[d].board = (d - 1) / 2;
            machine->devices[d].board_speed = 0.75;
        }
    machine->cpu_devices = (r.v[2] & 12) == 12;
    machine->host.cores = 2;
    return machine;
}

static void random_tasks(struct hand_task *tasks, int count, int gpus, uint64_t seed)
{
    for (int i = 0; i < count; i++) {
        struct mgb_random4 r = mgb_random_at(77, seed, (uint64_t)i);
        int device = (int)mgb_random_below(r.v[0], (uint32_t)gpus + 1);
        int from = (int)mgb_random_below(r.v[1], (uint32_t)gpus + 1);
        bool copy = from != device && (r.v[2] & 3) > 0;
        tasks[i] = (struct hand_task){.kind = copy ? MGB_TASK_COPY : MGB_TASK_FILL,
                                      .device = device,
                                      .from = copy ? from : -1,
                                      .bytes = (int64_t)(r.v[3] % 4000000)};
        for (int k = 0; k < 2 && i > 0; k++)
            if (r.v[2] >> (8 + k) & 1)
                tasks[i].waits[tasks[i].waits[0] > 0] =
                    1 + (int)mgb_random_below(r.v[2] >> 12 ^ r.v[1] >> k, (uint32_t)i);
    }
}

static void local_solutions_are_those_of_a_plain_simulation(void **state)
{
    (void)state;
    enum { TASKS = 60, ROUNDED = 10 }; /* ns: ends are rounded one after the other */
    for (int number = 0; number < draw_count(60, 2000); number++) {
        struct mgb_random4 r = mgb_random_at(78, (uint64_t)number, 0);
        int gpus = 2 + (int)mgb_random_below(r.v[3], 5);
        struct mgb_machine *machine = random_machine(r, gpus);
        struct hand_task tasks[TASKS];
        struct hand_plan hand;
        int64_t ends[TASKS];
        random_tasks(tasks, TASKS, gpus, (uint64_t)number);
        struct mgb_sim *sim = rigged_open(machine, MGB_SIM_EVENTS);
        hand_plan_make(&hand, gpus, tasks, TASKS);
        struct mgb_virtual_step step = rigged_play(sim, &hand.plan, &hand.placement);
        plain_play(ends, sim, sim->programs);
        for (int i = 0; i < TASKS; i++)
            if (end_of(&step, i) < ends[i] - ROUNDED || end_of(&step, i) > ends[i] + ROUNDED)
                fail_msg("draw %d: task %d ends at %lld, by the plain simulation at %lld", number,
                         i, (long long)end_of(&step, i), (long long)ends[i]);
        played_done(sim, &hand, machine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_devices_share_the_cores_of_the_host),
        cmocka_unit_test(hyperthreads_add_up_to_fewer_cores),
        cmocka_unit_test(a_copy_between_cpu_devices_takes_a_core),
        cmocka_unit_test(devices_of_a_board_slow_each_other),
        cmocka_unit_test(a_host_that_submits_slowly_is_the_limit),
        cmocka_unit_test(batches_that_are_there_take_no_time),
        cmocka_unit_test(all_reduces_take_their_share_of_compute_beside_them),
        cmocka_unit_test(a_gpu_computes_on_while_gradients_for_its_sums_are_on_their_way),
        cmocka_unit_test(local_solutions_are_those_of_a_plain_simulation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
