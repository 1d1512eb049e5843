/* What mgb.explain asks: which segment is meant, and the critical path of one of its steps. */
#include "app/script/bind.h"

static const struct script_services *services_get(lua_State *L)
{
    const struct script_services *services = mgb_script_services(L, "database");
    if (!services->critical)
        mgb_script_fail(L, "not possible here: this program offers no database");
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

static void part_push(lua_State *L, const struct script_part *part)
{
    lua_createtable(L, 0, 8);
    mgb_script_set_integer(L, "ns", part->end_ns - part->begin_ns);
    mgb_script_set_boolean(L, "gap", part->gap);
    mgb_script_set_integer(L, "bytes", part->bytes);
    mgb_script_set_text(L, "phase", part->phase);
    mgb_script_set_text(L, "kind", part->kind);
    mgb_script_set_text(L, "name", part->name);
    mgb_script_set_text(L, "device", part->device);
    mgb_script_set_text(L, "from", part->from);
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
