/* Remarks about a run: told once, kept as notes. */
#include "tests/app/session/work.h"

#include <stdlib.h>
#include <unistd.h>

static int count_of(const char *text, const char *words)
{
    int count = 0;
    for (const char *at = strstr(text, words); at; at = strstr(at + 1, words))
        count++;
    return count;
}

static void more_towers_than_cores_are_told_once_and_kept_with_every_run(void **state)
{
    struct work work = {0};
    char threads[16]; /* of each of two towers: twice the cores */
    snprintf(threads, sizeof threads, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    work_open(&work, *state);
    for (int i = 0; i < 2; i++) {
        struct script_session *session;
        struct script_open_request request = work_request(
            &work, (const char *const[]){"gpus", "2", "batch", "4", "threads", threads, NULL});
        assert_ok(work.services.open(work.hub, &session, &request));
        work.services.close(session);
    }
    struct script_session *session;
    struct script_open_request request =
        work_request(&work, (const char *const[]){"gpus", "1", "batch", "4", NULL});
    assert_ok(work.services.open(work.hub, &session, &request));
    work_close(&work);
    assert_int_equal(count_of(work.warnings, "more cores"), 1);
    assert_int_equal(database_int(*state, "SELECT count(DISTINCT run_id) FROM note WHERE text LIKE "
                                          "'%more cores%'"),
                     2);
    assert_int_equal(database_int(*state, "SELECT sum(oversubscribed) FROM run_summary"), 2);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM segment WHERE oversubscribed = 0"),
                     1);
}

static void a_loss_that_is_no_number_is_told_with_its_first_step(void **state)
{
    struct work work = {0};
    struct script_session *session;
    struct script_figures figures;
    char text[64];
    work_open(&work, *state);
    struct script_open_request request = work_request(&work, TWO_GPUS);
    request.optimizer.lr = 1e35f;
    assert_ok(work.services.open(work.hub, &session, &request));
    assert_ok(work_step(&work, session, 10, &figures));
    assert_ok(work_step(&work, session, 10, &figures));
    work_close(&work);
    assert_int_equal(count_of(work.warnings, "loss is not finite from step"), 1);
    int64_t step = database_int(*state, "SELECT min(step) FROM step WHERE loss_status <> 'ok'");
    assert_true(step > 0);
    snprintf(text, sizeof text, "from step %lld on", (long long)step);
    assert_int_equal(count_of(work.warnings, text), 1);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM note WHERE text LIKE 'loss is not "
                                          "finite%'"),
                     1);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM step WHERE (loss IS NULL) <> "
                                          "(loss_status IN ('nan', 'inf', '-inf'))"),
                     0);
    assert_int_equal(
        database_int(*state, "SELECT loss_last IS NULL AND outcome = 'ok' FROM run_summary"), 1);
}

static void a_device_that_never_computes_is_named_once_a_segment(void **state)
{
    struct work work = {0};
    struct script_session *session;
    struct script_figures figures;
    work_open(&work, *state);
    struct script_open_request request =
        work_request(&work, (const char *const[]){"gpus", "3", "global_batch", "2", NULL});
    request.warmup = 1;
    assert_ok(work.services.open(work.hub, &session, &request));
    assert_ok(work_step(&work, session, 3, &figures));
    assert_ok(work_step(&work, session, 3, &figures));
    work_close(&work);
    assert_int_equal(count_of(work.warnings, "computed nothing in 5 timed steps"), 1);
    assert_int_equal(count_of(work.warnings, "/gpu:2 computed nothing"), 1);
    assert_int_equal(count_of(work.warnings, "/gpu:1"), 0);
}

static void an_ordinary_run_has_no_notes(void **state)
{
    struct work work = {0};
    struct script_session *session;
    struct script_figures figures;
    work_open(&work, *state);
    struct script_open_request request =
        work_request(&work, (const char *const[]){"gpus", "1", "batch", "4", NULL});
    assert_ok(work.services.open(work.hub, &session, &request));
    assert_ok(work_step(&work, session, 3, &figures));
    work_close(&work);
    assert_string_equal(work.warnings, "");
    assert_int_equal(database_int(*state, "SELECT count(*) FROM note"), 0);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(more_towers_than_cores_are_told_once_and_kept_with_every_run),
        WITH_FILE(a_loss_that_is_no_number_is_told_with_its_first_step),
        WITH_FILE(a_device_that_never_computes_is_named_once_a_segment),
        WITH_FILE(an_ordinary_run_has_no_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
