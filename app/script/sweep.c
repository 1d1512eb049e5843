/* What sweeps (scripts/lib/sweep.lua) ask of their surroundings: points that are done, forecasts, verdicts, and telling how
 * far they are. */
#include "app/script/bind.h"
#include "app/script/options.h"
#include <math.h>
#include <string.h>

static const struct script_services *services_get(lua_State *L)
{
    const struct script_services *services = mgb_script_of(L)->services;
    if (!services)
        mgb_script_fail(L, "nothing can be run here: this program offers no sessions");
    return services;
}

static int64_t count_field(lua_State *L, int index, const char *key, int64_t fallback)
{
    lua_getfield(L, index, key);
    int64_t value = luaL_optinteger(L, -1, fallback);
    lua_pop(L, 1);
    return value;
}

static double number_field(lua_State *L, int index, const char *key)
{
    lua_getfield(L, index, key);
    double value = luaL_optnumber(L, -1, (double)NAN);
    lua_pop(L, 1);
    return value;
}

static const char *text_field(lua_State *L, int index, const char *key, const char *fallback)
{
    lua_getfield(L, index, key);
    const char *text = luaL_optstring(L, -1, fallback);
    lua_pop(L, 1); /* stays alive in the table */
    return text;
}

static bool flag_field(lua_State *L, int index, const char *key)
{
    lua_getfield(L, index, key);
    bool value = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return value;
}

/* What is not known has no field. */
static void number_set(lua_State *L, const char *key, double value)
{
    if (isnan(value))
        return;
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

static void text_set(lua_State *L, const char *key, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, key);
}

void mgb_script_read_point(lua_State *L, int index, struct script_point *out)
{
    *out =
        (struct script_point){.sweep = text_field(L, index, "sweep", ""),
                              .sweep_settings = text_field(L, index, "sweep_settings", "{}"),
                              .settings = text_field(L, index, "settings", "{}"),
                              .digest = text_field(L, index, "digest", ""),
                              .backend = text_field(L, index, "backend", mgb_script_of(L)->backend),
                              .point = count_field(L, index, "point", 0),
                              .repeat = count_field(L, index, "repetition", 0),
                              .position = count_field(L, index, "position", 0),
                              .order_seed = count_field(L, index, "order_seed", -1)};
    out->own = flag_field(L, index, "own");
    out->dry = flag_field(L, index, "dry");
}

/* sweep_find(point) -> figures of a finished run of it, or nil */
static int sweep_find(lua_State *L)
{
    const struct script_services *services = services_get(L);
    struct script_point point;
    struct script_figures figures = {0};
    bool found = false;
    luaL_checktype(L, 1, LUA_TTABLE);
    mgb_script_read_point(L, 1, &point);
    mgb_script_check(L, services->sweep_find(services->context, &found, &figures, &point));
    if (!found)
        return 0;
    mgb_script_push_figures(L, &figures, false); /* what it was, is in the database */
    return 1;
}

static int sweep_finish(lua_State *L)
{
    const struct script_services *services = services_get(L);
    mgb_script_check(L, services->sweep_finish(services->context, luaL_checkstring(L, 1)));
    return 0;
}

/* sweep_mode() -> "asked", "resume", "fresh" or "dry" */
static int sweep_mode(lua_State *L)
{
    switch (services_get(L)->sweep_mode) {
    case SCRIPT_SWEEP_ASKED:
        lua_pushliteral(L, "asked");
        break;
    case SCRIPT_SWEEP_RESUME:
        lua_pushliteral(L, "resume");
        break;
    case SCRIPT_SWEEP_FRESH:
        lua_pushliteral(L, "fresh");
        break;
    case SCRIPT_SWEEP_DRY:
        lua_pushliteral(L, "dry");
        break;
    }
    return 1;
}

/* cell_tell{ what = from 0, sweep =, point =, position =, total =, outcome =, message =, phase =, resumed =, step_ms =,
 * elapsed_s =, left_s = } */
