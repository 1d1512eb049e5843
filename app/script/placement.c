/* Placements as asked, as a userdata; and the values of placement options as users write them in Lua. Which options there
 * are, and what they mean, is the table of mgb/placement.h alone. */
#include "app/script/bind.h"
#include <mgb/placement.h>
#include <mgb/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACEMENT "mgb.placement"

struct script_placement *mgb_script_placement(lua_State *L, int index)
{
    return luaL_checkudata(L, index, PLACEMENT);
}

static struct script_placement *placement_make(lua_State *L)
{
    struct script_placement *p = lua_newuserdatauv(L, sizeof *p, 0);
    p->fresh = 0;
    luaL_setmetatable(L, PLACEMENT);
    return p;
}

static int placement_new(lua_State *L)
{
    mgb_placement_init(&placement_make(L)->asked);
    return 1;
}

/* copy() -> the same placement, nothing of it given in this call */
static int placement_copy(lua_State *L)
{
    const struct script_placement *from = mgb_script_placement(L, 1);
    placement_make(L)->asked = from->asked;
    return 1;
}

static const char *kind_wording(enum mgb_option_kind kind)
{
    switch (kind) {
    case MGB_KIND_BOOL:
        return "true or false";
    case MGB_KIND_CHOICE:
        return "\"auto\", true or false";
    case MGB_KIND_INT:
        return "positive integer";
    case MGB_KIND_NUMBER:
        return "number";
    case MGB_KIND_BYTES:
        return "bytes or a size as \"4GiB\"";
    case MGB_KIND_ENUM:
        return "one of its names";
    case MGB_KIND_DEVICE:
        return "device name as \"/gpu:0\"";
    case MGB_KIND_GPUS:
        return "a count, or a list of ids in merge order as {2, 0, 3},";
    }
    return "value";
}

/* A number without a needless ".0": the text options take whole numbers only where they mean whole ones. */
static const char *number_text(lua_State *L, int index)
{
    int whole;
    lua_Integer integer = lua_tointegerx(L, index, &whole);
    if (whole)
        return lua_pushfstring(L, "%I", (LUAI_UACINT)integer);
    char text[40];
    return lua_pushstring(L, mgb_format_number(text, sizeof text, lua_tonumber(L, index)));
}

/* {2, 0, 3} as a text; NULL when it holds something else. */
static const char *ids_text(lua_State *L, int index)
{
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    luaL_addchar(&buffer, '{');
    lua_Integer count = (lua_Integer)lua_rawlen(L, index);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, index, i);
        if (!lua_isinteger(L, -1))
            return NULL;
        luaL_addstring(&buffer, i > 1 ? "," : "");
        luaL_addvalue(&buffer);
    }
    luaL_addchar(&buffer, '}');
    luaL_pushresult(&buffer);
    return lua_tostring(L, -1);
}

static bool kind_takes(enum mgb_option_kind kind, int type)
{
    switch (kind) {
    case MGB_KIND_BOOL:
        return type == LUA_TBOOLEAN;
    case MGB_KIND_CHOICE:
        return type == LUA_TBOOLEAN || type == LUA_TSTRING;
    case MGB_KIND_INT:
    case MGB_KIND_NUMBER:
        return type == LUA_TNUMBER;
    case MGB_KIND_BYTES:
        return type == LUA_TNUMBER || type == LUA_TSTRING;
    case MGB_KIND_ENUM:
    case MGB_KIND_DEVICE:
        return type == LUA_TSTRING;
    case MGB_KIND_GPUS:
        return type == LUA_TNUMBER || type == LUA_TTABLE;
    }
    return false;
}

/* The text of a value for mgb_placement_set; NULL when it is of a wrong type. Words that unset are always right. */
static const char *value_text(lua_State *L, int index, const struct mgb_option *option)
{
    int type = lua_type(L, index);
    const char *word = type == LUA_TSTRING ? lua_tostring(L, index) : NULL;
    if (word && (strcmp(word, "nil") == 0 ||
                 (option->id == MGB_OPTION_THREADS && strcmp(word, "auto") == 0)))
        return word;
    if (!kind_takes(option->kind, type))
        return NULL;
    if (type == LUA_TTABLE)
        return ids_text(L, index);
    if (type == LUA_TNUMBER)
        return number_text(L, index);
    return word ? word : lua_toboolean(L, index) ? "true" : "false";
}

/* What an option takes: its words one by one where it has words. Left on the stack. */
static const char *option_wording(lua_State *L, const struct mgb_option *option)
{
    const char *wanted = lua_pushstring(L, kind_wording(option->kind));
    for (int i = 0; option->values && option->values[i]; i++)
        wanted = i ? lua_pushfstring(L, "%s, \"%s\"", wanted, option->values[i])
                   : lua_pushfstring(L, "one of \"%s\"", option->values[i]);
    return wanted;
}

