/* Coroutines that an interrupt reaches: Lua's hooks belong to one coroutine, so the state must know which one runs when
 * the signal comes. Otherwise as in the standard library (reference manual 6.2). A failed coroutine leaves its frames for
 * the traceback. */
#include "app/script/host.h"
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

static lua_State *coroutine_check(lua_State *L)
{
    lua_State *co = lua_tothread(L, 1);
    luaL_argexpected(L, co, 1, "coroutine");
    return co;
}

/* Runs `co` and notes it as the running one meanwhile. The flag is looked at after each switch, because the signal may
 * have come just before it. */
static int coroutine_switch(lua_State *L, lua_State *co, int arguments, int *results)
{
    struct mgb_script *script = mgb_script_of(L);
    atomic_store(&script->running, co);
    mgb_script_rearm(co);
    int status = lua_resume(co, L, arguments, results);
    atomic_store(&script->running, L);
    mgb_script_rearm(L);
    return status;
}

static void failure_note(lua_State *L, lua_State *co)
{
    struct mgb_script *script = mgb_script_of(L);
    if (lua_type(co, -1) != LUA_TSTRING)
        return;
    mgb_script_push_trace(L, co, 0);
    free(script->coroutine_trace);
    free(script->coroutine_message);
    script->coroutine_trace = strdup(lua_tostring(L, -1));
    script->coroutine_message = strdup(lua_tostring(co, -1));
    lua_pop(L, 1);
}

/* Moves `arguments` values to co, resumes it, moves the results back; their number, or -1 with the error on top of L. */
static int coroutine_run(lua_State *L, lua_State *co, int arguments)
{
    if (!lua_checkstack(co, arguments)) {
        lua_pushliteral(L, "too many arguments to resume");
        return -1;
    }
    lua_xmove(L, co, arguments);
    int results;
    int status = coroutine_switch(L, co, arguments, &results);
    if (status != LUA_OK && status != LUA_YIELD) {
        failure_note(L, co);
        lua_xmove(co, L, 1);
        return -1;
    }
    if (!lua_checkstack(L, results + 1)) {
        lua_pop(co, results);
        lua_pushliteral(L, "too many results to resume");
        return -1;
    }
    lua_xmove(co, L, results);
    return results;
}

static int coroutine_resume(lua_State *L)
{
    lua_State *co = coroutine_check(L);
    int results = coroutine_run(L, co, lua_gettop(L) - 1);
    lua_pushboolean(L, results >= 0);
    if (results < 0) {
        lua_insert(L, -2);
        return 2;
    }
    lua_insert(L, -(results + 1));
    return results + 1;
}

static int wrap_call(lua_State *L)
{
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    int results = coroutine_run(L, co, lua_gettop(L));
    if (results >= 0)
        return results;
    int status = lua_status(co);
    if (status == LUA_OK ||
        status == LUA_YIELD) { /* not resumed at all: dead, or running already */
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
    } else if (lua_resetthread(co) != LUA_OK) { /* it failed: its variables are closed */
        lua_xmove(co, L, 1);
        lua_remove(L, -2);
    }
    return lua_error(L);
}

static int coroutine_wrap(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_State *co = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    lua_pushcclosure(L, wrap_call, 1);
    return 1;
}

void mgb_script_open_coroutine(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"resume", coroutine_resume}, {"wrap", coroutine_wrap}, {NULL, NULL}};
    luaL_requiref(L, LUA_COLIBNAME, luaopen_coroutine, 1);
    luaL_setfuncs(L, functions, 0);
    lua_pop(L, 1);
}
