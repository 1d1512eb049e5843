/* See cookbook.h. Rows go through the store, so that figures, intervals and outliers are those of the steps; what the store
 * takes from this process and its clock (times, uuid, pid) is overwritten at the end. */
#include "tests/support/cookbook.h"

#include <stdio.h>
#include <string.h>

#include "db/store.h"
#include "db/store_private.h"
#include "tests/support/check.h"

#define US 1000
#define MS 1000000
#define MIB 1048576

enum { STEPS = 60, MIDDLE = STEPS / 2 };

static struct mgb_store *store;

static const struct mgb_record_device devices[] = {
    {.name = "/cpu:0", .kind = "sim", .memory_bytes = {256LL << 30, true}},
    {.name = "/gpu:0", .kind = "sim", .memory_bytes = {16LL << 30, true}},
    {.name = "/gpu:1", .kind = "sim", .memory_bytes = {16LL << 30, true}},
    {.name = "/gpu:2", .kind = "sim", .memory_bytes = {16LL << 30, true}},
    {.name = "/gpu:3", .kind = "sim", .memory_bytes = {16LL << 30, true}}};

#define LINK(a, b, what, peer, speed)                                                              \
    {                                                                                              \
        .from = (a), .to = (b), .kind = (what), .peer_access = {(peer), true}, .gbps = {           \
            (speed),                                                                               \
            true                                                                                   \
        }                                                                                          \
    }
static const struct mgb_record_link links[] = {
    LINK("/cpu:0", "/gpu:0", "pcie", 1, 12),    LINK("/gpu:0", "/cpu:0", "pcie", 1, 12),
    LINK("/cpu:0", "/gpu:1", "pcie", 1, 12),    LINK("/gpu:1", "/cpu:0", "pcie", 1, 12),
    LINK("/gpu:0", "/gpu:1", "nvlink", 1, 100), LINK("/gpu:1", "/gpu:0", "nvlink", 1, 100)};

static const struct mgb_record_machine machine = {.key = "made-up",
                                                  .name = "made-up",
                                                  .simulated = true,
                                                  .source = "made up for db/README.md",
                                                  .devices = devices,
                                                  .device_count = 5,
                                                  .links = links,
                                                  .link_count = 6};

static const struct mgb_record_model cnn = {
    .name = "cnn", .options = "{}", .graph_digest = "made-up-1", .parameters = {1200000, true}};
static const struct mgb_record_model mlp = {.name = "mlp",
                                            .options = "{\"hidden\":4096}",
                                            .graph_digest = "made-up-2",
                                            .parameters = {20000000, true}};

/* A run of one segment. */
struct made {
    const struct mgb_record_model *model;
    const char *strategy, *driver;
    int64_t gpus, batch; /* of each GPU */
    int relocated, merged_on_cpu;
    int64_t median_us;
    int64_t slow_from, slow_us; /* steps from there on take this; 0: as the others */
    int oversubscribed;
};

static int64_t run_begin(const struct made *made)
{
    char versions[80];
    int64_t run;
    snprintf(versions, sizeof versions, "{\"mgbench\":\"0.1.0\",\"driver\":\"%s\"}",
             made->driver ? made->driver : "550.1");
    struct mgb_record_run record = {.machine = &machine,
                                    .model = made->model,
                                    .backend = "sim",
                                    .simulated = true,
                                    .seed = {1, true},
                                    .program_version = "0.1.0",
                                    .versions = versions,
                                    .data = "none: figures made up for db/README.md"};
    assert_ok(mgb_store_begin_run(&run, store, &record));
    assert_ok(mgb_store_put_tag(store, run, "made-up"));
    return run;
}

static int64_t segment_begin(int64_t run, const struct made *made)
{
    static const char *const lists[] = {"[]", "[\"/gpu:0\"]", "[\"/gpu:0\",\"/gpu:1\"]", "[]",
                                        "[\"/gpu:0\",\"/gpu:1\",\"/gpu:2\",\"/gpu:3\"]"};
    int64_t segment;
    bool meets = strcmp(made->strategy, "independent") != 0;
    const char *home = made->relocated ? "/cpu:0" : "/gpu:0";
    const char *meeting = made->merged_on_cpu ? "/cpu:0" : "/gpu:0";
    struct mgb_record_placement placement = {.strategy = made->strategy,
                                             .gpus = {made->gpus, true},
                                             .gpu_list = lists[made->gpus],
                                             .batch_mode = "weak",
                                             .batch_per_gpu = {made->batch, true},
                                             .global_batch = {made->batch * made->gpus, true},
                                             .cpu_relocation = {made->relocated, meets},
                                             .cpu_merge = {made->merged_on_cpu, meets},
                                             .weights_at = meets ? home : NULL,
                                             .join_at = meets ? meeting : NULL,
                                             .loss_at = meets ? meeting : NULL,
                                             .sum_at = meets ? meeting : NULL,
                                             .update_at = meets ? home : NULL,
                                             .relocation = meets ? "move" : NULL,
                                             .precision = "f32"};
    struct mgb_record_segment record = {.run = run,
                                        .effective = placement,
                                        .warmup_rule = "fixed",
                                        .warmup_steps = {1, true},
                                        .optimizer = "sgd(lr=0.01)",
                                        .oversubscribed = {made->oversubscribed, true}};
    assert_ok(mgb_store_begin_segment(&segment, store, &record));
    return segment;
}

