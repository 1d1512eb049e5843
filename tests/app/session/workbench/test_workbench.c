/* The workbench as a screen drives it: nothing before it runs, toggles while it runs, refusals, undo, and going back. */
#include "tests/app/session/workbench/await.h"

static int64_t runs_count(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    fclose(file);
    return database_int(path, "SELECT count(*) FROM run");
}

static void nothing_is_opened_before_it_runs(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    bench_await_state(&bench, MGB_BENCH_READY);
    assert_ok(bench_toggle(&bench, MGB_OPTION_WEIGHTS_AT, 1));
    assert_ok(bench_ask(&bench, MGB_WISH_PAUSE, NULL));
    bench_await_state(&bench, MGB_BENCH_READY);
    const struct mgb_snapshot *snapshot = mgb_workbench_look(bench.at, NULL);
    assert_non_null(snapshot->facts);
    assert_string_equal(snapshot->facts->options[MGB_OPTION_WEIGHTS_AT].asked, "/cpu:0");
    assert_int_equal(snapshot->now.number, 0);
    assert_false(snapshot->recorded);
    mgb_shared_drop(snapshot);
    bench_close(&bench);
    assert_int_equal(runs_count(*state), 0);
}

static void losses_read(char *out, size_t size, const char *path, int64_t run, int64_t steps)
{
    char query[400];
    snprintf(
        query, sizeof query,
        "SELECT group_concat(loss, ' ') FROM (SELECT printf('%%!.17g', loss) AS loss FROM step "
        "WHERE segment_id IN (SELECT id FROM segment WHERE run_id = %lld) ORDER BY step LIMIT "
        "%lld)",
        (long long)run, (long long)steps);
    database_text(out, size, path, query);
}

static void toggles_while_it_runs_leave_losses_as_they_are(void **state)
{
    struct bench bench;
    char toggled[1 << 15], plain[1 << 15];
    bench_open_running(&bench, *state);
    assert_ok(bench_toggle(&bench, MGB_OPTION_WEIGHTS_AT, 1));
    bench_await_segment(&bench, 2);
    assert_ok(bench_toggle(&bench, MGB_OPTION_MERGE_AT, 1));
    bench_await_segment(&bench, 3);
    assert_ok(bench_ask(&bench, MGB_WISH_UNDO, NULL));
    bench_await_segment(&bench, 4);
    bench_await_steps(&bench, 40);
    bench_close(&bench);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run"), 1);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM segment"), 4);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run WHERE outcome = 'ok'"), 1);

    bench_open(&bench, *state);
    assert_ok(bench_ask(&bench, MGB_WISH_RUN, NULL));
    bench_await_steps(&bench, 40);
    bench_close(&bench);
    losses_read(toggled, sizeof toggled, *state, 1, 40);
    losses_read(plain, sizeof plain, *state, 2, 40);
    assert_int_not_equal(strlen(plain), 0);
    assert_string_equal(toggled, plain);
}

/* While an expression runs wishes wait, as they do while a step does. */
static void changes_that_wait_are_one_segment(void **state)
{
    struct bench bench;
    struct mgb_pending pending;
    bench_open_running(&bench, *state);
    bench_pause(&bench);
    assert_ok(bench_ask(&bench, MGB_WISH_EVAL, "for i = 1, 3e7 do end"));
    bench_await_busy(&bench);
    assert_ok(bench_toggle(&bench, MGB_OPTION_WEIGHTS_AT, 1));
    assert_ok(bench_toggle(&bench, MGB_OPTION_BATCH, 1));
    assert_ok(bench_toggle(&bench, MGB_OPTION_BATCH, 1));
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "merge_at=/gpu:0 staged=true"));
    mgb_shared_drop(mgb_workbench_look(bench.at, &pending));
    assert_true(pending.options & UINT64_C(1) << MGB_OPTION_BATCH);
    assert_string_equal(pending.value[MGB_OPTION_BATCH], "16"); /* of what is wanted by then */
    assert_int_equal(pending.wishes, 5);
    assert_ok(bench_ask(&bench, MGB_WISH_RUN, NULL));
    bench_await_segment(&bench, 2);
    bench_close(&bench);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM segment"), 2);
}

