/* A results file of version 1, as that version made it, in the hands of this one. */
#include "tests/support/check.h"

#include "db/schema.h"
#include "db/query.h"
#include "db/store.h"
#include "tests/support/database.h"
#include "tests/support/golden.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void sql_run(const char *path, const char *text)
{
    struct mgb_sql sql;
    assert_ok(mgb_sql_open(&sql, path, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    assert_ok(mgb_sql_run(&sql, text));
    mgb_sql_close(&sql);
}

static void store_make(const char *path)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, path, NULL));
    mgb_store_close(store);
}

/* Schema 1 and rows of every table that steps, tasks and figures live in. */
static void version_1_make(const char *path)
{
    struct golden schema = golden_open("schema_1.sql");
    sql_run(path, schema.text);
    golden_close(&schema);
    sql_run(
        path,
        "CREATE VIEW run_summary AS SELECT id AS run_id FROM run;"
        "INSERT INTO machine (id, key, name, simulated) VALUES (1, 'k', 'here', 0);"
        "INSERT INTO model (id, name, options, graph_digest) VALUES (1, 'lenet', '{}', 'd');"
        "INSERT INTO run (id, uuid, started_ms, finished_ms, machine_id, model_id, backend, "
        "simulated, outcome, log_complete, pid) VALUES (7, 'u', 1, 2, 1, 1, 'host', 0, 'ok', 1, "
        "9);"
        "INSERT INTO segment (id, run_id, started_ms, finished_ms, outcome, first_step, "
        "warmup_rule, strategy, gpus, batch_mode, batch_per_gpu, global_batch) "
        "VALUES (3, 7, 1, 2, 'ok', 0, 'fixed', 'outputs', 2, 'weak', 32, 64);"
        "INSERT INTO segment_stat (segment_id, timed_steps, warmup_steps, examples, timed_ns, "
        "median_ns, ci95_low_ns, ci95_high_ns, interval_method) VALUES (3, 4, 0, 256, 500000000, "
        "100000000, 100000000, 200000000, 'binomial order statistics of independent steps');"
        "INSERT INTO step (segment_id, step, epoch, warmup, start_ns, wall_ns, examples, "
        "loss_status) VALUES (3, 0, 0, 0, 0, 100000000, 64, 'none');"
        "INSERT INTO task (segment_id, step, device, queue, kind, phase, name, start_ns, "
        "duration_ns, bytes) VALUES (3, 0, '/gpu:0', '/gpu:0', 'compute', 'forward', 'conv1', 0, "
        "5, 0);"
        "PRAGMA application_id = 1835491873; PRAGMA user_version = 1");
}

/* Every table's columns with their types, in no order of columns, since later ones come last. */
static void columns_read(char *out, size_t size, const char *path)
{
    database_text(out, size, path,
                  "SELECT group_concat(c, ' ') FROM (SELECT t.name || '.' || p.name || ':' || "
                  "p.type || p.\"notnull\" || p.pk AS c FROM pragma_table_list AS t JOIN "
                  "pragma_table_info(t.name) AS p WHERE t.schema = 'main' AND t.name NOT LIKE "
                  "'sqlite_%' ORDER BY t.name, p.name)");
}

static void indexes_read(char *out, size_t size, const char *path)
{
    database_text(out, size, path,
                  "SELECT group_concat(n, ' ') FROM (SELECT name AS n FROM sqlite_schema WHERE "
                  "type IN ('index', 'trigger') ORDER BY name)");
}

static void who_only_reads_version_1_is_told_the_way_without_writing(void **state)
{
    struct mgb_reader *reader;
    version_1_make(*state);
    assert_status(mgb_reader_open(&reader, *state), MGB_UNSUPPORTED);
    assert_message("mgbench seal ");
    assert_message(" --out NEW");
}

static void a_file_of_version_1_comes_forward_with_its_rows(void **state)
{
    struct mgb_store *store;
    version_1_make(*state);
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_store_check(store, true));
    mgb_store_close(store);
    assert_int_equal(database_int(*state, "PRAGMA user_version"), mgb_schema_get()->version);
    assert_int_equal(database_int(*state, "SELECT examples_per_s = 512 AND model = 'lenet' AND "
                                          "not_steady IS NULL AND noise IS NULL AND tags IS NULL "
                                          "FROM run_summary WHERE run_id = 7"),
                     1);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM task WHERE waits_for IS NULL"), 1);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 1);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM first_step"), 0);
}

static void a_file_that_came_forward_is_like_a_fresh_one(void **state)
{
    static char old_columns[40000], new_columns[40000];
    char path[80];
    snprintf(path, sizeof path, "%s.copy", (char *)*state); /* teardown knows the name */
    version_1_make(*state);
    store_make(*state);
    store_make(path);
    columns_read(old_columns, sizeof old_columns, *state);
    columns_read(new_columns, sizeof new_columns, path);
    assert_true(strlen(new_columns) > 2000);
    assert_string_equal(old_columns, new_columns);
    indexes_read(old_columns, sizeof old_columns, *state);
    indexes_read(new_columns, sizeof new_columns, path);
    assert_string_equal(old_columns, new_columns);
    for (int i = 0; i < 3; i++) {
        static const char *const endings[] = {"lock", "wal", "shm"};
        snprintf(path, sizeof path, "%s.copy%c%s", (char *)*state, i ? '-' : '.', endings[i]);
        unlink(path);
    }
}

#define DB_TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(a_file_of_version_1_comes_forward_with_its_rows),
        DB_TEST(who_only_reads_version_1_is_told_the_way_without_writing),
        DB_TEST(a_file_that_came_forward_is_like_a_fresh_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
