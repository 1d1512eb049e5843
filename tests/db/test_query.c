/* Questions: values by type, parameters, faults that are explained, and nothing that writes. */
#include "tests/support/check.h"

#include "db/query.h"
#include "db/schema.h"
#include "db/store.h"
#include "tests/support/database.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct mgb_reader *reader;

static int query_setup(void **state)
{
    struct mgb_store *store;
    int64_t run;
    if (database_setup(state) != 0)
        return -1;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_store_begin_run(&run, store, database_run()));
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
    mgb_store_close(store);
    assert_ok(mgb_reader_open(&reader, *state));
    return 0;
}

static int query_teardown(void **state)
{
    mgb_reader_close(reader);
    return database_teardown(state);
}

struct seen {
    char names[200], values[400];
    int rows;
    int stop_after;
};

static enum mgb_status columns_see(void *context, const char *const *names, int count)
{
    struct seen *seen = context;
    for (int i = 0; i < count; i++)
        snprintf(seen->names + strlen(seen->names), sizeof seen->names - strlen(seen->names), "%s ",
                 names[i]);
    return MGB_OK;
}

static enum mgb_status row_see(void *context, const struct mgb_value *values, int count)
{
    struct seen *seen = context;
    for (int i = 0; i < count; i++) {
        char *at = seen->values + strlen(seen->values);
        size_t room = sizeof seen->values - strlen(seen->values);
        switch (values[i].kind) {
        case MGB_VALUE_NULL:
            snprintf(at, room, "null ");
            break;
        case MGB_VALUE_INT:
            snprintf(at, room, "int:%lld ", (long long)values[i].integer);
            break;
        case MGB_VALUE_REAL:
            snprintf(at, room, "real:%g ", values[i].real);
            break;
        case MGB_VALUE_TEXT:
            snprintf(at, room, "text:%s:%zu ", values[i].text, values[i].size);
            break;
        case MGB_VALUE_BLOB:
            snprintf(at, room, "blob:%zu ", values[i].size);
            break;
        }
    }
    if (++seen->rows == seen->stop_after)
        return mgb_fail(MGB_INTERRUPTED, "enough");
    return MGB_OK;
}

static enum mgb_status ask(struct seen *seen, const char *text, const struct mgb_value *parameters,
                           int count)
{
    struct mgb_query_sink sink = {.context = seen, .columns = columns_see, .row = row_see};
    return mgb_query_run(reader, text, parameters, count, &sink);
}

static void values_keep_their_types(void **state)
{
    (void)state;
    struct seen seen = {0};
    assert_ok(ask(&seen,
                  "SELECT NULL AS a, 9007199254740993 AS b, 0.5 AS c, 'x' AS d, x'0001' AS e", NULL,
                  0));
    assert_string_equal(seen.names, "a b c d e ");
    assert_string_equal(seen.values, "null int:9007199254740993 real:0.5 text:x:1 blob:2 ");
}

static void parameters_are_bound_by_position(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct mgb_value values[5] = {
        {.kind = MGB_VALUE_TEXT, .text = "it's; DROP TABLE run", .size = 20},
        {.kind = MGB_VALUE_INT, .integer = -1},
        {.kind = MGB_VALUE_REAL, .real = 2.5},
        {.kind = MGB_VALUE_NULL},
        {.kind = MGB_VALUE_BLOB, .text = "\0\1", .size = 2}};
    assert_ok(ask(&seen, "SELECT ?, ?, ?, ?, ?", values, 5));
    assert_string_equal(seen.values, "text:it's; DROP TABLE run:20 int:-1 real:2.5 null blob:2 ");
    assert_status(ask(&seen, "SELECT ?", values, 2), MGB_INVALID);
    assert_message("1 places for values, 2 were given");
}

static void columns_are_told_even_without_rows(void **state)
{
    (void)state;
    struct seen seen = {0};
    assert_ok(ask(&seen, "SELECT run_id, model FROM run_summary WHERE 0;  ", NULL, 0));
    assert_string_equal(seen.names, "run_id model ");
    assert_int_equal(seen.rows, 0);
}

static void the_caller_may_stop(void **state)
{
    (void)state;
    struct seen seen = {.stop_after = 2};
    assert_status(ask(&seen, "SELECT value FROM json_each('[1,2,3]')", NULL, 0), MGB_INTERRUPTED);
    assert_message("enough");
    assert_int_equal(seen.rows, 2);
}

static void faults_are_shown_with_the_text_near_them(void **state)
{
    (void)state;
    struct seen seen = {0};
    assert_status(ask(&seen, "SELECT * FORM run", NULL, 0), MGB_INVALID);
    assert_message("near \"FORM\"");
    assert_status(ask(&seen, "SELECT step_ms FROM run_summary", NULL, 0), MGB_INVALID);
    assert_message("no such column: step_ms, at: step_ms FROM");
    assert_status(ask(&seen, "  ", NULL, 0), MGB_INVALID);
    assert_message("empty");
    assert_status(ask(&seen, "SELECT 1; SELECT 2", NULL, 0), MGB_INVALID);
    assert_message("SELECT 2");
    assert_status(ask(&seen, "SELECT abs(-9223372036854775808)", NULL, 0), MGB_INVALID);
    assert_message("integer overflow");
}

