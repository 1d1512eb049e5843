/* The documented views, on runs whose figures are known. */
#include "tests/support/check.h"

#include "db/scaling.h"
#include "db/store.h"
#include "tests/support/database.h"
#include <stdio.h>
#include <string.h>

#define MS 1000000

static struct mgb_store *store;
static int64_t run;

static int views_setup(void **state)
{
    if (database_setup(state) != 0)
        return -1;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_store_begin_run(&run, store, database_run()));
    return 0;
}

static int views_teardown(void **state)
{
    mgb_store_close(store);
    return database_teardown(state);
}

static void close_to(void **state, const char *query, double wanted)
{
    double got = database_real(*state, query);
    if (got < wanted - 1e-9 || got > wanted + 1e-9)
        fail_msg("%s: %.12g instead of %.12g", query, got, wanted);
}

/* Steps of `wall_ms` and `examples` each, back to back; the first `warmup` of them are warm-up. */
static void steps_put(int64_t segment, const int64_t *wall_ms, int count, int warmup,
                      int64_t examples)
{
    int64_t start_ns = 0;
    for (int i = 0; i < count; i++) {
        struct mgb_record record = database_step(segment, i);
        record.step.start_ns = start_ns;
        record.step.wall_ns = wall_ms[i] * MS;
        record.step.warmup = i < warmup;
        record.step.examples = examples;
        assert_ok(mgb_store_put_steps(store, &record, 1));
        start_ns += record.step.wall_ns;
    }
}

static void segment_finish(int64_t segment, enum mgb_outcome outcome)
{
    struct mgb_record_segment_end end = {.outcome = outcome};
    assert_ok(mgb_store_finish_segment(NULL, store, segment, &end));
}

/* A finished segment of six equal steps. */
static int64_t segment_make(const struct mgb_record_segment *record, int64_t wall_ms)
{
    int64_t segment, walls[6];
    for (int i = 0; i < 6; i++)
        walls[i] = wall_ms;
    assert_ok(mgb_store_begin_segment(&segment, store, record));
    steps_put(segment, walls, 6, 0, record->effective.global_batch.value);
    segment_finish(segment, MGB_OUTCOME_OK);
    return segment;
}

/* A mean of rates would be (3 x 640 + 320) / 4 = 560. */
static void the_rate_is_examples_by_seconds(void **state)
{
    int64_t segment;
    struct mgb_record_segment record = database_segment(run);
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
    steps_put(segment, (int64_t[]){100, 100, 100, 200}, 4, 0, 64);
    close_to(state, "SELECT examples_per_s FROM run_summary", 512);
    close_to(state, "SELECT examples_per_s FROM step_stats", 512);
    segment_finish(segment, MGB_OUTCOME_OK);
    close_to(state, "SELECT examples_per_s FROM run_summary", 512);
    close_to(state, "SELECT step_ms_median FROM run_summary", 100);
    close_to(state, "SELECT step_ms_mean FROM run_summary", 125);
}

static void a_running_segment_has_the_figures_of_a_finished_one(void **state)
{
    static const char *const figures[] = {"steps",       "warmup_steps", "step_ms_median",
                                          "step_ms_p95", "step_ms_mean", "examples_per_s",
                                          "loss_last"};
    double before[7];
    int64_t segment, walls[30];
    struct mgb_record_segment record = database_segment(run);
    for (int i = 0; i < 30; i++)
        walls[i] = 10 + i * 7 % 30;
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
    steps_put(segment, walls, 30, 2, 64);
    for (int i = 0; i < 7; i++) {
        char query[80];
        snprintf(query, sizeof query, "SELECT %s FROM run_summary", figures[i]);
        before[i] = database_real(*state, query);
    }
    assert_true(before[0] == 28 && before[1] == 2);
    close_to(state, "SELECT step_ms_median FROM step_stats", before[2]);
    close_to(state, "SELECT step_ms_p95 FROM step_stats", before[3]);
    segment_finish(segment, MGB_OUTCOME_OK);
    for (int i = 0; i < 7; i++) {
        char query[80];
        snprintf(query, sizeof query, "SELECT %s FROM run_summary", figures[i]);
        close_to(state, query, before[i]);
    }
    assert_int_equal(database_int(*state, "SELECT step_ms_ci95_low <= step_ms_median AND "
                                          "step_ms_median <= step_ms_ci95_high FROM run_summary"),
                     1);
}

