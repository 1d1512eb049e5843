/* Logical devices: where a placement wants more GPUs than there are, and says that they may share, physical ones appear once
 * more under further names. */
#include "engine/exec/logical.h"

#include "engine/base/memory.h"

static int gpu_count(const struct mgb_topology *topology)
{
    int count = 0;
    for (int i = 0; i < topology->device_count; i++)
        count += topology->devices[i].class == MGB_CLASS_CUDA;
    return count;
}

/* How often the id is listed up to entry `end`. */
static int listed_before(const struct mgb_placement *asked, int id, int end)
{
    int count = 0;
    for (int i = 0; i < end; i++)
        count += asked->ids[i] == id;
    return count;
}

/* The topology index of whose GPU the n-th further device shares; -1: there is no n-th. */
static int sharer_find(const struct mgb_topology *topology, const struct mgb_placement *asked,
                       int gpus, int n)
{
    for (int i = 0; i < asked->listed; i++) {
        struct mgb_device_name name = {.kind = MGB_DEVICE_GPU, .index = asked->ids[i]};
        if (listed_before(asked, asked->ids[i], i) > 0 && n-- == 0)
            return mgb_topology_find(topology, name);
    }
    if (asked->listed > 0 || gpus + n >= asked->gpus)
        return -1;
    struct mgb_device_name name = {.kind = MGB_DEVICE_GPU, .index = n % gpus};
    return mgb_topology_find(topology, name);
}

static struct mgb_link link_between(const struct mgb_topology *topology, int from, int to)
{
    for (int i = 0; i < topology->link_count; i++)
        if (topology->links[i].from == from && topology->links[i].to == to)
            return topology->links[i];
    return (struct mgb_link){.peer = true}; /* one GPU */
}

static enum mgb_status topology_grow(struct mgb_topology *topology, const int *bases, int more)
{
    int count = topology->device_count + more, gpus = gpu_count(topology);
    struct mgb_device *devices = mgb_alloc((size_t)count * sizeof *devices);
    struct mgb_link *links = mgb_alloc((size_t)count * (size_t)count * sizeof *links);
    if (!devices || !links) {
        mgb_release(devices);
        mgb_release(links);
        return mgb_fail(MGB_NO_MEMORY, "no memory for %d logical devices", more);
    }
    int link_count = 0;
    for (int i = 0; i < count; i++) {
        int own = i < topology->device_count ? i : bases[i - topology->device_count];
        devices[i] = topology->devices[own];
        if (i != own)
            devices[i].name.index = gpus + i - topology->device_count;
        for (int k = 0; k < count; k++) {
            int other = k < topology->device_count ? k : bases[k - topology->device_count];
            if (i == k)
                continue;
            links[link_count] = link_between(topology, own, other);
            links[link_count].from = i;
            links[link_count++].to = k;
        }
    }
    mgb_release(topology->devices);
    mgb_release(topology->links);
    topology->devices = devices;
    topology->links = links;
    topology->device_count = count;
    topology->link_count = link_count;
    return MGB_OK;
}

enum mgb_status mgb_topology_share(struct mgb_topology *topology, const struct mgb_placement *asked)
{
    int bases[MGB_MAX_LISTED_GPUS], more = 0, gpus = gpu_count(topology);
    if (!asked->logical || gpus == 0)
        return MGB_OK;
    while (more < MGB_MAX_LISTED_GPUS &&
           (bases[more] = sharer_find(topology, asked, gpus, more)) >= 0)
        more++;
    return more == 0 ? MGB_OK : topology_grow(topology, bases, more);
}
