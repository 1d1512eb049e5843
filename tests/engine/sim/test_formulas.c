/* Times of tasks and of collectives against values worked out by hand from shared/reference/simulation.md. */
#include "engine/graph/graph.h"
#include "engine/sim/program.h"
#include "tests/engine/sim/rigged.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include <string.h>

/* One dense layer of 100 by 100 on one GPU, 50 rows: y = x w + b takes 50 x 2 x 100 x 100 operations, and reads and
 * writes 50 x 100 numbers of x, 100 x 100 of w, 100 of b and 50 x 100 of y. */
struct layer {
    struct plan_world world;
    struct mgb_graph *graph;
    struct mgb_plan *plan;
    int task; /* of the layer */
};

static struct layer layer_make(int rows)
{
    struct layer layer = {.graph = rigged_graph(1, 100)};
    const struct plan_setup setup = {.strategy = MGB_GRADIENTS,
                                     .gpus = 1,
                                     .batch = rows,
                                     .home = PLAN_GPU(0),
                                     .sum = PLAN_GPU(0),
                                     .update = PLAN_GPU(0),
                                     .original = PLAN_GPU(0)};
    layer.plan = plan_make(&layer.world, layer.graph, &setup);
    for (int i = 0; i < layer.plan->task_count; i++) {
        const struct mgb_task *task = &layer.plan->tasks[i];
        if (task->kind == MGB_TASK_COMPUTE && layer.graph->nodes[task->node].kind == MGB_OP_DENSE)
            layer.task = i;
    }
    return layer;
}

static void layer_done(struct layer *layer)
{
    mgb_plan_free(layer->plan);
    plan_world_done(&layer->world);
    mgb_graph_free(layer->graph);
}

static double layer_ns(const struct layer *layer, struct mgb_machine *machine)
{
    struct mgb_sim *sim = rigged_open(machine, MGB_SIM_AUTO);
    double ns = mgb_sim_task_ns(sim, layer->plan, layer->task, PLAN_GPU(0));
    mgb_sim_close(sim);
    mgb_machine_free(machine);
    return ns;
}

static void curve_flat(struct mgb_curve *curve, double value)
{
    *curve = (struct mgb_curve){.count = 1, .at = {1}, .value = {value}};
}

#define LAYER_FLOPS (50.0 * 2 * 100 * 100)
#define LAYER_BYTES (4.0 * (50 * 100 + 100 * 100 + 100 + 50 * 100))
#define NEAR 1e-6

static void a_task_is_bound_by_arithmetic_or_by_memory(void **state)
{
    (void)state;
    struct layer layer = layer_make(50);
    struct mgb_machine *machine = rigged_machine(1);
    assert_float_equal(layer.plan->tasks[layer.task].flops, LAYER_FLOPS, NEAR);
    assert_int_equal(mgb_sim_task_bytes(layer.plan, layer.task), (int64_t)LAYER_BYTES);
    assert_float_equal(layer_ns(&layer, machine), LAYER_FLOPS / 1e3, NEAR);
    machine = rigged_machine(1);
    machine->devices[1].memory_gbps = 10;
    machine->devices[1].launch_us = 5;
    assert_float_equal(layer_ns(&layer, machine), 5000 + LAYER_BYTES / 10, NEAR);
    layer_done(&layer);
}

static void efficiency_factors_and_speed_divide_the_work_but_not_the_launch(void **state)
{
    (void)state;
    struct layer layer = layer_make(50);
    struct mgb_machine *machine = rigged_machine(1);
    struct mgb_machine_device *device = &machine->devices[1];
    device->launch_us = 5;
    curve_flat(&device->compute, 0.5);
    device->factors = mgb_alloc(2 * sizeof *device->factors);
    device->factor_count = 2;
    strcpy(device->factors[0].kind, "update");
    strcpy(device->factors[1].kind, "dense");
    device->factors[0].speed = 7;
    device->factors[1].speed = 1.25;
    device->speed = 0.8;
    assert_float_equal(layer_ns(&layer, machine), 5000 + LAYER_FLOPS / 1e3 / 0.5 / (1.25 * 0.8),
                       NEAR);
    machine = rigged_machine(1);
    machine->devices[1].memory_gbps = 10;
    curve_flat(&machine->devices[1].memory, 0.25);
    assert_float_equal(layer_ns(&layer, machine), LAYER_BYTES / 2.5, NEAR);
    layer_done(&layer);
}

