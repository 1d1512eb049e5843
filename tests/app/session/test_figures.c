/* Figures of segments as a script sees them: the same that is stored, and what ended a run.
 * (reference/ecosystem.md, row 8 of section 2.) */
#include "tests/app/session/work.h"

#include <math.h>
#include <stdlib.h>

#define ONE_GPU ((const char *const[]){"gpus", "1", "batch", "4", NULL})

static enum mgb_status whole_run(struct work *work, struct script_figures *figures,
                                 const struct script_open_request *request, int64_t steps)
{
    struct script_session *session;
    struct script_losses losses;
    assert_ok(work->services.open(work->hub, &session, request));
    enum mgb_status status = work->services.step(
        session, figures, &losses, &(struct script_step_request){.steps = steps, .whole = true});
    assert_int_equal(losses.count, figures->steps + figures->warmup_steps);
    assert_ok(work->services.finish(session));
    assert_ok(work->services.figures(session, figures));
    work->services.close(session);
    return status;
}

/* What a figure of the last segment is stored as, in the figure's unit; NaN for NULL. */
static double stored(const char *path, const char *column)
{
    char query[256];
    snprintf(query, sizeof query,
             "SELECT coalesce(%s, -777) FROM segment_stat ORDER BY segment_id DESC LIMIT 1",
             column);
    double value = database_real(path, query);
    return value == -777 ? (double)NAN : value;
}

