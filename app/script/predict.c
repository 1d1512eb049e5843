/* A step plan and the machines it is played on in virtual time: what a step would take, without a run and with nothing
 * stored. mgb.predict (scripts/lib/predict.lua) is what scripts see. */
#include "app/script/bind.h"
#include <mgb/phase.h>
#include <mgb/run.h>
#include <mgb/sim.h>
#include <stdlib.h>
#include <string.h>

#define PLAYER "mgb.player"

struct player {
    struct mgb_topology topology;
    struct mgb_effective effective;
    struct mgb_plan *plan;
};

static void player_free(struct player *player)
{
    mgb_plan_free(player->plan);
    mgb_effective_done(&player->effective);
    mgb_topology_done(&player->topology);
    *player = (struct player){0};
}

static int player_close(lua_State *L)
{
    player_free(luaL_checkudata(L, 1, PLAYER));
    return 0;
}

static const struct mgb_machine *machine_get(lua_State *L, int index)
{
    const struct mgb_machine *machine = mgb_script_machine(L, index);
    luaL_argexpected(L, machine, index, "machine");
    return machine;
}

static enum mgb_status plan_make(struct player *player, const struct script_open_request *request,
                                 const struct mgb_virtual *face)
{
    MGB_TRY(mgb_placement_resolve(&player->effective, &request->placement, request->fresh,
                                  request->graph, &player->topology, face->cores));
    struct mgb_plan_request wanted = {.kind = MGB_PLAN_TRAIN,
                                      .graph = request->graph,
                                      .topology = &player->topology,
                                      .placement = &player->effective,
                                      .facts = face->facts,
                                      .optimizer = request->optimizer,
                                      .rows = player->effective.global_batch};
    return mgb_plan_make(&player->plan, &wanted);
}

static enum mgb_status player_fill(struct player *player, const struct script_open_request *request)
{
    struct mgb_sim_options options = {0};
    struct mgb_sim *sim;
    MGB_TRY(mgb_machine_topology(&player->topology, request->machine));
    MGB_TRY(mgb_sim_open(&sim, request->machine, &options));
    enum mgb_status status = plan_make(player, request, mgb_sim_virtual(sim));
    mgb_sim_close(sim);
    return status;
}

/* player{ graph =, placement =, optimizer =, machine = } -> player */
static int player_make(lua_State *L)
{
    struct script_open_request request;
    struct script_point point;
    lua_settop(L, 1);
    mgb_script_read_request(L, &request, &point);
    if (!request.machine)
        mgb_script_fail(L, "mgb.predict: machine: table, name or file of a machine expected");
    struct player *player = lua_newuserdatauv(L, sizeof *player, 1);
    *player = (struct player){0};
    luaL_setmetatable(L, PLAYER);
    lua_pushvalue(L, 1); /* graph and placement outlive the plan */
    lua_setiuservalue(L, -2, 1);
    mgb_script_check(L, player_fill(player, &request));
    return 1;
}

/* One step on the machine as it is drawn, without chance in the step itself. */
static enum mgb_status varied_play(const struct player *player, const struct mgb_machine *machine,
                                   const struct mgb_sim_doubt *doubt, uint64_t seed,
                                   uint64_t number, double *ns)
{
    struct mgb_sim_options options = {.seed = seed};
    struct mgb_virtual_request request = {.plan = player->plan, .placement = &player->effective};
    struct mgb_virtual_step step = {0};
    struct mgb_machine *drawn;
    struct mgb_sim *sim;
    MGB_TRY(mgb_sim_vary(&drawn, machine, doubt, seed, number));
    enum mgb_status status = mgb_sim_open(&sim, drawn, &options);
    if (status == MGB_OK) {
        const struct mgb_virtual *face = mgb_sim_virtual(sim);
        status = face->play(face->context, &step, &request);
        *ns = (double)step.wall_ns;
        mgb_sim_close(sim);
    }
    mgb_sim_vary_end(drawn);
    return status;
}

static void phases_set(lua_State *L, const char *key, const int64_t *ns)
{
    lua_createtable(L, 0, MGB_PHASE_COUNT);
    for (int p = 0; p < MGB_PHASE_COUNT; p++)
        if (ns[p] > 0)
            mgb_script_set_number(L, mgb_phase_name((enum mgb_phase)p), (double)ns[p] / 1e6);
    lua_setfield(L, -2, key);
}

