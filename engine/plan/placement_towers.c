/* Which devices the towers run on, how many rows they take, and what they exchange gradients with.
 */
#include "engine/plan/placement.h"

#include <limits.h>

#define LIST_SIZE 256 /* characters of a list of devices in a message */

/* "/gpu:2 /gpu:0 /gpu:7", shortened in the middle. */
static void wanted_format(char *out, size_t size, const struct mgb_placement *asked)
{
    size_t used = 0;
    if (asked->listed == 0) {
        mgb_format(out, size, asked->gpus > 1 ? "/gpu:0 ... /gpu:%d" : "/gpu:0", asked->gpus - 1);
        return;
    }
    for (int i = 0; i < asked->listed && used < size; i++)
        used += (size_t)mgb_format(out + used, size - used, i > 0 ? " /gpu:%d" : "/gpu:%d",
                                   asked->ids[i]);
}

static enum mgb_status fail_missing(const struct mgb_resolver *resolver,
                                    struct mgb_device_name missing)
{
    char wanted[LIST_SIZE], present[LIST_SIZE], name[MGB_DEVICE_NAME_MAX];
    wanted_format(wanted, sizeof wanted, resolver->asked);
    mgb_topology_list(present, sizeof present, resolver->topology);
    return mgb_fail(
        MGB_MISSING,
        "gpus: wanted %s, present %s; there is no %s; ask for fewer, or 0 for one tower on "
        "/cpu:0",
        wanted, present, mgb_device_format(name, missing));
}

/* A GPU that is listed too often. */
static enum mgb_status fail_listed(const struct mgb_resolver *resolver, enum mgb_status status,
                                   const char *what, int id)
{
    char wanted[LIST_SIZE], present[LIST_SIZE];
    wanted_format(wanted, sizeof wanted, resolver->asked);
    mgb_topology_list(present, sizeof present, resolver->topology);
    return mgb_fail(status, "gpus: wanted %s, present %s; /gpu:%d %s", wanted, present, id, what);
}

/* A further logical device on the physical GPU of `device` that no tower has; or -1. */
static int find_sibling(const struct mgb_resolver *resolver, const bool *taken, int device)
{
    const struct mgb_device *devices = resolver->topology->devices;
    for (int i = 0; i < resolver->topology->device_count; i++)
        if (devices[i].name.kind == MGB_DEVICE_GPU &&
            devices[i].physical == devices[device].physical &&
            devices[i].name.host == devices[device].name.host && !taken[i])
            return i;
    return -1;
}

static enum mgb_status tower_place(struct mgb_resolver *resolver, bool *taken, int tower, int id)
{
    struct mgb_device_name name = {MGB_DEVICE_GPU, id, 0};
    if (id < 0)
        return mgb_fail(MGB_INVALID, "gpus: there is no GPU with the id %d; ids count from 0", id);
    int device = mgb_topology_find(resolver->topology, name);
    if (device < 0)
        return fail_missing(resolver, name);
    if (taken[device]) {
        if (!resolver->asked->logical)
            return fail_listed(resolver, MGB_INVALID,
                               "is listed twice; give logical = true to run several towers on one "
                               "GPU",
                               id);
        device = find_sibling(resolver, taken, device);
        if (device < 0)
            return fail_listed(resolver, MGB_MISSING,
                               "is listed more often than it has logical devices here; begin with "
                               "that list and logical = true, for none are added later",
                               id);
    }
    taken[device] = true;
    resolver->towers[tower] = device;
    return MGB_OK;
}

/* An earlier tower on the physical GPU of tower `tower`, or -1. CPU devices share their cores
 * anyway and simulated ones nothing. */
static int find_sharer(const struct mgb_resolver *resolver, int tower)
{
    const struct mgb_device *devices = resolver->topology->devices;
    const struct mgb_device *own = &devices[resolver->towers[tower]];
    for (int i = 0; own->class == MGB_CLASS_CUDA && i < tower; i++) {
        const struct mgb_device *other = &devices[resolver->towers[i]];
        if (other->class == MGB_CLASS_CUDA && other->physical == own->physical &&
            other->name.host == own->name.host)
            return i;
    }
    return -1;
}

