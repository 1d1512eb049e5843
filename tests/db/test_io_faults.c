/* The disk fails at every call in turn, through a whole recorder's life: no crash, nothing acknowledged is lost, the log
 * stops with a message, the run goes on, and the file is sound afterwards (reference/ecosystem.md 6.3 row 35).
 * MGB_LONG=1: every single call; else ever wider apart. */
#include "tests/support/check.h"

#include "db/query.h"
#include "db/recorder.h"
#include "tests/support/database.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/draws.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__
enum { DENSITY = 1 };
#else
enum { DENSITY = 2 }; /* how slowly the places that fail grow apart */
#endif
enum { STEPS = 200, FLUSH_EVERY = 20 };

struct life {
    bool opened;
    int64_t run;
    int64_t acknowledged; /* steps that a flush confirmed */
    struct mgb_recorder_state end;
};

static void file_remove(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal", ".lock"};
    char file[128];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(file, sizeof file, "%s%s", path, endings[i]);
        unlink(file);
    }
}

static void steps_push(struct life *life, struct mgb_recorder *recorder, int64_t segment)
{
    struct mgb_recorder_state state;
    for (int64_t i = 0; i < STEPS; i++) {
        struct mgb_record step = database_step(segment, i);
        mgb_recorder_push(recorder, &step);
        if (i % FLUSH_EVERY != FLUSH_EVERY - 1)
            continue;
        enum mgb_status status = mgb_recorder_flush(recorder);
        mgb_recorder_get_state(&state, recorder);
        if (status == MGB_OK && segment != 0 && !state.stopped) {
            life->acknowledged = i + 1;
        } else if (status != MGB_OK) {
            assert_int_equal(status, MGB_IO);
            assert_true(state.stopped && state.incomplete);
            assert_string_not_equal(state.message, "");
        }
    }
}

/* Whatever the disk does, every call but opening and flushing succeeds. */
static void life_lead(struct life *life, const char *path)
{
    int64_t segment;
    struct mgb_recorder *recorder;
    struct mgb_recorder_options options = {.commit_ms = 3600000,
                                           .store = {.busy_wait_ms = 50, .lock_wait_ms = 50}};
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
    *life = (struct life){0};
    enum mgb_status status = mgb_recorder_open(&recorder, path, &options);
    if (status != MGB_OK) {
        assert_int_equal(status, MGB_IO);
        assert_message(path);
        return;
    }
    life->opened = true;
    assert_ok(mgb_recorder_begin_run(&life->run, recorder, database_run()));
    struct mgb_record_segment record = database_segment(life->run);
    assert_ok(mgb_recorder_begin_segment(&segment, recorder, &record));
    steps_push(life, recorder, segment);
    assert_ok(mgb_recorder_finish_segment(NULL, recorder, segment, &end));
    assert_ok(mgb_recorder_finish_run(recorder, life->run, MGB_OUTCOME_OK, NULL));
    mgb_recorder_get_state(&life->end, recorder);
    mgb_recorder_close(recorder);
}

/* The disk is well again. */
static void file_check(const struct life *life, const char *path)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, path, NULL));
    assert_ok(mgb_store_check(store, true));
    mgb_store_close(store);
    int64_t count = database_int(path, "SELECT count(*) FROM step");
    assert_true(count >= life->acknowledged);
    assert_int_equal(database_int(path, "SELECT coalesce(max(step) + 1, 0) FROM step"), count);
    if (!life->opened || life->run == 0 || count == STEPS)
        return;
    assert_true(life->end.incomplete);
    assert_int_equal(
        database_int(path, "SELECT count(*) FROM run WHERE outcome = 'ok' AND log_complete = 1"),
        0);
}

struct fault {
    const char *name;
    struct faulty_plan plan;
};

/* A file made before: its life is all recording. */
static void file_make(const char *path, const struct fault *fault)
{
    struct mgb_store *store;
    faulty_plan(&(struct faulty_plan){.no_shm = fault->plan.no_shm});
    assert_ok(mgb_store_open(&store, path, NULL));
    mgb_store_close(store);
}