/* { device =, finish_ms =, busy = { forward = ms, ... }, exposed = {...}, planned = bytes } a device of the plan */
static void devices_push(lua_State *L, const struct player *player,
                         const struct mgb_device_times *times)
{
    char name[MGB_DEVICE_NAME_MAX];
    lua_createtable(L, player->plan->use_count, 0);
    for (int i = 0; i < player->plan->use_count; i++) {
        lua_createtable(L, 0, 5);
        const struct mgb_device *device = &player->topology.devices[times[i].device];
        mgb_script_set_text(L, "device", mgb_device_format(name, device->name));
        mgb_script_set_number(L, "finish_ms", (double)times[i].finish_ns / 1e6);
        mgb_script_set_integer(L, "planned", player->plan->uses[i].peak_bytes);
        phases_set(L, "busy", times[i].busy);
        phases_set(L, "exposed", times[i].exposed);
        lua_rawseti(L, -2, i + 1);
    }
}

/* Plays `count` steps; *out is the last one, *ns and *wasted are means. */
static enum mgb_status steps_play(struct mgb_sim *sim, struct mgb_virtual_request *request,
                                  int64_t count, struct mgb_virtual_step *out, double *ns,
                                  double *wasted)
{
    const struct mgb_virtual *face = mgb_sim_virtual(sim);
    *ns = *wasted = 0;
    for (int64_t k = 0; k < count; k++, request->step++) {
        MGB_TRY(face->play(face->context, out, request));
        *ns += (double)out->wall_ns / (double)count;
        *wasted += out->wasted_share / (double)count;
    }
    return MGB_OK;
}

/* Traced tasks of a run, { number, ns, number, ns, ... } at `index`, numbered as stored: in the order of the flat plan. */
static enum mgb_status tasks_learn(lua_State *L, int index, struct mgb_sim *sim,
                                   const struct mgb_plan *plan)
{
    struct mgb_flat flat;
    MGB_TRY(mgb_plan_expand(&flat, plan));
    int count = (int)(lua_rawlen(L, index) / 2);
    struct mgb_task_time *times = calloc((size_t)count + 1, sizeof *times);
    enum mgb_status status =
        times ? MGB_OK : mgb_fail(MGB_NO_MEMORY, "reading traced tasks: memory is exhausted");
    for (int i = 0; i < count && status == MGB_OK; i++) {
        lua_rawgeti(L, index, 2 * i + 1);
        lua_rawgeti(L, index, 2 * i + 2);
        lua_Integer number = lua_tointeger(L, -2);
        if (number < 0 || number >= flat.count)
            status = mgb_fail(MGB_STATE, "what was traced is of another plan than the run's");
        else
            times[i] = (struct mgb_task_time){.task = flat.tasks[number].task,
                                              .tower = flat.tasks[number].tower,
                                              .device = flat.tasks[number].device,
                                              .from = flat.tasks[number].from,
                                              .duration_ns = lua_tointeger(L, -1)};
        lua_pop(L, 2);
    }
    if (status == MGB_OK)
        status = mgb_sim_learn(sim, plan, times, count);
    free(times);
    mgb_flat_done(&flat);
    return status;
}

/* replay(machine, session, tasks) -> ns, devices: a step with the durations that were traced in the session's run */
static int player_replay(lua_State *L)
{
    struct player *player = luaL_checkudata(L, 1, PLAYER);
    const struct mgb_machine *machine = machine_get(L, 2);
    struct script_session *session = mgb_script_session(L, 3);
    const struct mgb_run *run = mgb_script_of(L)->services->engine(session);
    luaL_checktype(L, 4, LUA_TTABLE);
    struct mgb_sim_options options = {.seed = 1};
    struct mgb_virtual_request request = {.plan = player->plan, .placement = &player->effective};
    struct mgb_virtual_step step;
    struct mgb_sim *sim;
    double ns, wasted;
    mgb_script_check(L, mgb_sim_open(&sim, machine, &options));
    enum mgb_status status = tasks_learn(L, 4, sim, mgb_run_plan(run));
    if (status == MGB_OK)
        status = steps_play(sim, &request, 1, &step, &ns, &wasted);
    if (status == MGB_OK) {
        lua_pushnumber(L, ns);
        devices_push(L, player, step.devices);
    }
    mgb_sim_close(sim);
    mgb_script_check(L, status);
    return 2;
}

/* play(machine, seed, step, count, backups) -> ns, the mean of so many steps; devices, of the last one; the mean share of work
 * that was wasted by backups */
