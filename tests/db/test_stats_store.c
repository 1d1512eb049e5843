/* What is stored when a segment ends: warm-up by rule, steadiness, outliers with causes, the first step explained.
 * (reference/ecosystem.md, rows 5 and 6 of section 2.) */
#include "tests/support/check.h"

#include "db/steady.h"
#include "db/store.h"
#include "tests/support/database.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MS 1000000

enum { MOST = 5200 };

static struct mgb_store *store;
static int64_t run, segment;
static int64_t walls[MOST];

static int stats_setup(void **state)
{
    if (database_setup(state) != 0)
        return -1;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_store_begin_run(&run, store, database_run()));
    return 0;
}

static int stats_teardown(void **state)
{
    mgb_store_close(store); /* NULL is allowed */
    return database_teardown(state);
}

static void segment_begin(const char *rule, int64_t first_step)
{
    struct mgb_record_segment record = database_segment(run);
    record.warmup_rule = rule;
    record.first_step = first_step;
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
}

/* Steps of `walls`, back to back, numbered from `first_step`, the first `flagged` of them warm-up. */
static void steps_put(int count, int flagged, int64_t first_step)
{
    static struct mgb_record records[MOST];
    int64_t start_ns = 0;
    for (int i = 0; i < count; i++) {
        records[i] = database_step(segment, first_step + i);
        records[i].step.start_ns = start_ns;
        records[i].step.wall_ns = walls[i];
        records[i].step.warmup = i < flagged;
        start_ns += walls[i];
    }
    assert_ok(mgb_store_put_steps(store, records, (size_t)count));
}

static void device_put(int64_t step, const char *device, enum mgb_phase phase, int64_t exposed_ns)
{
    struct mgb_record record = {
        .kind = MGB_RECORD_STEP_DEVICE,
        .step_device = {.segment = segment, .step = step, .device = device}};
    record.step_device.exposed_ns[MGB_PHASE_FORWARD] = 40 * MS;
    record.step_device.exposed_ns[phase] = exposed_ns;
    assert_ok(mgb_store_put_steps(store, &record, 1));
}

static void sample_put(int64_t at_ns, const char *throttle)
{
    struct mgb_record record = {.kind = MGB_RECORD_SAMPLE,
                                .sample = {.run = run,
                                           .segment = segment,
                                           .device = "/gpu:0",
                                           .at_ns = at_ns,
                                           .throttle = throttle}};
    assert_ok(mgb_store_put_steps(store, &record, 1));
}

static struct mgb_record_segment_stat finish(const struct mgb_record_segment_end *end)
{
    struct mgb_record_segment_stat stat;
    assert_ok(mgb_store_finish_segment(&stat, store, segment, end));
    return stat;
}

static void walls_fill(int count, int64_t ns)
{
    for (int i = 0; i < count; i++)
        walls[i] = ns;
}

static void expect_text(void **state, const char *query, const char *wanted)
{
    char got[512];
    assert_string_equal(database_text(got, sizeof got, *state, query), wanted);
}

static const struct mgb_record_segment_end ok = {.outcome = MGB_OUTCOME_OK};

static void the_rule_relabels_the_steps(void **state)
{
    for (int i = 0; i < 400; i++)
        walls[i] = llrint(100e6 * (1 + exp(-i / 15.0)));
    int64_t wanted = (int64_t)mgb_steady_find(walls, 400).warmup_steps;
    assert_true(wanted > 11);
    segment_begin("auto", 1000);
    steps_put(400, 10, 1000);
    struct mgb_record_segment_stat stat = finish(&ok);
    assert_int_equal(stat.warmup_steps, wanted);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step WHERE warmup = 1"), wanted);
    assert_int_equal(database_int(*state, "SELECT max(step) FROM step WHERE warmup = 1"),
                     1000 + wanted - 1);
    assert_int_equal(database_int(*state, "SELECT warmup_steps FROM segment"), wanted);
    assert_int_equal(database_int(*state, "SELECT steady = 1 AND warmup_rule = 'auto' AND "
                                          "not_steady IS NULL AND noise > 0 FROM run_summary"),
                     1);
    assert_int_equal(database_int(*state, "SELECT v.timed_ns = s.timed_ns FROM step_stats AS v "
                                          "JOIN segment_stat AS s USING (segment_id)"),
                     1);
}

static void flags_that_were_too_many_are_taken_back(void **state)
{
    walls_fill(600, 10 * MS);
    walls[0] = 5000LL * MS; /* not on the warm-up's clock */
    segment_begin("fixed", 0);
    steps_put(600, 300, 0);
    struct mgb_record_segment_end end = ok;
    end.auto_warmup = true;
    assert_int_equal(finish(&end).warmup_steps, 101);
    assert_int_equal(database_int(*state, "SELECT sum(warmup) FROM step"), 101);
    assert_int_equal(database_int(*state, "SELECT max(step) FROM step WHERE warmup = 1"), 100);
    expect_text(state, "SELECT warmup_rule FROM segment", "auto");
}

