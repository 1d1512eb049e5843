/* What is put in comes out: every kind of row, and unknown stays unknown. */
#include "tests/support/check.h"

#include "db/store.h"
#include "tests/support/database.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct mgb_store *store;
static int64_t run, segment;

static int rows_setup(void **state)
{
    if (database_setup(state) != 0)
        return -1;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_store_begin_run(&run, store, database_run()));
    struct mgb_record_segment record = database_segment(run);
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
    return 0;
}

static int rows_teardown(void **state)
{
    mgb_store_close(store);
    return database_teardown(state);
}

static void expect_text(void **state, const char *query, const char *wanted)
{
    char got[512];
    assert_string_equal(database_text(got, sizeof got, *state, query), wanted);
}

static void a_run_keeps_what_it_ran_on(void **state)
{
    expect_text(
        state,
        "SELECT h.name || ' ' || h.cores || ' ' || coalesce(h.threads, '?') || ' ' || m.name "
        "|| ' ' || m.parameters || ' ' || r.backend || ' ' || r.seed || ' ' || r.command "
        "FROM run AS r JOIN machine AS h ON h.id = r.machine_id JOIN model AS m ON m.id = "
        "r.model_id",
        "here 2 ? tiny 1234 host 1 mgbench -e placement.lua");
    expect_text(state,
                "SELECT group_concat(name || ' ' || coalesce(memory_gbps, '?'), ', ') FROM device",
                "/cpu:0 ?, /gpu:0 12.5, /gpu:1 ?");
    expect_text(state, "SELECT from_device || to_device || kind || latency_ns FROM link",
                "/cpu:0/gpu:0memory700");
    assert_int_equal(database_int(*state, "SELECT length(uuid) FROM run"), 36);
}

static void the_same_machine_and_model_are_one_row(void **state)
{
    int64_t second;
    struct mgb_record_device device = {.name = "/gpu:0", .product = "seen again"};
    struct mgb_record_machine machine = *database_run()->machine;
    struct mgb_record_run again = *database_run();
    machine.devices = &device;
    machine.device_count = 1;
    again.machine = &machine;
    assert_ok(mgb_store_begin_run(&second, store, &again));
    assert_int_equal(database_int(*state, "SELECT count(DISTINCT machine_id) FROM run"), 1);
    assert_int_equal(database_int(*state, "SELECT count(DISTINCT model_id) FROM run"), 1);
    assert_int_equal(database_int(*state, "SELECT count(DISTINCT uuid) FROM run"), 2);
    /* A probe that was not made this time does not erase the older one. */
    expect_text(state, "SELECT product || memory_gbps FROM device WHERE name = '/gpu:0'",
                "seen again12.5");
    assert_ok(mgb_store_finish_run(store, second, MGB_OUTCOME_OK, NULL));
}

static void a_placement_keeps_asked_and_effective_apart(void **state)
{
    expect_text(state, "SELECT asked_gpus || ',' || asked_cpu_merge FROM segment", "2,1");
    assert_int_equal(database_int(*state, "SELECT asked_strategy IS NULL AND asked_join_at IS NULL "
                                          "AND asked_batch_mode IS NULL FROM segment"),
                     1);
    expect_text(
        state,
        "SELECT strategy || join_at || weights_at || batch_per_gpu || global_batch FROM segment",
        "outputs/cpu:0/gpu:03264");
    assert_int_equal(database_int(*state, "SELECT allreduce IS NULL AND bucket_mib IS NULL AND "
                                          "threads IS NULL FROM segment"),
                     1);
}

static void a_refused_run_has_a_segment_without_a_placement_in_effect(void **state)
{
    int64_t id;
    struct mgb_record_segment record = {.run = run, .asked = {.gpus = {17, true}}};
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_ERROR, .message = "no /gpu:16"};
    assert_ok(mgb_store_begin_segment(&id, store, &record));
    assert_ok(mgb_store_finish_segment(NULL, store, id, &end));
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run_summary WHERE strategy IS NULL "
                                          "AND gpus IS NULL AND outcome = 'error'"),
                     1);
}

