/* The file itself: every table, view and column of the contract, versions, and files that are not ours. */
#include "tests/support/check.h"

#include "db/query.h"
#include "db/schema.h"
#include "db/store_private.h"
#include "tests/support/database.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void store_make(const char *path)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, path, NULL));
    mgb_store_close(store);
}

static void sql_once(const char *path, const char *text)
{
    struct mgb_sql sql;
    assert_ok(mgb_sql_open(&sql, path, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    assert_ok(mgb_sql_run(&sql, text));
    mgb_sql_close(&sql);
}

static int64_t ask(const char *path, const char *query)
{
    struct mgb_sql sql;
    int64_t answer = -1;
    assert_ok(mgb_sql_open(&sql, path, path, SQLITE_OPEN_READONLY));
    assert_ok(mgb_sql_int(&answer, &sql, query));
    mgb_sql_close(&sql);
    return answer;
}

static void journal_check(const char *path, const char *mode)
{
    struct mgb_sql sql;
    char found[16];
    assert_ok(mgb_sql_open(&sql, path, path, SQLITE_OPEN_READONLY));
    assert_ok(mgb_sql_text(found, sizeof found, &sql, "PRAGMA journal_mode"));
    assert_string_equal(found, mode);
    mgb_sql_close(&sql);
}

/* What shared/results-db.md promises, by table or view; spelled out here, so that a renamed column is noticed. */
static const struct {
    const char *table;
    const char *columns;
} promised[] = {
    {"run",
     "id started_ms script script_digest command program_version model_id backend machine_id "
     "simulated seed outcome message pid boot_id process_started"},
    {"segment",
     "id run_id asked_strategy asked_like asked_gpus asked_batch_mode asked_batch_per_gpu "
     "asked_global_batch asked_cpu_relocation asked_cpu_merge asked_weights_at asked_merge_at "
     "asked_join_at asked_loss_at asked_sum_at asked_update_at asked_relocation asked_allreduce "
     "asked_bucket_mib asked_overlap asked_wire_type asked_staged asked_stale asked_peer_access "
     "asked_pinned asked_bn asked_precision asked_recompute asked_graph asked_logical "
     "asked_gpu_memory_bytes asked_threads asked_hosts strategy gpus batch_mode batch_per_gpu "
     "global_batch cpu_relocation cpu_merge weights_at join_at loss_at sum_at update_at relocation "
     "allreduce bucket_mib overlap wire_type staged stale peer_access pinned bn precision "
     "recompute "
     "graph logical gpu_memory_bytes threads hosts tower_rows warmup_rule warmup_steps outcome "
     "target_noise max_time_ns stop_reason ring_waits"},
    {"segment_stat", "segment_id median_ns p5_ns p95_ns p99_ns mean_ns ci95_low_ns ci95_high_ns "
                     "interval_method steady unaccounted_ns noise interval_seed drift not_steady "
                     "outliers_mild outliers_far first_step_ns first_step_cause loss_last "
                     "replicas_agree"},
    {"outlier", "segment_id step side far ratio cause"},
    {"task_memory", "segment_id step device category at_ns bytes"},
    {"noise_floor", "machine_id backend measured_ms floor comparisons false_verdicts settings"},
    {"step", "segment_id step epoch warmup start_ns wall_ns loss examples"},
    {"metric", "segment_id step split name value"},
    {"step_device",
     "segment_id step device finish_ns input_busy_ns input_exposed_ns fetch_busy_ns "
     "fetch_exposed_ns forward_busy_ns forward_exposed_ns backward_busy_ns backward_exposed_ns "
     "join_busy_ns join_exposed_ns sum_busy_ns sum_exposed_ns update_busy_ns update_exposed_ns "
     "wait_busy_ns wait_exposed_ns"},
    {"task", "segment_id step device queue kind phase name start_ns duration_ns bytes task "
             "waits_for"},
    {"memory", "segment_id device category planned_bytes peak_bytes"},
    {"traffic", "segment_id from_device to_device bytes_per_step time_per_step_ns"},
    {"variable", "segment_id name scope shape type bytes device role storage_id"},
    {"duplicate", "segment_id variable twin bytes why"},
    {"machine", "id name simulated"},
    {"device", "machine_id name driver_version memory_gbps"},
    {"link", "machine_id from_device to_device gbps latency_ns peer_access"},
    {"sample", "run_id device at_ns clock_khz power_mw temperature_mc throttle process_bytes"},
    {"model", "id name options parameters forward_flops graph_digest"},
    {"note", "run_id text"},
    {"tag", "run_id name"},
    {"baseline", "name segment_id"},
    {"baseline_segment", "name segment_id"},
    {"sweep", "id name"},
    {"sweep_point", "sweep_id point repeat run_id position settings settings_digest"},
    {"run_summary",
     "run_id segment_id model backend machine simulated strategy gpus batch_mode batch_per_gpu "
     "global_batch cpu_relocation cpu_merge weights_at join_at loss_at sum_at update_at relocation "
     "allreduce bucket_mib overlap wire_type staged stale peer_access pinned bn precision "
     "recompute "
     "graph logical gpu_memory_bytes threads hosts steps step_ms_median step_ms_p95 step_ms_mean "
     "step_ms_ci95_low step_ms_ci95_high examples_per_s gpu_peak_bytes cpu_peak_bytes "
     "duplicate_count duplicate_bytes loss_last outcome steady not_steady noise unaccounted_ms "
     "outliers_mild outliers_far stop_reason warmup_rule sweep sweep_point tags log_complete"},
    {"scaling", "model model_options machine backend precision batch_mode gpus speedup efficiency "
                "definition"},
    {"exchange", "run_id segment_id model gpus global_batch step_ms_median independent_segment_id "
                 "independent_step_ms_median exchange_ms exchange_share"},
    {"first_step", "run_id segment_id step step_ms step_ms_median ratio cause"},
    {"placement", "model machine backend simulated precision strategy gpus batch_per_gpu "
                  "global_batch reloc_off_merge_cpu reloc_off_merge_gpu reloc_on_merge_cpu "
                  "reloc_on_merge_gpu"},
    {"step_stats", "segment_id step_ms_median step_ms_p95 step_ms_mean examples_per_s"},
    {"step_phase", "segment_id step device phase busy_ns exposed_ns"},
    {"phase_share", "segment_id device phase busy_share exposed_share"},
};

static void every_promised_column_is_there(void **state)
{
    store_make(*state);
    for (size_t i = 0; i < sizeof promised / sizeof *promised; i++) {
        char columns[1200], query[200];
        snprintf(columns, sizeof columns, "%s", promised[i].columns);
        for (char *save, *column = strtok_r(columns, " ", &save); column;
             column = strtok_r(NULL, " ", &save)) {
            snprintf(query, sizeof query,
                     "SELECT count(*) FROM pragma_table_info('%s') WHERE name = '%s'",
                     promised[i].table, column);
            if (database_int(*state, query) != 1)
                fail_msg("%s has no column %s", promised[i].table, column);
        }
    }
}

static void every_table_is_strict(void **state)
{
    store_make(*state);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM pragma_table_list WHERE type = "
                                          "'table' AND NOT strict AND name NOT LIKE 'sqlite_%'"),
                     0);
}

