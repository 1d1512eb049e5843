/* What is refused before any place is looked up: options that mean nothing under the strategy they
 * were given with, contradictions, and what this version cannot do. */
#include "engine/plan/placement.h"

#include <stdio.h>

static const char *strategy_name(enum mgb_strategy strategy)
{
    return mgb_placement_options()[MGB_OPTION_STRATEGY].values[strategy];
}

/* Why an option has no meaning under a strategy. */
static const char *meaningless_reason(enum mgb_strategy strategy, enum mgb_option_id id)
{
    switch (strategy) {
    case MGB_OUTPUTS:
        return id == MGB_OPTION_ALLREDUCE ? "gradients are summed in one place"
                                          : "the gradient is that of one loss, nothing is bucketed";
    case MGB_GRADIENTS:
        return id == MGB_OPTION_ALLREDUCE ? "gradients are summed in one place"
                                          : "each tower takes its own loss";
    case MGB_ALLREDUCE:
        return id == MGB_OPTION_JOIN_AT || id == MGB_OPTION_LOSS_AT
                   ? "each tower takes its own loss"
                   : "every GPU holds and updates the weights and sums by all-reduce";
    case MGB_INDEPENDENT:
        return "every GPU trains by itself, nothing is exchanged";
    }
    return "";
}

static enum mgb_status refuse_meaningless(const struct mgb_resolver *resolver)
{
    enum mgb_strategy strategy = resolver->out->strategy;
    const struct mgb_option *options = mgb_placement_options();
    bool by_like = !mgb_option_given(resolver->asked, MGB_OPTION_STRATEGY);
    uint64_t bit = by_like ? MGB_GIVEN(LIKE) : MGB_GIVEN(STRATEGY);
    if (!(resolver->fresh & bit) || (by_like && !resolver->like))
        return MGB_OK;
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        bool fresh = (resolver->fresh & resolver->asked->given) >> i & 1;
        if (fresh && !mgb_option_in_effect((enum mgb_option_id)i, strategy))
            return mgb_fail(
                MGB_INVALID,
                "%s has no meaning under %s = %s: %s; leave it out, or give it in another "
                "call to keep it for later",
                options[i].name, by_like ? "like" : "strategy",
                by_like ? resolver->like->name : strategy_name(strategy),
                meaningless_reason(strategy, (enum mgb_option_id)i));
    }
    return MGB_OK;
}

/* Statistics over the global batch, where nothing is exchanged; parked when the two come in different calls. */
static enum mgb_status refuse_sync(const struct mgb_resolver *resolver)
{
    bool fresh = (resolver->fresh & MGB_GIVEN(BN)) && (resolver->fresh & MGB_GIVEN(STRATEGY));
    if (!fresh || resolver->asked->bn != MGB_BN_SYNC || resolver->out->strategy != MGB_INDEPENDENT)
        return MGB_OK;
    return mgb_fail(MGB_INVALID,
                    "bn = sync has no meaning under strategy = independent: %s; leave it out, or "
                    "give it in another call to keep it for later",
                    meaningless_reason(MGB_INDEPENDENT, MGB_OPTION_BN));
}

static bool is_host_cpu(struct mgb_device_name name)
{
    return name.kind == MGB_DEVICE_CPU && name.index == 0 && name.host == 0;
}

/* The first listed GPU by name; /cpu:0 when there is none. */
static struct mgb_device_name first_listed(const struct mgb_placement *asked)
{
    struct mgb_device_name name = {MGB_DEVICE_GPU, 0, 0};
    if (asked->listed > 0)
        name.index = asked->ids[0];
    else if (asked->gpus == 0)
        name.kind = MGB_DEVICE_CPU;
    return name;
}

enum mgb_status mgb_resolve_contradictions(const struct mgb_resolver *resolver)
{
    const struct mgb_placement *p = resolver->asked;
    char device[MGB_DEVICE_NAME_MAX], wanted[MGB_DEVICE_NAME_MAX];
    MGB_TRY(refuse_meaningless(resolver));
    MGB_TRY(refuse_sync(resolver));
    if (!mgb_option_in_effect(MGB_OPTION_WEIGHTS_AT, resolver->out->strategy))
        return MGB_OK; /* parked, all of them */
    if (mgb_option_given(p, MGB_OPTION_CPU_RELOCATION) && p->cpu_relocation &&
        p->weights_at.kind != MGB_DEVICE_UNSET && !is_host_cpu(p->weights_at))
        return mgb_fail(
            MGB_INVALID,
            "cpu_relocation = true puts the weights on /cpu:0 and weights_at = %s elsewhere: "
            "give one of them",
            mgb_device_format(device, p->weights_at));
    if (mgb_option_given(p, MGB_OPTION_CPU_MERGE) && p->merge_at.kind != MGB_DEVICE_UNSET) {
        struct mgb_device_name meant = {MGB_DEVICE_CPU, 0, 0};
        if (!p->cpu_merge)
            meant = first_listed(p);
        if (!mgb_device_equal(meant, p->merge_at))
            return mgb_fail(
                MGB_INVALID,
                "cpu_merge = %s merges on %s and merge_at = %s elsewhere: give one of them",
                p->cpu_merge ? "true" : "false", mgb_device_format(wanted, meant),
                mgb_device_format(device, p->merge_at));
    }
    return MGB_OK;
}

