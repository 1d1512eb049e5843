/* Checkpoints: methods of sessions that save and load, and what a session can begin with. Which files a script may write is
 * the rule of io.open. */
#include "app/script/bind.h"
#include <string.h>

static struct script_session *session_get(lua_State *L, bool offered)
{
    struct script_session *session = mgb_script_session(L, 1);
    if (!offered)
        mgb_script_fail(L, "checkpoints are not offered here");
    return session;
}

/* save(path, asked): `asked` on the command line, where the output folder is no matter */
static int session_save(lua_State *L)
{
    const struct script_services *services = mgb_script_of(L)->services;
    struct script_session *session = session_get(L, services->save != NULL);
    const char *path = mgb_script_read_name(L, 2);
    if (!lua_toboolean(L, 3))
        mgb_script_check_write(L, "save", path);
    mgb_script_check(L, services->save(session, path));
    return 0;
}

static void names_push(lua_State *L, const char *key, const struct mgb_checkpoint_names *names)
{
    lua_createtable(L, names->count, 0);
    for (int i = 0; i < names->count; i++) {
        lua_pushstring(L, names->at[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, key);
}

void mgb_script_push_loaded(lua_State *L, struct mgb_checkpoint_loaded *loaded)
{
    lua_createtable(L, 0, 6);
    mgb_script_set_integer(L, "tensors", loaded->tensors);
    mgb_script_set_integer(L, "widened", loaded->widened);
    mgb_script_set_boolean(L, "resumed", loaded->resumed);
    if (loaded->remark[0])
        mgb_script_set_text(L, "remark", loaded->remark);
    names_push(L, "missing", &loaded->missing);
    names_push(L, "unexpected", &loaded->unexpected);
    mgb_checkpoint_loaded_done(loaded);
}

bool mgb_script_read_load(lua_State *L, int index, struct script_load *out)
{
    index = lua_absindex(L, index);
    bool given = lua_getfield(L, index, "load") == LUA_TTABLE;
    if (given) {
        int load = lua_gettop(L);
        int optimizer = lua_getfield(L, load, "optimizer");
        out->path = mgb_script_text_field(L, load, "path", "");
        out->options.partial = mgb_script_boolean_field(L, load, "partial");
        out->options.use = optimizer == LUA_TNIL        ? MGB_CHECKPOINT_FITTING
                           : lua_toboolean(L, load + 1) ? MGB_CHECKPOINT_ALL
                                                        : MGB_CHECKPOINT_WEIGHTS;
    }
    lua_settop(L, index);
    return given;
}

/* load{ load = { path =, partial =, optimizer = nil, true or false } } -> what came of it */
static int session_load(lua_State *L)
{
    const struct script_services *services = mgb_script_of(L)->services;
    struct script_session *session = session_get(L, services->load != NULL);
    struct mgb_checkpoint_loaded loaded = {0};
    struct script_load load = {.loaded = &loaded};
    lua_settop(L, 2);
    luaL_checktype(L, 2, LUA_TTABLE);
    if (!mgb_script_read_load(L, 2, &load))
        mgb_script_fail(L, "load: a file expected");
    enum mgb_status status = services->load(session, &load);
    if (status != MGB_OK)
        mgb_checkpoint_loaded_done(&loaded);
    mgb_script_check(L, status);
    mgb_script_push_loaded(L, &loaded);
    return 1;
}

void mgb_script_bind_checkpoint(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"save", session_save}, {"load", session_load}, {NULL, NULL}};
    luaL_setfuncs(L, methods, 0);
}