static void a_segment_without_steps_is_shown_without_figures(void **state)
{
    int64_t segment;
    struct mgb_record_segment record = database_segment(run);
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
    segment_finish(segment, MGB_OUTCOME_OOM);
    assert_int_equal(database_int(*state, "SELECT steps = 0 AND step_ms_median IS NULL AND "
                                          "examples_per_s IS NULL AND loss_last IS NULL AND "
                                          "gpu_peak_bytes IS NULL AND outcome = 'oom' AND "
                                          "duplicate_count = 0 AND duplicate_bytes = 0 "
                                          "FROM run_summary"),
                     1);
}

static void the_peak_is_that_of_the_fullest_device(void **state)
{
    int64_t segment;
    struct mgb_record_segment record = database_segment(run);
    struct mgb_record_memory_total totals[3] = {
        {.device = "/gpu:0", .planned_bytes = {900, true}, .peak_bytes = {70, true}},
        {.device = "/gpu:1", .planned_bytes = {1, true}, .peak_bytes = {80, true}},
        {.device = "/cpu:0", .peak_bytes = {500, true}}};
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
    assert_ok(mgb_store_put_memory_totals(store, segment, totals, 3));
    assert_int_equal(database_int(*state, "SELECT gpu_peak_bytes FROM run_summary"), 80);
    assert_int_equal(database_int(*state, "SELECT cpu_peak_bytes FROM run_summary"), 500);
}

static void placement_shows_the_four_places_side_by_side(void **state)
{
    for (int i = 0; i < 4; i++) {
        struct mgb_record_segment record = database_segment(run);
        record.effective.cpu_relocation.value = i / 2;
        record.effective.cpu_merge.value = i % 2;
        segment_make(&record, 10 + i);
    }
    /* The newest of a cell counts, and what failed does not. */
    struct mgb_record_segment record = database_segment(run);
    record.effective.cpu_merge.value = 0;
    segment_make(&record, 20);
    int64_t failed;
    assert_ok(mgb_store_begin_segment(&failed, store, &record));
    steps_put(failed, (int64_t[]){99}, 1, 0, 64);
    segment_finish(failed, MGB_OUTCOME_ERROR);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM placement"), 1);
    close_to(state, "SELECT reloc_off_merge_gpu FROM placement", 20);
    close_to(state, "SELECT reloc_off_merge_cpu FROM placement", 11);
    close_to(state, "SELECT reloc_on_merge_gpu FROM placement", 12);
    close_to(state, "SELECT reloc_on_merge_cpu FROM placement", 13);
    record.effective.batch_per_gpu.value = 16;
    record.effective.global_batch.value = 32;
    segment_make(&record, 5);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM placement"), 2);
    assert_int_equal(database_int(*state, "SELECT reloc_on_merge_cpu IS NULL FROM placement WHERE "
                                          "batch_per_gpu = 16"),
                     1);
}

static void a_strategy_without_the_flags_is_not_in_placement(void **state)
{
    struct mgb_record_segment record = database_segment(run);
    record.effective.strategy = "allreduce";
    record.effective.cpu_merge.known = record.effective.cpu_relocation.known = false;
    segment_make(&record, 10);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM placement"), 0);
    assert_int_equal(database_int(*state, "SELECT cpu_merge IS NULL FROM run_summary"), 1);
}

/* Whether a newer segment like `record` is one of the flags' four. */
static void placement_counts(void **state, const struct mgb_record_segment *record, int64_t wanted)
{
    static int64_t wall_ms = 10; /* tells it from those before */
    char query[120];
    segment_make(record, ++wall_ms);
    snprintf(query, sizeof query, "SELECT count(*) FROM placement WHERE reloc_off_merge_%s = %lld",
             record->effective.cpu_merge.value ? "cpu" : "gpu", (long long)wall_ms);
    assert_int_equal(database_int(*state, query), wanted);
}

static void places_asked_for_otherwise_are_in_none_of_the_four(void **state)
{
    struct mgb_record_segment plain = database_segment(run);
    plain.asked.weights_at = plain.asked.merge_at = plain.asked.join_at = plain.asked.loss_at =
        NULL;
    plain.asked.sum_at = plain.asked.update_at = plain.asked.like = NULL;
    placement_counts(state, &plain, 1);
    const char **asked[] = {&plain.asked.weights_at, &plain.asked.join_at, &plain.asked.loss_at,
                            &plain.asked.sum_at, &plain.asked.update_at};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        *asked[i] = "/gpu:1";
        placement_counts(state, &plain, 0);
        *asked[i] = NULL;
    }
    plain.asked.like = "keras";
    placement_counts(state, &plain, 0);
}

