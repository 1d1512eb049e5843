/* A writer killed at a random moment loses no acknowledged step and never the file. 20 kills; 200 with
 * --long or MGB_LONG=1. */
#include "tests/support/check.h"

#include "db/query.h"
#include "db/recorder.h"
#include "tests/support/database.h"
#include "tests/support/draws.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int kills = 20;

/* Pushes steps for ever; what a flush confirmed is acknowledged through the pipe. */
static void writer_main(const char *path, int acknowledge)
{
    int64_t run, segment;
    struct mgb_recorder *recorder;
    if (mgb_recorder_open(&recorder, path, NULL) != MGB_OK ||
        mgb_recorder_begin_run(&run, recorder, database_run()) != MGB_OK)
        _exit(1);
    struct mgb_record_segment record = database_segment(run);
    if (mgb_recorder_begin_segment(&segment, recorder, &record) != MGB_OK)
        _exit(2);
    for (int64_t i = 0;; i++) {
        struct mgb_record step = database_step(segment, i);
        mgb_recorder_push(recorder, &step);
        if (i % 5 != 4)
            continue;
        if (mgb_recorder_flush(recorder) != MGB_OK)
            _exit(3);
        if (write(acknowledge, &i, sizeof i) != sizeof i)
            _exit(4);
    }
}

/* Lets a writer run for a random time after its first acknowledgement; returns its last one. */
static int64_t writer_kill(const char *path, unsigned *seed)
{
    int pipe_ends[2], code;
    int64_t last = -1, step;
    assert_int_equal(pipe(pipe_ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(pipe_ends[0]);
        writer_main(path, pipe_ends[1]);
    }
    close(pipe_ends[1]);
    assert_int_equal(read(pipe_ends[0], &last, sizeof last), sizeof last);
    nanosleep(&(struct timespec){.tv_nsec = rand_r(seed) % 40 * 1000000L + rand_r(seed) % 1000000L},
              NULL);
    kill(pid, SIGKILL);
    while (read(pipe_ends[0], &step, sizeof step) == sizeof step)
        last = step;
    close(pipe_ends[0]);
    assert_int_equal(waitpid(pid, &code, 0), pid);
    assert_true(WIFSIGNALED(code) && WTERMSIG(code) == SIGKILL);
    return last;
}

static enum mgb_outcome run_state(const char *path, int64_t run)
{
    struct mgb_reader *reader;
    enum mgb_outcome outcome;
    assert_ok(mgb_reader_open(&reader, path));
    assert_ok(mgb_db_run_state(&outcome, reader, run));
    mgb_reader_close(reader);
    return outcome;
}

static void no_acknowledged_step_is_lost(void **state)
{
    unsigned seed = 20260101;
    for (int i = 1; i <= kills; i++) {
        char query[160];
        int64_t last = writer_kill(*state, &seed);
        /* Before anyone writes: a reader knows. */
        assert_int_equal(run_state(*state, i), MGB_OUTCOME_CRASHED);
        snprintf(query, sizeof query,
                 "SELECT count(*) FROM step JOIN segment ON id = segment_id WHERE run_id = %d AND "
                 "step <= %lld",
                 i, (long long)last);
        assert_int_equal(database_int(*state, query), last + 1);
        snprintf(query, sizeof query,
                 "SELECT count(*) = max(step) + 1 FROM step JOIN segment ON id = segment_id WHERE "
                 "run_id = %d",
                 i);
        assert_int_equal(database_int(*state, query), 1);
    }
    struct mgb_store *store;
    assert_ok(mgb_store_open(&store, *state, NULL));
    assert_ok(mgb_store_check(store, true));
    mgb_store_close(store);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run WHERE outcome = 'crashed'"),
                     kills);
    assert_int_equal(database_int(*state,
                                  "SELECT count(*) FROM segment AS s JOIN segment_stat AS t "
                                  "ON t.segment_id = s.id WHERE s.outcome = 'crashed' AND "
                                  "t.timed_steps = (SELECT count(*) FROM step WHERE "
                                  "segment_id = s.id)"),
                     kills);
}

int main(int argc, char **argv)
{
    if (draw_long() || (argc > 1 && strcmp(argv[1], "--long") == 0))
        kills = 200;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_acknowledged_step_is_lost, database_setup,
                                        database_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
