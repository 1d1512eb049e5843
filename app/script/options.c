/* Typed reading of option tables. See options.h. */
#include "app/script/options.h"
#include "app/script/host.h"
#include <float.h>
#include <limits.h>
#include <math.h>
#include <mgb/text.h>
#include <stdio.h>
#include <string.h>

void mgb_options_begin(struct mgb_options *o, lua_State *L, int index, const char *path)
{
    *o = (struct mgb_options){.L = L, .path = path};
    if (lua_isnoneornil(L, index))
        return;
    if (!lua_istable(L, index))
        mgb_script_fail(L, "%s: table of options expected, got %s", path,
                        mgb_script_describe(L, index));
    o->table = lua_absindex(L, index);
}

void mgb_options_allow_list(struct mgb_options *o, int count)
{
    o->list = count;
}

int mgb_options_refuse(struct mgb_options *o, const char *key, const char *expected, int index)
{
    return mgb_script_fail(o->L, "%s: %s: %s expected, got %s", o->path, key, expected,
                           mgb_script_describe(o->L, index));
}

bool mgb_options_push(struct mgb_options *o, const char *key)
{
    bool noted = false;
    for (int i = 0; i < o->known_count && !noted; i++)
        noted = strcmp(o->known[i], key) == 0;
    if (!noted && o->known_count < MGB_OPTIONS_MOST)
        o->known[o->known_count++] = key;
    luaL_checkstack(o->L, 4, o->path);
    if (!o->table) {
        lua_pushnil(o->L);
        return false;
    }
    return lua_getfield(o->L, o->table, key) != LUA_TNIL;
}

bool mgb_options_has(struct mgb_options *o, const char *key)
{
    bool given = mgb_options_push(o, key);
    lua_pop(o->L, 1);
    return given;
}

/* An upper limit that is only the machine's is told to who exceeds it. */
static const char *integer_wording(lua_State *L, long long min, long long max, bool above)
{
    if (above)
        return lua_pushfstring(L, "integer from %I to %I", (LUAI_UACINT)min, (LUAI_UACINT)max);
    if (min == 1 && max >= INT_MAX)
        return "positive integer";
    if (min <= INT_MIN && max >= INT_MAX)
        return "integer";
    if (max >= INT_MAX)
        return lua_pushfstring(L, "integer from %I up", (LUAI_UACINT)min);
    return lua_pushfstring(L, "integer from %I to %I", (LUAI_UACINT)min, (LUAI_UACINT)max);
}

long long mgb_options_integer(struct mgb_options *o, const char *key, long long fallback,
                              long long min, long long max)
{
    long long value = fallback;
    if (mgb_options_push(o, key)) {
        int whole = 0, at = lua_gettop(o->L);
        if (lua_type(o->L, at) ==
            LUA_TNUMBER) /* a text that looks like a number is a mistake too */
            value = lua_tointegerx(o->L, at, &whole);
        if (!whole || value < min || value > max)
            mgb_options_refuse(o, key, integer_wording(o->L, min, max, whole && value > max), at);
    }
    lua_pop(o->L, 1);
    return value;
}

/* As above: that f32 holds no more is told to who gives more. */
static const char *number_wording(lua_State *L, double min, double max, double value)
{
    if (max == (double)FLT_MAX && fabs(value) > max)
        return min < 0 ? "finite number" : lua_pushfstring(L, "finite number from %f up", min);
    if (max >= (double)FLT_MAX)
        return min < 0 ? "number" : lua_pushfstring(L, "number from %f up", min);
    return lua_pushfstring(L, "number from %f to %f", min, max);
}

double mgb_options_number(struct mgb_options *o, const char *key, double fallback, double min,
                          double max)
{
    double value = fallback;
    if (mgb_options_push(o, key)) {
        int at = lua_gettop(o->L);
        bool number = lua_type(o->L, at) == LUA_TNUMBER;
        value = number ? lua_tonumber(o->L, at) : 0;
        if (!number || !(value >= min && value <= max)) /* not-a-number fails both */
            mgb_options_refuse(o, key, number_wording(o->L, min, max, value), at);
    }
    lua_pop(o->L, 1);
    return value;
}

