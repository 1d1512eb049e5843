/* Lasting storage: weights at their homes or mirrored on every tower, slots where the optimizer runs, what a clone leaves
 * behind, and the two slots of the global batch. Nothing here depends on the rows or the kind of the plan, so that all
 * plans of a placement agree on lasting arenas. */
#include "engine/plan/build.h"

#include <string.h>

static bool leaves_behind(const struct mgb_planner *planner, int variable)
{
    const struct mgb_effective *placement = planner->placement;
    return !planner->mirrored && placement->relocated && placement->relocation == MGB_CLONE &&
           placement->original[variable] != placement->home[variable];
}

static bool bundle_takes(const struct mgb_planner *planner, const struct mgb_bundle *bundle,
                         int variable)
{
    const struct mgb_effective *placement = planner->placement;
    const struct mgb_variable *v = &planner->graph->variables[variable];
    int first = bundle->first;
    if (bundle->first + bundle->count != variable ||
        bundle->bytes + mgb_plan_align(v->info.bytes) > MGB_BUNDLE_BYTES ||
        mgb_plan_changes(planner, variable) != mgb_plan_changes(planner, first))
        return false;
    if (planner->mirrored)
        return true;
    return bundle->scope == mgb_plan_scope(planner, variable) &&
           bundle->home == placement->home[variable] &&
           bundle->update == placement->update[variable] &&
           leaves_behind(planner, variable) == leaves_behind(planner, first) &&
           placement->original[variable] == placement->original[first];
}

static void variable_bundle(struct mgb_planner *planner, int variable)
{
    const struct mgb_effective *placement = planner->placement;
    const struct mgb_variable_info *info = &planner->graph->variables[variable].info;
    planner->bundle_of[variable] = -1;
    if (planner->mirrored && info->twin >= 0)
        return;
    int count = planner->bundles.count;
    if (count == 0 || !bundle_takes(planner, &planner->bundles.at[count - 1], variable)) {
        struct mgb_bundle bundle = {.first = variable,
                                    .scope = mgb_plan_scope(planner, variable),
                                    .home = planner->mirrored ? -1 : placement->home[variable],
                                    .update = planner->mirrored ? -1 : placement->update[variable],
                                    .work = -1};
        if (!mgb_vector_push(&planner->bundles, bundle)) {
            planner->failed = true;
            return;
        }
    }
    struct mgb_bundle *bundle = &planner->bundles.at[planner->bundles.count - 1];
    planner->bundle_of[variable] = planner->bundles.count - 1;
    planner->bundle_offset[variable] = bundle->bytes;
    bundle->bytes += mgb_plan_align(info->bytes);
    bundle->count++;
}

/* The last part needs no padding. */
static int64_t bundle_bytes(const struct mgb_planner *planner, const struct mgb_bundle *bundle)
{
    int last = bundle->first + bundle->count - 1;
    return planner->bundle_offset[last] + planner->graph->variables[last].info.bytes;
}

static void weights_store(struct mgb_planner *planner, struct mgb_bundle *bundle, int number)
{
    bundle->bytes = bundle_bytes(planner, bundle);
    bundle->buffers = mgb_plan_alloc(planner, (size_t)planner->owners, sizeof *bundle->buffers);
    const char *name = mgb_plan_name(planner, "weights %d", number);
    for (int k = 0; bundle->buffers && k < planner->owners; k++)
        bundle->buffers[k] = mgb_plan_add_lasting(planner, name, planner->mirrored ? k : MGB_ROOT,
                                                  planner->mirrored ? MGB_SELF : bundle->home,
                                                  MGB_MEMORY_WEIGHTS, bundle->bytes);
}

static bool bundle_trains(const struct mgb_planner *planner, const struct mgb_bundle *bundle)
{
    bool trains = false;
    for (int v = bundle->first; v < bundle->first + bundle->count; v++)
        trains = trains || mgb_plan_trains(planner, v);
    return trains;
}

