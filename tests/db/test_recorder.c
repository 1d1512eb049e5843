/* The recorder: nothing is dropped, flush means committed, and a store that cannot write stops the log, not the run. */
#include "tests/support/check.h"

#include "db/recorder.h"
#include "db/sql.h"
#include "tests/support/database.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void sleep_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

static void run_begin(int64_t *run, int64_t *segment, struct mgb_recorder *recorder)
{
    assert_ok(mgb_recorder_begin_run(run, recorder, database_run()));
    struct mgb_record_segment record = database_segment(*run);
    assert_ok(mgb_recorder_begin_segment(segment, recorder, &record));
}

static void steps_push(struct mgb_recorder *recorder, int64_t segment, int64_t first, int64_t count)
{
    for (int64_t i = first; i < first + count; i++) {
        struct mgb_record record = database_step(segment, i);
        mgb_recorder_push(recorder, &record);
    }
}

static struct mgb_recorder_state state_of(struct mgb_recorder *recorder)
{
    struct mgb_recorder_state state;
    mgb_recorder_get_state(&state, recorder);
    return state;
}

static void flush_returns_after_the_commit(void **state)
{
    int64_t run, segment;
    struct mgb_recorder *recorder;
    struct mgb_recorder_options options = {.commit_ms = 3600000}; /* by time alone it never would */
    assert_ok(mgb_recorder_open(&recorder, *state, &options));
    run_begin(&run, &segment, recorder);
    for (int i = 0; i < 20; i++) {
        steps_push(recorder, segment, i * 7, 7);
        assert_ok(mgb_recorder_flush(recorder));
        assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 7 * (i + 1));
    }
    assert_int_equal(state_of(recorder).stored, 140);
    mgb_recorder_close(recorder);
}

static void a_pushed_step_is_committed_before_long(void **state)
{
    int64_t run, segment, waited_ms = 0;
    struct mgb_recorder *recorder;
    assert_ok(mgb_recorder_open(&recorder, *state, NULL));
    run_begin(&run, &segment, recorder);
    steps_push(recorder, segment, 0, 3);
    while (database_int(*state, "SELECT count(*) FROM step") < 3 && waited_ms++ < 10000)
        sleep_ms(1);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 3);
    mgb_recorder_close(recorder);
}

static void a_full_ring_makes_the_step_wait_and_is_counted(void **state)
{
    int64_t run, segment;
    struct mgb_recorder *recorder;
    struct mgb_recorder_options options = {.ring_capacity = 4, .commit_ms = 3600000};
    assert_ok(mgb_recorder_open(&recorder, *state, &options));
    run_begin(&run, &segment, recorder);
    steps_push(recorder, segment, 0, 3000);
    assert_true(state_of(recorder).waits > 0);
    assert_ok(mgb_recorder_flush(recorder));
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 3000);
    assert_int_equal(state_of(recorder).lost, 0);
    mgb_recorder_close(recorder);
}

static void figures_of_a_segment_see_every_step_pushed_before(void **state)
{
    int64_t run, segment;
    struct mgb_recorder *recorder;
    struct mgb_record_segment_stat stat;
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
    assert_ok(mgb_recorder_open(&recorder, *state, NULL));
    run_begin(&run, &segment, recorder);
    steps_push(recorder, segment, 0, 500);
    assert_ok(mgb_recorder_finish_segment(&stat, recorder, segment, &end));
    assert_int_equal(stat.timed_steps, 500);
    assert_int_equal(stat.median_ns.value, 10000000);
    assert_ok(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL));
    mgb_recorder_close(recorder);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run WHERE outcome = 'ok'"), 1);
}

static void closing_stores_what_was_pushed(void **state)
{
    int64_t run, segment;
    struct mgb_recorder *recorder;
    assert_ok(mgb_recorder_open(&recorder, *state, NULL));
    run_begin(&run, &segment, recorder);
    steps_push(recorder, segment, 0, 200);
    mgb_recorder_close(recorder);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 200);
}

struct pusher {
    struct mgb_recorder *recorder;
    int64_t segment, first;
};

static void *pusher_main(void *context)
{
    struct pusher *pusher = context;
    for (int64_t i = 0; i < 10; i++) {
        steps_push(pusher->recorder, pusher->segment, pusher->first + 50 * i, 50);
        if (mgb_recorder_flush(pusher->recorder) != MGB_OK)
            return pusher;
    }
    return NULL;
}

