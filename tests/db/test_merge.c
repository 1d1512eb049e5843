/* Merging: every table comes along, nothing twice, the source stays as it is, and what cannot be taken is said. */
#include "tests/support/check.h"

#include "db/merge.h"
#include "tests/support/database.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char source[80], said[2000];

/* A row in every table, in its first segment; of numbers that only row one could have. */
static const char rows[] =
    "INSERT INTO segment_stat (segment_id, timed_steps, warmup_steps, examples, timed_ns) "
    "VALUES (1, 1, 0, 64, 5);"
    "INSERT INTO step VALUES (1, 0, 0, 0, 11, 5, 64, 0.1, 'ok'), (1, 1, 0, 0, 17, 5, 64, NULL, "
    "'nan');"
    "INSERT INTO step_device VALUES (1, 0, '/gpu:0', 4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, "
    "14, 15, 16);"
    "INSERT INTO outlier VALUES (1, 1, 'high', 1, 2.5, 'sum on /cpu:0');"
    "INSERT INTO metric (segment_id, step, split, name, value, value_status) VALUES "
    "(1, 1, 'test', 'accuracy', 0.30000000000000004, 'ok'), (1, 1, 'test', 'loss', NULL, 'inf');"
    "INSERT INTO task (segment_id, step, device, queue, kind, phase, name, start_ns, duration_ns, "
    "bytes, "
    "task, waits_for) VALUES (1, 0, '/gpu:0', 'compute', 'compute', 'forward', 'dense', 1, 2, 0, "
    "0, '[]');"
    "INSERT INTO task_memory VALUES (1, 0, '/gpu:0', 'weights', 0, 128);"
    "INSERT INTO memory VALUES (1, '/gpu:0', 'weights', 128, 256);"
    "INSERT INTO memory_total VALUES (1, '/gpu:0', 128, 256, 1024);"
    "INSERT INTO traffic VALUES (1, '/cpu:0', '/gpu:0', 4096, 77);"
    "INSERT INTO variable (segment_id, name, scope, shape, type, bytes, device, role, storage_id) "
    "VALUES "
    "(1, 'm/w', 'm', '3x4', 'f32', 48, '/gpu:0', 'master', 3);"
    "INSERT INTO duplicate (segment_id, variable, twin, device, bytes, why) VALUES "
    "(1, 'm/w_1', 'm/w', '/gpu:0', 48, 'same bytes');"
    "INSERT INTO sample (run_id, segment_id, device, at_ns, throttle) VALUES (1, 1, '/gpu:0', 5, "
    "''), "
    "(1, NULL, '/gpu:0', 6, 'thermal');"
    "INSERT INTO noise_floor (machine_id, backend, measured_ms, floor, comparisons, "
    "false_verdicts, settings) "
    "VALUES (1, 'host', 1000, 0.01, 20, 1, '{}');"
    "INSERT INTO note (run_id, at_ms, text) VALUES (1, 5, 'a remark');"
    "INSERT INTO tag VALUES (1, 'good');"
    "INSERT INTO baseline VALUES ('base', 1, 6);"
    "INSERT INTO baseline_segment VALUES ('base', 1);"
    "INSERT INTO sweep (name, started_ms, settings, order_seed) VALUES ('grid', 7, '{}', 42);"
    "INSERT INTO sweep_point (sweep_id, point, repeat, position, settings, settings_digest, "
    "run_id) "
    "VALUES (1, 0, 0, 0, '{\"gpus\":1}', 'd', 1);";