static int64_t segment_end(int64_t segment)
{
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OK, .stop_reason = "steps"};
    assert_ok(mgb_store_finish_segment(NULL, store, segment, &end));
    return segment;
}

/* A first step of five medians, then steps within 0.3 % of the median. */
static int64_t wall_get(const struct made *made, int64_t step)
{
    int64_t median = made->median_us * US, offset = step * 37 % STEPS - MIDDLE;
    if (made->slow_us && step >= made->slow_from)
        median = made->slow_us * US;
    return step == 0 ? 5 * median : median + offset * (median / 10000);
}

static int64_t steps_put(int64_t segment, const struct made *made)
{
    int64_t at_ns = 0;
    for (int64_t i = 0; i <= STEPS; i++) {
        struct mgb_record_step step = {.segment = segment,
                                       .step = i,
                                       .start_ns = at_ns,
                                       .wall_ns = wall_get(made, i),
                                       .examples = made->batch * made->gpus,
                                       .warmup = i == 0};
        struct mgb_record record = {.kind = MGB_RECORD_STEP, .step = step};
        assert_ok(mgb_store_put_steps(store, &record, 1));
        at_ns += step.wall_ns + 20 * US;
    }
    return segment;
}

/* Runs here have one segment each, so that a run's number is its segment's. */
static int64_t run_put(const struct made *made)
{
    int64_t run = run_begin(made);
    assert_int_equal(segment_end(steps_put(segment_begin(run, made), made)), run);
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
    return run;
}

static void total_put(int64_t run, int64_t gpu0_mib, int64_t cpu_mib)
{
    struct mgb_record_memory_total rows[] = {
        {"/gpu:0", {gpu0_mib * MIB, true}, {0}, {16LL << 30, true}},
        {"/cpu:0", {cpu_mib * MIB, true}, {0}, {256LL << 30, true}}};
    assert_ok(mgb_store_put_memory_totals(store, run, rows, 2));
}

#define HELD(where, what, mib)                                                                     \
    {                                                                                              \
        .device = (where), .category = MGB_MEMORY_##what, .planned_bytes = {(mib)*MIB, true }      \
    }

/* Runs 5 to 8: weights of 80 MiB, their gradients likewise, activations of 40 MiB a tower. */
static void memory_put(int64_t run, bool relocated, bool merged_on_cpu)
{
    const char *home = relocated ? "/cpu:0" : "/gpu:0",
               *meeting = merged_on_cpu ? "/cpu:0" : "/gpu:0";
    struct mgb_record_memory rows[] = {
        HELD(home, WEIGHTS, 80),         HELD("/gpu:1", REPLICAS, 80),
        HELD("/gpu:0", GRADIENTS, 80),   HELD("/gpu:1", GRADIENTS, 80),
        HELD("/gpu:0", ACTIVATIONS, 40), HELD("/gpu:1", ACTIVATIONS, 40),
        HELD(meeting, MERGE, 84),        HELD("/gpu:0", REPLICAS, 80)};
    assert_ok(mgb_store_put_memory(store, run, rows, relocated ? 8 : 7));
}

static void traffic_put(int64_t run, const char *from, const char *to, int64_t mib, int64_t us)
{
    static struct mgb_record_traffic rows[4];
    static int64_t of;
    static size_t count;
    count = of == run ? count : 0;
    of = run;
    rows[count++] = (struct mgb_record_traffic){from, to, mib * MIB, {us * US, us > 0}};
    assert_ok(mgb_store_put_traffic(store, run, rows, count));
}

