/* Methods of graphs that add an operator of sequences: embedding, mask, lstm, gru. */
#include "app/script/graph_ops.h"

/* embedding(name, ids, table) */
static int op_embedding(lua_State *L)
{
    int out;
    enum mgb_status status =
        mgb_op_embedding(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2),
                         mgb_script_tensor(L, 3), mgb_script_tensor(L, 4));
    return mgb_script_push_tensor(L, status, out);
}

/* mask(name, x, value) */
static int op_mask(lua_State *L)
{
    int out;
    enum mgb_status status = mgb_op_mask(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2),
                                         mgb_script_tensor(L, 3), (float)luaL_checknumber(L, 4));
    return mgb_script_push_tensor(L, status, out);
}

static int tensor_field(lua_State *L, int index, const char *key)
{
    lua_getfield(L, index, key);
    int tensor = mgb_script_tensor_option(L, -1);
    lua_pop(L, 1);
    return tensor;
}

static bool bool_field(lua_State *L, int index, const char *key)
{
    lua_getfield(L, index, key);
    bool set = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return set;
}

/* { kernel =, recurrent =, bias =, mask =, h =, c = (tensors), sequences =, cell =, reverse =, reset_after = } */
static struct mgb_recurrent recurrent_read(lua_State *L, int index)
{
    luaL_checktype(L, index, LUA_TTABLE);
    return (struct mgb_recurrent){.kernel = tensor_field(L, index, "kernel"),
                                  .recurrent = tensor_field(L, index, "recurrent"),
                                  .bias = tensor_field(L, index, "bias"),
                                  .mask = tensor_field(L, index, "mask"),
                                  .h0 = tensor_field(L, index, "h"),
                                  .c0 = tensor_field(L, index, "c"),
                                  .sequences = bool_field(L, index, "sequences"),
                                  .cell = bool_field(L, index, "cell"),
                                  .reverse = bool_field(L, index, "reverse"),
                                  .reset_after = bool_field(L, index, "reset_after")};
}

/* lstm(name, x, options) */
static int op_lstm(lua_State *L)
{
    int out;
    struct mgb_recurrent recurrent = recurrent_read(L, 4);
    enum mgb_status status = mgb_op_lstm(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2),
                                         mgb_script_tensor(L, 3), &recurrent);
    return mgb_script_push_tensor(L, status, out);
}

/* gru(name, x, options) */
static int op_gru(lua_State *L)
{
    int out;
    struct mgb_recurrent recurrent = recurrent_read(L, 4);
    enum mgb_status status = mgb_op_gru(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2),
                                        mgb_script_tensor(L, 3), &recurrent);
    return mgb_script_push_tensor(L, status, out);
}

void mgb_script_bind_ops_sequence(lua_State *L)
{
    static const luaL_Reg methods[] = {{"embedding", op_embedding},
                                       {"mask", op_mask},
                                       {"lstm", op_lstm},
                                       {"gru", op_gru},
                                       {NULL, NULL}};
    luaL_setfuncs(L, methods, 0);
}
