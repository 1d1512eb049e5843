/* Files made to do harm: triggers, views that never end, tables that are something else, rows of any type and size. None
 * makes the program crash, hang or believe; each that is refused is left as it is. */
#include "tests/support/check.h"

#include "db/load.h"
#include "db/query.h"
#include "db/schema.h"
#include "db/sql.h"
#include "db/store.h"
#include "tests/support/database.h"
#include "tests/support/faulty_vfs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char endless[] = "WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) "
                              "SELECT * FROM x";

static void sql_once(const char *path, const char *text)
{
    struct mgb_sql sql;
    assert_ok(mgb_sql_open(&sql, path, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    sqlite3_db_config(sql.handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1, NULL);
    assert_ok(mgb_sql_run(&sql, text));
    mgb_sql_close(&sql);
}

/* A finished run of ten steps. */
static void run_store(const char *path)
{
    int64_t run, segment;
    struct mgb_store *store;
    struct mgb_record steps[10];
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
    assert_ok(mgb_store_open(&store, path, NULL));
    assert_ok(mgb_store_begin_run(&run, store, database_run()));
    struct mgb_record_segment record = database_segment(run);
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
    for (int i = 0; i < 10; i++)
        steps[i] = database_step(segment, i);
    assert_ok(mgb_store_put_steps(store, steps, 10));
    assert_ok(mgb_store_finish_segment(NULL, store, segment, &end));
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
    mgb_store_close(store);
}

static void refused_by_both(const char *path, enum mgb_status wanted, const char *words)
{
    struct mgb_store *store;
    struct mgb_reader *reader;
    assert_status(mgb_reader_open(&reader, path), wanted);
    assert_message(words);
    assert_status(mgb_store_open(&store, path, NULL), wanted);
    assert_message(words);
    assert_message(path);
}

static void triggers_do_not_fire(void **state)
{
    run_store(*state);
    sql_once(*state, "CREATE TRIGGER a AFTER INSERT ON run BEGIN DELETE FROM step; END;"
                     "CREATE TRIGGER b BEFORE INSERT ON step BEGIN SELECT raise(ABORT, 'no'); END;"
                     "CREATE TRIGGER c AFTER UPDATE ON segment BEGIN "
                     "INSERT INTO note (run_id, at_ms, text) SELECT 1, 0, 'mine' FROM step, step, "
                     "step, step, step, step, step, step, step, step; END");
    run_store(*state);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 20);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM note"), 0);
}

static void views_of_our_names_are_ours(void **state)
{
    char text[512];
    run_store(*state);
    snprintf(text, sizeof text,
             "DROP VIEW run_summary; CREATE VIEW run_summary AS %s; "
             "DROP VIEW scaling; CREATE TABLE scaling (x)",
             endless);
    sql_once(*state, text);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run_summary WHERE steps = 10"), 1);
    assert_int_equal(database_int(*state, "SELECT gpus FROM scaling"), 2);
    run_store(*state);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run_summary"), 2);
}

static void a_view_in_place_of_a_table_is_refused(void **state)
{
    char text[256];
    run_store(*state);
    snprintf(text, sizeof text, "PRAGMA foreign_keys = OFF; DROP TABLE tag; CREATE VIEW tag AS %s",
             endless);
    sql_once(*state, text);
    refused_by_both(*state, MGB_CORRUPT, "it has no table tag");
    sql_once(*state, "DROP VIEW tag"); /* untouched: the view was there to drop */
}

static void our_mark_without_our_tables_is_refused(void **state)
{
    char text[128];
    snprintf(text, sizeof text, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             MGB_APPLICATION_ID, mgb_schema_get()->version);
    sql_once(*state, text);
    refused_by_both(*state, MGB_CORRUPT, "it has no table machine");
}

static void an_older_mark_without_tables_is_refused_whole(void **state)
{
    char text[128];
    struct mgb_store *store;
    snprintf(text, sizeof text,
             "PRAGMA application_id = %d; PRAGMA user_version = 1; CREATE TABLE segment (theirs)",
             MGB_APPLICATION_ID);
    sql_once(*state, text);
    assert_true(mgb_store_open(&store, *state, NULL) != MGB_OK);
    assert_message(*state);
    sql_once(*state, "INSERT INTO segment (theirs) VALUES (1)");
    struct mgb_sql sql;
    int64_t found;
    assert_ok(mgb_sql_open(&sql, *state, *state, SQLITE_OPEN_READONLY));
    assert_ok(mgb_sql_int(&found, &sql, "SELECT count(*) FROM sqlite_schema"));
    assert_int_equal(found, 1);
    assert_ok(mgb_sql_int(&found, &sql, "PRAGMA user_version"));
    assert_int_equal(found, 1);
    mgb_sql_close(&sql);
}

static void strange_versions_are_refused(void **state)
{
    run_store(*state);
    sql_once(*state, "PRAGMA user_version = -3");
    refused_by_both(*state, MGB_CORRUPT, "another program");
    sql_once(*state, "PRAGMA user_version = 2147483647");
    refused_by_both(*state, MGB_UNSUPPORTED, "newer mgbench");
}

/* The schema's text without STRICT and without checks: any type anywhere. */
static void file_of_no_types(const char *path)
{
    struct mgb_sql sql;
    char *text = strdup(mgb_schema_get()->create), mark[96];
    assert_non_null(text);
    for (char *at = text; (at = strstr(at, "STRICT"));) {
        bool comma = strncmp(at, "STRICT, ", 8) == 0;
        memset(at, ' ', comma ? 8 : 6);
    }
    assert_ok(mgb_sql_open(&sql, path, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    assert_ok(mgb_sql_run(&sql, text));
    assert_ok(mgb_sql_run(&sql, mgb_schema_get()->views));
    snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             MGB_APPLICATION_ID, mgb_schema_get()->version);
    assert_ok(mgb_sql_run(&sql, mark));
    mgb_sql_close(&sql);
    free(text);
}

static enum mgb_status row_ignore(void *context, const struct mgb_value *values, int count)
{
    (void)context, (void)values, (void)count;
    return MGB_OK;
}

/* Times beyond all bounds are compared, whatever that says. */
static void sides_load(struct mgb_reader *reader)
{
    struct mgb_loaded_side sides[2];
    struct mgb_comparison comparison;
    struct mgb_compare_options options = {0};
    int64_t mine = 1, theirs = 7;
    assert_ok(mgb_side_load(&sides[0], reader, &mine, 1));
    assert_ok(mgb_side_load(&sides[1], reader, &theirs, 1));
    (void)mgb_compare(&comparison, &sides[0].side, &sides[1].side, &options);
    mgb_side_done(&sides[0]);
    mgb_side_done(&sides[1]);
    assert_ok(mgb_side_load_per_example(&sides[1], reader, &theirs, 1));
    mgb_side_done(&sides[1]);
}

static void rows_of_wrong_types_are_read_as_what_they_are(void **state)
{
    static const char *const views[] = {"run_summary", "scaling", "placement", "phase_share",
                                        "step_stats"};
    enum mgb_outcome outcome;
    struct mgb_reader *reader;
    struct mgb_query_sink sink = {.row = row_ignore};
    file_of_no_types(*state);
    run_store(*state);
    sql_once(
        *state,
        "INSERT INTO run (id, uuid, started_ms, machine_id, model_id, backend, simulated, "
        "outcome, log_complete, pid, process_started, boot_id, host) VALUES "
        "(7, x'00ff', 'yesterday', 1, 1, x'', 0, 'running', 1, 'many', x'12', 3.5, x'00');"
        "INSERT INTO segment (id, run_id, started_ms, outcome, first_step, gpus, global_batch) "
        "VALUES (7, 7, 1e300, 'running', 'first', 'x', -1);"
        "INSERT INTO step (segment_id, step, epoch, warmup, start_ns, wall_ns, examples, loss, "
        "loss_status) VALUES (7, 'a', 'b', 0, 'c', 'd', x'01', 'e', 'ok'),"
        "(7, 1, 1, 0, 9223372036854775807, 9223372036854775807, 9223372036854775807, 9e999, "
        "'ok'), (7, 2, 1, 0, -9223372036854775807, 9223372036854775807, -5, 1, 'ok')");
    assert_ok(mgb_reader_open(&reader, *state));
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        char query[64];
        snprintf(query, sizeof query, "SELECT * FROM %s", views[i]);
        enum mgb_status status = mgb_query_run(reader, query, NULL, 0, &sink);
        if (status != MGB_OK) /* sums that leave 64 bits are refused, not wrapped */
            assert_message("integer overflow");
    }
    sides_load(reader);
    assert_ok(mgb_db_run_state(&outcome, reader, 7));
    assert_int_equal(outcome, MGB_OUTCOME_CRASHED);
    mgb_reader_close(reader);
    run_store(*state); /* marks the other as crashed, figures and all */
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run WHERE outcome = 'crashed'"), 1);
}

static void a_huge_text_is_refused_not_loaded(void **state)
{
    struct mgb_sql sql;
    struct mgb_reader *reader;
    struct mgb_query_sink sink = {.row = row_ignore};
    run_store(*state);
    assert_ok(mgb_sql_open(&sql, *state, *state, SQLITE_OPEN_READWRITE));
    sqlite3_limit(sql.handle, SQLITE_LIMIT_LENGTH, 1000000000);
    assert_ok(mgb_sql_run(&sql, "INSERT INTO note (run_id, at_ms, text) VALUES "
                                "(1, 0, printf('%.*c', 80000000, 'x'))"));
    mgb_sql_close(&sql);
    assert_ok(mgb_reader_open(&reader, *state));
    assert_status(mgb_query_run(reader, "SELECT text FROM note", NULL, 0, &sink), MGB_INVALID);
    assert_message("too big");
    assert_ok(mgb_query_run(reader, "SELECT * FROM run_summary", NULL, 0, &sink));
    mgb_reader_close(reader);
    run_store(*state);
}

/* Their own tables beside ours, as Datasette or a colleague may make them, are nobody's business. */
static void what_else_lies_in_the_file_is_left_alone(void **state)
{
    run_store(*state);
    sql_once(*state,
             "CREATE TABLE mine (x); INSERT INTO mine VALUES (5); "
             "CREATE VIEW my_view AS SELECT * FROM run_summary; CREATE INDEX mine_x ON mine (x)");
    run_store(*state);
    assert_int_equal(database_int(*state, "SELECT x FROM mine"), 5);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM my_view"), 2);
}

#define DB_TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(triggers_do_not_fire),
        DB_TEST(views_of_our_names_are_ours),
        DB_TEST(a_view_in_place_of_a_table_is_refused),
        DB_TEST(our_mark_without_our_tables_is_refused),
        DB_TEST(an_older_mark_without_tables_is_refused_whole),
        DB_TEST(strange_versions_are_refused),
        DB_TEST(rows_of_wrong_types_are_read_as_what_they_are),
        DB_TEST(a_huge_text_is_refused_not_loaded),
        DB_TEST(what_else_lies_in_the_file_is_left_alone),
    };
    faulty_install(); /* for its syncs, which take no time */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