bool mgb_options_boolean(struct mgb_options *o, const char *key, bool fallback)
{
    bool value = fallback;
    if (mgb_options_push(o, key)) {
        if (!lua_isboolean(o->L, -1))
            mgb_options_refuse(o, key, "true or false", -1);
        value = lua_toboolean(o->L, -1);
    }
    lua_pop(o->L, 1);
    return value;
}

const char *mgb_options_string(struct mgb_options *o, const char *key, const char *fallback)
{
    const char *value = fallback;
    if (mgb_options_push(o, key)) {
        size_t length = 0;
        if (lua_type(o->L, -1) != LUA_TSTRING)
            mgb_options_refuse(o, key, "text", -1);
        value = lua_tolstring(o->L, -1, &length);
        if (length == 0)
            mgb_script_fail(o->L, "%s: %s: text expected, got an empty one (nil is for none)",
                            o->path, key);
        if (strlen(value) != length)
            mgb_script_fail(o->L, "%s: %s: text expected, got one with a NUL in it", o->path, key);
    }
    lua_pop(o->L, 1);
    return value;
}

/* "a", "b" or "c" */
static const char *names_wording(lua_State *L, const char *const *names)
{
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    for (int i = 0; names[i]; i++) {
        if (i > 0)
            luaL_addstring(&buffer, names[i + 1] ? ", " : " or ");
        luaL_addchar(&buffer, '"');
        luaL_addstring(&buffer, names[i]);
        luaL_addchar(&buffer, '"');
    }
    luaL_pushresult(&buffer);
    return lua_tostring(L, -1);
}

int mgb_options_enum(struct mgb_options *o, const char *key, int fallback, const char *const *names)
{
    if (!mgb_options_push(o, key)) {
        lua_pop(o->L, 1);
        return fallback;
    }
    int at = lua_gettop(o->L), count = 0;
    size_t length = 0;
    const char *given = lua_type(o->L, at) == LUA_TSTRING ? lua_tolstring(o->L, at, &length) : NULL;
    if (given && strlen(given) != length)
        given = NULL;
    for (; names[count]; count++) {
        if (given && strcmp(given, names[count]) == 0) {
            lua_pop(o->L, 1);
            return count;
        }
    }
    const char *near = given ? mgb_nearest_name(given, names, count) : NULL;
    const char *hint = near ? lua_pushfstring(o->L, " (did you mean \"%s\"?)", near) : "";
    mgb_script_fail(o->L, "%s: %s: %s expected, got %s%s", o->path, key, names_wording(o->L, names),
                    mgb_script_describe(o->L, at), hint);
    return fallback;
}

struct mgb_device_name mgb_options_device(struct mgb_options *o, const char *key)
{
    struct mgb_device_name name = {0};
    if (mgb_options_push(o, key)) {
        if (lua_type(o->L, -1) != LUA_TSTRING)
            mgb_options_refuse(o, key, "device name as \"/gpu:0\"", -1);
        if (strlen(lua_tostring(o->L, -1)) != lua_rawlen(o->L, -1))
            mgb_options_refuse(o, key, "device name without a NUL", -1);
        if (mgb_device_parse(&name, lua_tostring(o->L, -1)) != MGB_OK)
            mgb_script_fail(o->L, "%s: %s: %s", o->path, key, mgb_message_get());
    }
    lua_pop(o->L, 1);
    return name;
}

static void key_check(struct mgb_options *o)
{
    lua_State *L = o->L;
    if (lua_type(L, -2) == LUA_TSTRING) {
        const char *key = lua_tostring(L, -2);
        for (int i = 0; i < o->known_count; i++)
            if (strcmp(key, o->known[i]) == 0)
                return;
        const char *near = mgb_nearest_name(key, o->known, o->known_count);
        const char *hint = near ? lua_pushfstring(L, " (did you mean '%s'?)", near) : "";
        mgb_script_fail(L, "%s: unknown option '%s'%s", o->path, key, hint);
    }
    if (lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= o->list)
        return;
    mgb_script_fail(L, "%s: value %s without a name: options are written name = value", o->path,
                    mgb_script_describe(L, -1));
}

void mgb_options_end(struct mgb_options *o)
{
    if (!o->table)
        return;
    luaL_checkstack(o->L, 6, o->path);
    lua_pushnil(o->L);
    while (lua_next(o->L, o->table)) {
        key_check(o);
        lua_pop(o->L, 1);
    }
}