/* The process ends at once, its other threads being where they are. */
static void sealing_stores_what_was_pushed_and_ends_runs(void **state)
{
    int64_t run, segment;
    int code;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct mgb_recorder *recorder;
        struct mgb_recorder_options options = {.commit_ms = 3600000};
        if (mgb_recorder_open(&recorder, *state, &options) != MGB_OK)
            _exit(1);
        run_begin(&run, &segment, recorder);
        steps_push(recorder, segment, 0, 5);
        enum mgb_status sealed = mgb_recorder_seal(recorder, 60000);
        steps_push(recorder, segment, 5, 5);
        /* _exit would have ThreadSanitizer complain of the threads that are left */
        syscall(SYS_exit_group, sealed == MGB_OK ? 0 : 2);
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 5);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run WHERE outcome = 'interrupted' "
                                          "AND finished_ms IS NOT NULL"),
                     1);
    assert_int_equal(
        database_int(*state, "SELECT count(*) FROM segment WHERE outcome = 'interrupted'"), 1);
}

static void several_threads_may_push_flush_and_ask(void **state)
{
    enum { threads = 3 };
    int64_t run, segment;
    struct mgb_recorder *recorder;
    struct pusher pushers[threads];
    pthread_t ids[threads];
    struct mgb_recorder_options options = {.ring_capacity = 32};
    assert_ok(mgb_recorder_open(&recorder, *state, &options));
    run_begin(&run, &segment, recorder);
    for (int i = 0; i < threads; i++) {
        pushers[i] = (struct pusher){recorder, segment, 1000 * i};
        assert_int_equal(pthread_create(&ids[i], NULL, pusher_main, &pushers[i]), 0);
    }
    for (int i = 0; i < 20; i++) {
        assert_ok(mgb_recorder_put_note(recorder, run, "meanwhile"));
        assert_false(state_of(recorder).stopped);
    }
    for (int i = 0; i < threads; i++) {
        void *failed;
        pthread_join(ids[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 500 * threads);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM note"), 20);
    mgb_recorder_close(recorder);
}

static void two_runs_may_be_active_at_once(void **state)
{
    int64_t runs[2], segments[2];
    struct mgb_recorder *recorder;
    assert_ok(mgb_recorder_open(&recorder, *state, NULL));
    run_begin(&runs[0], &segments[0], recorder);
    run_begin(&runs[1], &segments[1], recorder);
    steps_push(recorder, segments[0], 0, 5);
    assert_ok(mgb_recorder_finish_run(recorder, runs[0], MGB_OUTCOME_OK, NULL));
    steps_push(recorder, segments[1], 0, 5);
    assert_ok(mgb_recorder_finish_run(recorder, runs[1], MGB_OUTCOME_OK, NULL));
    mgb_recorder_close(recorder);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 10);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM segment WHERE outcome = 'ok'"), 2);
}

static void a_refused_row_is_the_callers_affair(void **state)
{
    int64_t run, segment, other;
    struct mgb_recorder *recorder;
    assert_ok(mgb_recorder_open(&recorder, *state, NULL));
    run_begin(&run, &segment, recorder);
    struct mgb_record_segment bad = database_segment(run);
    bad.effective.strategy = "telepathy";
    assert_status(mgb_recorder_begin_segment(&other, recorder, &bad), MGB_INVALID);
    assert_message("CHECK constraint failed");
    assert_int_equal(other, 0);
    assert_false(state_of(recorder).stopped);
    mgb_recorder_close(recorder);
}

static void a_step_stored_twice_stops_the_log_with_the_reason(void **state)
{
    int64_t run, segment;
    struct mgb_recorder *recorder;
    assert_ok(mgb_recorder_open(&recorder, *state, NULL));
    run_begin(&run, &segment, recorder);
    steps_push(recorder, segment, 5, 1);
    assert_ok(mgb_recorder_flush(recorder));
    steps_push(recorder, segment, 5, 1);
    assert_status(mgb_recorder_flush(recorder), MGB_IO);
    assert_message("UNIQUE constraint failed");
    assert_true(state_of(recorder).stopped && state_of(recorder).incomplete);
    assert_ok(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL));
    mgb_recorder_close(recorder);
    char message[200];
    database_text(message, sizeof message, *state,
                  "SELECT message FROM run WHERE log_complete = 0");
    assert_non_null(strstr(message, "the log is incomplete"));
}

