/* Read-only connections; see source.h. */
#include "db/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_WAIT_MS 5000

static enum mgb_status source_settle(struct mgb_sql *sql, enum mgb_schema_state *state)
{
    sqlite3_busy_timeout(sql->handle, BUSY_WAIT_MS);
    MGB_TRY(mgb_sql_run(sql, "PRAGMA temp_store = MEMORY"));
    return mgb_schema_look(state, sql, mgb_schema_get());
}

/* "file:PATH?immutable=1" with what a URI reserves escaped. */
static char *uri_make(const char *path)
{
    char *uri = malloc(3 * strlen(path) + 32);
    if (!uri)
        return NULL;
    char *at = uri + sprintf(uri, "file:");
    for (const char *c = path; *c; c++)
        at += sprintf(at, strchr("%?#", *c) ? "%%%02x" : "%c", (unsigned char)*c);
    sprintf(at, "?immutable=1");
    return uri;
}

/* A cleanly closed WAL file in a folder that cannot be written: nobody can be writing it either. */
static enum mgb_status source_open_immutable(struct mgb_sql *sql, enum mgb_schema_state *state,
                                             const char *path)
{
    char *uri = uri_make(path);
    if (!uri)
        return mgb_fail(MGB_NO_MEMORY, "no memory to open %s", path);
    enum mgb_status status = mgb_sql_open(sql, uri, path, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    free(uri);
    MGB_TRY(status);
    status = source_settle(sql, state);
    if (status != MGB_OK)
        mgb_sql_close(sql);
    return status;
}

static bool wal_is_empty(const char *path)
{
    char *wal = NULL;
    struct stat info;
    if (asprintf(&wal, "%s-wal", path) < 0)
        return false;
    bool empty = stat(wal, &info) != 0 ? errno == ENOENT : info.st_size == 0;
    free(wal);
    return empty;
}

enum mgb_status mgb_source_open(struct mgb_sql *sql, enum mgb_schema_state *state, const char *path)
{
    if (path[0] && access(path, F_OK) != 0 && errno == ENOENT)
        return mgb_fail(MGB_MISSING, "%s is not there: nothing has been recorded in it", path);
    MGB_TRY(mgb_sql_open(sql, path, path, SQLITE_OPEN_READONLY));
    enum mgb_status status = source_settle(sql, state);
    if (status == MGB_OK)
        return MGB_OK;
    int code = sql->failed & 0xff;
    mgb_sql_close(sql);
    if ((code == SQLITE_CANTOPEN || code == SQLITE_READONLY) && wal_is_empty(path))
        return source_open_immutable(sql, state, path);
    return status;
}
