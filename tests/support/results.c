/* See results.h. */
#include "tests/support/results.h"

#include <stdio.h>

#include "db/store.h"
#include "db/store_private.h"
#include "tests/support/check.h"
#include "tests/support/database.h"

struct kind {
    const char *strategy, *gpu_list;
    int64_t gpus, batch, median_ns;
};

static const struct kind kinds[] = {
    {"outputs", "[\"/gpu:0\"]", 1, 32, 100000000},
    {"outputs", "[\"/gpu:0\"]", 1, 64, 180000000},
    {"outputs", "[\"/gpu:0\",\"/gpu:1\"]", 2, 32, 110000000},
    {"independent", "[\"/gpu:0\",\"/gpu:1\"]", 2, 32, 95000000},
};
enum { KINDS = 4, REPETITIONS = 3 };

static const struct mgb_record_model model = {.name = "mlp",
                                              .options = "{\"classes\":10}",
                                              .graph_digest = "abcd",
                                              .parameters = {1234, true}};

static int64_t run_begin(struct mgb_store *store, const char *backend)
{
    int64_t run;
    struct mgb_record_run record = *database_run();
    record.model = &model;
    record.backend = backend;
    record.versions = "{\"oneDNN\":\"2.6.3\"}";
    record.environment = "{\"OMP_NUM_THREADS\":\"2\"}";
    assert_ok(mgb_store_begin_run(&run, store, &record));
    return run;
}

static int64_t segment_begin(struct mgb_store *store, int64_t run, const struct kind *kind)
{
    int64_t segment;
    struct mgb_record_segment record = database_segment(run);
    record.effective.strategy = kind->strategy;
    record.effective.gpus = (struct mgb_maybe_int){kind->gpus, true};
    record.effective.gpu_list = kind->gpu_list;
    record.effective.batch_per_gpu = (struct mgb_maybe_int){kind->batch, true};
    record.effective.global_batch = (struct mgb_maybe_int){kind->batch * kind->gpus, true};
    record.asked = record.effective;
    record.optimizer = "sgd(lr=0.01)";
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
    return segment;
}

/* One first step of ten times the median, then RESULTS_STEPS around it. */
static void steps_put(struct mgb_store *store, int64_t segment, const struct kind *kind,
                      int64_t median_ns)
{
    static struct mgb_record steps[RESULTS_STEPS + 1];
    int64_t at = 0;
    for (int i = 0; i <= RESULTS_STEPS; i++) {
        int64_t offset = (i * 37) % RESULTS_STEPS - RESULTS_STEPS / 2;
        steps[i] = database_step(segment, i);
        steps[i].step.warmup = i == 0;
        steps[i].step.start_ns = at;
        steps[i].step.wall_ns = i == 0 ? 10 * median_ns : median_ns + offset * (median_ns / 10000);
        steps[i].step.examples = kind->batch * kind->gpus;
        at += steps[i].step.wall_ns;
    }
    assert_ok(mgb_store_put_steps(store, steps, RESULTS_STEPS + 1));
}

static void segment_end(struct mgb_store *store, int64_t segment, int64_t steady)
{
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK, .steady = {steady, true}};
    assert_ok(mgb_store_finish_segment(NULL, store, segment, &end));
}

static int64_t run_put(struct mgb_store *store, const char *backend, const struct kind *kind,
                       int64_t median_ns, int segments, int64_t steady)
{
    int64_t run = run_begin(store, backend);
    for (int i = 0; i < segments; i++) {
        int64_t segment = segment_begin(store, run, kind);
        steps_put(store, segment, kind, median_ns);
        segment_end(store, segment, steady);
    }
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
    return run;
}

static void point_put(struct mgb_store *store, int64_t sweep, int64_t run, int64_t point,
                      int64_t repeat)
{
    static const char *const settings[KINDS] = {
        "{\"batch\":32,\"gpus\":1}", "{\"batch\":64,\"gpus\":1}", "{\"batch\":32,\"gpus\":2}",
        "{\"batch\":32,\"gpus\":2,\"strategy\":\"independent\"}"};
    struct mgb_record_sweep_point row = {.sweep = sweep,
                                         .run = run,
                                         .point = point,
                                         .repeat = repeat,
                                         .position = repeat * KINDS + point,
                                         .settings = settings[point],
                                         .settings_digest = settings[point]};
    assert_ok(mgb_store_put_sweep_point(store, &row));
}

static int64_t repetition_ns(int64_t median_ns, int repeat)
{
    return median_ns + (repeat - 1) * (median_ns / 2000);
}

static void sweep_put(struct mgb_store *store)
{
    int64_t sweep;
    struct mgb_record_sweep record = {.name = "placement", .settings = "{\"grid\":{}}"};
    assert_ok(mgb_store_begin_sweep(&sweep, store, &record));
    for (int repeat = 0; repeat < REPETITIONS; repeat++)
        for (int point = 0; point < KINDS; point++) {
            int64_t median_ns = repetition_ns(kinds[point].median_ns, repeat);
            int64_t run = run_put(store, "host", &kinds[point], median_ns, 1, 1);
            point_put(store, sweep, run, point, repeat);
        }
    assert_ok(mgb_store_finish_sweep(store, sweep));
}

static void odd_ones_put(struct mgb_store *store)
{
    run_put(store, "cuda", &kinds[0], kinds[0].median_ns, 1, 1);

    int64_t run = run_put(store, "host", &kinds[2], kinds[2].median_ns, 1, 1);
    struct mgb_record_duplicate duplicate = {.variable = "dense_1/kernel",
                                             .twin = "dense/kernel",
                                             .device = "/gpu:0",
                                             .bytes = 512,
                                             .why = "the builder made it once a tower"};
    assert_ok(mgb_store_put_duplicates(store, run, &duplicate, 1)); /* one segment a run so far */

    run_put(store, "host", &kinds[0], kinds[0].median_ns, 1, 1);
    assert_ok(mgb_sql_run(&store->sql, "UPDATE run SET log_complete = 0 WHERE id = 18"));

    run = run_begin(store, "host");
    int64_t segment = segment_begin(store, run, &kinds[1]);
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OOM,
                                         .message = "out of memory",
                                         .oom_device = "/gpu:0",
                                         .oom_needed_bytes = 2 << 20,
                                         .oom_available_bytes = 1 << 20};
    assert_ok(mgb_store_finish_segment(NULL, store, segment, &end));
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OOM, "out of memory"));

    run_put(store, "host", &kinds[0], kinds[0].median_ns, 1, 0);
    run_put(store, "host", &kinds[2], kinds[2].median_ns, 2, 1);
}

void results_fill(const char *path)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, path, NULL));
    assert_ok(mgb_sql_run(&store->sql, "PRAGMA synchronous = OFF")); /* nobody misses this file */
    sweep_put(store);
    for (int repeat = 0; repeat < REPETITIONS; repeat++) {
        int64_t run = run_put(store, "host", &kinds[0], repetition_ns(137000000, repeat), 1, 1);
        assert_ok(mgb_store_put_tag(store, run, "after"));
    }
    assert_ok(mgb_store_put_tag(store, 1, "paper"));
    assert_ok(mgb_store_put_tag(store, 2, "paper"));
    assert_ok(mgb_store_set_baseline(store, "before", 1));
    odd_ones_put(store);
    mgb_store_close(store);
}

int results_setup(void **state)
{
    int code = database_setup(state);
    if (code == 0)
        results_fill(*state);
    return code;
}
