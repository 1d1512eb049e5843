/* A terminal that takes nothing more (its reader was stopped, the line stands still) keeps no key from being read: q alone leaves,
 * with the rows stored and the modes of the terminal as they were. */
#include "tests/screens/database.h"
#include "tests/screens/emulator.h"
#include "tests/screens/live.h"
#include "tests/screens/visit.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* Nobody reads from here on: pictures, each drawn anew, fill the line. */
static void line_fill(struct terminal *t)
{
    for (int i = 0; i < 40; i++) {
        kill(terminal_worker(t), SIGWINCH);
        usleep(110000);
    }
}

/* Without a look at what it writes. */
static bool ends_by_itself(pid_t pid)
{
    for (int i = 0; i < TERMINAL_SECONDS * 50; i++) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid)
            return true;
        usleep(20000);
    }
    return false;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void key_press(struct terminal *t, char key)
{
    assert_int_equal(write(t->master, &key, 1), 1);
}

static void leaves(struct program *p, const char *word)
{
    struct terminal *t = visit_start(p, NULL, NULL, word, NULL);
    live_run(t);
    line_fill(t);
    double began = now_s();
    key_press(t, 'q');
    if (!ends_by_itself(terminal_pid(t)))
        fail_msg("q does not end it");
    print_message("q ended it after %.1f s\n", now_s() - began);
    struct termios before = *terminal_modes_before(t), after = terminal_modes(t);
    assert_int_equal(before.c_lflag, after.c_lflag);
    assert_int_equal(before.c_iflag, after.c_iflag);
    assert_int_equal(terminal_await_exit(t), 0);
    assert_string_equal(database_text(p, "SELECT outcome FROM run ORDER BY id DESC LIMIT 1"), "ok");
    assert_string_equal(database_text(p, "SELECT count(*) = max(step) + 1 FROM step JOIN segment g "
                                         "ON g.id = segment_id WHERE run_id = (SELECT max(id) FROM "
                                         "run)"),
                        "1");
}

static void q_alone_leaves(void **state)
{
    leaves(*state, NULL);
    leaves(*state, "--no-supervisor");
}

/* What was cut is drawn anew once somebody reads again. */
static void a_key_is_answered_when_the_terminal_reads_again(void **state)
{
    struct terminal *t = visit_start(*state, NULL, NULL, NULL);
    live_run(t);
    line_fill(t);
    key_press(t, '2');
    usleep(1500000);
    terminal_await(t, "DEVICES");
    terminal_press(t, "1");
    terminal_await(t, "PLACEMENT");
    terminal_await_gone(t, "DEVICES");
    live_pause(t);
    assert_true(strncmp(terminal_line(t, 0), "mgbench  mlp ", 13) == 0);
    assert_true(strncmp(terminal_line(t, 2), "──", 6) == 0);
    live_quit(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(q_alone_leaves, live_begin, live_end),
        cmocka_unit_test_setup_teardown(a_key_is_answered_when_the_terminal_reads_again, live_begin,
                                        live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
