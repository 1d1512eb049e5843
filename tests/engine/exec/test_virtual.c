/* Runs in virtual time, on a clock made by hand: a step takes a microsecond a row, a move a nanosecond a byte. */
#include "engine/graph/facts.h"
#include "tests/support/check.h"
#include "tests/support/model.h"
#include "tests/support/training.h"
#include <math.h>
#include <mgb/preview.h>
#include <mgb/virtual.h>
#include <stdio.h>
#include <string.h>

#define MOST_PLANS 32
#define GPUS 4

struct clock {
    struct mgb_virtual face;
    struct mgb_topology topology;
    struct mgb_device devices[GPUS + 1];
    struct mgb_fact_source facts;
    struct mgb_device_times times[GPUS + 1];
    struct mgb_task_time task;
    const struct mgb_plan *played[MOST_PLANS]; /* and not forgotten yet */
    int played_count, forgotten;
    int64_t last_step;
    bool broken;
};

static enum mgb_status clock_play(void *context, struct mgb_virtual_step *out,
                                  const struct mgb_virtual_request *request)
{
    struct clock *clock = context;
    const struct mgb_plan *plan = request->plan;
    int64_t bytes = 0;
    bool known = false;
    if (clock->broken)
        return mgb_fail(MGB_UNSUPPORTED, "the clock is broken");
    for (int i = 0; i < plan->task_count; i++)
        bytes += plan->tasks[i].bytes;
    for (int i = 0; i < clock->played_count; i++)
        known |= clock->played[i] == plan;
    if (!known && clock->played_count < MOST_PLANS)
        clock->played[clock->played_count++] = plan;
    int64_t ns = plan->kind == MGB_PLAN_MOVE ? bytes : 1000 * (int64_t)plan->global_rows;
    for (int i = 0; i < plan->use_count; i++) {
        clock->times[i] = (struct mgb_device_times){.device = plan->uses[i].device};
        clock->times[i].exposed[MGB_PHASE_WAIT] = ns;
    }
    clock->last_step = request->step;
    *out = (struct mgb_virtual_step){.wall_ns = ns,
                                     .devices = clock->times,
                                     .task_count = request->trace,
                                     .tasks = &clock->task};
    return MGB_OK;
}

static void clock_forget(void *context, const struct mgb_plan *plan)
{
    struct clock *clock = context;
    for (int i = 0; i < clock->played_count; i++)
        if (clock->played[i] == plan) {
            clock->played[i] = clock->played[--clock->played_count];
            clock->forgotten++;
            return;
        }
}

static void clock_make(struct clock *out, int64_t memory)
{
    memset(out, 0, sizeof *out);
    for (int i = 0; i <= GPUS; i++) {
        struct mgb_device *device = &out->devices[i];
        *device = (struct mgb_device){.class = MGB_CLASS_SIMULATED, .physical = -1};
        device->name = (struct mgb_device_name){.kind = i ? MGB_DEVICE_GPU : MGB_DEVICE_CPU,
                                                .index = i ? i - 1 : 0};
        device->memory_bytes = i ? memory : 0;
    }
    out->topology = (struct mgb_topology){.device_count = GPUS + 1, .devices = out->devices};
    out->facts = mgb_plain_facts();
    out->face = (struct mgb_virtual){.context = out,
                                     .name = "sim",
                                     .topology = &out->topology,
                                     .facts = &out->facts,
                                     .cores = 8,
                                     .play = clock_play,
                                     .forget = clock_forget};
}

struct rig {
    struct clock clock;
    struct mgb_graph *graph;
    struct training_data data;
    struct mgb_run *run;
    struct mgb_step_result last;
    int64_t starts[64], rows;
    int count;
};

static struct mgb_run_options options_of(struct rig *rig, const char *words)
{
    struct mgb_run_options options = {.graph = rig->graph,
                                      .backend = "sim",
                                      .optimizer = mgb_optimizer_default(MGB_SGD),
                                      .seed = 1,
                                      .source = &rig->data.source,
                                      .play_virtual = &rig->clock.face};
    mgb_placement_init(&options.placement);
    placement_apply(&options.placement, words);
    return options;
}

static void rig_make(struct rig *rig, const char *words, int64_t rows)
{
    memset(rig, 0, sizeof *rig);
    clock_make(&rig->clock, (int64_t)1 << 30);
    rig->graph = model_mlp();
    rig->data = training_data_make(rig->graph, rows, false, 1);
    struct mgb_run_options options = options_of(rig, words);
    assert_ok(mgb_run_open(&rig->run, &options));
}

