/* Routes of ends that are near each other on a large machine: searched from both ends, so that a switch which everything is
 * joined to is met and not gone through. Answers where there is one shortest route and few ends are looked at; the search
 * over the whole machine answers else. */
#include "engine/topo/machine.h"

#include <string.h>

#define NEAR_MOST 48    /* ends looked at from one side */
#define NEAR_WIRES 1024 /* wires passed by one side */

struct side {
    int count, level_begin; /* ends; where those of the newest level begin */
    int wires;              /* passed so far */
    int ends[NEAR_MOST];
    int via[NEAR_MOST];    /* wire by which it was reached first */
    int before[NEAR_MOST]; /* index of the end before it */
    int ways[NEAR_MOST];   /* shortest routes to it */
    int level[NEAR_MOST];
};

static int side_find(const struct side *side, int end)
{
    for (int i = 0; i < side->count; i++)
        if (side->ends[i] == end)
            return i;
    return -1;
}

static void side_begin(struct side *side, int end)
{
    side->count = 1;
    side->level_begin = side->wires = 0;
    side->ends[0] = end;
    side->via[0] = side->before[0] = -1;
    side->ways[0] = 1;
    side->level[0] = 0;
}

static int64_t side_cost(const struct side *side, const struct mgb_machine_ends *ends)
{
    int64_t wires = 0;
    for (int i = side->level_begin; i < side->count; i++)
        wires += ends->first[side->ends[i] + 1] - ends->first[side->ends[i]];
    return wires;
}

/* False: an end more than there is room for. */
static bool end_reach(struct side *side, int end, int wire, int before)
{
    int known = side_find(side, end);
    if (known >= 0) {
        if (side->level[known] == side->level[before] + 1)
            side->ways[known] += side->ways[before];
        return true;
    }
    if (side->count == NEAR_MOST)
        return false;
    int i = side->count++;
    side->ends[i] = end;
    side->via[i] = wire;
    side->before[i] = before;
    side->ways[i] = side->ways[before];
    side->level[i] = side->level[before] + 1;
    return true;
}

/* One level further; GPUs are not passed, so that only the two that are asked about are ever reached. */
static bool side_grow(struct side *side, const struct mgb_machine *machine, int target)
{
    const struct mgb_machine_ends *ends = machine->ends;
    int begin = side->level_begin, end = side->count;
    side->level_begin = end;
    for (int i = begin; i < end; i++) {
        int at = side->ends[i];
        side->wires += ends->first[at + 1] - ends->first[at];
        if (side->wires > NEAR_WIRES)
            return false;
        for (int w = ends->first[at]; w < ends->first[at + 1]; w++) {
            const struct mgb_machine_wire *wire = &machine->wires[ends->wires[w]];
            int next = wire->a == at ? wire->b : wire->a;
            bool gpu = next < machine->device_count &&
                       machine->devices[next].device.name.kind == MGB_DEVICE_GPU;
            if ((!gpu || next == target) && !end_reach(side, next, ends->wires[w], i))
                return false;
        }
    }
    return true;
}

/* Where the two sides meet, as index into `from`; -1: nowhere yet; -2: several shortest routes. */
static int sides_meet(const struct side *from, const struct side *to)
{
    int found = -1;
    for (int i = from->level_begin; i < from->count; i++) {
        int other = side_find(to, from->ends[i]);
        if (other < 0)
            continue;
        if (found >= 0 || from->ways[i] > 1 || to->ways[other] > 1)
            return -2;
        found = i;
    }
    return found;
}

static void wire_add(struct mgb_route *out, const struct mgb_machine *machine, int number, int at)
{
    const struct mgb_machine_wire *wire = &machine->wires[number];
    bool back = wire->b == at;
    double gbps = back ? wire->back_gbps : wire->gbps;
    out->gbps = out->count == 0 || gbps < out->gbps ? gbps : out->gbps;
    out->latency_us += wire->latency_us;
    out->wires[out->count++] = number * 2 + back;
}

static bool route_fill(struct mgb_route *out, const struct mgb_machine *machine,
                       const struct side *from, const struct side *to, int met)
{
    int other = side_find(to, from->ends[met]), path[NEAR_MOST], length = 0;
    if (from->level[met] + to->level[other] > MGB_ROUTE_MOST)
        return false;
    for (int i = met; from->before[i] >= 0; i = from->before[i])
        path[length++] = i;
    while (length > 0) {
        int i = path[--length];
        wire_add(out, machine, from->via[i], from->ends[from->before[i]]);
    }
    for (int i = other; to->before[i] >= 0; i = to->before[i])
        wire_add(out, machine, to->via[i], to->ends[i]);
    return true;
}

bool mgb_machine_route_near(struct mgb_route *out, const struct mgb_machine *machine, int from,
                            int to)
{
    struct side a, b;
    *out = (struct mgb_route){0};
    if (from == to)
        return false;
    side_begin(&a, from);
    side_begin(&b, to);
    for (int round = 0; round < MGB_ROUTE_MOST; round++) {
        bool forward = side_cost(&a, machine->ends) <= side_cost(&b, machine->ends);
        struct side *grown = forward ? &a : &b, *other = forward ? &b : &a;
        if (!side_grow(grown, machine, forward ? to : from))
            return false;
        int met = sides_meet(grown, other);
        if (met == -2)
            return false;
        if (met >= 0)
            return route_fill(out, machine, &a, &b, side_find(&a, grown->ends[met]));
    }
    return false;
}
