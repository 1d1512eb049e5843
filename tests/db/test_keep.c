/* Deleting, compacting and sealing: what goes goes whole, what is in use is refused, what is sealed is one file.
 * (reference/ecosystem.md, row 59 of section 2.) */
#include "tests/support/check.h"

#include "db/keep.h"
#include "db/lock.h"
#include "db/query.h"
#include "tests/support/database.h"
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct mgb_keep_options hasty = {.lock_wait_ms = 20, .busy_wait_ms = 20};

static void runs_make(const char *path, int count, int steps)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, path, NULL));
    for (int i = 0; i < count; i++) {
        int64_t run, segment;
        assert_ok(mgb_store_begin_run(&run, store, database_run()));
        struct mgb_record_segment record = database_segment(run);
        assert_ok(mgb_store_begin_segment(&segment, store, &record));
        for (int k = 0; k < steps; k++) {
            struct mgb_record step = database_step(segment, k);
            assert_ok(mgb_store_put_steps(store, &step, 1));
        }
        assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
    }
    mgb_store_close(store);
}

static int keep_setup(void **state)
{
    if (database_setup(state) != 0)
        return -1;
    runs_make(*state, 3, 5);
    return 0;
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

static bool is_there(const char *path, const char *ending)
{
    char file[140];
    snprintf(file, sizeof file, "%s%s", path, ending);
    return access(file, F_OK) == 0;
}

static void runs_go_with_all_that_belongs_to_them(void **state)
{
    const int64_t runs[] = {1, 3};
    assert_ok(mgb_keep_delete(*state, runs, 2, &hasty));
    assert_int_equal(database_int(*state, "SELECT group_concat(id) = '2' FROM run"), 1);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 5);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

static void one_run_that_is_not_there_keeps_all(void **state)
{
    const int64_t runs[] = {1, 99};
    assert_status(mgb_keep_delete(*state, runs, 2, &hasty), MGB_MISSING);
    assert_message("no run 99");
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run"), 3);
}

static void nothing_is_done_while_a_run_is_being_written(void **state)
{
    struct mgb_store *writer;
    struct mgb_keep_sizes sizes;
    int64_t run;
    const int64_t runs[] = {1};
    assert_ok(mgb_store_open(&writer, *state, NULL));
    assert_ok(mgb_store_begin_run(&run, writer, database_run()));
    assert_status(mgb_keep_delete(*state, runs, 1, &hasty), MGB_BUSY);
    assert_message("is in use by pid");
    assert_status(mgb_keep_vacuum(&sizes, *state, &hasty), MGB_BUSY);
    assert_message("is in use by pid");
    assert_status(mgb_keep_seal(*state, &hasty), MGB_BUSY);
    assert_message("is in use by pid");
    assert_ok(mgb_store_finish_run(writer, run, MGB_OUTCOME_OK, NULL));
    mgb_store_close(writer);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run"), 4);
}

static void a_file_that_is_not_there_is_not_made(void **state)
{
    struct mgb_keep_sizes sizes;
    char path[100];
    snprintf(path, sizeof path, "%s.none", (char *)*state);
    assert_status(mgb_keep_vacuum(&sizes, path, NULL), MGB_MISSING);
    assert_status(mgb_keep_seal(path, NULL), MGB_MISSING);
    assert_false(is_there(path, ""));
}

static void compacting_gives_back_what_was_deleted(void **state)
{
    struct mgb_keep_sizes sizes;
    const int64_t runs[] = {1, 2};
    sql_run(*state, "UPDATE run SET command = hex(zeroblob(200000)) WHERE id < 3");
    assert_ok(mgb_keep_delete(*state, runs, 2, &hasty));
    assert_ok(mgb_keep_vacuum(&sizes, *state, &hasty));
    assert_true(sizes.before > sizes.after + 700000);
    assert_int_equal(sizes.after, mgb_keep_size(*state));
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 5);
}