static void merge_at_counts_where_it_says_what_the_flag_says(void **state)
{
    struct mgb_record_segment plain = database_segment(run);
    plain.effective.gpu_list = "[\"/gpu:1\",\"/gpu:0\"]";
    plain.asked.merge_at = "/cpu:0";
    placement_counts(state, &plain, 1);
    plain.effective.cpu_merge.value = 0;
    placement_counts(state, &plain, 0);
    plain.asked.merge_at = "/gpu:0";
    placement_counts(state, &plain, 0);
    plain.asked.merge_at = "/gpu:1";
    placement_counts(state, &plain, 1);
}

static struct mgb_record_segment sized(int64_t gpus, const char *mode, int64_t per_gpu)
{
    struct mgb_record_segment record = database_segment(run);
    record.effective.gpus.value = gpus;
    record.effective.batch_mode = mode;
    record.effective.batch_per_gpu.value = per_gpu;
    record.effective.global_batch.value = gpus * per_gpu;
    return record;
}

static void scaling_is_against_one_gpu_of_the_same_batch(void **state)
{
    struct mgb_record_segment alone = sized(1, "weak", 32), other = sized(1, "weak", 64),
                              two = sized(2, "weak", 32), four = sized(4, "weak", 16);
    segment_make(&alone, 50); /* older: not the baseline */
    segment_make(&alone, 100);
    segment_make(&other, 10);
    int64_t pair = segment_make(&two, 125); /* 64 / 0.125 = 512 against 320 */
    int64_t quad = segment_make(&four, 10);
    char query[160];
    snprintf(query, sizeof query, "SELECT speedup FROM scaling WHERE segment_id = %lld",
             (long long)pair);
    close_to(state, query, 1.6);
    snprintf(query, sizeof query, "SELECT efficiency FROM scaling WHERE segment_id = %lld",
             (long long)pair);
    close_to(state, query, 0.8);
    snprintf(query, sizeof query, "SELECT speedup IS NULL FROM scaling WHERE segment_id = %lld",
             (long long)quad);
    assert_int_equal(database_int(*state, query), 1);
}

/* One device with all the threads is no measure for several that share them. */
static void scaling_prefers_a_baseline_with_the_same_threads(void **state)
{
    struct mgb_record_segment alone = sized(1, "weak", 32), two = sized(2, "weak", 32);
    alone.effective.threads = (struct mgb_maybe_int){1, true};
    segment_make(&alone, 100);
    alone.effective.threads.value = 2;
    segment_make(&alone, 50); /* newer, with other threads */
    two.effective.threads = (struct mgb_maybe_int){1, true};
    segment_make(&two, 100);
    close_to(state, "SELECT speedup FROM scaling WHERE gpus = 2 AND baseline_threads = 1", 2);
    two.effective.threads.value = 4; /* nobody has as many: the newest, and it is shown */
    segment_make(&two, 100);
    close_to(state,
             "SELECT speedup FROM scaling WHERE gpus = 2 AND threads = 4 AND baseline_threads = 2",
             1);
}

/* Other data and optimizers are no baseline, however new; of what is one the same strategy goes first. */
static void scaling_prefers_the_same_strategy_and_wants_the_same_training(void **state)
{
    struct mgb_record_segment alone = sized(1, "weak", 32), two = sized(2, "weak", 32);
    alone.effective.strategy = two.effective.strategy = "gradients";
    segment_make(&alone, 100);
    alone.effective.strategy = "outputs";
    segment_make(&alone, 50); /* newer */
    segment_make(&two, 100);
    close_to(state, "SELECT speedup FROM scaling WHERE gpus = 2", 2);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM exchange"), 1); /* of 2 GPUs only */
    alone.effective.strategy = "gradients";
    alone.optimizer = "adam(lr=0.1)";
    segment_make(&alone, 10);
    close_to(state, "SELECT speedup FROM scaling WHERE gpus = 2", 2);
    two.optimizer = "adam(lr=0.2)";
    segment_make(&two, 100);
    assert_int_equal(
        database_int(*state, "SELECT count(*) FROM scaling WHERE gpus = 2 AND speedup IS NULL"), 1);
}

