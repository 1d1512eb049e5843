/* Sweeps of the workbench: what does not vary is as on the bench, and what is called the fastest is what is marked. */
#include "tests/app/session/workbench/await.h"

static bool is_swept(const struct mgb_snapshot *snapshot, const struct mgb_pending *pending,
                     int64_t unused)
{
    (void)unused;
    return snapshot->sweep && snapshot->sweep->done && pending->wishes == 0 &&
           snapshot->state == MGB_BENCH_READY;
}

/* To be dropped. */
static const struct mgb_snapshot *swept(struct bench *bench, const char *options)
{
    assert_ok(bench_ask(bench, MGB_WISH_SWEEP, options));
    return bench_await(bench, is_swept, 0, "a sweep");
}

static void segments_have(const char *path, const char *condition, int64_t count)
{
    char query[400];
    snprintf(query, sizeof query,
             "SELECT count(*) FROM sweep_point p JOIN run r ON r.id = p.run_id JOIN segment s ON "
             "s.run_id = r.id WHERE r.outcome = 'ok' AND (%s)",
             condition);
    int64_t found = database_int(path, query);
    if (found != count)
        fail_msg("%lld segments instead of %lld have %s", (long long)found, (long long)count,
                 condition);
}

static void what_does_not_vary_is_as_on_the_bench(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    assert_ok(bench_ask(&bench, MGB_WISH_SET,
                        "strategy=gradients cpu_relocation=true update_at=/gpu:0 staged=true"));
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "join_at=/cpu:0")); /* parked */
    const struct mgb_snapshot *s = swept(
        &bench, "{ name = 'm', grid = { cpu_merge = {false, true} }, steps = 5, warmup = 1 }");
    assert_int_equal(s->sweep->row_count, 2);
    for (int i = 0; i < 2; i++) {
        assert_non_null(strstr(s->sweep->rows[i].placement, "strategy=gradients"));
        assert_non_null(strstr(s->sweep->rows[i].placement, "weights_at=/cpu:0"));
        assert_non_null(strstr(s->sweep->rows[i].placement, i ? "sum_at=/cpu:0" : "sum_at=/gpu:0"));
    }
    mgb_shared_drop(s);
    bench_close(&bench);
    segments_have(*state, "1", 2);
    segments_have(*state,
                  "gpus = 2 AND batch_per_gpu = 4 AND global_batch = 8 AND strategy = 'gradients' "
                  "AND cpu_relocation = 1 AND weights_at = '/cpu:0' AND update_at = '/gpu:0' AND "
                  "staged = 1 AND threads = 1 AND join_at IS NULL",
                  2);
    segments_have(*state, "cpu_merge = 1 AND sum_at = '/cpu:0'", 1);
    segments_have(*state, "cpu_merge = 0 AND sum_at = '/gpu:0'", 1);
    segments_have(
        *state,
        "r.backend = 'host' AND (SELECT options LIKE '%\"hidden\":16%' FROM model m WHERE "
        "m.id = r.model_id)",
        2);
}

static void what_varies_takes_the_place_of_what_it_contradicts(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "weights_at=/gpu:1 merge_at=/cpu:0"));
    mgb_shared_drop(swept(&bench, "{ name = 'r', grid = { cpu_relocation = {true, false}, "
                                  "global_batch = {6} }, steps = 5, warmup = 1 }"));
    assert_true(bench_logged(&bench, "weights_at=/gpu:1 (cpu_relocation varies)"));
    assert_true(bench_logged(&bench, "batch=4 (global_batch varies)"));
    assert_false(bench_logged(&bench, "merge_at"));
    bench_close(&bench);
    segments_have(*state, "gpus = 2 AND global_batch = 6 AND join_at = '/cpu:0'", 2);
    segments_have(*state, "weights_at = '/cpu:0'", 1);
    segments_have(*state, "weights_at = '/gpu:0'", 1);
}

static void each_strategy_takes_what_it_has_of_the_bench(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "join_at=/cpu:0 weights_at=/cpu:0"));
    const struct mgb_snapshot *s =
        swept(&bench, "{ name = 's', grid = { strategy = {'outputs', 'gradients', 'allreduce'} }, "
                      "steps = 5, warmup = 1 }");
    assert_int_equal(s->sweep->row_count, 3);
    mgb_shared_drop(s);
    bench_close(&bench);
    segments_have(*state, "gpus = 2 AND batch_per_gpu = 4", 3);
    segments_have(*state, "strategy = 'outputs' AND join_at = '/cpu:0' AND weights_at = '/cpu:0'",
                  1);
    segments_have(*state, "strategy = 'gradients' AND join_at IS NULL AND weights_at = '/cpu:0'",
                  1);
    segments_have(*state, "strategy = 'allreduce' AND weights_at IS NULL", 1);
}