static void compacting_needs_room(void **state)
{
    struct mgb_keep_sizes sizes;
    struct mgb_keep_options full = hasty;
    full.free_bytes = 100000;
    assert_status(mgb_keep_vacuum(&sizes, *state, &full), MGB_IO);
    assert_message("of free disk beside it, there are 0 MiB");
    assert_true(mgb_keep_free(*state) > 0);
}

static void journal_is(const char *path, int version)
{
    unsigned char header[20];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(header, 1, sizeof header, file), sizeof header);
    fclose(file);
    assert_int_equal(header[18], version); /* fileformat2: 1 is a rollback journal, 2 is WAL */
}

static void a_sealed_file_is_one_file(void **state)
{
    journal_is(*state, 2);
    assert_ok(mgb_keep_seal(*state, &hasty));
    journal_is(*state, 1);
    assert_false(is_there(*state, "-wal") || is_there(*state, "-shm") || is_there(*state, ".lock"));
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run"), 3);
    assert_false(is_there(*state, "-wal") || is_there(*state, "-shm") || is_there(*state, ".lock"));
    assert_ok(mgb_keep_seal(*state, &hasty)); /* again */
}

static void a_run_undoes_the_seal(void **state)
{
    assert_ok(mgb_keep_seal(*state, &hasty));
    runs_make(*state, 1, 1);
    journal_is(*state, 2);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run"), 4);
}

static void a_reader_with_the_file_open_keeps_it_from_being_sealed(void **state)
{
    sqlite3 *other;
    sqlite3_stmt *rows;
    assert_int_equal(sqlite3_open(*state, &other), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(other, "SELECT id FROM run", -1, &rows, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(rows), SQLITE_ROW);
    assert_status(mgb_keep_seal(*state, &hasty), MGB_BUSY);
    assert_message("is open in another program");
    sqlite3_finalize(rows);
    sqlite3_close(other);
    assert_ok(mgb_keep_seal(*state, &hasty));
}

static void a_copy_is_sealed_beside_a_file_in_use(void **state)
{
    struct mgb_store *writer;
    int64_t run;
    char copy[100];
    snprintf(copy, sizeof copy, "%s.copy", (char *)*state);
    assert_ok(mgb_store_open(&writer, *state, NULL));
    assert_ok(mgb_store_begin_run(&run, writer, database_run()));
    assert_ok(mgb_keep_seal_copy(*state, copy, NULL));
    journal_is(copy, 1);
    assert_false(is_there(copy, "-wal") || is_there(copy, ".lock") || is_there(copy, ".partial"));
    assert_int_equal(database_int(copy, "SELECT count(*) FROM run"), 4);
    assert_status(mgb_keep_seal_copy(*state, copy, NULL), MGB_INVALID);
    assert_message("is there already");
    assert_ok(mgb_store_finish_run(writer, run, MGB_OUTCOME_OK, NULL));
    mgb_store_close(writer);
}

static void a_copy_needs_room(void **state)
{
    char copy[100];
    struct mgb_keep_options full = {.free_bytes = 1000};
    snprintf(copy, sizeof copy, "%s.copy", (char *)*state);
    assert_status(mgb_keep_seal_copy(*state, copy, &full), MGB_IO);
    assert_message(".copy takes "); /* by the name that was asked for */
    assert_message("name a file on a larger disk");
    assert_false(is_there(copy, "") || is_there(copy, ".partial"));
}

static void what_a_killed_one_left_is_no_hindrance(void **state)
{
    char copy[100], left[140];
    static const char *const endings[] = {".partial", ".partial-journal", ".partial-wal"};
    snprintf(copy, sizeof copy, "%s.copy", (char *)*state);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(left, sizeof left, "%s%s", copy, endings[i]);
        FILE *file = fopen(left, "w");
        assert_non_null(file);
        for (int k = 0; k < 2000; k++)
            fputs("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", file); /* a journal begins like this */
        assert_int_equal(fclose(file), 0);
    }
    assert_ok(mgb_keep_seal_copy(*state, copy, NULL));
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        assert_false(is_there(copy, endings[i]));
    assert_int_equal(database_int(copy, "SELECT count(*) FROM run"), 3);
}