static void same(double figure, const char *path, const char *column)
{
    double wanted = stored(path, column);
    if (isnan(wanted) ? !isnan(figure) : !(fabs(figure - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%s: %.17g shown, %.17g stored", column, figure, wanted);
}

static void all_same(const struct script_figures *f, const char *path)
{
    same((double)f->steps, path, "timed_steps");
    same((double)f->warmup_steps, path, "warmup_steps");
    same(f->median_ms, path, "median_ns / 1e6");
    same(f->p95_ms, path, "p95_ns / 1e6");
    same(f->mean_ms, path, "mean_ns / 1e6");
    same(f->ci95_low_ms, path, "ci95_low_ns / 1e6");
    same(f->ci95_high_ms, path, "ci95_high_ns / 1e6");
    same(f->examples_per_s, path, "examples / (timed_ns / 1e9)");
    same(f->unaccounted_ms, path, "unaccounted_ns / 1e6");
    same(f->noise, path, "noise");
    same((double)f->steady, path, "coalesce(steady, -1)");
    same((double)f->outliers, path, "outliers_mild + outliers_far");
    same((double)f->outliers_far, path, "outliers_far");
}

static void what_is_shown_is_what_is_stored(void **state)
{
    struct work work = {0};
    struct script_figures figures;
    work_open(&work, *state);
    struct script_open_request request = work_request(&work, TWO_GPUS);
    request.warmup = 3;
    assert_ok(whole_run(&work, &figures, &request, 33));
    assert_int_equal(figures.steps, 30);
    assert_string_equal(figures.stop_reason, "steps");
    assert_true(figures.first_ratio > 0 && figures.worst_ratio >= 1);
    all_same(&figures, *state);
    request.warmup = MGB_WARMUP_AUTO;
    request.max_time_ns = 30000000;
    assert_ok(whole_run(&work, &figures, &request, 5));
    all_same(&figures, *state);
    work_close(&work);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM segment WHERE ring_waits = 0"), 2);
    assert_int_equal(database_int(*state,
                                  "SELECT count(*) FROM segment WHERE stop_reason = 'steps' "
                                  "AND warmup_rule = 'fixed' AND warmup_steps = 3"),
                     1);
}

/* Thirty milliseconds are no second: too short to be judged, and said so. */
static void time_ends_an_automatic_warm_up_that_did_not_end(void **state)
{
    struct work work = {0};
    struct script_figures figures;
    work_open(&work, *state);
    struct script_open_request request = work_request(&work, ONE_GPU);
    request.warmup = MGB_WARMUP_AUTO;
    request.max_time_ns = 30000000;
    assert_ok(whole_run(&work, &figures, &request, 100000));
    assert_string_equal(figures.stop_reason, "time");
    assert_int_equal(figures.steady, 0);
    assert_non_null(strstr(figures.not_steady, "not steady"));
    assert_non_null(strstr(work.warnings, "no verdict can rest on this run [not-steady]\n"));
    work_close(&work);
    assert_int_equal(database_int(*state,
                                  "SELECT count(*) FROM segment JOIN segment_stat AS s ON "
                                  "s.segment_id = segment.id WHERE stop_reason = 'time' AND "
                                  "warmup_rule = 'auto' AND max_time_ns = 30000000 AND "
                                  "target_noise IS NULL AND s.steady = 0 AND s.not_steady "
                                  "LIKE 'not steady%'"),
                     1);
    /* the rows' flags are what the rule found, and what was traced lies before its floor */
    assert_int_equal(database_int(*state, "SELECT sum(warmup) = (SELECT warmup_steps FROM "
                                          "segment_stat) FROM step"),
                     1);
    assert_int_equal(database_int(*state, "SELECT coalesce(max(step), 0) <= 10 FROM task"), 1);
}

static void a_target_that_is_met_ends_a_run(void **state)
{
    struct work work = {0};
    struct script_figures figures;
    work_open(&work, *state);
    struct script_open_request request = work_request(&work, ONE_GPU);
    request.warmup = 2;
    request.target_noise = 0.9;
    assert_ok(whole_run(&work, &figures, &request, 3));
    work_close(&work);
    assert_string_equal(figures.stop_reason, "noise");
    assert_true(figures.steps >= 20 && figures.noise <= 0.9);
    assert_true(figures.max_time_ms == 60000); /* unless somebody says otherwise */
    assert_string_equal(work.warnings, "");
    assert_int_equal(database_int(*state,
                                  "SELECT count(*) FROM segment WHERE stop_reason = 'noise' "
                                  "AND target_noise = 0.9 AND max_time_ns = 60000000000"),
                     1);
}

static void one_that_is_not_met_is_said_and_kept(void **state)
{
    struct work work = {0};
    struct script_figures figures;
    work.quiet = "idle,crowded";
    work_open(&work, *state);
    struct script_open_request request = work_request(&work, ONE_GPU);
    request.warmup = 2;
    request.target_noise = 1e-9;
    request.max_time_ns = 20000000;
    assert_ok(whole_run(&work, &figures, &request, 3));
    work_close(&work);
    assert_string_equal(figures.stop_reason, "time");
    assert_non_null(strstr(work.warnings, "1e-07 % was asked (not met) [noise]\n"));
    assert_int_equal(database_int(*state, "SELECT count(*) FROM note WHERE text LIKE 'after 0.02 "
                                          "s: %was asked (not met) [noise]'"),
                     1);
}

static void a_silenced_remark_is_kept_and_not_told(void **state)
{
    struct work work = {0};
    struct script_figures figures;
    work.quiet = "crowded,noise";
    work_open(&work, *state);
    struct script_open_request request = work_request(&work, ONE_GPU);
    request.target_noise = 1e-9;
    request.max_time_ns = 1;
    assert_ok(whole_run(&work, &figures, &request, 3));
    work_close(&work);
    assert_string_equal(work.warnings, "");
    assert_int_equal(database_int(*state, "SELECT count(*) FROM note WHERE text LIKE '%[noise]'"),
                     1);
    assert_int_equal(mgb_remarks_check("idle"), MGB_OK);
    assert_int_equal(mgb_remarks_check("idle,noise"), MGB_OK);
    assert_int_equal(mgb_remarks_check("idle,"), MGB_INVALID);
    assert_int_equal(mgb_remarks_check("idel"), MGB_INVALID);
    assert_non_null(strstr(mgb_message_get(), "'idel'; there are crowded, diverged, idle"));
}

static void who_was_interrupted_was_stopped(void **state)
{
    struct work work = {0};
    struct script_session *session;
    struct script_figures figures;
    work_open(&work, *state);
    struct script_open_request request = work_request(&work, ONE_GPU);
    request.warmup = MGB_WARMUP_AUTO;
    assert_ok(work.services.open(work.hub, &session, &request));
    assert_ok(work_step(&work, session, 3, &figures));
    mgb_hub_interrupt(work.hub);
    assert_int_equal(work_step(&work, session, 3, &figures), MGB_INTERRUPTED);
    work.services.close(session);
    work_close(&work);
    assert_string_equal(work.warnings, "");
    assert_int_equal(database_int(*state, "SELECT count(*) FROM segment WHERE stop_reason = "
                                          "'stopped' AND outcome = 'interrupted'"),
                     1);
}

/* A script decides how far a session goes; the interval is exact whenever it asks for it. */
static void a_session_steps_exactly_and_judges_by_the_rule_so_far(void **state)
{
    struct work work = {0};
    struct script_session *session;
    struct script_figures figures;
    work_open(&work, *state);
    struct script_open_request request = work_request(&work, ONE_GPU);
    request.warmup = MGB_WARMUP_AUTO;
    assert_ok(work.services.open(work.hub, &session, &request));
    for (int i = 1; i <= 50; i++) {
        assert_ok(work_step(&work, session, 1, &figures));
        assert_int_equal(figures.steps + figures.warmup_steps, i);
        assert_null(figures.stop_reason);
    }
    assert_ok(work.services.figures(session, &figures));
    assert_in_range(figures.warmup_steps, 11,
                    12); /* a quarter at most; the floor, when steps are slow */
    work.services.close(session);
    all_same(&figures, *state);
    work_close(&work);
    assert_string_equal(work.warnings, "");
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(what_is_shown_is_what_is_stored),
        WITH_FILE(time_ends_an_automatic_warm_up_that_did_not_end),
        WITH_FILE(a_target_that_is_met_ends_a_run),
        WITH_FILE(one_that_is_not_met_is_said_and_kept),
        WITH_FILE(a_silenced_remark_is_kept_and_not_told),
        WITH_FILE(who_was_interrupted_was_stopped),
        WITH_FILE(a_session_steps_exactly_and_judges_by_the_rule_so_far),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
