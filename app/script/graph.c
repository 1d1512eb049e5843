/* The graph of a model as a userdata, and its methods that declare things. Layers, names and sharing are Lua's
 * (scripts/lib/nn.lua); operators are in graph_ops.c. */
#include "app/script/bind.h"
#include "app/script/graph_ops.h"
#include <limits.h>
#include <mgb/model.h>
#include <string.h>

#define GRAPH "mgb.graph"

struct mgb_graph *mgb_script_graph(lua_State *L, int index)
{
    struct mgb_graph **box = luaL_checkudata(L, index, GRAPH);
    if (!*box)
        luaL_error(L, "a graph that is gone");
    return *box;
}

/* make(name) -> graph */
static int graph_make(lua_State *L)
{
    struct mgb_graph **box = lua_newuserdatauv(L, sizeof *box, 0);
    *box = NULL;
    luaL_setmetatable(L, GRAPH);
    mgb_script_check(L, mgb_graph_make(box, mgb_script_read_name(L, 1)));
    return 1;
}

static int graph_free(lua_State *L)
{
    struct mgb_graph **box = luaL_checkudata(L, 1, GRAPH);
    if (*box)
        mgb_graph_free(*box);
    *box = NULL;
    return 0;
}

static int scope_begin(lua_State *L)
{
    mgb_script_check(L, mgb_graph_begin_scope(mgb_script_graph(L, 1), mgb_script_read_name(L, 2)));
    return 0;
}

static int scope_end(lua_State *L)
{
    mgb_graph_end_scope(mgb_script_graph(L, 1));
    return 0;
}

static int device_begin(lua_State *L)
{
    struct mgb_device_name name;
    mgb_script_check(L, mgb_device_parse(&name, mgb_script_read_name(L, 2)));
    mgb_script_check(L, mgb_graph_begin_device(mgb_script_graph(L, 1), name));
    return 0;
}

static int device_end(lua_State *L)
{
    mgb_graph_end_device(mgb_script_graph(L, 1));
    return 0;
}

/* begin_shared(share) -> share; 0 for a sub-model that is new */
static int shared_begin(lua_State *L)
{
    int share = mgb_script_read_int(L, 2, "a share's number");
    mgb_script_check(L, mgb_graph_begin_shared(mgb_script_graph(L, 1), &share));
    lua_pushinteger(L, share);
    return 1;
}

static int shared_end(lua_State *L)
{
    mgb_script_check(L, mgb_graph_end_shared(mgb_script_graph(L, 1)));
    return 0;
}

static int tower_begin(lua_State *L)
{
    int tower = mgb_script_read_int(L, 2, "a tower's number");
    mgb_script_check(L, mgb_graph_begin_tower(mgb_script_graph(L, 1), tower));
    return 0;
}

static int tower_end(lua_State *L)
{
    mgb_script_check(L, mgb_graph_end_tower(mgb_script_graph(L, 1)));
    return 0;
}

/* input(name, shape, type) -> tensor */
static int graph_input(lua_State *L)
{
    static const char *const types[] = {"f32", "i32", NULL};
    static const enum mgb_type values[] = {MGB_F32, MGB_I32};
    struct mgb_shape shape;
    int tensor, type = luaL_checkoption(L, 4, "f32", types);
    mgb_script_read_shape(L, 3, &shape);
    mgb_script_check(L, mgb_graph_input(mgb_script_graph(L, 1), &tensor, mgb_script_read_name(L, 2),
                                        &shape, values[type]));
    lua_pushinteger(L, tensor);
    return 1;
}

/* fix_batch(input, rows) */
static int batch_fix(lua_State *L)
{
    mgb_script_check(L, mgb_graph_fix_batch(mgb_script_graph(L, 1), mgb_script_read_name(L, 2),
                                            mgb_script_read_int(L, 3, "a batch")));
    return 0;
}

/* fixed_batch() -> rows of every tower, or nil */
static int batch_fixed(lua_State *L)
{
    int rows = mgb_graph_fixed_batch(mgb_script_graph(L, 1), NULL);
    if (rows == 0)
        return 0;
    lua_pushinteger(L, rows);
    return 1;
}

