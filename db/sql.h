/* The one door to SQLite: connection, statements cached by their text, typed binding in order, transactions that know who
 * began them, and SQLite's result codes turned into a status and a message. Knows no table. Internal to db/. */
#ifndef MGB_DB_SQL_H
#define MGB_DB_SQL_H

#include <stddef.h>
#include <sqlite3.h>

#include <mgb/record.h>
#include <mgb/status.h>

#define MGB_SQL_CACHE 64
#define MGB_SQL_LENGTH (64 << 20) /* bytes of a row or a text at most */

struct mgb_sql {
    sqlite3 *handle;
    char *path;
    const char *begun_by; /* function that began the open transaction; NULL: none is open */
    int failed; /* SQLite's extended code of the last failure; undoing does not change it */
    struct {
        const char *text;
        sqlite3_stmt *compiled;
    } cache[MGB_SQL_CACHE];
    int cached;
};

/* Opens without touching the file's content; MGB_MISSING: it is a directory, a pipe or a device. `flags` are SQLITE_OPEN_*; `name` is a path, or a URI with
 * SQLITE_OPEN_URI. Closing never checkpoints unless mgb_sql_checkpoint_on_close was called. */
enum mgb_status mgb_sql_open(struct mgb_sql *out, const char *name, const char *path, int flags);
void mgb_sql_checkpoint_on_close(struct mgb_sql *sql);
void mgb_sql_close(struct mgb_sql *sql);

/* Runs statements without results or parameters. */
enum mgb_status mgb_sql_run(struct mgb_sql *sql, const char *text);
/* One integer; MGB_CORRUPT if there is no row. */
enum mgb_status mgb_sql_int(int64_t *out, struct mgb_sql *sql, const char *text);
/* The first column of the first row as text of at most `size`; "" if there is no row. */
enum mgb_status mgb_sql_text(char *out, size_t size, struct mgb_sql *sql, const char *text);

/* BEGIN IMMEDIATE ... COMMIT. mgb_sql_end commits if `status` is MGB_OK, else rolls back; returns what became of it. */
enum mgb_status mgb_sql_begin(struct mgb_sql *sql, const char *by);
enum mgb_status mgb_sql_end(struct mgb_sql *sql, enum mgb_status status);

/* A statement in use: bind in order, then run or step to the end. Errors of binding surface when it is stepped. */
struct mgb_statement {
    struct mgb_sql *sql;
    sqlite3_stmt *compiled;
    int bound;
    int code; /* first SQLite error of binding */
};

/* `text` must be a literal: it is found again by its address. */
enum mgb_status mgb_sql_prepare(struct mgb_statement *out, struct mgb_sql *sql, const char *text);

void mgb_bind_int(struct mgb_statement *statement, int64_t value);
void mgb_bind_real(struct mgb_statement *statement, double value); /* not finite: NULL */
void mgb_bind_text(struct mgb_statement *statement,
                   const char *text); /* NULL: NULL; borrowed until the reset */
void mgb_bind_maybe_int(struct mgb_statement *statement, struct mgb_maybe_int value);
void mgb_bind_maybe_real(struct mgb_statement *statement, struct mgb_maybe_real value);

/* Runs a statement that returns no rows and resets it. */
enum mgb_status mgb_statement_run(struct mgb_statement *statement);
/* Steps: *row says whether there is one; after the last it resets itself. */
enum mgb_status mgb_statement_step(bool *row, struct mgb_statement *statement);
/* Ends a statement that was not stepped to its last row. */
void mgb_statement_reset(struct mgb_statement *statement);

int64_t mgb_column_int(const struct mgb_statement *statement, int column); /* NULL: 0 */
struct mgb_maybe_int mgb_column_maybe_int(const struct mgb_statement *statement, int column);
const char *mgb_column_text(const struct mgb_statement *statement,
                            int column); /* never NULL; until the next step */

/* Last row id of this connection. */
int64_t mgb_sql_last_id(const struct mgb_sql *sql);

/* How many rows the last statement of this connection changed. */
int64_t mgb_sql_changes(const struct mgb_sql *sql);

/* Fails with SQLite's message for the connection: "FILE: message (what); hint". */
enum mgb_status mgb_sql_fail(struct mgb_sql *sql, int code, const char *what);

#endif
