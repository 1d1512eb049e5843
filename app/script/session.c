/* Sessions as a userdata over the services: open, step, set, evaluate, end. mgb.run, mgb.session and sweeps are Lua's
 * (scripts/lib/run.lua and beside it); what a session can tell about itself is in inspect.c.
 *
 * Failures come back as values (nil, status, message, details), because whether one ends the script, is an expected
 * result or a row of a sweep is for the caller to say. */
#include "app/script/bind.h"
#include "app/script/options.h"
#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SESSION "mgb.session"

struct box {
    const struct script_services *services;
    struct script_session *session; /* NULL: closed */
    bool trained;                   /* there is a loss; it may be NaN */
};

static struct box *box_check(lua_State *L)
{
    return luaL_checkudata(L, 1, SESSION);
}

static struct box *box_open(lua_State *L)
{
    struct box *box = box_check(L);
    if (!box->session)
        mgb_script_fail(L, "this session is closed");
    return box;
}

struct script_session *mgb_script_session(lua_State *L, int index)
{
    struct box *box = luaL_checkudata(L, index, SESSION);
    if (!box->session)
        mgb_script_fail(L, "this session is closed");
    return box->session;
}

/* close(error or nil): what made the script leave the session, if anything did */
static int session_close(lua_State *L)
{
    struct box *box = box_check(L);
    struct script_session *session = box->session;
    box->session = NULL;
    if (session && box->services->fail && !lua_isnoneornil(L, 2))
        box->services->fail(session, luaL_tolstring(L, 2, NULL));
    if (session)
        box->services->close(session);
    return 0;
}

/* nil, status, message, { device =, needed =, available =, run_id = }; `run`: that left a row, 0: none */
static int failure_push(lua_State *L, enum mgb_status status, int64_t run)
{
    lua_pushnil(L);
    lua_pushinteger(L, status);
    lua_pushstring(L, mgb_message_get());
    lua_createtable(L, 0, 4);
    if (run)
        mgb_script_set_integer(L, "run_id", run);
    if (status != MGB_OOM)
        return 4;
    struct mgb_oom oom = mgb_oom_get();
    mgb_script_set_text(L, "device", oom.device);
    if (oom.needed > 0)
        mgb_script_set_integer(L, "needed", oom.needed);
    mgb_script_set_integer(L, "available", oom.available);
    return 4;
}

static float real_read(struct mgb_options *o, const char *key, float fallback)
{
    return (float)mgb_options_number(o, key, (double)fallback, -(double)FLT_MAX, (double)FLT_MAX);
}

/* { kind = "sgd", lr =, ... }: made by mgb.sgd and its like, which checked the values. */
static struct mgb_optimizer optimizer_read(lua_State *L, int index)
{
    static const char *const kinds[] = {"sgd", "rmsprop", "adagrad", "adadelta", "adam", NULL};
    struct mgb_options o;
    mgb_options_begin(&o, L, index, "optimizer");
    struct mgb_optimizer result =
        mgb_optimizer_default((enum mgb_optimizer_kind)mgb_options_enum(&o, "kind", 0, kinds));
    result.lr = real_read(&o, "lr", result.lr);
    result.momentum = real_read(&o, "momentum", result.momentum);
    result.nesterov = mgb_options_boolean(&o, "nesterov", result.nesterov);
    result.rho = real_read(&o, "rho", result.rho);
    result.beta1 = real_read(&o, "beta1", result.beta1);
    result.beta2 = real_read(&o, "beta2", result.beta2);
    result.epsilon = real_read(&o, "epsilon", result.epsilon);
    result.decay = real_read(&o, "decay", result.decay);
    result.clip_norm = real_read(&o, "clip_norm", result.clip_norm);
    return result;
}