static void calls_fail(const char *path, const struct fault *fault, bool new_file)
{
    bool all = draw_long();
    int64_t lives = 0, refused = 0;
    for (int64_t at = 1;; at += all ? 1 : 1 + at / DENSITY) {
        struct life life;
        struct faulty_plan plan = fault->plan;
        plan.at = at;
        file_remove(path);
        if (!new_file)
            file_make(path, fault);
        faulty_plan(&plan);
        life_lead(&life, path);
        bool failed = faulty_failures() > 0;
        faulty_plan(NULL);
        file_check(&life, path);
        lives++;
        refused += !life.opened;
        if (!failed) {
            assert_int_equal(life.acknowledged, STEPS);
            assert_false(life.end.incomplete);
            break;
        }
    }
    print_message("%s, %s file: %d lives, %d of them not opened\n", fault->name,
                  new_file ? "new" : "older", (int)lives, (int)refused);
    assert_true(lives > 1); /* some call failed */
}

static void every_call_fails_once(const char *path, const struct fault *fault)
{
    calls_fail(path, fault, true);
    calls_fail(path, fault, false);
}

#define FAULT_TEST(test, ...)                                                                      \
    static void test(void **state)                                                                 \
    {                                                                                              \
        static const struct fault fault = {#test, {__VA_ARGS__}};                                  \
        every_call_fails_once(*state, &fault);                                                     \
    }

FAULT_TEST(a_write_fails, .kinds = FAULTY_WRITE, .code = SQLITE_IOERR_WRITE)
FAULT_TEST(a_write_is_short, .kinds = FAULTY_WRITE, .code = SQLITE_IOERR_WRITE, .short_write = true)
FAULT_TEST(the_disk_is_full_for_a_moment, .kinds = FAULTY_WRITE, .code = SQLITE_FULL)
FAULT_TEST(the_disk_is_full_for_good, .kinds = FAULTY_WRITE, .code = SQLITE_FULL, .lasting = true,
           .short_write = true)
FAULT_TEST(a_sync_fails, .kinds = FAULTY_SYNC, .code = SQLITE_IOERR_FSYNC)
FAULT_TEST(all_syncs_fail, .kinds = FAULTY_SYNC, .code = SQLITE_IOERR_FSYNC, .lasting = true)
FAULT_TEST(a_read_fails, .kinds = FAULTY_READ, .code = SQLITE_IOERR_READ)
FAULT_TEST(shared_memory_fails_once, .kinds = FAULTY_SHM, .code = SQLITE_IOERR_SHMLOCK)
FAULT_TEST(shared_memory_fails_for_good, .kinds = FAULTY_SHM, .code = SQLITE_IOERR_SHMMAP,
           .lasting = true)
FAULT_TEST(a_file_cannot_be_opened, .kinds = FAULTY_OPEN, .code = SQLITE_CANTOPEN)

/* The old journal writes, syncs and truncates other files at other times. */
static void the_old_journal_fails_at_any_call(void **state)
{
    static const struct fault fault = {"the old journal",
                                       {.kinds = FAULTY_WRITE | FAULTY_SYNC | FAULTY_TRUNCATE,
                                        .code = SQLITE_IOERR_WRITE,
                                        .short_write = true,
                                        .no_shm = true}};
    every_call_fails_once(*state, &fault);
}

#define DB_TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(a_write_fails),
        DB_TEST(a_write_is_short),
        DB_TEST(the_disk_is_full_for_a_moment),
        DB_TEST(the_disk_is_full_for_good),
        DB_TEST(a_sync_fails),
        DB_TEST(all_syncs_fail),
        DB_TEST(a_read_fails),
        DB_TEST(shared_memory_fails_once),
        DB_TEST(shared_memory_fails_for_good),
        DB_TEST(a_file_cannot_be_opened),
        DB_TEST(the_old_journal_fails_at_any_call),
    };
    faulty_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
