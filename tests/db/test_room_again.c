/* A disk that was full has room again: the next run is recorded, whatever else is still going, and the run that was hit is
 * marked as soon as that can be stored. */
#include "tests/support/check.h"

#include "db/recorder.h"
#include "tests/support/database.h"
#include "tests/support/faulty_vfs.h"
#include <sqlite3.h>
#include <string.h>
#include <time.h>

static const struct faulty_plan full = {
    .kinds = FAULTY_WRITE, .at = 1, .lasting = true, .code = SQLITE_FULL};

static const char ends[] = "SELECT group_concat(outcome || log_complete) FROM run";

/* Borrowed until the next call. */
static const char *answer_of(const char *path, const char *sql)
{
    static char text[256];
    return database_text(text, sizeof text, path, sql);
}

static struct mgb_recorder *recorder_make(const char *path)
{
    struct mgb_recorder *recorder;
    struct mgb_recorder_options options = {.commit_ms = 3600000,
                                           .store = {.busy_wait_ms = 50, .lock_wait_ms = 50}};
    assert_ok(mgb_recorder_open(&recorder, path, &options));
    return recorder;
}

static int64_t run_begin(int64_t *segment, struct mgb_recorder *recorder)
{
    int64_t run;
    assert_ok(mgb_recorder_begin_run(&run, recorder, database_run()));
    struct mgb_record_segment record = database_segment(run);
    assert_ok(mgb_recorder_begin_segment(segment, recorder, &record));
    return run;
}

static void steps_push(struct mgb_recorder *recorder, int64_t segment, int64_t first, int64_t count)
{
    for (int64_t i = first; i < first + count; i++) {
        struct mgb_record step = database_step(segment, i);
        mgb_recorder_push(recorder, &step);
    }
}

static void segment_finish(struct mgb_recorder *recorder, int64_t segment)
{
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
    assert_ok(mgb_recorder_finish_segment(NULL, recorder, segment, &end));
}

/* Ten steps of the segment are stored; then the disk is full. */
static void disk_fill(struct mgb_recorder *recorder, int64_t segment)
{
    steps_push(recorder, segment, 0, 10);
    assert_ok(mgb_recorder_flush(recorder));
    faulty_plan(&full);
    steps_push(recorder, segment, 10, 10);
    assert_status(mgb_recorder_flush(recorder), MGB_IO);
}

static void text_await(const char *path, const char *sql, const char *wanted)
{
    for (int ms = 0; ms < 30000 && strcmp(answer_of(path, sql), wanted) != 0; ms += 20)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    assert_string_equal(answer_of(path, sql), wanted);
}

static void a_run_that_ended_meanwhile_is_marked_without_another_one(void **state)
{
    int64_t segment;
    struct mgb_recorder *recorder = recorder_make(*state);
    int64_t run = run_begin(&segment, recorder);
    disk_fill(recorder, segment);
    segment_finish(recorder, segment);
    assert_ok(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL));
    assert_string_equal(answer_of(*state, ends), "running1");
    faulty_plan(NULL);
    text_await(*state, ends, "ok0");
    assert_int_equal(database_int(*state, "SELECT instr(message, 'full') > 0 FROM run"), 1);
    assert_string_equal(answer_of(*state, "SELECT outcome FROM segment"), "ok");
    assert_int_equal(database_int(*state, "SELECT timed_steps FROM segment_stat"), 10);
    mgb_recorder_close(recorder);
}

static void the_next_run_is_recorded_and_the_one_before_marked(void **state)
{
    int64_t segment, next;
    struct mgb_recorder_state now;
    struct mgb_recorder *recorder = recorder_make(*state);
    int64_t run = run_begin(&segment, recorder);
    disk_fill(recorder, segment);
    assert_ok(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_INTERRUPTED, "stopped"));
    faulty_plan(NULL);
    run = run_begin(&next, recorder);
    assert_true(next > segment);
    assert_string_equal(answer_of(*state, ends), "interrupted0,running1");
    steps_push(recorder, next, 0, 5);
    assert_ok(mgb_recorder_flush(recorder));
    mgb_recorder_get_state(&now, recorder);
    assert_true(now.incomplete && !now.stopped);
    assert_string_equal(now.message, "");
    assert_string_not_equal(now.reason, ""); /* it stays known why something is missing */
    assert_ok(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL));
    mgb_recorder_close(recorder);
    assert_string_equal(answer_of(*state, ends), "interrupted0,ok1");
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 15);
}

