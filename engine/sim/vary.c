/* A machine with its figures drawn within what is known of them: for the interval of a prediction. One draw is of a machine
 * that could be, whatever is played on it: placements are compared draw by draw. */
#include "engine/sim/sim.h"

#include "engine/base/hash.h"
#include "engine/plan/build.h"
#include <string.h>

/* One factor for all that shares a name: GPUs of a kind, wires of a kind. */
static double factor_draw(double doubt, const char *name, uint64_t seed, uint64_t number)
{
    return mgb_sim_draw(doubt, seed, mgb_hash(0, name, strlen(name)), number);
}

static enum mgb_status list_copy(void *list, size_t bytes)
{
    void **at = list;
    if (bytes == 0)
        return MGB_OK;
    void *copy = mgb_alloc(bytes);
    if (!copy)
        return mgb_fail(MGB_NO_MEMORY, "drawing a machine: the host's memory is exhausted");
    memcpy(copy, *at, bytes);
    *at = copy;
    return MGB_OK;
}

/* On success all three lists are the machine's own. */
static enum mgb_status lists_copy(struct mgb_machine *m)
{
    struct mgb_machine_device *devices = m->devices;
    struct mgb_machine_wire *wires = m->wires;
    struct mgb_machine_pair *pairs = m->pairs;
    MGB_TRY(list_copy(&devices, (size_t)m->device_count * sizeof *devices));
    enum mgb_status status = list_copy(&wires, (size_t)m->wire_count * sizeof *wires);
    if (status != MGB_OK) {
        mgb_release(devices);
        return status;
    }
    status = list_copy(&pairs, (size_t)m->pair_count * sizeof *pairs);
    if (status != MGB_OK) {
        mgb_release(devices);
        if (m->wire_count > 0)
            mgb_release(wires);
        return status;
    }
    m->devices = devices;
    m->wires = wires;
    m->pairs = pairs;
    return MGB_OK;
}

static void devices_vary(struct mgb_machine *m, const struct mgb_sim_doubt *doubt, uint64_t seed,
                         uint64_t number)
{
    for (int i = 0; i < m->device_count; i++) {
        struct mgb_machine_device *d = &m->devices[i];
        double share = i == MGB_HOST_DEVICE ? doubt->host : doubt->compute;
        d->speed =
            (d->speed > 0 ? d->speed : 1) * factor_draw(share, d->device.label, seed, number);
    }
}

static void ways_vary(struct mgb_machine *m, const struct mgb_sim_doubt *doubt, uint64_t seed,
                      uint64_t number)
{
    for (int i = 0; i < m->wire_count; i++) {
        struct mgb_machine_wire *w = &m->wires[i];
        double factor = factor_draw(doubt->wires, w->kind, seed, number);
        w->gbps *= factor;
        w->back_gbps *= factor;
        w->latency_us /= factor;
    }
    double on = factor_draw(doubt->wires, "peer", seed, number);
    double off = factor_draw(doubt->wires, "staged", seed, number);
    for (int i = 0; i < m->pair_count; i++) {
        struct mgb_machine_pair *p = &m->pairs[i];
        p->on_gbps *= on;
        p->on_latency_us /= on;
        p->off_gbps *= off;
        p->off_latency_us /= off;
    }
    double meets = factor_draw(doubt->wires, "collective", seed, number);
    m->collective.start_us /= meets;
    m->collective.hop_us /= meets;
    m->collective.network_hop_us /= meets;
    m->collective.switch_gbps *= meets;
}

static void host_vary(struct mgb_machine_host *host, double doubt, uint64_t seed, uint64_t number)
{
    double memory = factor_draw(doubt, "host memory", seed, number);
    double thread = factor_draw(doubt, "host thread", seed, number);
    host->memory_gbps *= memory;
    host->reduce_gbps *= memory;
    host->pageable_gbps *= memory;
    host->submit_us /= thread;
    host->step_us /= thread;
}

enum mgb_status mgb_sim_vary(struct mgb_machine **out, const struct mgb_machine *machine,
                             const struct mgb_sim_doubt *doubt, uint64_t seed, uint64_t number)
{
    struct mgb_machine *varied = mgb_alloc(sizeof *varied);
    if (!varied)
        return mgb_fail(MGB_NO_MEMORY, "drawing a machine: the host's memory is exhausted");
    *varied = *machine;
    enum mgb_status status = lists_copy(varied);
    if (status != MGB_OK) {
        mgb_release(varied);
        return status;
    }
    devices_vary(varied, doubt, seed, number);
    ways_vary(varied, doubt, seed, number);
    host_vary(&varied->host, doubt->host, seed, number);
    *out = varied;
    return MGB_OK;
}

void mgb_sim_vary_end(struct mgb_machine *machine)
{
    if (!machine)
        return;
    mgb_release(machine->devices);
    if (machine->wire_count > 0)
        mgb_release(machine->wires);
    if (machine->pair_count > 0)
        mgb_release(machine->pairs);
    mgb_release(machine);
}
