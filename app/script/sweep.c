/* What sweeps (scripts/lib/sweep.lua) ask of their surroundings: points that are done, forecasts, verdicts, and telling how
 * far they are. */
#include "app/script/bind.h"
#include "app/script/options.h"
#include <mgb/name.h>
#include <mgb/placement.h>
#include <math.h>
#include <sched.h>
#include <string.h>

void mgb_script_read_point(lua_State *L, int index, struct script_point *out)
{
    *out = (struct script_point){
        .sweep = mgb_script_text_field(L, index, "sweep", ""),
        .sweep_settings = mgb_script_text_field(L, index, "sweep_settings", "{}"),
        .settings = mgb_script_text_field(L, index, "settings", "{}"),
        .digest = mgb_script_text_field(L, index, "digest", ""),
        .backend = mgb_script_text_field(L, index, "backend", mgb_script_of(L)->backend),
        .point = mgb_script_integer_field(L, index, "point", 0),
        .repeat = mgb_script_integer_field(L, index, "repetition", 0),
        .position = mgb_script_integer_field(L, index, "position", 0),
        .order_seed = mgb_script_integer_field(L, index, "order_seed", -1)};
    out->own = mgb_script_boolean_field(L, index, "own");
    out->dry = mgb_script_boolean_field(L, index, "dry");
}

/* sweep_find(point) -> figures of a finished run of it, or nil */
static int sweep_find(lua_State *L)
{
    const struct script_services *services = mgb_script_services(L, "sessions");
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
    const struct script_services *services = mgb_script_services(L, "sessions");
    mgb_script_check(L, services->sweep_finish(services->context, luaL_checkstring(L, 1)));
    return 0;
}

static int sweep_hold(lua_State *L)
{
    const struct script_services *services = mgb_script_services(L, "sessions");
    if (services->sweep_hold)
        mgb_script_check(L, services->sweep_hold(services->context));
    return 0;
}

static int sweep_release(lua_State *L)
{
    const struct script_services *services = mgb_script_services(L, "sessions");
    if (services->sweep_release)
        services->sweep_release(services->context);
    return 0;
}

/* sweep_mode() -> "asked", "resume", "fresh" or "dry" */
static int sweep_mode(lua_State *L)
{
    switch (mgb_script_services(L, "sessions")->sweep_mode) {
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
 * example_ms =, number =, placement =, elapsed_s =, left_s = } */
static int cell_tell(lua_State *L)
{
    const struct script_services *services = mgb_script_services(L, "sessions");
    luaL_checktype(L, 1, LUA_TTABLE);
    struct script_cell cell = {.sweep = mgb_script_text_field(L, 1, "sweep", ""),
                               .point = mgb_script_text_field(L, 1, "point", ""),
                               .position = mgb_script_integer_field(L, 1, "position", 0),
                               .total = mgb_script_integer_field(L, 1, "total", 0),
                               .outcome = mgb_script_text_field(L, 1, "outcome", ""),
                               .message = mgb_script_text_field(L, 1, "message", ""),
                               .phase = mgb_script_text_field(L, 1, "phase", ""),
                               .resumed = mgb_script_boolean_field(L, 1, "resumed"),
                               .step_ms = mgb_script_number_field(L, 1, "step_ms", (double)NAN),
                               .example_ms =
                                   mgb_script_number_field(L, 1, "example_ms", (double)NAN),
                               .number = mgb_script_integer_field(L, 1, "number", 0),
                               .placement = mgb_script_text_field(L, 1, "placement", ""),
                               .elapsed_s = mgb_script_number_field(L, 1, "elapsed_s", (double)NAN),
                               .left_s = mgb_script_number_field(L, 1, "left_s", (double)NAN)};
    static const char *const kinds[] = {"sweep begins", "cell begins", "cell ends", "sweep ends"};
    const char *what = mgb_script_text_field(L, 1, "what", kinds[0]);
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
    const struct script_services *services = mgb_script_services(L, "sessions");
    struct script_open_request request;
    struct script_point point;
    struct script_forecast forecast = {.seconds = (double)NAN};
    lua_settop(L, 1);
    mgb_script_read_request(L, &request, &point);
    if (!services->forecast)
        mgb_script_fail(L, "a dry run is not possible here");
    mgb_script_check(L, services->forecast(services->context, &forecast, &request));
    lua_createtable(L, 0, 8);
    mgb_script_set_integer(L, "status", forecast.status);
    mgb_script_set_text(L, "message", forecast.message);
    mgb_script_set_text(L, "backend", forecast.backend ? forecast.backend : request.backend);
    mgb_script_set_text(L, "gpu", forecast.gpu);
    mgb_script_set_integer(L, "gpu_bytes", forecast.gpu_bytes);
    mgb_script_set_integer(L, "cpu_bytes", forecast.cpu_bytes);
    mgb_script_set_number(L, "seconds", forecast.seconds);
    return 1;
}

/* largest_batch(request) -> examples for each GPU */
static int largest_batch_get(lua_State *L)
{
    const struct script_services *services = mgb_script_services(L, "sessions");
    struct script_open_request request;
    struct script_point point;
    int64_t batch = 0;
    lua_settop(L, 1);
    mgb_script_read_request(L, &request, &point);
    if (!services->largest_batch)
        mgb_script_fail(L, "planning is not possible here");
    mgb_script_check(L, services->largest_batch(services->context, &batch, &request));
    lua_pushinteger(L, batch);
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
    lua_createtable(L, 0, 12);
    mgb_script_set_number(L, "step_ms", judged->step_ms);
    mgb_script_set_number(L, "low_ms", judged->low_ms);
    mgb_script_set_number(L, "high_ms", judged->high_ms);
    mgb_script_set_number(L, "ratio", judged->ratio);
    mgb_script_set_number(L, "ratio_low", judged->ratio_low);
    mgb_script_set_number(L, "ratio_high", judged->ratio_high);
    mgb_script_set_number(L, "floor", judged->floor);
    mgb_script_set_text(L, "verdict", judged->verdict);
    mgb_script_set_text(L, "reason", *judged->reason ? judged->reason : NULL);
    mgb_script_set_integer(L, "more_repetitions", judged->more_repetitions);
    mgb_script_set_text(L, "floor_source", judged->floor_source);
    mgb_script_set_text(L, "odd", *judged->odd ? judged->odd : NULL);
}

/* judge{ { cell = { segments }, base = { segments } or nil }, ... } -> a list as long; nil without a database */
static int cells_judge(lua_State *L)
{
    const struct script_services *services = mgb_script_services(L, "sessions");
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

/* rank{ { cell = { segments }, label = text }, ... } -> which is the fastest, in words; "" without a database; then which of
 * the list it is, or nil; then the same in a few words */
static int cells_rank(lua_State *L)
{
    const struct script_services *services = mgb_script_services(L, "sessions");
    luaL_checktype(L, 1, LUA_TTABLE);
    int count = (int)luaL_len(L, 1);
    struct script_judge_request *cells =
        lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *cells, 0);
    const char **labels = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *labels, 0);
    struct script_ranking ranking = {.fastest = -1};
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, 1, i + 1); /* the list keeps the labels */
        cells[i].cell = segments_read(L, "cell", &cells[i].cell_count);
        cells[i].base = NULL;
        cells[i].base_count = 0;
        labels[i] = mgb_script_text_field(L, -1, "label", "");
        lua_pop(L, 1);
    }
    if (services->rank)
        mgb_script_check(L, services->rank(services->context, &ranking, cells, labels, count));
    lua_pushstring(L, ranking.text);
    if (ranking.fastest >= 0)
        lua_pushinteger(L, ranking.fastest + 1);
    else
        lua_pushnil(L);
    lua_pushstring(L, ranking.headline);
    return 3;
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

