/* Deleting and compacting; see keep.h. */
#include "db/keep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "db/keep_private.h"
#include "db/source.h"
#include "db/store_private.h"

#define WAIT_MS 5000
#define SPARE_BYTES (1 << 20)
#define WATCH_INSTRUCTIONS 2000 /* of SQLite's machine: well under a tenth of a millisecond */

int64_t mgb_keep_size(const char *path)
{
    struct stat info;
    char *log = NULL;
    int64_t bytes = stat(path, &info) == 0 ? (int64_t)info.st_size : 0;
    if (asprintf(&log, "%s-wal", path) >= 0) {
        bytes += stat(log, &info) == 0 ? (int64_t)info.st_size : 0;
        free(log);
    }
    return bytes;
}

char *mgb_keep_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == path ? strdup("/")
           : slash       ? strndup(path, (size_t)(slash - path))
                         : strdup(".");
}

int64_t mgb_keep_free(const char *path)
{
    struct statvfs info;
    char *folder = mgb_keep_folder(path);
    bool told = folder && statvfs(folder, &info) == 0;
    free(folder);
    return told ? (int64_t)info.f_bavail * (int64_t)info.f_frsize : -1;
}

static int watch_ask(void *context)
{
    const struct mgb_keep_options *options = context;
    return options->stop(options->stop_context);
}

void mgb_keep_watch(struct mgb_sql *sql, const struct mgb_keep_options *options)
{
    if (options && options->stop)
        sqlite3_progress_handler(sql->handle, WATCH_INSTRUCTIONS, watch_ask, (void *)options);
}

enum mgb_status mgb_keep_room(const char *what, const char *path, int64_t needed,
                              const char *advice, const struct mgb_keep_options *options)
{
    int64_t there = options && options->free_bytes ? options->free_bytes : mgb_keep_free(path);
    if (there < 0 || there >= needed + SPARE_BYTES)
        return MGB_OK;
    return mgb_fail(MGB_IO,
                    "%s %s takes %lld MiB of free disk beside it, there are %lld MiB: make room, "
                    "or %s",
                    what, path, (long long)((needed + SPARE_BYTES) >> 20), (long long)(there >> 20),
                    advice);
}

/* Opening for writing would make a results file of an empty one. */
static enum mgb_status empty_refuse(const char *path)
{
    struct mgb_sql sql;
    enum mgb_schema_state state;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return mgb_fail(MGB_MISSING, "%s is not there: nothing has been recorded in it", path);
    if (mgb_source_open(&sql, &state, path) != MGB_OK)
        return MGB_OK; /* opening it for writing tells why, or can do what reading cannot */
    mgb_sql_close(&sql);
    return state == MGB_SCHEMA_EMPTY
               ? mgb_fail(MGB_MISSING, "%s is empty: nothing has been recorded in it", path)
               : MGB_OK;
}

enum mgb_status mgb_keep_open(struct mgb_store **out, const char *path,
                              const struct mgb_keep_options *options)
{
    struct mgb_store_options settings = {.lock_wait_ms = WAIT_MS, .busy_wait_ms = WAIT_MS};
    if (options && options->lock_wait_ms)
        settings.lock_wait_ms = options->lock_wait_ms;
    if (options && options->busy_wait_ms)
        settings.busy_wait_ms = options->busy_wait_ms;
    MGB_TRY(empty_refuse(path));
    MGB_TRY(mgb_store_open(out, path, &settings));
    enum mgb_status status = mgb_store_hold(*out);
    if (status != MGB_OK)
        mgb_store_close(*out);
    return status;
}

enum mgb_status mgb_keep_close(struct mgb_store *store, enum mgb_status status)
{
    mgb_store_release(store);
    mgb_store_close(store);
    return status;
}

static enum mgb_status run_delete(struct mgb_store *store, int64_t run)
{
    struct mgb_statement ask, delete;
    bool row;
    MGB_TRY(mgb_sql_prepare(&ask, &store->sql, "SELECT outcome = 'running' FROM run WHERE id = ?"));
    mgb_bind_int(&ask, run);
    MGB_TRY(mgb_statement_step(&row, &ask));
    if (!row)
        return mgb_fail(MGB_MISSING, "%s has no run %lld", store->sql.path, (long long)run);
    bool going = mgb_column_int(&ask, 0) != 0;
    mgb_statement_reset(&ask);
    if (going)
        return mgb_fail(MGB_BUSY, "run %lld is still going: stop it first", (long long)run);
    MGB_TRY(mgb_sql_prepare(&delete, &store->sql, "DELETE FROM run WHERE id = ?"));
    mgb_bind_int(&delete, run);
    return mgb_statement_run(&delete);
}

enum mgb_status mgb_keep_delete(const char *path, const int64_t *runs, size_t count,
                                const struct mgb_keep_options *options)
{
    struct mgb_store *store;
    MGB_TRY(mgb_keep_open(&store, path, options));
    enum mgb_status status = mgb_store_begin(store, __func__);
    if (status == MGB_OK) {
        for (size_t i = 0; i < count && status == MGB_OK; i++)
            status = run_delete(store, runs[i]);
        status = mgb_store_end(store, status);
    }
    return mgb_keep_close(store, status);
}

/* Compacting writes the content to a temporary file, then to the write-ahead log: both lie on the database's disk, so
 * that its free space is what counts. */
static enum mgb_status compact(struct mgb_store *store)
{
    char *folder = mgb_keep_folder(store->sql.path);
    sqlite3_temp_directory = folder ? sqlite3_mprintf("%s", folder) : NULL;
    free(folder);
    enum mgb_status status = mgb_sql_run(&store->sql, "PRAGMA temp_store = FILE");
    if (status == MGB_OK)
        status = mgb_sql_run(&store->sql, "VACUUM");
    sqlite3_free(sqlite3_temp_directory);
    sqlite3_temp_directory = NULL;
    return status;
}

static enum mgb_status live_bytes(int64_t *out, struct mgb_sql *sql)
{
    int64_t pages, unused, size;
    MGB_TRY(mgb_sql_int(&pages, sql, "PRAGMA page_count"));
    MGB_TRY(mgb_sql_int(&unused, sql, "PRAGMA freelist_count"));
    MGB_TRY(mgb_sql_int(&size, sql, "PRAGMA page_size"));
    *out = (pages - unused) * size;
    return MGB_OK;
}

enum mgb_status mgb_keep_vacuum(struct mgb_keep_sizes *out, const char *path,
                                const struct mgb_keep_options *options)
{
    struct mgb_store *store;
    int64_t live = 0;
    *out = (struct mgb_keep_sizes){.before = mgb_keep_size(path)};
    MGB_TRY(mgb_keep_open(&store, path, options));
    enum mgb_status status = live_bytes(&live, &store->sql);
    if (status == MGB_OK)
        status = mgb_keep_room("compacting", path, 2 * live,
                               "copy it to a larger disk first (mgbench seal --out)", options);
    if (status == MGB_OK)
        mgb_keep_watch(&store->sql, options);
    if (status == MGB_OK)
        status = compact(store);
    sqlite3_progress_handler(store->sql.handle, 0, NULL, NULL); /* what follows is short */
    if (status == MGB_INTERRUPTED)
        status = mgb_fail(MGB_INTERRUPTED, "compacting %s was interrupted: it is as it was", path);
    /* A reader may keep the log from being emptied now: the next run does it then. */
    if (status == MGB_OK)
        status = mgb_sql_run(&store->sql, "PRAGMA wal_checkpoint(TRUNCATE)");
    status = mgb_keep_close(store, status);
    out->after = mgb_keep_size(path);
    return status;
}
