/* Machines as plain data: freeing, telling apart, and what the planner sees of one. */
#include "engine/topo/machine.h"

#include "engine/base/hash.h"
#include "engine/base/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *mgb_machine_block(size_t bytes)
{
    return mgb_alloc(bytes);
}

void mgb_machine_free(struct mgb_machine *machine)
{
    if (!machine)
        return;
    for (int i = 0; i < machine->device_count && machine->devices; i++)
        if (i == 0 || machine->devices[i].factors != machine->devices[i - 1].factors)
            mgb_release(machine->devices[i].factors);
    mgb_release(machine->source);
    mgb_release(machine->file);
    mgb_release(machine->devices);
    mgb_release(machine->switches);
    mgb_release(machine->wires);
    mgb_release(machine->pairs);
    mgb_release(machine->costs);
    mgb_machine_ends_free(machine->ends);
    mgb_release(machine);
}

/* Field by field: the bytes between fields say nothing. */
static void text_hash(uint64_t *hash, const char *text)
{
    *hash = mgb_hash(*hash, text, strlen(text) + 1);
}

static void numbers_hash(uint64_t *hash, const double *numbers, int count)
{
    *hash = mgb_hash(*hash, numbers, (size_t)count * sizeof *numbers);
}

static void curve_hash(uint64_t *hash, const struct mgb_curve *curve)
{
    numbers_hash(hash, &(double){curve->count}, 1);
    numbers_hash(hash, curve->at, curve->count);
    numbers_hash(hash, curve->value, curve->count);
}

static void device_hash(uint64_t *hash, const struct mgb_machine_device *d)
{
    char name[MGB_DEVICE_NAME_MAX];
    text_hash(hash, mgb_device_format(name, d->device.name));
    text_hash(hash, d->device.label);
    const double numbers[] = {(double)d->device.memory_bytes,
                              d->device.cores,
                              d->tflops[0],
                              d->tflops[1],
                              d->tflops[2],
                              d->tflops[3],
                              d->memory_gbps,
                              d->launch_us,
                              d->copies_in,
                              d->copies_out,
                              d->one_engine,
                              d->board,
                              d->board_speed,
                              d->speed,
                              d->factor_count};
    numbers_hash(hash, numbers, sizeof numbers / sizeof *numbers);
    curve_hash(hash, &d->compute);
    curve_hash(hash, &d->memory);
    for (int i = 0; i < d->factor_count; i++) {
        text_hash(hash, d->factors[i].kind);
        numbers_hash(hash, &d->factors[i].speed, 1);
    }
}

static void ways_hash(uint64_t *hash, const struct mgb_machine *m)
{
    for (int i = 0; i < m->switch_count; i++)
        text_hash(hash, m->switches[i]);
    for (int i = 0; i < m->wire_count; i++) {
        const struct mgb_machine_wire *w = &m->wires[i];
        numbers_hash(hash, (const double[]){w->a, w->b, w->gbps, w->back_gbps, w->latency_us}, 5);
        text_hash(hash, w->kind);
    }
    for (int i = 0; i < m->pair_count; i++) {
        const struct mgb_machine_pair *p = &m->pairs[i];
        numbers_hash(hash,
                     (const double[]){p->from, p->to, p->no_peer, p->on_gbps, p->on_latency_us,
                                      p->off_gbps, p->off_latency_us},
                     7);
    }
}

uint64_t mgb_machine_digest(const struct mgb_machine *m)
{
    uint64_t hash = 0;
    const struct mgb_machine_host *h = &m->host;
    const struct mgb_machine_collective *c = &m->collective;
    const double numbers[] = {h->cores,         h->core_total,  h->memory_gbps,    h->reduce_gbps,
                              h->pageable_gbps, h->submit_us,   h->step_us,        h->copy_waits,
                              c->start_us,      c->hop_us,      c->network_hop_us, c->ring_share,
                              c->tree_share,    c->switch_gbps, c->compute_share,  h->inputs_ready,
                              h->sums_apart,    m->cpu_devices, m->device_sigma,   m->step_sigma,
                              m->uncertainty};
    text_hash(&hash, m->name);
    numbers_hash(&hash, numbers, sizeof numbers / sizeof *numbers);
    for (int i = 0; i < m->device_count; i++)
        device_hash(&hash, &m->devices[i]);
    ways_hash(&hash, m);
    for (int i = 0; i < m->cost_count; i++) {
        const struct mgb_machine_cost *k = &m->costs[i];
        hash = mgb_hash(hash, &k->signature, sizeof k->signature);
        numbers_hash(&hash, (const double[]){(double)k->rows, k->threads, k->ns}, 3);
    }
    return hash;
}

int mgb_machine_pair_order(const void *a, const void *b)
{
    const struct mgb_machine_pair *one = a, *two = b;
    int order = (one->from > two->from) - (one->from < two->from);
    return order ? order : (one->to > two->to) - (one->to < two->to);
}

