/* Runs of dead processes are recognised, living ones are not declared dead: ecosystem.md 6.3 rows 28 and 29. */
#include "tests/support/check.h"

#include "db/identity.h"
#include "db/query.h"
#include "db/sql.h"
#include "db/store.h"
#include "tests/support/child.h"
#include "tests/support/database.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int runner_main(struct child *parent, void *context)
{
    int64_t run, segment;
    struct mgb_store *store;
    if (mgb_store_open(&store, context, NULL) != MGB_OK ||
        mgb_store_begin_run(&run, store, database_run()) != MGB_OK)
        return 1;
    struct mgb_record_segment record = database_segment(run);
    if (mgb_store_begin_segment(&segment, store, &record) != MGB_OK)
        return 2;
    child_say(parent, 'r');
    child_hear(parent);
    return 3;
}

/* A process with an active run, waiting to be killed. */
static struct child runner_start(char *path)
{
    struct child runner;
    child_start(&runner, runner_main, path);
    assert_int_equal(child_hear(&runner), 'r');
    return runner;
}

static void runner_kill(struct child *runner)
{
    kill(runner->pid, SIGKILL);
    assert_int_equal(child_end(runner), 128 + SIGKILL);
}

static enum mgb_outcome seen(const char *path)
{
    struct mgb_reader *reader;
    enum mgb_outcome outcome;
    assert_ok(mgb_reader_open(&reader, path));
    assert_ok(mgb_db_run_state(&outcome, reader, 1));
    mgb_reader_close(reader);
    return outcome;
}

static void stored(const char *path, const char *outcome)
{
    char got[16];
    assert_string_equal(database_text(got, sizeof got, path, "SELECT outcome FROM run"), outcome);
    assert_string_equal(database_text(got, sizeof got, path, "SELECT outcome FROM segment"),
                        outcome);
}

static void open_and_close(const char *path)
{
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, path, NULL));
    mgb_store_close(store);
}

static void a_stopped_process_keeps_its_run(void **state)
{
    struct child runner = runner_start(*state);
    kill(runner.pid, SIGSTOP);
    waitpid(runner.pid, NULL, WUNTRACED);
    assert_int_equal(seen(*state), MGB_OUTCOME_RUNNING);
    open_and_close(*state);
    stored(*state, "running");
    runner_kill(&runner);
}

static void a_killed_run_is_seen_and_then_marked(void **state)
{
    struct child runner = runner_start(*state);
    kill(runner.pid, SIGKILL);
    /* Not waited for yet: a zombie is dead. */
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)runner.pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(seen(*state), MGB_OUTCOME_CRASHED);
    stored(*state, "running"); /* looking does not write */
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, *state, NULL));
    int64_t marked;
    assert_ok(mgb_db_mark_crashed(&marked, store));
    assert_int_equal(marked, 0); /* opening did it */
    mgb_store_close(store);
    stored(*state, "crashed");
    assert_int_equal(seen(*state), MGB_OUTCOME_CRASHED);
    char message[128];
    database_text(message, sizeof message, *state, "SELECT message FROM run");
    assert_non_null(strstr(message, "ended without finishing"));
    assert_int_equal(child_end(&runner), 128 + SIGKILL);
}

static void sql_once(const char *path, const char *text)
{
    struct mgb_sql sql;
    assert_ok(mgb_sql_open(&sql, path, path, SQLITE_OPEN_READWRITE));
    assert_ok(mgb_sql_run(&sql, text));
    mgb_sql_close(&sql);
}

static void a_later_process_with_the_same_number_is_another(void **state)
{
    struct mgb_store *store;
    int64_t run;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_store_begin_run(&run, store, database_run()));
    assert_int_equal(seen(*state), MGB_OUTCOME_RUNNING);
    sql_once(*state, "UPDATE run SET process_started = process_started - 1");
    assert_int_equal(seen(*state), MGB_OUTCOME_CRASHED);
    mgb_store_close(store);
}

static void a_run_from_before_the_reboot_is_dead(void **state)
{
    struct child runner = runner_start(*state);
    sql_once(*state, "UPDATE run SET boot_id = '00000000-0000-0000-0000-000000000000'");
    assert_int_equal(seen(*state), MGB_OUTCOME_CRASHED);
    runner_kill(&runner);
}

static void elsewhere_the_lock_tells(void **state)
{
    struct child runner = runner_start(*state);
    sql_once(*state, "UPDATE run SET host = 'elsewhere', boot_id = 'other'");
    assert_int_equal(seen(*state), MGB_OUTCOME_RUNNING);
    sql_once(*state, "UPDATE run SET host = 'elsewhere', boot_id = NULL");
    assert_int_equal(seen(*state), MGB_OUTCOME_RUNNING);
    runner_kill(&runner);
    assert_int_equal(seen(*state), MGB_OUTCOME_CRASHED);
    open_and_close(*state);
    stored(*state, "crashed");
}

static void a_run_that_ended_stays_as_it_ended(void **state)
{
    struct mgb_store *store;
    int64_t run;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_store_begin_run(&run, store, database_run()));
    assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_TIMEOUT, "/gpu:1 is stuck"));
    mgb_store_close(store);
    open_and_close(*state);
    assert_int_equal(seen(*state), MGB_OUTCOME_TIMEOUT);
}

static void an_unknown_run_is_named(void **state)
{
    struct mgb_reader *reader;
    enum mgb_outcome outcome;
    open_and_close(*state);
    assert_ok(mgb_reader_open(&reader, *state));
    assert_status(mgb_db_run_state(&outcome, reader, 42), MGB_MISSING);
    assert_message("no run 42");
    mgb_reader_close(reader);
}

static void this_process_is_alive(void **state)
{
    (void)state;
    struct mgb_identity self;
    mgb_identity_get(&self);
    assert_int_equal(self.pid, getpid());
    assert_true(self.started.known && self.started.value > 0);
    assert_int_equal(mgb_identity_liveness(&self), MGB_ALIVE);
    self.pid_namespace.value++;
    assert_int_equal(mgb_identity_liveness(&self), MGB_LIVENESS_UNKNOWN);
}

#define DB_TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(a_stopped_process_keeps_its_run),
        DB_TEST(a_killed_run_is_seen_and_then_marked),
        DB_TEST(a_later_process_with_the_same_number_is_another),
        DB_TEST(a_run_from_before_the_reboot_is_dead),
        DB_TEST(elsewhere_the_lock_tells),
        DB_TEST(a_run_that_ended_stays_as_it_ended),
        DB_TEST(an_unknown_run_is_named),
        cmocka_unit_test(this_process_is_alive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
