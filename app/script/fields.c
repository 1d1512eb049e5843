/* Fields of the tables that the bindings read and make, and the services they need. See bind.h. */
#include "app/script/bind.h"
#include <math.h>

const struct script_services *mgb_script_services(lua_State *L, const char *offered)
{
    const struct script_services *services = mgb_script_of(L)->services;
    if (!services)
        mgb_script_fail(L, "not possible here: this program offers no %s", offered);
    return services;
}

void mgb_script_set_number(lua_State *L, const char *key, double value)
{
    if (isnan(value))
        return;
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
}

void mgb_script_set_integer(lua_State *L, const char *key, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, key);
}

void mgb_script_set_boolean(lua_State *L, const char *key, bool value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, key);
}

void mgb_script_set_text(lua_State *L, const char *key, const char *text)
{
    lua_pushstring(L, text); /* nil for NULL */
    lua_setfield(L, -2, key);
}

int64_t mgb_script_integer_field(lua_State *L, int index, const char *key, int64_t fallback)
{
    lua_getfield(L, index, key);
    int64_t value = luaL_optinteger(L, -1, fallback);
    lua_pop(L, 1);
    return value;
}

double mgb_script_number_field(lua_State *L, int index, const char *key, double fallback)
{
    lua_getfield(L, index, key);
    double value = luaL_optnumber(L, -1, fallback);
    lua_pop(L, 1);
    return value;
}

bool mgb_script_boolean_field(lua_State *L, int index, const char *key)
{
    lua_getfield(L, index, key);
    bool value = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return value;
}

const char *mgb_script_text_field(lua_State *L, int index, const char *key, const char *fallback)
{
    lua_getfield(L, index, key);
    const char *text = luaL_optstring(L, -1, fallback);
    lua_pop(L, 1);
    return text;
}
