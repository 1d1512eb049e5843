/* Methods of sessions that only look: placement in effect, plan, memory, variables, the variable check, digests and values.
 * The session's thread is idle between calls, so the engine's run is read from here. */
#include "app/script/bind.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct mgb_run *run_get(lua_State *L, int index)
{
    struct script_session *session = mgb_script_session(L, index);
    return mgb_script_of(L)->services->engine(session);
}

static void device_push(lua_State *L, const struct mgb_topology *topology, int device)
{
    char name[MGB_DEVICE_NAME_MAX];
    lua_pushstring(L, mgb_device_format(name, topology->devices[device].name));
}

static void device_set(lua_State *L, const char *key, const struct mgb_topology *topology,
                       int device)
{
    device_push(L, topology, device);
    lua_setfield(L, -2, key);
}

/* digest() -> 16 digits */
static int run_digest(lua_State *L)
{
    uint64_t digest;
    char text[24];
    mgb_script_check(L, mgb_run_digest(run_get(L, 1), &digest));
    snprintf(text, sizeof text, "%016llx", (unsigned long long)digest);
    lua_pushstring(L, text);
    return 1;
}

/* placement() -> asked, effective: option names to values */
static int run_placement(lua_State *L)
{
    const struct mgb_run *run = run_get(L, 1);
    char text[1024];
    lua_createtable(L, 0, MGB_OPTION_COUNT);
    lua_createtable(L, 0, MGB_OPTION_COUNT);
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        enum mgb_option_id id = (enum mgb_option_id)i;
        mgb_placement_get_text(text, sizeof text, mgb_run_placement(run), id);
        mgb_script_push_option(L, id, text);
        lua_setfield(L, -3, mgb_placement_options()[i].name);
        mgb_effective_get_text(text, sizeof text, mgb_run_effective(run), mgb_run_topology(run),
                               id);
        mgb_script_push_option(L, id, text);
        lua_setfield(L, -2, mgb_placement_options()[i].name);
    }
    return 2;
}

/* facts() -> backend, remark, gave_way, oversubscribed, towers (rows of each), batch mode, steps done */
static int run_facts(lua_State *L)
{
    const struct mgb_run *run = run_get(L, 1);
    const struct mgb_effective *effective = mgb_run_effective(run);
    const struct mgb_plan *plan = mgb_run_plan(run);
    lua_createtable(L, 0, 8);
    mgb_script_set_text(L, "backend", mgb_run_backend(run));
    mgb_script_set_text(L, "remark", mgb_run_remark(run));
    mgb_script_set_text(L, "gave_way", effective->gave_way);
    mgb_script_set_text(L, "batch_mode",
                        effective->batch_mode == MGB_BATCH_GLOBAL ? "strong" : "weak");
    mgb_script_set_integer(L, "gpus", effective->tower_count);
    mgb_script_set_integer(L, "batch", effective->batch_per_gpu);
    mgb_script_set_integer(L, "global_batch", effective->global_batch);
    mgb_script_set_integer(L, "step_index", mgb_run_step_index(run));
    mgb_script_set_integer(L, "epoch", mgb_run_epoch(run));
    lua_pushboolean(L, effective->oversubscribed);
    lua_setfield(L, -2, "oversubscribed");
    lua_createtable(L, plan->tower_count, 0);
    for (int i = 0; i < plan->tower_count; i++) {
        lua_createtable(L, 0, 2);
        device_set(L, "device", mgb_run_topology(run), plan->towers[i].device);
        mgb_script_set_integer(L, "rows", plan->towers[i].rows);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "towers");
    return 1;
}

static const struct mgb_device_use *use_find(const struct mgb_plan *plan, int device)
{
    for (int i = 0; i < plan->use_count; i++)
        if (plan->uses[i].device == device)
            return &plan->uses[i];
    return NULL;
}

