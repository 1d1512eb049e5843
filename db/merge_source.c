/* The file that is merged from; see merge_private.h. */
#include "db/merge_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/source.h"

/* Rewrites the file into the empty file `copy`; only reads it. */
static enum mgb_status copy_make(struct mgb_sql *sql, const char *copy)
{
    struct mgb_statement into;
    MGB_TRY(mgb_sql_prepare(&into, sql, "VACUUM INTO ?"));
    mgb_bind_text(&into, copy);
    return mgb_statement_run(&into);
}

/* The journal is kept in memory: the copy has no name any more, and nobody would look for its journal. */
static enum mgb_status copy_open(struct mgb_sql *out, const char *copy, const char *path)
{
    MGB_TRY(mgb_sql_open(out, copy, path, SQLITE_OPEN_READWRITE));
    enum mgb_status status = mgb_sql_run(out, "PRAGMA journal_mode = MEMORY");
    if (status == MGB_OK)
        status = mgb_schema_bring(out, mgb_schema_get());
    if (status != MGB_OK)
        mgb_sql_close(out);
    return status;
}

static enum mgb_status source_migrate(struct mgb_sql *sql, const char *path, const char *beside)
{
    char *copy = NULL;
    if (asprintf(&copy, "%s.merge-XXXXXX", beside) < 0)
        return mgb_fail(MGB_NO_MEMORY, "no memory to merge %s", path);
    int fd = mkstemp(copy);
    enum mgb_status status =
        fd >= 0 ? copy_make(sql, copy)
                : mgb_fail(MGB_IO, "cannot make the file %s: %s", copy, strerror(errno));
    mgb_sql_close(sql);
    if (status == MGB_OK)
        status = copy_open(sql, copy, path);
    if (fd >= 0) {
        unlink(copy);
        close(fd);
    }
    free(copy);
    return status;
}

enum mgb_status mgb_merge_source_open(struct mgb_sql *out, const char *path, const char *beside)
{
    enum mgb_schema_state state;
    MGB_TRY(mgb_source_open(out, &state, path));
    switch (state) {
    case MGB_SCHEMA_CURRENT:
        return MGB_OK;
    case MGB_SCHEMA_OLDER:
        return source_migrate(out, path, beside);
    case MGB_SCHEMA_EMPTY:
        break;
    }
    mgb_sql_close(out);
    return mgb_fail(MGB_MISSING, "%s is empty: nothing has been recorded in it", path);
}