void mgb_script_read_request(lua_State *L, struct script_open_request *out,
                             struct script_point *point)
{
    const struct script_placement *placement;
    lua_getfield(L, 1, "placement");
    placement = mgb_script_placement(L, -1);
    lua_getfield(L, 1, "graph");
    lua_getfield(L, 1, "optimizer");
    *out = (struct script_open_request){
        .graph = mgb_script_graph(L, -2),
        .model = mgb_script_text_field(L, 1, "model", ""),
        .model_options = mgb_script_text_field(L, 1, "model_options", "{}"),
        .data = mgb_script_text_field(L, 1, "data", ""),
        .placement = placement->asked,
        .fresh = placement->fresh,
        .optimizer = optimizer_read(L, lua_gettop(L)),
        .seed = (uint64_t)mgb_script_integer_field(L, 1, "seed", 0),
        .backend = mgb_script_text_field(L, 1, "backend", mgb_script_of(L)->backend),
        .warmup = mgb_script_integer_field(L, 1, "warmup", 0),
        .target_noise = mgb_script_number_field(L, 1, "target_noise", 0),
        .max_time_ns = (int64_t)(mgb_script_number_field(L, 1, "max_time", 0) * 1e9),
    };
    if (lua_getfield(L, 1, "source") != LUA_TNIL)
        out->source = mgb_script_source(L, -1);
    lua_getfield(L, 1, "machine");
    out->machine = mgb_script_machine(L, -1);
    out->tag = mgb_script_text_field(L, 1, "tag", NULL);
    out->expect_oom = mgb_script_boolean_field(L, 1, "expect_oom");
    if (lua_getfield(L, 1, "point") != LUA_TNIL) {
        mgb_script_read_point(L, lua_gettop(L), point);
        out->point = point;
    }
    lua_settop(L, 1);
}

/* open{ graph =, model =, ... } -> session, what was loaded (nil: nothing was to be); or nil, status, message, details */
static int session_open(lua_State *L)
{
    const struct script_services *services = mgb_script_services(L, "sessions");
    struct script_open_request request;
    struct script_point point;
    struct mgb_checkpoint_loaded loaded = {0};
    struct script_load load = {.loaded = &loaded};
    lua_settop(L, 1);
    mgb_script_read_request(L, &request, &point);
    request.load = mgb_script_read_load(L, 1, &load) ? &load : NULL;
    struct box *box = lua_newuserdatauv(L, sizeof *box, 1);
    *box = (struct box){services, NULL, false};
    luaL_setmetatable(L, SESSION);
    lua_pushvalue(L, 1); /* graph and source must outlive the session */
    lua_setiuservalue(L, -2, 1);
    int64_t refused = 0;
    request.refused_run = &refused;
    enum mgb_status status = services->open(services->context, &box->session, &request);
    if (status != MGB_OK) {
        mgb_checkpoint_loaded_done(&loaded);
        return failure_push(L, status, refused);
    }
    if (request.load)
        mgb_script_push_loaded(L, &loaded);
    return request.load ? 2 : 1;
}

static const float *rates_read(lua_State *L, int index, int64_t steps)
{
    if (lua_isnoneornil(L, index))
        return NULL;
    float *lr = lua_newuserdatauv(L, ((size_t)steps + 1) * sizeof *lr, 0);
    for (int64_t i = 0; i < steps; i++) {
        lua_geti(L, index, i + 1);
        lr[i] = (float)luaL_checknumber(L, -1);
        lua_pop(L, 1);
    }
    return lr;
}

