/* The newest steps: their ring, their means, what is warm-up among them, and a traced step whose critical path adds up to
 * its wall time; with played steps of known times, and with a real run. */
#include "app/session/workbench/live.h"
#include "tests/app/session/workbench/placed.h"

#include "app/session/hub.h"
#include "db/trace.h"
#include "tests/support/database.h"
#include "tests/support/draws.h"
#include "tests/support/model.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct scene {
    struct mgb_graph *graph;
    struct placed placed;
    struct mgb_live *live;
    struct mgb_device_times times[3];
    struct mgb_step_result result;
};

/* Two towers; a step is mostly backward on /gpu:1. */
static void scene_make(struct scene *scene, int64_t warmup)
{
    *scene = (struct scene){.graph = model_mlp()};
    placed_make(&scene->placed, scene->graph, 2, "gpus=2 batch=4", training_sgd(0.1f, 0));
    assert_ok(mgb_live_make(&scene->live));
    mgb_live_begin_run(scene->live);
    mgb_live_begin_segment(scene->live, 1, scene->placed.facts, warmup);
    scene->result = (struct mgb_step_result){
        .plan = scene->placed.plan, .device_count = 3, .devices = scene->times};
    for (int d = 0; d < 3; d++)
        scene->times[d].device = d;
}

static void scene_done(struct scene *scene)
{
    mgb_live_free(scene->live);
    placed_done(&scene->placed);
    mgb_graph_free(scene->graph);
}

static void step_play(struct scene *scene, int64_t wall_ns)
{
    scene->result.wall_ns = wall_ns;
    for (int d = 1; d < 3; d++) {
        scene->times[d].finish_ns = wall_ns * (7 + d) / 10;
        scene->times[d].busy[MGB_PHASE_FORWARD] = wall_ns / 10;
        scene->times[d].exposed[MGB_PHASE_FORWARD] = wall_ns / 10;
        scene->times[d].busy[MGB_PHASE_BACKWARD] = wall_ns * (6 + d) / 10;
        scene->times[d].exposed[MGB_PHASE_BACKWARD] = wall_ns * (6 + d) / 10;
        scene->times[d].exposed[MGB_PHASE_WAIT] = wall_ns * (3 - d) / 10;
    }
    scene->times[0].exposed[MGB_PHASE_WAIT] = wall_ns;
    mgb_live_step(scene->live, &scene->result);
    scene->result.index++;
}

static void phases_are_means_over_about_a_second_of_timed_steps(void **state)
{
    (void)state;
    struct scene scene;
    struct mgb_bench_phases phases;
    scene_make(&scene, 2);
    for (int i = 0; i < 2; i++)
        step_play(&scene, 900000000); /* warm-up */
    for (int i = 0; i < 100; i++)
        step_play(&scene, 50000000); /* long ago */
    for (int i = 0; i < 200; i++)
        step_play(&scene, 10000000);
    mgb_live_phases(scene.live, &phases);
    assert_int_equal(phases.wall_ns, 10000000);
    assert_in_range(phases.steps, 90, 125);
    assert_false(phases.warmup);
    assert_int_equal(phases.count, 3);
    assert_string_equal(phases.devices[1].device, "/gpu:0");
    assert_int_equal(phases.devices[1].busy_ns[MGB_PHASE_BACKWARD], 7000000);
    assert_int_equal(phases.devices[2].finish_ns, 9000000);
    assert_int_equal(phases.devices[0].exposed_ns[MGB_PHASE_WAIT], 10000000);
    assert_int_equal(phases.slowest, 2);
    assert_string_equal(phases.bound, "backward on gpu:1 (80% of the mean)");
    scene_done(&scene);
}

static void waiting_of_all_devices_bounds_a_step_too(void **state)
{
    (void)state;
    struct scene scene;
    struct mgb_bench_phases phases;
    scene_make(&scene, 0);
    for (int d = 0; d < 3; d++)
        scene.times[d].exposed[MGB_PHASE_WAIT] = (d ? 6 + d : 9) * 1000000;
    scene.times[1].finish_ns = scene.times[2].finish_ns = 4000000;
    scene.times[1].exposed[MGB_PHASE_FORWARD] = 3000000;
    scene.result.wall_ns = 10000000;
    mgb_live_step(scene.live, &scene.result);
    mgb_live_phases(scene.live, &phases);
    assert_string_equal(phases.bound, "waiting (60% of the mean)");
    scene_done(&scene);
}