static void placement_keeps_threads_apart(void **state)
{
    struct mgb_record_segment record = sized(2, "weak", 32);
    for (int threads = 1; threads <= 2; threads++) {
        record.effective.threads = (struct mgb_maybe_int){threads, true};
        segment_make(&record, 10 * threads);
    }
    assert_int_equal(database_int(*state, "SELECT count(*) FROM placement WHERE threads IN (1, 2)"),
                     2);
}

static void strong_scaling_compares_the_same_global_batch(void **state)
{
    struct mgb_record_segment alone = sized(1, "strong", 64), two = sized(2, "strong", 32),
                              weak = sized(1, "weak", 32);
    segment_make(&weak, 1);
    segment_make(&alone, 100);
    segment_make(&two, 80);
    close_to(state, "SELECT speedup FROM scaling WHERE gpus = 2", 1.25);
    close_to(state, "SELECT efficiency FROM scaling WHERE gpus = 2", 0.625);
}

static void a_stalled_step_does_not_change_the_speed_up(void **state)
{
    int64_t segment;
    struct mgb_record_segment alone = sized(1, "weak", 32), two = sized(2, "weak", 32);
    segment_make(&alone, 100);
    assert_ok(mgb_store_begin_segment(&segment, store, &two));
    steps_put(segment, (int64_t[]){100, 100, 100, 100, 9000}, 5, 0, 64);
    segment_finish(segment, MGB_OUTCOME_OK);
    close_to(state, "SELECT speedup FROM scaling WHERE gpus = 2", 2);
    close_to(state, "SELECT examples_per_s FROM scaling WHERE gpus = 2", 320 / 9.4);
}

static void scaling_says_which_efficiency_it_is(void **state)
{
    char got[120];
    struct mgb_record_segment weak = sized(2, "weak", 32), strong = sized(2, "strong", 32);
    segment_make(&weak, 10);
    assert_string_equal(database_text(got, sizeof got, *state, "SELECT definition FROM scaling"),
                        MGB_SCALING_WEAK_TEXT);
    segment_make(&strong, 10);
    assert_string_equal(database_text(got, sizeof got, *state,
                                      "SELECT definition FROM scaling WHERE batch_mode = 'strong'"),
                        MGB_SCALING_STRONG_TEXT);
}

static void exchange_is_what_independent_towers_do_without(void **state)
{
    struct mgb_record_segment merged = sized(2, "weak", 32), apart = merged,
                              other = sized(4, "weak", 32);
    apart.effective.strategy = "independent";
    segment_make(&merged, 125);
    assert_int_equal(database_int(*state, "SELECT exchange_ms IS NULL FROM exchange"), 1);
    segment_make(&apart, 90); /* older */
    int64_t newest = segment_make(&apart, 100);
    segment_make(&other, 130);
    struct mgb_record_segment failed = apart;
    int64_t segment;
    assert_ok(mgb_store_begin_segment(&segment, store, &failed));
    steps_put(segment, (int64_t[]){1}, 1, 0, 64);
    segment_finish(segment, MGB_OUTCOME_ERROR);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM exchange"), 2);
    close_to(state, "SELECT exchange_ms FROM exchange WHERE gpus = 2", 25);
    close_to(state, "SELECT exchange_share FROM exchange WHERE gpus = 2", 0.2);
    assert_int_equal(
        database_int(*state, "SELECT independent_segment_id FROM exchange WHERE gpus = 2"), newest);
    assert_int_equal(
        database_int(*state, "SELECT exchange_ms IS NULL FROM exchange WHERE gpus = 4"), 1);
}

static void a_summary_names_tags_and_the_point_of_a_sweep(void **state)
{
    int64_t sweep;
    char got[120];
    struct mgb_record_segment record = database_segment(run);
    struct mgb_record_sweep row = {.name = "grid"};
    segment_make(&record, 10);
    assert_int_equal(database_int(*state,
                                  "SELECT sweep IS NULL AND sweep_point IS NULL AND tags IS "
                                  "NULL AND log_complete = 1 FROM run_summary"),
                     1);
    assert_ok(mgb_store_begin_sweep(&sweep, store, &row));
    struct mgb_record_sweep_point point = {
        .sweep = sweep, .run = run, .point = 3, .settings = "{}", .settings_digest = "d"};
    assert_ok(mgb_store_put_sweep_point(store, &point));
    assert_ok(mgb_store_put_tag(store, run, "slow"));
    assert_ok(mgb_store_put_tag(store, run, "best"));
    assert_string_equal(
        database_text(got, sizeof got, *state,
                      "SELECT sweep || ' ' || sweep_point || ' ' || tags FROM run_summary"),
        "grid 3 best,slow");
}

