/* What a run is recorded with: versions, surroundings, the machine, its links, and what traced steps measured. */
#include "tests/app/session/work.h"

#include <math.h>
#include <stdlib.h>

static void surroundings_are_json_with_what_can_change_figures(void **state)
{
    struct work work = {0};
    struct script_session *session;
    char text[512];
    setenv("OMP_PROBE", "a \"b\" \\c\n", 1);
    setenv("UNRELATED_PROBE", "1", 1);
    work_open(&work, *state);
    struct script_open_request request = work_request(&work, TWO_GPUS);
    assert_ok(work.services.open(work.hub, &session, &request));
    work_close(&work);
    unsetenv("OMP_PROBE");
    assert_string_equal(database_text(text, sizeof text, *state,
                                      "SELECT json_extract(environment, '$.OMP_PROBE') FROM run"),
                        "a \"b\" \\c\n");
    assert_int_equal(database_int(*state, "SELECT environment LIKE '%UNRELATED_PROBE%' FROM run"),
                     0);
    assert_int_equal(database_int(*state, "SELECT json_extract(environment, '$.cpus_allowed') > 0 "
                                          "AND json_extract(environment, '$.load_average') >= 0 "
                                          "FROM run"),
                     1);
    static const char *const libraries[] = {"mgbench", "SQLite", "Lua", "oneDNN", "compiler"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        char query[96];
        snprintf(query, sizeof query, "SELECT json_extract(versions, '$.%s') FROM run",
                 libraries[i]);
        assert_string_not_equal(database_text(text, sizeof text, *state, query), "");
    }
    assert_int_equal(
        database_int(*state, "SELECT count(*) FROM machine WHERE coalesce(cores, 1) BETWEEN 1 AND "
                             "threads AND memory_bytes > 1000000"),
        1);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM device JOIN machine AS m WHERE "
                                          "device.memory_bytes IS NOT m.memory_bytes OR "
                                          "device.cores IS NOT m.cores"),
                     0);
}

static void one_warmup_step_is_traced_and_no_timed_one(void **state)
{
    struct work work = {0};
    struct script_session *session;
    struct script_figures figures;
    struct mgb_change change;
    work_open(&work, *state);
    struct script_open_request request = work_request(&work, TWO_GPUS);
    request.warmup = 3;
    assert_ok(work.services.open(work.hub, &session, &request));
    assert_ok(work_step(&work, session, 1, &figures));
    assert_ok(work_step(&work, session, 5, &figures));
    assert_ok(mgb_placement_set(&request.placement, "cpu_merge", "false"));
    assert_ok(work.services.set(session, &change, &request.placement, 0));
    assert_ok(work_step(&work, session, 4, &figures));
    work_close(&work);
    assert_int_equal(database_int(*state, "SELECT count(DISTINCT step) FROM task"), 2);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM task WHERE step NOT IN (1, 7)"), 0);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step"), 10);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM traffic WHERE time_per_step_ns "
                                          "IS NULL OR time_per_step_ns <= 0"),
                     0);
    assert_int_equal(database_int(*state, "SELECT count(*) > 8 FROM memory"), 1);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM memory WHERE peak_bytes IS NULL OR "
                                          "peak_bytes <= 0"),
                     0);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM memory WHERE category IN "
                                          "('weights', 'replicas', 'input') AND "
                                          "peak_bytes <> planned_bytes"),
                     0);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM memory_total WHERE peak_bytes IS "
                                          "NOT planned_bytes"),
                     0);
    assert_int_equal(database_int(*state, "SELECT min(process_peak_bytes >= process_bytes) FROM "
                                          "sample"),
                     1);
}

static void without_warmup_nothing_is_traced_unasked(void **state)
{
    struct work work = {0};
    struct script_session *session;
    struct script_figures figures;
    struct script_losses losses;
    work_open(&work, *state);
    struct script_open_request request = work_request(&work, TWO_GPUS);
    assert_ok(work.services.open(work.hub, &session, &request));
    assert_ok(work_step(&work, session, 3, &figures));
    assert_int_equal(database_int(*state, "SELECT count(*) FROM task"), 0);
    assert_ok(work.services.step(session, &figures, &losses,
                                 &(struct script_step_request){.steps = 4, .trace_every = 2}));
    work_close(&work);
    assert_int_equal(database_int(*state, "SELECT count(DISTINCT step) FROM task"), 2);
    assert_int_equal(
        database_int(*state, "SELECT count(*) FROM traffic WHERE time_per_step_ns IS NULL"), 0);
}

static void a_segment_names_its_plan(void **state)
{
    struct work work = {0};
    char one[32], two[32];
    work_open(&work, *state);
    for (int i = 0; i < 3; i++) {
        struct script_session *session;
        struct script_open_request request = work_request(&work, TWO_GPUS);
        if (i == 2)
            assert_ok(mgb_placement_set(&request.placement, "cpu_merge", "false"));
        assert_ok(work.services.open(work.hub, &session, &request));
        work.services.close(session);
    }
    work_close(&work);
    static const char query[] = "SELECT plan_digest FROM segment WHERE id = %d";
    char text[64];
    snprintf(text, sizeof text, query, 1);
    database_text(one, sizeof one, *state, text);
    assert_int_equal(strlen(one), 16);
    snprintf(text, sizeof text, query, 2);
    assert_string_equal(database_text(two, sizeof two, *state, text), one);
    snprintf(text, sizeof text, query, 3);
    assert_string_not_equal(database_text(two, sizeof two, *state, text), one);
}

static void links_are_measured_once(void **state)
{
    struct work work = {0};
    static const char measured[] = "SELECT count(*) FROM link WHERE gbps > 0 AND latency_ns > 0";
    static const char figures[] = "SELECT total(gbps) FROM link";
    work_open(&work, *state);
    for (int i = 0; i < 40; i++) { /* a run measures as many as its budget allows */
        struct script_session *session;
        struct script_open_request request = work_request(&work, TWO_GPUS);
        assert_ok(work.services.open(work.hub, &session, &request));
        work.services.close(session);
        if (database_int(*state, measured) ==
            database_int(*state, "SELECT count(DISTINCT from_device || to_device) FROM traffic"))
            break;
    }
    assert_int_equal(
        database_int(*state, measured),
        database_int(*state, "SELECT count(DISTINCT from_device || to_device) FROM traffic"));
    double before = database_real(*state, figures);
    struct script_session *session;
    struct script_open_request request = work_request(&work, TWO_GPUS);
    assert_ok(work.services.open(work.hub, &session, &request));
    work_close(&work);
    assert_true(fabs(database_real(*state, figures) - before) < 1e-9);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM link WHERE kind = 'memory' AND "
                                          "peer_access = 1"),
                     database_int(*state, measured));
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(surroundings_are_json_with_what_can_change_figures),
        WITH_FILE(one_warmup_step_is_traced_and_no_timed_one),
        WITH_FILE(without_warmup_nothing_is_traced_unasked),
        WITH_FILE(a_segment_names_its_plan),
        WITH_FILE(links_are_measured_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