static void a_step_longer_than_a_second_is_a_mean_of_itself(void **state)
{
    (void)state;
    struct scene scene;
    struct mgb_bench_phases phases;
    scene_make(&scene, 0);
    mgb_live_phases(scene.live, &phases);
    assert_int_equal(phases.steps, 0);
    assert_int_equal(phases.slowest, -1);
    assert_string_equal(phases.bound, "");
    step_play(&scene, 5000000000);
    step_play(&scene, 3000000000);
    mgb_live_phases(scene.live, &phases);
    assert_int_equal(phases.steps, 1);
    assert_int_equal(phases.wall_ns, 3000000000);
    scene_done(&scene);
}

static void until_a_step_is_timed_the_newest_of_the_warm_up_is_shown_as_such(void **state)
{
    (void)state;
    struct scene scene;
    struct mgb_bench_phases phases;
    scene_make(&scene, 2);
    step_play(&scene, 7000000);
    step_play(&scene, 6000000);
    mgb_live_phases(scene.live, &phases);
    assert_true(phases.warmup);
    assert_int_equal(phases.steps, 1);
    assert_int_equal(phases.wall_ns, 6000000);
    step_play(&scene, 5000000);
    mgb_live_phases(scene.live, &phases);
    assert_false(phases.warmup);
    assert_int_equal(phases.wall_ns, 5000000);
    mgb_live_begin_segment(scene.live, 2, scene.placed.facts, 0);
    mgb_live_phases(scene.live, &phases);
    assert_int_equal(phases.steps, 0);
    scene_done(&scene);
}

static void the_ring_keeps_the_newest_steps_oldest_first(void **state)
{
    (void)state;
    struct scene scene;
    scene_make(&scene, 0);
    assert_null(mgb_live_history(scene.live));
    for (int i = 0; i < MGB_BENCH_STEPS + 700; i++) {
        if (i == MGB_BENCH_STEPS)
            mgb_live_begin_segment(scene.live, 2, scene.placed.facts, 10);
        step_play(&scene, 1000 + i);
    }
    struct mgb_bench_history *history = mgb_live_history(scene.live);
    struct mgb_bench_history *again = mgb_live_history(scene.live);
    assert_ptr_equal(again, history); /* nothing happened between them */
    assert_int_equal(history->count, MGB_BENCH_STEPS);
    for (int i = 0; i < history->count; i++) {
        assert_int_equal(history->at[i].step, 700 + i);
        assert_int_equal(history->at[i].wall_ns, 1700 + i);
        assert_int_equal(history->at[i].segment, 700 + i < MGB_BENCH_STEPS ? 1 : 2);
        assert_int_equal(history->at[i].warmup,
                         700 + i >= MGB_BENCH_STEPS && 700 + i < MGB_BENCH_STEPS + 10);
    }
    mgb_shared_drop(again);
    assert_int_equal(mgb_live_steps(scene.live), MGB_BENCH_STEPS + 700);
    mgb_live_begin_run(scene.live);
    assert_null(mgb_live_history(scene.live));
    assert_int_equal(history->at[0].step, 700); /* what was given out stays */
    mgb_shared_drop(history);
    scene_done(&scene);
}

static void warm_up_that_is_found_later_is_marked_in_its_segment_alone(void **state)
{
    (void)state;
    struct scene scene;
    scene_make(&scene, 5);
    for (int i = 0; i < 8; i++)
        step_play(&scene, 1000);
    mgb_live_begin_segment(scene.live, 2, scene.placed.facts, 5);
    for (int i = 0; i < 8; i++)
        step_play(&scene, 1000);
    mgb_live_warmup(scene.live, 2);
    struct mgb_bench_history *history = mgb_live_history(scene.live);
    for (int i = 0; i < 16; i++)
        assert_int_equal(history->at[i].warmup, i < 5 || i == 8 || i == 9);
    mgb_shared_drop(history);
    scene_done(&scene);
}

/* ---- traced steps of a real run ---- */

static bool step_watch(void *context, const struct mgb_step_result *result)
{
    mgb_live_step(context, result);
    return true;
}

