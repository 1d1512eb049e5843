/* One process writes a file at a time: ecosystem.md 6.3 row 26. */
#include "tests/support/check.h"

#include "db/lock.h"
#include "db/store_private.h"
#include "db/recorder.h"
#include "tests/support/child.h"
#include "tests/support/database.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STARTERS = 10 };

/* A starter: begins a run and holds it until `hold` is closed, or tells on `report` how it was refused. */
static void starter_main(const char *path, int gate, int report, int hold)
{
    char byte, line[256];
    int64_t run = 0;
    struct mgb_recorder *recorder;
    if (read(gate, &byte, 1) != 0)
        _exit(2);
    enum mgb_status status = mgb_recorder_open(&recorder, path, NULL);
    if (status == MGB_OK)
        status = mgb_recorder_begin_run(&run, recorder, database_run());
    int size = snprintf(line, sizeof line, "%s %ld %lld %s", mgb_status_name(status),
                        (long)getpid(), (long long)run, status == MGB_OK ? "" : mgb_message_get());
    memset(line + size, 0, sizeof line - (size_t)size);
    if (write(report, line, sizeof line) != sizeof line)
        _exit(3);
    if (status == MGB_OK) {
        if (read(hold, &byte, 1) != 0)
            _exit(4);
        status = mgb_recorder_finish_run(recorder, run, MGB_OUTCOME_OK, NULL);
        _exit(status == MGB_OK ? 0 : 5);
    }
    mgb_recorder_close(recorder);
    _exit(0);
}

static void of_ten_starters_one_writes_and_nine_are_told_why(void **state)
{
    int gate[2], report[2], hold[2], written = 0, refused = 0;
    long holder = 0, run = 0;
    char lines[STARTERS][256], wanted[64];
    assert_int_equal(pipe(gate) | pipe(report) | pipe(hold), 0);
    for (int i = 0; i < STARTERS; i++) {
        if (fork() == 0) {
            close(gate[1]);
            close(hold[1]);
            starter_main(*state, gate[0], report[1], hold[0]);
        }
    }
    close(gate[0]);
    close(gate[1]);
    close(hold[0]);
    for (int i = 0; i < STARTERS; i++) {
        assert_int_equal(read(report[0], lines[i], sizeof lines[i]), sizeof lines[i]);
        if (strncmp(lines[i], "ok ", 3) == 0) {
            written++;
            assert_int_equal(sscanf(lines[i], "ok %ld %ld", &holder, &run), 2);
        }
    }
    snprintf(wanted, sizeof wanted, "in use by pid %ld, run %ld", holder, run);
    for (int i = 0; i < STARTERS; i++)
        if (strncmp(lines[i], "busy ", 5) == 0 && strstr(lines[i], wanted))
            refused++;
        else if (strncmp(lines[i], "ok ", 3) != 0)
            print_error("%s\n", lines[i]);
    close(hold[1]);
    for (int i = 0; i < STARTERS; i++) {
        int code;
        assert_true(wait(&code) > 0);
        assert_int_equal(code, 0);
    }
    close(report[0]);
    close(report[1]);
    assert_int_equal(written, 1);
    assert_int_equal(refused, STARTERS - 1);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run WHERE outcome = 'ok'"), 1);
}

static void the_lock_is_held_only_while_a_run_is_active(void **state)
{
    int64_t run, other;
    struct mgb_store *first, *second;
    assert_ok(mgb_store_open(&first, *state, NULL));
    assert_ok(mgb_store_open(&second, *state, NULL));
    assert_false(mgb_lock_find_holder(*state).held);
    assert_ok(mgb_store_begin_run(&run, first, database_run()));
    struct mgb_lock_holder holder = mgb_lock_find_holder(*state);
    assert_true(holder.held);
    assert_int_equal(holder.pid, getpid());
    assert_int_equal(holder.run, run);
    assert_status(mgb_store_begin_run(&other, second, database_run()), MGB_BUSY);
    assert_message("--db");
    assert_int_equal(other, 0);
    assert_status(mgb_store_put_note(second, run, "me too"), MGB_BUSY);
    assert_ok(mgb_store_put_note(first, run, "mine"));
    assert_ok(mgb_store_finish_run(first, run, MGB_OUTCOME_OK, NULL));
    assert_false(mgb_lock_find_holder(*state).held);
    assert_ok(mgb_store_begin_run(&other, second, database_run()));
    assert_ok(mgb_store_finish_run(second, other, MGB_OUTCOME_OK, NULL));
    mgb_store_close(first);
    mgb_store_close(second);
}