/* Nobody finished it: closing the file does, and knows the rule from the segment. */
static void a_segment_cut_short_is_relabelled_too(void **state)
{
    walls_fill(600, 10 * MS);
    segment_begin("auto", 0);
    steps_put(600, 10, 0);
    mgb_store_close(store);
    store = NULL;
    assert_int_equal(database_int(*state, "SELECT sum(warmup) FROM step"), 101);
    expect_text(state, "SELECT outcome FROM segment", "interrupted");
}

static void a_segment_that_never_settles_says_so(void **state)
{
    for (int i = 0; i < 400; i++)
        walls[i] = 100 * MS + i * MS;
    segment_begin("auto", 0);
    steps_put(400, 10, 0);
    struct mgb_record_segment_end end = ok;
    end.stop_reason = "time";
    end.ring_waits = MGB_KNOWN_INT(3);
    struct mgb_record_segment_stat stat = finish(&end);
    assert_true(stat.steady.known && !stat.steady.value);
    assert_int_equal(database_int(*state, "SELECT steady = 0 AND not_steady LIKE '%drift%' AND "
                                          "stop_reason = 'time' AND steps = 300 FROM run_summary"),
                     1);
    assert_int_equal(database_int(*state, "SELECT ring_waits FROM segment"), 3);
    assert_int_equal(database_int(*state, "SELECT drift > 0.3 FROM segment_stat"), 1);
}

static void a_short_fixed_segment_is_not_judged_unless_told(void **state)
{
    walls_fill(30, 10 * MS);
    segment_begin("fixed", 0);
    steps_put(30, 2, 0);
    assert_false(finish(&ok).steady.known);
    struct mgb_record_segment_end end = ok;
    end.steady = MGB_KNOWN_INT(1);
    segment_begin("fixed", 30);
    steps_put(30, 2, 30);
    assert_int_equal(finish(&end).steady.value, 1);
    expect_text(state, "SELECT group_concat(coalesce(steady, '?')) FROM segment_stat", "?,1");
}

/* ecosystem.md 6.3 row 15. */
static void constant_times_have_no_outliers(void **state)
{
    walls_fill(100, 10 * MS);
    walls[40] += 700; /* below what the clock resolves */
    segment_begin("fixed", 0);
    steps_put(100, 0, 0);
    finish(&ok);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM outlier"), 0);
    assert_int_equal(database_int(*state, "SELECT outliers_mild + outliers_far FROM run_summary"),
                     0);
    assert_int_equal(database_int(*state, "SELECT cause IS NULL FROM first_step"), 1);
}

static void the_slow_step_of_four_is_shown(void **state)
{
    walls_fill(4, 100 * MS);
    walls[3] = 200 * MS;
    segment_begin("fixed", 0);
    steps_put(4, 0, 0);
    finish(&ok);
    assert_int_equal(database_int(*state, "SELECT examples_per_s = 512 AND outliers_mild + "
                                          "outliers_far = 1 FROM run_summary"),
                     1);
    expect_text(state, "SELECT step || ' ' || side || ' ' || ratio FROM outlier", "3 high 2.0");
    assert_int_equal(database_int(*state, "SELECT cause IS NULL FROM outlier"), 1);
}

/* 40 steps of 100 ms; steps 20 and 30 are long. Two devices: one sums, the other waits for it. */
static void long_steps_begin(void)
{
    walls_fill(40, 100 * MS);
    walls[20] = walls[30] = 150 * MS;
    segment_begin("fixed", 0);
    steps_put(40, 0, 0);
    for (int i = 0; i < 40; i++) {
        device_put(i, "/gpu:1", MGB_PHASE_WAIT, i == 20 ? 71 * MS : 20 * MS);
        device_put(i, "/cpu:0", MGB_PHASE_SUM, i == 20 ? 62 * MS + MS / 4 : 12 * MS);
    }
}

static void an_outlier_names_the_phase_that_grew_not_who_waited_for_it(void **state)
{
    long_steps_begin();
    finish(&ok);
    expect_text(state,
                "SELECT group_concat(step || ': ' || coalesce(cause, 'not known'), ', ') FROM "
                "outlier",
                "20: sum on /cpu:0 +50.3 ms, 30: not known");
}

static void a_throttled_outlier_says_so_first(void **state)
{
    long_steps_begin();
    sample_put(500 * MS, "");
    sample_put(2100 * MS, "thermal");
    finish(&ok);
    expect_text(state, "SELECT cause FROM outlier WHERE step = 20",
                "throttle: thermal on /gpu:0; sum on /cpu:0 +50.3 ms");
}

static void a_full_ring_is_named_where_nothing_else_is(void **state)
{
    long_steps_begin();
    struct mgb_record_segment_end end = ok;
    end.ring_waits = MGB_KNOWN_INT(7);
    finish(&end);
    expect_text(state, "SELECT cause FROM outlier WHERE step = 30",
                "no phase grew; steps waited for the recorder 7x");
}

