/* Data bound to a graph, as a userdata that keeps alive what it was made of. What data sets there are is Lua's
 * (scripts/lib/data.lua). */
#include "app/script/bind.h"
#include "app/script/paths.h"
#include "app/script/source.h"
#include <stdlib.h>
#include <string.h>

#define SOURCE "mgb.source"

struct mgb_source *mgb_script_source(lua_State *L, int index)
{
    return luaL_checkudata(L, index, SOURCE);
}

static int source_close(lua_State *L)
{
    mgb_source_close(luaL_checkudata(L, 1, SOURCE));
    return 0;
}

/* Its user value 1 keeps the value at `keeps` alive. */
struct mgb_source *mgb_script_push_source(lua_State *L, int keeps)
{
    keeps = lua_absindex(L, keeps);
    struct mgb_source *source = lua_newuserdatauv(L, sizeof *source, 2);
    *source = (struct mgb_source){0};
    luaL_setmetatable(L, SOURCE);
    lua_pushvalue(L, keeps);
    lua_setiuservalue(L, -2, 1);
    return source;
}

/* source_random(graph, seed) */
static int source_random(lua_State *L)
{
    const struct mgb_graph *graph = mgb_script_graph(L, 1);
    uint64_t seed = (uint64_t)luaL_checkinteger(L, 2);
    mgb_script_check(L, mgb_source_random(mgb_script_push_source(L, 1), graph, seed));
    return 1;
}

struct mgb_idx_file *mgb_script_read_files(lua_State *L, int index, int *count)
{
    index = lua_absindex(L, index);
    *count = (int)luaL_len(L, index);
    struct mgb_idx_file *files = lua_newuserdatauv(L, ((size_t)*count + 1) * sizeof *files, 0);
    for (int i = 0; i < *count; i++) {
        lua_geti(L, index, i + 1);
        lua_geti(L, -1, 1);
        lua_geti(L, -2, 2);
        files[i] = (struct mgb_idx_file){luaL_checkstring(L, -2), luaL_checkstring(L, -1)};
        lua_pop(L, 3); /* the texts stay alive in the list */
    }
    return files;
}

/* source_idx(graph, { { input, path }, ... }, shuffle) */
static int source_idx(lua_State *L)
{
    const struct mgb_graph *graph = mgb_script_graph(L, 1);
    int count;
    const struct mgb_idx_file *files = mgb_script_read_files(L, 2, &count);
    struct mgb_source *source = mgb_script_push_source(L, 1);
    mgb_script_check(L, mgb_source_idx(source, graph, files, count, lua_toboolean(L, 3)));
    return 1;
}

/* source_take(graph, source, begin, end): rows [begin, end) from 0 */
static int source_take(lua_State *L)
{
    const struct mgb_graph *graph = mgb_script_graph(L, 1);
    const struct mgb_source *of = mgb_script_source(L, 2);
    struct mgb_source *source = mgb_script_push_source(L, 2);
    mgb_script_check(
        L, mgb_source_take(source, of, graph, luaL_checkinteger(L, 3), luaL_checkinteger(L, 4)));
    return 1;
}

static void value_store(lua_State *L, void *row, int64_t at, enum mgb_type type, const char *input)
{
    int whole = 1;
    if (lua_type(L, -1) != LUA_TNUMBER)
        mgb_script_fail(L, "data: input '%s': number expected, got %s", input,
                        mgb_script_describe(L, -1));
    lua_Integer integer = type == MGB_I32 ? lua_tointegerx(L, -1, &whole) : 0;
    if (!whole || integer < INT32_MIN || integer > INT32_MAX)
        mgb_script_fail(L, "data: input '%s': integer%s expected, got %s", input,
                        whole ? " of 32 bits" : "", mgb_script_describe(L, -1));
    if (type == MGB_I32)
        ((int32_t *)row)[at] = (int32_t)integer;
    else
        ((float *)row)[at] = (float)lua_tonumber(L, -1);
}

