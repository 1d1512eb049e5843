/* Methods of graphs that add an operator: graph:dense(name, x, ...) -> tensor. Tensors and variables are their numbers. */
#include "app/script/graph_ops.h"

enum mgb_activation mgb_script_activation(lua_State *L, int index)
{
    const char *names[MGB_ACTIVATION_COUNT + 1] = {NULL};
    for (int i = 0; i < MGB_ACTIVATION_COUNT; i++)
        names[i] = mgb_activation_name((enum mgb_activation)i);
    return (enum mgb_activation)luaL_checkoption(L, index, names[MGB_LINEAR], names);
}

void mgb_script_bind_activations(lua_State *L)
{
    lua_createtable(L, MGB_ACTIVATION_COUNT, 0);
    for (int i = 0; i < MGB_ACTIVATION_COUNT; i++) {
        lua_pushstring(L, mgb_activation_name((enum mgb_activation)i));
        lua_seti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "activations");
}

int mgb_script_tensor(lua_State *L, int index)
{
    return mgb_script_read_int(L, index, "a tensor's number");
}

/* The number of a tensor, -1 for none. */
int mgb_script_tensor_option(lua_State *L, int index)
{
    return lua_isnoneornil(L, index) ? -1 : mgb_script_tensor(L, index);
}

int mgb_script_push_tensor(lua_State *L, enum mgb_status status, int tensor)
{
    mgb_script_check(L, status);
    lua_pushinteger(L, tensor);
    return 1;
}

static void pair_read(lua_State *L, int index, const char *key, int out[2])
{
    lua_getfield(L, index, key);
    for (int i = 0; i < 2; i++) {
        lua_geti(L, -1, i + 1);
        out[i] = mgb_script_read_int(L, -1, key);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* { size = {h, w}, stride = {h, w}, dilation = {h, w}, padding = "valid" | "same" | {h, w}, groups = n } */
static struct mgb_window window_check(lua_State *L, int index)
{
    struct mgb_window window = {.padding = MGB_EXPLICIT};
    luaL_checktype(L, index, LUA_TTABLE);
    pair_read(L, index, "size", window.size);
    pair_read(L, index, "stride", window.stride);
    pair_read(L, index, "dilation", window.dilation);
    if (lua_getfield(L, index, "padding") == LUA_TSTRING)
        window.padding = *lua_tostring(L, -1) == 's' ? MGB_SAME : MGB_VALID;
    else
        pair_read(L, index, "padding", window.pad);
    lua_getfield(L, index, "groups");
    window.groups = mgb_script_read_int(L, -1, "groups");
    lua_pop(L, 2);
    return window;
}

/* dense(name, x, weight, bias or nil, activation, tied: the weight is units x inputs) */
static int op_dense(lua_State *L)
{
    int out;
    enum mgb_status status = (lua_toboolean(L, 7) ? mgb_op_dense_tied : mgb_op_dense)(
        mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2), mgb_script_tensor(L, 3),
        mgb_script_tensor(L, 4), mgb_script_tensor_option(L, 5), mgb_script_activation(L, 6));
    return mgb_script_push_tensor(L, status, out);
}

/* conv2d(name, x, weight, bias or nil, activation, window) */
static int op_conv2d(lua_State *L)
{
    int out;
    struct mgb_window window = window_check(L, 7);
    enum mgb_status status =
        mgb_op_conv2d(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2),
                      mgb_script_tensor(L, 3), mgb_script_tensor(L, 4),
                      mgb_script_tensor_option(L, 5), &window, mgb_script_activation(L, 6));
    return mgb_script_push_tensor(L, status, out);
}

typedef enum mgb_status pool_function(struct mgb_graph *graph, int *out, const char *name, int x,
                                      const struct mgb_window *window);

static int op_pool(lua_State *L, pool_function *function)
{
    int out;
    struct mgb_window window = window_check(L, 4);
    enum mgb_status status = function(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2),
                                      mgb_script_tensor(L, 3), &window);
    return mgb_script_push_tensor(L, status, out);
}