static void sql_run(const char *path, const char *sql)
{
    sqlite3 *handle;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    if (sqlite3_exec(handle, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", message, sql);
    sqlite3_close(handle);
}

/* A file with one finished run of one segment. */
static void file_make(const char *path)
{
    struct mgb_store *store;
    int64_t run, segment;
    assert_ok(mgb_store_open(&store, path, NULL));
    assert_ok(mgb_store_begin_run(&run, store, database_run()));
    struct mgb_record_segment record = database_segment(run);
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
    mgb_store_close(store);
}

static int merge_setup(void **state)
{
    if (database_setup(state) != 0)
        return -1;
    snprintf(source, sizeof source, "%.60s.copy", (char *)*state);
    said[0] = 0;
    file_make(source);
    sql_run(source, "DELETE FROM segment_stat");
    sql_run(source, rows);
    file_make(*state); /* so that row numbers differ */
    file_make(*state);
    return 0;
}

static int merge_teardown(void **state)
{
    static const char *const endings[] = {"-wal", "-shm", ".lock"};
    char file[100];
    for (size_t i = 0; i < 3; i++) {
        snprintf(file, sizeof file, "%s%s", source, endings[i]);
        unlink(file);
    }
    return database_teardown(state);
}

static void line_keep(void *context, const char *line)
{
    (void)context;
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", line);
}

static enum mgb_status merge_with(struct mgb_merge_counts *counts, const char *target,
                                  bool (*stop)(void *context))
{
    struct mgb_store *store;
    struct mgb_merge_options options = {.stop = stop, .say = line_keep};
    *counts = (struct mgb_merge_counts){0};
    assert_ok(mgb_store_open(&store, target, NULL));
    enum mgb_status status = mgb_merge(counts, store, source, &options);
    char message[512];
    snprintf(message, sizeof message, "%s", mgb_message_get());
    mgb_store_close(store);
    return status == MGB_OK ? MGB_OK : mgb_fail(status, "%s", message);
}

static enum mgb_status merge(struct mgb_merge_counts *counts, const char *target)
{
    return merge_with(counts, target, NULL);
}

/* Rows of the source that the target has not, over all tables and all columns that are no row numbers. */
static int rows_missing(const char *target, int *tables)
{
    sqlite3 *handle;
    sqlite3_stmt *list;
    char sql[200];
    int missing = 0;
    assert_int_equal(sqlite3_open(target, &handle), SQLITE_OK);
    snprintf(sql, sizeof sql, "ATTACH '%s' AS src", source);
    assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(
            handle,
            "SELECT t.name, (SELECT group_concat(c.name, ', ') FROM pragma_table_info(t.name) AS c "
            "WHERE c.name <> 'id' AND c.name NOT IN ('machine_id', 'model_id', 'run_id', "
            "'segment_id', "
            "'sweep_id', 'seen_ms')) FROM sqlite_schema AS t WHERE t.type = 'table' AND t.name NOT "
            "LIKE "
            "'sqlite_%'",
            -1, &list, NULL),
        SQLITE_OK);
    while (sqlite3_step(list) == SQLITE_ROW) {
        sqlite3_stmt *compare;
        const char *name = (const char *)sqlite3_column_text(list, 0);
        const char *columns = (const char *)sqlite3_column_text(list, 1);
        char *text = sqlite3_mprintf(
            "SELECT (SELECT count(*) FROM src.%s), (SELECT count(*) FROM (SELECT %s "
            "FROM src.%s EXCEPT SELECT %s FROM main.%s))",
            name, columns, name, columns, name);
        assert_int_equal(sqlite3_prepare_v2(handle, text, -1, &compare, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(compare), SQLITE_ROW);
        if (sqlite3_column_int(compare, 0) == 0)
            fail_msg("give the table %s a row in this test", name);
        if (sqlite3_column_int(compare, 1) > 0)
            print_message("rows of %s did not come along\n", name);
        missing += sqlite3_column_int(compare, 1);
        ++*tables;
        sqlite3_finalize(compare);
        sqlite3_free(text);
    }
    sqlite3_finalize(list);
    sqlite3_close(handle);
    return missing;
}

static void every_table_comes_along(void **state)
{
    struct mgb_merge_counts counts;
    int tables = 0;
    assert_ok(merge(&counts, *state));
    assert_int_equal(counts.runs, 1);
    assert_int_equal(counts.segments, 1);
    assert_int_equal(counts.steps, 2);
    assert_int_equal(counts.notes + counts.tags + counts.baselines + counts.sweeps, 4);
    assert_int_equal(counts.noise_floors, 1);
    assert_int_equal(counts.machines, 0); /* both files are of the same one */
    assert_int_equal(rows_missing(*state, &tables), 0);
    assert_true(tables >= 24);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert_int_equal(
        database_int(*state, "SELECT run_id FROM step JOIN segment ON id = segment_id"), 3);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM device"), 3);
}

static void a_new_file_takes_all(void **state)
{
    struct mgb_merge_counts counts;
    int tables = 0;
    char target[90];
    snprintf(target, sizeof target, "%s-journal", (char *)*state); /* a name that is cleaned up */
    assert_ok(merge(&counts, target));
    assert_int_equal(counts.machines, 1);
    assert_int_equal(rows_missing(target, &tables), 0);
    char lock[100];
    snprintf(lock, sizeof lock, "%s.lock", target);
    unlink(lock);
}

static int64_t rows_all(const char *path)
{
    return database_int(path,
                        "SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM segment) + "
                        "(SELECT count(*) FROM step) + (SELECT count(*) FROM note) + "
                        "(SELECT count(*) FROM tag) + (SELECT count(*) FROM sweep) + "
                        "(SELECT count(*) FROM sweep_point) + (SELECT count(*) FROM noise_floor) + "
                        "(SELECT count(*) FROM sample) + (SELECT count(*) FROM metric)");
}

static void merging_twice_doubles_nothing(void **state)
{
    struct mgb_merge_counts counts;
    assert_ok(merge(&counts, *state));
    int64_t before = rows_all(*state);
    assert_ok(merge(&counts, *state));
    assert_int_equal(counts.runs + counts.steps + counts.notes + counts.tags + counts.sweeps, 0);
    assert_int_equal(counts.runs_known, 1);
    assert_int_equal(counts.baselines + counts.baselines_kept, 0);
    assert_int_equal(rows_all(*state), before);
}

static void new_notes_and_tags_of_a_known_run_come_along(void **state)
{
    struct mgb_merge_counts counts;
    assert_ok(merge(&counts, *state));
    sql_run(source, "INSERT INTO note (run_id, at_ms, text) VALUES (1, 9, 'later'); "
                    "INSERT INTO tag VALUES (1, 'best')");
    assert_ok(merge(&counts, *state));
    assert_int_equal(counts.notes, 1);
    assert_int_equal(counts.tags, 1);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM note WHERE run_id = 3"), 2);
}

static void a_baseline_of_the_same_name_stays_and_is_said(void **state)
{
    struct mgb_merge_counts counts;
    sql_run(*state, "INSERT INTO baseline VALUES ('base', 2, 1)");
    assert_ok(merge(&counts, *state));
    assert_int_equal(counts.baselines, 0);
    assert_int_equal(counts.baselines_kept, 1);
    assert_non_null(strstr(said, "baseline 'base' stays at run 2"));
    assert_int_equal(database_int(*state, "SELECT segment_id FROM baseline WHERE name = 'base'"),
                     2);
}

static void all_repetitions_of_a_baseline_come_along_once(void **state)
{
    struct mgb_merge_counts counts;
    file_make(source);
    sql_run(source, "INSERT INTO baseline_segment VALUES ('base', 2)");
    assert_ok(merge(&counts, *state));
    assert_ok(merge(&counts, *state)); /* known by now */
    assert_int_equal(database_int(*state, "SELECT count(*) FROM baseline_segment AS x JOIN segment "
                                          "AS s ON s.id = x.segment_id WHERE s.run_id IN (3, 4)"),
                     2);
    sql_run(*state, "PRAGMA foreign_keys = ON; DELETE FROM run WHERE id = 4");
    assert_int_equal(database_int(*state, "SELECT count(*) FROM baseline_segment"), 1);
}

static void repetitions_of_another_baseline_of_that_name_stay_away(void **state)
{
    struct mgb_merge_counts counts;
    sql_run(*state, "INSERT INTO baseline VALUES ('base', 2, 1)");
    assert_ok(merge(&counts, *state));
    assert_int_equal(database_int(*state, "SELECT count(*) FROM baseline_segment"), 0);
}

static void newer_facts_of_a_device_win(void **state)
{
    struct mgb_merge_counts counts;
    sql_run(
        source,
        "UPDATE device SET driver_version = 'new', seen_ms = seen_ms + 100000 WHERE name = "
        "'/gpu:0'; UPDATE device SET driver_version = 'old', seen_ms = 1 WHERE name = '/gpu:1'");
    sql_run(*state, "UPDATE device SET driver_version = 'now'");
    assert_ok(merge(&counts, *state));
    char text[20];
    assert_string_equal(
        database_text(text, sizeof text, *state,
                      "SELECT group_concat(driver_version) FROM device ORDER BY name"),
        "now,new,now");
}

static void a_run_that_is_still_going_is_left_out(void **state)
{
    struct mgb_merge_counts counts;
    struct mgb_store *writer;
    int64_t run;
    assert_ok(mgb_store_open(&writer, source, NULL));
    assert_ok(mgb_store_begin_run(&run, writer, database_run()));
    assert_ok(merge(&counts, *state));
    assert_int_equal(counts.runs, 1);
    assert_int_equal(counts.runs_going, 1);
    assert_non_null(strstr(said, "run 2 of"));
    assert_ok(mgb_store_finish_run(writer, run, MGB_OUTCOME_OK, NULL));
    mgb_store_close(writer);
    assert_ok(merge(&counts, *state));
    assert_int_equal(counts.runs, 1);
    assert_int_equal(counts.runs_known, 1);
}

static void a_killed_run_comes_as_crashed_with_its_figures(void **state)
{
    struct mgb_merge_counts counts;
    sql_run(source,
            "UPDATE run SET outcome = 'running', process_started = 1; DELETE FROM segment_stat; "
            "UPDATE segment SET outcome = 'running'");
    assert_ok(merge(&counts, *state));
    char text[20];
    assert_string_equal(
        database_text(text, sizeof text, *state, "SELECT outcome FROM run WHERE id = 3"),
        "crashed");
    assert_int_equal(
        database_int(*state, "SELECT timed_steps FROM segment_stat WHERE segment_id = 3"), 2);
    assert_string_equal(database_text(text, sizeof text, source, "SELECT outcome FROM run"),
                        "running");
}

static void nothing_is_merged_into_a_file_that_is_being_written(void **state)
{
    struct mgb_merge_counts counts;
    struct mgb_store *writer;
    int64_t run;
    assert_ok(mgb_store_open(&writer, *state, NULL));
    assert_ok(mgb_store_begin_run(&run, writer, database_run()));
    assert_status(merge(&counts, *state), MGB_BUSY);
    assert_message("is in use by pid");
    assert_ok(mgb_store_finish_run(writer, run, MGB_OUTCOME_OK, NULL));
    mgb_store_close(writer);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run"), 3);
}

static bool stop_now(void *context)
{
    (void)context;
    return true;
}

static void what_was_merged_before_a_stop_stays_and_merging_goes_on(void **state)
{
    struct mgb_merge_counts counts;
    assert_status(merge_with(&counts, *state, stop_now), MGB_INTERRUPTED);
    assert_int_equal(counts.runs, 0);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run"), 2);
    assert_ok(merge(&counts, *state));
    assert_int_equal(counts.runs, 1);
}

static void a_file_is_not_merged_into_itself(void **state)
{
    struct mgb_merge_counts counts;
    assert_status(merge(&counts, source), MGB_INVALID);
    assert_message("the same file");
    unlink(source);
    assert_status(merge(&counts, *state), MGB_MISSING);
    assert_message("is not there");
    file_make(source);
}

/* Digest of the file's bytes. */
static uint64_t file_digest(const char *path)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (int c; (c = fgetc(file)) != EOF;)
        digest = (digest ^ (uint64_t)c) * UINT64_C(0x100000001b3);
    fclose(file);
    return digest;
}

/* The first schema, as a program of the first version would have left it. */
static void schema_1_make(const char *path)
{
    char name[400], *text = NULL;
    size_t size = 0;
    const char *folder = getenv("MGB_SOURCE_DIR");
    snprintf(name, sizeof name, "%.300s/tests/golden/schema_1.sql", folder ? folder : ".");
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    assert_true(getdelim(&text, &size, 0, file) > 0);
    fclose(file);
    sql_run(path, text);
    sql_run(
        path,
        "PRAGMA application_id = 0x6d676221; PRAGMA user_version = 1; PRAGMA journal_mode = WAL;"
        "INSERT INTO machine (key, name, simulated) VALUES ('old', 'there', 0);"
        "INSERT INTO model (name, options, graph_digest) VALUES ('tiny', '{}', 'x');"
        "INSERT INTO run (uuid, started_ms, machine_id, model_id, backend, simulated, outcome, "
        "log_complete, pid) VALUES ('u', 1, 1, 1, 'host', 0, 'ok', 1, 1);"
        "INSERT INTO segment (run_id, started_ms, outcome, first_step) VALUES (1, 1, 'ok', 0);"
        "INSERT INTO step VALUES (1, 0, 0, 0, 11, 5, 64, 0.1, 'ok');");
    free(text);
}

static void an_older_file_is_merged_and_left_as_it_is(void **state)
{
    struct mgb_merge_counts counts;
    unlink(source);
    schema_1_make(source);
    uint64_t before = file_digest(source);
    assert_ok(merge(&counts, *state));
    assert_int_equal(counts.runs, 1);
    assert_int_equal(counts.steps, 1);
    assert_int_equal(counts.machines, 1);
    assert_true(file_digest(source) == before);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM machine"), 2);
}

int main(void)
{
#define MERGE_TEST(f) cmocka_unit_test_setup_teardown(f, merge_setup, merge_teardown)
    const struct CMUnitTest tests[] = {
        MERGE_TEST(every_table_comes_along),
        MERGE_TEST(a_new_file_takes_all),
        MERGE_TEST(merging_twice_doubles_nothing),
        MERGE_TEST(new_notes_and_tags_of_a_known_run_come_along),
        MERGE_TEST(a_baseline_of_the_same_name_stays_and_is_said),
        MERGE_TEST(all_repetitions_of_a_baseline_come_along_once),
        MERGE_TEST(repetitions_of_another_baseline_of_that_name_stay_away),
        MERGE_TEST(newer_facts_of_a_device_win),
        MERGE_TEST(a_run_that_is_still_going_is_left_out),
        MERGE_TEST(a_killed_run_comes_as_crashed_with_its_figures),
        MERGE_TEST(nothing_is_merged_into_a_file_that_is_being_written),
        MERGE_TEST(what_was_merged_before_a_stop_stays_and_merging_goes_on),
        MERGE_TEST(a_file_is_not_merged_into_itself),
        MERGE_TEST(an_older_file_is_merged_and_left_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
