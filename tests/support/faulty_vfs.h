/* An SQLite VFS over the system's own that fails, tears, refuses or logs what is asked of it. Once installed it is the
 * default of the test process, so that a store opens through it without knowing. Syncs are counted and logged, and skipped. Thread-safe. */
#ifndef TESTS_SUPPORT_FAULTY_VFS_H
#define TESTS_SUPPORT_FAULTY_VFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of calls, a mask. */
enum faulty_kind {
    FAULTY_WRITE = 1,
    FAULTY_SYNC = 2,
    FAULTY_TRUNCATE = 4,
    FAULTY_SHM = 8, /* mapping and locking of the memory that connections share */
    FAULTY_READ = 16,
    FAULTY_OPEN = 32
};

struct faulty_plan {
    unsigned kinds;     /* which calls are counted */
    int64_t at;         /* the at-th of them fails, from 1; 0: none */
    bool lasting;       /* and all later ones */
    int code;           /* what it returns: SQLITE_IOERR_WRITE, SQLITE_FULL... */
    bool short_write;   /* a failing write stores its first half */
    bool no_shm;        /* WAL is not to be had: SQLite refuses it politely */
    int shm_open_fails; /* not 0: what every mapping of shared memory returns, SQLITE_PROTOCOL... */
};

/* Registers it as the default, with no fault planned. Once a process, before any connection. */
void faulty_install(void);
/* Forgets counts. Before opening what it is for: no_shm counts when a file is opened. */
void faulty_plan(const struct faulty_plan *plan);
/* How many calls of the plan's kinds came, and how many of them failed. */
int64_t faulty_calls(void);
int64_t faulty_failures(void);

/* ---- the log of what changed the files: the power-cut model reads it ---- */

enum faulty_event_kind {
    FAULTY_EVENT_WRITE,
    FAULTY_EVENT_TRUNCATE,
    FAULTY_EVENT_SYNC,
    FAULTY_EVENT_DELETE
};

struct faulty_event {
    enum faulty_event_kind kind;
    int file; /* 0: the database, 1: its write-ahead log, 2: its journal */
    int64_t
        offset; /* of a write; the size after a truncation; of a deletion: 1 if the folder was synced */
    size_t size; /* of a write */
    unsigned char *data;
};

/* Starts an empty log of the database at `path`; NULL: ends logging. */
void faulty_log_begin(const char *path);
/* Borrowed until the next faulty_log_begin. */
const struct faulty_event *faulty_log(size_t *count);

#endif
