/* See access.h. A file in use has others beside it: who may not write those may not write at all. */
#include "db/access.h"

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void owner_write(char *out, size_t size, const char *path)
{
    struct stat info;
    struct passwd entry, *found = NULL;
    char room[1024];
    *out = '\0';
    if (stat(path, &info) != 0)
        return;
    if (getpwuid_r(info.st_uid, &entry, room, sizeof room, &found) == 0 && found)
        snprintf(out, size, " (owner %s)", found->pw_name);
    else
        snprintf(out, size, " (owner %lld)", (long long)info.st_uid);
}

/* The folder of `path`, to be freed. */
static char *folder_of(const char *path)
{
    char *real = realpath(path, NULL); /* where a symbolic link leads, there the others lie */
    const char *of = real ? real : path, *slash = strrchr(of, '/');
    char *folder = slash == of ? strdup("/")
                   : slash     ? strndup(of, (size_t)(slash - of))
                               : strdup(".");
    free(real);
    return folder;
}

static bool refused(const char *path)
{
    return access(path, W_OK) != 0 && (errno == EACCES || errno == EROFS || errno == EPERM);
}

static enum mgb_status refuse(const char *path, const char *what, const char *which)
{
    char owner[80];
    owner_write(owner, sizeof owner, which);
    return mgb_fail(MGB_IO,
                    "%s%s may only be read: %s%s; write to another file with --db, or to a copy "
                    "(mgbench seal %s --out COPY)",
                    path, what, which, owner, path);
}

static enum mgb_status beside_check(const char *path, const char *ending, bool *missing)
{
    char *file = NULL;
    enum mgb_status status = MGB_OK;
    if (asprintf(&file, "%s%s", path, ending) < 0)
        return mgb_fail(MGB_NO_MEMORY, "no memory to open %s", path);
    if (access(file, F_OK) != 0)
        *missing = true;
    else if (refused(file))
        status = refuse(path, " has a file beside it that", file);
    free(file);
    return status;
}

enum mgb_status mgb_access_check(const char *path)
{
    static const char *const endings[] = {".lock", "-wal", "-shm"};
    bool missing = false;
    if (access(path, F_OK) != 0)
        return MGB_OK; /* it is to be made; SQLite tells why it cannot */
    if (refused(path))
        return refuse(path, "", path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        MGB_TRY(beside_check(path, endings[i], &missing));
    char *folder = missing ? folder_of(path) : NULL;
    enum mgb_status status =
        folder && refused(folder) ? refuse(path, " lies in a folder that", folder) : MGB_OK;
    free(folder);
    return status;
}
