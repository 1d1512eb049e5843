/* Words that name runs: each kind, wrong ones, and what is not there; and loading the steps of what was named. */
#include "db/select.h"

#include <stdio.h>
#include <string.h>

#include "db/load.h"
#include "db/store_private.h"
#include "tests/support/check.h"
#include "tests/support/database.h"

static int64_t segment_put(struct mgb_store *store, int64_t run, int64_t steps, int64_t first_wall)
{
    int64_t segment;
    struct mgb_record_segment row = database_segment(run);
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK};
    assert_ok(mgb_store_begin_segment(&segment, store, &row));
    for (int64_t i = 0; i < steps; i++) {
        struct mgb_record step = database_step(segment, i);
        step.step.warmup = i == 0;
        step.step.wall_ns = first_wall + i;
        assert_ok(mgb_store_put_steps(store, &step, 1));
    }
    assert_ok(mgb_store_finish_segment(NULL, store, segment, &end));
    return segment;
}

static int64_t run_put(struct mgb_store *store, int64_t steps, int segments)
{
    int64_t run;
    assert_ok(mgb_store_begin_run(&run, store, database_run()));
    for (int i = 0; i < segments; i++)
        segment_put(store, run, steps, 1000 * run + 100 * i);
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
    return run;
}

static void point_put(struct mgb_store *store, int64_t sweep, int64_t run, int64_t point,
                      int64_t repeat, const char *digest)
{
    char settings[32];
    snprintf(settings, sizeof settings, "{\"gpus\":%d}", (int)point);
    struct mgb_record_sweep_point row = {.sweep = sweep,
                                         .run = run,
                                         .point = point,
                                         .repeat = repeat,
                                         .settings = settings,
                                         .settings_digest = digest};
    assert_ok(mgb_store_put_sweep_point(store, &row));
}

/* Runs 1 (one segment), 2 (two), 3 (none), 4 to 9: a sweep of two points, resumed and with point 1 measured anew. */
static void file_fill(const char *path)
{
    struct mgb_store *store;
    int64_t first, second;
    struct mgb_record_sweep sweep = {.name = "a/b", .settings = "{\"grid\":{\"gpus\":[0,1]}}"};
    assert_ok(mgb_store_open(&store, path, NULL));
    run_put(store, 3, 1);
    run_put(store, 3, 2);
    run_put(store, 0, 0);
    for (int i = 4; i <= 9; i++)
        run_put(store, 3, 1);
    assert_ok(mgb_store_begin_sweep(&first, store, &sweep));
    assert_ok(mgb_store_begin_sweep(&second, store, &sweep));
    point_put(store, first, 4, 0, 0, "zero");
    point_put(store, first, 5, 0, 1, "zero");
    point_put(store, first, 6, 1, 0, "one");
    point_put(store, second, 7, 1, 1, "one again");
    point_put(store, second, 8, 1, 0, "one again");
    point_put(store, second, 9, 0, 0, "zero");
    assert_ok(mgb_store_put_tag(store, 1, "good"));
    assert_ok(mgb_store_put_tag(store, 3, "good"));
    assert_ok(mgb_store_set_baseline(store, "base", 2));
    assert_ok(mgb_store_set_baselines(store, "several", (const int64_t[]){8, 2, 1}, 3));
    assert_ok(mgb_store_set_baselines(store, "several", (const int64_t[]){9, 2, 4}, 3));
    mgb_store_close(store);
}

static int setup(void **state)
{
    int code = database_setup(state);
    if (code == 0)
        file_fill(*state);
    return code;
}

/* "run.segment run.segment": what `words` name; segments by their row numbers. */
static void selected(char out[256], const char *path, const char *words)
{
    struct mgb_reader *reader;
    struct mgb_selection s;
    size_t used = 0;
    assert_ok(mgb_reader_open(&reader, path));
    assert_ok(mgb_select(&s, reader, words));
    for (size_t i = 0; i < s.count; i++)
        used += (size_t)snprintf(out + used, 256 - used, "%s%d.%d", i ? " " : "",
                                 (int)s.segments[i].run, (int)s.segments[i].segment);
    mgb_selection_done(&s);
    mgb_reader_close(reader);
}

static void refused(const char *path, const char *words, enum mgb_status wanted, const char *said)
{
    struct mgb_reader *reader;
    struct mgb_selection s;
    assert_ok(mgb_reader_open(&reader, path));
    assert_int_equal(mgb_select(&s, reader, words), wanted);
    if (!strstr(mgb_message_get(), said))
        fail_msg("'%s' does not say '%s'", mgb_message_get(), said);
    assert_int_equal(s.count, 0);
    mgb_reader_close(reader);
}

static void a_number_is_the_last_segment_of_a_run_with_figures(void **state)
{
    char out[256];
    selected(out, *state, "1");
    assert_string_equal(out, "1.1");
    selected(out, *state, "2");
    assert_string_equal(out, "2.3");
    selected(out, *state, "2.1");
    assert_string_equal(out, "2.2");
    selected(out, *state, "3"); /* refused before it began: a run, but no segment */
    assert_string_equal(out, "3.0");
}

