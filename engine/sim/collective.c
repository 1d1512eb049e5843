/* Times of all-reduces by formula: latency a hop and bytes over the narrowest place (shared/reference/simulation.md 2.4).
 * Its bytes are not shared with copies that go on beside it. */
#include "engine/sim/path.h"

#include <stdlib.h>
#include <string.h>

static int device_order(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* Wires that several neighbours use in one direction are divided among them. */
struct narrows {
    const struct mgb_sim *sim;
    const struct mgb_sim_how *how;
    const int *devices; /* of the ring */
    int count;
    int *passed;                /* by resource: how often a byte of the ring passes it at once */
    struct mgb_sim_path *paths; /* to the next neighbour */
};

static bool is_between_hosts(const struct narrows *n, int i)
{
    const struct mgb_machine_device *devices = n->sim->machine->devices;
    return devices[n->devices[i]].node != devices[n->devices[(i + 1) % n->count]].node;
}

static enum mgb_status paths_count(struct narrows *n)
{
    for (int i = 0; i < n->count; i++) {
        struct mgb_sim_path *path = &n->paths[i];
        MGB_TRY(
            mgb_sim_path_make(path, n->sim, n->how, n->devices[i], n->devices[(i + 1) % n->count]));
        for (int k = 0; k < path->use_count; k++)
            n->passed[path->uses[k].resource] += path->uses[k].times;
    }
    return MGB_OK;
}

static void paths_narrow(const struct narrows *n, struct mgb_sim_ring *ring)
{
    const struct mgb_machine *machine = n->sim->machine;
    for (int i = 0; i < n->count; i++) {
        const struct mgb_sim_path *path = &n->paths[i];
        double rate = path->rate;
        for (int k = 0; k < path->use_count; k++) {
            int64_t capacity = mgb_sim_capacity(machine, path->uses[k].resource);
            int passed = n->passed[path->uses[k].resource];
            if (passed == 0 || capacity == INT64_MAX)
                continue;
            double share = (double)capacity / 1e9 / passed;
            rate = share < rate ? share : rate;
        }
        double *side = is_between_hosts(n, i) ? &ring->network_rate : &ring->inside_rate;
        *side = rate < *side ? rate : *side;
        ring->rate = rate < ring->rate ? rate : ring->rate;
    }
}

/* Devices are in order of index; those of a host follow each other. */
static void hosts_count(const struct narrows *n, struct mgb_sim_ring *ring)
{
    int here = 0;
    for (int i = 0; i < n->count; i++) {
        bool first = i == 0 || is_between_hosts(n, i - 1);
        here = first ? 1 : here + 1;
        ring->nodes += first;
        ring->inside = here > ring->inside ? here : ring->inside;
    }
}

enum mgb_status mgb_sim_ring_make(struct mgb_sim_ring *out, const struct mgb_sim *sim,
                                  const struct mgb_sim_how *how, const struct mgb_plan *plan)
{
    int *devices = mgb_alloc((size_t)plan->tower_count * sizeof *devices);
    struct narrows n = {sim, how, devices, plan->tower_count, NULL, NULL};
    *out = (struct mgb_sim_ring){
        .count = n.count, .rate = 1e18, .network_rate = 1e18, .inside_rate = 1e18};
    n.passed = mgb_alloc((size_t)mgb_sim_resource_count(sim->machine) * sizeof *n.passed);
    n.paths = mgb_alloc((size_t)n.count * sizeof *n.paths);
    enum mgb_status status = MGB_OK;
    if (!devices || !n.passed || !n.paths) {
        status =
            mgb_fail(MGB_NO_MEMORY, "simulating an all-reduce: the host's memory is exhausted");
    } else {
        for (int t = 0; t < n.count; t++)
            devices[t] = plan->towers[t].device;
        qsort(devices, (size_t)n.count, sizeof *devices, device_order);
        hosts_count(&n, out);
        if (n.count > 1)
            status = paths_count(&n);
        if (n.count > 1 && status == MGB_OK)
            paths_narrow(&n, out);
    }
    mgb_release(devices);
    mgb_release(n.passed);
    mgb_release(n.paths);
    return status;
}

static int levels_of(int count)
{
    int levels = 0;
    while ((1 << levels) < count && levels < 30)
        levels++;
    return levels;
}

static double ring_ns(const struct mgb_sim_ring *ring, const struct mgb_machine *machine,
                      double bytes)
{
    const struct mgb_machine_collective *c = &machine->collective;
    double hop_us = ring->nodes > 1 ? c->network_hop_us : c->hop_us;
    double share = c->ring_share > 0 ? c->ring_share : 1;
    return c->start_us * 1e3 + 2.0 * (ring->count - 1) * hop_us * 1e3 +
           2.0 * (ring->count - 1) / ring->count * bytes / (ring->rate * share);
}

static double tree_ns(const struct mgb_sim_ring *ring, const struct mgb_machine *machine,
                      double bytes)
{
    const struct mgb_machine_collective *c = &machine->collective;
    double share = c->tree_share > 0 ? c->tree_share : 0.92;
    double hops_us = levels_of(ring->count) * c->hop_us;
    if (ring->nodes > 1)
        hops_us = levels_of(ring->inside) * c->hop_us + levels_of(ring->nodes) * c->network_hop_us;
    return c->start_us * 1e3 + 2 * hops_us * 1e3 + 2 * bytes / (ring->rate * share);
}

/* Switches add: one way up and one down. */
static double switch_ns(const struct mgb_sim_ring *ring, const struct mgb_machine *machine,
                        double bytes)
{
    const struct mgb_machine_collective *c = &machine->collective;
    return c->start_us * 1e3 + 2 * c->hop_us * 1e3 +
           2.0 * (ring->count - 1) / ring->count * bytes / c->switch_gbps;
}

/* Summed inside each host to its first GPU, among those in a ring, and spread inside again. */
static double hierarchical_ns(const struct mgb_sim_ring *ring, const struct mgb_machine *machine,
                              double bytes)
{
    const struct mgb_machine_collective *c = &machine->collective;
    double share = c->ring_share > 0 ? c->ring_share : 1;
    double inside = 0, between = 0;
    if (ring->inside > 1)
        inside = (ring->inside - 1) * c->hop_us * 1e3 + bytes / (ring->inside_rate * share);
    if (ring->nodes > 1)
        between = 2.0 * (ring->nodes - 1) * c->network_hop_us * 1e3 +
                  2.0 * (ring->nodes - 1) / ring->nodes * bytes / (ring->network_rate * share);
    return c->start_us * 1e3 + 2 * inside + between;
}

/* NCCL takes the fastest it knows by formulas like these. */
static double fastest_ns(const struct mgb_sim_ring *ring, const struct mgb_machine *machine,
                         double bytes)
{
    double best = ring_ns(ring, machine, bytes), tree = tree_ns(ring, machine, bytes);
    if (tree < best)
        best = tree;
    if (machine->collective.switch_gbps > 0 && ring->nodes == 1) {
        double by_switch = switch_ns(ring, machine, bytes);
        best = by_switch < best ? by_switch : best;
    }
    return best;
}

double mgb_sim_allreduce_ns(const struct mgb_sim_ring *ring, const struct mgb_machine *machine,
                            enum mgb_allreduce algorithm, int64_t bytes)
{
    if (ring->count < 2)
        return 0;
    switch (algorithm) {
    case MGB_ALLREDUCE_RING:
        return ring_ns(ring, machine, (double)bytes);
    case MGB_ALLREDUCE_TREE:
        return tree_ns(ring, machine, (double)bytes);
    case MGB_ALLREDUCE_HIERARCHICAL:
        return hierarchical_ns(ring, machine, (double)bytes);
    case MGB_ALLREDUCE_AUTO:
    case MGB_ALLREDUCE_NCCL:
        return fastest_ns(ring, machine, (double)bytes);
    }
    return 0;
}
