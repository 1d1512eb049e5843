/* A terminal that takes nothing more (its reader was stopped, the line stands still) keeps no signal from ending the program,
 * whether a picture waits for it or not. */
#include "tests/screens/database.h"
#include "tests/screens/live.h"
#include "tests/screens/visit.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
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

static void ended_by(struct program *p, int number, int times, const char *word)
{
    struct terminal *t = visit_start(p, NULL, NULL, word, NULL);
    live_run(t);
    line_fill(t);
    for (int i = 0; i < times; i++) {
        kill(terminal_pid(t), number);
        usleep(400000); /* or they are one */
    }
    if (!ends_by_itself(terminal_pid(t)))
        fail_msg("signal %d does not end it", number);
    struct termios before = *terminal_modes_before(t), after = terminal_modes(t);
    assert_int_equal(before.c_lflag, after.c_lflag);
    assert_int_equal(before.c_iflag, after.c_iflag);
    assert_int_equal(terminal_await_exit(t), 130);
    assert_string_equal(database_text(p, "SELECT outcome FROM run ORDER BY id DESC LIMIT 1"),
                        "interrupted");
}

static void sigterm_ends_it(void **state)
{
    ended_by(*state, SIGTERM, 1, NULL);
    ended_by(*state, SIGTERM, 1, "--no-supervisor");
}

static void sighup_ends_it(void **state)
{
    ended_by(*state, SIGHUP, 1, NULL);
}

static void sigint_twice_ends_it(void **state)
{
    ended_by(*state, SIGINT, 2, "--no-supervisor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sigterm_ends_it, live_begin, live_end),
        cmocka_unit_test_setup_teardown(sighup_ends_it, live_begin, live_end),
        cmocka_unit_test_setup_teardown(sigint_twice_ends_it, live_begin, live_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
