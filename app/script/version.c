/* Which Lua the program was built with. */
#include "app/script/state.h"
#include <lua.h>

const char *mgb_script_lua_version(void)
{
    return LUA_VERSION_MAJOR "." LUA_VERSION_MINOR "." LUA_VERSION_RELEASE;
}