static void every_foreign_key_has_an_index(void **state)
{
    char missing[64];
    store_make(*state);
    database_text(
        missing, sizeof missing, *state,
        "SELECT coalesce(group_concat(t.name || '.' || f.\"from\"), '') FROM pragma_table_list AS "
        "t "
        "JOIN pragma_foreign_key_list(t.name) AS f WHERE t.type = 'table' AND NOT EXISTS ("
        "SELECT 1 FROM pragma_index_list(t.name) AS i JOIN pragma_index_info(i.name) AS c "
        "WHERE c.seqno = 0 AND c.name = f.\"from\") AND NOT EXISTS ("
        "SELECT 1 FROM pragma_table_info(t.name) AS p WHERE p.pk = 1 AND p.name = f.\"from\")");
    assert_string_equal(missing, "");
}

static void the_file_says_whose_it_is(void **state)
{
    store_make(*state);
    assert_int_equal(database_int(*state, "PRAGMA application_id"), MGB_APPLICATION_ID);
    assert_int_equal(database_int(*state, "PRAGMA user_version"), mgb_schema_get()->version);
    journal_check(*state, "wal");
}

static void a_closed_file_is_one_file(void **state)
{
    char wal[96];
    store_make(*state);
    snprintf(wal, sizeof wal, "%s-wal", (char *)*state);
    assert_int_not_equal(access(wal, F_OK), 0);
}

