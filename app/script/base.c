/* The base library with its sharp edges off: chunks are text only (crafted bytecode can crash Lua), and `os` is time, date,
 * getenv and clock. */
#include "app/script/host.h"
#include "app/script/io_wait.h"
#include <lualib.h>
#include <stdio.h>
#include <string.h>

/* load(chunk [, name [, mode [, env]]]): the mode is always text; whether env was given decides what it means. */
static int base_load(lua_State *L)
{
    int given = lua_gettop(L);
    if (given < 3)
        lua_settop(L, 3);
    lua_pushliteral(L, "t");
    lua_replace(L, 3);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* A script is read again for the lines that its errors show. */
static void plain_check(lua_State *L, const char *what, const char *path)
{
    mgb_script_check_terminal(L, what, path);
    if (mgb_script_waits(path))
        mgb_script_fail(L, "%s: \"%s\" is no plain file", what, path);
}

/* loadfile([name [, mode [, env]]]): a file loaded by the script keeps its lines for error messages. */
static int base_loadfile(lua_State *L)
{
    const char *name = luaL_optstring(L, 1, NULL);
    bool has_env = !lua_isnone(L, 3);
    if (name)
        plain_check(L, "loadfile", name);
    int status = luaL_loadfilex(L, name, "t");
    if (status != LUA_OK) {
        luaL_pushfail(L);
        lua_insert(L, -2);
        return 2;
    }
    if (name)
        mgb_script_note_chunk(L, lua_pushfstring(L, "@%s", name), name, NULL);
    if (has_env) {
        lua_pushvalue(L, 3);
        lua_setupvalue(L, name ? -3 : -2, 1);
    }
    if (name)
        lua_pop(L, 1);
    return 1;
}

static int base_dofile(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    lua_settop(L, 1);
    mgb_script_load_file(L, name);
    lua_call(L, 0, LUA_MULTRET);
    return lua_gettop(L) - 1;
}

void mgb_script_load_file(lua_State *L, const char *path)
{
    const char *shown = mgb_script_shown_path(path);
    plain_check(L, "dofile", path);
    FILE *file = fopen(path, "r");
    if (!file) {
        mgb_script_raise(L, mgb_fail(MGB_MISSING, "cannot open script '%s': %m", path));
        return;
    }
    fclose(file);
    const char *name = lua_pushfstring(L, "@%s", shown);
    mgb_script_note_chunk(L, name, path, NULL);
    lua_pop(L, 1);
    if (luaL_loadfilex(L, shown, "t") != LUA_OK)
        lua_error(L);
}

static int os_missing(lua_State *L)
{
    return luaL_error(L,
                      "os.%s is not available in scripts; there are os.clock, os.date, "
                      "os.getenv and os.time",
                      luaL_tolstring(L, 2, NULL));
}

/* Keeps only `names` of the library on the top of the stack; looking at another field calls `missing`. */
static void library_reduce(lua_State *L, const char *const *names, lua_CFunction missing)
{
    lua_newtable(L);
    for (; *names; names++) {
        lua_getfield(L, -2, *names);
        lua_setfield(L, -2, *names);
    }
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, missing);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

void mgb_script_open_base(lua_State *L)
{
    static const char *const os_names[] = {"clock", "date", "getenv", "time", NULL};
    lua_getglobal(L, "load");
    lua_pushcclosure(L, base_load, 1);
    lua_setglobal(L, "load");
    lua_register(L, "loadfile", base_loadfile);
    lua_register(L, "dofile", base_dofile);
    luaL_requiref(L, LUA_OSLIBNAME, luaopen_os, 0);
    library_reduce(L, os_names, os_missing);
    lua_pushvalue(L, -1);
    lua_setglobal(L, LUA_OSLIBNAME);
    luaL_getsubtable(L, LUA_REGISTRYINDEX,
                     LUA_LOADED_TABLE); /* or require "os" hands out the whole */
    lua_pushvalue(L, -2);
    lua_setfield(L, -2, LUA_OSLIBNAME);
    lua_pop(L, 3);
}