/* option_in_effect(name, strategy) -> whether the placement option means something under it; true for what is none */
static int option_in_effect(lua_State *L)
{
    const struct mgb_option *option = mgb_placement_find_option(luaL_checkstring(L, 1));
    const char *const *names = mgb_placement_options()[MGB_OPTION_STRATEGY].values;
    const char *strategy = luaL_checkstring(L, 2);
    bool in_effect = true;
    for (unsigned i = 0; option && names[i]; i++)
        if (strcmp(names[i], strategy) == 0)
            in_effect = (option->strategies >> i & 1) != 0;
    lua_pushboolean(L, in_effect);
    return 1;
}

/* label_check(what, name): raises unless tags, baselines and sweeps may be called so */
static int label_check(lua_State *L)
{
    mgb_script_check(L, mgb_name_check(luaL_checkstring(L, 1), luaL_checkstring(L, 2)));
    return 0;
}

/* CPU cores that this process may use: what the engine divides among towers. */
static int cores_count(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? count : 1;
}

void mgb_script_bind_sweep(lua_State *L)
{
    static const luaL_Reg lent[] = {
        {"sweep_find", sweep_find},   {"sweep_finish", sweep_finish},
        {"sweep_hold", sweep_hold},   {"sweep_release", sweep_release},
        {"sweep_mode", sweep_mode},   {"cell_tell", cell_tell},
        {"forecast", forecast_get},   {"largest_batch", largest_batch_get},
        {"judge", cells_judge},       {"script_end", script_end},
        {"label_check", label_check}, {NULL, NULL}};
    luaL_setfuncs(L, lent, 0);
    mgb_script_set_text(L, "backend", mgb_script_of(L)->backend);
    mgb_script_set_text(L, "machine", mgb_script_of(L)->machine);
    mgb_script_set_integer(L, "cores", cores_count());
    lua_pushcfunction(L, option_in_effect);
    lua_setfield(L, -2, "option_in_effect");
    lua_pushcfunction(L, cells_rank);
    lua_setfield(L, -2, "rank");
    mgb_script_set_boolean(L, "is_text", mgb_script_of(L)->format == MGB_TABLE_TEXT);
}
