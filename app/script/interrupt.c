/* Asking a script state to stop: from a signal handler at once, from another thread by a wish that the state looks for, and
 * taking it back. */
#include "app/script/host.h"

/* Stays armed: a script's own pcall swallows one error, not the next instruction. Only a count hook, because a call hook
 * would also hit the C functions that close things down. */
static void interrupt_hook(lua_State *L, lua_Debug *ar)
{
    if (!atomic_load(&mgb_script_of(L)->interrupted)) { /* taken back */
        lua_sethook(L, NULL, 0, 0);
        return;
    }
    lua_getinfo(L, "Sl", ar);
    lua_pushfstring(L, "%s:%d: interrupted", ar->short_src, ar->currentline);
    lua_error(L);
}

#define WATCH_EVERY 1000 /* instructions */

/* Another thread must not touch the state: it leaves a wish that is looked for here. */
static void watch_hook(lua_State *L, lua_Debug *ar)
{
    if (!atomic_load(&mgb_script_of(L)->interrupted))
        return;
    lua_sethook(L, interrupt_hook, LUA_MASKCOUNT, 1);
    interrupt_hook(L, ar);
}

void mgb_script_stop(struct mgb_script *script)
{
    atomic_store(&script->interrupted, true);
}

void mgb_script_watch(struct mgb_script *script, bool on)
{
    script->watched = on;
    lua_sethook(script->lua, on ? watch_hook : NULL, on ? LUA_MASKCOUNT : 0, on ? WATCH_EVERY : 0);
}

void mgb_script_resume(struct mgb_script *script)
{
    atomic_store(&script->interrupted, false);
    mgb_script_watch(script, script->watched);
}

void mgb_script_rearm(lua_State *L)
{
    if (atomic_load(&mgb_script_of(L)->interrupted))
        lua_sethook(L, interrupt_hook, LUA_MASKCOUNT, 1);
}

void mgb_script_interrupt(struct mgb_script *script)
{
    atomic_store(&script->interrupted, true);
    lua_sethook(atomic_load(&script->running), interrupt_hook, LUA_MASKCOUNT, 1);
}

bool mgb_script_interrupted(const struct mgb_script *script)
{
    return atomic_load(&script->interrupted);
}