/* Two keys, one after the other: there is still a measured value to hold the new one against. */
static void a_segment_left_in_its_warm_up_does_not_push_out_the_measured_one(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    assert_ok(bench_ask(&bench, MGB_WISH_RUN, NULL));
    bench_await_steps(&bench, 20);
    bench_pause(&bench);
    assert_ok(bench_toggle(&bench, MGB_OPTION_WEIGHTS_AT, 1));
    bench_await_state(&bench, MGB_BENCH_PAUSED);
    assert_ok(bench_toggle(&bench, MGB_OPTION_MERGE_AT, 1));
    bench_await_state(&bench, MGB_BENCH_PAUSED);
    const struct mgb_snapshot *snapshot = mgb_workbench_look(bench.at, NULL);
    assert_int_equal(snapshot->now.number, 3);
    assert_int_equal(snapshot->before.number, 1);
    assert_true(snapshot->before.figures.steps > 0);
    mgb_shared_drop(snapshot);
    bench_close(&bench);
}

static void one_refused_change_among_others_is_left_out(void **state)
{
    struct bench bench;
    char message[600];
    bench_open_running(&bench, *state);
    bench_pause(&bench);
    assert_ok(bench_ask(&bench, MGB_WISH_EVAL, "for i = 1, 3e7 do end"));
    bench_await_busy(&bench);
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "weights_at=/cpu:0"));
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "precision=bf16"));
    bench_message(&bench, message, sizeof message);
    assert_non_null(strstr(message, "precision"));
    const struct mgb_snapshot *snapshot = mgb_workbench_look(bench.at, NULL);
    assert_string_equal(snapshot->facts->options[MGB_OPTION_WEIGHTS_AT].asked, "/cpu:0");
    assert_string_equal(snapshot->facts->options[MGB_OPTION_PRECISION].asked, "");
    assert_int_equal(snapshot->undo_count, 1); /* the refused one is no change */
    mgb_shared_drop(snapshot);
    bench_close(&bench);
}

static void undo_takes_back_several_options_at_once(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    bench_await_state(&bench, MGB_BENCH_READY);
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "global_batch=64 weights_at=/cpu:0 merge_at=/gpu:0"));
    bench_await_state(&bench, MGB_BENCH_READY);
    assert_ok(bench_ask(&bench, MGB_WISH_RUN, NULL));
    bench_await_segment(&bench, 1);
    assert_ok(bench_ask(&bench, MGB_WISH_UNDO, NULL));
    bench_await_segment(&bench, 2);
    const struct mgb_snapshot *snapshot = mgb_workbench_look(bench.at, NULL);
    assert_string_equal(snapshot->facts->options[MGB_OPTION_BATCH].asked, "4");
    assert_string_equal(snapshot->facts->options[MGB_OPTION_GLOBAL_BATCH].asked, "");
    assert_string_equal(snapshot->facts->options[MGB_OPTION_WEIGHTS_AT].asked, "");
    assert_int_equal(snapshot->undo_count, 0);
    mgb_shared_drop(snapshot);
    assert_status(bench_ask(&bench, MGB_WISH_UNDO, NULL), MGB_INVALID);
    bench_close(&bench);
}

static void a_strategy_and_what_it_parks_go_and_come_back(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    bench_await_state(&bench, MGB_BENCH_READY);
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "weights_at=/cpu:0"));
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "strategy=allreduce"));
    assert_ok(bench_ask(&bench, MGB_WISH_RUN, NULL));
    bench_await_segment(&bench, 1);
    assert_status(bench_toggle(&bench, MGB_OPTION_WEIGHTS_AT, 1), MGB_INVALID);
    assert_message("n/a under allreduce");
    assert_ok(bench_ask(&bench, MGB_WISH_UNDO, NULL));
    bench_await_segment(&bench, 2);
    const struct mgb_snapshot *snapshot = mgb_workbench_look(bench.at, NULL);
    assert_string_equal(snapshot->facts->options[MGB_OPTION_WEIGHTS_AT].effective, "/cpu:0");
    mgb_shared_drop(snapshot);
    bench_close(&bench);
}

