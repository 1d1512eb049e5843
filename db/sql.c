/* The one door to SQLite; see sql.h. */
#include "db/sql.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static enum mgb_status code_status(int code)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return MGB_BUSY;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_NOLFS:
    case SQLITE_PROTOCOL:
        return MGB_IO;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return MGB_CORRUPT;
    case SQLITE_NOMEM:
        return MGB_NO_MEMORY;
    case SQLITE_INTERRUPT:
        return MGB_INTERRUPTED;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
        return MGB_INVALID;
    default:
        return MGB_STATE;
    }
}

static const char *code_hint(int code)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "; another program is writing to it";
    case SQLITE_FULL:
        return "; free some space, or name another file with --db";
    case SQLITE_IOERR:
        return "; the disk may be full or failing: look at its free space and limits";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        return "; look at the permissions of the file and its folder, or name another file with "
               "--db";
    case SQLITE_NOTADB:
        return "; it is not an SQLite file";
    default:
        return "";
    }
}

enum mgb_status mgb_sql_fail(struct mgb_sql *sql, int code, const char *what)
{
    sql->failed = code;
    const char *message = sql->handle ? sqlite3_errmsg(sql->handle) : sqlite3_errstr(code);
    return mgb_fail(code_status(code), "%s: %s (%.60s)%s", sql->path, message, what,
                    code_hint(code));
}

/* SQLite would take a directory for a failing disk and wait for the other end of a pipe. */
static enum mgb_status kind_check(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode))
        return MGB_OK;
    return mgb_fail(MGB_MISSING, "%s is a %s, no results file: name a file", path,
                    S_ISDIR(info.st_mode)    ? "directory"
                    : S_ISFIFO(info.st_mode) ? "pipe"
                    : S_ISSOCK(info.st_mode) ? "socket"
                                             : "device");
}