static void products_take_the_peak_of_their_precision(void **state)
{
    (void)state;
    struct layer layer = layer_make(50);
    struct mgb_machine *machine = rigged_machine(1);
    machine->devices[1].memory_gbps = 1e4;
    machine->devices[1].tflops[MGB_PRECISION_BF16] = 4;
    layer.plan->precision = MGB_PRECISION_BF16;
    assert_float_equal(layer_ns(&layer, machine), LAYER_FLOPS / 4e3, NEAR);
    layer_done(&layer);
}

static void measured_costs_win_and_are_linear_in_the_rows(void **state)
{
    (void)state;
    struct layer layer = layer_make(50);
    uint64_t signature = mgb_sim_signature(layer.graph, layer.plan->tasks[layer.task].node);
    struct mgb_machine *machine = rigged_machine(1);
    machine->costs = mgb_alloc(3 * sizeof *machine->costs);
    machine->cost_count = 3;
    machine->costs[0] = (struct mgb_machine_cost){signature, 10, 1, 1000};
    machine->costs[1] = (struct mgb_machine_cost){signature, 40, 1, 1600};
    machine->costs[2] = (struct mgb_machine_cost){signature, 60, 1, 2600};
    assert_float_equal(layer_ns(&layer, machine), 2100, NEAR);
    layer_done(&layer);
    layer = layer_make(80);
    machine = rigged_machine(1);
    machine->costs = mgb_alloc(2 * sizeof *machine->costs);
    machine->cost_count = 2;
    machine->costs[0] = (struct mgb_machine_cost){signature, 10, 1, 1000};
    machine->costs[1] = (struct mgb_machine_cost){signature, 40, 1, 1600};
    machine->devices[1].speed = 0.5;
    assert_float_equal(layer_ns(&layer, machine), 2400 / 0.5, NEAR);
    layer_done(&layer);
}

static void a_signature_is_of_the_work_and_not_of_the_model(void **state)
{
    (void)state;
    struct mgb_graph *a = rigged_graph(2, 8), *b = rigged_graph(3, 8), *c = rigged_graph(1, 9);
    int dense[3][2], counts[3] = {0};
    const struct mgb_graph *graphs[] = {a, b, c};
    for (int g = 0; g < 3; g++)
        for (int i = 0; i < graphs[g]->node_count && counts[g] < 2; i++)
            if (graphs[g]->nodes[i].kind == MGB_OP_DENSE)
                dense[g][counts[g]++] = i;
    uint64_t signature = mgb_sim_signature(a, dense[0][0]);
    assert_true(signature == mgb_sim_signature(a, dense[0][1]));
    assert_true(signature == mgb_sim_signature(b, dense[1][1]));
    assert_true(signature != mgb_sim_signature(c, dense[2][0]));
    mgb_graph_free(a);
    mgb_graph_free(b);
    mgb_graph_free(c);
}

