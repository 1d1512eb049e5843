/* Deleting runs on a terminal: it asks, and only a yes deletes. */
#include "tests/support/check.h"

#include "db/store.h"
#include "tests/support/database.h"
#include <errno.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

static char program[4096];

static int rm_setup(void **state)
{
    struct mgb_store *store;
    if (database_setup(state) != 0)
        return -1;
    assert_ok(mgb_store_open(&store, *state, NULL));
    for (int i = 0; i < 2; i++) {
        int64_t run;
        assert_ok(mgb_store_begin_run(&run, store, database_run()));
        assert_ok(mgb_store_finish_run(store, run, MGB_OUTCOME_OK, NULL));
    }
    mgb_store_close(store);
    return 0;
}

/* Runs `mgbench rm 1` on a terminal, types `keys` when asked; its exit code, and what it showed. */
static int rm_on_terminal(char *text, size_t size, const char *database, const char *keys)
{
    int fd, status;
    size_t used = 0;
    bool typed = false;
    const char *const words[] = {"mgbench", "rm", "1", "--db", database, NULL};
    int inner;
    assert_int_equal(openpty(&fd, &inner, NULL, NULL, NULL), 0);
    pid_t pid = fork(); /* not forkpty, whose fork sanitizers do not see */
    assert_true(pid >= 0);
    if (pid == 0) {
        close(fd);
        login_tty(inner);
        signal(SIGINT, SIG_DFL);
        execv(program, (char *const *)words);
        _exit(127);
    }
    close(inner);
    for (;;) {
        ssize_t got = read(fd, text + used, size - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) /* EIO: the other side is closed */
            break;
        used += (size_t)got;
        text[used] = '\0';
        if (!typed && strstr(text, "[y/N] "))
            typed = write(fd, keys, strlen(keys)) == (ssize_t)strlen(keys);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(fd);
    assert_true(typed);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void only_a_yes_deletes(void **state)
{
    char text[8192];
    assert_int_equal(rm_on_terminal(text, sizeof text, *state, "\r"), 0);
    assert_non_null(strstr(text, "run 1: tiny on here (host)"));
    assert_non_null(strstr(text, "delete 1 run with 0 steps from "));
    assert_non_null(strstr(text, "nothing was deleted"));
    assert_int_equal(rm_on_terminal(text, sizeof text, *state, "n\r"), 0);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run"), 2);
    assert_int_equal(rm_on_terminal(text, sizeof text, *state, "y\r"), 0);
    assert_non_null(strstr(text, "deleted 1 run"));
    assert_int_equal(database_int(*state, "SELECT id FROM run"), 2);
}

#ifndef __SANITIZE_THREAD__ /* under which one in ten keystrokes is seen by nobody */
static void ctrl_c_at_the_question_deletes_nothing(void **state)
{
    char text[8192];
    assert_int_equal(rm_on_terminal(text, sizeof text, *state, "\003"), 130);
    assert_int_equal(database_int(*state, "SELECT count(*) FROM run"), 2);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_a_yes_deletes, rm_setup, database_teardown),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test_setup_teardown(ctrl_c_at_the_question_deletes_nothing, rm_setup,
                                        database_teardown),
#endif
    };
    const char *given = getenv("MGBENCH"), *folder = getenv("MGB_BUILD_DIR");
    snprintf(program, sizeof program, "%s%s",
             given    ? given
             : folder ? folder
                      : ".",
             given ? "" : "/mgbench");
    if (access(program, X_OK) != 0) {
        printf("SKIP: no %s\n", program);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