/* Each column gets a value of its own, so that two swapped ones are noticed. */
static void every_placement_column_is_its_own(void **state)
{
    int64_t id;
    struct mgb_record_placement all = {.strategy = "gradients",
                                       .like = "ddp",
                                       .merge_at = "ma",
                                       .gpus = {1, true},
                                       .gpu_list = "gl",
                                       .batch_mode = "strong",
                                       .batch_per_gpu = {2, true},
                                       .global_batch = {3, true},
                                       .cpu_relocation = {1, true},
                                       .cpu_merge = {0, true},
                                       .weights_at = "wa",
                                       .join_at = "ja",
                                       .loss_at = "la",
                                       .sum_at = "sa",
                                       .update_at = "ua",
                                       .relocation = "clone",
                                       .allreduce = "ring",
                                       .bucket_mib = {0.5, true},
                                       .overlap = {1, true},
                                       .staged = {0, true},
                                       .stale = {1, true},
                                       .wire_type = "f16",
                                       .peer_access = "auto",
                                       .pinned = "true",
                                       .graph = "false",
                                       .bn = "sync",
                                       .precision = "tf32",
                                       .recompute = "block",
                                       .logical = {0, true},
                                       .gpu_memory_bytes = {4, true},
                                       .threads = {5, true},
                                       .hosts = {6, true}};
    struct mgb_record_segment record = {.run = run, .asked = all, .effective = all};
    assert_ok(mgb_store_begin_segment(&id, store, &record));
    static const char *const prefixes[] = {"asked_", ""};
    for (int i = 0; i < 2; i++) {
        char query[2000], *at = query;
        const char *columns =
            "strategy gpus gpu_list batch_mode batch_per_gpu global_batch cpu_relocation cpu_merge "
            "weights_at join_at loss_at sum_at update_at relocation allreduce bucket_mib overlap "
            "wire_type staged stale peer_access pinned graph bn precision recompute logical "
            "gpu_memory_bytes threads hosts";
        char words[600];
        strcpy(words, columns);
        at += sprintf(at, "SELECT ''");
        for (char *save, *word = strtok_r(words, " ", &save); word;
             word = strtok_r(NULL, " ", &save))
            at += sprintf(at, " || %s%s || ' '", prefixes[i], word);
        sprintf(at, " FROM segment WHERE id = %lld", (long long)id);
        expect_text(
            state, query,
            "gradients 1 gl strong 2 3 1 0 wa ja la sa ua clone ring 0.5 1 f16 0 1 auto true "
            "false sync tf32 block 0 4 5 6 ");
    }
    expect_text(state, "SELECT asked_like || asked_merge_at FROM segment WHERE id = 2", "ddpma");
}

static void steps_come_back_as_they_were(void **state)
{
    struct mgb_record records[3] = {database_step(segment, 0), database_step(segment, 1),
                                    database_step(segment, 2)};
    records[1].step.warmup = true;
    records[1].step.epoch = 4;
    assert_ok(mgb_store_put_steps(store, records, 3));
    expect_text(
        state,
        "SELECT group_concat(step || ' ' || epoch || ' ' || warmup || ' ' || start_ns || ' ' "
        "|| wall_ns || ' ' || examples || ' ' || loss, ', ') FROM step WHERE step < 2",
        "0 0 0 0 10000000 64 1.0, 1 4 1 10000000 10000000 64 0.5");
}