enum mgb_status mgb_sql_open(struct mgb_sql *out, const char *name, const char *path, int flags)
{
    *out = (struct mgb_sql){0};
    if (!path
            [0]) /* SQLite would keep everything in a file without a name, and drop it at the end */
        return mgb_fail(MGB_INVALID, "a results file needs a name; an empty one was given");
    MGB_TRY(kind_check(path));
    out->path = strdup(path);
    if (!out->path)
        return mgb_fail(MGB_NO_MEMORY, "no memory to open %s", path);
    int code = sqlite3_open_v2(name, &out->handle, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK) {
        enum mgb_status status = mgb_sql_fail(out, code, "opening");
        mgb_sql_close(out);
        return status;
    }
    sqlite3_extended_result_codes(out->handle, 1);
    sqlite3_db_config(out->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    /* The file may come from anywhere: it may hold triggers, functions in views, and rows of any size. */
    sqlite3_db_config(out->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(out->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(out->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_limit(out->handle, SQLITE_LIMIT_LENGTH, MGB_SQL_LENGTH);
    return MGB_OK;
}

void mgb_sql_checkpoint_on_close(struct mgb_sql *sql)
{
    sqlite3_db_config(sql->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
}

void mgb_sql_close(struct mgb_sql *sql)
{
    for (int i = 0; i < sql->cached; i++)
        sqlite3_finalize(sql->cache[i].compiled);
    sqlite3_close(sql->handle);
    free(sql->path);
    *sql = (struct mgb_sql){0};
}

enum mgb_status mgb_sql_run(struct mgb_sql *sql, const char *text)
{
    int code = sqlite3_exec(sql->handle, text, NULL, NULL, NULL);
    if (code != SQLITE_OK)
        return mgb_sql_fail(sql, code, strlen(text) < 80 ? text : "running a script of SQL");
    return MGB_OK;
}

static enum mgb_status first_row(sqlite3_stmt **out, bool *row, struct mgb_sql *sql,
                                 const char *text)
{
    *row = false;
    int code = sqlite3_prepare_v2(sql->handle, text, -1, out, NULL);
    if (code != SQLITE_OK)
        return mgb_sql_fail(sql, code, text);
    code = sqlite3_step(*out);
    *row = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        return MGB_OK;
    enum mgb_status status = mgb_sql_fail(sql, code, text);
    sqlite3_finalize(*out);
    return status;
}

enum mgb_status mgb_sql_int(int64_t *out, struct mgb_sql *sql, const char *text)
{
    sqlite3_stmt *compiled;
    bool row;
    MGB_TRY(first_row(&compiled, &row, sql, text));
    if (row)
        *out = sqlite3_column_int64(compiled, 0);
    sqlite3_finalize(compiled);
    return row ? MGB_OK : mgb_fail(MGB_CORRUPT, "%s: no answer to: %s", sql->path, text);
}

enum mgb_status mgb_sql_text(char *out, size_t size, struct mgb_sql *sql, const char *text)
{
    sqlite3_stmt *compiled;
    bool row;
    MGB_TRY(first_row(&compiled, &row, sql, text));
    const char *value = row ? (const char *)sqlite3_column_text(compiled, 0) : NULL;
    sqlite3_snprintf((int)size, out, "%s", value ? value : "");
    sqlite3_finalize(compiled);
    return MGB_OK;
}

enum mgb_status mgb_sql_begin(struct mgb_sql *sql, const char *by)
{
    if (sql->begun_by)
        return mgb_fail(MGB_STATE, "%s: %s begins a transaction inside that of %s", sql->path, by,
                        sql->begun_by);
    struct mgb_statement begin;
    MGB_TRY(mgb_sql_prepare(&begin, sql, "BEGIN IMMEDIATE"));
    MGB_TRY(mgb_statement_run(&begin));
    sql->begun_by = by;
    return MGB_OK;
}

/* A rollback after a failure: the failure's own message must survive it. */
static void transaction_undo(struct mgb_sql *sql)
{
    sql->begun_by = NULL;
    if (!sqlite3_get_autocommit(sql->handle))
        sqlite3_exec(sql->handle, "ROLLBACK", NULL, NULL, NULL);
}

enum mgb_status mgb_sql_end(struct mgb_sql *sql, enum mgb_status status)
{
    struct mgb_statement commit;
    if (status == MGB_OK)
        status = mgb_sql_prepare(&commit, sql, "COMMIT");
    if (status == MGB_OK)
        status = mgb_statement_run(&commit);
    if (status != MGB_OK)
        transaction_undo(sql);
    sql->begun_by = NULL;
    return status;
}

enum mgb_status mgb_sql_prepare(struct mgb_statement *out, struct mgb_sql *sql, const char *text)
{
    *out = (struct mgb_statement){.sql = sql, .code = SQLITE_OK};
    for (int i = 0; i < sql->cached; i++) {
        if (sql->cache[i].text == text) {
            out->compiled = sql->cache[i].compiled;
            return MGB_OK;
        }
    }
    if (sql->cached == MGB_SQL_CACHE)
        return mgb_fail(MGB_STATE, "more than %d statements: raise MGB_SQL_CACHE", MGB_SQL_CACHE);
    int code =
        sqlite3_prepare_v3(sql->handle, text, -1, SQLITE_PREPARE_PERSISTENT, &out->compiled, NULL);
    if (code != SQLITE_OK)
        return mgb_sql_fail(sql, code, text);
    sql->cache[sql->cached].text = text;
    sql->cache[sql->cached++].compiled = out->compiled;
    return MGB_OK;
}

static void bind_note(struct mgb_statement *statement, int code)
{
    if (statement->code == SQLITE_OK)
        statement->code = code;
}

void mgb_bind_int(struct mgb_statement *statement, int64_t value)
{
    bind_note(statement, sqlite3_bind_int64(statement->compiled, ++statement->bound, value));
}

void mgb_bind_real(struct mgb_statement *statement, double value)
{
    int place = ++statement->bound;
    bind_note(statement, isfinite(value) ? sqlite3_bind_double(statement->compiled, place, value)
                                         : sqlite3_bind_null(statement->compiled, place));
}

void mgb_bind_text(struct mgb_statement *statement, const char *text)
{
    bind_note(statement,
              sqlite3_bind_text(statement->compiled, ++statement->bound, text, -1, SQLITE_STATIC));
}

void mgb_bind_maybe_int(struct mgb_statement *statement, struct mgb_maybe_int value)
{
    if (value.known)
        mgb_bind_int(statement, value.value);
    else
        bind_note(statement, sqlite3_bind_null(statement->compiled, ++statement->bound));
}

void mgb_bind_maybe_real(struct mgb_statement *statement, struct mgb_maybe_real value)
{
    mgb_bind_real(statement, value.known ? value.value : (double)NAN);
}

void mgb_statement_reset(struct mgb_statement *statement)
{
    sqlite3_reset(statement->compiled);
    sqlite3_clear_bindings(statement->compiled);
}

enum mgb_status mgb_statement_step(bool *row, struct mgb_statement *statement)
{
    *row = false;
    int wanted = sqlite3_bind_parameter_count(statement->compiled);
    if (statement->bound != wanted)
        return mgb_fail(MGB_STATE, "%d values bound where %d are wanted: %s", statement->bound,
                        wanted, sqlite3_sql(statement->compiled));
    int code = statement->code == SQLITE_OK ? sqlite3_step(statement->compiled) : statement->code;
    if (code == SQLITE_ROW) {
        *row = true;
        return MGB_OK;
    }
    enum mgb_status status = MGB_OK;
    if (code != SQLITE_DONE)
        status = mgb_sql_fail(statement->sql, code, sqlite3_sql(statement->compiled));
    mgb_statement_reset(statement);
    return status;
}

enum mgb_status mgb_statement_run(struct mgb_statement *statement)
{
    bool row;
    MGB_TRY(mgb_statement_step(&row, statement));
    if (row)
        mgb_statement_reset(statement);
    return MGB_OK;
}

int64_t mgb_column_int(const struct mgb_statement *statement, int column)
{
    return sqlite3_column_int64(statement->compiled, column);
}

struct mgb_maybe_int mgb_column_maybe_int(const struct mgb_statement *statement, int column)
{
    return (struct mgb_maybe_int){.known = sqlite3_column_type(statement->compiled, column) !=
                                           SQLITE_NULL,
                                  .value = sqlite3_column_int64(statement->compiled, column)};
}

const char *mgb_column_text(const struct mgb_statement *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement->compiled, column);
    return text ? text : "";
}

int64_t mgb_sql_last_id(const struct mgb_sql *sql)
{
    return sqlite3_last_insert_rowid(sql->handle);
}

int64_t mgb_sql_changes(const struct mgb_sql *sql)
{
    return sqlite3_changes64(sql->handle);
}