static int tasks_count(const struct mgb_plan *plan)
{
    struct mgb_flat flat;
    assert_ok(mgb_plan_expand(&flat, plan));
    int count = flat.count;
    mgb_flat_done(&flat);
    return count;
}

static void traced_check(const struct mgb_bench_traced *traced, int tasks)
{
    int64_t sum = traced->critical_gap_ns;
    int critical = 0;
    assert_int_equal(traced->count, tasks);
    for (int p = 0; p < MGB_PHASE_COUNT; p++)
        sum += traced->critical_ns[p];
    assert_int_equal(sum, traced->wall_ns);
    for (int i = 0; i < traced->count; i++) {
        const struct mgb_bench_task *task = &traced->at[i];
        critical += task->critical;
        assert_true(task->end_ns >= task->begin_ns && task->begin_ns >= 0);
        assert_true(strlen(task->name) > 0 && strlen(task->kind) > 0);
        if (i > 0 && task[-1].device == task->device)
            assert_true(task[-1].begin_ns <= task->begin_ns);
        else if (i > 0)
            assert_true(task[-1].device < task->device);
    }
    assert_true(critical > 0);
    assert_non_null(strstr(traced->bound, " ms"));
    assert_true(strstr(traced->bound, " on ") || strncmp(traced->bound, "waiting, ", 9) == 0);
}

static void critical_path_of_a_traced_step_adds_up_to_its_wall_time(void **state)
{
    static const char *const places[] = {"gpus=2 batch=4",
                                         "gpus=3 batch=2 strategy=gradients weights_at=/cpu:0",
                                         "gpus=4 batch=2 strategy=allreduce bucket_mib=0.0001",
                                         "gpus=2 batch=2 strategy=independent"};
    (void)state;
    struct mgb_graph *graph = draw_model(1);
    struct mgb_live *live;
    assert_ok(mgb_live_make(&live));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct mgb_run *run = training_open(&(struct training){
            .graph = graph, .optimizer = training_sgd(0.1f, 0), .options = places[i], .seed = 1});
        const struct mgb_step_request steps = {.steps = 4, .trace_every = 2};
        const struct mgb_step_sink sink = {live, step_watch};
        int64_t done;
        mgb_live_begin_run(live);
        mgb_live_begin_segment(live, 1, NULL, 1);
        assert_ok(mgb_run_step(run, &done, &steps, &sink));
        const struct mgb_bench_traced *traced = mgb_live_traced(live);
        assert_non_null(traced);
        int tasks = tasks_count(mgb_run_plan(run));
        mgb_live_begin_segment(live, 2, NULL, 0);
        assert_null(mgb_live_traced(live));
        mgb_run_close(run);
        traced_check(traced, tasks); /* outlives the plan */
        mgb_shared_drop(traced);
    }
    mgb_live_free(live);
    mgb_graph_free(graph);
}

static void session_step(void *live, const struct mgb_step_result *result)
{
    mgb_live_step(live, result);
}

/* The path of the stored step, which a recorder and a reader had in their hands. */
static void stored_check(const char *path, int64_t segment, const struct mgb_bench_traced *traced)
{
    struct mgb_reader *reader;
    struct mgb_trace_step step;
    struct mgb_critical_part *parts;
    int64_t ns[MGB_PHASE_COUNT] = {0}, gap = 0;
    int count;
    assert_ok(mgb_reader_open(&reader, path));
    assert_ok(
        mgb_trace_load(&step, reader, segment, (struct mgb_trace_listed){.step = traced->step}));
    assert_ok(mgb_trace_critical(&parts, &count, &step));
    assert_int_equal(step.task_count, traced->count);
    assert_int_equal(step.wall_ns, traced->wall_ns);
    for (int i = 0; i < count; i++) {
        int phase = 0;
        while (parts[i].task >= 0 &&
               strcmp(step.tasks[parts[i].task].phase, mgb_phase_name((enum mgb_phase)phase)) != 0)
            phase++;
        *(parts[i].task < 0 ? &gap : &ns[phase]) += parts[i].end_ns - parts[i].begin_ns;
    }
    assert_int_equal(gap, traced->critical_gap_ns);
    for (int p = 0; p < MGB_PHASE_COUNT; p++)
        assert_int_equal(ns[p], traced->critical_ns[p]);
    free(parts);
    mgb_trace_step_done(&step);
    mgb_reader_close(reader);
}

