/* The five places: home of the weights, join, loss, sum, update. */
#include "engine/plan/placement.h"

#define SEVERAL (-2)
#define NOWHERE (-1)

enum mgb_status mgb_resolve_device(const struct mgb_resolver *resolver, int *device,
                                   const char *option, struct mgb_device_name name)
{
    char wanted[MGB_DEVICE_NAME_MAX], present[256];
    *device = mgb_topology_find(resolver->topology, name);
    if (*device >= 0)
        return MGB_OK;
    return mgb_fail(MGB_MISSING, "%s: wanted %s, present %s", option,
                    mgb_device_format(wanted, name),
                    mgb_topology_list(present, sizeof present, resolver->topology));
}

static int first_gpu(const struct mgb_resolver *resolver)
{
    return resolver->towers[0];
}

/* --- a device for each variable --- */
static int *devices_make(struct mgb_resolver *resolver)
{
    int count = resolver->graph->variable_count;
    return mgb_pool_alloc(resolver->pool, (size_t)(count > 0 ? count : 1) * sizeof(int));
}

static void devices_fill(const struct mgb_resolver *resolver, int *devices, int device)
{
    for (int i = 0; i < resolver->graph->variable_count; i++)
        devices[i] = device;
}

/* Each variable, in order of definition, to the listed GPU with the fewest bytes so far, as
 * tf_cnn_benchmarks does. */
static enum mgb_status devices_spread(const struct mgb_resolver *resolver, int *devices)
{
    int towers = resolver->out->tower_count;
    int64_t *bytes = mgb_alloc((size_t)towers * sizeof *bytes);
    if (!bytes)
        return mgb_fail(MGB_NO_MEMORY, "placement: out of memory");
    for (int i = 0; i < resolver->graph->variable_count; i++) {
        int least = 0;
        for (int t = 1; t < towers; t++)
            if (bytes[t] < bytes[least])
                least = t;
        bytes[least] += resolver->graph->variables[i].info.bytes;
        devices[i] = resolver->towers[least];
    }
    mgb_release(bytes);
    return MGB_OK;
}

static enum mgb_status devices_set(const struct mgb_resolver *resolver, int *devices,
                                   const char *option, struct mgb_device_name name)
{
    int device;
    if (name.kind == MGB_DEVICE_SPREAD)
        return devices_spread(resolver, devices);
    MGB_TRY(mgb_resolve_device(resolver, &device, option, name));
    devices_fill(resolver, devices, device);
    return MGB_OK;
}

/* Where the model puts its variables: its device scope, else the first listed GPU. */
static enum mgb_status devices_of_model(const struct mgb_resolver *resolver, int *devices)
{
    char what[160];
    for (int i = 0; i < resolver->graph->variable_count; i++) {
        const struct mgb_variable_info *info = &resolver->graph->variables[i].info;
        devices[i] = first_gpu(resolver);
        if (info->device.kind == MGB_DEVICE_UNSET)
            continue;
        mgb_format(what, sizeof what, "device scope of variable '%.100s'", info->name);
        MGB_TRY(mgb_resolve_device(resolver, &devices[i], what, info->device));
    }
    return MGB_OK;
}

/* The one device of all, or SEVERAL; `none` when there are no variables. */
static int devices_common(const struct mgb_resolver *resolver, const int *devices, int none)
{
    for (int i = 1; i < resolver->graph->variable_count; i++)
        if (devices[i] != devices[0])
            return SEVERAL;
    return resolver->graph->variable_count > 0 ? devices[0] : none;
}

/* --- weights and update --- */
static struct mgb_device_name weights_wish(const struct mgb_resolver *resolver)
{
    const struct mgb_placement *p = resolver->asked;
    struct mgb_device_name cpu = {MGB_DEVICE_CPU, 0, 0}, unset = {0};
    if (p->weights_at.kind != MGB_DEVICE_UNSET)
        return p->weights_at;
    if (mgb_option_given(p, MGB_OPTION_CPU_RELOCATION))
        return p->cpu_relocation ? cpu : unset;
    return resolver->like ? resolver->like->weights_at : unset;
}

static enum mgb_status resolve_weights(struct mgb_resolver *resolver)
{
    struct mgb_effective *out = resolver->out;
    struct mgb_device_name wish = weights_wish(resolver);
    int *original = devices_make(resolver), *home = devices_make(resolver);
    if (!original || !home)
        return mgb_fail(MGB_NO_MEMORY, "placement: out of memory");
    MGB_TRY(devices_of_model(resolver, original));
    if (wish.kind == MGB_DEVICE_UNSET)
        for (int i = 0; i < out->variable_count; i++)
            home[i] = original[i];
    else
        MGB_TRY(devices_set(resolver, home, "weights_at", wish));
    for (int i = 0; i < out->variable_count; i++)
        out->relocated = out->relocated || home[i] != original[i];
    out->original = original;
    out->home = home;
    out->weights_at = devices_common(resolver, home, first_gpu(resolver));
    out->weights_spread = wish.kind == MGB_DEVICE_SPREAD && out->weights_at == SEVERAL;
    return MGB_OK;
}