static void a_number_that_is_none_is_named(void **state)
{
    double losses[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (int i = 0; i < 4; i++) {
        struct mgb_record record = database_step(segment, i);
        record.step.has_loss = i < 3;
        record.step.loss = i < 3 ? losses[i] : 0;
        assert_ok(mgb_store_put_steps(store, &record, 1));
    }
    struct mgb_record metric = {
        .kind = MGB_RECORD_METRIC,
        .metric = {.segment = segment, .split = "test", .name = "accuracy", .value = (double)NAN}};
    assert_ok(mgb_store_put_steps(store, &metric, 1));
    expect_text(state, "SELECT group_concat(loss_status || coalesce(loss, '')) FROM step",
                "nan,inf,-inf,none");
    expect_text(state, "SELECT value_status || coalesce(value, '') FROM metric", "nan");
}

static void phases_land_in_their_columns(void **state)
{
    struct mgb_record record = {.kind = MGB_RECORD_STEP_DEVICE,
                                .step_device = {.segment = segment, .step = 7, .device = "/gpu:1"}};
    for (int phase = 0; phase < MGB_PHASE_COUNT; phase++) {
        record.step_device.busy_ns[phase] = 100 + phase;
        record.step_device.exposed_ns[phase] = 200 + phase;
    }
    assert_ok(mgb_store_put_steps(store, &record, 1));
    for (int phase = 0; phase < MGB_PHASE_COUNT; phase++) {
        char query[200];
        snprintf(query, sizeof query,
                 "SELECT 1000 * busy_ns + exposed_ns FROM step_phase WHERE "
                 "phase = '%s'",
                 mgb_phase_name((enum mgb_phase)phase));
        assert_int_equal(database_int(*state, query), 1000 * (100 + phase) + 200 + phase);
    }
    assert_int_equal(database_int(*state, "SELECT finish_ns IS NULL FROM step_device"), 1);
}

static void tasks_and_samples_come_back(void **state)
{
    struct mgb_record records[2] = {{.kind = MGB_RECORD_TASK,
                                     .task = {.segment = segment,
                                              .step = 3,
                                              .device = "/gpu:0",
                                              .queue = "/gpu:0 compute",
                                              .kind = "compute",
                                              .name = "tower0/conv1",
                                              .phase = MGB_PHASE_FORWARD,
                                              .start_ns = -5,
                                              .duration_ns = 20,
                                              .bytes = 0}},
                                    {.kind = MGB_RECORD_SAMPLE,
                                     .sample = {.run = run,
                                                .device = "/gpu:0",
                                                .at_ns = 9,
                                                .clock_khz = 1000,
                                                .memory_clock_khz = MGB_NO_READING,
                                                .power_mw = MGB_NO_READING,
                                                .temperature_mc = 0,
                                                .utilisation_ppm = MGB_NO_READING,
                                                .memory_used_bytes = MGB_NO_READING,
                                                .process_bytes = MGB_NO_READING}}};
    assert_ok(mgb_store_put_steps(store, records, 2));
    expect_text(state, "SELECT phase || ' ' || name || ' ' || start_ns || ' ' || queue FROM task",
                "forward tower0/conv1 -5 /gpu:0 compute");
    expect_text(state,
                "SELECT clock_khz || ' ' || temperature_mc || ' ' || coalesce(power_mw, 'unknown') "
                "FROM sample WHERE segment_id IS NULL",
                "1000 0 unknown");
}

static void what_a_segment_holds_replaces_what_it_had(void **state)
{
    struct mgb_record_memory memory[2] = {
        {.device = "/gpu:0", .category = MGB_MEMORY_WEIGHTS, .planned_bytes = {10, true}},
        {.device = "/gpu:0", .category = MGB_MEMORY_INPUT, .peak_bytes = {0, true}}};
    struct mgb_record_memory_total total = {.device = "/gpu:0", .planned_bytes = {12, true}};
    struct mgb_record_traffic traffic = {.from = "/cpu:0", .to = "/gpu:0", .bytes_per_step = 8};
    struct mgb_record_variable variable = {.name = "conv1/kernel",
                                           .scope = "conv1",
                                           .shape = "3x3x1x32",
                                           .type = "f32",
                                           .bytes = 1152,
                                           .device = "/gpu:0",
                                           .role = MGB_VARIABLE_LEFTOVER,
                                           .storage = 5};
    struct mgb_record_duplicate duplicate = {.variable = "tower1/w",
                                             .twin = "tower0/w",
                                             .device = "/gpu:1",
                                             .bytes = 4,
                                             .why = "made inside the builder"};
    for (int i = 0; i < 2; i++) {
        assert_ok(mgb_store_put_memory(store, segment, memory, 2));
        assert_ok(mgb_store_put_memory_totals(store, segment, &total, 1));
        assert_ok(mgb_store_put_traffic(store, segment, &traffic, 1));
        assert_ok(mgb_store_put_variables(store, segment, &variable, 1));
        assert_ok(mgb_store_put_duplicates(store, segment, &duplicate, 1));
    }
    expect_text(state,
                "SELECT group_concat(category || coalesce(planned_bytes, '?') || "
                "coalesce(peak_bytes, '?')) FROM memory",
                "input?0,weights10?");
    expect_text(state, "SELECT from_device || to_device || bytes_per_step FROM traffic",
                "/cpu:0/gpu:08");
    expect_text(state, "SELECT name || role || storage_id || shape FROM variable",
                "conv1/kernelleftover53x3x1x32");
    expect_text(state, "SELECT variable || twin || bytes || why FROM duplicate",
                "tower1/wtower0/w4made inside the builder");
}

static void notes_tags_baselines_and_sweeps_belong_to_runs(void **state)
{
    int64_t sweep;
    struct mgb_record_sweep record = {.name = "placement", .order_seed = {3, true}};
    assert_ok(mgb_store_begin_sweep(&sweep, store, &record));
    struct mgb_record_sweep_point point = {
        .sweep = sweep, .run = run, .point = 1, .settings = "{}", .settings_digest = "d"};
    assert_ok(mgb_store_put_sweep_point(store, &point));
    assert_ok(mgb_store_finish_sweep(store, sweep));
    assert_ok(mgb_store_put_note(store, run, "the fan was loud"));
    assert_ok(mgb_store_put_tag(store, run, "loud"));
    assert_ok(mgb_store_put_tag(store, run, "loud"));
    assert_ok(mgb_store_set_baseline(store, "main", segment));
    assert_ok(mgb_store_set_baseline(store, "main", segment));
    expect_text(state,
                "SELECT n.text || t.name || b.name || p.point || s.name FROM note AS n, tag AS t, "
                "baseline AS b, sweep_point AS p, sweep AS s WHERE s.finished_ms IS NOT NULL",
                "the fan was loudloudmain1placement");
}

static void deleting_a_run_leaves_nothing_of_it(void **state)
{
    struct mgb_record step = database_step(segment, 0);
    int64_t sweep;
    struct mgb_record_sweep record = {.name = "placement"};
    assert_ok(mgb_store_put_steps(store, &step, 1));
    assert_ok(mgb_store_put_note(store, run, "x"));
    assert_ok(mgb_store_begin_sweep(&sweep, store, &record));
    struct mgb_record_sweep_point point = {
        .sweep = sweep, .run = run, .settings = "{}", .settings_digest = "d"};
    assert_ok(mgb_store_put_sweep_point(store, &point));
    assert_status(mgb_store_delete_run(store, run), MGB_BUSY);
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
    assert_ok(mgb_store_delete_run(store, run));
    assert_int_equal(database_int(*state,
                                  "SELECT (SELECT count(*) FROM run) + (SELECT count(*) FROM "
                                  "segment) + (SELECT count(*) FROM step) + (SELECT count(*) "
                                  "FROM note) + (SELECT count(*) FROM sweep_point)"),
                     0);
    assert_status(mgb_store_delete_run(store, run), MGB_MISSING);
    assert_ok(mgb_store_check(store, true));
}

static void a_row_the_schema_refuses_leaves_nothing_half_done(void **state)
{
    struct mgb_record records[2] = {database_step(segment, 0), database_step(segment, 0)};
    assert_status(mgb_store_put_steps(store, records, 2), MGB_INVALID);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 0);
    struct mgb_record_segment bad = database_segment(run);
    bad.effective.strategy = "telepathy";
    int64_t id;
    assert_status(mgb_store_begin_segment(&id, store, &bad), MGB_INVALID);
    assert_int_equal(id, 0);
    assert_ok(mgb_store_put_steps(store, records, 1));
}