/* Bytes that sums and updates move: simulation.md 2.5. */
static void updates_move_three_five_and_seven_times_their_weights(void **state)
{
    (void)state;
    static const enum mgb_optimizer_kind kinds[] = {MGB_SGD, MGB_SGD, MGB_ADAM};
    struct mgb_graph *graph = rigged_graph(1, 100);
    int64_t weights = mgb_graph_parameters(graph) * 4;
    for (int i = 0; i < 3; i++) {
        struct plan_setup setup = {.strategy = MGB_GRADIENTS,
                                   .gpus = 2,
                                   .batch = 8,
                                   .home = PLAN_CPU,
                                   .sum = PLAN_CPU,
                                   .update = PLAN_CPU,
                                   .original = PLAN_CPU,
                                   .optimizer = mgb_optimizer_default(kinds[i])};
        struct plan_world world;
        setup.optimizer.momentum = i == 1 ? 0.9f : 0;
        struct mgb_plan *plan = plan_make(&world, graph, &setup);
        int64_t bytes = 0, sums = 0;
        for (int k = 0; k < plan->task_count; k++) {
            bytes += plan->tasks[k].kind == MGB_TASK_UPDATE ? mgb_sim_task_bytes(plan, k) : 0;
            if (plan->tasks[k].kind == MGB_TASK_REDUCE && plan->tasks[k].phase == MGB_PHASE_SUM)
                sums += mgb_sim_task_bytes(plan, k);
        }
        assert_int_equal(bytes, weights * (3 + 2 * i));
        /* N of them and the sum, up to padding between weights of a bucket. */
        assert_in_range(sums, 3 * weights, 3 * weights + 3 * 64);
        mgb_plan_free(plan);
        plan_world_done(&world);
    }
    mgb_graph_free(graph);
}

static void sums_on_the_host_have_a_bandwidth_of_their_own(void **state)
{
    (void)state;
    const struct hand_task tasks[] = {
        {.kind = MGB_TASK_FILL, .device = 0, .from = -1, .bytes = 1000000}};
    struct mgb_machine *machine = rigged_machine(1);
    struct hand_plan hand;
    machine->host.memory_gbps = 40;
    machine->host.reduce_gbps = 20;
    struct mgb_sim *sim = rigged_open(machine, MGB_SIM_AUTO);
    hand_plan_make(&hand, 1, tasks, 1);
    assert_int_equal(rigged_play(sim, &hand.plan, &hand.placement).wall_ns, 50000);
    hand_plan_done(&hand);
    mgb_sim_close(sim);
    mgb_machine_free(machine);
}

static int64_t allreduce_ns(struct mgb_machine *machine, int gpus, enum mgb_allreduce algorithm,
                            int64_t bytes)
{
    struct hand_task tasks[8] = {{0}};
    struct hand_plan hand;
    for (int t = 0; t < gpus; t++)
        tasks[t] = (struct hand_task){
            .kind = MGB_TASK_ALLREDUCE, .device = t + 1, .from = -1, .bytes = bytes};
    struct mgb_sim *sim = rigged_open(machine, MGB_SIM_AUTO);
    hand_plan_make(&hand, gpus, tasks, gpus);
    hand.plan.algorithm = algorithm;
    int64_t ns = rigged_play(sim, &hand.plan, &hand.placement).wall_ns;
    hand_plan_done(&hand);
    mgb_sim_close(sim);
    return ns;
}

/* Four GPUs with 18 GB/s between neighbours. */
static struct mgb_machine *ring_machine(void)
{
    struct mgb_machine *machine = rigged_machine(4);
    for (int a = 1; a <= 4; a++)
        rigged_wire(machine, a, a % 4 + 1, 18);
    machine->collective.start_us = 8;
    machine->collective.hop_us = 3;
    return machine;
}

static void all_reduces_take_the_times_of_their_algorithms(void **state)
{
    (void)state;
    const int64_t bytes = 18000000;
    struct mgb_machine *machine = ring_machine();
    int64_t ring = 8000 + 2 * 3 * 3000 + 1500000, tree = 8000 + 2 * 2 * 3000 + 2173913;
    assert_int_equal(allreduce_ns(machine, 4, MGB_ALLREDUCE_RING, bytes), ring);
    assert_int_equal(allreduce_ns(machine, 4, MGB_ALLREDUCE_TREE, bytes), tree);
    assert_int_equal(allreduce_ns(machine, 4, MGB_ALLREDUCE_NCCL, bytes), ring);
    /* Few bytes: the tree has fewer hops. */
    assert_int_equal(allreduce_ns(machine, 4, MGB_ALLREDUCE_NCCL, 1800), 8000 + 12000 + 217);
    machine->collective.switch_gbps = 54;
    assert_int_equal(allreduce_ns(machine, 4, MGB_ALLREDUCE_AUTO, bytes), 8000 + 6000 + 500000);
    mgb_machine_free(machine);
}