static int op_max_pool2d(lua_State *L)
{
    return op_pool(L, mgb_op_max_pool2d);
}

/* avg_pool2d(name, x, window, count padding) */
static int op_avg_pool2d(lua_State *L)
{
    return op_pool(L, lua_toboolean(L, 5) ? mgb_op_avg_pool2d_padded : mgb_op_avg_pool2d);
}

static int op_activation(lua_State *L)
{
    int out;
    enum mgb_status status =
        mgb_op_activation(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2),
                          mgb_script_tensor(L, 3), mgb_script_activation(L, 4));
    return mgb_script_push_tensor(L, status, out);
}

static int op_reshape(lua_State *L)
{
    int out;
    struct mgb_shape shape;
    mgb_script_read_shape(L, 4, &shape);
    enum mgb_status status = mgb_op_reshape(
        mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2), mgb_script_tensor(L, 3), &shape);
    return mgb_script_push_tensor(L, status, out);
}

static int op_flatten(lua_State *L)
{
    int out;
    enum mgb_status status = mgb_op_flatten(mgb_script_graph(L, 1), &out,
                                            mgb_script_read_name(L, 2), mgb_script_tensor(L, 3));
    return mgb_script_push_tensor(L, status, out);
}

static int op_dropout(lua_State *L)
{
    int out;
    enum mgb_status status =
        mgb_op_dropout(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2),
                       mgb_script_tensor(L, 3), (float)luaL_checknumber(L, 4));
    return mgb_script_push_tensor(L, status, out);
}

/* concat(name, { tensors }, axis) */
static int op_concat(lua_State *L)
{
    struct mgb_graph *graph = mgb_script_graph(L, 1);
    int out, count = (int)luaL_len(L, 3);
    int *x = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *x, 0);
    for (int i = 0; i < count; i++) {
        lua_geti(L, 3, i + 1);
        x[i] = mgb_script_tensor(L, -1);
        lua_pop(L, 1);
    }
    enum mgb_status status = mgb_op_concat(graph, &out, mgb_script_read_name(L, 2), x, count,
                                           mgb_script_read_int(L, 4, "nn.concat: axis"));
    return mgb_script_push_tensor(L, status, out);
}

typedef enum mgb_status two_function(struct mgb_graph *graph, int *out, const char *name, int a,
                                     int b);

static int op_two(lua_State *L, two_function *function)
{
    int out;
    enum mgb_status status = function(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2),
                                      mgb_script_tensor(L, 3), mgb_script_tensor(L, 4));
    return mgb_script_push_tensor(L, status, out);
}

static int op_add(lua_State *L)
{
    return op_two(L, mgb_op_add);
}

static int op_softmax_cross_entropy(lua_State *L)
{
    return op_two(L, mgb_op_softmax_cross_entropy);
}

static int op_mean_squared_error(lua_State *L)
{
    return op_two(L, mgb_op_mean_squared_error);
}

static int op_accuracy(lua_State *L)
{
    return op_two(L, mgb_op_accuracy);
}

void mgb_script_bind_ops(lua_State *L)
{
    static const luaL_Reg methods[] = {{"dense", op_dense},
                                       {"conv2d", op_conv2d},
                                       {"max_pool2d", op_max_pool2d},
                                       {"avg_pool2d", op_avg_pool2d},
                                       {"activation", op_activation},
                                       {"reshape", op_reshape},
                                       {"flatten", op_flatten},
                                       {"dropout", op_dropout},
                                       {"concat", op_concat},
                                       {"add", op_add},
                                       {"softmax_cross_entropy", op_softmax_cross_entropy},
                                       {"mean_squared_error", op_mean_squared_error},
                                       {"accuracy", op_accuracy},
                                       {NULL, NULL}};
    luaL_setfuncs(L, methods, 0);
    mgb_script_bind_ops_attention(L);
    mgb_script_bind_ops_sequence(L);
    mgb_script_bind_ops_math(L);
    mgb_script_bind_ops_norm(L);
}
