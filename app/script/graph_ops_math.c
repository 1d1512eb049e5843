/* Methods of graphs that add arithmetic, reductions, cuts and their losses. Tensors and variables are their numbers. */
#include "app/script/graph_ops.h"

typedef enum mgb_status two_function(struct mgb_graph *graph, int *out, const char *name, int a,
                                     int b);
typedef enum mgb_status axis_function(struct mgb_graph *graph, int *out, const char *name, int x,
                                      int axis, bool keep);

static int op_two(lua_State *L, two_function *function)
{
    int out;
    enum mgb_status status = function(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2),
                                      mgb_script_tensor(L, 3), mgb_script_tensor(L, 4));
    return mgb_script_push_tensor(L, status, out);
}

static int op_sub(lua_State *L)
{
    return op_two(L, mgb_op_sub);
}

static int op_mul(lua_State *L)
{
    return op_two(L, mgb_op_mul);
}

static int op_div(lua_State *L)
{
    return op_two(L, mgb_op_div);
}

static int op_binary_cross_entropy(lua_State *L)
{
    return op_two(L, mgb_op_binary_cross_entropy);
}

/* affine(name, x, factor, shift) */
static int op_affine(lua_State *L)
{
    int out;
    enum mgb_status status = mgb_op_affine(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2),
                                           mgb_script_tensor(L, 3), (float)luaL_checknumber(L, 4),
                                           (float)luaL_checknumber(L, 5));
    return mgb_script_push_tensor(L, status, out);
}

static int op_abs(lua_State *L)
{
    int out;
    enum mgb_status status = mgb_op_abs(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2),
                                        mgb_script_tensor(L, 3));
    return mgb_script_push_tensor(L, status, out);
}

/* sum(name, x, axis, keep) */
static int op_over(lua_State *L, axis_function *function)
{
    int out;
    enum mgb_status status =
        function(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2), mgb_script_tensor(L, 3),
                 mgb_script_read_int(L, 4, "axis"), lua_toboolean(L, 5));
    return mgb_script_push_tensor(L, status, out);
}

static int op_sum(lua_State *L)
{
    return op_over(L, mgb_op_sum);
}

static int op_mean(lua_State *L)
{
    return op_over(L, mgb_op_mean);
}

static int op_max(lua_State *L)
{
    return op_over(L, mgb_op_max);
}

/* pad(name, x, axis, zeros before, zeros after) */
static int op_pad(lua_State *L)
{
    int out;
    const int64_t zeros[2] = {luaL_checkinteger(L, 5), luaL_checkinteger(L, 6)};
    enum mgb_status status =
        mgb_op_pad(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2),
                   mgb_script_tensor(L, 3), mgb_script_read_int(L, 4, "axis"), zeros);
    return mgb_script_push_tensor(L, status, out);
}

/* slice(name, x, axis, begin, count or -1 for the rest) */
static int op_slice(lua_State *L)
{
    int out;
    enum mgb_status status = mgb_op_slice(
        mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2), mgb_script_tensor(L, 3),
        mgb_script_read_int(L, 4, "axis"), luaL_checkinteger(L, 5), luaL_checkinteger(L, 6));
    return mgb_script_push_tensor(L, status, out);
}

/* l2(name, { tensors that read variables }, strength) */
static int op_l2(lua_State *L)
{
    struct mgb_graph *graph = mgb_script_graph(L, 1);
    int out, count = (int)luaL_len(L, 3);
    int *variables = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *variables, 0);
    for (int i = 0; i < count; i++) {
        lua_geti(L, 3, i + 1);
        variables[i] = mgb_script_tensor(L, -1);
        lua_pop(L, 1);
    }
    enum mgb_status status = mgb_op_l2(graph, &out, mgb_script_read_name(L, 2), variables, count,
                                       (float)luaL_checknumber(L, 4));
    return mgb_script_push_tensor(L, status, out);
}

void mgb_script_bind_ops_math(lua_State *L)
{
    static const luaL_Reg methods[] = {{"sub", op_sub},
                                       {"mul", op_mul},
                                       {"div", op_div},
                                       {"affine", op_affine},
                                       {"abs", op_abs},
                                       {"sum", op_sum},
                                       {"mean", op_mean},
                                       {"max", op_max},
                                       {"pad", op_pad},
                                       {"slice", op_slice},
                                       {"binary_cross_entropy", op_binary_cross_entropy},
                                       {"l2", op_l2},
                                       {NULL, NULL}};
    luaL_setfuncs(L, methods, 0);
}