static void rig_done(struct rig *rig)
{
    mgb_run_close(rig->run);
    assert_int_equal(rig->clock.played_count, 0);
    training_data_done(&rig->data);
    mgb_graph_free(rig->graph);
}

static bool keep(void *context, const struct mgb_step_result *result)
{
    struct rig *rig = context;
    rig->last = *result;
    rig->rows += result->rows;
    rig->starts[rig->count++ % 64] = result->start_ns;
    assert_true(isnan(result->loss));
    assert_int_equal(result->metric_count, 0);
    return true;
}

static void steps_run(struct rig *rig, int steps, int trace_every)
{
    int64_t done;
    struct mgb_step_sink sink = {rig, keep};
    struct mgb_step_request request = {.steps = steps, .trace_every = trace_every};
    assert_ok(mgb_run_step(rig->run, &done, &request, &sink));
    assert_int_equal(done, steps);
}

static void steps_follow_each_other_on_the_clock(void **state)
{
    (void)state;
    struct rig rig;
    rig_make(&rig, "gpus=2 batch=4", 20);
    assert_string_equal(mgb_run_backend(rig.run), "sim");
    steps_run(&rig, 5, 0);
    const int64_t starts[] = {0, 8000, 16000, 20000, 28000}; /* 20 rows: 8, 8, 4 and anew */
    for (int i = 0; i < 5; i++)
        assert_int_equal(rig.starts[i], starts[i]);
    assert_int_equal(rig.last.wall_ns, 8000);
    assert_int_equal(rig.last.gap_ns, 0);
    assert_int_equal(rig.last.epoch, 1);
    assert_int_equal(rig.clock.last_step, 4);
    assert_int_equal(rig.last.task_count, 0);
    steps_run(&rig, 1, 1);
    assert_int_equal(rig.last.task_count, 1);
    rig_done(&rig);
}

static void a_change_takes_the_time_of_its_copies(void **state)
{
    (void)state;
    struct rig rig;
    rig_make(&rig, "gpus=2 batch=4", 64);
    steps_run(&rig, 1, 0);
    struct mgb_change change = training_set(rig.run, "strategy=allreduce");
    assert_true(change.changed);
    assert_true(change.move_ns > 0 && change.move_ns == change.total_ns);
    assert_int_equal(change.plan_ns, 0);
    steps_run(&rig, 1, 0);
    assert_int_equal(rig.last.start_ns, 8000 + change.move_ns);
    assert_int_equal(rig.last.gap_ns, change.move_ns);
    assert_false(training_set(rig.run, "strategy=allreduce").changed);
    rig_done(&rig);
}

static void plans_are_kept_and_forgotten_when_they_go(void **state)
{
    (void)state;
    struct rig rig;
    rig_make(&rig, "gpus=1 batch=4", 64);
    for (int batch = 1; batch <= 12; batch++) {
        char words[32];
        snprintf(words, sizeof words, "batch=%d", batch);
        training_set(rig.run, words);
        steps_run(&rig, 1, 0);
    }
    assert_true(rig.clock.forgotten >= 4);
    assert_true(rig.clock.played_count <= 10);
    rig_done(&rig);
}

static void memory_limits_of_simulated_devices_refuse(void **state)
{
    (void)state;
    struct rig rig = {0};
    struct mgb_preview *preview;
    clock_make(&rig.clock, 256);
    rig.graph = model_mlp();
    rig.data = training_data_make(rig.graph, 64, false, 1);
    struct mgb_run_options options = options_of(&rig, "gpus=2 batch=8");
    assert_status(mgb_run_open(&rig.run, &options), MGB_OOM);
    assert_true(mgb_oom_get().needed > 256);
    assert_string_equal(mgb_oom_get().device, "/gpu:0");
    assert_ok(mgb_preview_make(&preview, &options));
    assert_string_equal(mgb_preview_backend(preview), "sim");
    int64_t batch;
    assert_ok(mgb_preview_largest_batch(preview, &batch));
    assert_int_equal(batch, 0);
    mgb_preview_free(preview);
    training_data_done(&rig.data);
    mgb_graph_free(rig.graph);
}

