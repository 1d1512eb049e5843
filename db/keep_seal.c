/* One file for an archive; see keep.h. */
#include "db/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/keep_private.h"
#include "db/source.h"
#include "db/store_private.h"

/* Out of WAL: SQLite moves what the log holds into the file first, and refuses while others have it open. */
static enum mgb_status journal_leave(struct mgb_sql *sql)
{
    char mode[16] = "";
    MGB_TRY(mgb_sql_run(sql, "PRAGMA optimize"));
    enum mgb_status status = mgb_sql_text(mode, sizeof mode, sql, "PRAGMA journal_mode = DELETE");
    if (status == MGB_OK && strcmp(mode, "delete") == 0)
        return MGB_OK;
    if (status != MGB_OK && status != MGB_BUSY)
        return status;
    return mgb_fail(MGB_BUSY,
                    "%s is open in another program (a viewer, a shell): close it, or seal a copy "
                    "with --out",
                    sql->path);
}

/* The lock file goes while it is held; who waits for it looks again (see mgb_lock_take). Held by another: it stays. */
static void lock_remove(const char *path)
{
    struct mgb_lock lock;
    if (mgb_lock_open(&lock, path) != MGB_OK)
        return;
    if (mgb_lock_take(&lock, path, 0) == MGB_OK) {
        unlink(lock.path);
        mgb_lock_release(&lock);
    }
    mgb_lock_close(&lock);
}

enum mgb_status mgb_keep_seal(const char *path, const struct mgb_keep_options *options)
{
    struct mgb_store *store;
    MGB_TRY(mgb_keep_open(&store, path, options));
    MGB_TRY(mgb_keep_close(store, journal_leave(&store->sql)));
    lock_remove(path);
    return MGB_OK;
}

void mgb_keep_unmake(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal", ".lock"};
    struct mgb_lock lock;
    if (mgb_lock_open(&lock, path) != MGB_OK)
        return;
    bool alone = mgb_lock_take(&lock, path, 0) == MGB_OK;
    for (size_t i = 0; alone && i < sizeof endings / sizeof *endings; i++) {
        char *file = NULL;
        if (asprintf(&file, "%s%s", path, endings[i]) >= 0)
            unlink(file);
        free(file);
    }
    mgb_lock_close(&lock);
}

/* `shown`: what the copy will be called, in messages. */
static enum mgb_status copy_write(const char *path, const char *copy, const char *shown,
                                  const struct mgb_keep_options *options)
{
    struct mgb_sql sql;
    struct mgb_statement into;
    enum mgb_schema_state state;
    int64_t pages = 0, size = 0;
    MGB_TRY(mgb_source_open(&sql, &state, path));
    enum mgb_status status =
        state == MGB_SCHEMA_EMPTY
            ? mgb_fail(MGB_MISSING, "%s is empty: nothing has been recorded in it", path)
            : mgb_sql_int(&pages, &sql, "PRAGMA page_count");
    if (status == MGB_OK)
        status = mgb_sql_int(&size, &sql, "PRAGMA page_size");
    if (status == MGB_OK)
        status =
            mgb_keep_room("writing", shown, pages * size, "name a file on a larger disk", options);
    if (status == MGB_OK)
        status = mgb_sql_prepare(&into, &sql, "VACUUM INTO ?");
    if (status == MGB_OK) {
        mgb_bind_text(&into, copy);
        status = mgb_statement_run(&into);
    }
    mgb_sql_close(&sql);
    return status;
}

static enum mgb_status copy_settle(const char *copy, const char *shown)
{
    struct mgb_sql sql;
    MGB_TRY(mgb_sql_open(&sql, copy, copy, SQLITE_OPEN_READWRITE));
    enum mgb_status status = mgb_schema_bring(&sql, mgb_schema_get());
    if (status == MGB_OK)
        status = journal_leave(&sql);
    mgb_sql_close(&sql);
    MGB_TRY(status);
    int fd = open(copy, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0)
        status = mgb_fail(MGB_IO, "cannot write %s: %s", shown, strerror(errno));
    if (fd >= 0)
        close(fd);
    return status;
}

enum mgb_status mgb_keep_seal_copy(const char *path, const char *copy,
                                   const struct mgb_keep_options *options)
{
    char *partial = NULL;
    if (access(copy, F_OK) == 0)
        return mgb_fail(MGB_INVALID, "%s is there already: remove it or name another", copy);
    if (asprintf(&partial, "%s.partial", copy) < 0)
        return mgb_fail(MGB_NO_MEMORY, "no memory to copy %s", path);
    unlink(partial); /* of one that was killed */
    enum mgb_status status = copy_write(path, partial, copy, options);
    if (status == MGB_OK)
        status = copy_settle(partial, copy);
    if (status == MGB_OK && rename(partial, copy) != 0)
        status = mgb_fail(MGB_IO, "cannot write %s: %s", copy, strerror(errno));
    if (status != MGB_OK)
        unlink(partial);
    free(partial);
    return status;
}