/* step(steps, epochs, rates or nil, trace_every, whole, bare) -> figures, with losses unless bare; or nil, status, message, details */
static int session_step(lua_State *L)
{
    struct box *box = box_open(L);
    lua_settop(L, 7);
    struct script_step_request request = {.steps = luaL_checkinteger(L, 2),
                                          .epochs = luaL_optinteger(L, 3, 0),
                                          .whole = lua_toboolean(L, 6),
                                          .trace_every = mgb_script_read_int(L, 5, "trace_every")};
    request.lr_count = lua_isnil(L, 4) ? 0 : luaL_len(L, 4);
    request.lr = rates_read(L, 4, request.lr_count);
    struct script_figures figures = {0};
    struct script_losses losses = {0};
    enum mgb_status status = box->services->step(box->session, &figures, &losses, &request);
    if (status != MGB_OK)
        return failure_push(L, status, figures.run_id);
    box->trained = box->trained || losses.count > 0;
    mgb_script_push_figures(L, &figures, box->trained);
    if (lua_toboolean(L, 7))
        return 1;
    lua_createtable(L, losses.count < INT_MAX ? (int)losses.count : INT_MAX, 0);
    for (int64_t i = 0; i < losses.count; i++) {
        lua_pushnumber(L, losses.at[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "losses");
    return 1;
}

/* figures() -> of the segment in force */
static int session_figures(lua_State *L)
{
    struct box *box = box_open(L);
    struct script_figures figures = {0};
    mgb_script_check(L, box->services->figures(box->session, &figures));
    mgb_script_push_figures(L, &figures, box->trained);
    return 1;
}

/* played() -> { engine =, events =, tasks =, virtual_s =, real_s = } of all that was simulated; nil where nothing is */
static int session_played(lua_State *L)
{
    static const char *const engines[] = {"auto", "replay", "events", "classes"};
    struct box *box = box_open(L);
    struct mgb_sim_effort effort;
    if (!box->services->played || !box->services->played(box->session, &effort))
        return 0;
    lua_createtable(L, 0, 5);
    mgb_script_set_text(L, "engine", engines[effort.engine]);
    mgb_script_set_integer(L, "events", effort.events);
    mgb_script_set_integer(L, "tasks", effort.tasks);
    mgb_script_set_number(L, "virtual_s", (double)effort.virtual_ns / 1e9);
    mgb_script_set_number(L, "real_s", (double)effort.real_ns / 1e9);
    return 1;
}

/* set(placement) -> { changed =, total_ms =, plan_ms =, move_ms =, moved_bytes = }, or nil, status, message, details */
static int session_set(lua_State *L)
{
    struct box *box = box_open(L);
    const struct script_placement *placement = mgb_script_placement(L, 2);
    struct mgb_change change = {0};
    enum mgb_status status =
        box->services->set(box->session, &change, &placement->asked, placement->fresh);
    if (status != MGB_OK)
        return failure_push(L, status, 0);
    lua_createtable(L, 0, 6);
    mgb_script_set_boolean(L, "changed", change.changed);
    mgb_script_set_number(L, "plan_ms", (double)change.plan_ns / 1e6);
    mgb_script_set_number(L, "move_ms", (double)change.move_ns / 1e6);
    mgb_script_set_number(L, "total_ms", (double)change.total_ns / 1e6);
    mgb_script_set_integer(L, "moved_bytes", change.moved_bytes);
    return 1;
}

static int session_finish(lua_State *L)
{
    struct box *box = box_open(L);
    mgb_script_check(L, box->services->finish(box->session));
    return 0;
}

/* evaluate(source) -> { loss =, rows =, metrics = by number } */
static int session_evaluate(lua_State *L)
{
    struct box *box = box_open(L);
    struct mgb_evaluation evaluation = {0};
    mgb_script_check(L,
                     box->services->evaluate(box->session, &evaluation, mgb_script_source(L, 2)));
    lua_createtable(L, 0, 3);
    lua_pushnumber(L, evaluation.loss);
    lua_setfield(L, -2, "loss");
    lua_pushinteger(L, evaluation.rows);
    lua_setfield(L, -2, "rows");
    lua_createtable(L, evaluation.metric_count, 0);
    for (int i = 0; i < evaluation.metric_count; i++) {
        lua_pushnumber(L, evaluation.metrics[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "metrics");
    return 1;
}

/* fail(message): the run ends as an error when it ends, unless something befell it before */
static int session_fail(lua_State *L)
{
    struct box *box = box_open(L);
    if (box->services->fail)
        box->services->fail(box->session, luaL_checkstring(L, 2));
    return 0;
}

static int session_is_open(lua_State *L)
{
    lua_pushboolean(L, box_check(L)->session != NULL);
    return 1;
}

/* Failures that say nothing about what was asked: the next thing asked for would meet them too. */
static void statuses_push(lua_State *L)
{
    static const enum mgb_status of_machine[] = {MGB_NO_MEMORY, MGB_IO, MGB_BUSY, MGB_INTERRUPTED,
                                                 MGB_STATE};
    lua_newtable(L);
    for (size_t i = 0; i < sizeof of_machine / sizeof *of_machine; i++) {
        lua_pushboolean(L, true);
        lua_rawseti(L, -2, of_machine[i]);
    }
}

void mgb_script_bind_session(lua_State *L)
{
    static const luaL_Reg methods[] = {{"step", session_step},         {"figures", session_figures},
                                       {"set", session_set},           {"finish", session_finish},
                                       {"evaluate", session_evaluate}, {"close", session_close},
                                       {"is_open", session_is_open},   {"fail", session_fail},
                                       {"played", session_played},     {NULL, NULL}};
    luaL_newmetatable(L, SESSION);
    lua_pushcfunction(L, session_close);
    lua_setfield(L, -2, "__gc");
    luaL_newlib(L, methods);
    mgb_script_bind_inspect(L);
    mgb_script_bind_trace(L);
    mgb_script_bind_checkpoint(L);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
    lua_pushcfunction(L, session_open);
    lua_setfield(L, -2, "open");
    lua_pushinteger(L, MGB_OOM);
    lua_setfield(L, -2, "status_oom");
    lua_pushinteger(L, MGB_WARMUP_AUTO);
    lua_setfield(L, -2, "warmup_auto");
    statuses_push(L);
    lua_setfield(L, -2, "status_of_machine");
}
