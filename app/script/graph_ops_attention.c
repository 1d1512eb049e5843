/* Methods of graphs that add attention, products of matrices and what goes with them. */
#include "app/script/graph_ops.h"

/* attention(name, q, k, v, mask or nil, heads, causal, scale (0: the usual), dropout) */
static int op_attention(lua_State *L)
{
    int out;
    struct mgb_attention options = {.heads = mgb_script_read_int(L, 7, "nn.attention: heads"),
                                    .causal = lua_toboolean(L, 8),
                                    .scale = (float)luaL_checknumber(L, 9),
                                    .dropout = (float)luaL_checknumber(L, 10)};
    enum mgb_status status = mgb_op_attention(
        mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2), mgb_script_tensor(L, 3),
        mgb_script_tensor(L, 4), mgb_script_tensor(L, 5), mgb_script_tensor_option(L, 6), &options);
    return mgb_script_push_tensor(L, status, out);
}

/* matmul(name, a, b, transpose_a, transpose_b) */
static int op_matmul(lua_State *L)
{
    int out;
    enum mgb_status status = mgb_op_matmul(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2),
                                           mgb_script_tensor(L, 3), mgb_script_tensor(L, 4),
                                           lua_toboolean(L, 5), lua_toboolean(L, 6));
    return mgb_script_push_tensor(L, status, out);
}

/* transpose(name, x, { axes }) */
static int op_transpose(lua_State *L)
{
    struct mgb_graph *graph = mgb_script_graph(L, 1);
    int out, axes[MGB_MAX_RANK] = {0};
    lua_Integer count = luaL_len(L, 4);
    if (count > MGB_MAX_RANK)
        return mgb_script_fail(L, "nn.transpose: axes: at most %d expected, got %I", MGB_MAX_RANK,
                               (LUAI_UACINT)count);
    for (int i = 0; i < (int)count; i++) {
        lua_geti(L, 4, i + 1);
        axes[i] = mgb_script_read_int(L, -1, "nn.transpose: axes");
        lua_pop(L, 1);
    }
    enum mgb_status status = mgb_op_transpose(graph, &out, mgb_script_read_name(L, 2),
                                              mgb_script_tensor(L, 3), axes, (int)count);
    return mgb_script_push_tensor(L, status, out);
}

typedef enum mgb_status kind_function(struct mgb_graph *graph, int *out, const char *name, int x,
                                      bool kind);

static int op_of_two_kinds(lua_State *L, kind_function *function)
{
    int out;
    enum mgb_status status = function(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2),
                                      mgb_script_tensor(L, 3), lua_toboolean(L, 4));
    return mgb_script_push_tensor(L, status, out);
}

/* softmax(name, x, log) */
static int op_softmax(lua_State *L)
{
    return op_of_two_kinds(L, mgb_op_softmax);
}

/* gelu(name, x, approximate) */
static int op_gelu(lua_State *L)
{
    return op_of_two_kinds(L, mgb_op_gelu);
}

void mgb_script_bind_ops_attention(lua_State *L)
{
    static const luaL_Reg methods[] = {{"attention", op_attention}, {"matmul", op_matmul},
                                       {"transpose", op_transpose}, {"softmax", op_softmax},
                                       {"gelu", op_gelu},           {NULL, NULL}};
    luaL_setfuncs(L, methods, 0);
}
