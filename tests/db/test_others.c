/* Other processes on the same file: writers, readers that never end, shells that checkpoint, ten starters at once
 * (reference/ecosystem.md 6.3 rows 26, 27, 30, 34 and 36). MGB_LONG=1: row 36 for ten minutes. */
#include "tests/support/check.h"

#include "db/query.h"
#include "db/recorder.h"
#include "db/schema.h"
#include "db/sql.h"
#include "tests/support/child.h"
#include "tests/support/database.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/draws.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STARTERS = 10, READERS = 8 };

static void run_begin(int64_t *run, int64_t *segment, struct mgb_recorder *recorder)
{
    assert_ok(mgb_recorder_begin_run(run, recorder, database_run()));
    struct mgb_record_segment record = database_segment(*run);
    assert_ok(mgb_recorder_begin_segment(segment, recorder, &record));
}

static struct mgb_recorder_state state_of(struct mgb_recorder *recorder)
{
    struct mgb_recorder_state state;
    mgb_recorder_get_state(&state, recorder);
    return state;
}

/* Opens a transaction of the given kind when told to, and ends it when told to. */
struct transaction {
    const char *path, *begin;
};

static int transaction_main(struct child *parent, void *context)
{
    const struct transaction *transaction = context;
    struct mgb_sql sql;
    child_hear(parent);
    if (mgb_sql_open(&sql, transaction->path, transaction->path, SQLITE_OPEN_READWRITE) != MGB_OK ||
        mgb_sql_run(&sql, transaction->begin) != MGB_OK)
        return 1;
    child_say(parent, 'h');
    child_hear(parent);
    enum mgb_status status = mgb_sql_run(&sql, "COMMIT");
    mgb_sql_close(&sql);
    return status == MGB_OK ? 0 : 2;
}

static void rows_queue_while_another_process_writes(void **state)
{
    int64_t run, segment;
    struct child other;
    struct mgb_recorder *recorder;
    struct transaction transaction = {*state, "BEGIN IMMEDIATE"};
    child_start(&other, transaction_main, &transaction);
    assert_ok(mgb_recorder_open(&recorder, *state, NULL));
    run_begin(&run, &segment, recorder);
    child_say(&other, 'g');
    assert_int_equal(child_hear(&other), 'h');
    for (int64_t i = 0; i < 500; i++) {
        struct mgb_record step = database_step(segment, i);
        mgb_recorder_push(recorder, &step);
    }
    while (!state_of(recorder).blocked)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 0);
    child_say(&other, 'e');
    assert_int_equal(child_end(&other), 0);
    assert_ok(mgb_recorder_flush(recorder));
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 500);
    assert_false(state_of(recorder).blocked || state_of(recorder).incomplete);
    assert_int_equal(state_of(recorder).lost, 0);
    mgb_recorder_close(recorder);
}

/* ---- a reader that does not end ---- */

static int64_t log_bytes(const char *path)
{
    char name[128];
    struct stat info;
    snprintf(name, sizeof name, "%s-wal", path);
    return stat(name, &info) == 0 ? info.st_size : 0;
}

/* A note fills 30 pages or so of the log. */
static void notes_put(struct mgb_recorder *recorder, int64_t run, int count)
{
    static char note[120000];
    memset(note, 'n', sizeof note - 1);
    for (int i = 0; i < count; i++)
        assert_ok(mgb_recorder_put_note(recorder, run, note));
}

/* Not everywhere does /proc tell who holds a lock. */
static bool locks_are_told(void)
{
    char line[256];
    FILE *locks = fopen("/proc/locks", "re");
    bool any = locks && fgets(line, sizeof line, locks);
    if (locks)
        fclose(locks);
    return any;
}

static void who_keeps_the_log_from_shrinking_is_told(void **state)
{
    int64_t run, segment, grown;
    char pid[32];
    struct child other;
    struct mgb_recorder *recorder;
    struct transaction transaction = {*state, "BEGIN; SELECT count(*) FROM step"};
    child_start(&other, transaction_main, &transaction);
    assert_ok(mgb_recorder_open(&recorder, *state, NULL));
    run_begin(&run, &segment, recorder);
    notes_put(recorder, run, 100);
    assert_string_equal(state_of(recorder).warning, "");
    child_say(&other, 'g');
    assert_int_equal(child_hear(&other), 'h');
    notes_put(recorder, run, 250);
    struct mgb_recorder_state seen = state_of(recorder);
    assert_non_null(strstr(seen.warning, "-wal grows"));
    snprintf(pid, sizeof pid, "pid %ld (", (long)other.pid);
    if (locks_are_told())
        assert_non_null(strstr(seen.warning, pid));
    child_say(&other, 'e');
    assert_int_equal(child_end(&other), 0);
    grown = log_bytes(*state);
    assert_true(grown > 16 << 20);
    /* It is used again from its start: twice as much does not make it longer, and the warning goes. */
    notes_put(recorder, run, 500);
    assert_true(log_bytes(*state) <= grown + (8 << 20));
    assert_string_equal(state_of(recorder).warning, "");
    assert_ok(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL));
    mgb_recorder_close(recorder);
    assert_int_equal(log_bytes(*state), 0);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM note"), 850);
}