const struct mgb_machine_pair *mgb_machine_find_pair(const struct mgb_machine *machine, int from,
                                                     int to)
{
    struct mgb_machine_pair key = {.from = from, .to = to};
    if (machine->pair_count == 0)
        return NULL;
    return bsearch(&key, machine->pairs, (size_t)machine->pair_count, sizeof key,
                   mgb_machine_pair_order);
}

/* Both ways between two GPUs; `link` holds what the route says. */
static void link_peer(struct mgb_link *link, const struct mgb_machine *machine,
                      const struct mgb_machine_search *here, const struct mgb_machine_search *host)
{
    const struct mgb_machine_pair *pair = mgb_machine_find_pair(machine, link->from, link->to);
    double there = host->gbps[link->to], away = here->gbps[0];
    link->staged_gbps = away < there ? away : there;
    link->staged_latency_us = here->latency_us[0] + host->latency_us[link->to];
    if (pair && pair->off_gbps > 0)
        link->staged_gbps = pair->off_gbps;
    if (pair && pair->off_latency_us > 0)
        link->staged_latency_us = pair->off_latency_us;
    link->peer = !pair || !pair->no_peer;
    if (link->peer) {
        link->peer_gbps = pair && pair->on_gbps > 0 ? pair->on_gbps : link->gbps;
        link->peer_latency_us =
            pair && pair->on_latency_us > 0 ? pair->on_latency_us : link->latency_us;
        link->verdict = link->peer_gbps < link->staged_gbps ? MGB_PEER_SLOW : MGB_PEER_GOOD;
    }
    link->direct = link->verdict == MGB_PEER_GOOD;
    link->gbps = link->direct ? link->peer_gbps : link->staged_gbps;
    link->latency_us = link->direct ? link->peer_latency_us : link->staged_latency_us;
}

static void links_from(struct mgb_topology *out, const struct mgb_machine *machine, int from,
                       struct mgb_machine_search *here, const struct mgb_machine_search *host)
{
    mgb_machine_search_run(here, machine, from, -1);
    for (int to = 0; to < machine->device_count; to++) {
        if (to == from)
            continue;
        struct mgb_link *link = &out->links[out->link_count++];
        *link = (struct mgb_link){
            .from = from, .to = to, .gbps = here->gbps[to], .latency_us = here->latency_us[to]};
        if (machine->devices[from].device.name.kind == MGB_DEVICE_GPU &&
            machine->devices[to].device.name.kind == MGB_DEVICE_GPU)
            link_peer(link, machine, here, host);
    }
}

/* Of a GPU of a large machine: the way to /cpu:0 alone. */
static enum mgb_status link_home(struct mgb_topology *out, const struct mgb_machine *machine,
                                 int from)
{
    struct mgb_route route;
    MGB_TRY(mgb_machine_route(&route, machine, from, 0));
    out->links[out->link_count++] = (struct mgb_link){
        .from = from, .to = 0, .gbps = route.gbps, .latency_us = route.latency_us};
    return MGB_OK;
}

static enum mgb_status topology_fill(struct mgb_topology *out, const struct mgb_machine *machine)
{
    struct mgb_machine_search here, host = {0};
    MGB_TRY(mgb_machine_search_make(&here, machine));
    enum mgb_status status = mgb_machine_search_make(&host, machine);
    if (status == MGB_OK) {
        mgb_machine_search_run(&host, machine, 0, -1);
        bool paired = machine->device_count <= MGB_MACHINE_PAIRED;
        for (int i = 0; i < machine->device_count && status == MGB_OK; i++) {
            out->devices[i] = machine->devices[i].device;
            if (paired || i == 0)
                links_from(out, machine, i, &here, &host);
            else
                status = link_home(out, machine, i);
        }
    }
    mgb_machine_search_done(&here);
    mgb_machine_search_done(&host);
    return status;
}

enum mgb_status mgb_machine_topology(struct mgb_topology *out, const struct mgb_machine *machine)
{
    size_t devices = (size_t)machine->device_count;
    size_t links =
        machine->device_count <= MGB_MACHINE_PAIRED ? devices * (devices - 1) : 2 * (devices - 1);
    *out = (struct mgb_topology){.device_count = machine->device_count};
    if (!machine->ends)
        return mgb_fail(MGB_STATE, "machine '%s': its topology before the check", machine->name);
    snprintf(out->machine, sizeof out->machine, "%s", machine->name);
    out->devices = mgb_alloc(devices * sizeof *out->devices);
    out->links = mgb_alloc((links + 1) * sizeof *out->links);
    enum mgb_status status =
        out->devices && out->links
            ? topology_fill(out, machine)
            : mgb_fail(MGB_NO_MEMORY, "machine '%s': memory is exhausted", machine->name);
    if (status != MGB_OK)
        mgb_topology_done(out);
    return status;
}
