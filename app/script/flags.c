/* What mgb.options (scripts/lib/flags.lua) needs from C, and the check that no typed flag was left unread. */
#include "app/script/host.h"
#include "app/script/mgb_lua_flags.h"
#include <mgb/text.h>
#include <stdlib.h>
#include <string.h>

static int usage_error(lua_State *L)
{
    mgb_script_of(L)->error.usage = true;
    return mgb_script_raise(L, mgb_fail(MGB_INVALID, "%s", luaL_checkstring(L, 1)));
}

void mgb_script_push_usage(lua_State *L)
{
    lua_pushcfunction(L, usage_error);
}

/* Ends the script by the way an interrupt does, so that its own pcall does not keep it going. */
static int script_stop(lua_State *L)
{
    struct mgb_script *script = mgb_script_of(L);
    char *help = strdup(luaL_optstring(L, 1, ""));
    if (help) {
        free(script->help_text);
        script->help_text = help;
    }
    script->stopped = true;
    mgb_script_interrupt(script);
    lua_pushliteral(L, "stopped after help");
    return lua_error(L);
}

void mgb_script_check_flags(lua_State *L)
{
    const struct mgb_script *script = mgb_script_of(L);
    if (script->flags_read)
        return;
    if (script->help) {
        lua_pushcfunction(L, script_stop);
        lua_call(L, 0, 0);
    }
    if (script->flag_count > 0) {
        lua_pushcfunction(L, usage_error);
        lua_pushfstring(L, "%s: this script declares no flags; words for it come after --",
                        script->flags[0]);
        lua_call(L, 1, 0);
    }
}

static int flags_mark_read(lua_State *L)
{
    mgb_script_of(L)->flags_read = true;
    return 0;
}

/* nearest(wanted, { names }) -> name or nil */
static int nearest_find(lua_State *L)
{
    const char *wanted = luaL_checkstring(L, 1);
    int count = (int)luaL_len(L, 2);
    const char **names = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *names, 0);
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, 2, i + 1);
        names[i] = luaL_checkstring(L, -1); /* stays alive in the list */
        lua_pop(L, 1);
    }
    lua_pushstring(L, mgb_nearest_name(wanted, names, count));
    return 1;
}

void mgb_script_open_flags(lua_State *L)
{
    static const luaL_Reg lent[] = {{"usage", usage_error},
                                    {"stop", script_stop},
                                    {"read", flags_mark_read},
                                    {"nearest", nearest_find},
                                    {NULL, NULL}};
    const struct mgb_script *script = mgb_script_of(L);
    if (luaL_loadbufferx(L, mgb_lua_flags, mgb_lua_flags_size, MGB_SCRIPT_INNER "flags", "t") !=
        LUA_OK)
        lua_error(L);
    lua_pushvalue(L, -2);
    luaL_newlib(L, lent);
    lua_pushboolean(L, script->help);
    lua_setfield(L, -2, "help");
    lua_createtable(L, script->flag_count, 0);
    for (int i = 0; i < script->flag_count; i++) {
        lua_pushstring(L, script->flags[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "flags");
    lua_call(L, 2, 0);
}