/* memory() -> { ["/gpu:0"] = { planned =, held =, peak =, weights =, ... } }, bytes; categories as planned */
static int run_memory(lua_State *L)
{
    struct mgb_run *run = run_get(L, 1);
    const struct mgb_topology *topology = mgb_run_topology(run);
    struct mgb_memory_use *uses =
        lua_newuserdatauv(L, (size_t)topology->device_count * sizeof *uses, 0);
    int count;
    mgb_script_check(L, mgb_run_memory(run, uses, topology->device_count, &count));
    lua_createtable(L, 0, count);
    for (int i = 0; i < count; i++) {
        const struct mgb_device_use *use = use_find(mgb_run_plan(run), uses[i].device);
        device_push(L, topology, uses[i].device);
        lua_createtable(L, 0, 12);
        mgb_script_set_integer(L, "planned", uses[i].planned_bytes);
        mgb_script_set_integer(L, "held", uses[i].held_bytes);
        if (uses[i].measured_peak_bytes >= 0)
            mgb_script_set_integer(L, "peak", uses[i].measured_peak_bytes);
        for (int c = 0; c < MGB_MEMORY_CATEGORY_COUNT; c++)
            mgb_script_set_integer(L, mgb_memory_category_name((enum mgb_memory_category)c),
                                   use ? use->peak[c] : 0);
        lua_settable(L, -3);
    }
    return 1;
}

static const char *role_name(enum mgb_role role)
{
    switch (role) {
    case MGB_ROLE_MASTER:
        return "master";
    case MGB_ROLE_REPLICA:
        return "replica";
    case MGB_ROLE_SLOT:
        return "slot";
    case MGB_ROLE_LEFTOVER:
        return "leftover";
    }
    return "?";
}

/* Why a variable's bytes lie where they lie. */
static const char *storage_reason(const struct mgb_effective *effective,
                                  const struct mgb_storage *storage,
                                  const struct mgb_variable_info *info)
{
    switch (storage->role) {
    case MGB_ROLE_MASTER:
        if (info->twin >= 0)
            return "made again by a later tower";
        return !effective->home            ? "mirrored: every GPU has it, this one is read from"
               : effective->weights_spread ? "weights spread over the GPUs by bytes"
               : effective->relocated      ? "weights relocated: weights_at or cpu_relocation"
               : info->device.kind != MGB_DEVICE_UNSET ? "the model's device scope"
                                                       : "no other place given: the first GPU";
    case MGB_ROLE_REPLICA:
        return "the copy that a tower on this device computes with";
    case MGB_ROLE_SLOT:
        return effective->home ? "optimizer state, where the update runs"
                               : "optimizer state, mirrored";
    case MGB_ROLE_LEFTOVER:
        return "left behind by relocation = clone";
    }
    return "";
}

static void storage_push(lua_State *L, const struct mgb_run *run, const struct mgb_storage *storage,
                         int tower)
{
    const struct mgb_plan *plan = mgb_run_plan(run);
    struct mgb_variable_info info = mgb_graph_variable_at(plan->graph, storage->variable);
    struct mgb_place place = mgb_plan_place(plan, storage->buffer, tower);
    bool twin = storage->role == MGB_ROLE_MASTER && info.twin >= 0;
    char shape[96], identity[96], device[MGB_DEVICE_NAME_MAX];
    mgb_device_format(device, plan->topology->devices[place.device].name);
    snprintf(identity, sizeof identity, "%s+%lld", device,
             (long long)(place.offset + storage->offset));
    lua_createtable(L, 0, 11);
    mgb_script_set_text(L, "name", info.name);
    mgb_script_set_text(L, "scope", info.scope);
    mgb_script_set_text(L, "shape", mgb_shape_format(shape, sizeof shape, &info.shape));
    mgb_script_set_integer(L, "bytes", storage->bytes);
    mgb_script_set_text(L, "device", device);
    mgb_script_set_text(L, "role", twin ? "duplicate" : role_name(storage->role));
    mgb_script_set_text(L, "storage", identity);
    mgb_script_set_text(L, "why", storage_reason(mgb_run_effective(run), storage, &info));
    if (storage->slot >= 0)
        mgb_script_set_text(L, "slot", mgb_optimizer_slot_name(&plan->optimizer, storage->slot));
    if (tower >= 0)
        mgb_script_set_integer(L, "tower", tower);
    lua_pushboolean(L, info.trainable);
    lua_setfield(L, -2, "trainable");
    lua_pushboolean(L, info.state && !info.frozen); /* a statistic that steps move */
    lua_setfield(L, -2, "moving");
}

