/* Reading option tables for the Lua that is part of the program: the getters of options.h driven by a table
 *     read("nn.dense", given, { units = "positive!", activation = { "relu", "tanh" } }) -> values
 * so that built-in Lua and C refuse a wrong option with the same words. "!": must be given. */
#include "app/script/bind.h"
#include "app/script/options.h"
#include <float.h>
#include <limits.h>
#include <string.h>

struct kind {
    const char *name,
        *wanted; /* wanted: for messages; NULL where a getter of options.h has its own words */
    int type;    /* LUA_TNONE: anything */
};

static const struct kind plain_kinds[] = {
    {"integer", NULL, LUA_TNUMBER},
    {"positive", NULL, LUA_TNUMBER},
    {"count", NULL, LUA_TNUMBER},
    {"number", NULL, LUA_TNUMBER},
    {"amount", NULL, LUA_TNUMBER},
    {"rate", NULL, LUA_TNUMBER},
    {"boolean", NULL, LUA_TBOOLEAN},
    {"text", NULL, LUA_TSTRING},
    {"device", NULL, LUA_TSTRING},
    {"table", "table", LUA_TTABLE},
    {"function", "function", LUA_TFUNCTION},
    {"any", "value", LUA_TNONE},
};

static const struct kind *kind_find(lua_State *L, const char *name)
{
    size_t length = strcspn(name, "!");
    for (size_t i = 0; i < sizeof plain_kinds / sizeof *plain_kinds; i++)
        if (strncmp(plain_kinds[i].name, name, length) == 0 && !plain_kinds[i].name[length])
            return &plain_kinds[i];
    luaL_error(L, "no kind of option is called '%s'", name);
    return NULL;
}

/* Each pushes one value. */
static void integer_push(struct mgb_options *o, const char *key, const char *kind)
{
    long long min = strncmp(kind, "positive", 8) == 0 ? 1 : *kind == 'c' ? 0 : LLONG_MIN;
    long long max = min == LLONG_MIN ? LLONG_MAX : INT_MAX;
    lua_pushinteger(o->L, mgb_options_integer(o, key, 0, min, max));
}

static void number_push(struct mgb_options *o, const char *key, const char *kind)
{
    double max = *kind == 'r' ? 1 : (double)FLT_MAX, min = *kind == 'n' ? -max : 0;
    lua_pushnumber(o->L, mgb_options_number(o, key, 0, min, max));
}

static void device_push(struct mgb_options *o, const char *key)
{
    char text[MGB_DEVICE_NAME_MAX];
    lua_pushstring(o->L, mgb_device_format(text, mgb_options_device(o, key)));
}

static void any_push(struct mgb_options *o, const char *key, const struct kind *kind)
{
    mgb_options_push(o, key);
    if (kind->type != LUA_TNONE && lua_type(o->L, -1) != kind->type)
        mgb_options_refuse(o, key, kind->wanted, -1);
}

static void plain_push(struct mgb_options *o, const char *key, const char *name)
{
    const struct kind *kind = kind_find(o->L, name);
    if (!mgb_options_has(o, key))
        lua_pushnil(o->L);
    else if (kind->wanted)
        any_push(o, key, kind);
    else if (kind->type == LUA_TBOOLEAN)
        lua_pushboolean(o->L, mgb_options_boolean(o, key, false));
    else if (*name == 'd')
        device_push(o, key);
    else if (kind->type == LUA_TSTRING)
        lua_pushstring(o->L, mgb_options_string(o, key, NULL));
    else if (strchr("ipc", *name))
        integer_push(o, key, name);
    else
        number_push(o, key, name);
}

/* The one of the names in the list at `index` that was given. */
static void name_push(struct mgb_options *o, const char *key, int index)
{
    lua_State *L = o->L;
    int count = (int)lua_rawlen(L, index);
    const char **names = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *names, 0);
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, index, i + 1);
        names[i] = lua_tostring(L, -1); /* stays alive in the list */
        lua_pop(L, 1);
    }
    names[count] = NULL;
    int which = mgb_options_enum(o, key, -1, names);
    if (which < 0)
        lua_pushnil(L);
    else
        lua_pushstring(L, names[which]);
    lua_remove(L, -2);
}

