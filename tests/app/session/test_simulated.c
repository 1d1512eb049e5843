/* Sessions on a machine that is not there: what is stored and told of them, and what is not. */
#include "tests/app/session/simulated.h"
#include "tests/app/session/work.h"

#include "app/session/checkpoint.h"
#include "app/session/preview.h"
#include <math.h>
#include <mgb/virtual.h>
#include <unistd.h>

#define MACHINE "dgx1-p100"

struct scene {
    struct work work;
    struct mgb_machine *machine;
    struct script_session *session;
    struct script_figures figures;
};

static struct script_open_request request_of(const struct scene *scene, const char *const *options)
{
    struct script_open_request request = work_request(&scene->work, options);
    request.backend = "sim";
    request.machine = scene->machine;
    return request;
}

static void scene_make(struct scene *scene, const char *path, int64_t warmup, double target_noise)
{
    *scene = (struct scene){.machine = simulated_machine(MACHINE)};
    work_open(&scene->work, path);
    struct script_open_request request = request_of(scene, TWO_GPUS);
    request.warmup = warmup;
    request.target_noise = target_noise;
    assert_ok(scene->work.services.open(scene->work.hub, &scene->session, &request));
}

static void scene_done(struct scene *scene)
{
    scene->work.services.close(scene->session);
    work_close(&scene->work);
    mgb_machine_free(scene->machine);
}

static void it_is_stored_as_simulated_and_without_values(void **state)
{
    struct scene scene;
    scene_make(&scene, *state, 3, 0);
    assert_ok(work_step(&scene.work, scene.session, 5, &scene.figures));
    assert_ok(scene.work.services.finish(scene.session));
    scene_done(&scene);
    static const char *const holds[] = {
        "SELECT simulated = 1 AND backend = 'sim' AND outcome = 'ok' AND environment IS NULL FROM "
        "run",
        "SELECT name = '" MACHINE "' AND simulated = 1 AND source <> '' AND cores = 40"
        "   AND threads IS NULL AND os IS NULL AND kernel IS NULL FROM machine",
        "SELECT count(*) = 9 AND sum(kind = 'sim') = 9 AND count(uuid) = 0"
        "   AND sum(f32_tflops > 0) = 9 FROM device",
        "SELECT count(*) > 0 AND min(gbps) > 0 FROM link",
        "SELECT count(*) = 5 AND sum(loss_status = 'none') = 5 AND sum(warmup) = 0 FROM step",
        "SELECT count(*) = 0 FROM metric",
        "SELECT count(*) = 0 FROM sample",
        "SELECT s.digest IS NULL AND t.replicas_agree IS NULL FROM segment AS s JOIN segment_stat "
        "AS t"
        "  ON t.segment_id = s.id",
        "SELECT gpu_peak_bytes > 0 FROM run_summary",
        "SELECT count(*) > 0 AND count(peak_bytes) = 0 FROM memory",
        "SELECT count(*) = 0 FROM note",
    };
    for (size_t i = 0; i < sizeof holds / sizeof *holds; i++)
        if (database_int(*state, holds[i]) != 1)
            fail_msg("not so: %s", holds[i]);
}

static void steps_follow_each_other_without_warm_up_gap_or_noise(void **state)
{
    struct scene scene;
    scene_make(&scene, *state, MGB_WARMUP_AUTO, 0.01);
    struct script_losses losses;
    const struct script_step_request whole = {.steps = 70, .whole = true};
    assert_ok(scene.work.services.step(scene.session, &scene.figures, &losses, &whole));
    const struct script_figures *f = &scene.figures;
    assert_int_equal(losses.count, 0);
    assert_int_equal(f->warmup_steps, 0);
    assert_int_equal(f->steps, 70);
    assert_true(f->median_ms > 0 && isnan(f->loss));
    assert_float_equal(f->ci95_low_ms, f->median_ms, 0);
    assert_float_equal(f->ci95_high_ms, f->median_ms, 0);
    assert_float_equal(f->noise, 0, 0);
    assert_float_equal(f->unaccounted_ms, 0, 0);
    assert_int_equal(f->steady, 1);
    assert_string_equal(f->stop_reason, "noise");
    scene_done(&scene);
    assert_int_equal(database_int(*state,
                                  "SELECT count(*) FROM step AS a JOIN step AS b ON b.step = "
                                  "a.step + 1 AND b.start_ns = a.start_ns + a.wall_ns"),
                     69);
    assert_int_equal(database_int(*state, "SELECT start_ns FROM step WHERE step = 0"), 0);
}