static void whatever_writes_is_refused(void **state)
{
    static const char *const writes[] = {"DELETE FROM run",
                                         "UPDATE run SET seed = 2",
                                         "INSERT INTO tag VALUES (1, 'x')",
                                         "CREATE TABLE a (b)",
                                         "CREATE TEMP TABLE a (b)",
                                         "DROP TABLE run",
                                         "PRAGMA user_version = 7",
                                         "PRAGMA journal_mode = DELETE",
                                         "PRAGMA query_only = OFF",
                                         "PRAGMA writable_schema = ON",
                                         "ATTACH ':memory:' AS m",
                                         "BEGIN",
                                         "BEGIN IMMEDIATE",
                                         "SAVEPOINT s",
                                         "COMMIT",
                                         "VACUUM",
                                         "VACUUM INTO '/tmp/stolen.db'",
                                         "REINDEX",
                                         "ANALYZE",
                                         "PRAGMA wal_checkpoint",
                                         "UPDATE sqlite_master SET sql = ''",
                                         "SELECT load_extension('x')",
                                         "EXPLAIN QUERY PLAN DELETE FROM run",
                                         "WITH x AS (SELECT 1) DELETE FROM run"};
    struct seen seen = {0};
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
        if (ask(&seen, writes[i], NULL, 0) != MGB_INVALID)
            fail_msg("not refused: %s", writes[i]);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run WHERE seed = 1"), 1);
    assert_int_equal(database_int(*state, "PRAGMA user_version"), mgb_schema_get()->version);
}

static void what_only_reads_is_allowed(void **state)
{
    (void)state;
    static const char *const reads[] = {
        "SELECT * FROM run_summary",
        "SELECT * FROM scaling",
        "SELECT * FROM placement",
        "SELECT * FROM step_stats",
        "SELECT * FROM phase_share",
        "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 5) SELECT * FROM c",
        "PRAGMA table_info(run)",
        "PRAGMA user_version",
        "PRAGMA integrity_check",
        "SELECT name FROM pragma_table_list",
        "SELECT name FROM sqlite_schema",
        "EXPLAIN QUERY PLAN SELECT * FROM run",
        "VALUES (1), (2)"};
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        struct seen seen = {0};
        if (ask(&seen, reads[i], NULL, 0) != MGB_OK)
            fail_msg("refused: %s: %s", reads[i], mgb_message_get());
    }
}

static void a_file_that_is_not_there_is_not_made(void **state)
{
    (void)state;
    struct mgb_reader *none;
    assert_status(mgb_reader_open(&none, "/tmp/mgb-no-such-file.db"), MGB_MISSING);
    assert_message("/tmp/mgb-no-such-file.db");
    assert_int_not_equal(access("/tmp/mgb-no-such-file.db", F_OK), 0);
}

/* ecosystem.md 4.2, rule 12: an archive in a folder that cannot be written. */
static void a_closed_file_in_a_read_only_folder_can_be_asked(void **state)
{
    char folder[64];
    int code;
    snprintf(folder, sizeof folder, "%s", (char *)*state);
    *strrchr(folder, '/') = 0;
    mgb_reader_close(reader);
    reader = NULL;
    assert_int_equal(chmod(*state, 0444) | chmod(folder, 0555), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct mgb_reader *other;
        if (getuid() == 0 && setuid(65534) != 0) /* root may write anywhere */
            _exit(2);
        if (access(folder, W_OK) == 0)
            _exit(3);
        if (mgb_reader_open(&other, *state) != MGB_OK)
            _exit(4);
        reader = other;
        struct seen seen = {0};
        _exit(ask(&seen, "SELECT count(*) FROM run", NULL, 0) == MGB_OK &&
                      strcmp(seen.values, "int:1 ") == 0
                  ? 0
                  : 5);
    }
    assert_int_equal(waitpid(pid, &code, 0), pid);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(code, 0);
}

static void an_open_reader_sees_what_is_written_meanwhile(void **state)
{
    struct mgb_store *store;
    int64_t run;
    struct seen before = {0}, after = {0};
    assert_ok(ask(&before, "SELECT count(*) FROM run", NULL, 0));
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_store_begin_run(&run, store, database_run()));
    assert_ok(ask(&after, "SELECT count(*) FROM run", NULL, 0));
    mgb_store_close(store);
    assert_string_equal(before.values, "int:1 ");
    assert_string_equal(after.values, "int:2 ");
}

#define QUERY_TEST(name) cmocka_unit_test_setup_teardown(name, query_setup, query_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        QUERY_TEST(values_keep_their_types),
        QUERY_TEST(parameters_are_bound_by_position),
        QUERY_TEST(columns_are_told_even_without_rows),
        QUERY_TEST(the_caller_may_stop),
        QUERY_TEST(faults_are_shown_with_the_text_near_them),
        QUERY_TEST(whatever_writes_is_refused),
        QUERY_TEST(what_only_reads_is_allowed),
        QUERY_TEST(a_file_that_is_not_there_is_not_made),
        QUERY_TEST(a_closed_file_in_a_read_only_folder_can_be_asked),
        QUERY_TEST(an_open_reader_sees_what_is_written_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
