/* What the bindings of operators share; one file a family (graph_ops.c, graph_ops_norm.c, ...), each of which adds its methods to the
 * table on top of the stack. */
#ifndef MGB_SCRIPT_GRAPH_OPS_H
#define MGB_SCRIPT_GRAPH_OPS_H

#include "app/script/bind.h"
#include <mgb/op.h>

/* An activation by name; none is linear. */
enum mgb_activation mgb_script_activation(lua_State *L, int index);
/* Adds `activations`, the list of those names, to the table on the top. */
void mgb_script_bind_activations(lua_State *L);
void mgb_script_bind_ops_attention(lua_State *L);
void mgb_script_bind_ops_sequence(lua_State *L);
void mgb_script_bind_ops_math(lua_State *L);
/* The number of a tensor; the option: -1 for none. */
int mgb_script_tensor(lua_State *L, int index);
int mgb_script_tensor_option(lua_State *L, int index);
/* Raises unless `status` is MGB_OK; else pushes the number and returns 1. */
int mgb_script_push_tensor(lua_State *L, enum mgb_status status, int tensor);

/* Each adds the methods of its family. */
void mgb_script_bind_ops_norm(lua_State *L);

#endif