/* variables() -> a list of storages */
static int run_variables(lua_State *L)
{
    const struct mgb_run *run = run_get(L, 1);
    const struct mgb_plan *plan = mgb_run_plan(run);
    int count = 0;
    lua_createtable(L, plan->storage_count, 0);
    for (int i = 0; i < plan->storage_count; i++) {
        const struct mgb_storage *storage = &plan->storages[i];
        int class = plan->buffers[storage->buffer].class;
        for (int tower = 0; tower < plan->tower_count; tower++) {
            if (storage->tower != MGB_EACH_TOWER) {
                storage_push(L, run, storage, storage->tower);
                lua_rawseti(L, -2, ++count);
                break;
            }
            if (plan->towers[tower].class != class)
                continue;
            storage_push(L, run, storage, tower);
            lua_rawseti(L, -2, ++count);
        }
    }
    return 1;
}

static void finding_push(lua_State *L, const struct mgb_run *run, const struct mgb_finding *f)
{
    const struct mgb_graph *graph = mgb_run_plan(run)->graph;
    lua_createtable(L, 0, 6);
    mgb_script_set_text(L, "variable", mgb_graph_variable_at(graph, f->variable).name);
    mgb_script_set_text(L, "twin", mgb_graph_variable_at(graph, f->twin).name);
    mgb_script_set_text(L, "kind", f->leftover ? "leftover" : "duplicate");
    device_set(L, "device", mgb_run_topology(run), f->device);
    mgb_script_set_integer(L, "bytes", f->bytes);
    mgb_script_set_text(L, "why", f->why);
}

/* check() -> { ok =, variables =, expected =, ..., list of findings } */
static int run_check(lua_State *L)
{
    struct mgb_run *run = run_get(L, 1);
    struct mgb_check check;
    mgb_script_check(L, mgb_run_check(run, &check));
    lua_createtable(L, check.finding_count, 10);
    lua_pushboolean(L, check.finding_count == 0 && check.variables == check.expected_variables);
    lua_setfield(L, -2, "ok");
    mgb_script_set_integer(L, "variables", check.variables);
    mgb_script_set_integer(L, "expected_variables", check.expected_variables);
    mgb_script_set_integer(L, "bytes", check.master_bytes);
    mgb_script_set_integer(L, "expected_bytes", check.expected_bytes);
    mgb_script_set_integer(L, "replicas", check.replicas_per_variable);
    mgb_script_set_integer(L, "duplicate_count", check.duplicate_count);
    mgb_script_set_integer(L, "duplicate_bytes", check.duplicate_bytes);
    mgb_script_set_integer(L, "leftover_count", check.leftover_count);
    mgb_script_set_integer(L, "leftover_bytes", check.leftover_bytes);
    for (int i = 0; i < check.finding_count; i++) {
        finding_push(L, run, &check.findings[i]);
        lua_rawseti(L, -2, i + 1);
    }
    mgb_check_done(&check);
    return 1;
}

static void traffic_push(lua_State *L, const struct mgb_plan *plan)
{
    lua_createtable(L, plan->traffic_count, 0);
    for (int i = 0; i < plan->traffic_count; i++) {
        lua_createtable(L, 0, 3);
        device_set(L, "from", plan->topology, plan->traffic[i].from);
        device_set(L, "to", plan->topology, plan->traffic[i].to);
        mgb_script_set_integer(L, "bytes", plan->traffic[i].bytes);
        lua_rawseti(L, -2, i + 1);
    }
}

