/* What is in effect, option by option, as text: for the database, the screen and
 * `r.placement.effective`. */
#include "engine/plan/placement.h"

#include <string.h>

static const char *device_text(char out[MGB_DEVICE_NAME_MAX], const struct mgb_topology *topology,
                               int device, bool spread)
{
    if (device >= 0)
        return mgb_device_format(out, topology->devices[device].name);
    return device == -1 ? "" : spread ? "spread" : "several";
}

/* A count when the towers are /gpu:0 and so on, else the ids in merge order. */
static void gpus_text(char *out, size_t size, const struct mgb_effective *e,
                      const struct mgb_topology *topology)
{
    size_t used = 0;
    bool in_order = true;
    const struct mgb_device *first = &topology->devices[e->tower_device[0]];
    if (first->name.kind == MGB_DEVICE_CPU) {
        mgb_format(out, size, "0");
        return;
    }
    for (int i = 0; i < e->tower_count; i++)
        in_order = in_order && topology->devices[e->tower_device[i]].name.index == i;
    if (in_order)
        mgb_format(out, size, "%d", e->tower_count);
    else if (e->tower_count == 1)
        mgb_format(out, size, "{%d}", first->name.index);
    else
        for (int i = 0; i < e->tower_count && used < size; i++)
            used += (size_t)mgb_format(out + used, size - used, i > 0 ? ",%d" : "%d",
                                       topology->devices[e->tower_device[i]].name.index);
}

static const char *bool_text(bool value)
{
    return value ? "true" : "false";
}

static const char *choice_text(enum mgb_choice choice)
{
    return choice == MGB_CHOICE_YES ? "true" : choice == MGB_CHOICE_NO ? "false" : "auto";
}

static bool is_cpu(const struct mgb_topology *topology, int device)
{
    return device >= 0 && topology->devices[device].name.kind == MGB_DEVICE_CPU;
}

static const char *enum_text(enum mgb_option_id id, int value)
{
    return mgb_placement_options()[id].values[value];
}

static void numbers_text(char *out, size_t size, const struct mgb_effective *e,
                         enum mgb_option_id id)
{
    if (id == MGB_OPTION_BATCH)
        mgb_format(out, size, "%d", e->batch_per_gpu);
    else if (id == MGB_OPTION_GLOBAL_BATCH)
        mgb_format(out, size, "%d", e->global_batch);
    else if (id == MGB_OPTION_BUCKET_MIB)
        mgb_format(out, size, "%.9g", (double)e->bucket_bytes / 1048576.0);
    else if (id == MGB_OPTION_THREADS)
        mgb_format(out, size, "%d", e->threads);
    else if (id == MGB_OPTION_GPU_MEMORY && e->gpu_memory > 0)
        mgb_format(out, size, "%lld", (long long)e->gpu_memory);
}