static void a_copy_needs_its_folder(void **state)
{
    char copy[100];
    snprintf(copy, sizeof copy, "%s.none/copy.db", (char *)*state);
    assert_status(mgb_keep_seal_copy(*state, copy, NULL), MGB_MISSING);
    assert_message(".none is not there");
}

/* Says stop when it was asked `*context` times. */
static bool stop_after(void *context)
{
    int *left = context;
    return (*left)-- <= 0;
}

/* Whenever it is interrupted: nothing changed, nothing left, and asked again it is done. */
static void stopped_at_any_moment_the_file_is_as_it_was(void **state)
{
    char copy[100];
    int stopped = 0;
    snprintf(copy, sizeof copy, "%s.copy", (char *)*state);
    runs_make(*state, 20, 200);
    int64_t steps = database_int(*state, "SELECT count(*) FROM step");
    for (int after = 0; after < 3; after++)
        for (int what = 0; what < 3; what++) {
            int left = after;
            struct mgb_keep_sizes sizes;
            struct mgb_keep_options options = hasty;
            options.stop = stop_after;
            options.stop_context = &left;
            enum mgb_status status = what == 0   ? mgb_keep_vacuum(&sizes, *state, &options)
                                     : what == 1 ? mgb_keep_seal(*state, &options)
                                                 : mgb_keep_seal_copy(*state, copy, &options);
            if (status != MGB_OK)
                assert_status(status, MGB_INTERRUPTED);
            stopped += status != MGB_OK;
            assert_true(status == MGB_OK || !is_there(copy, ""));
            assert_false(is_there(copy, ".partial") || is_there(copy, ".partial-journal"));
            unlink(copy);
            assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), steps);
            assert_int_equal(
                database_int(*state, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"),
                1);
        }
    assert_true(stopped >= 2); /* a copy and the compacting, at least at the first question */
}

/* Two waiters must not both have the lock because its file went away between opening and locking. */
static void a_lock_whose_file_was_removed_is_taken_anew(void **state)
{
    struct mgb_lock early, late;
    char path[100];
    snprintf(path, sizeof path, "%s.lock", (char *)*state);
    assert_ok(mgb_lock_open(&early, *state));
    assert_int_equal(unlink(path), 0);
    assert_ok(mgb_lock_open(&late, *state));
    assert_ok(mgb_lock_take(&late, *state, 0));
    assert_status(mgb_lock_take(&early, *state, 20), MGB_BUSY);
    mgb_lock_release(&late);
    assert_ok(mgb_lock_take(&early, *state, 0));
    assert_status(mgb_lock_take(&late, *state, 20), MGB_BUSY);
    mgb_lock_close(&early);
    mgb_lock_close(&late);
}

int main(void)
{
#define KEEP_TEST(f) cmocka_unit_test_setup_teardown(f, keep_setup, database_teardown)
    const struct CMUnitTest tests[] = {
        KEEP_TEST(runs_go_with_all_that_belongs_to_them),
        KEEP_TEST(one_run_that_is_not_there_keeps_all),
        KEEP_TEST(nothing_is_done_while_a_run_is_being_written),
        KEEP_TEST(a_file_that_is_not_there_is_not_made),
        KEEP_TEST(compacting_gives_back_what_was_deleted),
        KEEP_TEST(compacting_needs_room),
        KEEP_TEST(a_sealed_file_is_one_file),
        KEEP_TEST(a_run_undoes_the_seal),
        KEEP_TEST(a_reader_with_the_file_open_keeps_it_from_being_sealed),
        KEEP_TEST(a_copy_is_sealed_beside_a_file_in_use),
        KEEP_TEST(a_copy_needs_room),
        KEEP_TEST(a_copy_needs_its_folder),
        KEEP_TEST(what_a_killed_one_left_is_no_hindrance),
        KEEP_TEST(stopped_at_any_moment_the_file_is_as_it_was),
        KEEP_TEST(a_lock_whose_file_was_removed_is_taken_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
