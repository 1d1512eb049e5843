/* Results nobody should doubt or lose: times that are all the same (reference/ecosystem.md 6.3 row 15) and steps that were
 * throttled from the first to the last (row 38, and row 25 of section 2). */
#include "app/cli/commands.h"
#include "tests/app/cli/answer.h"
#include "tests/support/database.h"

#include <sys/wait.h>
#include <unistd.h>

#include "db/store.h"

#define MS 1000000

enum { STEPS = 80 };

/* A run of steps of 10 ms to the nanosecond, with a reading of /gpu:0 a second. */
static void run_put(struct mgb_store *store, const char *throttle)
{
    int64_t run, segment;
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
    assert_ok(mgb_store_begin_run(&run, store, database_run()));
    struct mgb_record_segment record = database_segment(run);
    record.warmup_steps = MGB_KNOWN_INT(0);
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
    for (int i = 0; i < STEPS; i++) {
        struct mgb_record step = database_step(segment, i);
        assert_ok(mgb_store_put_steps(store, &step, 1));
    }
    struct mgb_record sample = {.kind = MGB_RECORD_SAMPLE,
                                .sample = {.run = run,
                                           .segment = segment,
                                           .device = "/gpu:0",
                                           .clock_khz = 900000,
                                           .memory_clock_khz = MGB_NO_READING,
                                           .power_mw = MGB_NO_READING,
                                           .temperature_mc = 91000,
                                           .utilisation_ppm = MGB_NO_READING,
                                           .memory_used_bytes = MGB_NO_READING,
                                           .process_bytes = MGB_NO_READING,
                                           .throttle = throttle}};
    assert_ok(mgb_store_put_steps(store, &sample, 1));
    assert_ok(mgb_store_finish_segment(NULL, store, segment, &end));
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
}

/* Run 1: constant times. Runs 2 and 3: the same, throttled throughout. */
static int throttled_setup(void **state)
{
    struct mgb_store *store;
    if (database_setup(state) != 0)
        return -1;
    assert_ok(mgb_store_open(&store, *state, NULL));
    run_put(store, "");
    run_put(store, "thermal");
    run_put(store, "thermal");
    mgb_store_close(store);
    return 0;
}

static void constant_times_are_a_result_without_a_warning(void **state)
{
    SAYS(*state, 0, "show 1", "step_ms_median          10", "steps                   80");
    lacks(*state, "show 1", "outliers, the 20");
    lacks(*state, "show 1", "warning");
    lacks(*state, "runs", "unsteady");
    assert_int_equal(database_int(*state, "SELECT count(*) FROM outlier"), 0);
    assert_int_equal(
        database_int(*state, "SELECT sum(outliers_mild + outliers_far) FROM segment_stat"), 0);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM note"), 0);
}

static void a_run_throttled_throughout_is_shown_and_flagged(void **state)
{
    SAYS(*state, 0, "runs --csv", "3,3,1,", ",10,10,10,6400,80,true,", ",true,0,,ok,");
    SAYS(*state, 0, "runs", "ok, throttled");
    SAYS(*state, 0, "show 2", "step_ms_median          10", "steps                   80",
         "thermal");
    assert_int_equal(database_int(*state, "SELECT min(steps) FROM run_summary"), STEPS);
}

static void throttled_steps_are_compared_like_others(void **state)
{
    SAYS(*state, 0, "compare 2 3", "A 10 ms n=1x80   B 10 ms n=1x80   B/A 1",
         "run 2 was throttled: thermal");
    SAYS(*state, 0, "export 2 --format jsonl", "\"steps\":80", "\"step_ms_median\":10");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_times_are_a_result_without_a_warning),
        cmocka_unit_test(a_run_throttled_throughout_is_shown_and_flagged),
        cmocka_unit_test(throttled_steps_are_compared_like_others),
    };
    return cmocka_run_group_tests(tests, throttled_setup, database_teardown);
}