static void a_wire_that_neighbours_of_the_ring_share_is_divided(void **state)
{
    (void)state;
    /* Two pairs of GPUs, each pair behind its switch: the ring crosses the two uplinks once each way, and the wire of a GPU
     * once. Its own wire is the narrowest: 10 GB/s. With an uplink of 6 that is. */
    struct mgb_machine *machine = rigged_machine(4);
    char(*switches)[32] = mgb_alloc(2 * sizeof *switches);
    strcpy(switches[0], "one");
    strcpy(switches[1], "two");
    machine->switches = switches;
    machine->switch_count = 2;
    for (int g = 0; g < 4; g++)
        machine->wires[g].a = 5 + g / 2;
    rigged_wire(machine, 0, 5, 6);
    rigged_wire(machine, 0, 6, 6);
    assert_int_equal(allreduce_ns(machine, 4, MGB_ALLREDUCE_RING, 6000000), 1500000);
    mgb_machine_free(machine);
    /* All by one switch's uplink to a far one: each crosses it. */
    machine = rigged_machine(3);
    switches = mgb_alloc(sizeof *switches);
    strcpy(switches[0], "one");
    machine->switches = switches;
    machine->switch_count = 1;
    machine->wires[0].a = machine->wires[1].a = 4;
    rigged_wire(machine, 0, 4, 8);
    assert_int_equal(allreduce_ns(machine, 3, MGB_ALLREDUCE_RING, 6000000), 1000000);
    mgb_machine_free(machine);
}

static void a_hierarchical_all_reduce_crosses_the_network_once(void **state)
{
    (void)state;
    /* Two hosts of two GPUs: 20 GB/s inside, 5 between. */
    struct mgb_machine *machine = rigged_machine(4);
    char(*switches)[32] = mgb_alloc(sizeof *switches);
    strcpy(switches[0], "far");
    machine->switches = switches;
    machine->switch_count = 1;
    for (int g = 0; g < 4; g++) {
        machine->wires[g].a = g < 2 ? 0 : 5;
        machine->wires[g].gbps = 20;
    }
    rigged_wire(machine, 0, 5, 5);
    strcpy(machine->wires[4].kind, "network");
    machine->collective =
        (struct mgb_machine_collective){.start_us = 10, .hop_us = 2, .network_hop_us = 7};
    /* Inside twice: a hop and 10 MB over 20 GB/s; between: 2 hops and 10 MB over 5. */
    int64_t inside = 2000 + 500000, between = 14000 + 2000000;
    assert_int_equal(allreduce_ns(machine, 4, MGB_ALLREDUCE_HIERARCHICAL, 10000000),
                     10000 + 2 * inside + between);
    /* A ring of four: every step crosses. */
    assert_int_equal(allreduce_ns(machine, 4, MGB_ALLREDUCE_RING, 10000000),
                     10000 + 6 * 7000 + 3000000);
    mgb_machine_free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_is_bound_by_arithmetic_or_by_memory),
        cmocka_unit_test(efficiency_factors_and_speed_divide_the_work_but_not_the_launch),
        cmocka_unit_test(products_take_the_peak_of_their_precision),
        cmocka_unit_test(measured_costs_win_and_are_linear_in_the_rows),
        cmocka_unit_test(a_signature_is_of_the_work_and_not_of_the_model),
        cmocka_unit_test(updates_move_three_five_and_seven_times_their_weights),
        cmocka_unit_test(sums_on_the_host_have_a_bandwidth_of_their_own),
        cmocka_unit_test(all_reduces_take_the_times_of_their_algorithms),
        cmocka_unit_test(a_wire_that_neighbours_of_the_ring_share_is_divided),
        cmocka_unit_test(a_hierarchical_all_reduce_crosses_the_network_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