static void what_is_not_recorded_is_accepted_everywhere(void **state)
{
    struct mgb_recorder *recorder;
    int64_t segment;
    struct mgb_record_segment record = database_segment(0);
    struct mgb_record_segment_stat stat;
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
    assert_ok(mgb_recorder_open(&recorder, *state, NULL));
    assert_ok(mgb_recorder_begin_segment(&segment, recorder, &record));
    assert_int_equal(segment, 0);
    steps_push(recorder, 0, 0, 3);
    assert_ok(mgb_recorder_flush(recorder));
    assert_ok(mgb_recorder_finish_segment(&stat, recorder, 0, &end));
    assert_int_equal(stat.timed_steps, 0);
    assert_ok(mgb_recorder_finish_run(recorder, 0, MGB_OUTCOME_OK, NULL));
    assert_int_equal(state_of(recorder).pushed, 0);
    mgb_recorder_close(recorder);
}

static void opening_fails_as_the_store_does(void **state)
{
    (void)state;
    struct mgb_recorder *recorder;
    assert_status(mgb_recorder_open(&recorder, "/nowhere/at/all/r.db", NULL), MGB_IO);
    assert_message("/nowhere/at/all/r.db");
    assert_null(recorder);
    mgb_recorder_close(NULL);
}

/* ecosystem.md 6.3 row 34: another program holds a write transaction. */
static void another_programs_transaction_makes_rows_queue(void **state)
{
    int64_t run, segment, waited_ms = 0;
    struct mgb_recorder *recorder;
    struct mgb_sql other;
    assert_ok(mgb_recorder_open(&recorder, *state, NULL));
    run_begin(&run, &segment, recorder);
    assert_ok(mgb_sql_open(&other, *state, *state, SQLITE_OPEN_READWRITE));
    assert_ok(mgb_sql_run(&other, "BEGIN IMMEDIATE"));
    steps_push(recorder, segment, 0, 300);
    while (!state_of(recorder).blocked && waited_ms++ < 10000)
        sleep_ms(1);
    assert_true(state_of(recorder).blocked);
    assert_false(state_of(recorder).stopped);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 0);
    assert_ok(mgb_sql_run(&other, "COMMIT"));
    mgb_sql_close(&other);
    assert_ok(mgb_recorder_flush(recorder));
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 300);
    assert_false(state_of(recorder).blocked);
    assert_false(state_of(recorder).incomplete);
    mgb_recorder_close(recorder);
}

/* With the old journal a reader can hold up a commit. */
static void a_reader_that_never_ends_stops_the_log_of_a_network_file(void **state)
{
    int64_t run, segment;
    struct mgb_recorder *recorder;
    struct mgb_sql other;
    struct mgb_recorder_options options = {.store = {.busy_wait_ms = 50, .as_network = true}};
    assert_ok(mgb_recorder_open(&recorder, *state, &options));
    assert_non_null(strstr(state_of(recorder).warning, "network"));
    run_begin(&run, &segment, recorder);
    assert_ok(mgb_sql_open(&other, *state, *state, SQLITE_OPEN_READONLY));
    assert_ok(mgb_sql_run(&other, "BEGIN; SELECT count(*) FROM run"));
    steps_push(recorder, segment, 0, 1);
    assert_status(mgb_recorder_flush(recorder), MGB_IO);
    assert_message("another program");
    mgb_sql_close(&other);
    mgb_recorder_close(recorder);
}

