/* How a run's record ends: well, by a failure of the script, by an interrupt, refused, or with a device that hangs. */
#include "tests/app/session/work.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void outcome_is(const char *path, const char *outcome, const char *message)
{
    char text[600];
    static const char *const tables[] = {"run", "segment"};
    for (int i = 0; i < 2; i++) {
        char query[96];
        snprintf(query, sizeof query, "SELECT outcome FROM %s ORDER BY id DESC", tables[i]);
        assert_string_equal(database_text(text, sizeof text, path, query), outcome);
        snprintf(query, sizeof query, "SELECT message FROM %s ORDER BY id DESC", tables[i]);
        assert_string_equal(database_text(text, sizeof text, path, query), message);
    }
}

static void a_script_that_dies_leaves_its_message(void **state)
{
    struct work work = {0};
    struct script_session *session, *ended;
    struct script_figures figures;
    work_open(&work, *state);
    struct script_open_request request = work_request(&work, TWO_GPUS);
    assert_ok(work.services.open(work.hub, &ended, &request));
    assert_ok(work_step(&work, ended, 1, &figures));
    assert_ok(work.services.finish(ended));
    assert_ok(work.services.open(work.hub, &session, &request));
    assert_ok(work_step(&work, session, 2, &figures));
    mgb_hub_fail(work.hub, "x");
    work_close(&work);
    outcome_is(*state, "error", "x");
    char text[32];
    assert_string_equal(
        database_text(text, sizeof text, *state, "SELECT outcome FROM run ORDER BY id"), "ok");
}

static void a_session_closed_before_the_script_dies_ended_well(void **state)
{
    struct work work = {0};
    struct script_session *session;
    struct script_figures figures;
    work_open(&work, *state);
    struct script_open_request request = work_request(&work, TWO_GPUS);
    assert_ok(work.services.open(work.hub, &session, &request));
    assert_ok(work_step(&work, session, 2, &figures));
    work.services.close(session);
    mgb_hub_fail(work.hub, "x");
    work_close(&work);
    outcome_is(*state, "ok", "");
}

static void who_was_interrupted_stays_so(void **state)
{
    struct work work = {0};
    struct script_session *session;
    struct script_figures figures;
    char text[32];
    work_open(&work, *state);
    struct script_open_request request = work_request(&work, TWO_GPUS);
    assert_ok(work.services.open(work.hub, &session, &request));
    assert_ok(work_step(&work, session, 2, &figures));
    mgb_hub_interrupt(work.hub);
    mgb_hub_fail(work.hub, "interrupted!");
    work_close(&work);
    assert_string_equal(database_text(text, sizeof text, *state, "SELECT outcome FROM run"),
                        "interrupted");
    assert_string_equal(database_text(text, sizeof text, *state, "SELECT message FROM run"),
                        "interrupted between two steps");
}

static void a_refused_run_can_be_found_and_advises_once(void **state)
{
    struct work work = {0};
    struct script_session *session;
    int64_t refused = 0;
    work_open(&work, *state);
    struct script_open_request request = work_request(
        &work, (const char *const[]){"gpus", "1", "batch", "4", "gpu_memory", "1KiB", NULL});
    request.refused_run = &refused;
    assert_status(work.services.open(work.hub, &session, &request), MGB_OOM);
    const char *advice = strstr(mgb_message_get(), "a smaller batch");
    assert_non_null(advice);
    assert_null(strstr(advice + 1, "a smaller batch"));
    assert_true(refused > 0);
    work_close(&work);
    assert_int_equal(database_int(*state, "SELECT id FROM run WHERE outcome = 'oom'"), refused);
}

/* Runs in a process of its own: a hung device keeps threads that cannot be joined. */
static void die_by_exit(void *context, const char *message)
{
    (void)context;
    _exit(strstr(message, "/gpu:1") ? 7 : 8);
}

static void hang(const char *path)
{
    struct work work = {.step_timeout_ns = INT64_C(2000000000), .die = die_by_exit};
    struct script_session *session;
    struct script_figures figures;
    setenv("MGBENCH_FAULT", "hang:/gpu:1:launch=20", 1);
    work_open(&work, path);
    struct script_open_request request = work_request(&work, TWO_GPUS);
    if (work.services.open(work.hub, &session, &request) == MGB_OK)
        (void)work_step(&work, session, 100, &figures);
    _exit(9);
}

static void a_hung_device_ends_the_process_outcome_first(void **state)
{
    int code;
    char text[600];
    pid_t child = fork();
    if (child == 0)
        hang(*state);
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code));
    assert_int_equal(WEXITSTATUS(code), 7);
    assert_string_equal(database_text(text, sizeof text, *state, "SELECT outcome FROM run"),
                        "timeout");
    assert_string_equal(database_text(text, sizeof text, *state, "SELECT outcome FROM segment"),
                        "timeout");
    database_text(text, sizeof text, *state, "SELECT message FROM run");
    assert_non_null(strstr(text, "/gpu:1"));
    assert_true(database_int(*state, "SELECT count(*) FROM step") > 0);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(a_hung_device_ends_the_process_outcome_first), /* forks: before threads */
        WITH_FILE(a_script_that_dies_leaves_its_message),
        WITH_FILE(a_session_closed_before_the_script_dies_ended_well),
        WITH_FILE(who_was_interrupted_stays_so),
        WITH_FILE(a_refused_run_can_be_found_and_advises_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
