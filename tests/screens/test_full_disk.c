/* A disk that was full has room again: the program need not be left for it. A limit of the size of files, which can be raised
 * from outside, is a disk that is full, without one. */
#define _GNU_SOURCE 1
#include "tests/screens/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

static const char *const limited[] = {
    "sh", "-c", "ulimit -S -f 800; exec mgbench-tui mlp --backend host --gpus 2 --batch 8", NULL};

static void room_make(struct terminal *t)
{
    struct rlimit limit;
    assert_int_equal(prlimit(terminal_worker(t), RLIMIT_FSIZE, NULL, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(prlimit(terminal_worker(t), RLIMIT_FSIZE, &limit, NULL), 0);
}

static bool is_marked(struct terminal *t, void *context)
{
    (void)t;
    return strcmp(database_text(context, "SELECT outcome || log_complete FROM run"), "ok0") == 0;
}

static void run_end(struct terminal *t)
{
    terminal_press(t, "x");
    terminal_await(t, "end ");
    terminal_press(t, "y");
    terminal_await(t, "READY");
}

static void when_there_is_room_again_the_next_run_is_recorded(void **state)
{
    struct program *p = *state;
    struct terminal *t = program_start_words(p, NULL, limited);
    terminal_await(t, "READY");
    live_run(t);
    terminal_await_match(t, "r.db: .*full");
    run_end(t);
    room_make(t);
    terminal_await_that(t, is_marked, p, "the run whose disk was full, marked");
    live_run(t);
    terminal_await_gone(t, "r.db: ");
    terminal_await_match(t, "run 2 seg 1");
    live_pause(t);
    live_check_word(t, "PAUSED", 0,
                    database_text(p, "SELECT count(*) FROM step JOIN segment g ON g.id = "
                                     "segment_id WHERE run_id = 2"));
    terminal_press(t, "q");
    assert_int_equal(terminal_await_exit(t), 1);
    terminal_check_restored(t);
    terminal_await(t, "the record of this run is incomplete: /"); /* of the first one */
    assert_string_equal(database_text(p, "SELECT group_concat(outcome || log_complete) FROM run"),
                        "ok0,ok1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(when_there_is_room_again_the_next_run_is_recorded,
                                        live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