static void a_network_file_gets_the_old_journal_and_a_warning(void **state)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, *state, &(struct mgb_store_options){.as_network = true}));
    assert_non_null(mgb_store_warning(store));
    assert_non_null(strstr(mgb_store_warning(store), "network"));
    assert_status(mgb_store_put_note(store, 1, "of no run"), MGB_MISSING);
    mgb_store_close(store);
    journal_check(*state, "delete");
    assert_string_equal(mgb_store_network_name(0x6969), "NFS");
    assert_null(mgb_store_network_name(0xef53));
}

static char *file_read(size_t *size, const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = calloc(1, 1 << 20);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void refused_untouched(const char *path, enum mgb_status status, const char *words)
{
    size_t before_size, after_size;
    struct mgb_store *store;
    struct mgb_reader *reader;
    char *before = file_read(&before_size, path);
    assert_status(mgb_store_open(&store, path, NULL), status);
    assert_message(words);
    assert_null(store);
    assert_status(mgb_reader_open(&reader, path), status);
    char *after = file_read(&after_size, path);
    assert_int_equal(before_size, after_size);
    assert_memory_equal(before, after, before_size);
    free(before);
    free(after);
}

static void a_newer_schema_is_refused_and_untouched(void **state)
{
    store_make(*state);
    sql_once(*state, "PRAGMA user_version = 99");
    refused_untouched(*state, MGB_UNSUPPORTED, "has schema 99");
}

static void a_newer_schema_with_a_leftover_wal_is_untouched(void **state)
{
    store_make(*state);
    /* mgb_sql_close does not checkpoint: the change stays in the WAL. */
    sql_once(*state, "PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = 99");
    size_t size;
    unsigned char *header = (unsigned char *)file_read(&size, *state);
    assert_true(size > 64);
    assert_int_equal(header[63], mgb_schema_get()->version); /* user_version's last byte */
    free(header);
    refused_untouched(*state, MGB_UNSUPPORTED, "has schema 99");
}

static void another_programs_file_is_refused_and_untouched(void **state)
{
    sql_once(*state, "CREATE TABLE song (title TEXT)");
    refused_untouched(*state, MGB_CORRUPT, "another program");
}

static void a_file_that_is_no_database_is_refused_and_untouched(void **state)
{
    FILE *file = fopen(*state, "w");
    assert_non_null(file);
    for (int i = 0; i < 200; i++)
        fprintf(file, "this is a diary, not a database\n");
    fclose(file);
    refused_untouched(*state, MGB_CORRUPT, "not an SQLite file");
}

static void a_missing_folder_is_named(void **state)
{
    (void)state;
    struct mgb_store *store;
    assert_status(mgb_store_open(&store, "/nowhere/at/all/r.db", NULL), MGB_IO);
    assert_message("/nowhere/at/all/r.db");
    assert_message("--db");
}

/* ---- migrations, with schemas made up for the purpose ---- */

#define OLD_TABLES "CREATE TABLE run (id INTEGER PRIMARY KEY, outcome TEXT) STRICT;"
#define OLD_VIEWS "CREATE VIEW runs AS SELECT id FROM run;"
static const char *const steps[] = {
    "ALTER TABLE run ADD COLUMN colour TEXT; UPDATE run SET colour = 'grey';",
    "ALTER TABLE run RENAME COLUMN colour TO color;",
};
static const char *const broken_steps[] = {
    "ALTER TABLE run ADD COLUMN colour TEXT;",
    "ALTER TABLE run RENAME COLUMN nothing TO color;",
};
static const struct mgb_schema old = {.version = 1, .create = OLD_TABLES, .views = OLD_VIEWS};
static const struct mgb_schema new = {
    .version = 3,
    .create = "CREATE TABLE run (id INTEGER PRIMARY KEY, outcome TEXT, color TEXT) STRICT;",
    .views = "CREATE VIEW runs AS SELECT id, color FROM run;",
    .migrations = steps};
static const struct mgb_schema broken = {
    .version = 3, .create = "", .views = "", .migrations = broken_steps};

static void old_file_make(const char *path)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open_schema(&store, path, NULL, &old));
    mgb_store_close(store);
    sql_once(path, "INSERT INTO run (outcome) VALUES ('ok'), ('oom')");
}