/* Options whose text is a word; NULL for those with numbers. `device` is room for a name. */
static const char *word_text(char device[MGB_DEVICE_NAME_MAX], const struct mgb_effective *e,
                             const struct mgb_topology *topology, enum mgb_option_id id)
{
    bool outputs = e->strategy == MGB_OUTPUTS;
    switch (id) {
    case MGB_OPTION_STRATEGY:
        return enum_text(id, (int)e->strategy);
    case MGB_OPTION_CPU_RELOCATION:
        return bool_text(is_cpu(topology, e->weights_at));
    case MGB_OPTION_CPU_MERGE:
        return bool_text(is_cpu(topology, outputs ? e->join_at : e->sum_at));
    case MGB_OPTION_WEIGHTS_AT:
        return device_text(device, topology, e->weights_at, e->weights_spread);
    case MGB_OPTION_JOIN_AT:
        return device_text(device, topology, e->join_at, false);
    case MGB_OPTION_LOSS_AT:
        return device_text(device, topology, e->loss_at, false);
    case MGB_OPTION_SUM_AT:
        return device_text(device, topology, e->sum_at, e->sum_spread);
    case MGB_OPTION_UPDATE_AT:
        return device_text(device, topology, e->update_at, e->weights_spread);
    case MGB_OPTION_RELOCATION:
        return enum_text(id, (int)e->relocation);
    case MGB_OPTION_ALLREDUCE:
        return enum_text(id, (int)e->allreduce);
    case MGB_OPTION_OVERLAP:
        return bool_text(e->overlap);
    case MGB_OPTION_LOGICAL:
        return bool_text(e->logical);
    case MGB_OPTION_PEER_ACCESS:
        return choice_text(e->peer_access);
    case MGB_OPTION_PINNED:
        return choice_text(e->pinned);
    case MGB_OPTION_LIKE: /* what was asked; its effects are the places */
    case MGB_OPTION_MERGE_AT:
        return "";
    case MGB_OPTION_WIRE_TYPE:
        return enum_text(id, (int)e->wire_type);
    case MGB_OPTION_PRECISION:
        return enum_text(id, (int)e->precision);
    case MGB_OPTION_STAGED:
        return bool_text(e->staged);
    case MGB_OPTION_STALE:
        return bool_text(e->stale);
    case MGB_OPTION_GRAPH:
        return bool_text(e->graph != MGB_CHOICE_NO);
    case MGB_OPTION_BN:
        return enum_text(id, (int)e->bn);
    case MGB_OPTION_RECOMPUTE:
        return enum_text(id, (int)e->recompute);
    case MGB_OPTION_HOSTS:
        return "1";
    case MGB_OPTION_GPUS:
    case MGB_OPTION_BATCH:
    case MGB_OPTION_GLOBAL_BATCH:
    case MGB_OPTION_BUCKET_MIB:
    case MGB_OPTION_GPU_MEMORY:
    case MGB_OPTION_THREADS:
    case MGB_OPTION_COUNT:
        break;
    }
    return NULL;
}

char *mgb_effective_get_text(char *out, size_t size, const struct mgb_effective *effective,
                             const struct mgb_topology *topology, enum mgb_option_id id)
{
    char device[MGB_DEVICE_NAME_MAX];
    if (size > 0)
        out[0] = '\0';
    if (!mgb_option_in_effect(id, effective->strategy))
        return out;
    const char *word = word_text(device, effective, topology, id);
    if (word)
        mgb_format(out, size, "%s", word);
    else if (id == MGB_OPTION_GPUS)
        gpus_text(out, size, effective, topology);
    else
        numbers_text(out, size, effective, id);
    return out;
}

static bool array_equal(const int *a, const int *b, int count)
{
    if (!a || !b)
        return a == b;
    return count == 0 || memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

bool mgb_effective_equal(const struct mgb_effective *a, const struct mgb_effective *b)
{
    return a->strategy == b->strategy && a->tower_count == b->tower_count &&
           array_equal(a->tower_device, b->tower_device, a->tower_count) &&
           a->batch_mode == b->batch_mode && a->batch_per_gpu == b->batch_per_gpu &&
           a->global_batch == b->global_batch && a->variable_count == b->variable_count &&
           array_equal(a->home, b->home, a->variable_count) &&
           array_equal(a->update, b->update, a->variable_count) &&
           array_equal(a->sum, b->sum, a->variable_count) &&
           array_equal(a->original, b->original, a->variable_count) &&
           a->weights_at == b->weights_at && a->join_at == b->join_at && a->loss_at == b->loss_at &&
           a->sum_at == b->sum_at && a->update_at == b->update_at && a->relocated == b->relocated &&
           a->relocation == b->relocation && a->allreduce == b->allreduce &&
           a->bucket_bytes == b->bucket_bytes && a->overlap == b->overlap && a->bn == b->bn &&
           a->wire_type == b->wire_type && a->staged == b->staged && a->stale == b->stale &&
           a->logical == b->logical && a->peer_access == b->peer_access && a->pinned == b->pinned &&
           a->gpu_memory == b->gpu_memory && a->recompute == b->recompute &&
           (a->graph == MGB_CHOICE_NO) == (b->graph == MGB_CHOICE_NO) &&
           a->precision == b->precision && a->threads == b->threads &&
           a->cpu_threads == b->cpu_threads;
}