/* A missing value that must be there: told in the words of a wrong one. */
static void missing_refuse(struct mgb_options *o, const char *key, const char *kind)
{
    static const char *const words[][2] = {
        {"positive", "positive integer"}, {"count", "integer from 0 up"},
        {"integer", "integer"},           {"boolean", "true or false"},
        {"device", "device name"},        {"amount", "number from 0 up"},
        {"rate", "number from 0 to 1"},   {"any", "value"}};
    const char *wanted = kind;
    size_t length = strcspn(kind, "!");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(words[i][0], kind, length) == 0)
            wanted = words[i][1];
    if (wanted == kind)
        wanted = lua_pushlstring(o->L, kind, length);
    lua_pushnil(o->L);
    mgb_options_refuse(o, key, wanted, -1);
}

/* A misspelt name first: "units is missing" is no help to who wrote unit = 3. `kinds` at 3. */
static void keys_check(struct mgb_options *o)
{
    lua_State *L = o->L;
    lua_pushnil(L);
    while (lua_next(L, 3)) {
        mgb_options_has(o, lua_tostring(L, -2));
        lua_pop(L, 1);
    }
    mgb_options_end(o);
}

static int options_read(lua_State *L)
{
    struct mgb_options o;
    lua_settop(L, 4);
    mgb_options_begin(&o, L, 2, luaL_checkstring(L, 1));
    mgb_options_allow_list(&o, (int)luaL_optinteger(L, 4, 0));
    keys_check(&o);
    lua_newtable(L);
    lua_pushnil(L);
    while (lua_next(L, 3)) {
        int kind = lua_gettop(L);
        const char *key = lua_tostring(L, kind - 1);
        const char *name = lua_type(L, kind) == LUA_TSTRING ? lua_tostring(L, kind) : NULL;
        if (name && strchr(name, '!') && !mgb_options_has(&o, key))
            missing_refuse(&o, key, name);
        if (name)
            plain_push(&o, key, name);
        else
            name_push(&o, key, kind);
        lua_setfield(L, 5, key);
        lua_settop(L, kind - 1);
    }
    lua_settop(L, 5);
    return 1;
}

/* fail(message): raises it at the user's line. */
static int message_raise(lua_State *L)
{
    return mgb_script_fail(L, "%s", luaL_checkstring(L, 1));
}

/* raise(status, message): raises a failure that the engine told earlier. */
static int failure_raise(lua_State *L)
{
    enum mgb_status status = (enum mgb_status)luaL_checkinteger(L, 1);
    return mgb_script_raise(L, mgb_fail(status, "%s", luaL_checkstring(L, 2)));
}

/* describe(value) -> its wording in messages; hint(wanted, table) -> " (did you mean 'x'?)" or "" */
static int value_describe(lua_State *L)
{
    mgb_script_describe(L, 1);
    return 1;
}

static int name_hint(lua_State *L)
{
    luaL_checktype(L, 2, LUA_TTABLE);
    mgb_script_push_hint(L, luaL_checkstring(L, 1), 2);
    return 1;
}

static int table_seal(lua_State *L)
{
    mgb_script_seal(L, 1, luaL_checkstring(L, 2));
    lua_settop(L, 1);
    return 1;
}

static int flags_check(lua_State *L)
{
    mgb_script_check_flags(L);
    return 0;
}

/* upvalue(function, number from 1) -> name, value; nothing behind the last */
static int upvalue_get(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TFUNCTION);
    const char *name = lua_getupvalue(L, 1, mgb_script_read_int(L, 2, "an upvalue's number"));
    if (!name)
        return 0;
    lua_pushstring(L, name);
    lua_insert(L, -2);
    return 2;
}

void mgb_script_bind_options(lua_State *L)
{
    static const luaL_Reg lent[] = {
        {"read", options_read},       {"fail", message_raise},  {"raise", failure_raise},
        {"describe", value_describe}, {"hint", name_hint},      {"seal", table_seal},
        {"check_flags", flags_check}, {"upvalue", upvalue_get}, {NULL, NULL}};
    luaL_setfuncs(L, lent, 0);
}