/* variable(name, shape, init, value) -> variable */
static int graph_variable(lua_State *L)
{
    static const char *const kinds[] = {"glorot_uniform", "he_normal", "normal",  "zeros",
                                        "ones",           "constant",  "uniform", "unit_forget",
                                        "orthogonal",     NULL};
    struct mgb_shape shape;
    struct mgb_init init = {.kind = (enum mgb_init_kind)luaL_checkoption(L, 4, NULL, kinds),
                            .value = (float)luaL_optnumber(L, 5, 0)};
    int variable;
    mgb_script_read_shape(L, 3, &shape);
    mgb_script_check(L, mgb_graph_variable(mgb_script_graph(L, 1), &variable,
                                           mgb_script_read_name(L, 2), &shape, &init));
    lua_pushinteger(L, variable);
    return 1;
}

static int variable_read(lua_State *L)
{
    int tensor;
    mgb_script_check(L, mgb_graph_read(mgb_script_graph(L, 1), &tensor,
                                       mgb_script_read_int(L, 2, "a tensor's number")));
    lua_pushinteger(L, tensor);
    return 1;
}

static int variable_freeze(lua_State *L)
{
    luaL_checktype(L, 3, LUA_TBOOLEAN);
    mgb_script_check(L, mgb_graph_freeze(mgb_script_graph(L, 1),
                                         mgb_script_read_int(L, 2, "a tensor's number"),
                                         lua_toboolean(L, 3)));
    return 0;
}

static int graph_output(lua_State *L)
{
    mgb_script_check(L, mgb_graph_output(mgb_script_graph(L, 1), mgb_script_read_name(L, 2),
                                         mgb_script_read_int(L, 3, "a tensor's number")));
    return 0;
}

static int graph_loss(lua_State *L)
{
    mgb_script_check(L, mgb_graph_loss(mgb_script_graph(L, 1),
                                       mgb_script_read_int(L, 2, "a tensor's number"),
                                       (float)luaL_checknumber(L, 3)));
    return 0;
}

static int graph_metric(lua_State *L)
{
    mgb_script_check(L, mgb_graph_metric(mgb_script_graph(L, 1), mgb_script_read_name(L, 2),
                                         mgb_script_read_int(L, 3, "a tensor's number")));
    return 0;
}

static int graph_finish(lua_State *L)
{
    mgb_script_check(L, mgb_graph_finish(mgb_script_graph(L, 1)));
    return 0;
}

