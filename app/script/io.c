/* `io` for scripts: files can be read anywhere and written in the output folder only; no processes, no switching of the
 * standard files. */
#include "app/script/io_wait.h"
#include "app/script/paths.h"
#include <fcntl.h>
#include <limits.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether `path` lies in the folder `root` once links are followed. A file that is not there yet lies where its folder
 * does. */
static bool path_inside(const char *path, const char *root)
{
    char real_root[PATH_MAX], real[PATH_MAX];
    if (!realpath(root, real_root))
        return false;
    if (!realpath(path, real)) {
        char *folder = mgb_paths_folder(path);
        bool found = folder && realpath(folder, real);
        free(folder);
        if (!found)
            return true; /* no such folder: opening it fails by itself, with the better reason */
    }
    size_t length = strlen(real_root);
    return strcmp(real_root, "/") == 0 ||
           (strncmp(real, real_root, length) == 0 && (real[length] == '/' || real[length] == 0));
}

void mgb_script_check_write(lua_State *L, const char *what, const char *path)
{
    const char *root = mgb_script_of(L)->output_dir;
    if (!path_inside(path, root))
        mgb_script_fail(L,
                        "%s: \"%s\" cannot be written: scripts write only under the output "
                        "folder, \"%s\"",
                        what, path, root);
}

void mgb_script_check_terminal(lua_State *L, const char *what, const char *path)
{
    struct stat info;
    if (!mgb_script_of(L)->no_terminal || stat(path, &info) != 0 || !S_ISCHR(info.st_mode))
        return;
    int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    bool found = fd >= 0 && isatty(fd);
    if (fd >= 0)
        close(fd);
    if (found)
        mgb_script_fail(L, "%s: a terminal cannot be read here: \"%s\" is the screen's", what,
                        path);
}

/* As io.lines, but for closing the file at its end: that comes when it is collected. */
static int lines_waiting(lua_State *L, const char *path)
{
    if (mgb_script_open_waiting(L, path, "r") != 1)
        return luaL_error(L, "%s", lua_tostring(L, -2));
    lua_replace(L, 1);
    luaL_getmetafield(L, 1, "__index");
    lua_getfield(L, -1, "lines");
    lua_replace(L, -2);
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

static int io_lines(lua_State *L)
{
    const char *path = lua_isnoneornil(L, 1) ? NULL : luaL_checkstring(L, 1);
    if (path)
        mgb_script_check_terminal(L, "io.lines", path);
    if (path && mgb_script_waits(path))
        return lines_waiting(L, path);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static int io_open(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    const char *mode = luaL_optstring(L, 2, "r");
    if (strpbrk(mode, "wa+"))
        mgb_script_check_write(L, "io.open", path);
    mgb_script_check_terminal(L, "io.open", path);
    if (mgb_script_waits(path) && strchr("rwa", *mode) && *mode &&
        strspn(mode + 1, "+b") == strlen(mode + 1))
        return mgb_script_open_waiting(L, path, mode);
    lua_settop(L, 2);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 2, LUA_MULTRET);
    return lua_gettop(L);
}

static int io_missing(lua_State *L)
{
    return luaL_error(L,
                      "io.%s is not available in scripts; there are io.open, io.lines, io.read, "
                      "io.write, io.stdin, io.stdout and io.stderr",
                      luaL_tolstring(L, 2, NULL));
}

void mgb_script_open_io(lua_State *L)
{
    static const char *const removed[] = {"popen", "tmpfile", "input", "output", NULL};
    luaL_requiref(L, LUA_IOLIBNAME, luaopen_io, 1);
    for (const char *const *name = removed; *name; name++) {
        lua_pushnil(L);
        lua_setfield(L, -2, *name);
    }
    lua_getfield(L, -1, "open");
    lua_pushcclosure(L, io_open, 1);
    lua_setfield(L, -2, "open");
    lua_getfield(L, -1, "lines");
    lua_pushcclosure(L, io_lines, 1);
    lua_setfield(L, -2, "lines");
    mgb_script_wait_input(L);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, io_missing);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}