/* Closing looks for the lock, which is held here: that is nothing to tell. */
static void closing_leaves_the_message_of_what_failed(void **state)
{
    struct mgb_store *first, *second;
    int64_t run;
    assert_ok(mgb_store_open(&first, *state, NULL));
    assert_ok(mgb_store_open(&second, *state, NULL));
    assert_ok(mgb_store_begin_run(&run, first, database_run()));
    mgb_fail(MGB_IO, "what failed");
    mgb_store_close(second);
    assert_string_equal(mgb_message_get(), "what failed");
    assert_ok(mgb_store_finish_run(first, run, MGB_OUTCOME_OK, NULL));
    mgb_store_close(first);
}

static void a_file_in_use_can_be_opened_and_read(void **state)
{
    int64_t run;
    struct mgb_store *first, *second;
    assert_ok(mgb_store_open(&first, *state, NULL));
    assert_ok(mgb_store_begin_run(&run, first, database_run()));
    assert_ok(mgb_store_open(&second, *state, NULL));
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run WHERE outcome = 'running'"), 1);
    mgb_store_close(second);
    mgb_store_close(first);
}

static void a_short_holder_is_waited_for(void **state)
{
    struct mgb_lock held, wanted;
    assert_ok(mgb_lock_open(&held, *state));
    assert_ok(mgb_lock_open(&wanted, *state));
    assert_ok(mgb_lock_take(&held, *state, 0));
    assert_status(mgb_lock_take(&wanted, *state, 30), MGB_BUSY);
    assert_message("is being written by pid");
    mgb_lock_release(&held);
    assert_ok(mgb_lock_take(&wanted, *state, 0));
    mgb_lock_close(&wanted);
    mgb_lock_close(&held);
}

static void a_file_is_held_from_run_to_run(void **state)
{
    struct mgb_store *store;
    struct mgb_lock wanted;
    int64_t run;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_lock_open(&wanted, *state));
    assert_ok(mgb_store_hold(store));
    for (int i = 0; i < 2; i++) {
        assert_ok(mgb_store_begin_run(&run, store, database_run()));
        assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
        assert_status(mgb_lock_take(&wanted, *state, 1000), MGB_BUSY);
        assert_message("is in use by pid"); /* and of the last run */
    }
    mgb_store_release(store);
    assert_ok(mgb_lock_take(&wanted, *state, 0));
    mgb_lock_close(&wanted);
    mgb_store_close(store);
}

static void who_is_refused_is_told_how_to_look(void **state)
{
    struct mgb_lock held, wanted;
    assert_ok(mgb_lock_open(&held, *state));
    assert_ok(mgb_lock_open(&wanted, *state));
    assert_ok(mgb_lock_take(&held, *state, 0));
    mgb_lock_name_run(&held, 7);
    assert_status(mgb_lock_take(&wanted, *state, 100), MGB_BUSY);
    assert_message("run 7");
    assert_message("mgbench query SQL, or sqlite3 -readonly");
    mgb_lock_close(&wanted);
    mgb_lock_close(&held);
}

static int holder_main(struct child *parent, void *context)
{
    struct mgb_lock lock;
    if (mgb_lock_open(&lock, context) != MGB_OK || mgb_lock_take(&lock, context, 0) != MGB_OK)
        return 1;
    mgb_lock_name_run(&lock, 7);
    child_say(parent, 'r');
    child_hear(parent);
    return 2;
}

static void the_lock_dies_with_its_holder(void **state)
{
    struct child other;
    child_start(&other, holder_main, *state);
    assert_int_equal(child_hear(&other), 'r');
    struct mgb_lock_holder holder = mgb_lock_find_holder(*state);
    assert_true(holder.held && holder.pid == other.pid && holder.run == 7);
    kill(other.pid, SIGKILL);
    assert_int_equal(child_end(&other), 128 + SIGKILL);
    assert_false(mgb_lock_find_holder(*state).held);
    struct mgb_lock lock;
    assert_ok(mgb_lock_open(&lock, *state));
    assert_ok(mgb_lock_take(&lock, *state, 0)); /* the dead holder's text does not matter */
    mgb_lock_close(&lock);
}

#define DB_TEST(name) cmocka_unit_test_setup_teardown(name, database_setup, database_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(of_ten_starters_one_writes_and_nine_are_told_why),
        DB_TEST(the_lock_is_held_only_while_a_run_is_active),
        DB_TEST(a_file_in_use_can_be_opened_and_read),
        DB_TEST(a_short_holder_is_waited_for),
        DB_TEST(a_file_is_held_from_run_to_run),
        DB_TEST(who_is_refused_is_told_how_to_look),
        DB_TEST(the_lock_dies_with_its_holder),
        DB_TEST(closing_leaves_the_message_of_what_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
