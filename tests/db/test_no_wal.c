/* File systems without working shared memory: the old journal is taken instead, with a message (reference/ecosystem.md 6.3
 * row 32). */
#include "tests/support/check.h"

#include "db/recorder.h"
#include "db/sql.h"
#include "tests/support/child.h"
#include "tests/support/database.h"
#include "tests/support/faulty_vfs.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void journal_check(const char *path, const char *mode)
{
    char found[16];
    struct mgb_sql sql;
    faulty_plan(NULL);
    assert_ok(mgb_sql_open(&sql, path, path, SQLITE_OPEN_READONLY));
    assert_ok(mgb_sql_text(found, sizeof found, &sql, "PRAGMA journal_mode"));
    assert_string_equal(found, mode);
    mgb_sql_close(&sql);
}

/* A whole recorder's life in which all is stored; *warning: what it has to say about the file. */
static void run_record(const char *path, char *warning, size_t size)
{
    int64_t run, segment;
    struct mgb_recorder *recorder;
    struct mgb_recorder_state state;
    assert_ok(mgb_recorder_open(&recorder, path, NULL));
    assert_ok(mgb_recorder_begin_run(&run, recorder, database_run()));
    struct mgb_record_segment record = database_segment(run);
    assert_ok(mgb_recorder_begin_segment(&segment, recorder, &record));
    for (int64_t i = 0; i < 100; i++) {
        struct mgb_record step = database_step(segment, i);
        mgb_recorder_push(recorder, &step);
    }
    assert_ok(mgb_recorder_flush(recorder));
    mgb_recorder_get_state(&state, recorder);
    assert_false(state.incomplete);
    snprintf(warning, size, "%s", state.warning);
    assert_ok(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL));
    mgb_recorder_close(recorder);
}

static void fallback_check(const char *path, const struct faulty_plan *plan, int64_t steps_before)
{
    char warning[256];
    faulty_plan(plan);
    run_record(path, warning, sizeof warning);
    assert_non_null(strstr(warning, path));
    assert_non_null(strstr(warning, "without safe shared memory"));
    journal_check(path, "delete");
    assert_int_equal(database_int(path, "SELECT count(*) FROM step"), steps_before + 100);
    /* Where it works again, so does WAL. */
    run_record(path, warning, sizeof warning);
    assert_string_equal(warning, "");
    journal_check(path, "wal");
    assert_int_equal(database_int(path, "SELECT count(*) FROM step"), steps_before + 200);
}

static const struct faulty_plan none = {.no_shm = true};
static const struct faulty_plan protocol = {.shm_open_fails = SQLITE_PROTOCOL};
static const struct faulty_plan mapping = {.shm_open_fails = SQLITE_IOERR_SHMMAP};

static void a_new_file_without_shared_memory_gets_the_old_journal(void **state)
{
    fallback_check(*state, &none, 0);
}

static void a_new_file_with_a_locking_protocol_error_gets_the_old_journal(void **state)
{
    fallback_check(*state, &protocol, 0);
}

static void a_new_file_whose_shared_memory_cannot_be_mapped_gets_the_old_journal(void **state)
{
    fallback_check(*state, &mapping, 0);
}

/* Dies with ten steps in the log. */
static int victim_main(struct child *parent, void *path)
{
    int64_t run, segment;
    struct mgb_store *store;
    struct mgb_record steps[10];
    (void)parent;
    if (mgb_store_open(&store, path, NULL) != MGB_OK ||
        mgb_store_begin_run(&run, store, database_run()) != MGB_OK)
        return 1;
    struct mgb_record_segment record = database_segment(run);
    if (mgb_store_begin_segment(&segment, store, &record) != MGB_OK)
        return 2;
    for (int i = 0; i < 10; i++)
        steps[i] = database_step(segment, i);
    return mgb_store_put_steps(store, steps, 10) == MGB_OK ? 0 : 3; /* closes nothing */
}

static void killed_file_check(const char *path, const struct faulty_plan *plan)
{
    struct child victim;
    char wal[128];
    faulty_plan(NULL);
    child_start(&victim, victim_main, (void *)path);
    assert_int_equal(child_end(&victim), 0);
    snprintf(wal, sizeof wal, "%s-wal", path);
    assert_int_equal(access(wal, F_OK), 0);
    fallback_check(path, plan, 10);
    assert_int_equal(database_int(path, "SELECT count(*) FROM run WHERE outcome = 'crashed'"), 1);
}

static void a_log_that_was_left_is_put_away_without_shared_memory(void **state)
{
    killed_file_check(*state, &none);
}

static void a_log_that_was_left_is_put_away_despite_a_protocol_error(void **state)
{
    killed_file_check(*state, &protocol);
}

/* A file of another program in WAL mode stays in it. */
static void what_is_not_ours_is_left_as_it_is(void **state)
{
    struct mgb_sql sql;
    struct mgb_store *store;
    char mode[16];
    faulty_plan(NULL);
    assert_ok(mgb_sql_open(&sql, *state, *state, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    assert_ok(mgb_sql_text(mode, sizeof mode, &sql, "PRAGMA journal_mode = WAL"));
    assert_ok(mgb_sql_run(&sql, "CREATE TABLE theirs (x)"));
    mgb_sql_close(&sql);
    faulty_plan(&none);
    assert_status(mgb_store_open(&store, *state, NULL), MGB_CORRUPT);
    assert_message("another program");
    journal_check(*state, "wal");
}

/* Somebody has the file open with shared memory that works for them: it is not taken from them. */
static int looker_main(struct child *parent, void *path)
{
    struct mgb_sql sql;
    child_hear(parent);
    if (mgb_sql_open(&sql, path, path, SQLITE_OPEN_READWRITE) != MGB_OK ||
        mgb_sql_run(&sql, "BEGIN; SELECT count(*) FROM run") != MGB_OK)
        return 1;
    child_say(parent, 'h');
    child_hear(parent);
    mgb_sql_close(&sql);
    return 0;
}

static void a_file_in_use_keeps_its_journal(void **state)
{
    struct child looker;
    struct mgb_store *store;
    char warning[256];
    child_start(&looker, looker_main, *state);
    faulty_plan(NULL);
    run_record(*state, warning, sizeof warning);
    child_say(&looker, 'g');
    assert_int_equal(child_hear(&looker), 'h');
    faulty_plan(&mapping);
    struct mgb_store_options hasty = {.busy_wait_ms = 50};
    assert_status(mgb_store_open(&store, *state, &hasty), MGB_BUSY);
    child_say(&looker, 'e');
    assert_int_equal(child_end(&looker), 0);
    journal_check(*state, "wal");
}

#define DB_TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(a_new_file_without_shared_memory_gets_the_old_journal),
        DB_TEST(a_new_file_with_a_locking_protocol_error_gets_the_old_journal),
        DB_TEST(a_new_file_whose_shared_memory_cannot_be_mapped_gets_the_old_journal),
        DB_TEST(a_log_that_was_left_is_put_away_without_shared_memory),
        DB_TEST(a_log_that_was_left_is_put_away_despite_a_protocol_error),
        DB_TEST(what_is_not_ours_is_left_as_it_is),
        DB_TEST(a_file_in_use_keeps_its_journal),
    };
    faulty_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
