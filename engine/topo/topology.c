/* What is on a machine, looked up by name. Filled elsewhere: by a backend's probe or a machine
 * file. */
#include <mgb/topology.h>

#include "engine/base/memory.h"
#include <stdio.h>
#include <string.h>

void mgb_topology_done(struct mgb_topology *topology)
{
    mgb_release(topology->devices);
    mgb_release(topology->links);
    *topology = (struct mgb_topology){0};
}

int mgb_topology_find(const struct mgb_topology *topology, struct mgb_device_name name)
{
    if (name.kind != MGB_DEVICE_CPU && name.kind != MGB_DEVICE_GPU)
        return -1;
    /* Where it stands on a machine of one host: machines of thousands of devices are looked up
     * often. */
    int usual = name.kind == MGB_DEVICE_CPU ? name.index : 1 + name.index;
    if (usual >= 0 && usual < topology->device_count &&
        mgb_device_equal(topology->devices[usual].name, name))
        return usual;
    for (int i = 0; i < topology->device_count; i++)
        if (mgb_device_equal(topology->devices[i].name, name))
            return i;
    return -1;
}

/* The last device of the run of devices that starts at `first` and differs in the index only, by
 * one each. */
static int run_end(const struct mgb_topology *topology, int first)
{
    struct mgb_device_name next = topology->devices[first].name;
    int end = first;
    for (int i = first + 1; i < topology->device_count; i++, end++) {
        next.index++;
        if (!mgb_device_equal(topology->devices[i].name, next))
            break;
    }
    return end;
}

const char *mgb_peer_verdict_name(enum mgb_peer_verdict verdict)
{
    switch (verdict) {
    case MGB_PEER_UNTRIED:
        return "untried";
    case MGB_PEER_GOOD:
        return "good";
    case MGB_PEER_SLOW:
        return "slow";
    case MGB_PEER_BAD:
        return "bad";
    case MGB_PEER_REFUSED:
        return "refused";
    }
    return "untried";
}

char *mgb_topology_list(char *out, size_t size, const struct mgb_topology *topology)
{
    size_t used = 0;
    if (size > 0)
        out[0] = '\0';
    for (int i = 0; i < topology->device_count && used < size; i++) {
        char first[MGB_DEVICE_NAME_MAX], last[MGB_DEVICE_NAME_MAX];
        int end = run_end(topology, i);
        mgb_device_format(first, topology->devices[i].name);
        mgb_device_format(last, topology->devices[end].name);
        const char *gap = used > 0 ? " " : "";
        int wrote;
        if (end - i >= 3) {
            wrote = snprintf(out + used, size - used, "%s%s ... %s", gap, first, last);
            i = end;
        } else {
            wrote = snprintf(out + used, size - used, "%s%s", gap, first);
        }
        used += (size_t)wrote;
    }
    return out;
}
