/* See syntax.h. */
#include "app/script/syntax.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct piece {
    const char *text;
    size_t size;
};

/* "return ", then the text. */
static const char *piece_next(lua_State *lua, void *context, size_t *size)
{
    struct piece *piece = context;
    (void)lua;
    while (piece->text && piece->size == 0)
        piece++;
    *size = piece->size;
    piece->size = 0;
    return piece->text;
}

enum mgb_status mgb_syntax_check(const char *name, const char *text, size_t length)
{
    char chunk[40];
    struct piece pieces[] = {{"return ", 7}, {text, length}, {NULL, 0}};
    lua_State *lua = luaL_newstate();
    if (!lua)
        return mgb_fail(MGB_NO_MEMORY, "reading %s: memory is exhausted", name);
    snprintf(chunk, sizeof chunk, "=%.38s", name);
    int failed = lua_load(lua, piece_next, pieces, chunk, "t");
    enum mgb_status status =
        failed ? mgb_fail(MGB_INVALID, "%.300s", lua_tostring(lua, -1)) : MGB_OK;
    lua_close(lua);
    return status;
}