static void out_of_memory_says_what_is_missing_and_the_last_placement_goes_on(void **state)
{
    struct bench bench;
    char message[600];
    bench_open_running(&bench, *state);
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "gpu_memory=4KiB"));
    bench_message(&bench, message, sizeof message);
    assert_non_null(strstr(message, "out of memory on /"));
    assert_non_null(strstr(message, "needed"));
    assert_non_null(strstr(message, "available"));
    const struct mgb_snapshot *snapshot = mgb_workbench_look(bench.at, NULL);
    assert_int_equal(snapshot->state, MGB_BENCH_RUNNING);
    assert_int_equal(snapshot->now.number, 1);
    int64_t steps = snapshot->step;
    mgb_shared_drop(snapshot);
    bench_await_steps(&bench, steps + 5);
    bench_close(&bench);
}

static void an_opening_out_of_memory_stays_ready(void **state)
{
    struct bench bench;
    char message[600];
    bench_open(&bench, *state);
    bench_await_state(&bench, MGB_BENCH_READY);
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "gpu_memory=4KiB"));
    assert_ok(bench_ask(&bench, MGB_WISH_RUN, NULL));
    bench_message(&bench, message, sizeof message);
    assert_non_null(strstr(message, "out of memory"));
    bench_await_state(&bench, MGB_BENCH_READY);
    assert_ok(bench_ask(&bench, MGB_WISH_UNDO, NULL));
    assert_ok(bench_ask(&bench, MGB_WISH_MODEL, "no_such_model"));
    assert_ok(bench_ask(&bench, MGB_WISH_RUN, NULL));
    bench_await_segment(&bench, 1);
    const struct mgb_snapshot *snapshot = mgb_workbench_look(bench.at, NULL);
    assert_string_equal(snapshot->message, ""); /* what was refused before it began is over */
    mgb_shared_drop(snapshot);
    bench_close(&bench);
}

static bool has_run(const struct mgb_snapshot *snapshot, const struct mgb_pending *pending,
                    int64_t run)
{
    (void)pending;
    return snapshot->now.run_id == run && snapshot->now.figures.steps > 0;
}

static void another_model_ends_the_run_and_a_wrong_one_does_not(void **state)
{
    struct bench bench;
    char message[600];
    bench_open_running(&bench, *state);
    assert_ok(bench_ask(&bench, MGB_WISH_MODEL, "no_such_model"));
    bench_message(&bench, message, sizeof message);
    assert_non_null(strstr(message, "no_such_model"));
    bench_pause(&bench); /* still the same run */
    assert_ok(bench_ask(&bench, MGB_WISH_RUN, NULL));
    assert_ok(bench_ask(&bench, MGB_WISH_MODEL, "mlp hidden=8 height=4 width=4"));
    bench_await_log(&bench, "its weights are gone");
    mgb_shared_drop(bench_await(&bench, has_run, 2, "a second run"));
    bench_close(&bench);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run WHERE outcome = 'ok'"), 2);
}

static void read_only_runs_nothing(void **state)
{
    struct bench bench;
    struct mgb_workbench_options options = bench_options(&bench, *state);
    options.readonly = true;
    bench_open_with(&bench, &options);
    assert_status(bench_ask(&bench, MGB_WISH_RUN, NULL), MGB_INVALID);
    assert_message("readonly");
    bench_close(&bench);
}