static void a_refused_change_leaves_the_run_as_it_was(void **state)
{
    (void)state;
    struct rig rig;
    rig_make(&rig, "gpus=2 batch=4", 64);
    assert_status(training_try_set(rig.run, "gpu_memory=64"), MGB_OOM);
    steps_run(&rig, 1, 0);
    rig.clock.broken = true; /* the move cannot be played */
    assert_status(training_try_set(rig.run, "strategy=allreduce"), MGB_UNSUPPORTED);
    rig.clock.broken = false;
    steps_run(&rig, 1, 0);
    assert_int_equal(rig.last.start_ns, 8000);
    assert_int_equal(mgb_run_effective(rig.run)->strategy, MGB_OUTPUTS);
    rig_done(&rig);
}

static void stale_gradients_are_counted_as_on_devices(void **state)
{
    (void)state;
    struct rig rig;
    rig_make(&rig, "gpus=2 batch=4 stale=true", 64);
    steps_run(&rig, 3, 0);
    assert_int_equal(mgb_run_progress(rig.run).step, 3);
    assert_int_equal(mgb_run_progress(rig.run).updates, 2);
    rig_done(&rig);
}

static void what_needs_values_is_refused_in_words(void **state)
{
    (void)state;
    struct rig rig;
    uint64_t digest;
    float value[4096] = {0};
    double tflops;
    int measured, count;
    struct mgb_evaluation evaluation;
    struct mgb_link link = {.from = 1, .to = 2};
    rig_make(&rig, "gpus=2 batch=4", 64);
    assert_status(mgb_run_digest(rig.run, &digest), MGB_UNSUPPORTED);
    assert_non_null(strstr(mgb_message_get(), "a simulated run has no values"));
    assert_status(mgb_run_evaluate(rig.run, &evaluation, &rig.data.source), MGB_UNSUPPORTED);
    assert_status(mgb_run_read(rig.run, value, 0, -1), MGB_UNSUPPORTED);
    assert_status(mgb_run_write(rig.run, value, 0, -1), MGB_UNSUPPORTED);
    assert_status(mgb_run_measure_peak(rig.run, &tflops, 1000), MGB_UNSUPPORTED);
    assert_status(mgb_run_measure_links(rig.run, &link, 1, 1000, &measured), MGB_UNSUPPORTED);
    assert_ok(mgb_run_path(rig.run, &link));
    assert_int_equal(link.verdict, MGB_PEER_UNTRIED);
    assert_true(mgb_run_has(rig.run, 0, -1));
    assert_false(mgb_run_has(rig.run, 0, 0));
    struct mgb_check check;
    assert_ok(mgb_run_check(rig.run, &check));
    mgb_check_done(&check);
    struct mgb_memory_use uses[GPUS + 1];
    assert_ok(mgb_run_memory(rig.run, uses, GPUS + 1, &count));
    assert_int_equal(count, GPUS + 1);
    assert_true(uses[1].planned_bytes > 0 && uses[1].held_bytes >= uses[1].planned_bytes);
    assert_int_equal(uses[1].measured_peak_bytes, -1);
    assert_int_equal(uses[4].held_bytes, 0);
    rig_done(&rig);
}

static void it_has_the_plan_that_devices_would_have(void **state)
{
    (void)state;
    struct rig rig;
    struct mgb_run_options options;
    struct mgb_preview *preview;
    char *here, *there;
    rig_make(&rig, "gpus=3 global_batch=10", 64);
    options = options_of(&rig, "gpus=3 global_batch=10");
    assert_ok(mgb_preview_make(&preview, &options));
    assert_ok(mgb_plan_text(&here, mgb_run_plan(rig.run)));
    assert_ok(mgb_plan_text(&there, mgb_preview_plan(preview)));
    assert_string_equal(here, there);
    mgb_text_free(here);
    mgb_text_free(there);
    mgb_preview_free(preview);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_follow_each_other_on_the_clock),
        cmocka_unit_test(a_change_takes_the_time_of_its_copies),
        cmocka_unit_test(plans_are_kept_and_forgotten_when_they_go),
        cmocka_unit_test(memory_limits_of_simulated_devices_refuse),
        cmocka_unit_test(a_refused_change_leaves_the_run_as_it_was),
        cmocka_unit_test(stale_gradients_are_counted_as_on_devices),
        cmocka_unit_test(what_needs_values_is_refused_in_words),
        cmocka_unit_test(it_has_the_plan_that_devices_would_have),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
