/* Routes over the wires of a machine: breadth first, and of the routes with the fewest wires the widest. */
#include "engine/topo/machine.h"

#include "engine/base/memory.h"
#include <stdio.h>
#include <string.h>

enum mgb_status mgb_machine_ends_make(struct mgb_machine_ends **out,
                                      const struct mgb_machine *machine)
{
    int count = machine->device_count + machine->switch_count;
    struct mgb_machine_ends *ends = *out = mgb_alloc(sizeof *ends);
    if (ends) {
        ends->count = count;
        ends->first = mgb_alloc(((size_t)count + 2) * sizeof *ends->first);
        ends->wires = mgb_alloc((2 * (size_t)machine->wire_count + 1) * sizeof *ends->wires);
    }
    if (!ends || !ends->first || !ends->wires)
        return mgb_fail(MGB_NO_MEMORY, "machine '%s': memory is exhausted", machine->name);
    /* Counted one place further on, so that filling moves each start to where it belongs. */
    for (int i = 0; i < machine->wire_count; i++) {
        ends->first[machine->wires[i].a + 2]++;
        ends->first[machine->wires[i].b + 2]++;
    }
    for (int i = 2; i <= count; i++)
        ends->first[i] += ends->first[i - 1];
    for (int i = 0; i < machine->wire_count; i++) {
        ends->wires[ends->first[machine->wires[i].a + 1]++] = i;
        ends->wires[ends->first[machine->wires[i].b + 1]++] = i;
    }
    return MGB_OK;
}

void mgb_machine_ends_free(struct mgb_machine_ends *ends)
{
    if (!ends)
        return;
    mgb_release(ends->first);
    mgb_release(ends->wires);
    mgb_release(ends);
}

static bool is_gpu(const struct mgb_machine *machine, int end)
{
    return end < machine->device_count && machine->devices[end].device.name.kind == MGB_DEVICE_GPU;
}

static int other_end(const struct mgb_machine_wire *wire, int end)
{
    return wire->a == end ? wire->b : wire->a;
}

/* A network joins hosts; a GPU belongs to one, and joins it to nothing. */
static int node_flood(int *node, int *queue, const struct mgb_machine *machine, int from,
                      int number)
{
    int length = 0;
    node[from] = number;
    queue[length++] = from;
    for (int i = 0; i < length; i++) {
        if (i > 0 && is_gpu(machine, queue[i]))
            continue;
        for (int w = machine->ends->first[queue[i]]; w < machine->ends->first[queue[i] + 1]; w++) {
            const struct mgb_machine_wire *wire = &machine->wires[machine->ends->wires[w]];
            int next = other_end(wire, queue[i]);
            if (strcmp(wire->kind, "network") == 0 || node[next] >= 0)
                continue;
            node[next] = number;
            queue[length++] = next;
        }
    }
    return length;
}

int mgb_machine_nodes(int *node, const struct mgb_machine *machine)
{
    int *queue = mgb_alloc((size_t)machine->ends->count * sizeof *queue), count = 0;
    if (!queue)
        return -1;
    for (int i = 0; i < machine->ends->count; i++)
        node[i] = -1;
    for (int i = 0; i < machine->device_count; i++)
        if (node[i] < 0)
            node_flood(node, queue, machine, i, count++);
    mgb_release(queue);
    return count;
}

enum mgb_status mgb_machine_search_make(struct mgb_machine_search *out,
                                        const struct mgb_machine *machine)
{
    size_t count = (size_t)machine->device_count + (size_t)machine->switch_count;
    *out = (struct mgb_machine_search){
        mgb_alloc(count * sizeof *out->level), mgb_alloc(count * sizeof *out->via),
        mgb_alloc(count * sizeof *out->queue), mgb_alloc(count * sizeof *out->gbps),
        mgb_alloc(count * sizeof *out->latency_us)};
    if (out->level && out->via && out->queue && out->gbps && out->latency_us)
        return MGB_OK;
    mgb_machine_search_done(out);
    return mgb_fail(MGB_NO_MEMORY, "machine '%s': memory is exhausted", machine->name);
}

void mgb_machine_search_done(struct mgb_machine_search *search)
{
    mgb_release(search->level);
    mgb_release(search->via);
    mgb_release(search->queue);
    mgb_release(search->gbps);
    mgb_release(search->latency_us);
    *search = (struct mgb_machine_search){0};
}

