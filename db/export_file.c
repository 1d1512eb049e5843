/* Replacing a file as a whole; see export_file.h. */
#include "db/export_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum mgb_status file_fail(const char *path)
{
    return mgb_fail(MGB_IO, "cannot write %s: %s", path, strerror(errno));
}

/* The name that is to be replaced: a symbolic link stays one. */
static char *path_follow(const char *path)
{
    char *real = realpath(path, NULL);
    return real ? real : strdup(path);
}

enum mgb_status mgb_export_file_open(struct mgb_export_file *out, const char *path)
{
    struct stat info;
    *out = (struct mgb_export_file){.path = path_follow(path), .given = strdup(path)};
    if (!out->path || !out->given) {
        mgb_export_file_done(out);
        return mgb_fail(MGB_NO_MEMORY, "no memory to write %s", path);
    }
    bool there = stat(out->path, &info) == 0;
    bool direct = there && !S_ISREG(info.st_mode);
    if (there && S_ISDIR(info.st_mode))
        errno = EISDIR;
    else if (!direct && asprintf(&out->partial, "%s.partial", out->path) < 0)
        out->partial = NULL;
    else
        out->out = fopen(direct ? out->path : out->partial, "we");
    if (out->out)
        return MGB_OK;
    enum mgb_status status = file_fail(path);
    mgb_export_file_done(out);
    return status;
}

/* Closes it; 0 if all of it was taken. */
static int file_close(struct mgb_export_file *file)
{
    int code = fflush(file->out) != 0 || ferror(file->out) ? -1 : 0;
    if (code == 0 && file->partial)
        code = fsync(fileno(file->out));
    int error = errno;
    if (fclose(file->out) != 0 && code == 0)
        code = -1;
    else
        errno = error;
    file->out = NULL;
    return code;
}

enum mgb_status mgb_export_file_commit(struct mgb_export_file *file)
{
    enum mgb_status status = MGB_OK;
    if (file_close(file) != 0)
        status = file_fail(file->given);
    else if (file->partial && rename(file->partial, file->path) != 0)
        status = file_fail(file->given);
    if (status != MGB_OK && file->partial)
        unlink(file->partial);
    return status;
}

enum mgb_status mgb_export_file_leave(struct mgb_export_file *file, bool keep)
{
    int code = file_close(file);
    if (file->partial && (!keep || code != 0))
        unlink(file->partial);
    return code == 0 ? MGB_OK : file_fail(file->given);
}

void mgb_export_file_done(struct mgb_export_file *file)
{
    if (file->out)
        (void)mgb_export_file_leave(file, false);
    free(file->path);
    free(file->given);
    free(file->partial);
    *file = (struct mgb_export_file){0};
}
