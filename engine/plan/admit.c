/* Does a plan fit? Compares what it needs with the limit of each device before anything is allocated. */
#include <mgb/plan.h>

/* Lasting bytes of a plan (NULL: none) on `device`; devices come in rising order, as `uses` has them. */
static int64_t lasting_next(const struct mgb_plan *plan, int device, int *at)
{
    while (plan && *at < plan->use_count && plan->uses[*at].device < device)
        ++*at;
    bool there = plan && *at < plan->use_count && plan->uses[*at].device == device;
    return there ? plan->uses[*at].lasting_bytes : 0;
}

static int64_t device_limit(const struct mgb_plan *plan, int device, int64_t gpu_memory)
{
    const struct mgb_device *d = &plan->topology->devices[device];
    int64_t limit = d->memory_bytes;
    if (d->name.kind == MGB_DEVICE_GPU && gpu_memory > 0 && (limit == 0 || gpu_memory < limit))
        limit = gpu_memory;
    return limit;
}

enum mgb_status mgb_plan_admit(const struct mgb_plan *plan, const struct mgb_plan *also,
                               int64_t gpu_memory)
{
    int at = 0;
    for (int i = 0; i < plan->use_count; i++) {
        const struct mgb_device_use *use = &plan->uses[i];
        int64_t limit = device_limit(plan, use->device, gpu_memory);
        int64_t move = use->lasting_bytes + lasting_next(also, use->device, &at);
        int64_t need = move > use->peak_bytes ? move : use->peak_bytes;
        if (limit == 0 || need <= limit)
            continue;
        char name[MGB_DEVICE_NAME_MAX];
        mgb_device_format(name, plan->topology->devices[use->device].name);
        bool moves = need > use->peak_bytes;
        return mgb_fail_oom(name, need, limit,
                            moves ? "weights of the old and the new placement during the move"
                                  : "the step plan");
    }
    return MGB_OK;
}