/* ---- ten starters ---- */

static void starters_start(struct child *starters, int (*body)(struct child *parent, void *context),
                           void *path)
{
    for (int i = 0; i < STARTERS; i++)
        child_start(&starters[i], body, path);
    for (int i = 0; i < STARTERS; i++)
        child_say(&starters[i], 'g');
}

/* The machine may be slow: short holders of the lock are waited for as long as it takes. */
static const struct mgb_store_options patient = {.lock_wait_ms = 100000};

static int opener_main(struct child *parent, void *path)
{
    struct mgb_store *store;
    child_hear(parent);
    if (mgb_store_open(&store, path, &patient) != MGB_OK) {
        fprintf(stderr, "%s\n", mgb_message_get());
        return 1;
    }
    mgb_store_close(store);
    return 0;
}

static void file_of_version_1(const char *path)
{
    char name[512];
    static char text[100000];
    struct mgb_sql sql;
    const char *sources = getenv("MGB_SOURCE_DIR");
    snprintf(name, sizeof name, "%s/tests/golden/schema_1.sql", sources ? sources : ".");
    FILE *file = fopen(name, "re");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_ok(mgb_sql_open(&sql, path, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
    assert_ok(mgb_sql_run(&sql, text));
    snprintf(text, sizeof text,
             "PRAGMA application_id = %d; PRAGMA user_version = 1; "
             "INSERT INTO machine (key, name, simulated) VALUES ('k', 'old', 0)",
             MGB_APPLICATION_ID);
    assert_ok(mgb_sql_run(&sql, text));
    mgb_sql_close(&sql);
}

static void ten_starters_bring_an_old_file_forward_once(void **state)
{
    struct child starters[STARTERS];
    struct mgb_store *store;
    file_of_version_1(*state);
    starters_start(starters, opener_main, *state);
    for (int i = 0; i < STARTERS; i++)
        assert_int_equal(child_end(&starters[i]), 0);
    assert_int_equal(database_int(*state, "PRAGMA user_version"), mgb_schema_get()->version);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM machine WHERE name = 'old'"), 1);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM pragma_table_info('segment') "
                                          "WHERE name = 'target_noise'"),
                     1);
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_store_check(store, true));
    mgb_store_close(store);
}

/* Who opens the file while another makes it may be told at once, others when they begin a run. */
static enum mgb_status run_try(struct mgb_store **store, int64_t *run, const char *path)
{
    MGB_TRY(mgb_store_open(store, path, &patient));
    return mgb_store_begin_run(run, *store, database_run());
}

/* Says w if it got the file, r if it was told who did. */
static int runner_main(struct child *parent, void *path)
{
    int64_t run;
    struct mgb_store *store;
    child_hear(parent);
    enum mgb_status status = run_try(&store, &run, path);
    if (status == MGB_OK) {
        child_say(parent, 'w');
        child_hear(parent);
        status = mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL);
    } else {
        bool told = status == MGB_BUSY && strstr(mgb_message_get(), "is in use by pid") &&
                    strstr(mgb_message_get(), ", run 1:") && strstr(mgb_message_get(), "--db");
        if (!told)
            fprintf(stderr, "%s\n", mgb_message_get());
        child_say(parent, told ? 'r' : 'x');
        status = MGB_OK;
    }
    mgb_store_close(store);
    return status == MGB_OK ? 0 : 2;
}

static void of_ten_starters_one_writes_and_nine_are_told(void **state)
{
    struct child starters[STARTERS];
    int writers = 0, refused = 0;
    starters_start(starters, runner_main, *state);
    for (int i = 0; i < STARTERS; i++) {
        char letter = child_hear(&starters[i]);
        writers += letter == 'w';
        refused += letter == 'r';
    }
    for (int i = 0; i < STARTERS; i++)
        assert_int_equal(child_end(&starters[i]), 0);
    assert_int_equal(writers, 1);
    assert_int_equal(refused, 9);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run WHERE outcome = 'ok'"), 1);
}

