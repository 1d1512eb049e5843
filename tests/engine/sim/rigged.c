#include "tests/engine/sim/rigged.h"

#include "engine/base/memory.h"
#include "engine/graph/graph.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include <mgb/op.h>
#include <stdio.h>
#include <string.h>

struct mgb_machine *rigged_machine(int gpus)
{
    struct mgb_machine *m = mgb_alloc(sizeof *m);
    assert_non_null(m);
    snprintf(m->name, sizeof m->name, "rigged");
    m->source = mgb_copy_string("made up");
    m->device_count = gpus + 1;
    m->devices = mgb_alloc((size_t)m->device_count * sizeof *m->devices);
    m->wires = mgb_alloc((64 + (size_t)gpus) * sizeof *m->wires);
    m->pairs = mgb_alloc(64 * sizeof *m->pairs);
    assert_true(m->source && m->devices && m->wires && m->pairs);
    for (int d = 0; d < m->device_count; d++) {
        struct mgb_machine_device *device = &m->devices[d];
        device->device.name.kind = d == 0 ? MGB_DEVICE_CPU : MGB_DEVICE_GPU;
        device->device.name.index = d == 0 ? 0 : d - 1;
        device->device.class = MGB_CLASS_SIMULATED;
        device->device.physical = d;
        device->tflops[0] = 1;
        device->memory_gbps = 100;
        device->board = -1;
        if (d > 0)
            rigged_wire(m, 0, d, 10);
    }
    m->host.cores = 4;
    return m;
}

void rigged_wire(struct mgb_machine *machine, int a, int b, double gbps)
{
    machine->wires[machine->wire_count++] =
        (struct mgb_machine_wire){.a = a, .b = b, .gbps = gbps, .kind = "pcie"};
}

void rigged_pair(struct mgb_machine *machine, int from, int to, double on_gbps, double off_gbps)
{
    machine->pairs[machine->pair_count++] =
        (struct mgb_machine_pair){.from = from, .to = to, .on_gbps = on_gbps, .off_gbps = off_gbps};
}

struct mgb_sim *rigged_open(struct mgb_machine *machine, enum mgb_sim_engine engine)
{
    struct mgb_sim *sim = NULL;
    const struct mgb_sim_options options = {.engine = engine, .seed = 5};
    if (!machine->ends)
        assert_ok(mgb_machine_check(machine));
    assert_ok(mgb_sim_open(&sim, machine, &options));
    return sim;
}

struct mgb_virtual_step rigged_play(struct mgb_sim *sim, const struct mgb_plan *plan,
                                    const struct mgb_effective *placement)
{
    const struct mgb_virtual *face = mgb_sim_virtual(sim);
    struct mgb_virtual_step step;
    assert_ok(face->play(
        face->context, &step,
        &(struct mgb_virtual_request){.plan = plan, .placement = placement, .trace = true}));
    return step;
}

struct mgb_graph *rigged_graph(int layers, int width)
{
    struct mgb_graph *graph = model_make("stack");
    int x = model_input(graph, "image", SHAPE(1, width)), label = model_label(graph, "label");
    char name[24];
    for (int i = 0; i < layers; i++) {
        snprintf(name, sizeof name, "dense_%d", i);
        x = model_dense(graph, name, x, width, MGB_LINEAR);
    }
    model_classify(graph, x, label);
    return graph;
}

static void towers_make(struct mgb_plan *plan, int gpus)
{
    plan->tower_count = plan->class_count = gpus;
    plan->towers = mgb_alloc((size_t)gpus * sizeof *plan->towers);
    plan->classes = mgb_alloc((size_t)gpus * sizeof *plan->classes);
    plan->uses = mgb_alloc((size_t)(gpus + 1) * sizeof *plan->uses);
    assert_true(plan->towers && plan->classes && plan->uses);
    for (int t = 0; t < gpus; t++) {
        plan->towers[t] = (struct mgb_tower){.device = t + 1, .class = t, .rows = 1};
        plan->classes[t] =
            (struct mgb_class){.rows = 1, .first_tower = t, .tower_count = 1, .lead = t + 1};
    }
    for (int d = 0; d <= gpus; d++)
        plan->uses[plan->use_count++].device = d;
}

/* A compute task is a fill of so many bytes: they are written once, at the speed of memory. */
static void task_make(struct mgb_plan *plan, int i, const struct hand_task *hand)
{
    bool copy = hand->kind == MGB_TASK_COPY, sums = hand->kind == MGB_TASK_ALLREDUCE;
    plan->buffers[i] = (struct mgb_buffer){
        .name = "b", .class = MGB_ROOT, .device = hand->device, .bytes = hand->bytes};
    plan->operands[2 * i] = plan->operands[2 * i + 1] =
        (struct mgb_operand){.buffer = i, .tower = MGB_OWN, .bytes = hand->bytes};
    plan->tasks[i] = (struct mgb_task){
        .kind = hand->kind,
        .phase = hand->phase,
        .class = sums ? hand->device - 1 : MGB_ROOT,
        .device = sums ? MGB_SELF : hand->device,
        .queue = (copy && hand->from >= 0) || sums ? MGB_QUEUE_COPY : MGB_QUEUE_COMPUTE,
        .from = copy   ? hand->from
                : sums ? MGB_SELF
                       : -1,
        .node = -1,
        .collective = sums ? hand->collective : -1,
        .operand_begin = 2 * i,
        .operand_count = copy ? 2 : 1,
        .wait_begin = plan->wait_count,
        .bytes = hand->bytes,
        .name = "task"};
    for (int k = 0; k < 4 && hand->waits[k] > 0; k++, plan->tasks[i].wait_count++) {
        bool tower = plan->tasks[hand->waits[k] - 1].class != MGB_ROOT;
        plan->waits[plan->wait_count++] =
            (struct mgb_wait){hand->waits[k] - 1, tower ? MGB_EACH_TOWER : MGB_OWN};
    }
    if (sums && hand->collective >= plan->collective_count)
        plan->collective_count = hand->collective + 1;
}

void hand_plan_make(struct hand_plan *out, int gpus, const struct hand_task *tasks, int count)
{
    size_t n = (size_t)count + 1;
    *out = (struct hand_plan){0};
    struct mgb_plan *plan = &out->plan;
    plan_machine_make(&out->topology, gpus);
    plan->topology = &out->topology;
    plan->threads = plan->cpu_threads = 1;
    plan->task_count = plan->buffer_count = count;
    plan->operand_count = 2 * count;
    towers_make(plan, gpus);
    plan->tasks = mgb_alloc(n * sizeof *plan->tasks);
    plan->buffers = mgb_alloc(n * sizeof *plan->buffers);
    plan->operands = mgb_alloc(2 * n * sizeof *plan->operands);
    plan->waits = mgb_alloc(4 * n * sizeof *plan->waits);
    assert_true(plan->tasks && plan->buffers && plan->operands && plan->waits);
    for (int i = 0; i < count; i++)
        task_make(plan, i, &tasks[i]);
    out->placement.tower_count = gpus;
    out->placement.peer_access = out->placement.pinned = out->placement.graph = MGB_CHOICE_AUTO;
}

void hand_plan_done(struct hand_plan *hand)
{
    struct mgb_plan *plan = &hand->plan;
    mgb_release(plan->tasks);
    mgb_release(plan->buffers);
    mgb_release(plan->operands);
    mgb_release(plan->waits);
    mgb_release(plan->towers);
    mgb_release(plan->classes);
    mgb_release(plan->uses);
    mgb_topology_done(&hand->topology);
}
