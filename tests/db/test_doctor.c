/* What the doctor finds in a results file: healthy, damaged, foreign, in use, cut short. */
#include "tests/support/check.h"

#include "db/doctor.h"
#include "db/store.h"
#include "tests/support/child.h"
#include "tests/support/database.h"
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct report {
    char text[8000]; /* "level what: text [mend]" a line */
    int counts[3];
};

static void symptom_keep(void *context, const struct mgb_symptom *symptom)
{
    static const char *const levels[] = {"ok", "warn", "fail"};
    struct report *report = context;
    size_t used = strlen(report->text);
    report->counts[symptom->level]++;
    snprintf(report->text + used, sizeof report->text - used, "%s %s: %s [%s]\n",
             levels[symptom->level], symptom->what, symptom->text,
             symptom->mend ? symptom->mend : "");
}

static bool look(struct report *report, const char *path, bool thorough)
{
    *report = (struct report){0};
    struct mgb_symptom_sink sink = {symptom_keep, report};
    struct mgb_doctor_options options = {.thorough = thorough, .free_bytes = (int64_t)1 << 40};
    return mgb_doctor_database(&sink, path, &options);
}

static void report_has(const struct report *report, const char *words)
{
    if (!strstr(report->text, words))
        fail_msg("the report lacks \"%s\":\n%s", words, report->text);
}