/* Goes along a wire; the first way to reach an end stays unless another of as many wires is wider. */
static void wire_pass(struct mgb_machine_search *s, int *length, const struct mgb_machine *machine,
                      int at, int number)
{
    const struct mgb_machine_wire *wire = &machine->wires[number];
    bool back = wire->b == at;
    int next = back ? wire->a : wire->b;
    double gbps = back ? wire->back_gbps : wire->gbps;
    if (s->level[at] > 0 && s->gbps[at] < gbps)
        gbps = s->gbps[at];
    if (s->level[next] < 0) {
        s->level[next] = s->level[at] + 1;
        s->queue[(*length)++] = next;
    } else if (s->level[next] != s->level[at] + 1 || gbps <= s->gbps[next]) {
        return;
    }
    s->gbps[next] = gbps;
    s->latency_us[next] = s->latency_us[at] + wire->latency_us;
    s->via[next] = number * 2 + back;
}

void mgb_machine_search_run(struct mgb_machine_search *search, const struct mgb_machine *machine,
                            int from, int to)
{
    const struct mgb_machine_ends *ends = machine->ends;
    int length = 0;
    for (int i = 0; i < ends->count; i++)
        search->level[i] = -1;
    search->level[from] = 0;
    search->gbps[from] = search->latency_us[from] = 0;
    search->queue[length++] = from;
    for (int i = 0; i < length; i++) {
        int at = search->queue[i];
        if (to >= 0 && search->level[to] >= 0 && search->level[at] >= search->level[to])
            return;
        if (at != from && is_gpu(machine, at))
            continue;
        for (int w = ends->first[at]; w < ends->first[at + 1]; w++)
            wire_pass(search, &length, machine, at, ends->wires[w]);
    }
}

char *mgb_machine_end_name(char out[MGB_DEVICE_NAME_MAX], const struct mgb_machine *machine,
                           int end)
{
    if (end >= 0 && end < machine->device_count)
        return mgb_device_format(out, machine->devices[end].device.name);
    if (end >= machine->device_count && end < machine->device_count + machine->switch_count)
        snprintf(out, MGB_DEVICE_NAME_MAX, "%.31s", machine->switches[end - machine->device_count]);
    else
        snprintf(out, MGB_DEVICE_NAME_MAX, "end %d", end);
    return out;
}

static enum mgb_status route_fail(enum mgb_status status, const struct mgb_machine *machine,
                                  int from, int to, const char *what)
{
    char one[MGB_DEVICE_NAME_MAX], two[MGB_DEVICE_NAME_MAX];
    return mgb_fail(status, "machine '%s': %s from %s to %s", machine->name, what,
                    mgb_machine_end_name(one, machine, from),
                    mgb_machine_end_name(two, machine, to));
}

/* The search knows each end's last wire: read backwards. */
static enum mgb_status route_read(struct mgb_route *out, const struct mgb_machine *machine,
                                  const struct mgb_machine_search *search, int from, int to)
{
    int at = to;
    if (search->level[to] < 0)
        return route_fail(MGB_MISSING, machine, from, to, "no wires lead");
    if (search->level[to] > MGB_ROUTE_MOST)
        return route_fail(MGB_UNSUPPORTED, machine, from, to, "more than 16 wires lead");
    out->count = search->level[to];
    out->gbps = search->gbps[to];
    out->latency_us = search->latency_us[to];
    for (int i = out->count - 1; i >= 0; i--) {
        out->wires[i] = search->via[at];
        const struct mgb_machine_wire *wire = &machine->wires[search->via[at] / 2];
        at = search->via[at] % 2 ? wire->b : wire->a;
    }
    return MGB_OK;
}

enum mgb_status mgb_machine_route(struct mgb_route *out, const struct mgb_machine *machine,
                                  int from, int to)
{
    struct mgb_machine_search search;
    *out = (struct mgb_route){0};
    if (!machine->ends)
        return mgb_fail(MGB_STATE, "machine '%s': a route before the check", machine->name);
    if (from < 0 || to < 0 || from >= machine->device_count || to >= machine->device_count)
        return route_fail(MGB_INVALID, machine, from, to, "a route between devices wanted");
    if (mgb_machine_route_near(out, machine, from, to))
        return MGB_OK;
    *out = (struct mgb_route){0};
    MGB_TRY(mgb_machine_search_make(&search, machine));
    mgb_machine_search_run(&search, machine, from, to);
    enum mgb_status status = route_read(out, machine, &search, from, to);
    mgb_machine_search_done(&search);
    return status;
}
