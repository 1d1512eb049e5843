/* How copies get from one device to another: which wires, how fast alone, what they share with others. Peer access on and
 * off are two figures, never one made of the other (shared/reference/simulation.md 2.2). */
#include "engine/sim/path.h"

#include "engine/plan/build.h"
#include "engine/topo/machine.h"
#include <string.h>

int mgb_sim_memory_resource(const struct mgb_machine *machine)
{
    return 2 * machine->wire_count;
}

int mgb_sim_core_resource(const struct mgb_machine *machine)
{
    return 2 * machine->wire_count + 1;
}

int mgb_sim_resource_count(const struct mgb_machine *machine)
{
    return 2 * machine->wire_count + 2;
}

static int64_t rate_amount(double gbps)
{
    return (int64_t)(gbps * 1e9 + 0.5);
}

int64_t mgb_sim_capacity(const struct mgb_machine *machine, int resource)
{
    const struct mgb_machine_host *host = &machine->host;
    if (resource == mgb_sim_memory_resource(machine))
        return host->memory_gbps > 0 ? rate_amount(host->memory_gbps) : INT64_MAX;
    if (resource == mgb_sim_core_resource(machine)) {
        double cores = host->core_total > 0 ? host->core_total : host->cores;
        return cores > 0 ? (int64_t)(cores * MGB_SIM_CORE + 0.5) : INT64_MAX;
    }
    const struct mgb_machine_wire *wire = &machine->wires[resource / 2];
    return rate_amount(resource % 2 && wire->back_gbps > 0 ? wire->back_gbps : wire->gbps);
}

/* A copy passes a resource so many times more. */
static void use_add(struct mgb_sim_path *path, int resource, int times)
{
    for (int i = 0; i < path->use_count; i++)
        if (path->uses[i].resource == resource) {
            path->uses[i].times += times;
            return;
        }
    path->uses[path->use_count++] = (struct mgb_sim_use){resource, times, 0};
}

static enum mgb_status route_add(struct mgb_sim_path *path, double *latency_us,
                                 const struct mgb_machine *machine, int from, int to)
{
    struct mgb_route route;
    MGB_TRY(mgb_machine_route(&route, machine, from, to));
    for (int i = 0; i < route.count; i++)
        use_add(path, route.wires[i], 1);
    *latency_us += route.latency_us;
    return MGB_OK;
}

/* No faster than what it passes lets it. */
static void rate_bound(struct mgb_sim_path *path, const struct mgb_machine *machine, double gbps)
{
    double rate = gbps > 0 ? gbps : 1e18;
    for (int i = 0; i < path->use_count; i++) {
        int64_t capacity = mgb_sim_capacity(machine, path->uses[i].resource);
        double most = (double)capacity / 1e9 / (double)path->uses[i].times;
        if (capacity != INT64_MAX && most < rate)
            rate = most;
    }
    path->rate = rate;
}

/* 1/B = 1/B of pinned memory + 1/B of the copy into it. */
static void pageable_bound(struct mgb_sim_path *path, const struct mgb_sim *sim,
                           const struct mgb_sim_how *how)
{
    double gbps = sim->machine->host.pageable_gbps;
    if (how->pinned == MGB_CHOICE_NO && gbps > 0 && !sim->machine->cpu_devices)
        path->rate = path->rate * gbps / (path->rate + gbps);
}

static void latency_set(struct mgb_sim_path *path, const struct mgb_machine *machine, int from,
                        int to, double latency_us)
{
    /* The GPU's engine copies: the sender's, where there are two. */
    int engine = from == MGB_HOST_DEVICE ? to : from;
    path->latency_ns = mgb_sim_round((machine->devices[engine].launch_us + latency_us) * 1e3);
}

static enum mgb_status direct_make(struct mgb_sim_path *out, const struct mgb_sim *sim,
                                   const struct mgb_sim_how *how, int from, int to)
{
    const struct mgb_machine *machine = sim->machine;
    const struct mgb_machine_pair *pair = mgb_machine_find_pair(machine, from, to);
    bool host = from == MGB_HOST_DEVICE || to == MGB_HOST_DEVICE;
    double latency_us = 0;
    *out = (struct mgb_sim_path){0};
    MGB_TRY(route_add(out, &latency_us, machine, from, to));
    if (host || machine->cpu_devices)
        use_add(out, mgb_sim_memory_resource(machine), 1);
    rate_bound(out, machine, pair ? pair->on_gbps : 0);
    if (host)
        pageable_bound(out, sim, how);
    latency_set(out, machine, from, to,
                pair && pair->on_latency_us > 0 ? pair->on_latency_us : latency_us);
    return MGB_OK;
}

static enum mgb_status staged_make(struct mgb_sim_path *out, const struct mgb_sim *sim,
                                   const struct mgb_sim_how *how, int from, int to)
{
    const struct mgb_machine *machine = sim->machine;
    const struct mgb_machine_pair *pair = mgb_machine_find_pair(machine, from, to);
    double latency_us = 0;
    *out = (struct mgb_sim_path){0};
    MGB_TRY(route_add(out, &latency_us, machine, from, MGB_HOST_DEVICE));
    MGB_TRY(route_add(out, &latency_us, machine, MGB_HOST_DEVICE, to));
    use_add(out, mgb_sim_memory_resource(machine), 2);
    rate_bound(out, machine, pair ? pair->off_gbps : 0);
    pageable_bound(out, sim, how);
    latency_set(out, machine, from, to,
                pair && pair->off_latency_us > 0 ? pair->off_latency_us : latency_us);
    return MGB_OK;
}

/* What it takes at its rate; on CPU devices a copy also takes a core. */
static void path_finish(struct mgb_sim_path *path, const struct mgb_machine *machine)
{
    int cores = mgb_sim_core_resource(machine);
    for (int i = 0; i < path->use_count; i++)
        path->uses[i].amount = rate_amount(path->rate * (double)path->uses[i].times);
    if (!machine->cpu_devices)
        return;
    int64_t capacity = mgb_sim_capacity(machine, cores);
    path->uses[path->use_count++] =
        (struct mgb_sim_use){cores, 0, capacity < MGB_SIM_CORE ? capacity : MGB_SIM_CORE};
}

/* Between GPUs that /cpu:0 is a host of, copies can go by way of it. */
static bool staging_possible(const struct mgb_machine *machine, int from, int to)
{
    int home = machine->devices[MGB_HOST_DEVICE].node;
    return from != MGB_HOST_DEVICE && to != MGB_HOST_DEVICE && !machine->cpu_devices &&
           machine->devices[from].node == home && machine->devices[to].node == home;
}

enum mgb_status mgb_sim_path_make(struct mgb_sim_path *out, const struct mgb_sim *sim,
                                  const struct mgb_sim_how *how, int from, int to)
{
    const struct mgb_machine *machine = sim->machine;
    const struct mgb_machine_pair *pair = mgb_machine_find_pair(machine, from, to);
    MGB_TRY(direct_make(out, sim, how, from, to));
    if (staging_possible(machine, from, to)) {
        bool never = how->peer == MGB_CHOICE_NO || (pair && pair->no_peer);
        struct mgb_sim_path staged;
        if (never || how->peer != MGB_CHOICE_YES) {
            MGB_TRY(staged_make(&staged, sim, how, from, to));
            if (never || staged.rate > out->rate)
                *out = staged;
        }
    }
    path_finish(out, machine);
    return MGB_OK;
}