static void a_range_is_the_runs_that_there_are_in_it(void **state)
{
    char out[256];
    selected(out, *state, "7-99");
    assert_string_equal(out, "7.7 8.8 9.9");
    selected(out, *state, "1-2,9-9");
    assert_string_equal(out, "1.1 2.3 9.9");
    refused(*state, "9-7", MGB_INVALID, "from the lower number to the higher");
    refused(*state, "20-30", MGB_MISSING, "no run between these numbers");
    refused(*state, "2-", MGB_INVALID, "names no run");
}

static void a_bare_name_is_asked_back_as_what_it_is_the_name_of(void **state)
{
    refused(*state, "base", MGB_INVALID, "'base' names no run; did you mean baseline:base?");
    refused(*state, "good", MGB_INVALID, "did you mean tag:good?");
    refused(*state, "a/b", MGB_INVALID, "did you mean sweep:a/b?");
}

static void last_counts_back_from_the_newest(void **state)
{
    char out[256];
    selected(out, *state, "last");
    assert_string_equal(out, "9.9");
    selected(out, *state, "last~8");
    assert_string_equal(out, "1.1");
    refused(*state, "last~9", MGB_MISSING, "there are 9 runs, the newest is 9");
}

static void names_stand_for_what_was_given_them(void **state)
{
    char out[256];
    selected(out, *state, "tag:good");
    assert_string_equal(out, "1.1 3.0");
    selected(out, *state, "baseline:base");
    assert_string_equal(out, "2.2");
    selected(out, *state, "baseline:several");
    assert_string_equal(out, "2.2 4.4 9.9");
    refused(*state, "tag:bad", MGB_MISSING, "there is no tag 'bad'; there is good");
    refused(*state, "baseline:x", MGB_MISSING, "there is no baseline 'x'; there are base, several");
    refused(*state, "sweep:x", MGB_MISSING, "there is no sweep 'x'; there is a/b");
}

static void change(const char *path, const char *sql)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, path, NULL));
    assert_ok(mgb_sql_run(&store->sql, sql));
    mgb_store_close(store);
}

/* After a merge the numbers of runs do not follow their times. */
static void the_last_run_is_the_one_started_last_and_no_selftest(void **state)
{
    char out[256];
    change(*state, "UPDATE run SET started_ms = 100 - id");
    selected(out, *state, "last");
    assert_string_equal(out, "1.1");
    change(*state, "INSERT INTO tag VALUES (1, 'selftest')");
    selected(out, *state, "last");
    assert_string_equal(out, "2.3");
    selected(out, *state, "tag:selftest");
    assert_string_equal(out, "1.1");
    change(*state, "INSERT INTO tag VALUES (2, 'verify')");
    selected(out, *state, "last");
    assert_string_equal(out, "3.0");
}

static void remark_is(const char *path, const char *words, const char *wanted)
{
    struct mgb_reader *reader;
    char got[300];
    assert_ok(mgb_reader_open(&reader, path));
    assert_ok(mgb_select_remark(got, sizeof got, reader, words));
    assert_string_equal(got, wanted);
    mgb_reader_close(reader);
}

static void a_sweep_that_was_defined_anew_is_its_newest_definition(void **state)
{
    char out[256];
    remark_is(*state, "sweep:a/b,1", "");
    /* Row 3, other common options: point 0 only. Row 4, another grid, never reached a point. */
    change(*state,
           "INSERT INTO sweep (name, started_ms, settings) VALUES ('a/b', 1, "
           "'{\"grid\":{\"gpus\":[0,1]},\"common\":{\"steps\":9}}'), ('a/b', 2, '{\"grid\":{}}');"
           "INSERT INTO sweep_point (sweep_id, run_id, point, repeat, position, settings, "
           "settings_digest) VALUES (3, 1, 0, 0, 0, '{\"gpus\":0}', 'other')");
    selected(out, *state, "sweep:a/b");
    assert_string_equal(out, "1.1");
    selected(out, *state, "sweep:a/b@2/1");
    assert_string_equal(out, "8.8 7.7");
    refused(*state, "sweep:a/b/1", MGB_MISSING, "no point 1; its points are 0 to 0");
    refused(*state, "sweep:a/b@9", MGB_MISSING, "no sweep 'a/b' with points has the id 9");
    remark_is(*state, "1,sweep:a/b/0",
              "sweep 'a/b' was defined 2 times; these are the points of the newest (id 3); the "
              "other: sweep:a/b@2");
    remark_is(*state, "sweep:a/b@2", "");
    change(*state, "DELETE FROM sweep_point");
    refused(*state, "sweep:a/b", MGB_MISSING, "the sweep has no runs, or they were deleted");
    refused(*state, "sweep:x", MGB_MISSING, "there is no sweep 'x', nor any other");
}

