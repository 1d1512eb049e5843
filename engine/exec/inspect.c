/* What a run holds, seen from outside: the variable check in value, and bytes by device. */
#include "engine/exec/run_state.h"

#include <string.h>

static int64_t first_difference(const float *a, const float *b, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (memcmp(&a[i], &b[i], sizeof a[i]) != 0)
            return i;
    return -1;
}

/* One storage against the authoritative one of the same variable, role and slot. */
static enum mgb_status copy_check(struct mgb_run *run, const struct mgb_held *copy, float *values,
                                  float *master)
{
    const struct mgb_storage *storage = copy->storage;
    struct mgb_held first;
    enum mgb_role role = storage->role == MGB_ROLE_SLOT ? MGB_ROLE_SLOT : MGB_ROLE_MASTER;
    if (!mgb_held_find(run, storage->variable, role, storage->slot, &first) ||
        first.address == copy->address)
        return MGB_OK;
    void *context = run->site->context;
    MGB_TRY(run->backend->read(context, first.place.device, master, first.address, storage->bytes));
    MGB_TRY(run->backend->read(context, copy->place.device, values, copy->address, storage->bytes));
    int64_t at = first_difference(values, master, storage->bytes / (int64_t)sizeof *values);
    if (at < 0)
        return MGB_OK;
    char here[MGB_DEVICE_NAME_MAX], there[MGB_DEVICE_NAME_MAX];
    return mgb_fail(
        MGB_CORRUPT,
        "%s of '%s' on %s differs from its master on %s from element %lld on: %g, not %g",
        storage->role == MGB_ROLE_SLOT ? "slot copy" : "replica",
        mgb_graph_variable_at(run->graph, storage->variable).name,
        mgb_device_format(here, run->topology.devices[copy->place.device].name),
        mgb_device_format(there, run->topology.devices[first.place.device].name), (long long)at,
        (double)values[at], (double)master[at]);
}

static enum mgb_status values_check(struct mgb_run *run)
{
    int64_t most = 1;
    for (int i = 0; i < mgb_graph_variable_count(run->graph); i++) {
        int64_t count = mgb_graph_variable_at(run->graph, i).count;
        most = count > most ? count : most;
    }
    float *values = mgb_alloc(2 * (size_t)most * sizeof *values);
    if (!values)
        return mgb_fail(MGB_NO_MEMORY, "no memory to compare replicas");
    enum mgb_status status = MGB_OK;
    struct mgb_held held;
    int index = 0, tower = 0;
    while (status == MGB_OK && mgb_held_next(run, &index, &tower, &held))
        if (held.storage->role != MGB_ROLE_LEFTOVER)
            status = copy_check(run, &held, values, values + most);
    mgb_release(values);
    return status;
}

enum mgb_status mgb_run_check(struct mgb_run *run, struct mgb_check *out)
{
    MGB_TRY(mgb_run_usable(run));
    MGB_TRY(mgb_check_make(out, mgb_setting_plan(run->setting)));
    if (run->setting->effective.strategy == MGB_INDEPENDENT || run->play_virtual)
        return MGB_OK; /* its replicas go apart: that is what it is for; or there are no values */
    enum mgb_status status = values_check(run);
    if (status != MGB_OK)
        mgb_check_done(out);
    return status;
}

static int64_t planned_bytes(const struct mgb_setting *setting, int device)
{
    int64_t most = 0;
    for (int i = 0; i < setting->programs.count; i++) {
        const struct mgb_plan *plan = setting->programs.at[i]->plan;
        for (int k = 0; k < plan->use_count; k++)
            if (plan->uses[k].device == device && plan->uses[k].peak_bytes > most)
                most = plan->uses[k].peak_bytes;
    }
    return most;
}

/* What would be held. */
static struct mgb_memory_use memory_planned(const struct mgb_run *run, int device)
{
    const struct mgb_plan *plan = mgb_setting_plan(run->setting);
    struct mgb_memory_use use = {.device = device,
                                 .planned_bytes = planned_bytes(run->setting, device),
                                 .held_bytes = mgb_setting_step_bytes(run->setting, device),
                                 .measured_peak_bytes = -1};
    for (int k = 0; k < plan->use_count; k++)
        if (plan->uses[k].device == device)
            use.held_bytes += plan->uses[k].lasting_bytes;
    return use;
}

enum mgb_status mgb_run_memory(struct mgb_run *run, struct mgb_memory_use *out, int capacity,
                               int *count)
{
    *count = 0;
    while (run->play_virtual && *count < run->topology.device_count && *count < capacity) {
        out[*count] = memory_planned(run, *count);
        ++*count;
    }
    if (run->play_virtual)
        return MGB_OK;
    for (int device = 0; device < run->topology.device_count && *count < capacity; device++) {
        int64_t lasting, step;
        MGB_TRY(mgb_site_high_water(run->site, &lasting, MGB_ARENA_LASTING, device));
        MGB_TRY(mgb_site_high_water(run->site, &step, MGB_ARENA_STEP, device));
        out[(*count)++] =
            (struct mgb_memory_use){.device = device,
                                    .planned_bytes = planned_bytes(run->setting, device),
                                    .held_bytes = mgb_site_held(run->site, device),
                                    .measured_peak_bytes = lasting + step};
    }
    return MGB_OK;
}

bool mgb_run_has(const struct mgb_run *run, int variable, int slot)
{
    struct mgb_held held;
    return mgb_held_find(run, variable, slot < 0 ? MGB_ROLE_MASTER : MGB_ROLE_SLOT, slot, &held);
}

struct mgb_progress mgb_run_progress(const struct mgb_run *run)
{
    const struct mgb_loss_scale *scale = &run->loss_scale;
    bool scaled = scale->good > 0 || scale->scale < MGB_LOSS_SCALE_FIRST ||
                  scale->scale > MGB_LOSS_SCALE_FIRST;
    return (struct mgb_progress){.step = run->step,
                                 .updates = run->updates,
                                 .epoch = run->position.epoch,
                                 .row = run->position.first,
                                 .rows = run->source->rows,
                                 .seed = run->seed,
                                 .loss_scale = scaled ? scale->scale : 0.0f,
                                 .scale_steps = scaled ? scale->good : 0};
}

enum mgb_status mgb_run_set_progress(struct mgb_run *run, const struct mgb_progress *progress)
{
    int64_t rows = run->source->rows;
    MGB_TRY(mgb_run_usable(run));
    if (progress->step < 0 || progress->updates < 0 || progress->epoch < 0 || progress->row < 0)
        return mgb_fail(MGB_INVALID, "a run cannot go on from step %lld, epoch %lld, row %lld",
                        (long long)progress->step, (long long)progress->epoch,
                        (long long)progress->row);
    bool same = rows == progress->rows && progress->row < rows;
    run->step = progress->step;
    run->updates = progress->updates;
    run->position = (struct mgb_position){.epoch = rows ? progress->epoch : 0,
                                          .first = same ? progress->row : 0};
    mgb_loss_scale_set(&run->loss_scale, progress->loss_scale, progress->scale_steps);
    run->pending = false; /* stale: those were gradients of other weights */
    return MGB_OK;
}

const struct mgb_optimizer *mgb_run_optimizer(const struct mgb_run *run)
{
    return &run->optimizer;
}
