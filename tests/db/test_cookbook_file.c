/* The file of db/README.md's questions, as text: tests/golden/cookbook.sql is what the store makes of tests/support/cookbook.c.
 * After a change that is meant, MGB_WRITE_GOLDEN=1 writes it anew; then look at the answers (test_cookbook.sh). */
#include "tests/support/check.h"

#include "tests/support/cookbook.h"
#include "tests/support/database.h"
#include "tests/support/golden.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sqlite3 *file;

static sqlite3_stmt *prepared(const char *text)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(file, text, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(file));
    return statement;
}

static const char *text_of(sqlite3_stmt *statement)
{
    return (const char *)sqlite3_column_text(statement, 0);
}

static int number_get(const char *query)
{
    sqlite3_stmt *read = prepared(query);
    assert_int_equal(sqlite3_step(read), SQLITE_ROW);
    int number = sqlite3_column_int(read, 0);
    sqlite3_finalize(read);
    return number;
}

/* A column as a literal; numbers with a fraction to twelve digits, so that versions of SQLite agree about them. */
#define LITERAL "%sCASE typeof(%s) WHEN 'real' THEN printf('%%!.12g', %s) ELSE quote(%s) END"

/* Columns of `table` that hold anything, "id, name", and an expression that writes a row of them. */
static void columns_get(char names[2000], char row[8000], const char *table)
{
    char query[200];
    *names = *row = 0;
    snprintf(query, sizeof query, "SELECT name FROM pragma_table_info('%s')", table);
    sqlite3_stmt *columns = prepared(query);
    while (sqlite3_step(columns) == SQLITE_ROW) {
        const char *name = text_of(columns);
        snprintf(query, sizeof query, "SELECT count(%s) FROM %s", name, table);
        if (number_get(query) == 0)
            continue;
        snprintf(names + strlen(names), 2000 - strlen(names), "%s%s", *names ? ", " : "", name);
        snprintf(row + strlen(row), 8000 - strlen(row), LITERAL, *row ? "||','||" : "", name, name,
                 name);
    }
    sqlite3_finalize(columns);
}

/* Ten rows a line where there are many. */
static void table_write(FILE *out, const char *table)
{
    char names[2000], row[8000], query[8100];
    int a_line = strcmp(table, "step") == 0 || strcmp(table, "step_device") == 0 ? 10 : 1;
    columns_get(names, row, table);
    if (!*names)
        return;
    fprintf(out, "\nINSERT INTO %s (%s) VALUES", table, names);
    snprintf(query, sizeof query, "SELECT %s FROM %s", row, table);
    sqlite3_stmt *rows = prepared(query);
    for (int i = 0; sqlite3_step(rows) == SQLITE_ROW; i++)
        fprintf(out, "%s%s(%s)", i > 0 ? "," : "", i % a_line == 0 ? "\n" : " ", text_of(rows));
    fprintf(out, ";\n");
    sqlite3_finalize(rows);
}

static void file_write(FILE *out)
{
    fprintf(
        out,
        "-- The results file of db/README.md's questions. The figures are made up; nothing was "
        "measured.\n"
        "--     cat db/schema.sql db/views.sql tests/golden/cookbook.sql | sqlite3 cookbook.db\n"
        "-- Written by tests/db/test_cookbook_file.c.\n"
        "PRAGMA application_id = %d;\nPRAGMA user_version = %d;\nBEGIN;\n",
        number_get("PRAGMA application_id"), number_get("PRAGMA user_version"));
    sqlite3_stmt *tables = prepared("SELECT name FROM sqlite_schema WHERE type = 'table' AND "
                                    "name NOT LIKE 'sqlite_%' ORDER BY rowid");
    while (sqlite3_step(tables) == SQLITE_ROW)
        table_write(out, text_of(tables));
    sqlite3_finalize(tables);
    fprintf(out, "COMMIT;\n");
}

static void golden_write(const char *text)
{
    char path[1024];
    const char *root = getenv("MGB_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/tests/golden/cookbook.sql", root ? root : ".");
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static void the_shipped_file_is_what_the_store_makes_of_the_made_up_runs(void **state)
{
    char *text;
    size_t size;
    cookbook_fill(*state);
    assert_int_equal(sqlite3_open_v2(*state, &file, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    file_write(out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(sqlite3_close(file), SQLITE_OK);
    if (getenv("MGB_WRITE_GOLDEN"))
        golden_write(text);
    struct golden golden = golden_open("cookbook.sql");
    size_t same = 0;
    while (text[same] && text[same] == golden.text[same])
        same++;
    if (text[same] || golden.text[same])
        fail_msg(
            "tests/golden/cookbook.sql differs at byte %zu: '%.60s' instead of '%.60s'; if meant: "
            "MGB_WRITE_GOLDEN=1",
            same, text + same, golden.text + same);
    golden_close(&golden);
    free(text);
}

static void nothing_in_it_passes_for_measured(void **state)
{
    cookbook_fill(*state);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run"), 30);
    assert_int_equal(
        database_int(*state,
                     "SELECT count(*) FROM run JOIN machine ON machine.id = machine_id WHERE "
                     "run.simulated = 0 OR machine.simulated = 0 OR backend <> 'sim' OR "
                     "data NOT LIKE '%made up%' OR machine.name <> 'made-up' OR "
                     "NOT EXISTS (SELECT 1 FROM tag WHERE run_id = run.id AND name = 'made-up')"),
        0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            the_shipped_file_is_what_the_store_makes_of_the_made_up_runs, database_setup,
            database_teardown),
        cmocka_unit_test_setup_teardown(nothing_in_it_passes_for_measured, database_setup,
                                        database_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
