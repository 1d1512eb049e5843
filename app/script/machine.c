/* Machines of the simulator as a userdata, which scripts see the names of and sessions the figures. Made by mgb.machine
 * (scripts/lib/machine.lua); finding machine files is here. */
#include "app/script/machine.h"
#include "app/script/machine_read.h"
#include "app/script/models.h"
#include <mgb/op.h>
#include <stdio.h>
#include <string.h>

#define MACHINE "mgb.machine"

struct mgb_machine *mgb_script_machine(lua_State *L, int index)
{
    struct mgb_machine **box = luaL_testudata(L, index, MACHINE);
    return box ? *box : NULL;
}

static int machine_close(lua_State *L)
{
    struct mgb_machine **box = luaL_checkudata(L, 1, MACHINE);
    mgb_machine_free(*box);
    *box = NULL;
    return 0;
}

/* machine_make(flat table) -> machine, checked */
static int machine_make(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    struct mgb_machine **box = lua_newuserdatauv(L, sizeof *box, 0);
    *box = NULL;
    luaL_setmetatable(L, MACHINE);
    *box = mgb_machine_block(sizeof **box);
    if (!*box)
        mgb_script_fail(L, "mgb.machine: memory is exhausted");
    mgb_script_fill_machine(L, 1, *box);
    mgb_script_check(L, mgb_machine_check(*box));
    lua_settop(L, 2);
    return 1;
}

static int gpu_count(const struct mgb_machine *machine)
{
    int count = 0;
    for (int i = 0; i < machine->device_count; i++)
        count += machine->devices[i].device.name.kind == MGB_DEVICE_GPU;
    return count;
}

/* machine_facts(value) -> name, summary, source, file or nil, GPUs, nodes, digest, uncertainty; nothing when it is no machine */
static int machine_facts(lua_State *L)
{
    const struct mgb_machine *machine = mgb_script_machine(L, 1);
    char digest[20];
    if (!machine)
        return 0;
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)mgb_machine_digest(machine));
    lua_pushstring(L, machine->name);
    lua_pushstring(L, machine->summary);
    lua_pushstring(L, machine->source);
    lua_pushstring(L, machine->file);
    lua_pushinteger(L, gpu_count(machine));
    lua_pushinteger(L, machine->node_count);
    lua_pushstring(L, digest);
    lua_pushnumber(L, machine->uncertainty);
    return 8;
}

/* machine_path(name) -> the file of a machine, or nil */
static int machine_path(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    lua_settop(L, 1);
    if (!*name ||
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") !=
            strlen(name))
        return 0;
    if (!mgb_script_find_module(L, lua_pushfstring(L, "machines.%s", name)))
        return 0;
    return 1;
}

static void name_add(void *context, const char *name, const char *path)
{
    lua_State *L = context;
    (void)path;
    lua_pushboolean(L, true);
    lua_setfield(L, -2, name);
}

/* machine_names() -> { name = true, ... }, those of the folders of require */
static int machine_names(lua_State *L)
{
    const struct mgb_script *script = mgb_script_of(L);
    lua_newtable(L);
    for (int i = -1; i < script->root_count; i++) {
        const char *root = i < 0 ? script->script_dir : script->roots[i];
        if (root)
            mgb_models_each_in(root, "machines", name_add, L);
    }
    return 1;
}

/* machine_device(text) -> its usual spelling, or nil when it is no device's name */
static int machine_device(lua_State *L)
{
    char text[MGB_DEVICE_NAME_MAX];
    struct mgb_device_name name;
    size_t length;
    const char *given = luaL_checklstring(L, 1, &length);
    if (strlen(given) != length || mgb_device_parse(&name, given) != MGB_OK ||
        name.kind == MGB_DEVICE_SPREAD)
        return 0;
    lua_pushstring(L, mgb_device_format(text, name));
    return 1;
}

/* op_kinds() -> { conv2d = true, ... } */
static int op_kinds(lua_State *L)
{
    lua_newtable(L);
    for (int i = 0; mgb_op_kind_name(i); i++) {
        lua_pushboolean(L, true);
        lua_setfield(L, -2, mgb_op_kind_name(i));
    }
    return 1;
}

/* machine_take(machine): from now on the program's, not the script's */
static int machine_take(lua_State *L)
{
    struct mgb_machine **box = luaL_checkudata(L, 1, MACHINE);
    struct mgb_script *script = mgb_script_of(L);
    mgb_machine_free(script->machine_taken);
    script->machine_taken = *box;
    *box = NULL;
    return 0;
}

void mgb_script_bind_machine(lua_State *L)
{
    static const luaL_Reg lent[] = {{"machine_make", machine_make},
                                    {"machine_facts", machine_facts},
                                    {"machine_path", machine_path},
                                    {"machine_names", machine_names},
                                    {"machine_device", machine_device},
                                    {"machine_take", machine_take},
                                    {"op_kinds", op_kinds},
                                    {NULL, NULL}};
    luaL_newmetatable(L, MACHINE);
    lua_pushcfunction(L, machine_close);
    lua_setfield(L, -2, "__gc");
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "machine_type"); /* scripts/lib/machine.lua gives it fields */
    lua_pop(L, 1);
    luaL_setfuncs(L, lent, 0);
}

enum mgb_status mgb_script_read_machine(struct mgb_script *script, struct mgb_machine **out,
                                        const char *name)
{
    struct mgb_script_answer answer;
    *out = NULL;
    enum mgb_status status = mgb_script_call(script, &answer, "machines", "take", &name, 1);
    mgb_script_answer_done(&answer);
    if (status != MGB_OK)
        return status;
    *out = script->machine_taken;
    script->machine_taken = NULL;
    return MGB_OK;
}
