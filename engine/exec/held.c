/* Values of variables where a plan keeps them: iteration over storages, initial values, reading and writing, digest. */
#include "engine/exec/run_state.h"

#include "engine/base/hash.h"
#include <string.h>

/* The tower whose instance comes next for a storage, from `tower` on; -1 for the root's; -2: no further one. */
static int tower_next(const struct mgb_plan *plan, const struct mgb_storage *storage, int tower)
{
    if (storage->tower != MGB_EACH_TOWER)
        return tower == 0 ? storage->tower : -2;
    for (; tower < plan->tower_count; tower++)
        if (plan->towers[tower].class == plan->buffers[storage->buffer].class)
            return tower;
    return -2;
}

bool mgb_held_next(const struct mgb_run *run, int *index, int *tower, struct mgb_held *out)
{
    const struct mgb_plan *plan = mgb_setting_plan(run->setting);
    for (; *index < plan->storage_count; ++*index, *tower = 0) {
        const struct mgb_storage *storage = &plan->storages[*index];
        int found = tower_next(plan, storage, *tower);
        if (found == -2)
            continue;
        *tower = storage->tower == MGB_EACH_TOWER ? found + 1 : 1;
        *out = (struct mgb_held){.storage = storage,
                                 .tower = found,
                                 .place = mgb_plan_place(plan, storage->buffer, found)};
        out->place.offset += storage->offset;
        out->address = mgb_program_address(run->setting->programs.at[0], out->place);
        return true;
    }
    return false;
}

bool mgb_held_find(const struct mgb_run *run, int variable, enum mgb_role role, int slot,
                   struct mgb_held *out)
{
    int index = 0, tower = 0;
    while (mgb_held_next(run, &index, &tower, out))
        if (out->storage->variable == variable && out->storage->role == role &&
            (role != MGB_ROLE_SLOT || out->storage->slot == slot))
            return true;
    return false;
}

static enum mgb_status host_buffer(float **out, const struct mgb_graph *graph)
{
    int64_t most = 1;
    for (int i = 0; i < mgb_graph_variable_count(graph); i++) {
        int64_t count = mgb_graph_variable_at(graph, i).count;
        most = count > most ? count : most;
    }
    *out = mgb_alloc((size_t)most * sizeof **out);
    return *out ? MGB_OK : mgb_fail(MGB_NO_MEMORY, "no memory for %lld values", (long long)most);
}

static enum mgb_status held_write(struct mgb_run *run, const struct mgb_held *held,
                                  const float *values)
{
    return run->backend->write(run->site->context, held->place.device, held->address, values,
                               held->storage->bytes);
}

enum mgb_status mgb_run_initialise(struct mgb_run *run)
{
    float *values;
    struct mgb_held held;
    enum mgb_status status = host_buffer(&values, run->graph);
    int index = 0, tower = 0, made = -1;
    while (status == MGB_OK && mgb_held_next(run, &index, &tower, &held)) {
        int variable = held.storage->variable;
        if (held.storage->role == MGB_ROLE_SLOT) {
            memset(values, 0, (size_t)held.storage->bytes);
            made = -1;
        } else if (made != variable) {
            mgb_variable_initial(values, run->graph, variable, run->seed);
            made = variable;
        }
        status = held_write(run, &held, values);
    }
    mgb_release(values);
    return status;
}

static enum mgb_status variable_check(const struct mgb_run *run, int variable, int slot)
{
    int count = mgb_graph_variable_count(run->graph);
    if (variable < 0 || variable >= count)
        return mgb_fail(MGB_INVALID, "variable %d: the model has %d", variable, count);
    if (slot < -1)
        return mgb_fail(MGB_INVALID, "slot %d of variable %d", slot, variable);
    return mgb_run_needs_values(run, "values of a variable");
}

static enum mgb_status no_storage(const struct mgb_run *run, int variable, int slot)
{
    return mgb_fail(MGB_MISSING, "variable '%s' has no slot %d under %s",
                    mgb_graph_variable_at(run->graph, variable).name, slot,
                    mgb_optimizer_name(run->optimizer.kind));
}

enum mgb_status mgb_run_read(struct mgb_run *run, float *out, int variable, int slot)
{
    struct mgb_held held;
    MGB_TRY(variable_check(run, variable, slot));
    if (!mgb_held_find(run, variable, slot < 0 ? MGB_ROLE_MASTER : MGB_ROLE_SLOT, slot, &held))
        return no_storage(run, variable, slot);
    return run->backend->read(run->site->context, held.place.device, out, held.address,
                              held.storage->bytes);
}

enum mgb_status mgb_run_write(struct mgb_run *run, const float *values, int variable, int slot)
{
    struct mgb_held held;
    int index = 0, tower = 0;
    bool found = false;
    MGB_TRY(variable_check(run, variable, slot));
    while (mgb_held_next(run, &index, &tower, &held)) {
        enum mgb_role role = held.storage->role;
        bool wanted = slot < 0 ? role == MGB_ROLE_MASTER || role == MGB_ROLE_REPLICA
                               : role == MGB_ROLE_SLOT && held.storage->slot == slot;
        if (held.storage->variable != variable || !wanted)
            continue;
        MGB_TRY(held_write(run, &held, values));
        run->pending = false; /* those were gradients of other weights */
        found = true;
    }
    return found ? MGB_OK : no_storage(run, variable, slot);
}

enum mgb_status mgb_run_digest(struct mgb_run *run, uint64_t *digest)
{
    float *values;
    struct mgb_held held;
    *digest = 0;
    MGB_TRY(mgb_run_needs_values(run, "digest of the weights"));
    enum mgb_status status = host_buffer(&values, run->graph);
    int slots = mgb_optimizer_slots(&run->optimizer);
    for (int v = 0; v < mgb_graph_variable_count(run->graph) && status == MGB_OK; v++) {
        for (int slot = -1; slot < slots && status == MGB_OK; slot++) {
            if (!mgb_held_find(run, v, slot < 0 ? MGB_ROLE_MASTER : MGB_ROLE_SLOT, slot, &held))
                continue; /* a frozen variable has no slots; a tower's own copy only exists with that tower */
            status = run->backend->read(run->site->context, held.place.device, values, held.address,
                                        held.storage->bytes);
            if (status == MGB_OK)
                *digest = mgb_hash(*digest, values, (size_t)held.storage->bytes);
        }
    }
    mgb_release(values);
    return status;
}