/* plan() -> { text =, tasks =, traffic = { { from =, to =, bytes = } } } of the full step */
static int run_plan(lua_State *L)
{
    const struct mgb_plan *plan = mgb_run_plan(run_get(L, 1));
    char *text;
    mgb_script_check(L, mgb_plan_text(&text, plan));
    lua_createtable(L, 0, 4);
    mgb_script_set_text(L, "text", text); /* may raise at the memory limit and leak this one text */
    mgb_text_free(text);
    mgb_script_set_integer(L, "tasks", plan->task_count);
    mgb_script_set_integer(L, "rows", plan->global_rows);
    traffic_push(L, plan);
    lua_setfield(L, -2, "traffic");
    return 1;
}

static int variable_find(lua_State *L, const struct mgb_graph *graph, const char *name)
{
    for (int i = 0; i < mgb_graph_variable_count(graph); i++)
        if (strcmp(mgb_graph_variable_at(graph, i).name, name) == 0)
            return i;
    return mgb_script_fail(L, "the model has no variable '%s'", name);
}

/* read(name) -> the values of a variable, a flat list */
static int run_read(lua_State *L)
{
    struct mgb_run *run = run_get(L, 1);
    const struct mgb_graph *graph = mgb_run_plan(run)->graph;
    int variable = variable_find(L, graph, luaL_checkstring(L, 2));
    int64_t count = mgb_graph_variable_at(graph, variable).count;
    float *values = lua_newuserdatauv(L, (size_t)count * sizeof *values, 0);
    mgb_script_check(L, mgb_run_read(run, values, variable, -1));
    lua_createtable(L, (int)count, 0);
    for (int64_t i = 0; i < count; i++) {
        lua_pushnumber(L, (lua_Number)values[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static float *values_read(lua_State *L, struct mgb_run *run, int variable, int64_t count)
{
    float *values = lua_newuserdatauv(L, (size_t)count * sizeof *values, 0);
    mgb_script_check(L, mgb_run_read(run, values, variable, -1));
    return values;
}

/* difference(other) -> largest difference of a weight, and the name of its variable; of two runs of one model */
static int run_difference(lua_State *L)
{
    struct mgb_run *a = run_get(L, 1), *b = run_get(L, 2);
    const struct mgb_graph *one = mgb_run_plan(a)->graph, *other = mgb_run_plan(b)->graph;
    double largest = 0;
    const char *where = NULL;
    int count = mgb_graph_variable_count(one);
    if (count != mgb_graph_variable_count(other))
        mgb_script_fail(L, "weights can be compared only between runs of one model");
    for (int v = 0; v < count; v++) {
        int64_t n = mgb_graph_variable_at(one, v).count;
        if (n != mgb_graph_variable_at(other, v).count)
            mgb_script_fail(L, "weights can be compared only between runs of one model");
        const float *x = values_read(L, a, v, n), *y = values_read(L, b, v, n);
        for (int64_t i = 0; i < n; i++) {
            double difference = fabs((double)x[i] - (double)y[i]);
            if (difference > largest || (isnan(difference) && !isnan(largest))) {
                largest = difference;
                where = mgb_graph_variable_at(one, v).name;
            }
        }
        lua_pop(L, 2);
    }
    lua_pushnumber(L, largest);
    lua_pushstring(L, where);
    return 2;
}

void mgb_script_bind_inspect(lua_State *L)
{
    static const luaL_Reg methods[] = {{"digest", run_digest},       {"placement", run_placement},
                                       {"facts", run_facts},         {"memory", run_memory},
                                       {"variables", run_variables}, {"check", run_check},
                                       {"plan", run_plan},           {"difference", run_difference},
                                       {"read", run_read},           {NULL, NULL}};
    luaL_setfuncs(L, methods, 0);
}
