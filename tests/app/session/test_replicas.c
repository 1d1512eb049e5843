/* Copies of the weights that are no longer one another's are told and stored at a run's end. */
#include "tests/app/session/work.h"

#include "app/session/private.h"
#include "engine/exec/run_state.h"

#define MIRRORED ((const char *const[]){"gpus", "3", "batch", "2", "strategy", "allreduce", NULL})
#define APART ((const char *const[]){"gpus", "2", "batch", "2", "strategy", "independent", NULL})

static void replica_spoil(struct mgb_run *run)
{
    struct mgb_held held;
    int index = 0, tower = 0, spoilt = 0;
    const float wrong = 77;
    while (mgb_held_next(run, &index, &tower, &held))
        if (held.storage->role == MGB_ROLE_REPLICA && held.storage->variable == 1 &&
            held.tower == 2) {
            assert_ok(run->backend->write(run->site->context, held.place.device, held.address,
                                          &wrong, sizeof wrong));
            spoilt++;
        }
    assert_int_equal(spoilt, 1);
}

static void run_make(const char *path, const char *const *options, bool spoil, bool told)
{
    struct work work = {0};
    struct script_session *session;
    struct script_figures figures;
    work_open(&work, path);
    struct script_open_request request = work_request(&work, options);
    request.warmup = 1;
    assert_ok(work.services.open(work.hub, &session, &request));
    assert_ok(work_step(&work, session, 4, &figures));
    if (spoil)
        replica_spoil(session->run);
    work.services.close(session);
    work_close(&work);
    assert_int_equal(strstr(work.warnings, "the replicas do not agree") != NULL, told);
    if (told)
        assert_non_null(strstr(work.warnings, "on /gpu:2 differs from its master"));
}

static void replicas_that_agree_are_stored_as_such(void **state)
{
    run_make(*state, MIRRORED, false, false);
    assert_int_equal(database_int(*state, "SELECT replicas_agree FROM segment_stat"), 1);
}

static void a_replica_that_went_apart_is_told_and_stored(void **state)
{
    run_make(*state, MIRRORED, true, true);
    assert_int_equal(database_int(*state, "SELECT replicas_agree FROM segment_stat"), 0);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM note WHERE text LIKE '%replicas do "
                                          "not agree%'"),
                     1);
}

static void strategies_without_mirrored_weights_are_not_compared(void **state)
{
    run_make(*state, APART, false, false);
    run_make(*state, TWO_GPUS, false, false);
    assert_int_equal(
        database_int(*state, "SELECT count(*) = 2 AND count(replicas_agree) = 0 FROM segment_stat"),
        1);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(replicas_that_agree_are_stored_as_such),
        WITH_FILE(a_replica_that_went_apart_is_told_and_stored),
        WITH_FILE(strategies_without_mirrored_weights_are_not_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
