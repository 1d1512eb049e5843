/* Switches, wires and pairs of a machine: the part of its check that is about what joins devices. */
#include "engine/topo/machine_check.h"

#include "engine/base/memory.h"
#include <mgb/name.h>
#include <stdlib.h>
#include <string.h>

/* Deeper machines would have routes of more than MGB_ROUTE_MOST wires. */
#define DEPTH_MOST (MGB_ROUTE_MOST / 2)

static int switch_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum mgb_status switches_check(const struct mgb_machine *machine)
{
    const char **names;
    if (machine->switch_count < 0 || machine->switch_count > MGB_MACHINE_WIRES_MOST)
        return mgb_fail(MGB_INVALID, "machine '%s': at most %d switches expected, got %d",
                        machine->name, MGB_MACHINE_WIRES_MOST, machine->switch_count);
    names = mgb_alloc(((size_t)machine->switch_count + 1) * sizeof *names);
    if (!names)
        return mgb_fail(MGB_NO_MEMORY, "machine '%s': memory is exhausted", machine->name);
    enum mgb_status status = MGB_OK;
    for (int i = 0; i < machine->switch_count && status == MGB_OK; i++) {
        names[i] = machine->switches[i];
        if (!memchr(names[i], '\0', sizeof machine->switches[i]))
            status = mgb_fail(MGB_INVALID, "a switch's name does not end");
        else
            status = mgb_name_check("a switch's name", names[i]);
    }
    if (status != MGB_OK)
        mgb_fail_in(status, "machine '%s'", machine->name);
    else
        qsort(names, (size_t)machine->switch_count, sizeof *names, switch_order);
    for (int i = 1; i < machine->switch_count && status == MGB_OK; i++)
        if (strcmp(names[i], names[i - 1]) == 0)
            status = mgb_fail(MGB_INVALID, "machine '%s': switch '%s' is there twice",
                              machine->name, names[i]);
    mgb_release(names);
    return status;
}

/* "/cpu:0 - sw0" into `out`; returns it. */
static char *ends_text(char out[2 * MGB_DEVICE_NAME_MAX + 4], const struct mgb_machine *machine,
                       int a, int b)
{
    mgb_machine_end_name(out, machine, a);
    strcat(out, " - ");
    mgb_machine_end_name(out + strlen(out), machine, b);
    return out;
}

static enum mgb_status wire_check(const struct mgb_machine *machine, struct mgb_machine_wire *wire)
{
    char where[2 * MGB_DEVICE_NAME_MAX + 4];
    int ends = machine->device_count + machine->switch_count;
    ends_text(where, machine, wire->a, wire->b);
    if (wire->a < 0 || wire->b < 0 || wire->a >= ends || wire->b >= ends || wire->a == wire->b)
        return mgb_fail(MGB_INVALID,
                        "machine '%s': links: a wire between two ends expected, got %s",
                        machine->name, where);
    if (!memchr(wire->kind, '\0', sizeof wire->kind))
        return mgb_fail(MGB_INVALID, "machine '%s': %s: the kind of the wire does not end",
                        machine->name, where);
    if (!*wire->kind)
        memcpy(wire->kind, "pcie", sizeof "pcie");
    wire->back_gbps = wire->back_gbps == 0 ? wire->gbps : wire->back_gbps;
    const struct mgb_machine_bound bounds[] = {{"gbps", wire->gbps, 1e-6, 1e6},
                                               {"back_gbps", wire->back_gbps, 1e-6, 1e6},
                                               {"latency_us", wire->latency_us, 0, 1e6},
                                               {NULL, 0, 0, 0}};
    return mgb_machine_check_numbers(machine, where, bounds);
}

static uint64_t wire_key(const struct mgb_machine_wire *wire)
{
    uint32_t low = (uint32_t)(wire->a < wire->b ? wire->a : wire->b);
    uint32_t high = (uint32_t)(wire->a < wire->b ? wire->b : wire->a);
    return (uint64_t)low << 32 | high;
}

/* Routes take one wire of two beside each other: who has two says so in its speed. */
static enum mgb_status wires_check_once(const struct mgb_machine *machine)
{
    char where[2 * MGB_DEVICE_NAME_MAX + 4];
    uint64_t *keys = mgb_alloc(((size_t)machine->wire_count + 1) * sizeof *keys);
    if (!keys)
        return mgb_fail(MGB_NO_MEMORY, "machine '%s': memory is exhausted", machine->name);
    for (int i = 0; i < machine->wire_count; i++)
        keys[i] = wire_key(&machine->wires[i]);
    qsort(keys, (size_t)machine->wire_count, sizeof *keys, mgb_machine_key_order);
    enum mgb_status status = MGB_OK;
    for (int i = 1; i < machine->wire_count && status == MGB_OK; i++)
        if (keys[i] == keys[i - 1])
            status = mgb_fail(
                MGB_INVALID,
                "machine '%s': links: %s is there twice; give one wire with the speed "
                "of both",
                machine->name,
                ends_text(where, machine, (int)(keys[i] >> 32), (int)(keys[i] & 0xffffffff)));
    mgb_release(keys);
    return status;
}