/* shape(tensor) -> { dims }, type */
static int tensor_shape(lua_State *L)
{
    const struct mgb_graph *graph = mgb_script_graph(L, 1);
    int tensor = mgb_script_read_int(L, 2, "a tensor's number");
    const struct mgb_shape *shape = mgb_tensor_shape(graph, tensor);
    lua_createtable(L, shape->rank, 0);
    for (int i = 0; i < shape->rank; i++) {
        lua_pushinteger(L, shape->dim[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushstring(L, mgb_type_name(mgb_tensor_type(graph, tensor)));
    return 2;
}

/* facts() -> parameters, forward FLOPs an example, digest as text */
static int graph_facts(lua_State *L)
{
    const struct mgb_graph *graph = mgb_script_graph(L, 1);
    char digest[24];
    lua_pushinteger(L, mgb_graph_parameters(graph));
    lua_pushnumber(L, mgb_graph_forward_flops(graph));
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)mgb_graph_digest(graph));
    lua_pushstring(L, digest);
    return 3;
}

typedef int named_function(const struct mgb_graph *graph, int index, const char **name);

static int names_push(lua_State *L, int count, named_function *at)
{
    const struct mgb_graph *graph = mgb_script_graph(L, 1);
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        const char *name;
        at(graph, i, &name);
        lua_pushstring(L, name);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* inputs(), outputs(), metrics() -> { names in order } */
static int graph_inputs(lua_State *L)
{
    return names_push(L, mgb_graph_input_count(mgb_script_graph(L, 1)), mgb_graph_input_at);
}

static int graph_outputs(lua_State *L)
{
    return names_push(L, mgb_graph_output_count(mgb_script_graph(L, 1)), mgb_graph_output_at);
}

static int graph_metrics(lua_State *L)
{
    return names_push(L, mgb_graph_metric_count(mgb_script_graph(L, 1)), mgb_graph_metric_at);
}

/* variables() -> { { name =, scope =, shape =, parameters =, trainable = } } by number, copies of towers left out */
static int graph_variables(lua_State *L)
{
    const struct mgb_graph *graph = mgb_script_graph(L, 1);
    int count = mgb_graph_variable_count(graph), made = 0;
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        struct mgb_variable_info info = mgb_graph_variable_at(graph, i);
        char shape[96];
        if (info.twin >= 0)
            continue;
        lua_createtable(L, 0, 6);
        lua_pushinteger(L, i);
        lua_setfield(L, -2, "number");
        lua_pushstring(L, info.name);
        lua_setfield(L, -2, "name");
        lua_pushstring(L, info.scope);
        lua_setfield(L, -2, "scope");
        lua_pushstring(L, mgb_shape_format(shape, sizeof shape, &info.shape));
        lua_setfield(L, -2, "shape");
        lua_pushinteger(L, info.count);
        lua_setfield(L, -2, "parameters");
        lua_pushboolean(L, info.trainable);
        lua_setfield(L, -2, "trainable");
        lua_rawseti(L, -2, ++made);
    }
    return 1;
}

static int graph_text(lua_State *L)
{
    char *text;
    mgb_script_check(L, mgb_graph_text(&text, mgb_script_graph(L, 1)));
    lua_pushstring(L, text); /* may raise at the memory limit and leak this one text */
    mgb_text_free(text);
    return 1;
}

const char *mgb_script_read_name(lua_State *L, int index)
{
    size_t length = 0;
    const char *name = lua_type(L, index) == LUA_TSTRING ? lua_tolstring(L, index, &length) : NULL;
    if (!name)
        mgb_script_fail(L, "name expected, got %s", mgb_script_describe(L, index));
    if (strlen(name) != length)
        mgb_script_fail(L, "the name '%s...' has a NUL in it", name);
    return name;
}

int mgb_script_read_int(lua_State *L, int index, const char *what)
{
    int whole;
    lua_Integer value = lua_tointegerx(L, index, &whole);
    if (!whole || lua_type(L, index) != LUA_TNUMBER || value < INT_MIN || value > INT_MAX)
        mgb_script_fail(L, "%s: integer from %d to %d expected, got %s", what, INT_MIN, INT_MAX,
                        mgb_script_describe(L, index));
    return (int)value;
}

void mgb_script_read_shape(lua_State *L, int index, struct mgb_shape *out)
{
    luaL_checktype(L, index, LUA_TTABLE);
    lua_Integer rank = luaL_len(L, index);
    if (rank > MGB_MAX_RANK)
        mgb_script_fail(L, "a shape has at most %d dimensions, not %I", MGB_MAX_RANK,
                        (LUAI_UACINT)rank);
    *out = (struct mgb_shape){.rank = (int)rank};
    for (int i = 0; i < out->rank; i++) {
        int whole;
        lua_geti(L, index, i + 1);
        out->dim[i] = lua_tointegerx(L, -1, &whole);
        if (!whole)
            mgb_script_fail(L, "a shape is a list of integers; number %d is %s", i + 1,
                            mgb_script_describe(L, -1));
        lua_pop(L, 1);
    }
}

void mgb_script_bind_graph(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"begin_scope", scope_begin},   {"end_scope", scope_end},
        {"begin_device", device_begin}, {"end_device", device_end},
        {"begin_shared", shared_begin}, {"end_shared", shared_end},
        {"begin_tower", tower_begin},   {"end_tower", tower_end},
        {"input", graph_input},         {"variable", graph_variable},
        {"value", variable_read},       {"freeze", variable_freeze},
        {"output", graph_output},       {"loss", graph_loss},
        {"metric", graph_metric},       {"finish", graph_finish},
        {"shape", tensor_shape},        {"facts", graph_facts},
        {"metrics", graph_metrics},     {"inputs", graph_inputs},
        {"outputs", graph_outputs},     {"variables", graph_variables},
        {"fix_batch", batch_fix},       {"fixed_batch", batch_fixed},
        {"text", graph_text},           {NULL, NULL}};
    luaL_newmetatable(L, GRAPH);
    lua_pushcfunction(L, graph_free);
    lua_setfield(L, -2, "__gc");
    luaL_newlib(L, methods);
    mgb_script_bind_ops(L);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 1);
    lua_pushcfunction(L, graph_make);
    lua_setfield(L, -2, "graph");
    mgb_script_bind_activations(L);
}
