/* Is the results file still the one that was opened? A file that was deleted or replaced takes rows without complaint and
 * loses them. Internal to db/. */
#ifndef MGB_DB_PRESENCE_H
#define MGB_DB_PRESENCE_H

#include <stdbool.h>
#include <sys/types.h>

#include <mgb/status.h>

struct mgb_presence {
    struct {
        dev_t device;
        ino_t inode;
        bool known;
    } files[2]; /* the file itself, its write-ahead log */
};

/* Remembers which files are there, and refuses with MGB_IO if one that was is gone or is another one. */
enum mgb_status mgb_presence_check(struct mgb_presence *presence, const char *path);

#endif
