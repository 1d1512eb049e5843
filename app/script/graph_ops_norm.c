/* Methods of graphs: batch_norm and layer_norm. */
#include "app/script/graph_ops.h"

/* batch_norm(name, x, gamma or nil, beta or nil, moving mean, moving variance, momentum, epsilon, activation) */
static int op_batch_norm(lua_State *L)
{
    int out;
    struct mgb_batch_norm_options options = {.gamma = mgb_script_tensor_option(L, 4),
                                             .beta = mgb_script_tensor_option(L, 5),
                                             .moving_mean = mgb_script_tensor(L, 6),
                                             .moving_variance = mgb_script_tensor(L, 7),
                                             .momentum = (float)luaL_checknumber(L, 8),
                                             .epsilon = (float)luaL_checknumber(L, 9),
                                             .activation = mgb_script_activation(L, 10)};
    enum mgb_status status =
        mgb_op_batch_norm(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2),
                          mgb_script_tensor(L, 3), &options);
    return mgb_script_push_tensor(L, status, out);
}

/* layer_norm(name, x, gamma or nil, beta or nil, epsilon) */
static int op_layer_norm(lua_State *L)
{
    int out;
    enum mgb_status status =
        mgb_op_layer_norm(mgb_script_graph(L, 1), &out, mgb_script_read_name(L, 2),
                          mgb_script_tensor(L, 3), mgb_script_tensor_option(L, 4),
                          mgb_script_tensor_option(L, 5), (float)luaL_checknumber(L, 6));
    return mgb_script_push_tensor(L, status, out);
}

void mgb_script_bind_ops_norm(lua_State *L)
{
    static const luaL_Reg methods[] = {
        {"batch_norm", op_batch_norm}, {"layer_norm", op_layer_norm}, {NULL, NULL}};
    luaL_setfuncs(L, methods, 0);
}
