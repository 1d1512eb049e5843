/* Sessions: which steps are to be traced. */
#include "app/script/bind.h"

/* trace(first, last): timed steps of the segment in force, from 0 */
static int session_trace(lua_State *L)
{
    const struct script_services *services = mgb_script_of(L)->services;
    struct script_session *session = mgb_script_session(L, 1);
    if (services->trace)
        services->trace(session, luaL_checkinteger(L, 2), luaL_checkinteger(L, 3));
    return 0;
}

void mgb_script_bind_trace(lua_State *L)
{
    lua_pushcfunction(L, session_trace);
    lua_setfield(L, -2, "trace");
}
