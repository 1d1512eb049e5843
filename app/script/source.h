/* What the bindings of data share. */
#ifndef MGB_APP_SCRIPT_SOURCE_H
#define MGB_APP_SCRIPT_SOURCE_H

#include "app/script/bind.h"
#include <mgb/data.h>

/* An empty source on the top, which keeps the value at `keeps` alive. */
struct mgb_source *mgb_script_push_source(lua_State *L, int keeps);
/* The list { { input, path }, ... } at `index`, whose texts stay alive there, in a userdata on the top. */
struct mgb_idx_file *mgb_script_read_files(lua_State *L, int index, int *count);
/* Data in files of other programs: adds to the table on the top. */
void mgb_script_bind_files(lua_State *L);

#endif
