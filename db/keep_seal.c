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
    mgb_keep_watch(&store->sql, options);
    enum mgb_status status = journal_leave(&store->sql);
    sqlite3_progress_handler(store->sql.handle, 0, NULL, NULL);
    if (status == MGB_INTERRUPTED)
        status = mgb_fail(MGB_INTERRUPTED, "sealing %s was interrupted: it is as it was", path);
    MGB_TRY(mgb_keep_close(store, status));
    lock_remove(path);
    return MGB_OK;
}

static void files_remove(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal", ".lock"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char *file = NULL;
        if (asprintf(&file, "%s%s", path, endings[i]) >= 0)
            unlink(file);
        free(file);
    }
}

void mgb_keep_unmake(const char *path)
{
    struct mgb_lock lock;
    if (mgb_lock_open(&lock, path) != MGB_OK)
        return;
    if (mgb_lock_take(&lock, path, 0) == MGB_OK)
        files_remove(path);
    mgb_lock_close(&lock);
}

/* The copy while it is being made: its own name comes with the last step. */
struct copying {
    const char *path, *copy;
    char *partial;
};

/* A full disk is that of the copy. */
static enum mgb_status copy_fail(const struct copying *c, const struct mgb_sql *sql,
                                 enum mgb_status status)
{
    if (status == MGB_INTERRUPTED)
        return mgb_fail(status, "sealing a copy of %s was interrupted: there is no %s", c->path,
                        c->copy);
    if (status != MGB_IO)
        return status;
    return mgb_fail(MGB_IO,
                    "writing %s, a copy of %s, failed: %s; look at the disk's free space, or name "
                    "another place with --out",
                    c->copy, c->path, sqlite3_errstr(sql->failed));
}

static enum mgb_status copy_room(const struct copying *c, struct mgb_sql *sql,
                                 const struct mgb_keep_options *options)
{
    int64_t pages = 0, size = 0;
    MGB_TRY(mgb_sql_int(&pages, sql, "PRAGMA page_count"));
    MGB_TRY(mgb_sql_int(&size, sql, "PRAGMA page_size"));
    return mgb_keep_room("writing", c->copy, pages * size, "name a file on a larger disk", options);
}

static enum mgb_status copy_write(const struct copying *c, const struct mgb_keep_options *options)
{
    struct mgb_sql sql;
    struct mgb_statement into;
    enum mgb_schema_state state;
    MGB_TRY(mgb_source_open(&sql, &state, c->path));
    enum mgb_status status =
        state == MGB_SCHEMA_EMPTY
            ? mgb_fail(MGB_MISSING, "%s is empty: nothing has been recorded in it", c->path)
            : copy_room(c, &sql, options);
    if (status == MGB_OK)
        status = mgb_sql_prepare(&into, &sql, "VACUUM INTO ?");
    if (status == MGB_OK) {
        mgb_keep_watch(&sql, options);
        mgb_bind_text(&into, c->partial);
        status = copy_fail(c, &sql, mgb_statement_run(&into));
    }
    mgb_sql_close(&sql);
    return status;
}

static enum mgb_status copy_settle(const struct copying *c, const struct mgb_keep_options *options)
{
    struct mgb_sql sql;
    MGB_TRY(mgb_sql_open(&sql, c->partial, c->copy, SQLITE_OPEN_READWRITE));
    mgb_keep_watch(&sql, options);
    enum mgb_status status = mgb_schema_bring(&sql, mgb_schema_get());
    if (status == MGB_OK)
        status = journal_leave(&sql);
    status = copy_fail(c, &sql, status);
    mgb_sql_close(&sql);
    MGB_TRY(status);
    int fd = open(c->partial, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0)
        status = mgb_fail(MGB_IO, "cannot write %s: %s", c->copy, strerror(errno));
    if (fd >= 0)
        close(fd);
    return status;
}

static enum mgb_status place_check(const char *copy)
{
    if (access(copy, F_OK) == 0)
        return mgb_fail(MGB_INVALID, "%s is there already: remove it or name another", copy);
    char *folder = mgb_keep_folder(copy);
    enum mgb_status status =
        folder && access(folder, F_OK) != 0
            ? mgb_fail(MGB_MISSING,
                       "--out %s: its folder %s is not there: make it, or name another", copy,
                       folder)
            : MGB_OK;
    free(folder);
    return status;
}

enum mgb_status mgb_keep_seal_copy(const char *path, const char *copy,
                                   const struct mgb_keep_options *options)
{
    struct copying c = {.path = path, .copy = copy};
    MGB_TRY(place_check(copy));
    if (asprintf(&c.partial, "%s.partial", copy) < 0)
        return mgb_fail(MGB_NO_MEMORY, "no memory to copy %s", path);
    files_remove(
        c.partial); /* of one that was killed, with a journal that would be played into the next */
    enum mgb_status status = copy_write(&c, options);
    if (status == MGB_OK)
        status = copy_settle(&c, options);
    if (status == MGB_OK && options && options->stop && options->stop(options->stop_context))
        status = copy_fail(&c, NULL, MGB_INTERRUPTED);
    if (status == MGB_OK && rename(c.partial, copy) != 0)
        status = mgb_fail(MGB_IO, "cannot write %s: %s", copy, strerror(errno));
    if (status != MGB_OK)
        files_remove(c.partial);
    free(c.partial);
    return status;
}