static void a_finished_run_says_how_it_ended(void **state)
{
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OOM,
                                         .message = "/gpu:0: too little"};
    assert_ok(mgb_store_finish_segment(NULL, store, segment, &end));
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OOM, "/gpu:0: too little"));
    expect_text(state,
                "SELECT r.outcome || s.outcome || r.message || r.log_complete FROM run AS r JOIN "
                "segment AS s ON s.run_id = r.id WHERE r.finished_ms IS NOT NULL",
                "oomoom/gpu:0: too little1");
    assert_status(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL), MGB_STATE);
}

static void closing_ends_what_nobody_ended(void **state)
{
    struct mgb_store *other;
    mgb_store_close(store);
    store = NULL;
    expect_text(state, "SELECT r.outcome || s.outcome FROM run AS r, segment AS s",
                "interruptedinterrupted");
    assert_ok(mgb_store_open(&other, *state, NULL)); /* the lock is free */
    mgb_store_close(other);
}

#define ROWS_TEST(name) cmocka_unit_test_setup_teardown(name, rows_setup, rows_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROWS_TEST(a_run_keeps_what_it_ran_on),
        ROWS_TEST(the_same_machine_and_model_are_one_row),
        ROWS_TEST(a_placement_keeps_asked_and_effective_apart),
        ROWS_TEST(a_refused_run_has_a_segment_without_a_placement_in_effect),
        ROWS_TEST(every_placement_column_is_its_own),
        ROWS_TEST(steps_come_back_as_they_were),
        ROWS_TEST(a_number_that_is_none_is_named),
        ROWS_TEST(phases_land_in_their_columns),
        ROWS_TEST(tasks_and_samples_come_back),
        ROWS_TEST(what_a_segment_holds_replaces_what_it_had),
        ROWS_TEST(notes_tags_baselines_and_sweeps_belong_to_runs),
        ROWS_TEST(deleting_a_run_leaves_nothing_of_it),
        ROWS_TEST(a_row_the_schema_refuses_leaves_nothing_half_done),
        ROWS_TEST(a_finished_run_says_how_it_ended),
        ROWS_TEST(closing_ends_what_nobody_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