static void an_older_schema_is_brought_forward_with_its_rows(void **state)
{
    struct mgb_store *store;
    old_file_make(*state);
    assert_ok(mgb_store_open_schema(&store, *state, NULL, &new));
    mgb_store_close(store);
    assert_int_equal(ask(*state, "PRAGMA user_version"), 3);
    assert_int_equal(ask(*state, "SELECT count(*) FROM runs WHERE color = 'grey'"), 2);
}

static void a_failed_migration_leaves_the_old_file(void **state)
{
    struct mgb_store *store;
    old_file_make(*state);
    assert_true(mgb_store_open_schema(&store, *state, NULL, &broken) != MGB_OK);
    assert_int_equal(ask(*state, "PRAGMA user_version"), 1);
    assert_int_equal(ask(*state, "SELECT count(*) FROM pragma_table_info('run')"), 2);
    assert_int_equal(ask(*state, "SELECT count(*) FROM runs"), 2);
}

/* ecosystem.md 6.3 row 27: two starters migrated at once and made a column twice. */
static void ten_starters_on_an_old_schema_migrate_it_once(void **state)
{
    enum { starters = 10 };
    pid_t pids[starters];
    int gate[2];
    old_file_make(*state);
    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < starters; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            char byte;
            struct mgb_store *store;
            close(gate[1]);
            if (read(gate[0], &byte, 1) < 0)
                _exit(2);
            enum mgb_status status = mgb_store_open_schema(&store, *state, NULL, &new);
            mgb_store_close(store);
            _exit(status == MGB_OK ? 0 : 1);
        }
    }
    close(gate[0]);
    close(gate[1]); /* end of file lets all of them go */
    for (int i = 0; i < starters; i++) {
        int code;
        waitpid(pids[i], &code, 0);
        assert_int_equal(code, 0);
    }
    assert_int_equal(ask(*state, "PRAGMA user_version"), 3);
    assert_int_equal(ask(*state, "SELECT count(*) FROM pragma_table_info('run')"), 3);
}

#define DB_TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(every_promised_column_is_there),
        DB_TEST(every_table_is_strict),
        DB_TEST(every_foreign_key_has_an_index),
        DB_TEST(the_file_says_whose_it_is),
        DB_TEST(a_closed_file_is_one_file),
        DB_TEST(a_network_file_gets_the_old_journal_and_a_warning),
        DB_TEST(a_newer_schema_is_refused_and_untouched),
        DB_TEST(a_newer_schema_with_a_leftover_wal_is_untouched),
        DB_TEST(another_programs_file_is_refused_and_untouched),
        DB_TEST(a_file_that_is_no_database_is_refused_and_untouched),
        DB_TEST(a_missing_folder_is_named),
        DB_TEST(an_older_schema_is_brought_forward_with_its_rows),
        DB_TEST(a_failed_migration_leaves_the_old_file),
        DB_TEST(ten_starters_on_an_old_schema_migrate_it_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
