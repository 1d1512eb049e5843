/* See presence.h. Files are told by device and inode, as tail -F does. */
#include "db/presence.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static enum mgb_status file_check(struct mgb_presence *presence, int which, const char *path)
{
    struct stat info;
    bool there = stat(path, &info) == 0;
    if (!there && errno != ENOENT)
        return MGB_OK; /* cannot be told; writing will */
    bool known = presence->files[which].known;
    if (known && (!there || info.st_dev != presence->files[which].device ||
                  info.st_ino != presence->files[which].inode))
        return mgb_fail(MGB_IO,
                        "%s was %s while results were stored in it: what this program stored "
                        "there is lost or incomplete; leave the file and its -wal alone until the "
                        "program has ended",
                        path, there ? "replaced" : "deleted or moved");
    if (there && !known) {
        presence->files[which].device = info.st_dev;
        presence->files[which].inode = info.st_ino;
        presence->files[which].known = true;
    }
    return MGB_OK;
}

enum mgb_status mgb_presence_check(struct mgb_presence *presence, const char *path)
{
    char *log = NULL;
    MGB_TRY(file_check(presence, 0, path));
    if (asprintf(&log, "%s-wal", path) < 0)
        return mgb_fail(MGB_NO_MEMORY, "no memory to look after %s", path);
    enum mgb_status status = file_check(presence, 1, log);
    free(log);
    return status;
}