static void a_step_that_was_short_names_what_shrank(void **state)
{
    walls_fill(40, 100 * MS);
    walls[20] = 70 * MS;
    segment_begin("fixed", 0);
    steps_put(40, 0, 0);
    for (int i = 0; i < 40; i++)
        device_put(i, "/gpu:0", MGB_PHASE_INPUT, i == 20 ? 0 : 30 * MS);
    finish(&ok);
    expect_text(state, "SELECT side || ' ' || far || ' ' || cause FROM outlier",
                "low 1 input on /gpu:0 -30.0 ms");
}

static void of_many_outliers_the_farthest_are_kept_and_all_are_counted(void **state)
{
    enum { count = 5200, slow = 1010 };
    for (int i = 0; i < count; i++)
        walls[i] = 10 * MS + i % 100 * 10000; /* some spread, so that there are fences */
    for (int i = 0; i < slow; i++)
        walls[i * 5] = 30 * MS + i * 1000;
    segment_begin("fixed", 0);
    steps_put(count, 0, 0);
    struct mgb_record_segment_stat stat = finish(&ok);
    assert_int_equal(stat.outliers_mild.value + stat.outliers_far.value, slow);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM outlier"), 1000);
    assert_int_equal(database_int(*state, "SELECT min(step) FROM outlier"), 5 * (slow - 1000));
    finish(&ok); /* finished again, they are not there twice */
    assert_int_equal(database_int(*state, "SELECT count(*) FROM outlier"), 1000);
}

static void the_first_step_is_explained(void **state)
{
    walls_fill(40, 100 * MS);
    walls[0] = 810 * MS;
    segment_begin("fixed", 5);
    steps_put(40, 1, 5);
    for (int i = 0; i < 40; i++)
        device_put(5 + i, "/gpu:0", MGB_PHASE_BACKWARD, i == 0 ? 750 * MS : 50 * MS);
    finish(&ok);
    expect_text(state,
                "SELECT step || ' ' || step_ms || ' ' || ratio || ' ' || cause FROM first_step",
                "5 810.0 8.1 backward on /gpu:0 +700.0 ms");
}

static void traced_memory_and_what_tasks_wait_for_come_back(void **state)
{
    struct mgb_record_task_memory rows[3] = {{"/gpu:0", MGB_MEMORY_WEIGHTS, 0, 10},
                                             {"/gpu:0", MGB_MEMORY_WEIGHTS, 5, 20},
                                             {"/gpu:0", MGB_MEMORY_WEIGHTS, 5, 30}};
    struct mgb_record tasks[2] = {
        {.kind = MGB_RECORD_TASK,
         .task = {
             .segment = segment, .device = "/gpu:0", .queue = "q", .kind = "copy", .name = "a"}}};
    segment_begin("fixed", 0);
    assert_ok(mgb_store_put_task_memory(store, segment, 1, rows, 2));
    assert_ok(mgb_store_put_task_memory(store, segment, 2, rows, 3));
    assert_ok(mgb_store_put_task_memory(store, segment, 1, rows, 1));
    expect_text(
        state,
        "SELECT group_concat(step || ' ' || category || ' ' || at_ns || ' ' || bytes, ', ') "
        "FROM task_memory",
        "1 weights 0 10, 2 weights 0 10, 2 weights 5 30");
    tasks[0].task.segment = segment;
    tasks[1] = tasks[0];
    tasks[1].task.task = 1;
    tasks[1].task.waits_for = "[0]";
    assert_ok(mgb_store_put_steps(store, tasks, 2));
    expect_text(state,
                "SELECT group_concat(coalesce(task, '?') || ' ' || coalesce(waits_for, '?'), ', ') "
                "FROM task",
                "? ?, 1 [0]");
}

static void what_was_asked_of_measuring_is_kept(void **state)
{
    struct mgb_record_segment record = database_segment(run);
    record.target_noise = MGB_KNOWN_REAL(0.01);
    record.max_time_ns = MGB_KNOWN_INT(60LL * 1000 * MS);
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
    expect_text(state, "SELECT target_noise || ' ' || max_time_ns FROM segment",
                "0.01 60000000000");
}

#define STATS_TEST(name) cmocka_unit_test_setup_teardown(name, stats_setup, stats_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STATS_TEST(the_rule_relabels_the_steps),
        STATS_TEST(flags_that_were_too_many_are_taken_back),
        STATS_TEST(a_segment_cut_short_is_relabelled_too),
        STATS_TEST(a_segment_that_never_settles_says_so),
        STATS_TEST(a_short_fixed_segment_is_not_judged_unless_told),
        STATS_TEST(constant_times_have_no_outliers),
        STATS_TEST(the_slow_step_of_four_is_shown),
        STATS_TEST(an_outlier_names_the_phase_that_grew_not_who_waited_for_it),
        STATS_TEST(a_throttled_outlier_says_so_first),
        STATS_TEST(a_full_ring_is_named_where_nothing_else_is),
        STATS_TEST(a_step_that_was_short_names_what_shrank),
        STATS_TEST(of_many_outliers_the_farthest_are_kept_and_all_are_counted),
        STATS_TEST(the_first_step_is_explained),
        STATS_TEST(traced_memory_and_what_tasks_wait_for_come_back),
        STATS_TEST(what_was_asked_of_measuring_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