/* No text means nothing: what unsets is nil. */
static void word_check(lua_State *L, int index, const char *path, const struct mgb_option *option)
{
    size_t length;
    if (lua_type(L, index) != LUA_TSTRING)
        return;
    const char *word = lua_tolstring(L, index, &length);
    if (length > 0 && strlen(word) == length)
        return;
    mgb_script_fail(L, "%s: %s: %s expected (nil unsets it), got %s", path, option->name,
                    option_wording(L, option),
                    length ? "a text with a NUL in it" : "an empty text");
}

/* set(path, name, value): raises "path: name: ..." for what cannot be */
static int placement_set(lua_State *L)
{
    struct script_placement *p = mgb_script_placement(L, 1);
    const char *path = luaL_checkstring(L, 2), *name = luaL_checkstring(L, 3);
    const struct mgb_option *option = mgb_placement_find_option(name);
    word_check(L, 4, path, option);
    const char *text = value_text(L, 4, option);
    if (!text)
        mgb_script_fail(L, "%s: %s: %s expected, got %s", path, name, option_wording(L, option),
                        mgb_script_describe(L, 4));
    enum mgb_status status = mgb_placement_set(&p->asked, name, text);
    if (status != MGB_OK)
        mgb_script_raise(L, mgb_fail_in(status, "%s", path));
    p->fresh |= UINT64_C(1) << option->id;
    return 0;
}

static void ids_push(lua_State *L, const char *text)
{
    lua_newtable(L);
    int count = 0;
    for (const char *c = text + strspn(text, "{"); *c && *c != '}'; c += *c == ',') {
        char *end;
        lua_pushinteger(L, strtol(c, &end, 10));
        lua_rawseti(L, -2, ++count);
        if (end == c)
            break;
        c = end;
    }
}

void mgb_script_push_option(lua_State *L, enum mgb_option_id id, const char *text)
{
    enum mgb_option_kind kind = mgb_placement_options()[id].kind;
    bool word = strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    if (*text == '\0')
        lua_pushnil(L);
    else if ((kind == MGB_KIND_BOOL || kind == MGB_KIND_CHOICE) && word)
        lua_pushboolean(L, *text == 't');
    else if (kind == MGB_KIND_GPUS && strpbrk(text, ",{"))
        ids_push(L, text);
    else if (kind == MGB_KIND_ENUM || kind == MGB_KIND_DEVICE || !lua_stringtonumber(L, text))
        lua_pushstring(L, text);
}

/* get(name) -> what was asked, or nil */
static int placement_get(lua_State *L)
{
    char text[512];
    enum mgb_option_id id = mgb_placement_find_option(luaL_checkstring(L, 2))->id;
    mgb_script_push_option(
        L, id, mgb_placement_get_text(text, sizeof text, &mgb_script_placement(L, 1)->asked, id));
    return 1;
}

/* option_value(name, text) -> as users write it; what unsets stays a word */
static int option_value(lua_State *L)
{
    const char *text = luaL_checkstring(L, 2);
    const struct mgb_option *option = mgb_placement_find_option(luaL_checkstring(L, 1));
    if (!option)
        mgb_script_fail(L, "there is no placement option '%s'", lua_tostring(L, 1));
    if (strcmp(text, "nil") == 0)
        lua_pushliteral(L, "nil");
    else
        mgb_script_push_option(L, option->id, text);
    return 1;
}

/* towers() -> how many there will be */
static int placement_towers(lua_State *L)
{
    const struct mgb_placement *asked = &mgb_script_placement(L, 1)->asked;
    lua_pushinteger(L, asked->listed ? asked->listed : asked->gpus ? asked->gpus : 1);
    return 1;
}

/* The names of all options in the order of the table. */
static void names_push(lua_State *L)
{
    lua_createtable(L, MGB_OPTION_COUNT, 0);
    for (int i = 0; i < MGB_OPTION_COUNT; i++) {
        lua_pushstring(L, mgb_placement_options()[i].name);
        lua_rawseti(L, -2, i + 1);
    }
}

void mgb_script_bind_placement(lua_State *L)
{
    static const luaL_Reg methods[] = {{"copy", placement_copy},
                                       {"set", placement_set},
                                       {"get", placement_get},
                                       {"towers", placement_towers},
                                       {NULL, NULL}};
    luaL_newmetatable(L, PLACEMENT);
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
    lua_pushcfunction(L, placement_new);
    lua_setfield(L, -2, "placement");
    lua_pushcfunction(L, option_value);
    lua_setfield(L, -2, "option_value");
    names_push(L);
    lua_setfield(L, -2, "placement_options");
}