/* Runs 1 to 8: two GPUs, every placement of both models. */
static void placements_put(void)
{
    static const int64_t median_us[2][2][2] = {/* model, relocated, merged on the CPU */
                                               {{10400, 12000}, {11600, 13100}},
                                               {{29000, 41000}, {47000, 36000}}};
    for (int i = 0; i < 8; i++) {
        int relocated = i >> 1 & 1, merged_on_cpu = i & 1;
        struct made made = {i < 4 ? &cnn : &mlp,
                            "outputs",
                            NULL,
                            2,
                            32,
                            relocated,
                            merged_on_cpu,
                            median_us[i >> 2][relocated][merged_on_cpu],
                            0,
                            0,
                            0};
        int64_t run = run_put(&made);
        if (i < 4) {
            total_put(run, 210 + 10 * i, 40);
            continue;
        }
        memory_put(run, relocated, merged_on_cpu);
        total_put(run, (relocated ? 190 : 180) + (merged_on_cpu ? 0 : 70),
                  (relocated ? 90 : 10) + (merged_on_cpu ? 70 : 0));
    }
    traffic_put(5, "/gpu:0", "/gpu:1", 80, 920);
    traffic_put(5, "/gpu:1", "/gpu:0", 84, 950);
    traffic_put(8, "/cpu:0", "/gpu:0", 80, 7200);
    traffic_put(8, "/cpu:0", "/gpu:1", 80, 7300);
    traffic_put(8, "/gpu:0", "/cpu:0", 84, 7500);
    traffic_put(8, "/gpu:1", "/cpu:0", 84, 9800);
}

/* Runs 9 to 15: the same examples a GPU on one and four of them, and towers that exchange nothing. */
static void scaling_put(void)
{
    static const struct made made[] = {{&cnn, "outputs", NULL, 1, 32, 0, 0, 9200, 0, 0, 0},
                                       {&cnn, "outputs", NULL, 4, 32, 0, 0, 12900, 0, 0, 0},
                                       {&mlp, "outputs", NULL, 1, 32, 0, 0, 24000, 0, 0, 0},
                                       {&mlp, "outputs", NULL, 4, 32, 0, 0, 55000, 0, 0, 0},
                                       {&cnn, "independent", NULL, 2, 32, 0, 0, 9300, 0, 0, 0},
                                       {&cnn, "independent", NULL, 4, 32, 0, 0, 9400, 0, 0, 0},
                                       {&mlp, "independent", NULL, 2, 32, 0, 0, 24200, 0, 0, 0}};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        run_put(&made[i]);
    total_put(9, 190, 40);
}

/* Runs 16 to 21, a driver each three times, in turn. */
static void drivers_put(void)
{
    static const int64_t median_us[] = {28900, 30600, 28950, 30550, 28850, 30700};
    for (int i = 0; i < 6; i++) {
        struct made made = {
            &cnn, "outputs", i & 1 ? "560.2" : "550.1", 1, 128, 0, 0, median_us[i], 0, 0, 0};
        total_put(run_put(&made), 640, 40);
    }
}

/* Runs 22 to 25: more and more examples on one GPU, until they do not fit. */
static void batches_put(void)
{
    static const int64_t batch[] = {16, 64, 256}, median_us[] = {6100, 15600, 59800},
                         mib[] = {120, 340, 1240};
    for (int i = 0; i < 3; i++) {
        struct made made = {&cnn, "outputs", NULL, 1, batch[i], 0, 0, median_us[i], 0, 0, 0};
        total_put(run_put(&made), mib[i], 40);
    }
    struct made made = {&cnn, "outputs", NULL, 1, 4096, 0, 0, 0, 0, 0, 0};
    int64_t run = run_begin(&made), segment = segment_begin(run, &made);
    struct mgb_record_segment_end end = {.outcome = MGB_OUTCOME_OOM,
                                         .message = "out of memory on /gpu:0",
                                         .oom_device = "/gpu:0",
                                         .oom_needed_bytes = 19LL << 30,
                                         .oom_available_bytes = 16LL << 30};
    assert_ok(mgb_store_finish_segment(NULL, store, segment, &end));
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OOM, end.message));
}

/* Run 26: a model whose builder made a layer once a tower. */
static void duplicates_put(void)
{
    static const struct made made = {&mlp, "outputs", NULL, 2, 16, 0, 0, 31000, 0, 0, 0};
    static const struct mgb_record_duplicate rows[] = {
        {"dense_1/kernel", "dense/kernel", "/gpu:1", 64 * MIB, "made once a tower"},
        {"dense_1/bias", "dense/bias", "/gpu:1", 16384, "made once a tower"}};
    assert_ok(mgb_store_put_duplicates(store, run_put(&made), rows, 2));
}