static void a_transaction_that_never_ends_stops_the_log(void **state)
{
    int64_t run, segment;
    struct mgb_recorder *recorder;
    struct mgb_sql other;
    struct mgb_recorder_options options = {.store = {.busy_wait_ms = 50}};
    assert_ok(mgb_recorder_open(&recorder, *state, &options));
    run_begin(&run, &segment, recorder);
    assert_ok(mgb_sql_open(&other, *state, *state, SQLITE_OPEN_READWRITE));
    assert_ok(mgb_sql_run(&other, "BEGIN IMMEDIATE"));
    steps_push(recorder, segment, 0, 1);
    assert_status(mgb_recorder_flush(recorder), MGB_IO);
    assert_message("another program");
    steps_push(recorder, segment, 1, 40000); /* more than the ring holds: the run goes on */
    assert_true(state_of(recorder).lost >= 40000);
    assert_ok(mgb_sql_run(&other, "COMMIT"));
    mgb_sql_close(&other);
    assert_ok(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL));
    /* The next run is recorded again; that something is missing stays known. */
    run_begin(&run, &segment, recorder);
    steps_push(recorder, segment, 0, 10);
    assert_ok(mgb_recorder_flush(recorder));
    assert_false(state_of(recorder).stopped);
    assert_true(state_of(recorder).incomplete);
    assert_ok(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL));
    mgb_recorder_close(recorder);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 10);
    assert_int_equal(database_int(*state, "SELECT group_concat(log_complete) = '0,1' FROM run"), 1);
}

/* In a child: a limit on the size of files stands for a full disk. Exit code 0: all was as it should be. */
static int full_disk_run(const char *path)
{
    int64_t run, segment, second;
    struct mgb_recorder *recorder;
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
    if (mgb_recorder_open(&recorder, path, NULL) != MGB_OK ||
        mgb_recorder_begin_run(&run, recorder, database_run()) != MGB_OK)
        return 1;
    struct mgb_record_segment record = database_segment(run);
    if (mgb_recorder_begin_segment(&segment, recorder, &record) != MGB_OK)
        return 2;
    steps_push(recorder, segment, 0, 50);
    if (mgb_recorder_flush(recorder) != MGB_OK)
        return 3;
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {.rlim_cur = 600000, .rlim_max = 600000};
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int64_t i = 50; i < 40000 && !state_of(recorder).stopped; i += 50) {
        steps_push(recorder, segment, i, 50);
        (void)mgb_recorder_flush(recorder);
    }
    struct mgb_recorder_state state = state_of(recorder);
    if (!state.stopped || !state.incomplete || !strstr(state.message, path))
        return 4;
    /* The run goes on and ends. */
    steps_push(recorder, segment, 50000, 40000);
    if (mgb_recorder_begin_segment(&second, recorder, &record) != MGB_OK || second != 0 ||
        mgb_recorder_finish_segment(NULL, recorder, segment, &end) != MGB_OK ||
        mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL) != MGB_OK ||
        mgb_recorder_begin_run(&second, recorder, database_run()) != MGB_OK)
        return 5;
    mgb_recorder_close(recorder);
    return 0;
}

/* ecosystem.md 6.3 row 35: disk full, endless retry. */
static void a_full_disk_stops_the_log_and_not_the_run(void **state)
{
    int code;
    pid_t pid = fork();
    if (pid == 0)
        _exit(full_disk_run(*state));
    assert_int_equal(waitpid(pid, &code, 0), pid);
    assert_int_equal(code, 0);
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_store_check(store, true));
    mgb_store_close(store);
    int64_t count = database_int(*state, "SELECT count(*) FROM step");
    assert_true(count >= 50);
    assert_int_equal(database_int(*state, "SELECT max(step) FROM step"), count - 1);
}

#define DB_TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(a_full_disk_stops_the_log_and_not_the_run), /* forks: before any thread */
        DB_TEST(sealing_stores_what_was_pushed_and_ends_runs),
        DB_TEST(flush_returns_after_the_commit),
        DB_TEST(a_pushed_step_is_committed_before_long),
        DB_TEST(a_full_ring_makes_the_step_wait_and_is_counted),
        DB_TEST(figures_of_a_segment_see_every_step_pushed_before),
        DB_TEST(closing_stores_what_was_pushed),
        DB_TEST(several_threads_may_push_flush_and_ask),
        DB_TEST(two_runs_may_be_active_at_once),
        DB_TEST(a_refused_row_is_the_callers_affair),
        DB_TEST(a_step_stored_twice_stops_the_log_with_the_reason),
        DB_TEST(what_is_not_recorded_is_accepted_everywhere),
        DB_TEST(opening_fails_as_the_store_does),
        DB_TEST(another_programs_transaction_makes_rows_queue),
        DB_TEST(a_reader_that_never_ends_stops_the_log_of_a_network_file),
        DB_TEST(a_transaction_that_never_ends_stops_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
