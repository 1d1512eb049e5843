/* Misspelt names are errors that say what was probably meant: undeclared globals, unknown fields of mgb and nn. And the
 * wording of values in messages. */
#include "app/script/host.h"
#include <mgb/text.h>
#include <string.h>

const char *mgb_script_describe(lua_State *L, int index)
{
    switch (lua_type(L, index)) {
    case LUA_TSTRING:
        return lua_pushfstring(L, "\"%s\"", lua_tostring(L, index));
    case LUA_TNUMBER:
    case LUA_TBOOLEAN:
    case LUA_TNIL:
        return luaL_tolstring(L, index, NULL);
    case LUA_TNONE:
        return lua_pushliteral(L, "nothing");
    default:
        if (luaL_getmetafield(L, index, "__name") == LUA_TSTRING)
            return lua_pushfstring(L, strchr("aeiou", *lua_tostring(L, -1)) ? "an %s" : "a %s",
                                   lua_tostring(L, -1));
        return lua_pushfstring(L, "a %s", luaL_typename(L, index));
    }
}

/* A growing list of names in a userdata, so that a raise frees it. The strings stay with their owners. */
struct name_list {
    int count, capacity;
    const char *at[];
};

static struct name_list *names_make(lua_State *L, int capacity)
{
    struct name_list *list =
        lua_newuserdatauv(L, sizeof *list + (size_t)capacity * sizeof *list->at, 0);
    list->count = 0;
    list->capacity = capacity;
    return list;
}

static void names_add(struct name_list *list, const char *name)
{
    if (list->count < list->capacity)
        list->at[list->count++] = name;
}

static void names_add_keys(lua_State *L, struct name_list *list, int table)
{
    lua_pushnil(L);
    while (lua_next(L, table)) {
        if (lua_type(L, -2) == LUA_TSTRING)
            names_add(list, lua_tostring(L, -2));
        lua_pop(L, 1);
    }
}

static const char *hint_push(lua_State *L, const char *wanted, const struct name_list *list)
{
    const char *near = mgb_nearest_name(wanted, list->at, list->count);
    return near ? lua_pushfstring(L, " (did you mean '%s'?)", near) : lua_pushliteral(L, "");
}

#define MOST_NAMES 512

const char *mgb_script_push_hint(lua_State *L, const char *wanted, int index)
{
    index = lua_absindex(L, index);
    struct name_list *list = names_make(L, MOST_NAMES);
    names_add_keys(L, list, index);
    const char *hint = hint_push(L, wanted, list);
    lua_remove(L, -2);
    return hint;
}

/* The calling function's own variables are what a misspelt global most often meant. Their names belong to the function's
 * prototype, which is alive while it runs. */
static void names_add_locals(lua_State *L, struct name_list *list)
{
    lua_Debug ar;
    if (!lua_getstack(L, 1, &ar))
        return;
    const char *name;
    for (int i = 1; (name = lua_getlocal(L, &ar, i)); i++) {
        lua_pop(L, 1);
        if (*name != '(')
            names_add(list, name);
    }
    lua_getinfo(L, "f", &ar);
    for (int i = 1; (name = lua_getupvalue(L, -1, i)); i++) {
        lua_pop(L, 1);
        if (*name && strcmp(name, "_ENV") != 0)
            names_add(list, name);
    }
    lua_pop(L, 1);
}

static const char *key_name(lua_State *L)
{
    return lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : mgb_script_describe(L, 2);
}

static int global_read(lua_State *L)
{
    const char *name = key_name(L);
    struct name_list *list = names_make(L, MOST_NAMES);
    names_add_locals(L, list);
    names_add_keys(L, list, 1);
    return luaL_error(L, "undeclared global '%s'%s", name, hint_push(L, name, list));
}

static int global_write(lua_State *L)
{
    const char *name = key_name(L);
    struct name_list *list = names_make(L, MOST_NAMES);
    names_add_locals(L, list);
    const char *near = mgb_nearest_name(name, list->at, list->count);
    if (near)
        return luaL_error(L, "assignment to undeclared global '%s' (did you mean '%s'?)", name,
                          near);
    return luaL_error(L, "assignment to undeclared global '%s': write 'local %s'", name, name);
}

void mgb_script_open_strict(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"__index", global_read}, {"__newindex", global_write}, {NULL, NULL}};
    lua_pushglobaltable(L);
    luaL_newlib(L, methods);
    lua_pushliteral(L, "strict");
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

static int sealed_read(lua_State *L)
{
    const char *table = lua_tostring(L, lua_upvalueindex(1)), *name = key_name(L);
    return luaL_error(L, "%s has no '%s'%s", table, name, mgb_script_push_hint(L, name, 1));
}

static int sealed_write(lua_State *L)
{
    const char *table = lua_tostring(L, lua_upvalueindex(1)), *name = key_name(L);
    return luaL_error(L, "%s.%s cannot be set: %s belongs to mgbench", table, name, table);
}

void mgb_script_seal(lua_State *L, int index, const char *name)
{
    index = lua_absindex(L, index);
    lua_createtable(L, 0, 3);
    lua_pushstring(L, name);
    lua_pushcclosure(L, sealed_read, 1);
    lua_setfield(L, -2, "__index");
    lua_pushstring(L, name);
    lua_pushcclosure(L, sealed_write, 1);
    lua_setfield(L, -2, "__newindex");
    lua_pushstring(L, name);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, index);
}
