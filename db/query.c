/* Read-only questions; see query.h. */
#include "db/query.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "db/liveness.h"
#include "db/lock.h"
#include "db/source.h"

#define COLUMN_MAX 2000 /* SQLite's own limit */

#define WATCH_INSTRUCTIONS 20000 /* of SQLite's machine: well under a millisecond */

struct mgb_reader {
    struct mgb_sql sql;
    bool (*stop)(void *context);
    void *stop_context;
};

/* PRAGMAs that only tell; those marked do so only without an argument. */
static bool pragma_tells(const char *name, const char *argument)
{
    static const struct {
        const char *name;
        bool bare;
    } known[] = {
        {"table_info", false},       {"table_xinfo", false},   {"table_list", false},
        {"index_list", false},       {"index_info", false},    {"index_xinfo", false},
        {"foreign_key_list", false}, {"database_list", false}, {"compile_options", false},
        {"integrity_check", false},  {"quick_check", false},   {"foreign_key_check", false},
        {"function_list", false},    {"user_version", true},   {"application_id", true},
        {"page_count", true},        {"page_size", true},      {"freelist_count", true},
        {"schema_version", true},    {"encoding", true}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0)
            return !known[i].bare || !argument;
    return false;
}

/* A read-only connection still could attach files, open transactions or change its own settings. */
static int query_allow(void *context, int action, const char *first, const char *second,
                       const char *database, const char *trigger)
{
    (void)context, (void)database, (void)trigger;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return second && strcmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_UPDATE: /* so SQLite declares json_each and its like; a real one is not read-only and refused */
        return strcmp(first, "sqlite_master") == 0 ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA:
        return pragma_tells(first, second) ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static enum mgb_status reader_settle(struct mgb_sql *sql, enum mgb_schema_state state)
{
    switch (state) {
    case MGB_SCHEMA_CURRENT:
        MGB_TRY(mgb_schema_shadow_views(sql, mgb_schema_get()));
        return mgb_sql_run(sql, "PRAGMA query_only = ON");
    case MGB_SCHEMA_EMPTY:
        return mgb_fail(MGB_MISSING, "%s is empty: nothing has been recorded in it", sql->path);
    case MGB_SCHEMA_OLDER:
        break;
    }
    return mgb_fail(MGB_UNSUPPORTED,
                    "%s has an older schema: any run or note that writes to it brings it forward; "
                    "without writing to it: mgbench seal %s --out NEW makes a copy that is",
                    sql->path, sql->path);
}

static enum mgb_status reader_open(struct mgb_sql *sql, const char *path)
{
    enum mgb_schema_state state;
    MGB_TRY(mgb_source_open(sql, &state, path));
    enum mgb_status status = reader_settle(sql, state);
    if (status != MGB_OK)
        mgb_sql_close(sql);
    return status;
}

enum mgb_status mgb_reader_open(struct mgb_reader **out, const char *path)
{
    *out = NULL;
    struct mgb_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return mgb_fail(MGB_NO_MEMORY, "no memory to open %s", path);
    enum mgb_status status = reader_open(&reader->sql, path);
    if (status != MGB_OK) {
        free(reader);
        return status;
    }
    sqlite3_set_authorizer(reader->sql.handle, query_allow, NULL);
    *out = reader;
    return MGB_OK;
}

void mgb_reader_close(struct mgb_reader *reader)
{
    if (!reader)
        return;
    mgb_sql_close(&reader->sql);
    free(reader);
}

static int watch_ask(void *context)
{
    const struct mgb_reader *reader = context;
    return reader->stop(reader->stop_context);
}

void mgb_reader_watch(struct mgb_reader *reader, bool (*stop)(void *context), void *context)
{
    reader->stop = stop;
    reader->stop_context = context;
    sqlite3_progress_handler(reader->sql.handle, WATCH_INSTRUCTIONS, stop ? watch_ask : NULL,
                             reader);
}

static enum mgb_status text_fail(struct mgb_reader *reader, int code, const char *text)
{
    if (code == SQLITE_AUTH)
        return mgb_fail(MGB_INVALID, "a query may only read: %.200s", text);
    if (code == SQLITE_INTERRUPT)
        return mgb_fail(MGB_INTERRUPTED, "the query was stopped");
    int offset = sqlite3_error_offset(reader->sql.handle);
    if (code != SQLITE_ERROR)
        return mgb_sql_fail(&reader->sql, code, "query");
    /* The place of a fault inside a view is one in the view's text, not in ours. */
    if (offset < 0 || (size_t)offset > strlen(text))
        return mgb_fail(MGB_INVALID, "query: %s", sqlite3_errmsg(reader->sql.handle));
    return mgb_fail(MGB_INVALID, "query: %s, at: %.60s", sqlite3_errmsg(reader->sql.handle),
                    text + offset);
}

static bool only_blank(const char *text)
{
    while (isspace((unsigned char)*text) || *text == ';')
        text++;
    return *text == 0;
}

static enum mgb_status query_compile(sqlite3_stmt **out, struct mgb_reader *reader,
                                     const char *text, int parameter_count)
{
    const char *rest;
    int code = sqlite3_prepare_v2(reader->sql.handle, text, -1, out, &rest);
    if (code != SQLITE_OK)
        return text_fail(reader, code, text);
    if (!*out)
        return mgb_fail(MGB_INVALID, "the query is empty");
    enum mgb_status status = MGB_OK;
    int wanted = sqlite3_bind_parameter_count(*out);
    if (!sqlite3_stmt_readonly(*out))
        status = mgb_fail(MGB_INVALID, "a query may only read: %.200s", text);
    else if (!only_blank(rest))
        status = mgb_fail(MGB_INVALID, "a query is one statement; after it stands: %.60s", rest);
    else if (wanted != parameter_count)
        status = mgb_fail(MGB_INVALID, "the query has %d places for values, %d were given", wanted,
                          parameter_count);
    if (status != MGB_OK)
        sqlite3_finalize(*out);
    return status;
}

static int value_bind(sqlite3_stmt *compiled, int place, const struct mgb_value *value)
{
    switch (value->kind) {
    case MGB_VALUE_NULL:
        return sqlite3_bind_null(compiled, place);
    case MGB_VALUE_INT:
        return sqlite3_bind_int64(compiled, place, value->integer);
    case MGB_VALUE_REAL:
        return sqlite3_bind_double(compiled, place, value->real);
    case MGB_VALUE_TEXT:
        return sqlite3_bind_text64(compiled, place, value->text, value->size, SQLITE_STATIC,
                                   SQLITE_UTF8);
    case MGB_VALUE_BLOB:
        return sqlite3_bind_blob64(compiled, place, value->text, value->size, SQLITE_STATIC);
    }
    return SQLITE_MISUSE;
}

static struct mgb_value value_read(sqlite3_stmt *compiled, int column)
{
    switch (sqlite3_column_type(compiled, column)) {
    case SQLITE_INTEGER:
        return (struct mgb_value){.kind = MGB_VALUE_INT,
                                  .integer = sqlite3_column_int64(compiled, column)};
    case SQLITE_FLOAT:
        return (struct mgb_value){.kind = MGB_VALUE_REAL,
                                  .real = sqlite3_column_double(compiled, column)};
    case SQLITE_TEXT:
        return (struct mgb_value){.kind = MGB_VALUE_TEXT,
                                  .text = (const char *)sqlite3_column_text(compiled, column),
                                  .size = (size_t)sqlite3_column_bytes(compiled, column)};
    case SQLITE_BLOB:
        return (struct mgb_value){.kind = MGB_VALUE_BLOB,
                                  .text = sqlite3_column_blob(compiled, column),
                                  .size = (size_t)sqlite3_column_bytes(compiled, column)};
    }
    return (struct mgb_value){.kind = MGB_VALUE_NULL};
}

static enum mgb_status columns_tell(sqlite3_stmt *compiled, int count,
                                    const struct mgb_query_sink *sink)
{
    const char *names[COLUMN_MAX];
    if (!sink->columns)
        return MGB_OK;
    for (int i = 0; i < count; i++)
        names[i] = sqlite3_column_name(compiled, i);
    return sink->columns(sink->context, names, count);
}

static enum mgb_status rows_tell(struct mgb_reader *reader, sqlite3_stmt *compiled, int count,
                                 const struct mgb_query_sink *sink, const char *text)
{
    struct mgb_value *values = calloc((size_t)count + 1, sizeof *values);
    if (!values)
        return mgb_fail(MGB_NO_MEMORY, "no memory for a row of %d columns", count);
    enum mgb_status status = MGB_OK;
    int code = SQLITE_ROW;
    while (status == MGB_OK && (code = sqlite3_step(compiled)) == SQLITE_ROW) {
        for (int i = 0; i < count; i++)
            values[i] = value_read(compiled, i);
        status = sink->row(sink->context, values, count);
    }
    if (status == MGB_OK && code != SQLITE_DONE)
        status = text_fail(reader, code, text);
    free(values);
    return status;
}

enum mgb_status mgb_query_run(struct mgb_reader *reader, const char *text,
                              const struct mgb_value *parameters, int parameter_count,
                              const struct mgb_query_sink *sink)
{
    sqlite3_stmt *compiled = NULL;
    MGB_TRY(query_compile(&compiled, reader, text, parameter_count));
    enum mgb_status status = MGB_OK;
    for (int i = 0; i < parameter_count && status == MGB_OK; i++) {
        int code = value_bind(compiled, i + 1, &parameters[i]);
        if (code != SQLITE_OK)
            status = mgb_fail(MGB_INVALID, "value %d of the query cannot be bound: %s", i + 1,
                              sqlite3_errstr(code));
    }
    int count = sqlite3_column_count(compiled);
    if (status == MGB_OK)
        status = columns_tell(compiled, count, sink);
    if (status == MGB_OK)
        status = rows_tell(reader, compiled, count, sink, text);
    sqlite3_finalize(compiled);
    return status;
}

static enum mgb_outcome outcome_find(const char *name)
{
    for (int i = MGB_OUTCOME_RUNNING; i <= MGB_OUTCOME_TIMEOUT; i++)
        if (strcmp(name, mgb_outcome_name((enum mgb_outcome)i)) == 0)
            return (enum mgb_outcome)i;
    return MGB_OUTCOME_ERROR;
}

static enum mgb_outcome running_judge(const struct mgb_reader *reader,
                                      const struct mgb_identity *identity)
{
    switch (mgb_identity_liveness(identity)) {
    case MGB_ALIVE:
        return MGB_OUTCOME_RUNNING;
    case MGB_DEAD:
        return MGB_OUTCOME_CRASHED;
    case MGB_LIVENESS_UNKNOWN:
        break;
    }
    return mgb_lock_find_holder(reader->sql.path).held ? MGB_OUTCOME_RUNNING : MGB_OUTCOME_CRASHED;
}

enum mgb_status mgb_db_run_state(enum mgb_outcome *out, struct mgb_reader *reader, int64_t run)
{
    struct mgb_statement find;
    bool row;
    MGB_TRY(mgb_sql_prepare(&find, &reader->sql,
                            "SELECT outcome, " MGB_LIVENESS_COLUMNS " FROM run WHERE id = ?"));
    mgb_bind_int(&find, run);
    MGB_TRY(mgb_statement_step(&row, &find));
    if (!row)
        return mgb_fail(MGB_MISSING, "%s has no run %lld", reader->sql.path, (long long)run);
    *out = outcome_find(mgb_column_text(&find, 0));
    if (*out == MGB_OUTCOME_RUNNING) {
        struct mgb_identity identity;
        mgb_liveness_read(&identity, &find, 1);
        *out = running_judge(reader, &identity);
    }
    mgb_statement_reset(&find);
    return MGB_OK;
}