static void a_point_is_gone_on_at_after_a_crash(void **state)
{
    struct bench bench, again;
    bench_open(&bench, *state);
    bench_await_state(&bench, MGB_BENCH_READY);
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "weights_at=/cpu:0 batch=2"));
    assert_ok(bench_ask(&bench, MGB_WISH_RUN, NULL));
    bench_await_segment(&bench, 1);
    bench_pause(&bench);
    bench_close(&bench);
    assert_string_not_equal(bench.point, "");

    struct mgb_workbench_options options = bench_options(&again, *state);
    options.model = NULL;
    options.words = NULL;
    options.resume = bench.point;
    bench_open_with(&again, &options);
    bench_await_state(&again, MGB_BENCH_READY);
    const struct mgb_snapshot *snapshot = mgb_workbench_look(again.at, NULL);
    assert_string_equal(snapshot->facts->model, "mlp");
    assert_string_equal(snapshot->facts->options[MGB_OPTION_WEIGHTS_AT].asked, "/cpu:0");
    assert_string_equal(snapshot->facts->options[MGB_OPTION_BATCH].asked, "2");
    mgb_shared_drop(snapshot);
    bench_close(&again);
}

static void closing_ends_a_run_in_its_midst(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    assert_ok(bench_ask(&bench, MGB_WISH_RUN, NULL));
    bench_await_steps(&bench, 2);
    assert_ok(bench_ask(&bench, MGB_WISH_TAG, "kept"));
    assert_ok(bench_ask(&bench, MGB_WISH_NOTE, "as it went"));
    bench_await_log(&bench, "note of run");
    assert_true(mgb_workbench_close(bench.at, 60000));
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run WHERE outcome = 'ok'"), 1);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM tag WHERE name = 'kept'"), 1);
}

/* A command could not: the file is in use by this process. */
static void other_runs_are_labelled_while_one_is_recorded(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    for (int run = 1; run <= 2; run++) {
        assert_ok(bench_ask(&bench, MGB_WISH_RUN, NULL));
        bench_await_steps(&bench, 2);
        if (run == 1)
            assert_ok(bench_ask(&bench, MGB_WISH_END, NULL));
        if (run == 1)
            bench_await_state(&bench, MGB_BENCH_READY);
    }
    assert_ok(mgb_workbench_ask(
        bench.at, &(struct mgb_wish){.kind = MGB_WISH_TAG, .text = "older", .run = 1}));
    assert_ok(mgb_workbench_ask(
        bench.at, &(struct mgb_wish){.kind = MGB_WISH_NOTE, .text = "it was hot", .run = 1}));
    bench_await_log(&bench, "note of run 1: it was hot");
    assert_ok(mgb_workbench_ask(bench.at,
                                &(struct mgb_wish){.kind = MGB_WISH_NOTE, .text = "?", .run = 77}));
    bench_await_log(&bench, "there is no run 77");
    bench_close(&bench);
    assert_int_equal(database_int(*state, "SELECT run_id FROM tag WHERE name = 'older'"), 1);
    assert_int_equal(database_int(*state, "SELECT run_id FROM note WHERE text = 'it was hot'"), 1);
}

static void models_are_listed(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    char *models = mgb_workbench_models(bench.at, false);
    assert_non_null(models);
    assert_non_null(strstr(models, "mlp\n"));
    free(models);
    bench_close(&bench);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_opened_before_it_runs),
        TEST(toggles_while_it_runs_leave_losses_as_they_are),
        TEST(changes_that_wait_are_one_segment),
        TEST(a_segment_left_in_its_warm_up_does_not_push_out_the_measured_one),
        TEST(one_refused_change_among_others_is_left_out),
        TEST(undo_takes_back_several_options_at_once),
        TEST(a_strategy_and_what_it_parks_go_and_come_back),
        TEST(out_of_memory_says_what_is_missing_and_the_last_placement_goes_on),
        TEST(an_opening_out_of_memory_stays_ready),
        TEST(another_model_ends_the_run_and_a_wrong_one_does_not),
        TEST(read_only_runs_nothing),
        TEST(a_point_is_gone_on_at_after_a_crash),
        TEST(closing_ends_a_run_in_its_midst),
        TEST(other_runs_are_labelled_while_one_is_recorded),
        TEST(models_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