static void times_put(int64_t segment, int64_t step, int64_t sum_ms)
{
    struct mgb_record record = {
        .kind = MGB_RECORD_STEP_DEVICE,
        .step_device = {.segment = segment, .step = step, .device = "/cpu:0"}};
    record.step_device.busy_ns[MGB_PHASE_SUM] = record.step_device.exposed_ns[MGB_PHASE_SUM] =
        sum_ms * MS;
    assert_ok(mgb_store_put_steps(store, &record, 1));
    record.step_device.device = "/gpu:0";
    record.step_device.busy_ns[MGB_PHASE_SUM] = record.step_device.exposed_ns[MGB_PHASE_SUM] = 0;
    record.step_device.busy_ns[MGB_PHASE_FORWARD] = 4 * MS;
    record.step_device.exposed_ns[MGB_PHASE_FORWARD] = 4 * MS;
    record.step_device.busy_ns[MGB_PHASE_BACKWARD] = 7 * MS;
    record.step_device.exposed_ns[MGB_PHASE_BACKWARD] = 7 * MS;
    assert_ok(mgb_store_put_steps(store, &record, 1));
}

/* Run 27: single slow steps, one of which has its cause in the merge on the CPU. */
static void outliers_put(void)
{
    static const struct made made = {&cnn, "outputs", NULL, 2, 16, 0, 1, 12000, 0, 0, 0};
    int64_t run = run_begin(&made), segment = steps_put(segment_begin(run, &made), &made);
    for (int64_t step = 0; step <= STEPS; step++)
        times_put(segment, step, step == 20 ? 9 : 1);
    assert_ok(mgb_sql_run(&store->sql, "UPDATE step SET wall_ns = wall_ns + 8000000 WHERE "
                                       "segment_id = 27 AND step = 20;"
                                       "UPDATE step SET wall_ns = wall_ns + 3000000 WHERE "
                                       "segment_id = 27 AND step = 41;"
                                       "UPDATE step SET start_ns = start_ns + 8000000 WHERE "
                                       "segment_id = 27 AND step > 20;"
                                       "UPDATE step SET start_ns = start_ns + 3000000 WHERE "
                                       "segment_id = 27 AND step > 41"));
    assert_int_equal(segment_end(segment), 27);
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
}

/* Run 28: throttled from about step 30 on, so never steady. */
static void throttled_put(void)
{
    static const struct made made = {&cnn, "outputs", NULL, 1, 16, 0, 0, 150000, 30, 190000, 0};
    int64_t run = run_begin(&made), segment = steps_put(segment_begin(run, &made), &made);
    for (int64_t second = 0; second < 11; second++) {
        bool hot = second >= 6;
        struct mgb_record record = {.kind = MGB_RECORD_SAMPLE,
                                    .sample = {.run = run,
                                               .segment = segment,
                                               .device = "/gpu:0",
                                               .at_ns = second * 1000 * MS,
                                               .clock_khz = hot ? 1200000 : 1700000,
                                               .memory_clock_khz = MGB_NO_READING,
                                               .power_mw = MGB_NO_READING,
                                               .temperature_mc = 70000 + second * 1500,
                                               .utilisation_ppm = MGB_NO_READING,
                                               .memory_used_bytes = MGB_NO_READING,
                                               .process_bytes = MGB_NO_READING,
                                               .throttle = hot ? "thermal" : ""}};
        assert_ok(mgb_store_put_steps(store, &record, 1));
    }
    segment_end(segment);
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
}

/* Run 29: recording stopped early. Run 30: more threads than cores. */
static void untrusted_put(void)
{
    static const struct made made = {&cnn, "outputs", NULL, 2, 16, 0, 1, 12100, 0, 0, 0};
    struct made crowded = made;
    crowded.oversubscribed = 1;
    crowded.median_us = 16300;
    run_put(&made);
    run_put(&crowded);
    assert_ok(mgb_sql_run(&store->sql, "UPDATE run SET log_complete = 0 WHERE id = 29"));
}

/* Half an hour a run, from noon of the first day of 2026 on. */
static void made_the_same_each_time(void)
{
    assert_ok(mgb_sql_run(
        &store->sql,
        "UPDATE run SET uuid = printf('00000000-0000-4000-8000-%012d', id), pid = 1, "
        "  pid_namespace = NULL, process_started = NULL, boot_id = NULL, host = 'made-up', "
        "  started_ms = 1767268800000 + (id - 1) * 1800000, "
        "  finished_ms = 1767268800000 + id * 1800000 - 1000;"
        "UPDATE segment SET started_ms = 1767268800000 + (run_id - 1) * 1800000, "
        "  finished_ms = 1767268800000 + run_id * 1800000 - 1000;"
        "UPDATE device SET seen_ms = 1767268800000; UPDATE link SET seen_ms = 1767268800000"));
}

void cookbook_fill(const char *path)
{
    assert_ok(mgb_store_open(&store, path, NULL));
    assert_ok(mgb_sql_run(&store->sql, "PRAGMA synchronous = OFF")); /* nobody misses this file */
    placements_put();
    scaling_put();
    drivers_put();
    batches_put();
    duplicates_put();
    outliers_put();
    throttled_put();
    untrusted_put();
    made_the_same_each_time();
    mgb_store_close(store);
    store = NULL;
}