static void a_resumed_sweep_is_one_sweep_by_its_newest_measurements(void **state)
{
    char out[256];
    selected(out, *state, "sweep:a/b");
    assert_string_equal(out, "9.9 5.5 8.8 7.7");
    selected(out, *state, "sweep:a/b/1");
    assert_string_equal(out, "8.8 7.7");
    refused(*state, "sweep:a/b/2", MGB_MISSING, "no point 2; its points are 0 to 1");
    refused(*state, "sweep:x/2", MGB_MISSING, "there is no sweep 'x'");
}

static void points_know_their_place(void **state)
{
    struct mgb_reader *reader;
    struct mgb_selection s;
    assert_ok(mgb_reader_open(&reader, *state));
    assert_ok(mgb_select(&s, reader, "sweep:a/b,1"));
    assert_int_equal(s.count, 5);
    assert_int_equal(s.segments[3].point, 1);
    assert_int_equal(s.segments[3].repeat, 1);
    assert_int_equal(s.segments[4].point, -1);
    mgb_selection_done(&s);
    mgb_reader_close(reader);
}

static void a_list_has_nothing_twice(void **state)
{
    char out[256];
    selected(out, *state, "1,2,last,tag:good,1,2.1");
    assert_string_equal(out, "1.1 2.3 9.9 3.0 2.2");
}

static void wrong_words_are_told_from_missing_runs(void **state)
{
    static const char *const words[] = {
        "",   "x",     "-1",    "1.",     "1.x",    "1.2.3",  "1x", "tag:", "1,,2",
        "1,", "lasts", "last~", "last~x", "last-1", "sweep:", " 1", "1.0",  "9999999999999999999"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        refused(*state, words[i], MGB_INVALID, "");
    refused(*state, "tags:x", MGB_INVALID, MGB_SELECT_WORDS);
    refused(*state, "10", MGB_MISSING, "there is no such run; there are 9 runs");
    refused(*state, "10.1", MGB_MISSING, "there is no such run; there are 9 runs");
    refused(*state, "2.3", MGB_MISSING, "run 2 has 2 segments");
    refused(*state, "1,10", MGB_MISSING, "10: there is no such run");
}

static void one_run_is_not_several(void **state)
{
    struct mgb_reader *reader;
    struct mgb_selected one;
    assert_ok(mgb_reader_open(&reader, *state));
    assert_ok(mgb_select_one(&one, reader, "last~7"));
    assert_int_equal(one.segment, 3);
    assert_int_equal(mgb_select_one(&one, reader, "1,2"), MGB_INVALID);
    mgb_reader_close(reader);
}

static void steps_are_loaded_without_the_warm_up_in_order(void **state)
{
    struct mgb_reader *reader;
    struct mgb_loaded_side side;
    assert_ok(mgb_reader_open(&reader, *state));
    assert_ok(mgb_side_load(&side, reader, (const int64_t[]){3, 1}, 2));
    assert_int_equal(side.side.count, 2);
    assert_int_equal(side.side.repetitions[0].count, 2);
    assert_int_equal(side.side.repetitions[0].wall_ns[0], 2101);
    assert_int_equal(side.side.repetitions[0].wall_ns[1], 2102);
    assert_int_equal(side.side.repetitions[1].wall_ns[0], 1001);
    assert_true(side.side.repetitions[1].steady);
    mgb_side_done(&side);
    assert_ok(mgb_side_load_per_example(&side, reader, (const int64_t[]){1}, 1));
    assert_int_equal(side.side.repetitions[0].wall_ns[0], 15641); /* 1001 ns / 64, in ps */
    mgb_side_done(&side);
    assert_int_equal(mgb_side_load(&side, reader, (const int64_t[]){1, 99}, 2), MGB_MISSING);
    mgb_reader_close(reader);
}

int main(void)
{
#define IN_FILE(test) cmocka_unit_test_setup_teardown(test, setup, database_teardown)
    const struct CMUnitTest tests[] = {
        IN_FILE(a_number_is_the_last_segment_of_a_run_with_figures),
        IN_FILE(last_counts_back_from_the_newest),
        IN_FILE(a_range_is_the_runs_that_there_are_in_it),
        IN_FILE(a_bare_name_is_asked_back_as_what_it_is_the_name_of),
        IN_FILE(names_stand_for_what_was_given_them),
        cmocka_unit_test_setup_teardown(the_last_run_is_the_one_started_last_and_no_selftest, setup,
                                        database_teardown),
        cmocka_unit_test_setup_teardown(a_sweep_that_was_defined_anew_is_its_newest_definition,
                                        setup, database_teardown),
        IN_FILE(a_resumed_sweep_is_one_sweep_by_its_newest_measurements),
        IN_FILE(points_know_their_place),
        IN_FILE(a_list_has_nothing_twice),
        IN_FILE(wrong_words_are_told_from_missing_runs),
        IN_FILE(one_run_is_not_several),
        IN_FILE(steps_are_loaded_without_the_warm_up_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