static void phase_shares_are_of_the_timed_steps_wall_time(void **state)
{
    int64_t segment;
    struct mgb_record_segment record = database_segment(run);
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
    steps_put(segment, (int64_t[]){1000, 10, 30}, 3, 1, 64);
    for (int i = 0; i < 3; i++) {
        struct mgb_record device = {
            .kind = MGB_RECORD_STEP_DEVICE,
            .step_device = {.segment = segment, .step = i, .device = "/gpu:0"}};
        device.step_device.busy_ns[MGB_PHASE_FORWARD] = i == 0 ? 900 * MS : 10 * MS;
        device.step_device.exposed_ns[MGB_PHASE_SUM] = 5 * MS;
        assert_ok(mgb_store_put_steps(store, &device, 1));
    }
    close_to(state, "SELECT busy_share FROM phase_share WHERE phase = 'forward'", 0.5);
    close_to(state, "SELECT busy_ms_mean FROM phase_share WHERE phase = 'forward'", 10);
    close_to(state, "SELECT exposed_share FROM phase_share WHERE phase = 'sum'", 0.25);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM phase_share"), 8);
}

static void stored_figures_agree_with_the_view_of_the_steps(void **state)
{
    int64_t segment, walls[120];
    struct mgb_record_segment record = database_segment(run);
    for (int i = 0; i < 120; i++)
        walls[i] = 5 + i * 37 % 101;
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
    steps_put(segment, walls, 120, 0, 64);
    segment_finish(segment, MGB_OUTCOME_OK);
    assert_int_equal(
        database_int(
            *state,
            "SELECT count(*) FROM step_stats AS v JOIN segment_stat AS s USING (segment_id) "
            "WHERE abs(v.step_ms_median - s.median_ns / 1e6) < 1e-6 AND "
            "abs(v.step_ms_p5 - s.p5_ns / 1e6) < 1e-6 AND "
            "abs(v.step_ms_p95 - s.p95_ns / 1e6) < 1e-6 AND "
            "abs(v.step_ms_p99 - s.p99_ns / 1e6) < 1e-6 AND "
            "abs(v.unaccounted_ms - s.unaccounted_ns / 1e6) < 1e-6 AND "
            "v.timed_steps = s.timed_steps AND v.timed_ns = s.timed_ns"),
        1);
}

#define VIEWS_TEST(name) cmocka_unit_test_setup_teardown(name, views_setup, views_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        VIEWS_TEST(the_rate_is_examples_by_seconds),
        VIEWS_TEST(a_running_segment_has_the_figures_of_a_finished_one),
        VIEWS_TEST(a_segment_without_steps_is_shown_without_figures),
        VIEWS_TEST(the_peak_is_that_of_the_fullest_device),
        VIEWS_TEST(placement_shows_the_four_places_side_by_side),
        VIEWS_TEST(a_strategy_without_the_flags_is_not_in_placement),
        VIEWS_TEST(places_asked_for_otherwise_are_in_none_of_the_four),
        VIEWS_TEST(merge_at_counts_where_it_says_what_the_flag_says),
        VIEWS_TEST(a_stalled_step_does_not_change_the_speed_up),
        VIEWS_TEST(scaling_is_against_one_gpu_of_the_same_batch),
        VIEWS_TEST(scaling_prefers_a_baseline_with_the_same_threads),
        VIEWS_TEST(scaling_prefers_the_same_strategy_and_wants_the_same_training),
        VIEWS_TEST(placement_keeps_threads_apart),
        VIEWS_TEST(strong_scaling_compares_the_same_global_batch),
        VIEWS_TEST(scaling_says_which_efficiency_it_is),
        VIEWS_TEST(exchange_is_what_independent_towers_do_without),
        VIEWS_TEST(a_summary_names_tags_and_the_point_of_a_sweep),
        VIEWS_TEST(phase_shares_are_of_the_timed_steps_wall_time),
        VIEWS_TEST(stored_figures_agree_with_the_view_of_the_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
