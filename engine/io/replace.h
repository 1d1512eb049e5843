/* A file that is written beside another one and takes its place only when it is whole and on the disk: whoever reads the
 * path finds the old file or the new one. Knows nothing of what is written. */
#ifndef MGB_IO_REPLACE_H
#define MGB_IO_REPLACE_H

#include <mgb/status.h>
#include <stddef.h>
#include <stdint.h>

struct mgb_replace {
    char *path, *beside; /* links followed; the file that is written */
    int fd;              /* -1: nothing is being written */
};

/* Whether a file can be put there: MGB_INVALID for a folder, a pipe, a device; MGB_MISSING for a folder that is not there;
 * MGB_IO for one that cannot be written. Touches nothing. */
enum mgb_status mgb_replace_check(const char *path);

/* Room for `bytes` is asked for at once, so that a full disk is found before anything is written. What somebody who was
 * killed left of an earlier try is removed first. */
enum mgb_status mgb_replace_open(struct mgb_replace *out, const char *path, int64_t bytes);
enum mgb_status mgb_replace_write(struct mgb_replace *file, const void *data, size_t bytes);
/* To the disk: after it only the renaming is left. */
enum mgb_status mgb_replace_sync(struct mgb_replace *file);
/* Takes the place of the old file. The file is closed in any case. */
enum mgb_status mgb_replace_commit(struct mgb_replace *file);
/* Two files as one: a reader that prefers `path` of the second where it fits the first, else its path with
 * MGB_REPLACE_NEXT behind, finds a pair at any time. Both are closed in any case. */
#define MGB_REPLACE_NEXT ".next"
enum mgb_status mgb_replace_commit_pair(struct mgb_replace *first, struct mgb_replace *second);
/* Removes what was written; fine when nothing is being written. */
void mgb_replace_abandon(struct mgb_replace *file);

#endif
