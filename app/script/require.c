/* require: text modules from known folders. Never silently from the working directory, where a stray file would shadow a
 * module (akopytov/sysbench#501); no C modules. */
#include "app/script/host.h"
#include "app/script/paths.h"
#include <ctype.h>
#include <string.h>
#include <unistd.h>

#define LOADING "mgb.loading" /* registry: modules that are being loaded */

static void name_check(lua_State *L, const char *name)
{
    bool good = *name && *name != '.' && !strstr(name, "..") && name[strlen(name) - 1] != '.';
    for (const char *c = name; *c; c++)
        good = good && (isalnum((unsigned char)*c) || strchr("._-", *c));
    if (!good)
        mgb_script_fail(
            L,
            "require: \"%s\" is not a module name: names joined by dots expected, as in "
            "\"models.resnet50\"",
            name);
}

/* Tries root/name.lua and root/name/init.lua; on success their path is on the top. Otherwise both are added to the list
 * of tried places, the string on the top. */
static bool root_search(lua_State *L, const char *root, const char *relative)
{
    static const char *const forms[] = {"%s/%s.lua", "%s/%s/init.lua"};
    for (int i = 0; i < 2; i++) {
        const char *path = lua_pushfstring(L, forms[i], root, relative);
        if (mgb_paths_is_file(path)) {
            lua_remove(L, -2);
            return true;
        }
        lua_pop(L, 1);
    }
    lua_pushfstring(L, "\n    %s/%s.lua", root, relative);
    lua_concat(L, 2);
    return false;
}

bool mgb_script_find_module(lua_State *L, const char *name)
{
    const struct mgb_script *script = mgb_script_of(L);
    const char *relative = luaL_gsub(L, name, ".", "/");
    lua_pushliteral(L, "");
    bool found = script->script_dir && root_search(L, script->script_dir, relative);
    for (int i = 0; i < script->root_count && !found; i++)
        found = root_search(L, script->roots[i], relative);
    lua_remove(L, -2);
    return found;
}

static void module_missing(lua_State *L, const char *name, const char *tried)
{
    const char *here = lua_pushfstring(L, "%s.lua", luaL_gsub(L, name, ".", "/"));
    const char *hint = "";
    if (access(here, R_OK) == 0)
        hint = lua_pushfstring(L,
                               "\n  ./%s is there, but the working directory is not searched: add "
                               "--lua-path .",
                               here);
    mgb_script_fail(L, "module '%s' not found; looked for%s%s", name, tried, hint);
}

static int module_load(lua_State *L)
{
    lua_settop(L, 2); /* name, path */
    mgb_script_load_file(L, lua_tostring(L, 2));
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_call(L, 2, 1);
    return 1;
}

static int ring_leave(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LOADING);
    lua_getfield(L, 1, "name");
    lua_pushnil(L);
    lua_rawset(L, -3);
    return 0;
}

/* Notes that `name` is being loaded; the value left on the top ends that when the caller returns or fails. (A protected
 * call would do too, but cost the error its traceback.) */
static void ring_enter(lua_State *L, const char *name)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LOADING);
    if (lua_getfield(L, -1, name) != LUA_TNIL)
        mgb_script_fail(L, "module '%s' requires itself, directly or through another module", name);
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushstring(L, name);
    lua_setfield(L, -2, "name");
    if (luaL_newmetatable(L, LOADING ".guard")) {
        lua_pushcfunction(L, ring_leave);
        lua_setfield(L, -2, "__close");
    }
    lua_setmetatable(L, -2);
    lua_pushboolean(L, true);
    lua_setfield(L, -3, name);
    lua_toclose(L, -1);
}

static int base_require(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    lua_settop(L, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (lua_getfield(L, 2, name) != LUA_TNIL)
        return 1;
    lua_pop(L, 1);
    name_check(L, name);
    if (!mgb_script_find_module(L, name))
        module_missing(L, name, lua_tostring(L, -1));
    ring_enter(L, name);
    lua_pushcfunction(L, module_load);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 3);
    lua_call(L, 2, 1);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, true);
    }
    lua_pushvalue(L, -1);
    lua_setfield(L, 2, name);
    return 1;
}

void mgb_script_open_require(lua_State *L)
{
    lua_register(L, "require", base_require);
    lua_createtable(L, 0, 1);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_setfield(L, -2, "loaded");
    mgb_script_seal(L, -1, "package");
    lua_setglobal(L, "package");
}