/* A setting that the engine lacks, when it would be in effect. */
static enum mgb_status refuse_setting(const struct mgb_resolver *resolver, enum mgb_option_id id,
                                      bool wanted, const char *instead)
{
    char value[64];
    if (!wanted || !mgb_option_in_effect(id, resolver->out->strategy))
        return MGB_OK;
    return mgb_fail(MGB_UNSUPPORTED, "%s = %s is not supported in this version; %s",
                    mgb_placement_options()[id].name,
                    mgb_placement_get_text(value, sizeof value, resolver->asked, id), instead);
}

enum mgb_status mgb_resolve_unsupported(const struct mgb_resolver *resolver)
{
    const struct mgb_placement *p = resolver->asked;
    bool across = p->allreduce == MGB_ALLREDUCE_HIERARCHICAL;
    const struct {
        enum mgb_option_id id;
        bool wanted;
        const char *instead;
    } lacking[] = {
        {MGB_OPTION_ALLREDUCE, across,
         "it sums in each of several machines first and this version runs on one: use auto, ring, "
         "tree "
         "or nccl"},
        {MGB_OPTION_HOSTS, p->hosts > 1, "use one host"},
    };
    for (size_t i = 0; i < sizeof lacking / sizeof lacking[0]; i++)
        MGB_TRY(refuse_setting(resolver, lacking[i].id, lacking[i].wanted, lacking[i].instead));
    if (p->hosts < 1)
        return mgb_fail(MGB_INVALID, "hosts = %d: give a whole number from 1", p->hosts);
    return MGB_OK;
}

/* What the tensor cores of a GPU multiply; 0.0: any GPU. NVIDIA, "CUDA C++ Programming Guide", table of compute capabilities. */
static const struct {
    int major, minor;
} precision_needs[] = {[MGB_PRECISION_F32] = {0, 0},
                       [MGB_PRECISION_TF32] = {8, 0},
                       [MGB_PRECISION_BF16] = {8, 0},
                       [MGB_PRECISION_F16] = {5, 3}};

static enum mgb_status precision_serve(const struct mgb_device *device,
                                       enum mgb_precision precision)
{
    const char *name = mgb_placement_options()[MGB_OPTION_PRECISION].values[precision];
    int major = precision_needs[precision].major, minor = precision_needs[precision].minor;
    int has_major, has_minor;
    char text[MGB_DEVICE_NAME_MAX];
    if (device->class == MGB_CLASS_SIMULATED && device->name.kind == MGB_DEVICE_GPU)
        return MGB_OK;
    if (device->class != MGB_CLASS_CUDA)
        return mgb_fail(MGB_UNSUPPORTED, "precision = %s needs GPUs; use f32", name);
    if (sscanf(device->capability, "%d.%d", &has_major, &has_minor) != 2 || has_major > major ||
        (has_major == major && has_minor >= minor))
        return MGB_OK;
    return mgb_fail(MGB_UNSUPPORTED,
                    "precision = %s needs GPUs of compute capability %d.%d; %s has %s; use f32",
                    name, major, minor, mgb_device_format(text, device->name), device->capability);
}

enum mgb_status mgb_resolve_precision(struct mgb_resolver *resolver)
{
    enum mgb_precision precision = resolver->asked->precision;
    struct mgb_effective *out = resolver->out;
    out->precision = precision;
    if (precision == MGB_PRECISION_F32)
        return MGB_OK;
    for (int i = 0; i < out->tower_count; i++)
        MGB_TRY(precision_serve(&resolver->topology->devices[resolver->towers[i]], precision));
    if (precision != MGB_PRECISION_F16 || !out->stale)
        return MGB_OK;
    return mgb_fail(MGB_UNSUPPORTED,
                    "precision = f16 with stale = true is not supported in this version: a "
                    "gradient would be applied under another loss scale than it was made with; "
                    "use bf16 or stale = false");
}
