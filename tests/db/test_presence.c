/* A results file that is deleted or replaced while rows are put in it: SQLite takes them without complaint. */
#include "tests/support/check.h"

#include "db/query.h"
#include "db/recorder.h"
#include "tests/support/database.h"
#include <stdio.h>
#include <unistd.h>

static void steps_push(struct mgb_recorder *recorder, int64_t segment, int64_t first)
{
    for (int64_t i = first; i < first + 10; i++) {
        struct mgb_record step = database_step(segment, i);
        mgb_recorder_push(recorder, &step);
    }
}

static bool is_incomplete(struct mgb_recorder *recorder)
{
    struct mgb_recorder_state state;
    mgb_recorder_get_state(&state, recorder);
    return state.stopped && state.incomplete;
}

/* What becomes of a log whose file vanished: it stops, and says so in every way there is. */
static void vanished_log_check(struct mgb_recorder *recorder, int64_t run, int64_t segment)
{
    steps_push(recorder, segment, 10);
    assert_status(mgb_recorder_flush(recorder), MGB_IO);
    assert_message("while results were stored in it");
    assert_true(is_incomplete(recorder));
    assert_ok(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL));
    mgb_recorder_close(recorder);
}

static void recorder_begin(struct mgb_recorder **recorder, int64_t *run, int64_t *segment,
                           const char *path)
{
    assert_ok(mgb_recorder_open(recorder, path, NULL));
    assert_ok(mgb_recorder_begin_run(run, *recorder, database_run()));
    struct mgb_record_segment record = database_segment(*run);
    assert_ok(mgb_recorder_begin_segment(segment, *recorder, &record));
    steps_push(*recorder, *segment, 0);
    assert_ok(mgb_recorder_flush(*recorder));
}

static void a_deleted_file_stops_the_log(void **state)
{
    int64_t run, segment;
    struct mgb_recorder *recorder;
    recorder_begin(&recorder, &run, &segment, *state);
    assert_int_equal(unlink(*state), 0);
    vanished_log_check(recorder, run, segment);
}

/* Nothing more is stored: only a flush can find it. */
static void a_file_deleted_after_its_last_row_is_missed_by_a_flush(void **state)
{
    int64_t run, segment;
    struct mgb_recorder *recorder;
    recorder_begin(&recorder, &run, &segment, *state);
    assert_ok(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL));
    assert_ok(mgb_recorder_flush(recorder));
    assert_int_equal(unlink(*state), 0);
    assert_status(mgb_recorder_flush(recorder), MGB_IO);
    assert_message("was deleted or moved");
    assert_true(is_incomplete(recorder));
    mgb_recorder_close(recorder);
}

static void a_deleted_write_ahead_log_stops_the_log(void **state)
{
    int64_t run, segment;
    char wal[512];
    struct mgb_recorder *recorder;
    recorder_begin(&recorder, &run, &segment, *state);
    snprintf(wal, sizeof wal, "%s-wal", (const char *)*state);
    assert_int_equal(unlink(wal), 0);
    vanished_log_check(recorder, run, segment);
}

static void a_replaced_file_stops_the_log(void **state)
{
    int64_t run, segment;
    char kept[512];
    struct mgb_recorder *recorder;
    recorder_begin(&recorder, &run, &segment, *state);
    snprintf(kept, sizeof kept, "%s.kept", (const char *)*state);
    assert_int_equal(rename(*state, kept), 0);
    FILE *other = fopen(*state, "w");
    assert_non_null(other);
    fclose(other);
    vanished_log_check(recorder, run, segment);
    assert_int_equal(unlink(kept), 0);
}

static void a_file_deleted_after_the_last_step_is_noticed(void **state)
{
    int64_t run, segment;
    struct mgb_recorder *recorder;
    recorder_begin(&recorder, &run, &segment, *state);
    assert_int_equal(unlink(*state), 0);
    assert_ok(mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL));
    assert_true(is_incomplete(recorder));
    mgb_recorder_close(recorder);
}

static void a_file_without_a_name_is_refused(void **state)
{
    (void)state;
    struct mgb_recorder *recorder;
    struct mgb_reader *reader;
    assert_status(mgb_recorder_open(&recorder, "", NULL), MGB_INVALID);
    assert_message("needs a name");
    assert_status(mgb_reader_open(&reader, ""), MGB_INVALID);
}

#define DB_TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(a_deleted_file_stops_the_log),
        DB_TEST(a_file_deleted_after_its_last_row_is_missed_by_a_flush),
        DB_TEST(a_deleted_write_ahead_log_stops_the_log),
        DB_TEST(a_replaced_file_stops_the_log),
        DB_TEST(a_file_deleted_after_the_last_step_is_noticed),
        DB_TEST(a_file_without_a_name_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