/* A session of three steps that `live` watches; returns its segment. */
static int64_t session_play(struct mgb_live *live, const char *path, const struct mgb_graph *graph,
                            const char *strategy)
{
    struct mgb_hub *hub;
    struct script_services services;
    struct script_session *session;
    struct script_figures figures;
    struct script_losses losses;
    struct mgb_hub_options options = {.database = path,
                                      .program_version = "0.0.1",
                                      .quiet_remarks = "crowded",
                                      .stepped = session_step,
                                      .context = live};
    struct script_open_request request = {.graph = graph,
                                          .model = "conv",
                                          .model_options = "{}",
                                          .data = "",
                                          .optimizer = training_sgd(0.1f, 0),
                                          .seed = 1,
                                          .backend = "host",
                                          .warmup = 2};
    const struct script_step_request steps = {.steps = 3};
    mgb_placement_init(&request.placement);
    placement_apply(&request.placement, "gpus=2 batch=2");
    assert_ok(mgb_placement_set(&request.placement, "strategy", strategy));
    assert_ok(mgb_hub_open(&hub, &options));
    mgb_hub_services(&services, hub);
    assert_ok(services.open(hub, &session, &request));
    assert_ok(services.step(session, &figures, &losses, &steps));
    services.close(session);
    mgb_hub_close(hub);
    return figures.segment_id;
}

static void critical_path_is_that_of_the_step_as_it_was_stored(void **state)
{
    static const char *const strategies[] = {"outputs", "gradients", "allreduce"};
    struct mgb_graph *graph = draw_model(1);
    struct mgb_live *live;
    assert_ok(mgb_live_make(&live));
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
        mgb_live_begin_run(live);
        int64_t segment = session_play(live, *state, graph, strategies[i]);
        const struct mgb_bench_traced *traced = mgb_live_traced(live);
        assert_non_null(traced);
        stored_check(*state, segment, traced);
        mgb_shared_drop(traced);
    }
    mgb_live_free(live);
    mgb_graph_free(graph);
}

/* ---- two threads ---- */

struct watching {
    struct scene scene;
    atomic_bool ended;
};

static void *steps_run(void *context)
{
    struct watching *watching = context;
    for (int i = 0; i < 1500; i++)
        step_play(&watching->scene, 1000000 + i);
    atomic_store(&watching->ended, true);
    return NULL;
}

static void steps_are_read_while_they_come(void **state)
{
    (void)state;
    static struct watching watching;
    pthread_t thread;
    int64_t newest = -1;
    scene_make(&watching.scene, 3);
    atomic_init(&watching.ended, false);
    assert_int_equal(pthread_create(&thread, NULL, steps_run, &watching), 0);
    for (bool last = false; !last;) {
        struct mgb_bench_phases phases;
        last = atomic_load(&watching.ended);
        struct mgb_bench_history *history = mgb_live_history(watching.scene.live);
        mgb_live_phases(watching.scene.live, &phases);
        mgb_live_warmup(watching.scene.live, 3);
        for (int i = 1; history && i < history->count; i++)
            assert_int_equal(history->at[i].step, history->at[i - 1].step + 1);
        if (history) {
            assert_true(history->at[history->count - 1].step >= newest);
            newest = history->at[history->count - 1].step;
        }
        mgb_shared_drop(history);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(newest, 1499);
    scene_done(&watching.scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_are_means_over_about_a_second_of_timed_steps),
        cmocka_unit_test(waiting_of_all_devices_bounds_a_step_too),
        cmocka_unit_test(a_step_longer_than_a_second_is_a_mean_of_itself),
        cmocka_unit_test(until_a_step_is_timed_the_newest_of_the_warm_up_is_shown_as_such),
        cmocka_unit_test(the_ring_keeps_the_newest_steps_oldest_first),
        cmocka_unit_test(warm_up_that_is_found_later_is_marked_in_its_segment_alone),
        cmocka_unit_test(critical_path_of_a_traced_step_adds_up_to_its_wall_time),
        cmocka_unit_test_setup_teardown(critical_path_is_that_of_the_step_as_it_was_stored,
                                        database_setup, database_teardown),
        cmocka_unit_test(steps_are_read_while_they_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
