/* A file of many runs answers as fast as one of few: what the list of the newest runs, one run's figures and two segments'
 * steps cost SQLite does not grow with the number of runs (reference/ecosystem.md 6.3 row 54; times are in
 * tests/bench/database.c). */
#include "tests/support/check.h"

#include "db/sql.h"
#include "db/store.h"
#include "tests/support/database.h"
#include "tests/support/faulty_vfs.h"

enum { FEW = 100, MANY = 400, STEPS = 12 };

static void runs_store(const char *path, int count)
{
    struct mgb_store *store;
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
    assert_ok(mgb_store_open(&store, path, NULL));
    for (int i = 0; i < count; i++) {
        int64_t run, segment;
        struct mgb_record steps[2 * STEPS];
        assert_ok(mgb_store_begin_run(&run, store, database_run()));
        struct mgb_record_segment record = database_segment(run);
        record.effective.gpus = (struct mgb_maybe_int){1 + i % 2, true};
        assert_ok(mgb_store_begin_segment(&segment, store, &record));
        for (int k = 0; k < STEPS; k++) {
            steps[2 * k] = database_step(segment, k);
            steps[2 * k + 1] = (struct mgb_record){
                .kind = MGB_RECORD_STEP_DEVICE,
                .step_device = {.segment = segment, .step = k, .device = "/gpu:0"}};
        }
        assert_ok(mgb_store_put_steps(store, steps, 2 * STEPS));
        assert_ok(mgb_store_finish_segment(NULL, store, segment, &end));
        assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
    }
    mgb_store_close(store);
}

/* SQLite's instructions for all rows of a query. */
static int64_t cost_of(const char *path, const char *query)
{
    struct mgb_sql sql;
    sqlite3_stmt *compiled;
    assert_ok(mgb_sql_open(&sql, path, path, SQLITE_OPEN_READONLY));
    if (sqlite3_prepare_v2(sql.handle, query, -1, &compiled, NULL) != SQLITE_OK)
        fail_msg("%s: %s", query, sqlite3_errmsg(sql.handle));
    int code, rows = 0;
    while ((code = sqlite3_step(compiled)) == SQLITE_ROW)
        rows++;
    assert_int_equal(code, SQLITE_DONE);
    assert_true(rows > 0);
    int64_t cost = sqlite3_stmt_status(compiled, SQLITE_STMTSTATUS_VM_STEP, 0);
    sqlite3_finalize(compiled);
    mgb_sql_close(&sql);
    return cost;
}

static const char *const questions[] = {
    "SELECT * FROM run_summary ORDER BY run_id DESC, segment_id DESC LIMIT 50",
    "SELECT * FROM run_summary WHERE run_id = 7",
    "SELECT * FROM run_summary WHERE segment_id IN (5, 90)",
    "SELECT * FROM phase_share WHERE segment_id = 9",
    "SELECT * FROM step_stats WHERE segment_id = 9",
    "SELECT * FROM step_phase WHERE segment_id = 9",
    "SELECT step, wall_ns FROM step WHERE segment_id IN (5, 90) AND warmup = 0",
};
/* These look at every segment once, and at no step. */
static const char *const overviews[] = {
    "SELECT * FROM run_summary",
    "SELECT * FROM scaling",
    "SELECT * FROM exchange",
    "SELECT * FROM placement",
};

enum {
    QUESTIONS = sizeof questions / sizeof *questions,
    OVERVIEWS = sizeof overviews / sizeof *overviews
};

static void what_a_question_costs_does_not_grow_with_the_file(void **state)
{
    int64_t before[QUESTIONS + OVERVIEWS];
    runs_store(*state, FEW);
    for (int i = 0; i < QUESTIONS; i++)
        before[i] = cost_of(*state, questions[i]);
    for (int i = 0; i < OVERVIEWS; i++)
        before[QUESTIONS + i] = cost_of(*state, overviews[i]);
    runs_store(*state, MANY - FEW);
    for (int i = 0; i < QUESTIONS; i++)
        if (cost_of(*state, questions[i]) > before[i] + before[i] / 10)
            fail_msg("dearer with more runs: %s", questions[i]);
    for (int i = 0; i < OVERVIEWS; i++)
        if (cost_of(*state, overviews[i]) > 5 * before[QUESTIONS + i])
            fail_msg("dearer a run with more runs: %s", overviews[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_a_question_costs_does_not_grow_with_the_file,
                                        database_setup, database_teardown),
    };
    faulty_install(); /* for its syncs, which take no time */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
