/* See replace.h. */
#include "engine/io/replace.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static enum mgb_status errno_fail(const char *path, const char *what)
{
    return mgb_fail(MGB_IO, "'%s' cannot be %s: %s; what was there before is untouched", path, what,
                    strerror(errno));
}

/* The folder of `path`, of as many bytes. */
static void folder_write(char *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    memcpy(out, path, length);
    if (!length)
        out[length++] = slash ? '/' : '.';
    out[length] = '\0';
}

static enum mgb_status folder_check(const char *folder, const char *path)
{
    struct stat info;
    if (stat(folder, &info) != 0)
        return mgb_fail(errno == ENOENT ? MGB_MISSING : MGB_IO,
                        "'%s' cannot be written: folder '%s': %s", path, folder, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return mgb_fail(MGB_INVALID, "'%s' cannot be written: '%s' is no folder", path, folder);
    if (access(folder, W_OK | X_OK) != 0)
        return mgb_fail(MGB_IO, "'%s' cannot be written: folder '%s': %s", path, folder,
                        strerror(errno));
    return MGB_OK;
}

/* Where a file of that name lies, links followed; to be released. */
static enum mgb_status path_resolve(char **out, const char *path)
{
    struct stat info;
    *out = NULL;
    if (!*path || path[strlen(path) - 1] == '/')
        return mgb_fail(MGB_INVALID, "'%s' is no name of a file", path);
    if (stat(path, &info) == 0) {
        if (!S_ISREG(info.st_mode))
            return mgb_fail(MGB_INVALID, "'%s' cannot be written: it is %s and no file", path,
                            S_ISDIR(info.st_mode) ? "a folder" : "a pipe or a device");
        char *real = realpath(path, NULL);
        *out = real ? mgb_copy_string(real) : NULL;
        free(real);
    } else if (lstat(path, &info) == 0) {
        return mgb_fail(MGB_INVALID, "'%s' cannot be written: it is a link to nothing", path);
    } else {
        *out = mgb_copy_string(path);
    }
    return *out ? MGB_OK : mgb_fail(MGB_NO_MEMORY, "no memory to write '%s'", path);
}

static enum mgb_status place_find(char **resolved, const char *path)
{
    MGB_TRY(path_resolve(resolved, path));
    char *folder = mgb_alloc(strlen(*resolved) + 2);
    enum mgb_status status = MGB_NO_MEMORY;
    if (folder) {
        folder_write(folder, *resolved);
        status = folder_check(folder, path);
    } else {
        mgb_fail(status, "no memory to write '%s'", path);
    }
    mgb_release(folder);
    if (status != MGB_OK) {
        mgb_release(*resolved);
        *resolved = NULL;
    }
    return status;
}

enum mgb_status mgb_replace_check(const char *path)
{
    char *resolved;
    MGB_TRY(place_find(&resolved, path));
    mgb_release(resolved);
    return MGB_OK;
}

/* "w.safetensors.812.0.tmp" beside "w.safetensors": the name of one that is being written, or was. */
static bool name_is_beside(const char *name, const char *base)
{
    size_t length = strlen(base), digits;
    if (strncmp(name, base, length) != 0)
        return false;
    name += length;
    for (int i = 0; i < 2; i++, name += 1 + digits)
        if (*name != '.' || !(digits = strspn(name + 1, "0123456789")))
            return false;
    return strcmp(name, ".tmp") == 0;
}

/* Who writes a file holds its lock, so one that can be locked was left behind by somebody who was killed. Where files
 * cannot be locked at all nothing is removed. */
static void left_remove(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(folder, name, 0);
    if (fd >= 0)
        close(fd);
}

static void left_remove_all(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = mgb_alloc(strlen(path) + 2);
    if (!folder)
        return;
    folder_write(folder, path);
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (name_is_beside(entry->d_name, slash ? slash + 1 : path))
            left_remove(dirfd(dir), entry->d_name);
    if (dir)
        closedir(dir);
    mgb_release(folder);
}

/* Whoever removes what was left behind may have had the file before it was locked. */
static bool beside_lock(int fd)
{
    struct stat info;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return errno != EWOULDBLOCK;
    return fstat(fd, &info) == 0 && info.st_nlink > 0;
}

/* A name that nothing has, in the same folder; the file gets the mode of the one that it is to replace. */
static int beside_make(struct mgb_replace *file)
{
    struct stat old;
    size_t size = strlen(file->path) + 48;
    file->beside = mgb_alloc(size);
    if (!file->beside) {
        errno = ENOMEM;
        return -1;
    }
    int fd = -1;
    for (int i = 0; fd < 0 && i < 1000; i++) {
        mgb_format(file->beside, size, "%s.%ld.%d.tmp", file->path, (long)getpid(), i);
        fd = open(file->beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
        if (fd >= 0 && !beside_lock(fd)) {
            close(fd);
            fd = -1;
        }
    }
    if (fd >= 0 && stat(file->path, &old) == 0 && fchmod(fd, old.st_mode & 0777) != 0)
        return fd; /* somebody else's file: it keeps the usual mode */
    return fd;
}

enum mgb_status mgb_replace_open(struct mgb_replace *out, const char *path, int64_t bytes)
{
    *out = (struct mgb_replace){.fd = -1};
    MGB_TRY(place_find(&out->path, path));
    left_remove_all(out->path);
    out->fd = beside_make(out);
    if (out->fd < 0) {
        enum mgb_status status = errno_fail(path, "written");
        mgb_release(out->beside);
        mgb_release(out->path);
        return status;
    }
    if (bytes > 0 && fallocate(out->fd, 0, 0, bytes) != 0 &&
        (errno == ENOSPC || errno == EFBIG || errno == EDQUOT)) {
        enum mgb_status status = mgb_fail(
            MGB_IO,
            "'%s' cannot be written: no room for its %lld bytes: %s; what was there before "
            "is untouched",
            path, (long long)bytes, strerror(errno));
        mgb_replace_abandon(out);
        return status;
    }
    return MGB_OK;
}

enum mgb_status mgb_replace_write(struct mgb_replace *file, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes > 0) {
        ssize_t put = write(file->fd, from, bytes);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno_fail(file->path, "written");
        from += put;
        bytes -= (size_t)put;
    }
    return MGB_OK;
}

enum mgb_status mgb_replace_sync(struct mgb_replace *file)
{
    return fsync(file->fd) == 0 ? MGB_OK : errno_fail(file->path, "brought to the disk");
}

/* The new name itself must outlast a power cut; a folder that cannot be synced is not worth failing for. */
static void folder_sync(const char *path)
{
    char *folder = mgb_alloc(strlen(path) + 2);
    if (!folder)
        return;
    folder_write(folder, path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    mgb_release(folder);
}

static void replace_done(struct mgb_replace *file)
{
    mgb_release(file->path);
    mgb_release(file->beside);
    *file = (struct mgb_replace){.fd = -1};
}

static enum mgb_status file_move(struct mgb_replace *file, const char *path)
{
    if (rename(file->beside, path) != 0)
        return errno_fail(file->path, "replaced");
    folder_sync(path);
    return MGB_OK;
}

enum mgb_status mgb_replace_commit(struct mgb_replace *file)
{
    enum mgb_status status = file_move(file, file->path);
    if (status != MGB_OK)
        unlink(file->beside);
    close(file->fd);
    replace_done(file);
    return status;
}

enum mgb_status mgb_replace_commit_pair(struct mgb_replace *first, struct mgb_replace *second)
{
    size_t size = strlen(second->path) + sizeof MGB_REPLACE_NEXT;
    char *next = mgb_alloc(size);
    enum mgb_status status =
        next ? MGB_OK : mgb_fail(MGB_NO_MEMORY, "no memory to write '%s'", second->path);
    if (status == MGB_OK) {
        mgb_format(next, size, "%s" MGB_REPLACE_NEXT, second->path);
        status = file_move(second, next);
    }
    if (status != MGB_OK) {
        mgb_release(next);
        mgb_replace_abandon(first);
        mgb_replace_abandon(second);
        return status;
    }
    mgb_release(second->beside);
    second->beside = next;
    status = mgb_replace_commit(first);
    if (status != MGB_OK) {
        mgb_replace_abandon(second);
        return status;
    }
    (void)file_move(second, second->path); /* a pair either way */
    close(second->fd);
    replace_done(second);
    return MGB_OK;
}

void mgb_replace_abandon(struct mgb_replace *file)
{
    if (file->fd < 0)
        return;
    unlink(file->beside);
    close(file->fd);
    replace_done(file);
}
