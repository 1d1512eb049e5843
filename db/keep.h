/* Looking after a results file outside of runs: deleting runs, giving space back, making one file for an archive. All
 * refuse (MGB_BUSY) while a run is being written to the file, and MGB_MISSING when there is none or nothing in it. */
#ifndef MGB_DB_KEEP_H
#define MGB_DB_KEEP_H

#include "db/store.h"

struct mgb_keep_options {
    int64_t free_bytes;                 /* tests: as if so much of the disk were free; 0: ask it */
    int64_t lock_wait_ms, busy_wait_ms; /* as mgb_store_options, except 0: 5000 for both */
    /* Compacting and sealing ask it often: true ends them with MGB_INTERRUPTED, the file as it was. NULL: nobody is asked. */
    bool (*stop)(void *context);
    void *stop_context;
};

/* All or none, with all that belongs to them. MGB_BUSY: one of them is still going. */
enum mgb_status mgb_keep_delete(const char *path, const int64_t *runs, size_t count,
                                const struct mgb_keep_options *options);

struct mgb_keep_sizes { /* bytes on the disk, of the file and its write-ahead log */
    int64_t before, after;
};
/* Rewrites the file without what was deleted. Sets SQLite's folder for temporary files of this process meanwhile. MGB_IO:
 * the disk has not twice the room that the content takes; nothing was done then. */
enum mgb_status mgb_keep_vacuum(struct mgb_keep_sizes *out, const char *path,
                                const struct mgb_keep_options *options);

/* Makes it one file that may lie read-only: no log, no lock file. Writing to it again undoes that. MGB_BUSY: others have it
 * open. */
enum mgb_status mgb_keep_seal(const char *path, const struct mgb_keep_options *options);
/* The same as a copy, which must not be there yet; the file itself may be in use. */
enum mgb_status mgb_keep_seal_copy(const char *path, const char *copy,
                                   const struct mgb_keep_options *options);

/* Takes away a results file that the caller made and could not fill, with its log and lock; not while another process
 * holds its lock. */
void mgb_keep_unmake(const char *path);

/* Bytes of the file and its write-ahead log. */
int64_t mgb_keep_size(const char *path);
/* Free bytes, for this user, of the disk on which the file lies or would; -1: not known. */
int64_t mgb_keep_free(const char *path);

#endif