static void a_like_that_varies_leaves_out_what_not_all_of_them_have(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    assert_ok(bench_ask(&bench, MGB_WISH_SET, "weights_at=/cpu:0 pinned=false"));
    mgb_shared_drop(swept(&bench, "{ name = 'l', grid = { like = {'keras', 'ddp'} }, steps = 5, "
                                  "warmup = 1 }"));
    assert_true(bench_logged(&bench, "weights_at=/cpu:0 (like decides the strategy)"));
    bench_close(&bench);
    segments_have(*state, "gpus = 2 AND batch_per_gpu = 4", 2);
    segments_have(*state, "strategy = 'allreduce'", 1);
}

static void rows_are_in_grid_order_and_the_headline_is_the_marked_one(void **state)
{
    static const char *const batches[] = {"64", "2", "8", "1"};
    struct bench bench;
    char label[60];
    int best = -1, marked = 0;
    bench_open(&bench, *state);
    const struct mgb_snapshot *s =
        swept(&bench, "{ name = 'b', grid = { batch = {64, 2, 8, 1} }, steps = 12, repeats = 2 }");
    const struct mgb_bench_sweep *sweep = s->sweep;
    assert_int_equal(sweep->row_count, 4);
    assert_int_equal(sweep->ran, 8);
    for (int i = 0; i < 4; i++) {
        const struct mgb_bench_cell *row = &sweep->rows[i];
        assert_string_equal(row->values[0], batches[i]);
        assert_int_equal(row->repetitions, 2);
        assert_true(row->ratio > 0);
        assert_true(*row->verdict);
        assert_int_equal(strcmp(row->verdict, "base") == 0, i == 0);
        if (strcmp(row->verdict, "undecided") == 0 || strcmp(row->verdict, "refused") == 0)
            assert_true(*row->reason);
        marked += row->best;
        best = row->best ? i : best;
    }
    assert_int_equal(strncmp(sweep->best, "Fastest", 7), 0);
    assert_int_equal(marked, !strstr(sweep->best, "none"));
    if (best >= 0) {
        snprintf(label, sizeof label, "batch=%s,", batches[best]);
        assert_non_null(strstr(sweep->best, label));
    }
    mgb_shared_drop(s);
    bench_close(&bench);
}

static void one_repetition_is_told_to_be_no_verdict(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    const struct mgb_snapshot *s =
        swept(&bench, "{ name = 'one', grid = { batch = {2, 64} }, steps = 40 }");
    assert_string_equal(s->sweep->rows[0].verdict, "base");
    assert_string_not_equal(s->sweep->rows[1].verdict, "");
    assert_non_null(strstr(s->sweep->rows[1].reason, "repetition"));
    assert_true(s->sweep->rows[0].best + s->sweep->rows[1].best <= 1);
    mgb_shared_drop(s);
    bench_close(&bench);
}

static void where_every_verdict_is_refused_no_cell_is_the_fastest(void **state)
{
    struct bench bench;
    bench_open(&bench, *state);
    const struct mgb_snapshot *s =
        swept(&bench, "{ name = 'u', grid = { batch = {1, 2, 3} }, steps = 1, warmup = 'auto', "
                      "max_time = '1ms' }");
    assert_string_equal(s->sweep->best, "Fastest: none: 2 of 2 refused");
    for (int i = 0; i < 3; i++) {
        assert_false(s->sweep->rows[i].best);
        assert_string_equal(s->sweep->rows[i].verdict, i == 0 ? "base" : "refused");
        if (i > 0)
            assert_non_null(strstr(s->sweep->rows[i].reason, "steady"));
    }
    mgb_shared_drop(s);
    bench_close(&bench);
}

static void a_sweep_that_has_ended_is_not_run_again_and_says_so(void **state)
{
    const char *options = "{ name = 'again', grid = { batch = {1, 2} }, steps = 3, resume = true }";
    struct bench bench;
    bench_open(&bench, *state);
    mgb_shared_drop(swept(&bench, options));
    assert_false(bench_logged(&bench, "nothing was run"));
    assert_ok(bench_ask(&bench, MGB_WISH_SWEEP, options));
    bench_await_log(&bench, "nothing was run: all 2 cells had ended before");
    const struct mgb_snapshot *s = bench_await(&bench, is_swept, 0, "a sweep");
    assert_int_equal(s->sweep->ran, 0);
    assert_true(s->sweep->rows[0].resumed && s->sweep->rows[1].resumed);
    assert_non_null(strstr(s->sweep->rows[0].placement, "batch=1"));
    mgb_shared_drop(s);
    bench_close(&bench);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run"), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_does_not_vary_is_as_on_the_bench),
        TEST(what_varies_takes_the_place_of_what_it_contradicts),
        TEST(each_strategy_takes_what_it_has_of_the_bench),
        TEST(a_like_that_varies_leaves_out_what_not_all_of_them_have),
        TEST(rows_are_in_grid_order_and_the_headline_is_the_marked_one),
        TEST(one_repetition_is_told_to_be_no_verdict),
        TEST(where_every_verdict_is_refused_no_cell_is_the_fastest),
        TEST(a_sweep_that_has_ended_is_not_run_again_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