/* The value on the top as one example of `tensor`: a number, or a flat list of them. */
static void row_store(lua_State *L, void *row, const struct mgb_graph *graph, int tensor,
                      const char *input)
{
    enum mgb_type type = mgb_tensor_type(graph, tensor);
    int64_t count = mgb_shape_count(mgb_tensor_shape(graph, tensor));
    if (!lua_istable(L, -1) && count == 1) {
        value_store(L, row, 0, type, input);
        return;
    }
    if (!lua_istable(L, -1) || (int64_t)lua_rawlen(L, -1) != count)
        mgb_script_fail(L, "data: input '%s': a list of %I numbers expected for each row, got %s",
                        input, (LUAI_UACINT)count, mgb_script_describe(L, -1));
    for (int64_t i = 0; i < count; i++) {
        lua_rawgeti(L, -1, i + 1);
        value_store(L, row, i, type, input);
        lua_pop(L, 1);
    }
}

static int64_t row_bytes(const struct mgb_graph *graph, int tensor)
{
    return mgb_shape_count(mgb_tensor_shape(graph, tensor)) *
           mgb_type_size(mgb_tensor_type(graph, tensor));
}

/* One block a userdata in a list on the top: data[i] holds all rows of input i. */
static const void **blocks_make(lua_State *L, const struct mgb_graph *graph, int64_t rows)
{
    int inputs = mgb_graph_input_count(graph);
    lua_createtable(L, inputs + 1, 0);
    const void **data = lua_newuserdatauv(L, ((size_t)inputs + 1) * sizeof *data, 0);
    lua_rawseti(L, -2, inputs + 1);
    for (int i = 0; i < inputs; i++) {
        const char *name;
        int64_t bytes = rows * row_bytes(graph, mgb_graph_input_at(graph, i, &name));
        data[i] = lua_newuserdatauv(L, (size_t)bytes, 0);
        lua_rawseti(L, -2, i + 1);
    }
    return data;
}

/* Wraps the blocks in the list on the top. */
static int blocks_source(lua_State *L, const struct mgb_graph *graph, const void **data,
                         int64_t rows)
{
    struct mgb_source *source = mgb_script_push_source(L, 1);
    lua_pushvalue(L, -2);
    lua_setiuservalue(L, -2, 2);
    mgb_script_check(L, mgb_source_memory(source, graph, data, rows, true));
    return 1;
}