static enum mgb_status resolve_update(struct mgb_resolver *resolver)
{
    const struct mgb_placement *p = resolver->asked;
    struct mgb_effective *out = resolver->out;
    int *update = devices_make(resolver);
    if (!update)
        return mgb_fail(MGB_NO_MEMORY, "placement: out of memory");
    if (p->update_at.kind != MGB_DEVICE_UNSET)
        MGB_TRY(devices_set(resolver, update, "update_at", p->update_at));
    else if (resolver->like && resolver->like->first_gpu)
        devices_fill(resolver, update, first_gpu(resolver));
    else
        for (int i = 0; i < out->variable_count; i++)
            update[i] = out->home[i];
    out->update = update;
    out->update_at = devices_common(resolver, update, out->weights_at);
    return MGB_OK;
}

/* --- where towers meet --- */
/* By flag: /cpu:0 or the first listed GPU. Keras's flag moves the join only, whoever set it. */
static struct mgb_device_name merge_by_flag(const struct mgb_resolver *resolver, bool join)
{
    struct mgb_device_name cpu = {MGB_DEVICE_CPU, 0, 0};
    bool to_cpu =
        resolver->asked->cpu_merge && (join || !(resolver->like && resolver->like->first_gpu));
    return to_cpu ? cpu : resolver->topology->devices[first_gpu(resolver)].name;
}

static struct mgb_device_name merge_wish(const struct mgb_resolver *resolver,
                                         struct mgb_device_name place, bool join, bool sum)
{
    const struct mgb_placement *p = resolver->asked;
    if (place.kind != MGB_DEVICE_UNSET)
        return place;
    if (p->merge_at.kind != MGB_DEVICE_UNSET)
        return p->merge_at;
    if (!mgb_option_given(p, MGB_OPTION_CPU_MERGE) && sum && resolver->like &&
        resolver->like->sum_at.kind != MGB_DEVICE_UNSET)
        return resolver->like->sum_at;
    return merge_by_flag(resolver, join);
}

static const char *merge_option(const struct mgb_resolver *resolver, struct mgb_device_name place,
                                const char *own)
{
    if (place.kind != MGB_DEVICE_UNSET)
        return own;
    return resolver->asked->merge_at.kind != MGB_DEVICE_UNSET ? "merge_at" : "cpu_merge";
}

static enum mgb_status resolve_sum(struct mgb_resolver *resolver)
{
    struct mgb_effective *out = resolver->out;
    struct mgb_device_name place = resolver->asked->sum_at,
                           wish = merge_wish(resolver, place, false, true);
    int *sum = devices_make(resolver);
    if (!sum)
        return mgb_fail(MGB_NO_MEMORY, "placement: out of memory");
    MGB_TRY(devices_set(resolver, sum, merge_option(resolver, place, "sum_at"), wish));
    out->sum = sum;
    out->sum_at = devices_common(resolver, sum, first_gpu(resolver));
    out->sum_spread = wish.kind == MGB_DEVICE_SPREAD && out->sum_at == SEVERAL;
    return MGB_OK;
}

enum mgb_status mgb_resolve_places(struct mgb_resolver *resolver)
{
    const struct mgb_placement *p = resolver->asked;
    struct mgb_effective *out = resolver->out;
    out->weights_at = out->join_at = out->loss_at = out->sum_at = out->update_at = NOWHERE;
    if (out->strategy == MGB_ALLREDUCE || out->strategy == MGB_INDEPENDENT)
        return MGB_OK;
    MGB_TRY(resolve_weights(resolver));
    MGB_TRY(resolve_update(resolver));
    MGB_TRY(resolve_sum(resolver));
    if (out->strategy != MGB_OUTPUTS)
        return MGB_OK;
    MGB_TRY(mgb_resolve_device(resolver, &out->join_at,
                               merge_option(resolver, p->join_at, "join_at"),
                               merge_wish(resolver, p->join_at, true, false)));
    return mgb_resolve_device(resolver, &out->loss_at,
                              merge_option(resolver, p->loss_at, "loss_at"),
                              merge_wish(resolver, p->loss_at, false, false));
}