/* ---- a writer, eight readers and a shell that checkpoints ---- */

struct crowd {
    const char *path;
    atomic_int_fast64_t acknowledged; /* steps */
    atomic_bool over;
};

static int reader_main(struct child *parent, void *context)
{
    struct crowd *crowd = context;
    child_hear(parent);
    while (!atomic_load(&crowd->over)) {
        int64_t before = atomic_load(&crowd->acknowledged), count, holes;
        struct mgb_sql sql;
        if (mgb_sql_open(&sql, crowd->path, crowd->path, SQLITE_OPEN_READONLY) != MGB_OK)
            return 1;
        sqlite3_busy_timeout(sql.handle, 100000);
        if (mgb_sql_int(&count, &sql, "SELECT count(*) FROM step") != MGB_OK ||
            mgb_sql_int(&holes, &sql, "SELECT coalesce(max(step) + 1, 0) - count(*) FROM step") !=
                MGB_OK)
            return 2;
        mgb_sql_close(&sql);
        if (count < before)
            return 3; /* an acknowledged step is not there */
        if (holes != 0)
            return 4;
    }
    return 0;
}

/* As a person would in the sqlite3 shell: what it cannot have at once it leaves. */
static int shell_main(struct child *parent, void *context)
{
    static const char *const pragmas[] = {"PRAGMA wal_checkpoint", "PRAGMA wal_checkpoint(FULL)",
                                          "PRAGMA wal_checkpoint(RESTART)",
                                          "PRAGMA wal_checkpoint(TRUNCATE)"};
    struct crowd *crowd = context;
    child_hear(parent);
    for (int i = 0; !atomic_load(&crowd->over); i++) {
        struct mgb_sql sql;
        if (mgb_sql_open(&sql, crowd->path, crowd->path, SQLITE_OPEN_READWRITE) != MGB_OK)
            return 1;
        sqlite3_busy_timeout(sql.handle, 20);
        enum mgb_status status = mgb_sql_run(&sql, pragmas[i % 4]);
        mgb_sql_close(&sql);
        if (status != MGB_OK && status != MGB_BUSY)
            return 2;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return 0;
}

/* By number of commits, in the long form by time. */
static void steps_write(struct crowd *crowd, struct mgb_recorder *recorder, int64_t segment)
{
    bool is_long = draw_long();
    time_t end = time(NULL) + 600;
    for (int64_t i = 0; is_long ? time(NULL) < end : i < 3000; i++) {
        struct mgb_record step = database_step(segment, i);
        mgb_recorder_push(recorder, &step);
        if (i % 10 != 9)
            continue;
        assert_ok(mgb_recorder_flush(recorder));
        atomic_store(&crowd->acknowledged, i + 1);
    }
}

static void no_acknowledged_step_is_lost_in_a_crowd(void **state)
{
    int64_t run, segment;
    struct child crowd_children[READERS + 1];
    struct mgb_recorder *recorder;
    struct crowd *crowd =
        mmap(NULL, sizeof *crowd, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(crowd != MAP_FAILED);
    crowd->path = *state;
    for (int i = 0; i < READERS + 1; i++)
        child_start(&crowd_children[i], i < READERS ? reader_main : shell_main, crowd);
    assert_ok(mgb_recorder_open(&recorder, *state, NULL));
    run_begin(&run, &segment, recorder);
    for (int i = 0; i < READERS + 1; i++)
        child_say(&crowd_children[i], 'g');
    steps_write(crowd, recorder, segment);
    atomic_store(&crowd->over, true);
    for (int i = 0; i < READERS + 1; i++)
        assert_int_equal(child_end(&crowd_children[i]), 0);
    assert_ok(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL));
    mgb_recorder_close(recorder);
    assert_true(database_int(*state, "SELECT count(*) FROM step") >= crowd->acknowledged);
    char found[32];
    assert_string_equal(database_text(found, sizeof found, *state,
                                      "SELECT integrity_check FROM pragma_integrity_check"),
                        "ok");
    munmap(crowd, sizeof *crowd);
}

#define DB_TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(ten_starters_bring_an_old_file_forward_once),
        DB_TEST(of_ten_starters_one_writes_and_nine_are_told),
        DB_TEST(rows_queue_while_another_process_writes),
        DB_TEST(who_keeps_the_log_from_shrinking_is_told),
        DB_TEST(no_acknowledged_step_is_lost_in_a_crowd),
    };
    faulty_install(); /* for its syncs, which take no time */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
