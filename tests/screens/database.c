/* See database.h. */
#include "tests/screens/database.h"

#include <math.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { TEXTS = 4 };

static sqlite3 *database_open(struct program *program, int flags)
{
    sqlite3 *db = NULL;
    if (access(program->database, R_OK) != 0)
        return NULL;
    if (sqlite3_open_v2(program->database, &db, flags, NULL) != SQLITE_OK)
        fail_msg("%s: %s", program->database, sqlite3_errmsg(db));
    sqlite3_busy_timeout(db, 1000 * TERMINAL_SECONDS);
    return db;
}

static const char *value_read(struct program *program, const char *format, va_list args)
{
    char sql[4000];
    vsnprintf(sql, sizeof sql, format, args);
    program->answer[0] = '\0';
    sqlite3 *db = database_open(program, SQLITE_OPEN_READONLY);
    sqlite3_stmt *query = NULL;
    if (!db)
        return program->answer;
    if (sqlite3_prepare_v2(db, sql, -1, &query, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    int code = sqlite3_step(query);
    if (code == SQLITE_ROW && sqlite3_column_type(query, 0) == SQLITE_FLOAT)
        snprintf(program->answer, sizeof program->answer, "%.17g", sqlite3_column_double(query, 0));
    else if (code == SQLITE_ROW && sqlite3_column_text(query, 0))
        snprintf(program->answer, sizeof program->answer, "%s", sqlite3_column_text(query, 0));
    else if (code != SQLITE_ROW && code != SQLITE_DONE)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_finalize(query);
    sqlite3_close(db);
    return program->answer;
}

const char *database_text(struct program *program, const char *sql, ...)
{
    va_list args;
    va_start(args, sql);
    const char *text = value_read(program, sql, args);
    va_end(args);
    return text;
}

double database_number(struct program *program, const char *sql, ...)
{
    va_list args;
    va_start(args, sql);
    const char *text = value_read(program, sql, args);
    va_end(args);
    return *text ? strtod(text, NULL) : (double)NAN;
}

struct database_holder *database_hold(struct program *program)
{
    sqlite3 *db = database_open(program, SQLITE_OPEN_READWRITE);
    assert_non_null(db);
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("BEGIN IMMEDIATE: %s", sqlite3_errmsg(db));
    return (struct database_holder *)db;
}

void database_let_go(struct database_holder *holder)
{
    sqlite3 *db = (sqlite3 *)holder;
    assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static char *text_next(void)
{
    static char texts[TEXTS][40];
    static int at;
    return texts[at++ % TEXTS];
}

const char *number_text(double value)
{
    char *out = text_next();
    double large = fabs(value);
    if (isnan(value))
        strcpy(out, "-");
    else if (value == 0)
        strcpy(out, "0");
    else if (large < 9.9995)
        snprintf(out, 40, large < 0.00095 ? "%.1e" : "%.3f", value);
    else if (large < 99999.5)
        snprintf(out, 40, large < 99.995 ? "%.2f" : large < 999.95 ? "%.1f" : "%.0f", value);
    else
        snprintf(out, 40, value < 999950 ? "%.1fk" : "%.2fM",
                 value < 999950 ? value / 1e3 : value / 1e6);
    return out;
}

const char *bytes_text(double bytes)
{
    char *out = text_next();
    if (isnan(bytes))
        strcpy(out, "-");
    else if (bytes < 1024)
        snprintf(out, 40, "%.0f B", bytes);
    else
        snprintf(out, 40, bytes < 1024 * 1024 ? "%.1f KiB" : "%.1f MiB",
                 bytes < 1024 * 1024 ? bytes / 1024 : bytes / 1048576);
    return out;
}
