/* Every allocation fails in turn, SQLite's and our own, through a whole recorder's life: a status and a message, no crash,
 * nothing kept, nothing acknowledged lost. MGB_LONG=1: every single one; else ever wider apart.
 * Linked with --wrap for malloc and its kin, see tests/CMakeLists.txt. */
#include "tests/support/check.h"

#include "db/query.h"
#include "db/recorder.h"
#include "tests/support/database.h"
#include "tests/support/faulty_vfs.h"
#include "tests/support/draws.h"
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__
enum { DENSITY = 1 };
#else
enum { DENSITY = 3 }; /* how slowly the places that fail grow apart */
#endif

static atomic_llong calls, fails_at; /* 0: none fails */
static atomic_llong failures;
static atomic_bool lasting; /* all later ones fail too */
static sqlite3_mem_methods real;

static bool fails(void)
{
    long long at = atomic_load(&fails_at);
    if (at == 0)
        return false;
    long long call = atomic_fetch_add(&calls, 1) + 1;
    if (call != at && !(atomic_load(&lasting) && call > at))
        return false;
    atomic_fetch_add(&failures, 1);
    return true;
}

static void *sqlite_malloc(int size)
{
    return fails() ? NULL : real.xMalloc(size);
}

static void *sqlite_realloc(void *old, int size)
{
    return fails() ? NULL : real.xRealloc(old, size);
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
int __wrap_asprintf(char **out, const char *format, ...);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

int __wrap_asprintf(char **out, const char *format, ...)
{
    va_list args;
    if (fails())
        return -1;
    va_start(args, format);
    int length = vasprintf(out, format, args);
    va_end(args);
    return length;
}

static void file_remove(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal", ".lock"};
    char file[128];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(file, sizeof file, "%s%s", path, endings[i]);
        unlink(file);
    }
}

/* Which failures a want of memory may show as: SQLite tells some of them as errors of the disk. */
static void judge(enum mgb_status status)
{
    if (status == MGB_OK)
        return;
    assert_true(status == MGB_NO_MEMORY || status == MGB_IO);
    assert_string_not_equal(mgb_message_get(), "");
}

enum { STEPS = 30 };

/* How many steps were acknowledged. */
static int64_t life_lead(const char *path)
{
    int64_t run, segment, acknowledged = 0;
    struct mgb_recorder *recorder;
    struct mgb_recorder_state state;
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
    struct mgb_recorder_options options = {.commit_ms = 3600000, .ring_capacity = 64};
    enum mgb_status status = mgb_recorder_open(&recorder, path, &options);
    judge(status);
    if (status != MGB_OK)
        return 0;
    judge(mgb_recorder_begin_run(&run, recorder, database_run()));
    struct mgb_record_segment record = database_segment(run);
    judge(mgb_recorder_begin_segment(&segment, recorder, &record));
    for (int64_t i = 0; i < STEPS; i++) {
        struct mgb_record step = database_step(segment, i);
        mgb_recorder_push(recorder, &step);
        if (i % 10 != 9)
            continue;
        status = mgb_recorder_flush(recorder);
        judge(status);
        mgb_recorder_get_state(&state, recorder);
        if (status == MGB_OK && segment != 0 && !state.stopped)
            acknowledged = i + 1;
    }
    judge(mgb_recorder_put_note(recorder, run, "a note"));
    judge(mgb_recorder_finish_segment(NULL, recorder, segment, &end));
    judge(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL));
    mgb_recorder_close(recorder);
    return acknowledged;
}

static void file_check(const char *path, int64_t acknowledged)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, path, NULL));
    assert_ok(mgb_store_check(store, true));
    mgb_store_close(store);
    int64_t count = database_int(path, "SELECT count(*) FROM step");
    assert_true(count >= acknowledged);
    assert_int_equal(database_int(path, "SELECT coalesce(max(step) + 1, 0) FROM step"), count);
}

static void recorder_allocations_fail(const char *path, bool for_good, bool new_file)
{
    bool all = draw_long();
    int lives = 0;
    sqlite3_int64 kept = sqlite3_memory_used();
    for (long long at = 1;; at += all ? 1 : 1 + at / DENSITY) {
        file_remove(path);
        if (!new_file)
            file_check(path, 0);
        atomic_store(&calls, 0);
        atomic_store(&failures, 0);
        atomic_store(&lasting, for_good);
        atomic_store(&fails_at, at);
        int64_t acknowledged = life_lead(path);
        bool failed = atomic_load(&failures) > 0;
        atomic_store(&fails_at, 0);
        assert_int_equal(sqlite3_memory_used(), kept);
        file_check(path, acknowledged);
        lives++;
        if (!failed) {
            assert_int_equal(acknowledged, STEPS);
            break;
        }
    }
    print_message("%d lives\n", lives);
    assert_true(lives > 5);
}

static void one_allocation_of_the_recorder_fails(void **state)
{
    recorder_allocations_fail(*state, false, true);
    recorder_allocations_fail(*state, false, false);
}

static void all_allocations_of_the_recorder_fail_from_some_on(void **state)
{
    recorder_allocations_fail(*state, true, true);
    recorder_allocations_fail(*state, true, false);
}

static enum mgb_status row_ignore(void *context, const struct mgb_value *values, int count)
{
    (void)context, (void)values, (void)count;
    return MGB_OK;
}

static void allocations_of_a_reader_fail(void **state)
{
    bool all = draw_long(), failed = true;
    sqlite3_int64 kept = sqlite3_memory_used();
    struct mgb_query_sink sink = {.row = row_ignore};
    assert_int_equal(life_lead(*state), STEPS);
    for (long long at = 1; failed; at += all ? 1 : 1 + at / DENSITY) {
        struct mgb_reader *reader;
        enum mgb_outcome outcome;
        atomic_store(&calls, 0);
        atomic_store(&failures, 0);
        atomic_store(&lasting, false);
        atomic_store(&fails_at, at);
        enum mgb_status status = mgb_reader_open(&reader, *state);
        judge(status);
        if (status == MGB_OK) {
            judge(mgb_query_run(reader, "SELECT * FROM run_summary", NULL, 0, &sink));
            judge(mgb_query_run(reader, "SELECT * FROM scaling", NULL, 0, &sink));
            judge(mgb_db_run_state(&outcome, reader, 1));
        }
        mgb_reader_close(reader);
        failed = atomic_load(&failures) > 0;
        atomic_store(&fails_at, 0);
        assert_int_equal(sqlite3_memory_used(), kept);
    }
}

#define DB_TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(one_allocation_of_the_recorder_fails),
        DB_TEST(all_allocations_of_the_recorder_fail_from_some_on),
        DB_TEST(allocations_of_a_reader_fail),
    };
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real);
    sqlite3_mem_methods failing = real;
    failing.xMalloc = sqlite_malloc;
    failing.xRealloc = sqlite_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &failing);
    faulty_install(); /* for its syncs, which take no time */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
