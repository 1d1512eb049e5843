/* What mgb.explain asks: which segment is meant, and the critical path of one of its steps. */
#include "app/script/bind.h"

static const struct script_services *services_get(lua_State *L)
{
    const struct script_services *services = mgb_script_of(L)->services;
    if (!services || !services->critical)
        mgb_script_fail(L, "nothing can be asked here: this program offers no database");
    return services;
}

/* segment_find(words) -> run, segment */
static int segment_find(lua_State *L)
{
    const struct script_services *services = services_get(L);
    int64_t run = 0, segment = 0;
    mgb_script_check(
        L, services->find_segment(services->context, &run, &segment, luaL_checkstring(L, 1)));
    lua_pushinteger(L, run);
    lua_pushinteger(L, segment);
    return 2;
}

struct box {
    const struct script_services *services;
    struct script_path path;
};

static int box_gc(lua_State *L)
{
    struct box *box = lua_touserdata(L, 1);
    box->services->critical_free(&box->path);
    return 0;
}

static struct box *box_make(lua_State *L)
{
    struct box *box = lua_newuserdatauv(L, sizeof *box, 0);
    *box = (struct box){.services = services_get(L)};
    if (luaL_newmetatable(L, "mgb.path")) {
        lua_pushcfunction(L, box_gc);
        lua_setfield(L, -2, "__gc");
    }
    lua_setmetatable(L, -2);
    return box;
}

static void text_set(lua_State *L, const char *name, const char *text)
{
    lua_pushstring(L, text); /* nil for NULL */
    lua_setfield(L, -2, name);
}

static void part_push(lua_State *L, const struct script_part *part)
{
    lua_createtable(L, 0, 8);
    lua_pushinteger(L, part->end_ns - part->begin_ns);
    lua_setfield(L, -2, "ns");
    lua_pushboolean(L, part->gap);
    lua_setfield(L, -2, "gap");
    lua_pushinteger(L, part->bytes);
    lua_setfield(L, -2, "bytes");
    text_set(L, "phase", part->phase);
    text_set(L, "kind", part->kind);
    text_set(L, "name", part->name);
    text_set(L, "device", part->device);
    text_set(L, "from", part->from);
}

/* critical(segment, step) -> list of { ns =, gap =, phase =, kind =, name =, device =, from =, bytes = }, what they add up
 * to, whether waits are known */
static int critical_find(lua_State *L)
{
    lua_Integer segment = luaL_checkinteger(L, 1), step = luaL_checkinteger(L, 2);
    struct box *box = box_make(L);
    mgb_script_check(L, box->services->critical(box->services->context, &box->path, segment, step));
    lua_createtable(L, box->path.count, 0);
    for (int i = 0; i < box->path.count; i++) {
        part_push(L, &box->path.parts[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushinteger(L, box->path.wall_ns);
    lua_pushboolean(L, box->path.waits_known);
    box->services->critical_free(&box->path);
    return 3;
}

void mgb_script_bind_explain(lua_State *L)
{
    static const luaL_Reg lent[] = {
        {"segment_find", segment_find}, {"critical", critical_find}, {NULL, NULL}};
    luaL_setfuncs(L, lent, 0);
}