static void sql_run(const char *path, const char *sql)
{
    sqlite3 *handle;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    if (sqlite3_exec(handle, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", message, sql);
    sqlite3_close(handle);
}

static int doctor_setup(void **state)
{
    struct mgb_store *store;
    int64_t run, segment;
    if (database_setup(state) != 0)
        return -1;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_store_begin_run(&run, store, database_run()));
    struct mgb_record_segment record = database_segment(run);
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
    for (int i = 0; i < 50; i++) {
        struct mgb_record step = database_step(segment, i);
        assert_ok(mgb_store_put_steps(store, &step, 1));
    }
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
    mgb_store_close(store);
    return 0;
}

static void a_healthy_file_has_nothing_to_mend(void **state)
{
    struct report report;
    sql_run(*state, "INSERT INTO sweep (id, name, started_ms) VALUES (1, 's', 1);"
                    "INSERT INTO sweep_point (sweep_id, point, repeat, run_id, position, settings, "
                    "settings_digest) VALUES (1, 0, 0, 1, 0, '{}', 'd')");
    assert_true(look(&report, *state, true));
    assert_int_equal(report.counts[MGB_SYMPTOM_FAIL], 0);
    report_has(&report, "ok content: integrity_check finds no fault");
    report_has(&report, "ok references: ");
    report_has(&report, "ok runs: 1 runs, 0 of them");
    report_has(&report, "ok writer: nobody");
    assert_true(look(&report, *state, false));
    report_has(&report, "quick_check finds no fault");
}

static void a_file_that_is_not_there_is_no_fault(void **state)
{
    struct report report;
    char path[100];
    snprintf(path, sizeof path, "%s.none", (char *)*state);
    assert_false(look(&report, path, false));
    assert_int_equal(report.counts[MGB_SYMPTOM_FAIL], 0);
    report_has(&report, "nothing has been recorded yet");
    assert_int_not_equal(access(path, F_OK), 0);
}

static void damage_is_found(void **state)
{
    struct report report;
    FILE *file = fopen(*state, "r+b");
    assert_non_null(file);
    for (long page = 4; page < 30; page++) { /* the tables' first pages */
        assert_int_equal(fseek(file, page * 4096, SEEK_SET), 0);
        assert_int_equal(fwrite("damaged here, and here", 1, 22, file), 22);
    }
    fclose(file);
    assert_true(look(&report, *state, false));
    assert_true(report.counts[MGB_SYMPTOM_FAIL] > 0);
    report_has(&report, "fail content: ");
    report_has(&report, ".recover");
}

static void a_file_of_another_program_is_told(void **state)
{
    struct report report;
    sql_run(*state, "PRAGMA application_id = 7");
    assert_true(look(&report, *state, false));
    report_has(&report, "fail content: ");
    report_has(&report, "of another program");
    sql_run(*state, "PRAGMA application_id = 0x6d676221; PRAGMA user_version = 99");
    assert_true(look(&report, *state, false));
    report_has(&report, "newer mgbench");
    sql_run(*state, "PRAGMA user_version = 1");
    assert_true(look(&report, *state, false));
    report_has(&report, "warn schema: older than");
}

static void a_row_that_belongs_to_nothing_is_found_thoroughly(void **state)
{
    struct report report;
    sql_run(*state, "INSERT INTO tag VALUES (77, 'lost'), (78, 'lost')");
    assert_true(look(&report, *state, true));
    report_has(&report,
               "fail references: a row of tag names one of run that is not there (2 of them)");
}

/* Another process that does something with the file and then waits to be killed. */
struct work {
    const char *path, *sql; /* sql NULL: begins a run */
    bool rows;              /* stops at the first row */
};

static bool work_do(const struct work *work)
{
    int64_t run;
    struct mgb_store *store;
    sqlite3 *handle;
    sqlite3_stmt *statement;
    if (!work->sql)
        return mgb_store_open(&store, work->path, NULL) == MGB_OK &&
               mgb_store_begin_run(&run, store, database_run()) == MGB_OK;
    if (sqlite3_open(work->path, &handle) != SQLITE_OK)
        return false;
    if (!work->rows)
        return sqlite3_exec(handle, work->sql, NULL, NULL, NULL) == SQLITE_OK;
    return sqlite3_prepare_v2(handle, work->sql, -1, &statement, NULL) == SQLITE_OK &&
           sqlite3_step(statement) == SQLITE_ROW;
}

static int work_main(struct child *parent, void *context)
{
    child_say(parent, work_do(context) ? 'y' : 'n');
    child_hear(parent);
    return 1;
}

static void other_start(struct child *other, const char *path, const char *sql, bool rows)
{
    struct work work = {path, sql, rows};
    child_start(other, work_main, &work);
    assert_int_equal(child_hear(other), 'y');
}

static void other_kill(struct child *other)
{
    kill(other->pid, SIGKILL);
    assert_int_equal(child_end(other), 128 + SIGKILL);
}

static void a_foreign_writer_is_named(void **state)
{
    struct report report;
    struct child other;
    char words[64];
    other_start(&other, *state, "BEGIN IMMEDIATE; INSERT INTO tag VALUES (1, 'x')", false);
    assert_true(look(&report, *state, false));
    snprintf(words, sizeof words, "warn writer: pid %ld (", (long)other.pid);
    report_has(&report, words);
    other_kill(&other);
}

static void the_oldest_reader_is_named(void **state)
{
    struct report report;
    struct child writer, other;
    char words[64];
    /* Rows must be in the log for a reader to be told from one that reads the file itself. */
    other_start(&writer, *state, "INSERT INTO tag VALUES (1, 'x')", false);
    other_start(&other, *state, "SELECT name FROM tag UNION ALL SELECT 'y'", true);
    sql_run(*state, "INSERT INTO tag VALUES (1, 'z')");
    assert_true(look(&report, *state, false));
    snprintf(words, sizeof words, "oldest reader: pid %ld (", (long)other.pid);
    report_has(&report, words);
    struct mgb_wal_use use;
    mgb_doctor_wal_look(&use, *state);
    assert_true(use.open);
    assert_true(use.reader_frames > 0);
    assert_int_equal(use.reader_pid, other.pid);
    other_kill(&other);
    other_kill(&writer);
}

static void a_writer_that_was_killed_is_seen_by_its_log(void **state)
{
    struct report report;
    struct child other;
    other_start(&other, *state, "INSERT INTO tag VALUES (1, 'x')", false);
    other_kill(&other);
    assert_true(look(&report, *state, false));
    report_has(&report, "warn last close: the last writer did not close the file");
    assert_int_equal(report.counts[MGB_SYMPTOM_FAIL], 0);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM tag"), 1);
}

static void runs_that_were_killed_are_counted(void **state)
{
    struct report report;
    sql_run(*state, "UPDATE run SET outcome = 'running', process_started = 1");
    assert_true(look(&report, *state, false));
    report_has(&report, "warn runs: 1 of 1 runs were ended from outside");
}

static void a_run_that_is_going_is_told(void **state)
{
    struct report report;
    struct child other;
    char words[64];
    other_start(&other, *state, NULL, false);
    assert_true(look(&report, *state, false));
    snprintf(words, sizeof words, "ok writer: run 2 is being written by pid %ld", (long)other.pid);
    report_has(&report, words);
    assert_int_equal(report.counts[MGB_SYMPTOM_FAIL], 0);
    other_kill(&other);
}

static void a_full_disk_fails(void **state)
{
    struct report report = {0};
    struct mgb_symptom_sink sink = {symptom_keep, &report};
    struct mgb_doctor_options options = {.free_bytes = 1000};
    assert_true(mgb_doctor_database(&sink, *state, &options));
    report_has(&report, "fail free disk: 1000 bytes");
    options.free_bytes = 100 << 20;
    assert_true(mgb_doctor_database(&sink, *state, &options));
    report_has(&report, "warn free disk: 100.0 MiB");
}

static bool stop_now(void *context)
{
    (void)context;
    return true;
}

static void a_stopped_check_says_so(void **state)
{
    struct report report = {0};
    struct mgb_symptom_sink sink = {symptom_keep, &report};
    struct mgb_doctor_options options = {.stop = stop_now, .thorough = true};
    sql_run(*state,
            "INSERT INTO note (run_id, at_ms, text) WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL "
            "SELECT n + 1 FROM c LIMIT 20000) SELECT 1, n, 'text' FROM c");
    assert_true(mgb_doctor_database(&sink, *state, &options));
    report_has(&report, "warn content: stopped before all was looked at");
}

int main(void)
{
#define DOCTOR_TEST(f) cmocka_unit_test_setup_teardown(f, doctor_setup, database_teardown)
    const struct CMUnitTest tests[] = {
        DOCTOR_TEST(a_healthy_file_has_nothing_to_mend),
        DOCTOR_TEST(a_file_that_is_not_there_is_no_fault),
        DOCTOR_TEST(damage_is_found),
        DOCTOR_TEST(a_file_of_another_program_is_told),
        DOCTOR_TEST(a_row_that_belongs_to_nothing_is_found_thoroughly),
        DOCTOR_TEST(a_foreign_writer_is_named),
        DOCTOR_TEST(the_oldest_reader_is_named),
        DOCTOR_TEST(a_writer_that_was_killed_is_seen_by_its_log),
        DOCTOR_TEST(runs_that_were_killed_are_counted),
        DOCTOR_TEST(a_run_that_is_going_is_told),
        DOCTOR_TEST(a_full_disk_fails),
        DOCTOR_TEST(a_stopped_check_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