static int cell_tell(lua_State *L)
{
    const struct script_services *services = services_get(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_getfield(L, 1, "resumed");
    struct script_cell cell = {.sweep = text_field(L, 1, "sweep", ""),
                               .point = text_field(L, 1, "point", ""),
                               .position = count_field(L, 1, "position", 0),
                               .total = count_field(L, 1, "total", 0),
                               .outcome = text_field(L, 1, "outcome", ""),
                               .message = text_field(L, 1, "message", ""),
                               .phase = text_field(L, 1, "phase", ""),
                               .resumed = lua_toboolean(L, -1),
                               .step_ms = number_field(L, 1, "step_ms"),
                               .elapsed_s = number_field(L, 1, "elapsed_s"),
                               .left_s = number_field(L, 1, "left_s")};
    static const char *const kinds[] = {"sweep begins", "cell begins", "cell ends", "sweep ends"};
    const char *what = text_field(L, 1, "what", kinds[0]);
    for (int i = 0; i < 4; i++)
        if (strcmp(kinds[i], what) == 0)
            cell.what = i;
    if (services->cell)
        services->cell(services->context, &cell);
    return 0;
}

/* forecast(request) -> { status =, message =, backend =, gpu =, gpu_bytes =, cpu_bytes =, seconds = } */
static int forecast_get(lua_State *L)
{
    const struct script_services *services = services_get(L);
    struct script_open_request request;
    struct script_point point;
    struct script_forecast forecast = {.seconds = (double)NAN};
    lua_settop(L, 1);
    mgb_script_read_request(L, &request, &point);
    if (!services->forecast)
        mgb_script_fail(L, "a dry run is not possible here");
    mgb_script_check(L, services->forecast(services->context, &forecast, &request));
    lua_createtable(L, 0, 8);
    lua_pushinteger(L, forecast.status);
    lua_setfield(L, -2, "status");
    text_set(L, "message", forecast.message);
    text_set(L, "backend", forecast.backend ? forecast.backend : request.backend);
    text_set(L, "gpu", forecast.gpu);
    lua_pushinteger(L, forecast.gpu_bytes);
    lua_setfield(L, -2, "gpu_bytes");
    lua_pushinteger(L, forecast.cpu_bytes);
    lua_setfield(L, -2, "cpu_bytes");
    number_set(L, "seconds", forecast.seconds);
    return 1;
}

/* The integers of the list in `key` of the table on the top; kept alive in it. */
static const int64_t *segments_read(lua_State *L, const char *key, int *count)
{
    int64_t *segments = NULL;
    *count = 0;
    if (lua_getfield(L, -1, key) == LUA_TTABLE) {
        *count = (int)luaL_len(L, -1);
        segments = lua_newuserdatauv(L, ((size_t)*count + 1) * sizeof *segments, 0);
        for (int i = 0; i < *count; i++) {
            lua_rawgeti(L, -2, i + 1);
            segments[i] = luaL_checkinteger(L, -1);
            lua_pop(L, 1);
        }
        lua_rawseti(L, -2, 0);
    }
    lua_pop(L, 1);
    return segments;
}

static void judged_push(lua_State *L, const struct script_judged *judged)
{
    lua_createtable(L, 0, 10);
    number_set(L, "step_ms", judged->step_ms);
    number_set(L, "low_ms", judged->low_ms);
    number_set(L, "high_ms", judged->high_ms);
    number_set(L, "ratio", judged->ratio);
    number_set(L, "ratio_low", judged->ratio_low);
    number_set(L, "ratio_high", judged->ratio_high);
    number_set(L, "floor", judged->floor);
    if (judged->verdict)
        text_set(L, "verdict", judged->verdict);
    if (judged->reason[0])
        text_set(L, "reason", judged->reason);
    lua_pushinteger(L, judged->more_repetitions);
    lua_setfield(L, -2, "more_repetitions");
}

/* judge{ { cell = { segments }, base = { segments } or nil }, ... } -> a list as long; nil without a database */
static int cells_judge(lua_State *L)
{
    const struct script_services *services = services_get(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    if (!services->judge)
        return 0;
    int count = (int)luaL_len(L, 1);
    struct script_judge_request *requests =
        lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *requests, 0);
    struct script_judged *judged = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *judged, 0);
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, 1, i + 1);
        requests[i].cell = segments_read(L, "cell", &requests[i].cell_count);
        requests[i].base = segments_read(L, "base", &requests[i].base_count);
        lua_pop(L, 1);
    }
    mgb_script_check(L, services->judge(services->context, judged, requests, count));
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        judged_push(L, &judged[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* end() ends the script quietly, through its own pcall too: there is nothing that it could go on with. */
static int script_end(lua_State *L)
{
    struct mgb_script *script = mgb_script_of(L);
    script->stopped = true;
    mgb_script_interrupt(script);
    lua_pushliteral(L, "stopped");
    return lua_error(L);
}

void mgb_script_bind_sweep(lua_State *L)
{
    static const luaL_Reg lent[] = {{"sweep_find", sweep_find}, {"sweep_finish", sweep_finish},
                                    {"sweep_mode", sweep_mode}, {"cell_tell", cell_tell},
                                    {"forecast", forecast_get}, {"judge", cells_judge},
                                    {"script_end", script_end}, {NULL, NULL}};
    luaL_setfuncs(L, lent, 0);
    lua_pushstring(L, mgb_script_of(L)->backend);
    lua_setfield(L, -2, "backend");
    lua_pushstring(L, mgb_script_of(L)->machine); /* NULL: nil */
    lua_setfield(L, -2, "machine");
    lua_pushboolean(L, mgb_script_of(L)->format == MGB_TABLE_TEXT);
    lua_setfield(L, -2, "is_text");
}