static enum mgb_status check_physical(const struct mgb_resolver *resolver)
{
    const struct mgb_device *devices = resolver->topology->devices;
    char one[MGB_DEVICE_NAME_MAX], two[MGB_DEVICE_NAME_MAX];
    for (int i = 0; !resolver->asked->logical && i < resolver->out->tower_count; i++) {
        int sharer = find_sharer(resolver, i);
        if (sharer >= 0)
            return mgb_fail(
                MGB_INVALID,
                "gpus: %s and %s are the same physical GPU; give logical = true to allow it",
                mgb_device_format(one, devices[resolver->towers[sharer]].name),
                mgb_device_format(two, devices[resolver->towers[i]].name));
    }
    return MGB_OK;
}

static enum mgb_status towers_fill(struct mgb_resolver *resolver)
{
    const struct mgb_placement *asked = resolver->asked;
    if (asked->gpus == 0 && asked->listed == 0) {
        resolver->towers[0] =
            mgb_topology_find(resolver->topology, (struct mgb_device_name){MGB_DEVICE_CPU, 0, 0});
        if (resolver->towers[0] < 0)
            return mgb_fail(MGB_MISSING, "gpus = 0: the machine has no /cpu:0");
        return MGB_OK;
    }
    bool *taken = mgb_pool_alloc(resolver->pool, (size_t)resolver->topology->device_count);
    if (!taken)
        return mgb_fail(MGB_NO_MEMORY, "placement: out of memory");
    for (int i = 0; i < resolver->out->tower_count; i++)
        MGB_TRY(tower_place(resolver, taken, i, asked->listed > 0 ? asked->ids[i] : i));
    return check_physical(resolver);
}

enum mgb_status mgb_resolve_towers(struct mgb_resolver *resolver)
{
    const struct mgb_placement *asked = resolver->asked;
    int count = asked->listed > 0 ? asked->listed : asked->gpus;
    char present[LIST_SIZE];
    if (count < 0 || asked->listed < 0)
        return mgb_fail(
            MGB_INVALID,
            "gpus = %d: wanted a count from 0, or ids in merge order, as 2,0,3; present "
            "%s",
            count, mgb_topology_list(present, sizeof present, resolver->topology));
    if (asked->listed == 0 &&
        count > resolver->topology->device_count) /* before arrays of that size are made */
        return fail_missing(resolver, (struct mgb_device_name){
                                          MGB_DEVICE_GPU, resolver->topology->device_count - 1, 0});
    if (count == 0)
        count = 1;
    if (resolver->graph->towers_built > 0 && resolver->graph->towers_built != count)
        return mgb_fail(MGB_INVALID,
                        "gpus: model '%s' was built for %d towers (build = \"tower\"), not %d; its "
                        "builder runs once a tower: open a new session or run with gpus = %d, or "
                        "build it without build = \"tower\"",
                        resolver->graph->name, resolver->graph->towers_built, count, count);
    resolver->towers = mgb_pool_alloc(resolver->pool, (size_t)count * sizeof *resolver->towers);
    if (!resolver->towers)
        return mgb_fail(MGB_NO_MEMORY, "placement: out of memory");
    resolver->out->tower_count = count;
    resolver->out->tower_device = resolver->towers;
    return towers_fill(resolver);
}

enum mgb_status mgb_resolve_batch(struct mgb_resolver *resolver)
{
    const struct mgb_placement *asked = resolver->asked;
    struct mgb_effective *out = resolver->out;
    bool global = mgb_option_given(asked, MGB_OPTION_GLOBAL_BATCH);
    if (global && mgb_option_given(asked, MGB_OPTION_BATCH))
        return mgb_fail(MGB_INVALID, "batch = %d and global_batch = %d: give one of them",
                        asked->batch, asked->global_batch);
    int given = global ? asked->global_batch : asked->batch;
    int fixed = mgb_graph_fixed_batch(resolver->graph, NULL);
    if (fixed > 0 && !global && !mgb_option_given(asked, MGB_OPTION_BATCH))
        given = fixed; /* the default of a model that is written for one size */
    const char *name = global ? "global_batch" : "batch";
    if (given < 1)
        return mgb_fail(MGB_INVALID, "%s = %d: give at least 1", name, given);
    if (!global && given > INT_MAX / out->tower_count)
        return mgb_fail(MGB_INVALID, "batch = %d on %d GPUs is more than %d examples", given,
                        out->tower_count, INT_MAX);
    out->batch_mode = global ? MGB_BATCH_GLOBAL : MGB_BATCH_PER_GPU;
    out->global_batch = global ? given : given * out->tower_count;
    out->batch_per_gpu =
        global ? (int)(((int64_t)given + out->tower_count - 1) / out->tower_count) : given;
    return MGB_OK;
}