static void a_change_is_another_segment_and_takes_the_time_of_its_copies(void **state)
{
    struct scene scene;
    struct mgb_change change;
    scene_make(&scene, *state, 0, 0);
    assert_ok(work_step(&scene.work, scene.session, 3, &scene.figures));
    double before = scene.figures.median_ms;
    struct mgb_placement placement = work_request(&scene.work, TWO_GPUS).placement;
    assert_ok(mgb_placement_set(&placement, "cpu_relocation", "true"));
    assert_ok(scene.work.services.set(scene.session, &change, &placement, 0));
    assert_true(change.changed && change.move_ns > 0);
    assert_ok(work_step(&scene.work, scene.session, 3, &scene.figures));
    assert_true(fabs(scene.figures.median_ms - before) > 0);
    scene_done(&scene);
    assert_int_equal(database_int(*state,
                                  "SELECT (SELECT start_ns FROM step WHERE step = 3) - start_ns - "
                                  "wall_ns FROM step WHERE step = 2"),
                     change.move_ns);
}

static void what_it_cannot_give_is_refused_in_words(void **state)
{
    struct scene scene;
    struct mgb_evaluation evaluation;
    struct mgb_source source;
    char path[4096];
    scene_make(&scene, *state, 0, 0);
    assert_ok(mgb_source_random(&source, scene.work.graph, 1));
    assert_status(scene.work.services.evaluate(scene.session, &evaluation, &source),
                  MGB_UNSUPPORTED);
    assert_non_null(strstr(mgb_message_get(), "a simulated run has no values"));
    snprintf(path, sizeof path, "%s.ckpt", (const char *)*state);
    assert_status(mgb_session_save(scene.session, path), MGB_UNSUPPORTED);
    assert_int_not_equal(access(path, F_OK), 0);
    mgb_source_close(&source);
    scene_done(&scene);
}

static void a_backend_and_a_machine_must_fit(void **state)
{
    struct scene scene;
    struct script_session *session;
    scene_make(&scene, *state, 0, 0);
    struct script_open_request request = request_of(&scene, TWO_GPUS);
    request.machine = NULL;
    assert_status(scene.work.services.open(scene.work.hub, &session, &request), MGB_INVALID);
    assert_non_null(strstr(mgb_message_get(), "mgbench machines lists them"));
    request = request_of(&scene, TWO_GPUS);
    request.backend = "host";
    assert_status(scene.work.services.open(scene.work.hub, &session, &request), MGB_INVALID);
    request = request_of(&scene, (const char *const[]){"gpus", "9", NULL});
    assert_status(scene.work.services.open(scene.work.hub, &session, &request), MGB_MISSING);
    scene_done(&scene);
}

static void what_does_not_fit_is_a_row_of_the_simulated_machine(void **state)
{
    struct scene scene;
    struct script_session *session;
    scene_make(&scene, *state, 0, 0);
    struct script_open_request request =
        request_of(&scene, (const char *const[]){"gpus", "2", "gpu_memory", "1KiB", NULL});
    request.expect_oom = true;
    assert_status(scene.work.services.open(scene.work.hub, &session, &request), MGB_OOM);
    scene_done(&scene);
    assert_int_equal(database_int(*state,
                                  "SELECT count(*) FROM run AS r JOIN machine AS m ON m.id = "
                                  "r.machine_id WHERE r.outcome = 'oom' AND r.simulated = 1 AND "
                                  "m.name = '" MACHINE "'"),
                     1);
}

static void a_preview_plays_the_step_that_the_run_then_takes(void **state)
{
    struct scene scene;
    struct mgb_preview *preview;
    struct mgb_virtual_step step;
    scene_make(&scene, *state, 0, 0);
    struct script_open_request request = request_of(&scene, TWO_GPUS);
    assert_ok(mgb_session_preview(&preview, &request));
    assert_ok(mgb_preview_play(preview, &step));
    assert_ok(work_step(&scene.work, scene.session, 1, &scene.figures));
    assert_float_equal((double)step.wall_ns / 1e6, scene.figures.median_ms, 0);
    mgb_preview_free(preview);
    request = work_request(&scene.work, TWO_GPUS);
    assert_ok(mgb_session_preview(&preview, &request));
    assert_status(mgb_preview_play(preview, &step), MGB_UNSUPPORTED);
    mgb_preview_free(preview);
    scene_done(&scene);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(it_is_stored_as_simulated_and_without_values),
        WITH_FILE(steps_follow_each_other_without_warm_up_gap_or_noise),
        WITH_FILE(a_change_is_another_segment_and_takes_the_time_of_its_copies),
        WITH_FILE(what_it_cannot_give_is_refused_in_words),
        WITH_FILE(a_backend_and_a_machine_must_fit),
        WITH_FILE(what_does_not_fit_is_a_row_of_the_simulated_machine),
        WITH_FILE(a_preview_plays_the_step_that_the_run_then_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
