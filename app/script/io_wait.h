/* Files that may keep a reader waiting, opened so that a stop ends the wait. Inside of app/script. */
#ifndef MGB_APP_SCRIPT_IO_WAIT_H
#define MGB_APP_SCRIPT_IO_WAIT_H

#include "app/script/host.h"

/* Whether what is there may keep a reader waiting: a pipe, a terminal. */
bool mgb_script_waits(const char *path);
/* Leaves the file, or nil, message and number. `mode` as io.open has checked it. */
int mgb_script_open_waiting(lua_State *L, const char *path, const char *mode);
/* The same for io.stdin; expects io on the top. */
void mgb_script_wait_input(lua_State *L);

#endif