/* Why NCCL cannot serve these towers, or NULL when it can. */
static const char *nccl_obstacle(const struct mgb_resolver *resolver, char *out, size_t size)
{
    const struct mgb_device *devices = resolver->topology->devices;
    char name[MGB_DEVICE_NAME_MAX];
    int towers = resolver->out->tower_count;
    for (int i = 0; i < towers; i++) {
        const struct mgb_device *a = &devices[resolver->towers[i]];
        mgb_device_format(name, a->name);
        if (a->class == MGB_CLASS_CPU) {
            mgb_format(out, size, "%s is a CPU device", name);
            return out;
        }
        if (find_sharer(resolver, i) >= 0) {
            mgb_format(out, size, "%s shares its GPU with another tower", name);
            return out;
        }
    }
    if (towers > 1 && resolver->asked->peer_access == MGB_CHOICE_NO)
        return "it would copy from GPU to GPU by itself (peer_access = false)";
    return NULL;
}

/* "auto" is NCCL where it can serve real GPUs, else the ring; a tree of our own is for CPU devices. */
static void resolve_allreduce(struct mgb_resolver *resolver)
{
    struct mgb_effective *out = resolver->out;
    char text[96];
    const char *obstacle = nccl_obstacle(resolver, text, sizeof text);
    bool cuda = resolver->topology->devices[resolver->towers[0]].class == MGB_CLASS_CUDA;
    out->allreduce = resolver->asked->allreduce;
    if (out->allreduce == MGB_ALLREDUCE_AUTO)
        out->allreduce = cuda && !obstacle ? MGB_ALLREDUCE_NCCL : MGB_ALLREDUCE_RING;
    if (out->allreduce == MGB_ALLREDUCE_TREE && cuda) {
        out->allreduce = obstacle ? MGB_ALLREDUCE_RING : MGB_ALLREDUCE_NCCL;
        mgb_format(out->gave_way, sizeof out->gave_way, "allreduce = tree: among GPUs %s",
                   obstacle ? "ring serves where NCCL cannot"
                            : "NCCL chooses its own algorithm; nccl serves");
        return;
    }
    if (out->allreduce == MGB_ALLREDUCE_NCCL && obstacle) {
        out->allreduce = MGB_ALLREDUCE_RING;
        mgb_format(out->gave_way, sizeof out->gave_way, "allreduce = nccl: %s; ring serves",
                   obstacle);
    }
}

void mgb_resolve_exchange(struct mgb_resolver *resolver)
{
    struct mgb_effective *out = resolver->out;
    if (mgb_option_in_effect(MGB_OPTION_WIRE_TYPE, out->strategy))
        out->wire_type = resolver->asked->wire_type;
    out->recompute = resolver->asked->recompute;
    out->staged = mgb_option_in_effect(MGB_OPTION_STAGED, out->strategy) && resolver->asked->staged;
    out->stale = mgb_option_in_effect(MGB_OPTION_STALE, out->strategy) && resolver->asked->stale;
    if (out->strategy != MGB_INDEPENDENT)
        out->bn = resolver->asked->bn;
    if (mgb_option_in_effect(MGB_OPTION_ALLREDUCE, out->strategy))
        resolve_allreduce(resolver);
    if (!mgb_option_in_effect(MGB_OPTION_BUCKET_MIB, out->strategy))
        return;
    out->bucket_bytes = (int64_t)(resolver->asked->bucket_mib * 1048576.0);
    if (out->bucket_bytes < 1)
        out->bucket_bytes = 1;
    out->overlap = resolver->asked->overlap;
}