/* source_rows(graph, { input = { row, ... } }): rows from Lua values */
static int source_rows(lua_State *L)
{
    const struct mgb_graph *graph = mgb_script_graph(L, 1);
    int inputs = mgb_graph_input_count(graph);
    int64_t rows = -1;
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    for (int i = 0; i < inputs; i++) {
        const char *name;
        mgb_graph_input_at(graph, i, &name);
        if (lua_getfield(L, 2, name) != LUA_TTABLE)
            mgb_script_fail(L, "data: the model's input '%s' has no rows", name);
        int64_t here = (int64_t)lua_rawlen(L, -1);
        if (rows >= 0 && here != rows)
            mgb_script_fail(L, "data: input '%s' has %I rows, the one before it %I", name,
                            (LUAI_UACINT)here, (LUAI_UACINT)rows);
        rows = here;
        lua_pop(L, 1);
    }
    if (rows < 1)
        mgb_script_fail(L, "data: there are no rows");
    const void **data = blocks_make(L, graph, rows);
    for (int i = 0; i < inputs; i++) {
        const char *name;
        int tensor = mgb_graph_input_at(graph, i, &name);
        lua_getfield(L, 2, name);
        for (int64_t row = 0; row < rows; row++) {
            lua_rawgeti(L, -1, row + 1);
            row_store(L, (char *)data[i] + row * row_bytes(graph, tensor), graph, tensor, name);
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
    return blocks_source(L, graph, data, rows);
}

/* One example as Lua writes it: a number, or a flat list. */
static void row_push(lua_State *L, const void *row, const struct mgb_graph *graph, int tensor)
{
    int64_t count = mgb_shape_count(mgb_tensor_shape(graph, tensor));
    bool integers = mgb_tensor_type(graph, tensor) == MGB_I32;
    bool scalar = mgb_tensor_shape(graph, tensor)->rank == 0;
    if (!scalar)
        lua_createtable(L, (int)count, 0);
    for (int64_t i = 0; i < count; i++) {
        if (integers)
            lua_pushinteger(L, ((const int32_t *)row)[i]);
        else
            lua_pushnumber(L, (lua_Number)((const float *)row)[i]);
        if (!scalar)
            lua_rawseti(L, -2, i + 1);
    }
}

/* Puts row `row`, changed by the function at 3, into the blocks. */
static void row_map(lua_State *L, const struct mgb_graph *graph, const void **data, int64_t row)
{
    int inputs = mgb_graph_input_count(graph);
    lua_pushvalue(L, 3);
    lua_createtable(L, 0, inputs);
    for (int i = 0; i < inputs; i++) {
        const char *name;
        int tensor = mgb_graph_input_at(graph, i, &name);
        row_push(L, (const char *)data[i] + row * row_bytes(graph, tensor), graph, tensor);
        lua_setfield(L, -2, name);
    }
    lua_call(L, 1, 1);
    if (!lua_istable(L, -1))
        mgb_script_fail(L, "mgb.data.map: the function returns the row, a table; it returned %s",
                        mgb_script_describe(L, -1));
    for (int i = 0; i < inputs; i++) {
        const char *name;
        int tensor = mgb_graph_input_at(graph, i, &name);
        lua_getfield(L, -1, name);
        row_store(L, (char *)data[i] + row * row_bytes(graph, tensor), graph, tensor, name);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* source_map(graph, source, fn): every row read once, changed by fn(row) and kept */
static int source_map(lua_State *L)
{
    const struct mgb_graph *graph = mgb_script_graph(L, 1);
    struct mgb_source *of = mgb_script_source(L, 2);
    luaL_checktype(L, 3, LUA_TFUNCTION);
    if (of->rows < 1)
        mgb_script_fail(L, "mgb.data.map: %s has no end", of->description);
    const void **data = blocks_make(L, graph, of->rows);
    for (int i = 0; i < mgb_graph_input_count(graph); i++)
        mgb_script_check(L, of->fill(of->context, 0, -1, 0, of->rows, i, (void *)data[i]));
    for (int64_t row = 0; row < of->rows; row++)
        row_map(L, graph, data, row);
    return blocks_source(L, graph, data, of->rows);
}

/* source_facts(source) -> rows, description */
static int source_facts(lua_State *L)
{
    const struct mgb_source *source = mgb_script_source(L, 1);
    lua_pushinteger(L, source->rows);
    lua_pushstring(L, source->description);
    return 2;
}

/* script_path(path): relative to the script's folder; data_path(name): of the data that comes with mgbench */
static int script_path(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1), *folder = mgb_script_of(L)->script_dir;
    if (*path == '/' || !folder || strcmp(folder, ".") == 0)
        lua_settop(L, 1);
    else
        lua_pushfstring(L, "%s/%s", folder, path);
    return 1;
}

static int data_path(lua_State *L)
{
    char *share = mgb_paths_share();
    if (!share)
        mgb_script_raise(L, mgb_fail(MGB_MISSING, "the data sets that come with mgbench were not "
                                                  "found: mgbench info shows where it looks"));
    lua_pushfstring(L, "%s/data/%s", share, luaL_checkstring(L, 1));
    free(share);
    return 1;
}

void mgb_script_bind_source(lua_State *L)
{
    static const luaL_Reg lent[] = {{"source_random", source_random},
                                    {"source_idx", source_idx},
                                    {"source_take", source_take},
                                    {"source_rows", source_rows},
                                    {"source_map", source_map},
                                    {"source_facts", source_facts},
                                    {"script_path", script_path},
                                    {"data_path", data_path},
                                    {NULL, NULL}};
    luaL_newmetatable(L, SOURCE);
    lua_pushcfunction(L, source_close);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    luaL_setfuncs(L, lent, 0);
    mgb_script_bind_files(L);
}