static int player_play(lua_State *L)
{
    struct player *player = luaL_checkudata(L, 1, PLAYER);
    const struct mgb_machine *machine = machine_get(L, 2);
    struct mgb_sim_options options = {.seed = (uint64_t)luaL_optinteger(L, 3, 1),
                                      .backups = (int)luaL_optinteger(L, 6, 0)};
    struct mgb_virtual_request request = {
        .plan = player->plan, .placement = &player->effective, .step = luaL_optinteger(L, 4, 0)};
    lua_Integer count = luaL_optinteger(L, 5, 1);
    luaL_argcheck(L, count > 0, 5, "a count of steps expected");
    if (machine->device_count != player->topology.device_count)
        mgb_script_fail(L, "predict: a machine of %d devices expected, as planned for; '%s' has %d",
                        player->topology.device_count, machine->name, machine->device_count);
    struct mgb_virtual_step step;
    struct mgb_sim *sim;
    double ns, wasted;
    mgb_script_check(L, mgb_sim_open(&sim, machine, &options));
    enum mgb_status status = steps_play(sim, &request, count, &step, &ns, &wasted);
    if (status == MGB_OK) {
        lua_pushnumber(L, ns);
        devices_push(L, player, step.devices);
        lua_pushnumber(L, wasted);
    }
    mgb_sim_close(sim);
    mgb_script_check(L, status);
    return 3;
}

/* varied(machine, { compute =, wires =, host = }, seed, first, count) -> ns of the same step on so many draws of the machine,
 * from number `first` on; see mgb_sim_vary */
static int player_varied(lua_State *L)
{
    struct player *player = luaL_checkudata(L, 1, PLAYER);
    const struct mgb_machine *machine = machine_get(L, 2);
    struct mgb_sim_doubt doubt = {mgb_script_number_field(L, 3, "compute", 0),
                                  mgb_script_number_field(L, 3, "wires", 0),
                                  mgb_script_number_field(L, 3, "host", 0)};
    uint64_t seed = (uint64_t)luaL_checkinteger(L, 4);
    lua_Integer first = luaL_checkinteger(L, 5), count = luaL_checkinteger(L, 6);
    lua_createtable(L, (int)count, 0);
    for (lua_Integer i = 0; i < count; i++) {
        double ns = 0;
        mgb_script_check(L, varied_play(player, machine, &doubt, seed, (uint64_t)(first + i), &ns));
        lua_pushnumber(L, ns);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* placement() -> options in effect by name; one without a meaning under the strategy is not there */
static int player_placement(lua_State *L)
{
    const struct player *player = luaL_checkudata(L, 1, PLAYER);
    char text[512];
    lua_createtable(L, 0, MGB_OPTION_COUNT);
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        mgb_script_push_option(L, (enum mgb_option_id)i,
                               mgb_effective_get_text(text, sizeof text, &player->effective,
                                                      &player->topology, (enum mgb_option_id)i));
        lua_setfield(L, -2, mgb_placement_options()[i].name);
    }
    return 1;
}

/* traffic() -> { from =, to =, bytes = } a pair of devices */
static int player_traffic(lua_State *L)
{
    const struct player *player = luaL_checkudata(L, 1, PLAYER);
    char name[MGB_DEVICE_NAME_MAX];
    lua_createtable(L, player->plan->traffic_count, 0);
    for (int i = 0; i < player->plan->traffic_count; i++) {
        const struct mgb_traffic *t = &player->plan->traffic[i];
        lua_createtable(L, 0, 3);
        mgb_script_set_text(L, "from",
                            mgb_device_format(name, player->topology.devices[t->from].name));
        mgb_script_set_text(L, "to", mgb_device_format(name, player->topology.devices[t->to].name));
        mgb_script_set_integer(L, "bytes", t->bytes);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* admit() -> true; or false and why it does not fit */
static int player_admit(lua_State *L)
{
    const struct player *player = luaL_checkudata(L, 1, PLAYER);
    enum mgb_status status = mgb_plan_admit(player->plan, NULL, player->effective.gpu_memory);
    if (status != MGB_OK && status != MGB_OOM)
        mgb_script_raise(L, status);
    lua_pushboolean(L, status == MGB_OK);
    lua_pushstring(L, status == MGB_OK ? "" : mgb_message_get());
    return 2;
}

void mgb_script_bind_predict(lua_State *L)
{
    static const luaL_Reg methods[] = {{"replay", player_replay},
                                       {"play", player_play},
                                       {"varied", player_varied},
                                       {"placement", player_placement},
                                       {"traffic", player_traffic},
                                       {"admit", player_admit},
                                       {NULL, NULL}};
    luaL_newmetatable(L, PLAYER);
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, player_close);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    lua_pushcfunction(L, player_make);
    lua_setfield(L, -2, "player");
}
