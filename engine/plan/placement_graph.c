/* Whether steps are replayed as graphs: what is known to stand in the way before any device is opened. */
#include "engine/plan/placement.h"

#include <string.h>

static const struct mgb_device *tower_device(const struct mgb_resolver *resolver, int tower)
{
    return &resolver->topology->devices[resolver->towers[tower]];
}

/* Two towers on one GPU: NCCL takes no two ranks there, so that the backend itself sums, as it does without peer access. */
static bool gpu_shared(const struct mgb_resolver *resolver)
{
    int devices = resolver->topology->device_count, known = 0;
    bool *seen = mgb_pool_alloc(resolver->pool, (size_t)devices);
    for (int i = 0; seen && i < resolver->out->tower_count; i++) {
        int physical = tower_device(resolver, i)->physical;
        if (physical < 0 || physical >= devices)
            break;
        if (seen[physical])
            return true;
        seen[physical] = true;
        known++;
    }
    if (known == resolver->out->tower_count)
        return false;
    for (int i = 0; i < resolver->out->tower_count; i++)
        for (int k = 0; k < i; k++)
            if (tower_device(resolver, i)->physical == tower_device(resolver, k)->physical)
                return true;
    return false;
}

/* NULL when nothing is known. */
static const char *obstacle_find(const struct mgb_resolver *resolver)
{
    const struct mgb_effective *out = resolver->out;
    for (int i = 0; i < out->tower_count; i++)
        if (tower_device(resolver, i)->class == MGB_CLASS_CPU ||
            tower_device(resolver, i)->name.kind != MGB_DEVICE_GPU)
            return "a step that is replayed needs GPUs";
    if (out->pinned == MGB_CHOICE_NO)
        return "its copies need pinned memory (pinned = false)";
    if (out->strategy == MGB_ALLREDUCE && out->tower_count > 1 && !gpu_shared(resolver) &&
        out->peer_access != MGB_CHOICE_NO)
        return "a collective of NCCL over several GPUs cannot be part of a step that is replayed";
    return NULL;
}

/* Said where the option was given: what nobody asked for gives way in silence. */
static void gives_way(struct mgb_resolver *resolver, const char *obstacle)
{
    char *text = resolver->out->gave_way;
    size_t used = strlen(text), size = sizeof resolver->out->gave_way;
    if (mgb_option_given(resolver->asked, MGB_OPTION_GRAPH))
        mgb_format(text + used, size - used, "%sgraph = auto: %s", used ? "\n" : "", obstacle);
}

enum mgb_status mgb_resolve_graph(struct mgb_resolver *resolver)
{
    const char *obstacle = obstacle_find(resolver);
    enum mgb_choice asked = resolver->asked->graph;
    resolver->out->graph =
        asked == MGB_CHOICE_YES || asked == MGB_CHOICE_NO ? asked : MGB_CHOICE_AUTO;
    if (!obstacle || asked == MGB_CHOICE_NO)
        return MGB_OK;
    if (asked == MGB_CHOICE_YES)
        return mgb_fail(MGB_UNSUPPORTED, "graph = true: %s; use auto or false", obstacle);
    gives_way(resolver, obstacle);
    resolver->out->graph = MGB_CHOICE_NO;
    return MGB_OK;
}
