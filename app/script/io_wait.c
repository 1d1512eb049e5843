/* Files that may keep a reader waiting: pipes, terminals, standard input. They are waited for in short turns, between which a
 * stop is looked for; the C library alone would wait on, whatever signal comes. */
#include "app/script/io_wait.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TURN_MS = 50 };

struct source {
    struct mgb_script *script;
    int fd;
    bool kept; /* the descriptor is not this file's to close */
};

/* False: the script is to stop. */
static bool turn(struct mgb_script *script, int fd, short events)
{
    struct pollfd one = {.fd = fd, .events = events};
    while (!atomic_load(&script->interrupted))
        if (poll(&one, 1, TURN_MS) > 0)
            return true;
    script->broken_off = true;
    errno = EINTR;
    return false;
}

static ssize_t source_read(void *context, char *out, size_t size)
{
    struct source *source = context;
    for (;;) {
        if (!turn(source->script, source->fd, POLLIN))
            return -1;
        ssize_t got = read(source->fd, out, size);
        if (got >= 0 || (errno != EINTR && errno != EAGAIN))
            return got;
    }
}

static ssize_t source_write(void *context, const char *bytes, size_t size)
{
    struct source *source = context;
    for (;;) {
        if (!turn(source->script, source->fd, POLLOUT))
            return 0; /* as fopencookie wants it: nothing was written, errno says why */
        ssize_t put = write(source->fd, bytes, size);
        if (put >= 0 || (errno != EINTR && errno != EAGAIN))
            return put > 0 ? put : 0;
    }
}

static int source_close(void *context)
{
    struct source *source = context;
    int failed = source->kept ? 0 : close(source->fd);
    free(source);
    return failed;
}

/* NULL: errno says why; the descriptor is still open. */
static FILE *source_make(struct mgb_script *script, int fd, bool kept, const char *mode)
{
    struct source *source = malloc(sizeof *source);
    if (!source)
        return NULL;
    *source = (struct source){script, fd, kept};
    FILE *file = fopencookie(
        source, mode,
        (cookie_io_functions_t){.read = source_read, .write = source_write, .close = source_close});
    if (!file)
        free(source);
    return file;
}

static int file_close(lua_State *L)
{
    luaL_Stream *stream = luaL_checkudata(L, 1, LUA_FILEHANDLE);
    return luaL_fileresult(L, fclose(stream->f) == 0, NULL);
}

bool mgb_script_waits(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode));
}

/* Nobody has to be at the other end for reading to begin; to write, somebody is waited for. */
static int path_open(struct mgb_script *script, const char *path, const char *mode)
{
    int way = strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
    for (;;) {
        int fd = open(path, way | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd >= 0 || errno != ENXIO || way != O_WRONLY)
            return fd;
        if (atomic_load(&script->interrupted)) {
            script->broken_off = true;
            errno = EINTR;
            return -1;
        }
        poll(NULL, 0, TURN_MS);
    }
}

int mgb_script_open_waiting(lua_State *L, const char *path, const char *mode)
{
    struct mgb_script *script = mgb_script_of(L);
    luaL_Stream *stream = lua_newuserdatauv(L, sizeof *stream, 0);
    stream->closef = NULL;
    luaL_setmetatable(L, LUA_FILEHANDLE);
    int fd = path_open(script, path, mode);
    if (fd < 0)
        return luaL_fileresult(L, 0, path);
    stream->f = source_make(script, fd, false, mode);
    if (!stream->f) {
        int why = errno;
        close(fd);
        errno = why;
        return luaL_fileresult(L, 0, path);
    }
    stream->closef = file_close;
    return 1;
}

/* Expects io on the top. */
void mgb_script_wait_input(lua_State *L)
{
    struct stat info;
    struct mgb_script *script = mgb_script_of(L);
    if (fstat(STDIN_FILENO, &info) != 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))
        return;
    script->input = source_make(script, STDIN_FILENO, true, "r");
    lua_getfield(L, -1, "stdin");
    if (script->input)
        ((luaL_Stream *)luaL_checkudata(L, -1, LUA_FILEHANDLE))->f = script->input;
    lua_pop(L, 1);
}
