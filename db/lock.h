/* The writer lock: one process writes a results file at a time. It lives on a file beside the database, because closing
 * any descriptor of the database itself would drop SQLite's own POSIX locks. The kernel frees it when its holder dies; the
 * text in the file only says who that is. Internal to db/. */
#ifndef MGB_DB_LOCK_H
#define MGB_DB_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <mgb/status.h>

struct mgb_lock {
    int fd;
    char *path; /* the database's path plus ".lock" */
};

struct mgb_lock_holder {
    bool held;
    int64_t pid; /* 0: not known */
    int64_t run; /* 0: no run, a short piece of work (migration, a note) */
};

/* Opens or makes the lock file; holds nothing yet. */
enum mgb_status mgb_lock_open(struct mgb_lock *out, const char *database);
void mgb_lock_close(struct mgb_lock *lock);

/* MGB_BUSY with "in use by pid N, run R" when another process runs on the file. Holders without a run are waited for,
 * at most `wait_ms`. */
enum mgb_status mgb_lock_take(struct mgb_lock *lock, const char *database, int64_t wait_ms);
/* Writes down for which run the lock is held. */
void mgb_lock_name_run(struct mgb_lock *lock, int64_t run);
void mgb_lock_release(struct mgb_lock *lock);

/* Who holds the lock of a database, without touching it; not held if there is no lock file. */
struct mgb_lock_holder mgb_lock_find_holder(const char *database);

#endif