/* A session that nobody closed keeps no other one from being recorded, and gets no more rows itself. */
static void a_run_that_goes_on_keeps_no_other_from_being_recorded(void **state)
{
    int64_t hit, next, later;
    struct mgb_recorder *recorder = recorder_make(*state);
    int64_t first = run_begin(&hit, recorder);
    disk_fill(recorder, hit);
    faulty_plan(NULL);
    int64_t second = run_begin(&next, recorder);
    steps_push(recorder, hit, 20, 10);
    steps_push(recorder, next, 0, 7);
    assert_ok(mgb_recorder_flush(recorder));
    segment_finish(recorder, hit);
    struct mgb_record_segment record = database_segment(first);
    assert_ok(mgb_recorder_begin_segment(&later, recorder, &record));
    assert_int_equal(later, 0);
    assert_ok(mgb_recorder_finish_run(recorder, first, MGB_OUTCOME_OK, NULL));
    segment_finish(recorder, next);
    assert_ok(mgb_recorder_finish_run(recorder, second, MGB_OUTCOME_OK, NULL));
    mgb_recorder_close(recorder);
    assert_string_equal(answer_of(*state, ends), "ok0,ok1");
    assert_string_equal(
        answer_of(*state, "SELECT group_concat(n) FROM (SELECT count(*) AS n FROM step GROUP "
                          "BY segment_id ORDER BY segment_id)"),
        "10,7");
}

static void a_disk_that_stays_full_is_told_to_each_run(void **state)
{
    int64_t segment, none;
    struct mgb_recorder_state now;
    struct mgb_recorder *recorder = recorder_make(*state);
    int64_t run = run_begin(&segment, recorder);
    disk_fill(recorder, segment);
    assert_ok(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL));
    assert_int_equal(run_begin(&none, recorder), 0);
    assert_int_equal(none, 0);
    mgb_recorder_get_state(&now, recorder);
    assert_true(now.stopped && *now.message);
    faulty_plan(NULL);
    mgb_recorder_close(recorder); /* the last chance */
    assert_string_equal(answer_of(*state, ends), "ok0");
}

/* A sweep holds the file before its first run. */
static void holding_the_file_tries_whether_there_is_room(void **state)
{
    int64_t segment, none;
    struct mgb_recorder_state now;
    struct mgb_recorder *recorder = recorder_make(*state);
    int64_t run = run_begin(&segment, recorder);
    disk_fill(recorder, segment);
    assert_ok(mgb_recorder_hold(recorder));
    mgb_recorder_get_state(&now, recorder);
    assert_true(now.stopped && *now.message);
    mgb_recorder_release(recorder);
    faulty_plan(NULL);
    assert_ok(mgb_recorder_hold(recorder));
    mgb_recorder_get_state(&now, recorder);
    assert_false(now.stopped);
    assert_int_not_equal(run_begin(&none, recorder), 0);
    mgb_recorder_release(recorder);
    assert_ok(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL));
    mgb_recorder_close(recorder);
    assert_string_equal(answer_of(*state, ends), "ok0,interrupted1");
}

#define DB_TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(a_run_that_ended_meanwhile_is_marked_without_another_one),
        DB_TEST(the_next_run_is_recorded_and_the_one_before_marked),
        DB_TEST(a_run_that_goes_on_keeps_no_other_from_being_recorded),
        DB_TEST(a_disk_that_stays_full_is_told_to_each_run),
        DB_TEST(holding_the_file_tries_whether_there_is_room),
    };
    faulty_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