/* States that lie between weights have room that nobody uses: a few numbers, and fewer bundles travel. */
static void slots_store(struct mgb_planner *planner, struct mgb_bundle *bundle, int number)
{
    size_t count = (size_t)(planner->owners * planner->slot_count);
    bundle->slots = mgb_plan_alloc(planner, count, sizeof *bundle->slots);
    if (!bundle->slots || !bundle_trains(planner, bundle))
        return;
    for (int s = 0; s < planner->slot_count; s++) {
        const char *slot = mgb_optimizer_slot_name(&planner->request->optimizer, s);
        const char *name = mgb_plan_name(planner, "%s %d", slot, number);
        for (int k = 0; k < planner->owners; k++)
            bundle->slots[s * planner->owners + k] = mgb_plan_add_lasting(
                planner, name, planner->mirrored ? k : MGB_ROOT,
                planner->mirrored ? MGB_SELF : bundle->update, MGB_MEMORY_SLOTS, bundle->bytes);
    }
}

/* Not where a tower runs in this plan but where one may: all plans of the placement have the same. */
static void replicas_store(struct mgb_planner *planner, struct mgb_bundle *bundle, int number)
{
    const char *name = mgb_plan_name(planner, "replica %d", number);
    bundle->staged =
        mgb_plan_alloc(planner, (size_t)planner->plan->class_count, sizeof *bundle->staged);
    for (int c = 0; bundle->staged && c < planner->plan->class_count; c++) {
        const struct mgb_stage *stage = &planner->stages[c];
        bool wanted =
            stage->device != bundle->home && mgb_plan_concerns(planner, stage, bundle->scope);
        bundle->staged[c] = wanted ? mgb_plan_add_lasting(planner, name, c, MGB_SELF,
                                                          MGB_MEMORY_REPLICAS, bundle->bytes)
                                   : -1;
    }
}

static void storage_add(struct mgb_planner *planner, struct mgb_storage storage)
{
    if (!mgb_vector_push(&planner->storages, storage))
        planner->failed = true;
}

/* One storage at the root, or tower 0's and then one for every class. */
static void storages_add(struct mgb_planner *planner, int variable, enum mgb_role role, int slot,
                         const int *buffers)
{
    const struct mgb_plan *plan = planner->plan;
    struct mgb_storage storage = {.variable = variable,
                                  .role = role,
                                  .slot = slot,
                                  .offset = planner->bundle_offset[variable],
                                  .bytes = planner->graph->variables[variable].info.bytes,
                                  .tower = -1};
    if (!planner->mirrored) {
        storage.buffer = buffers[0];
        storage_add(planner, storage);
        return;
    }
    storage.buffer = buffers[plan->towers[0].class];
    storage.tower = 0;
    storage_add(planner, storage);
    for (int c = 0; c < plan->class_count; c++) {
        int own = mgb_plan_variable(planner, &planner->stages[c], variable);
        bool unshared = own != variable; /* a twin: this tower's is the only one */
        storage.variable = own;
        storage.role = role == MGB_ROLE_MASTER && !unshared ? MGB_ROLE_REPLICA : role;
        storage.buffer = buffers[c];
        storage.tower = unshared ? planner->stages[c].tower : MGB_EACH_TOWER;
        storage_add(planner, storage);
    }
}

static void bundle_list(struct mgb_planner *planner, const struct mgb_bundle *bundle)
{
    for (int v = bundle->first; v < bundle->first + bundle->count; v++) {
        storages_add(planner, v, MGB_ROLE_MASTER, -1, bundle->buffers);
        for (int s = 0; s < planner->slot_count && mgb_plan_trains(planner, v); s++)
            storages_add(planner, v, MGB_ROLE_SLOT, s, &bundle->slots[s * planner->owners]);
    }
}

static void replicas_list(struct mgb_planner *planner, const struct mgb_bundle *bundle)
{
    for (int v = bundle->first; v < bundle->first + bundle->count; v++)
        for (int c = 0; c < planner->plan->class_count; c++)
            if (bundle->staged[c] >= 0)
                storage_add(planner,
                            (struct mgb_storage){.variable = v,
                                                 .role = MGB_ROLE_REPLICA,
                                                 .slot = -1,
                                                 .buffer = bundle->staged[c],
                                                 .offset = planner->bundle_offset[v],
                                                 .bytes = planner->graph->variables[v].info.bytes,
                                                 .tower = MGB_EACH_TOWER});
}