static enum mgb_status wires_check(struct mgb_machine *machine)
{
    if (machine->wire_count < 0 || machine->wire_count > MGB_MACHINE_WIRES_MOST)
        return mgb_fail(MGB_INVALID, "machine '%s': at most %d links expected, got %d",
                        machine->name, MGB_MACHINE_WIRES_MOST, machine->wire_count);
    for (int i = 0; i < machine->wire_count; i++)
        MGB_TRY(wire_check(machine, &machine->wires[i]));
    return wires_check_once(machine);
}

static enum mgb_status levels_check(const struct mgb_machine *machine, const int *level)
{
    char name[MGB_DEVICE_NAME_MAX];
    for (int i = 0; i < machine->device_count + machine->switch_count; i++) {
        bool is_device = i < machine->device_count;
        mgb_machine_end_name(name, machine, i);
        if (level[i] < 0 && is_device)
            return mgb_fail(MGB_INVALID, "machine '%s': links: %s is not connected with /cpu:0%s",
                            machine->name, name,
                            machine->wire_count ? ", at least not other than through a GPU" : "");
        if (!is_device && machine->ends->first[i] == machine->ends->first[i + 1])
            return mgb_fail(MGB_INVALID, "machine '%s': links: no wire leads to switch '%s'",
                            machine->name, name);
        if (is_device && level[i] > DEPTH_MOST)
            return mgb_fail(MGB_INVALID,
                            "machine '%s': links: %s is %d wires from /cpu:0, more than %d",
                            machine->name, name, level[i], DEPTH_MOST);
    }
    return MGB_OK;
}

static enum mgb_status nodes_number(struct mgb_machine *machine)
{
    int *node = mgb_alloc((size_t)machine->ends->count * sizeof *node);
    machine->node_count = node ? mgb_machine_nodes(node, machine) : -1;
    for (int i = 0; i < machine->device_count && machine->node_count >= 0; i++)
        machine->devices[i].node = node[i];
    mgb_release(node);
    if (machine->node_count < 0)
        return mgb_fail(MGB_NO_MEMORY, "machine '%s': memory is exhausted", machine->name);
    return MGB_OK;
}

static enum mgb_status connections_check(struct mgb_machine *machine)
{
    struct mgb_machine_search search;
    mgb_machine_ends_free(machine->ends);
    MGB_TRY(mgb_machine_ends_make(&machine->ends, machine));
    MGB_TRY(mgb_machine_search_make(&search, machine));
    mgb_machine_search_run(&search, machine, 0, -1);
    enum mgb_status status = levels_check(machine, search.level);
    mgb_machine_search_done(&search);
    MGB_TRY(status);
    return nodes_number(machine);
}

static enum mgb_status pair_check(const struct mgb_machine *machine,
                                  const struct mgb_machine_pair *pair)
{
    char where[2 * MGB_DEVICE_NAME_MAX + 4];
    const int ends[] = {pair->from, pair->to};
    ends_text(where, machine, pair->from, pair->to);
    for (int i = 0; i < 2; i++)
        if (ends[i] < 0 || ends[i] >= machine->device_count ||
            machine->devices[ends[i]].device.name.kind != MGB_DEVICE_GPU || ends[0] == ends[1])
            return mgb_fail(MGB_INVALID, "machine '%s': peers: two GPUs expected, got %s",
                            machine->name, where);
    const struct mgb_machine_bound bounds[] = {{"on.gbps", pair->on_gbps, 0, 1e6},
                                               {"on.latency_us", pair->on_latency_us, 0, 1e6},
                                               {"off.gbps", pair->off_gbps, 0, 1e6},
                                               {"off.latency_us", pair->off_latency_us, 0, 1e6},
                                               {NULL, 0, 0, 0}};
    return mgb_machine_check_numbers(machine, where, bounds);
}

static enum mgb_status pairs_check(struct mgb_machine *machine)
{
    char where[2 * MGB_DEVICE_NAME_MAX + 4];
    struct mgb_machine_pair *pairs = machine->pairs;
    if (machine->pair_count < 0 || machine->pair_count > MGB_MACHINE_WIRES_MOST)
        return mgb_fail(MGB_INVALID, "machine '%s': at most %d peers expected, got %d",
                        machine->name, MGB_MACHINE_WIRES_MOST, machine->pair_count);
    for (int i = 0; i < machine->pair_count; i++)
        MGB_TRY(pair_check(machine, &pairs[i]));
    if (machine->pair_count > 0)
        qsort(pairs, (size_t)machine->pair_count, sizeof *pairs, mgb_machine_pair_order);
    for (int i = 1; i < machine->pair_count; i++)
        if (mgb_machine_pair_order(&pairs[i], &pairs[i - 1]) == 0)
            return mgb_fail(MGB_INVALID, "machine '%s': peers: %s is given twice", machine->name,
                            ends_text(where, machine, pairs[i].from, pairs[i].to));
    return MGB_OK;
}

enum mgb_status mgb_machine_check_ways(struct mgb_machine *machine)
{
    MGB_TRY(switches_check(machine));
    MGB_TRY(wires_check(machine));
    MGB_TRY(connections_check(machine));
    return pairs_check(machine);
}