static void leftover_store(struct mgb_planner *planner, const struct mgb_bundle *bundle, int number)
{
    if (!leaves_behind(planner, bundle->first))
        return;
    int device = planner->placement->original[bundle->first];
    int buffer = mgb_plan_add_lasting(planner, mgb_plan_name(planner, "leftover %d", number),
                                      MGB_ROOT, device, MGB_MEMORY_LEFTOVER, bundle->bytes);
    for (int v = bundle->first; v < bundle->first + bundle->count; v++)
        storage_add(planner, (struct mgb_storage){.variable = v,
                                                  .role = MGB_ROLE_LEFTOVER,
                                                  .slot = -1,
                                                  .buffer = buffer,
                                                  .offset = planner->bundle_offset[v],
                                                  .bytes = planner->graph->variables[v].info.bytes,
                                                  .tower = -1});
}

static void inputs_store(struct mgb_planner *planner)
{
    const struct mgb_graph *graph = planner->graph;
    int *buffers = mgb_plan_alloc(planner, (size_t)graph->input_count, sizeof *buffers);
    planner->plan->input_buffer = buffers;
    for (int i = 0; buffers && i < graph->input_count; i++) {
        int64_t bytes =
            mgb_tensor_bytes(graph, graph->inputs[i].tensor, planner->placement->global_batch);
        buffers[i] =
            mgb_plan_add_lasting(planner, mgb_plan_name(planner, "batch %s", graph->inputs[i].name),
                                 MGB_ROOT, MGB_HOST_DEVICE, MGB_MEMORY_INPUT, bytes);
        planner->buffers.at[buffers[i]].flip = mgb_plan_align(bytes);
    }
}

/* Where the towers that live at the storage read it; mgb_plan_fetch sees to the others. */
static void weights_seat(struct mgb_planner *planner, struct mgb_stage *stage)
{
    for (int v = 0; v < planner->graph->variable_count; v++) {
        if (planner->bundle_of[v] < 0)
            continue;
        const struct mgb_bundle *bundle = &planner->bundles.at[planner->bundle_of[v]];
        bool here = planner->mirrored || bundle->home == stage->device;
        bool near = bundle->staged && bundle->staged[stage->class] >= 0;
        int own = mgb_plan_variable(planner, stage, v);
        if ((here || near) && mgb_plan_concerns(planner, stage, bundle->scope))
            stage->weights[own] =
                mgb_plan_part(near ? bundle->staged[stage->class]
                                   : bundle->buffers[planner->mirrored ? stage->class : 0],
                              planner->bundle_offset[v], planner->graph->variables[v].info.bytes);
    }
}

enum mgb_status mgb_plan_homes(struct mgb_planner *planner)
{
    size_t variables = (size_t)planner->graph->variable_count;
    planner->slot_count = mgb_optimizer_slots(&planner->request->optimizer);
    planner->bundle_of = mgb_plan_alloc(planner, variables, sizeof *planner->bundle_of);
    planner->bundle_offset = mgb_plan_alloc(planner, variables, sizeof *planner->bundle_offset);
    if (planner->failed)
        return MGB_OK;
    for (int v = 0; v < planner->graph->variable_count; v++)
        variable_bundle(planner, v);
    for (int b = 0; !planner->failed && b < planner->bundles.count; b++)
        weights_store(planner, &planner->bundles.at[b], b);
    for (int b = 0; !planner->failed && b < planner->bundles.count; b++)
        slots_store(planner, &planner->bundles.at[b], b);
    for (int b = 0; !planner->failed && b < planner->bundles.count; b++)
        bundle_list(planner, &planner->bundles.at[b]);
    for (int b = 0; !planner->failed && b < planner->bundles.count; b++)
        leftover_store(planner, &planner->bundles.at[b], b);
    bool staged = planner->plan->staged && !planner->mirrored;
    for (int b = 0; staged && !planner->failed && b < planner->bundles.count; b++)
        replicas_store(planner, &planner->bundles.at[b], b);
    for (int b = 0; staged && !planner->failed && b < planner->bundles.count; b++)
        replicas_list(planner, &planner->bundles.at[b]);
    inputs_store(planner);
    for (int c = 0; !planner->failed && c < planner->plan->class_count; c++)
        weights_seat(planner, &planner->stages[c]);
    return MGB_OK;
}
